/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_EXPLAIN_H
#define MUSTER_COMMAND_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/hostlist.h"
#include "lib/envplan/envplan.h"
#include "lib/node/gpu/visible_gpus.h"
#include "lib/node/inventory.h"

/* The step that muster explain explains, and the environment of its tasks. */

enum { EXPLAIN_VARIABLES = 128, EXPLAIN_WORDS = 4096 };

struct explain_step {
    const char *root, *config;       /* NULL: this machine, its configuration */
    const char *node;                /* Slurm's name; NULL: the inventory's host name */
    const char *nodes;               /* of the step, in Slurm's notation; NULL: node alone */
    const char *partition, *account; /* NULL: not given */
    long job, step, ntasks, ntasks_per_node, rank; /* -1: not given */
    const char *gpus;               /* "0,3", "none", "each"; NULL: by the variables, else all */
    char *words[EXPLAIN_WORDS + 1]; /* the program's command line, NULL at the end */
    int word_count;
    const char *variables[EXPLAIN_VARIABLES]; /* "NAME=value" of --env, the last of a name counts */
    size_t variable_count;
    bool is_off;

    /* filled by explain_step_prepare(): */
    struct hostlist node_list;
    long node_index, local_size, first_rank; /* this node's index among the nodes, its tasks */
};

/* Checks the request against the node, and fills in missing values: one task per GPU (at least
 * one), the same number on every node. Returns 0, or -1 with err. Release step with
 * explain_step_clear(), which is also safe for a step that was never prepared. */
int explain_step_prepare(struct explain_step *step, const struct inventory *inventory,
                         struct error *err);
void explain_step_clear(struct explain_step *step);

/* One task of the step, with the environment that Slurm and the user would give it. */
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

/* Fills task. local_rank -1: no task of Slurm, as for a program started by hand. The struct is
 * large: allocate it. It points to step and inventory. */
void explain_task_make(const struct explain_step *step, const struct inventory *inventory,
                       long local_rank, struct explain_task *task);

/* An envplan_getenv_fn; task: a struct explain_task. */
const char *explain_getenv(const char *name, void *task);

#endif
