/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ENVPLAN_H
#define MUSTER_ENVPLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/fabric/affinity.h"
#include "lib/conf/conf.h"
#include "lib/fabric/fabric.h"
#include "lib/certificate/failed_rails.h"
#include "lib/fabric/islands.h"

/* From the node's inventory, fabric and affinity, the site's policy and the task's place to the
 * variables that the task should have, each with the rule that chose it and the fact behind it.
 * Pure: no I/O.
 *
 * What the user set goes before muster's rules and the site's lines, an empty value included,
 * unless a line says force or forbid. What an outer step's muster set is not the user's: MUSTER_SET
 * carries "NAME:hash of value" of each such variable, so that a nested step chooses afresh, and a
 * value that the user changed since counts as the user's. */

/* Looks up a variable of the task's environment: its value or NULL. The value must stay valid
 * until envplan_make() returns. */
typedef const char *envplan_getenv_fn(const char *name, void *context);

struct visible_gpus; /* lib/node/gpu/visible_gpus.h */

/* What one task of the step stands for. */
enum envplan_launcher {
    ENVPLAN_RANK,       /* a rank of the user's program */
    ENVPLAN_MPI_DAEMON, /* orted, prted, hydra's proxies, mpirun itself, flux: its children inherit
                           what it gets, their ranks and even their first host are its choice */
    ENVPLAN_AGENT,      /* torchrun and its like, one a node: starts the ranks of its node itself */
    ENVPLAN_SHELL,      /* what is typed there starts ranks of its own, by whatever launcher */
};

/* Tells a launcher from its command line: an MPI daemon, mpirun and flux by the program's base
 * name; these and an agent (torchrun, python -m torch.distributed.run, accelerate launch,
 * deepspeed, ray start) by any word of it, those of a shell's -c included and the arguments of a
 * Python script not, where it is alone on its node; a shell that no command is given to (bash -l),
 * where it is the one task of its step. */
enum envplan_launcher envplan_launcher(int argc, char *const argv[], long local_size,
                                       long world_size);

/* What Slurm says of the task. Numbers that are not known are -1, texts "". */
struct envplan_task {
    long job_id, step_id; /* of the whole job, for a heterogeneous one its leader */
    long rank, local_rank, node_rank, world_size, local_size;
    char first_host[256];      /* the host of rank 0, or "" */
    char first_host_fact[192]; /* from what it is known, or why it is not */
    char node[256], partition[256], account[256];
    enum envplan_launcher launcher;
    /* Bit n: NUMA node n is of the one socket that the task is bound to (lib/node/binding.h). 0: it
     * is bound to none, or that is not known. */
    unsigned long long numa_nodes;
};

/* Fills task from the SLURM_* variables of a task's environment, which span all components of a
 * heterogeneous step (SPANK's items do not). Three fields are left to the caller: local_size (-1),
 * which only SPANK tells reliably there, launcher (ENVPLAN_RANK) and numa_nodes (0). */
void envplan_task_read(envplan_getenv_fn *getenv_fn, void *context, struct envplan_task *task);

/* What holds for every task of a step on one node. Large: allocate it. Points to inventory and
 * conf, which have to outlive it. */
struct envplan_node {
    const struct inventory *inventory;
    const struct conf *conf;
    struct islands islands;
    struct fabric fabric; /* the one that the step's nodes share */
    struct affinity affinity;
};

/* node is the node's name, step_nodes the step's in Slurm's notation; either may be NULL: not
 * known. failed: rails that are not used as long as another one is up; NULL: none. */
void envplan_node_make(const struct inventory *inventory, const struct conf *conf,
                       const char *node_name, const char *step_nodes,
                       const struct failed_rails *failed, struct envplan_node *node);

enum envplan_action {
    ENVPLAN_SET,
    ENVPLAN_KEEP,   /* leave as it is: fact says why */
    ENVPLAN_REMOVE, /* an outer step's muster set it and it does not hold here, or the site forbids
                       it: fact says why */
};

struct envplan_variable {
    char name[64];
    char value[4096];
    char rule[96];  /* short name of the rule: "fabric rails", "rank", "policy muster.conf:12" */
    char fact[640]; /* "eth1 eth2 up, Ethernet; management is eth0" */
    enum envplan_action action;
    bool is_users; /* the value continues the user's: no part of the mark */
};

struct envplan {
    struct envplan_variable *variables; /* every variable of the table, in its order, then those
                                           that only the site's lines or an outer step name */
    size_t count;
    char mark[8192]; /* the value for ENVPLAN_MARK; "" when the variable is to be removed. The fact
                        of a variable that does not fit in says so. */
};

#define ENVPLAN_MARK "MUSTER_SET"

/* Makes the plan. visible: the GPUs that the task sees; NULL: not known. Returns 0, or -1 when
 * memory is out, with an empty plan. Release it with envplan_clear(). */
int envplan_make(const struct envplan_node *node, const struct envplan_task *task,
                 const struct visible_gpus *visible, envplan_getenv_fn *getenv_fn, void *context,
                 struct envplan *plan);

/* The plan of a step whose user switched muster off: only what an outer step's muster set is in
 * it, to be removed. */
int envplan_make_off(envplan_getenv_fn *getenv_fn, void *context, struct envplan *plan);

void envplan_clear(struct envplan *plan);

/* One line: "RANK=3 (rank: SLURM_PROCID is 3)", "NCCL_IB_HCA left alone (RDMA ports: ...)". Control
 * characters of the user's values come out as '?'. */
void envplan_explain(const struct envplan_variable *variable, char *line, size_t line_size);

#endif
