/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CLUSTER_H
#define MUSTER_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"
#include "lib/constants/slurm_constants.h"

/* The cluster as the controller knows it, and the changes that it accepts. Slurm's own types do not
 * leave this directory. All functions but cluster_open() need it to have succeeded. */

/* Certificates, records and the battery hold names of at most so many characters. A node with a
 * longer name is never tested, since a name that was cut could be another node's. */
enum { CLUSTER_NODE_NAME_MOST = 63 };

struct cluster_node {
    char *name;
    char *address; /* where its slurmd listens */
    uint16_t port;
    char *gres;     /* as configured, "gpu:8"; "" */
    char *features; /* those that are available, "h100,rack3"; "" */
    char *reason;   /* why it is down or drained, one printable line; "" */
    char *comment;  /* the site's text and, behind it, a mark of muster's (retest.h); "" */
    char *extra;    /* the site's text, a JSON object where jobs may ask for it; "" */
    uid_t reason_uid;
    time_t reason_time;
    time_t boot_time; /* by slurmctld's clock, of slurmd's last registration; 0: not known */
    int cpus;
    uint64_t memory_mb; /* that jobs may have */
    int leaf;           /* index of its leaf switch in struct cluster; -1: no topology is known */
    bool is_idle, is_allocated; /* allocated: wholly or in part */
    bool is_full;               /* no CPU is free */
    bool is_completing;
    bool is_down, is_drained; /* drained: DRAIN is set, jobs may still run */
    bool is_responding;
    bool is_reserved;   /* in a reservation of others that is active: MAINT or RES */
    time_t reserved_at; /* start of the next reservation of others; 0: none */
    bool is_in_run;     /* in the reservation of a run, which is active */
    bool is_waiting;    /* in the reservation CLUSTER_WAITING */
    bool is_absent;     /* powered down, rebooting, future, or about to be: not reachable by
                           intent */
    bool is_cloud;      /* made when a job needs it: slurm.conf may not have its address */
    bool is_dynamic;    /* it registered itself (slurmd -Z, -F): slurm.conf may not have it */
    bool is_older;      /* its slurmd is older than libslurm here, as amid an upgrade */
    bool is_invalid;    /* its registration was refused: INVALID_REG */
    char state[32];     /* as sinfo says it, roughly: "idle", "down", "drained", "allocated*" */
};

struct cluster_partition {
    char *name;
    struct hostlist nodes;
    bool is_default, is_up; /* up: jobs start there */
    bool is_closed;         /* but no more can be submitted: DRAIN */
    int max_minutes;        /* MaxTime: of a job; 0: no limit */
    size_t max_nodes;       /* MaxNodes: of a job that is not root's; 0: no limit */
    uint64_t max_memory;    /* MaxMemPerNode or MaxMemPerCPU: memory.h; 0: no limit */
};

struct cluster {
    char *name;          /* ClusterName */
    uint64_t max_memory; /* MaxMemPerNode or MaxMemPerCPU of slurm.conf: memory.h; 0: no limit */
    int complete_wait_s; /* CompleteWait: how long a completing job delays the next one */
    struct cluster_node *nodes;
    size_t node_count;
    struct cluster_node **by_name; /* node_count of them: cluster_index() */
    struct cluster_partition *partitions;
    size_t partition_count;
    char **leaves; /* names of the leaf switches */
    size_t leaf_count;
    bool has_blocks;           /* topology/block: allocation.h */
    struct error topology_err; /* why the leaves are unknown; "": known, or scontrol has none */
    struct hostlist runs;      /* names of the runs that have a reservation */
    bool has_waiting;          /* the reservation CLUSTER_WAITING is there */
    bool hides_cloud;          /* cloud nodes that are powered down are not among the nodes */
    bool has_extra;            /* jobs may request what is in a node's Extra: 23.11 and later, if
                                  SchedulerParameters has extra_constraints */
};

/* Reads slurm.conf, once per process. Returns 0, or -1 with err (Slurm's own way with a missing
 * configuration is to end the process: it is tried in a child first). */
int cluster_open(struct error *err);

/* Reads ClusterName from the controller. Returns 0, or -1 with err, also if SLURM_CLUSTERS in our
 * environment names other clusters: libslurm and srun would then reach different ones. */
int cluster_name(char *name, size_t size, struct error *err);
/* As cluster_name(), if the cluster is in a federation, whose other clusters get a job that names
 * no cluster; else name is "". */
int cluster_federated_name(char *name, size_t size, struct error *err);
/* Checks that clusters, the value of SLURM_CLUSTERS (names with commas, "all" or NULL), includes
 * name. Returns 0, or -1 with err. */
int cluster_check_selected(const char *clusters, const char *name, struct error *err);

/* Sets how many pairs of the nodes run may be measured at once across the uplinks of each leaf
 * switch, so that jobs on its other nodes keep most of them: a quarter as many as the leaf has
 * nodes, at least 1. pairs: [leaf]; 0: no limit, as no other job runs on the leaf, or none of its
 * nodes is in run. */
void cluster_uplink_pairs(const struct cluster *cluster, const struct hostlist *run, int *pairs);

/* Loads name, nodes, reservations, partitions and topology from the controller. Returns 0, or -1
 * with err and cluster empty. Release with cluster_clear(). */
int cluster_load(struct cluster *cluster, struct error *err);
/* As cluster_load(), for a user's job: nodes and topology only, and no nodes if PrivateData=nodes
 * hides them from this user. */
int cluster_load_topology(struct cluster *cluster, struct error *err);
/* As cluster_load(), for what changes while a run goes on: nodes and reservations only. */
int cluster_load_nodes(struct cluster *cluster, struct error *err);
/* As cluster_load(), partitions only: the smallest answer that contains the names of the nodes. */
int cluster_load_partitions(struct cluster *cluster, struct error *err);
void cluster_clear(struct cluster *cluster);

/* As cluster_load(), for one node: cluster holds that node alone, or none if Slurm does not know
 * it. */
int cluster_load_node(const char *name, struct cluster *cluster, struct error *err);

/* Returns the node of that name, or NULL; by binary search in a cluster that is loaded. */
struct cluster_node *cluster_node(const struct cluster *cluster, const char *name);

/* Returns whether a reservation of others begins on the node within RESERVATION_SOON_S. */
static inline bool cluster_is_reserved_soon(const struct cluster_node *node)
{
    return node->reserved_at > 0 && node->reserved_at - time(NULL) <= RESERVATION_SOON_S;
}

/* Adds the nodes to tasks in the order of a step's tasks, one per node: that of Slurm's own table
 * of nodes. Returns 0, or -1 if memory is out or a node is not the cluster's. */
int cluster_task_nodes(const struct cluster *cluster, const struct hostlist *nodes,
                       struct hostlist *tasks);

/* Returns the first of the names that is no node of the cluster, with err; NULL: all are. Call it
 * before anything is done with the nodes. */
const char *cluster_unknown_node(const struct cluster *cluster, const struct hostlist *names,
                                 struct error *err);

/* Builds the index of cluster_node(). For cluster_load(), and for tests that make up a cluster.
 * Returns 0, or -1 with err. */
int cluster_index(struct cluster *cluster, struct error *err);

/* Likewise: sets the node's state from Slurm's number. */
void cluster_node_state(uint32_t state, struct cluster_node *node);

/* Likewise: marks the nodes that wait for a certificate. Of these only nodes that are also in one
 * of the others' reservations stay reserved. Returns 0, or -1 with err. */
int cluster_mark_waiting(struct cluster *cluster, const struct hostlist *waiting,
                         const struct hostlist *others, struct error *err);

/* nodes in Slurm's notation. Return 0, or -1 with err; nodes of a list that is refused may be
 * changed. To resume one node that is in service is no error, though Slurm refuses it. */
int cluster_drain(const char *nodes, const char *reason, struct error *err);
int cluster_resume(const char *nodes, struct error *err);
int cluster_set_comment(const char *nodes, const char *comment, struct error *err);
/* Call it only for nodes whose Extra changes: each request makes the scheduler start over. */
int cluster_set_extra(const char *nodes, const char *extra, struct error *err);
/* Drains the nodes and sets them down as well: for nodes that do not answer. Slurm then ends the
 * jobs there at once, or goes on without these nodes, instead of leaving the jobs completing until
 * SlurmdTimeout. */
int cluster_down(const char *nodes, const char *reason, struct error *err);

/* Makes a reservation over the nodes for root and these users ("alice,bob"; NULL: root alone). It
 * begins now and has MAINT and IGNORE_JOBS, so that no other job starts there. It ends by itself
 * after `minutes`, or after ten minutes without a job; with minutes 0 it does not end until
 * somebody deletes it. */
int cluster_reserve(const char *name, const char *nodes, const char *users, int minutes,
                    struct error *err);
/* The name of a run's reservation is this and the run: "muster-20261120-161200-1a2b". */
#define CLUSTER_RUN "muster-"
/* Returns the run whose reservation has that name, as a pointer into it; NULL if the name is not
 * that of a run's reservation. */
const char *cluster_run_name(const char *reservation);
/* Returns whether a reservation of these times ends by itself. */
bool cluster_reservation_has_end(time_t begin, time_t end);
/* Deletes the reservation. Returns 0, also if there is none, or -1 with err. */
int cluster_unreserve(const char *name, struct error *err);

/* Looks up the reservation. Returns 1 with its nodes, for the caller to clear, 0 if there is none,
 * or -1 with err. *since (may be NULL): when it began if it does not end by itself, else 0. */
int cluster_reservation(const char *name, struct hostlist *nodes, time_t *since, struct error *err);

/* The reservation in which nodes wait for their first certificate: root's, without end, with MAINT
 * and IGNORE_JOBS, so that a reservation of a run may lie over it. Jobs that run there go on. */
#define CLUSTER_WAITING "muster"
/* Makes the waiting reservation hold these nodes: creates, changes or deletes it. changed: the
 * nodes to be added, or those to be removed; slurmctld since 23.02 gets only these, so that what
 * another host changes meanwhile stays. Slurm's reservations without end last a year, from each
 * change on. is_there: whether the reservation exists now. */
int cluster_update_waiting(const struct hostlist *names, const struct hostlist *changed,
                           bool is_there, struct error *err);

struct cluster_job {
    uint32_t id;
    char name[64];
    uid_t uid;
    char host[64];        /* where it was submitted */
    char reservation[96]; /* "": none */
    bool is_pending, is_running, is_completing;
};

/* Lists the jobs whose name begins with prefix and that are not over. *jobs is malloc'd; the caller
 * frees. Returns their number, or -1 with err. */
int cluster_jobs(const char *prefix, struct cluster_job **jobs, struct error *err);
/* The name of a run's jobs is this and the run. */
#define CLUSTER_RUN_JOB "muster-certify-"

enum cluster_job_state {
    CLUSTER_JOB_ACTIVE,  /* it waits or runs */
    CLUSTER_JOB_OVER,    /* it has ended, or is ending */
    CLUSTER_JOB_LOST,    /* the controller does not know it: after a crash or takeover it lacks what
                            was not saved by then, and gives the number to the next job */
    CLUSTER_JOB_UNKNOWN, /* the controller does not answer */
};
/* Returns the state of the job of that number and name. */
enum cluster_job_state cluster_job_state(uint32_t id, const char *name);

/* Cancels the job. Returns 0, also if it is over, or -1 with err. */
int cluster_job_cancel(uint32_t id, struct error *err);

/* Kills the steps of the job that have that name, NULL: all of them; not the job. */
int cluster_job_cancel_steps(uint32_t id, const char *name, struct error *err);

/* One component of a job. A heterogeneous job is several jobs, each with nodes of its own; any
 * other is one. */
struct cluster_component {
    long group; /* srun's --het-group; -1: the job is not heterogeneous */
    struct hostlist nodes;
    long *gpus; /* [node]: how many the job has there; 0 for a step that does not have all of
                   them, as other steps may use the rest */
    int steps;  /* Slurm's steps that make up the step: several for a heterogeneous one within
                   one job */
};

/* Loads the components of the job, or with step not NULL of that step, whichever component id
 * names, in the order of their groups. *leader: the job for srun's --jobid. Release *components
 * with cluster_components_free(). Returns how many have nodes, at least one, or -1 with err. */
int cluster_job_components(uint32_t id, const uint32_t *step, uint32_t *leader,
                           struct cluster_component **components, struct error *err);
void cluster_components_free(struct cluster_component *components, int count);

#endif
