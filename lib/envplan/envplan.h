/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ENVPLAN_H
#define MUSTER_ENVPLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/certificate/failed_rails.h"
#include "lib/conf/conf.h"
#include "lib/fabric/affinity.h"
#include "lib/fabric/fabric.h"
#include "lib/fabric/islands.h"

/* Chooses the environment variables of a task from the node's inventory, fabric and affinity, the
 * site's policy, and the task's rank and node in its step. Each variable has the rule that chose it
 * and the fact behind it. Pure: no I/O.
 *
 * A value that the user set, also an empty one, overrides muster's rules and the site's lines,
 * unless a line says force or forbid. A value that muster set in an outer step is not the user's:
 * MUSTER_SET lists "NAME:hash of value" of each such variable. So a nested step chooses it afresh,
 * and a value that the user has changed since then counts as the user's. */

/* Returns the value of a variable of the task's environment, or NULL. The value must stay valid
 * until envplan_make() returns. */
typedef const char *envplan_getenv_fn(const char *name, void *context);

struct visible_gpus; /* lib/node/gpu/visible_gpus.h */

/* The kind of program that a task of the step runs. */
enum envplan_launcher {
    ENVPLAN_RANK,       /* a rank of the user's program */
    ENVPLAN_MPI_DAEMON, /* orted, prted, hydra's proxies, mpirun itself, flux: its children inherit
                           its environment; it chooses their ranks and even their first host */
    ENVPLAN_AGENT,      /* torchrun and its like, one per node: starts the ranks of its node */
    ENVPLAN_SHELL,      /* an interactive shell: its commands start ranks by any launcher */
};

/* Returns the kind of a program by its command line:
 * - an MPI daemon, mpirun or flux by the program's base name;
 * - if the task is alone on its node, also by any other word, and an agent too (torchrun, python -m
 *   torch.distributed.run, accelerate launch, deepspeed, ray start). The words of a shell's -c
 *   count, the arguments of a Python script do not;
 * - a shell without a command (bash -l) if it is the only task of its step. */
enum envplan_launcher envplan_launcher(int argc, char *const argv[], long local_size,
                                       long world_size);

/* The task as Slurm reports it. Unknown numbers are -1, unknown texts "". */
struct envplan_task {
    long job_id, step_id; /* of a heterogeneous job, job_id is the leader's */
    long rank, local_rank, node_rank, world_size, local_size;
    char first_host[256];      /* the host of rank 0, or "" */
    char first_host_fact[192]; /* the source of first_host, or why it is not known */
    char node[256], partition[256], account[256];
    enum envplan_launcher launcher;
    /* Bit n: NUMA node n belongs to the one socket that the task is bound to (lib/node/binding.h).
     * 0: the task is not bound to one socket, or that is not known. */
    unsigned long long numa_nodes;
};

/* Fills task from the SLURM_* variables of a task's environment, which span all components of a
 * heterogeneous step (SPANK's items do not). Three fields are left to the caller: local_size (-1),
 * which only SPANK reports reliably there, launcher (ENVPLAN_RANK) and numa_nodes (0). */
void envplan_task_read(envplan_getenv_fn *getenv_fn, void *context, struct envplan_task *task);

/* The facts that all tasks of a step on one node share. Large: allocate it. Points to inventory and
 * conf, which must outlive it. */
struct envplan_node {
    const struct inventory *inventory;
    const struct conf *conf;
    struct islands islands;
    struct fabric fabric; /* the fabric that the step's nodes share */
    struct affinity affinity;
};

/* Fills node. step_nodes are the nodes of the step in Slurm's notation; it and node_name may be
 * NULL: not known. The rails in failed are not used while another rail is up; NULL: none failed. */
void envplan_node_make(const struct inventory *inventory, const struct conf *conf,
                       const char *node_name, const char *step_nodes,
                       const struct failed_rails *failed, struct envplan_node *node);

enum envplan_action {
    ENVPLAN_SET,
    ENVPLAN_KEEP,   /* leave it unchanged; fact says why */
    ENVPLAN_REMOVE, /* muster set it in an outer step and no rule sets it here, or the site forbids
                       it; fact says why */
};

struct envplan_variable {
    char name[64];
    char value[4096];
    char rule[96];  /* short name of the rule: "fabric rails", "rank", "policy muster.conf:12" */
    char fact[640]; /* "eth1 eth2 up, Ethernet; management is eth0" */
    enum envplan_action action;
    bool is_user_value; /* the value extends the user's value: not listed in the mark */
};

struct envplan {
    struct envplan_variable *variables; /* every variable of the table, in its order, then variables
                                           that only the site's lines or an outer step name */
    size_t count;
    char mark[8192]; /* the value for ENVPLAN_MARK; "": ENVPLAN_MARK is to be removed. If an entry
                        does not fit, the fact of its variable says so. */
};

#define ENVPLAN_MARK "MUSTER_SET"

/* Makes the plan. visible: the GPUs that the task sees; NULL: not known. Returns 0, or -1 when
 * memory is out, with an empty plan. Release it with envplan_clear(). */
int envplan_make(const struct envplan_node *node, const struct envplan_task *task,
                 const struct visible_gpus *visible, envplan_getenv_fn *getenv_fn, void *context,
                 struct envplan *plan);

/* Makes the plan of a step whose user switched muster off: it only removes variables that muster
 * set in an outer step. Returns as envplan_make(). */
int envplan_make_off(envplan_getenv_fn *getenv_fn, void *context, struct envplan *plan);

void envplan_clear(struct envplan *plan);

/* Formats one line: "RANK=3 (rank: SLURM_PROCID is 3)", "NCCL_IB_HCA left alone (RDMA ports: ...)".
 * Replaces control characters, which a user's value may contain, by '?'. */
void envplan_explain(const struct envplan_variable *variable, char *line, size_t line_size);

#endif
