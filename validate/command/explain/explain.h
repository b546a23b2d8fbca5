/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_EXPLAIN_H
#define MUSTER_COMMAND_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/envplan/envplan.h"
#include "lib/base/hostlist.h"
#include "lib/node/inventory.h"
#include "lib/node/gpu/visible_gpus.h"

/* The step that muster explain is asked about, and what its tasks would see. */

enum { EXPLAIN_VARIABLES = 128, EXPLAIN_WORDS = 4096 };

struct explain_step {
    const char *root, *config;       /* NULL: this machine, its configuration */
    const char *node;                /* Slurm's name; NULL: the inventory's host name */
    const char *nodes;               /* of the step, in Slurm's notation; NULL: node alone */
    const char *partition, *account; /* NULL: not told */
    long job, step, ntasks, ntasks_per_node, rank; /* -1: not told */
    const char *gpus; /* "0,3", "none", "each"; NULL: what the variables say, else all */
    char *words[EXPLAIN_WORDS + 1]; /* the program's command line, NULL at the end */
    int word_count;
    const char *variables[EXPLAIN_VARIABLES]; /* "NAME=value" of --env, the last of a name counts */
    size_t variable_count;
    bool is_off;

    /* what follows from it: explain_step_prepare() */
    struct hostlist node_list;
    long node_place, local_size, first_rank; /* this node's place among the nodes, its tasks */
};

/* Checks the request against the node and fills in what was left out: one task for each GPU (at
 * least one), as many on every node. Returns 0, or -1 with err. Release it with
 * explain_step_clear(), which may be called also on what was never prepared. */
int explain_step_prepare(struct explain_step *step, const struct inventory *inventory,
                         struct error *err);
void explain_step_clear(struct explain_step *step);

/* One task of the step: its environment as Slurm and the user would make it. */
struct explain_task {
    const struct explain_step *step;
    const struct inventory *inventory;
    long local_rank;
    char numbers[16][80]; /* "SLURM_PROCID=3" */
    size_t number_count;
    bool may_open[INVENTORY_GPUS];
    struct envplan_task place;
    struct visible_gpus visible;
};

/* local_rank -1: no task of Slurm's, as for a program that is started by hand outside of it. The
 * struct is large: allocate it. Points to step and inventory. */
void explain_task_make(const struct explain_step *step, const struct inventory *inventory,
                       long local_rank, struct explain_task *task);

/* An envplan_getenv_fn on a struct explain_task. */
const char *explain_getenv(const char *name, void *task);

#endif
