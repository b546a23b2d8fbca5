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

/* The cluster's state in slurmctld, and changes to it. Slurm's own types stay in this directory.
 * Call cluster_open() before any other function. */

/* The longest node name that certificates, records and the battery can hold. A node with a longer
 * name is never tested: a truncated name could match another node. */
enum { CLUSTER_NODE_NAME_MOST = 63 };

struct cluster_node {
    char *name;
    char *address; /* where its slurmd listens */
    uint16_t port;
    char *gres;     /* as configured, "gpu:8"; "" */
    char *features; /* those that are available, "h100,rack3"; "" */
    char *reason;   /* why it is down or drained, one printable line; "" */
    char *comment;  /* the site's text, then muster's mark (retest.h); "" */
    char *extra;    /* the site's text, a JSON object if jobs can request it; "" */
    uid_t reason_uid;
    time_t reason_time;
    time_t boot_time; /* at slurmd's last registration, by slurmctld's clock; 0: unknown */
    int cpus;
    uint64_t memory_mb; /* available to jobs */
    int leaf;           /* index of its leaf switch in struct cluster; -1: no topology is known */
    bool is_idle, is_allocated; /* allocated: wholly or in part */
    bool is_full;               /* no CPU is free */
    bool is_completing;
    bool is_down, is_drained; /* drained: DRAIN is set, jobs may still run */
    bool is_responding;
    bool is_reserved;   /* in an active reservation of others: MAINT or RES */
    time_t reserved_at; /* start of the next reservation of others; 0: none */
    bool is_in_run;     /* in the active reservation of a run */
    bool is_waiting;    /* in the reservation CLUSTER_WAITING */
    bool is_absent;  /* unreachable on purpose: powered down, rebooting, future, or about to be */
    bool is_cloud;   /* created on demand; slurm.conf may lack its address */
    bool is_dynamic; /* it registered itself (slurmd -Z, -F); slurm.conf may lack it */
    bool is_older;   /* its slurmd is older than our libslurm, as during an upgrade */
    bool is_invalid; /* its registration was refused: INVALID_REG */
    char state[32];  /* roughly as in sinfo: "idle", "down", "drained", "allocated*" */
};

struct cluster_partition {
    char *name;
    struct hostlist nodes;
    bool is_default, is_up; /* up: jobs start there */
    bool is_closed;         /* accepts no new jobs: DRAIN */
    int max_minutes;        /* MaxTime: of a job; 0: no limit */
    size_t max_nodes;       /* MaxNodes of a job, except root's; 0: no limit */
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
    bool hides_cloud;          /* nodes lacks powered-down cloud nodes */
    bool has_extra;            /* jobs can request values of Extra: 23.11 and later,
                                  SchedulerParameters=extra_constraints */
};

/* Reads slurm.conf, once per process, and first in a child: libslurm exits if the configuration is
 * missing. Returns 0, or -1 with err. */
int cluster_open(struct error *err);

/* Reads ClusterName from the controller. Returns 0, or -1 with err, also if SLURM_CLUSTERS in our
 * environment names other clusters: libslurm and srun would then reach different ones. */
int cluster_name(char *name, size_t size, struct error *err);
/* As cluster_name(), if the cluster is in a federation; else name is "". In a federation, a job
 * without a cluster name may go to another cluster. */
int cluster_federated_name(char *name, size_t size, struct error *err);
/* Checks that clusters, the value of SLURM_CLUSTERS (names with commas, "all" or NULL), includes
 * name. Returns 0, or -1 with err. */
int cluster_check_selected(const char *clusters, const char *name, struct error *err);

/* Limits how many pairs of the run's nodes are measured across the uplinks of each leaf switch at
 * once: a quarter of the leaf's nodes, at least 1. Other jobs on the leaf keep most of the uplinks.
 * pairs: [leaf]; 0: no limit, because no other job runs on the leaf or none of its nodes is in run.
 */
void cluster_uplink_pairs(const struct cluster *cluster, const struct hostlist *run, int *pairs);

/* Loads name, nodes, reservations, partitions and topology from the controller. Returns 0, or -1
 * with err and cluster empty. Release with cluster_clear(). */
int cluster_load(struct cluster *cluster, struct error *err);
/* As cluster_load(), for a user's job: nodes and topology only, and no nodes if PrivateData=nodes
 * hides them from this user. */
int cluster_load_topology(struct cluster *cluster, struct error *err);
/* As cluster_load(), but only nodes and reservations, which change during a run. */
int cluster_load_nodes(struct cluster *cluster, struct error *err);
/* As cluster_load(), but only partitions: the smallest reply with all node names. */
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

/* Appends the nodes to tasks in task order, one task per node. This is the order of Slurm's node
 * table. Returns 0, or -1 if memory is out or a node is not the cluster's. */
int cluster_task_nodes(const struct cluster *cluster, const struct hostlist *nodes,
                       struct hostlist *tasks);

/* Returns the first unknown name, with err; NULL: all are known. Call it before any change to the
 * nodes. */
const char *cluster_unknown_node(const struct cluster *cluster, const struct hostlist *names,
                                 struct error *err);

/* Builds the index of cluster_node(). For cluster_load(), and for tests that build a cluster.
 * Returns 0, or -1 with err. */
int cluster_index(struct cluster *cluster, struct error *err);

/* Likewise: sets the node's state from Slurm's number. */
void cluster_node_state(uint32_t state, struct cluster_node *node);

/* Likewise: marks the nodes that wait for a certificate. Of these only nodes that are also in one
 * of the others' reservations stay reserved. Returns 0, or -1 with err. */
int cluster_mark_waiting(struct cluster *cluster, const struct hostlist *waiting,
                         const struct hostlist *others, struct error *err);

/* nodes: in Slurm's notation. Return 0, or -1 with err; some nodes of a refused list may be
 * changed. Resuming a single node in service succeeds, although Slurm refuses it. */
int cluster_drain(const char *nodes, const char *reason, struct error *err);
int cluster_resume(const char *nodes, struct error *err);
int cluster_set_comment(const char *nodes, const char *comment, struct error *err);
/* Call it only for nodes whose Extra changes: each request restarts the scheduling cycle. */
int cluster_set_extra(const char *nodes, const char *extra, struct error *err);
/* Drains nodes that do not answer, and sets them down. Slurm then ends their jobs at once, or
 * continues them without these nodes. Otherwise the jobs stay completing until SlurmdTimeout. */
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
 * and IGNORE_JOBS, so that a run's reservation can overlap it. Running jobs continue. */
#define CLUSTER_WAITING "muster"
/* Sets the nodes of the waiting reservation: creates, updates or deletes it. changed: the nodes to
 * add, or those to remove. slurmctld since 23.02 gets only these, which keeps concurrent changes by
 * other hosts. Slurm's endless reservations last a year; each change restarts the year. is_there:
 * the reservation exists. */
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
    CLUSTER_JOB_ACTIVE,  /* pending or running */
    CLUSTER_JOB_OVER,    /* it has ended, or is ending */
    CLUSTER_JOB_LOST,    /* unknown to the controller: a crash or takeover lost it, and the next job
                            gets its ID */
    CLUSTER_JOB_UNKNOWN, /* the controller does not answer */
};
/* Returns the state of the job of that number and name. */
enum cluster_job_state cluster_job_state(uint32_t id, const char *name);

/* Cancels the job. Returns 0, also if it is over, or -1 with err. */
int cluster_job_cancel(uint32_t id, struct error *err);

/* Kills the steps of the job that have that name, NULL: all of them; not the job. */
int cluster_job_cancel_steps(uint32_t id, const char *name, struct error *err);

/* A component of a job. Only a heterogeneous job has several, each with its own nodes. */
struct cluster_component {
    long group; /* srun's --het-group; -1: the job is not heterogeneous */
    struct hostlist nodes;
    long *gpus; /* [node]: the job's GPUs there; 0 for a step with fewer, because other steps may
                   use the rest */
    int steps;  /* number of Slurm steps: a heterogeneous step within one job has several */
};

/* Loads the components of the job, or of that step if step is not NULL, sorted by group. id: the
 * job ID of any component. *leader: the job for srun's --jobid. Release *components with
 * cluster_components_free(). Returns how many have nodes, at least one, or -1 with err. */
int cluster_job_components(uint32_t id, const uint32_t *step, uint32_t *leader,
                           struct cluster_component **components, struct error *err);
void cluster_components_free(struct cluster_component *components, int count);

#endif
