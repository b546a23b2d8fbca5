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

/* What the controller knows of the cluster and what it can be told. Nothing of Slurm's own types
 * leaves this room. All functions but cluster_open() need it to have succeeded. */

/* Certificates, records and the battery hold names of so many characters; a node whose name is
 * longer is never tested, since a name that was cut could be another node's. */
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
    time_t reserved_at; /* when the first of others' that is still to come begins; 0: none */
    bool is_in_run;     /* in the reservation of a run, which is active */
    bool is_waiting;    /* in the reservation CLUSTER_WAITING */
    bool is_absent;     /* powered down, rebooting, future, or about to be: nothing to talk to by
                           intent */
    bool is_cloud;      /* made when a job needs it */
    bool is_unlisted;   /* slurm.conf may not have it or not its address: dynamic or of a cloud */
    bool is_older;      /* its slurmd: of an older release than libslurm here, as amid an upgrade */
    bool is_invalid;    /* its registration was refused: INVALID_REG */
    char state[32];     /* as sinfo says it, roughly: "idle", "down", "drained", "allocated*" */
};

struct cluster_partition {
    char *name;
    struct hostlist nodes;
    bool is_default, is_up; /* up: jobs start there */
    bool is_closed;         /* but no more can be submitted: DRAIN */
    int most_minutes;       /* MaxTime: of a job; 0: no limit */
    size_t most_nodes;      /* MaxNodes: of a job that is not root's; 0: no limit */
    uint64_t most_memory;   /* MaxMemPerNode or MaxMemPerCPU: memory.h; 0: no limit */
};

struct cluster {
    char *name;           /* ClusterName */
    uint64_t most_memory; /* MaxMemPerNode or MaxMemPerCPU of slurm.conf: memory.h; 0: no limit */
    int complete_wait_s;  /* CompleteWait: while a job has completed for less, none is started */
    struct cluster_node *nodes;
    size_t node_count;
    struct cluster_node **by_name; /* node_count of them: cluster_index() */
    struct cluster_partition *partitions;
    size_t partition_count;
    char **leaves; /* names of the leaf switches */
    size_t leaf_count;
    bool has_blocks;           /* topology/block: allocation.h */
    struct error topology_err; /* why it is not known which leaves there are; "": it is, or scontrol
                                  knows none */
    struct hostlist runs;      /* the runs that have a reservation, CLUSTER_RUN and their name */
    bool has_waiting;          /* the reservation CLUSTER_WAITING is there */
    bool has_extra;            /* jobs may ask for what is in a node's Extra: 23.11 and later, where
                                  SchedulerParameters has extra_constraints */
};

/* Reads slurm.conf, once per process. Returns 0, or -1 with err (Slurm's own way with a missing
 * configuration is to end the process: it is tried in a child first). */
int cluster_open(struct error *err);

/* Asks the controller for ClusterName. Returns 0, or -1 with err, also where SLURM_CLUSTERS of our
 * environment means other clusters: what libslurm and srun would reach are two then. */
int cluster_name(char *name, size_t size, struct error *err);
/* The rule: whether name is among clusters, SLURM_CLUSTERS' names with commas, "all" or NULL.
 * Returns 0, or -1 with err. */
int cluster_meant(const char *clusters, const char *name, struct error *err);

/* How many pairs of the nodes run may be measured across the uplinks of each leaf switch at once,
 * so that jobs on its other nodes keep most of them: a quarter as many as the leaf has nodes, at
 * least 1. pairs: [leaf]; 0, no limit: no job runs beside, or no node of run is there. */
void cluster_uplink_pairs(const struct cluster *cluster, const struct hostlist *run, int *pairs);

/* Asks the controller for nodes, partitions and topology. Returns 0, or -1 with err and cluster
 * empty. Release with cluster_clear(). */
int cluster_load(struct cluster *cluster, struct error *err);
/* For a user's job: nodes and topology only, and none where PrivateData=nodes keeps them from this
 * user. As cluster_load(). */
int cluster_load_places(struct cluster *cluster, struct error *err);
/* For what changes while a run goes on: nodes and reservations only. As cluster_load(). */
int cluster_load_nodes(struct cluster *cluster, struct error *err);
/* Partitions only, for the names of the nodes: the smallest answer that has them. As
 * cluster_load(). */
int cluster_load_partitions(struct cluster *cluster, struct error *err);
void cluster_clear(struct cluster *cluster);

/* For one node: cluster holds that one alone, or nothing where Slurm does not know it. As
 * cluster_load(). */
int cluster_load_node(const char *name, struct cluster *cluster, struct error *err);

/* The node of that name, or NULL: in the time of a binary search, of a cluster that is loaded. */
struct cluster_node *cluster_node(const struct cluster *cluster, const char *name);

/* Whether others' reservation begins there within RESERVATION_SOON_S. */
static inline bool cluster_is_reserved_soon(const struct cluster_node *node)
{
    return node->reserved_at > 0 && node->reserved_at - time(NULL) <= RESERVATION_SOON_S;
}

/* The nodes in the order of a step's tasks, where there is one on each: that of Slurm's own table
 * of nodes. Returns 0, or -1 when memory is out or a node is not the cluster's. */
int cluster_task_nodes(const struct cluster *cluster, const struct hostlist *nodes,
                       struct hostlist *tasks);

/* The first of the names that is no node of the cluster, with err; NULL: all are. Asked before
 * anything is done with any of them. */
const char *cluster_unknown_node(const struct cluster *cluster, const struct hostlist *names,
                                 struct error *err);

/* Inside of cluster_load(), and for tests that make up a cluster: what cluster_node() looks into.
 * Returns 0, or -1 with err. */
int cluster_index(struct cluster *cluster, struct error *err);

/* Likewise: what Slurm's number says of a node. */
void cluster_node_state(uint32_t state, struct cluster_node *node);

/* Likewise: which nodes wait for a certificate. Of these only those that are in one of the others'
 * reservations stay reserved. Returns 0, or -1 with err. */
int cluster_mark_waiting(struct cluster *cluster, const struct hostlist *waiting,
                         const struct hostlist *others, struct error *err);

/* nodes in Slurm's notation. Return 0, or -1 with err. */
int cluster_drain(const char *nodes, const char *reason, struct error *err);
int cluster_resume(const char *nodes, struct error *err);
int cluster_set_comment(const char *nodes, const char *comment, struct error *err);
/* Each change makes the scheduler start over: for those only that have another. */
int cluster_set_extra(const char *nodes, const char *extra, struct error *err);
/* Drains the nodes and sets them down as well: for those that do not answer. The jobs there are
 * over for Slurm at once, or are left without these nodes, rather than completing until
 * SlurmdTimeout. */
int cluster_down(const char *nodes, const char *reason, struct error *err);

/* A reservation for root and those users ("alice,bob"; NULL: root alone) over the nodes, beginning
 * now, with MAINT and IGNORE_JOBS, so that no other job starts there. It ends by itself after
 * `minutes`, or after being left without a job for ten; with minutes 0 never: somebody has to
 * delete it. */
int cluster_reserve(const char *name, const char *nodes, const char *users, int minutes,
                    struct error *err);
/* The reservation of a run is named by this and the run: "muster-20261120-161200-1a2b". */
#define CLUSTER_RUN "muster-"
/* The run whose reservation has that name, a part of it; NULL: it does not have the form of one. */
const char *cluster_run_name(const char *reservation);
/* Whether a reservation of these times ends by itself. */
bool cluster_has_end(time_t begin, time_t end);
/* 0 also when there is no such reservation. */
int cluster_unreserve(const char *name, struct error *err);

/* Whether the reservation is there, and then its nodes, to be cleared, and since when, if it does
 * not end by itself, else 0; since may be NULL. Returns 1, 0, or -1 with err. */
int cluster_reservation(const char *name, struct hostlist *nodes, time_t *since, struct error *err);

/* The reservation in which nodes wait for their first certificate: root's, without end, with MAINT
 * and IGNORE_JOBS, so that a reservation of a run may lie over it. Jobs that run there go on. */
#define CLUSTER_WAITING "muster"
/* Has the reservation hold these nodes: makes it, changes it, deletes it when there are none.
 * changed: those by which that is more, or less, than it holds; a slurmctld since 23.02 is told of
 * these alone, so that what another host changes meanwhile stays. What Slurm has without end lasts
 * a year, from each change on. is_there: whether it is there now. */
int cluster_wait(const struct hostlist *names, const struct hostlist *changed, bool is_there,
                 struct error *err);

struct cluster_job {
    uint32_t id;
    char name[64];
    uid_t uid;
    char host[64];        /* where it was submitted */
    char reservation[96]; /* "": none */
    bool is_pending, is_running, is_completing;
};

/* The jobs whose name begins with prefix and that are not over. *jobs is malloc'd; the caller
 * frees. Returns their number, or -1 with err. */
int cluster_jobs(const char *prefix, struct cluster_job **jobs, struct error *err);
/* The jobs of a run are named by this and the run. */
#define CLUSTER_RUN_JOB "muster-certify-"

enum cluster_job_state {
    CLUSTER_JOB_HELD, /* it waits or runs */
    CLUSTER_JOB_OVER, /* it has ended, or is ending */
    CLUSTER_JOB_LOST, /* the controller does not know it: one that died, or another that took over,
                         does not have what was not saved by then, and gives its number to the next
                         job */
    CLUSTER_JOB_UNKNOWN, /* the controller does not answer */
};
/* What became of the job of that number and name. */
enum cluster_job_state cluster_job_state(uint32_t id, const char *name);

/* 0 also when the job is over. */
int cluster_job_cancel(uint32_t id, struct error *err);

/* Kills the steps of the job that have that name, NULL: all of them; not the job. */
int cluster_job_cancel_steps(uint32_t id, const char *name, struct error *err);

/* A heterogeneous job is several jobs, each with nodes of its own; any other is one. */
struct cluster_component {
    long group; /* srun's --het-group; -1: the job is not heterogeneous */
    struct hostlist nodes;
    long *gpus; /* of each of the nodes: how many the job has there; 0 of a step that does not have
                   all of them, as other steps may use the rest */
    int steps;  /* that make up the step: several in a heterogeneous one within one job */
};

/* The nodes of the job, or with step not NULL those of that step of it: those of all components,
 * whichever of them id names, in the order of their groups. *leader: the job that srun's --jobid
 * wants. Release *components with cluster_components_free(). Returns how many have nodes, at least
 * one, or -1 with err. */
int cluster_job_components(uint32_t id, const uint32_t *step, uint32_t *leader,
                           struct cluster_component **components, struct error *err);
void cluster_components_free(struct cluster_component *components, int count);

#endif
