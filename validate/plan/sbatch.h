/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLAN_SBATCH_H
#define MUSTER_PLAN_SBATCH_H

#include <stdio.h>

#include "validate/plan/figures.h"

/* What to ask Slurm for, so that it gives the nodes of a plan. Pure. */

struct plan_sbatch {
    size_t nodes;    /* with spares */
    bool has_spares; /* --no-kill and --requeue, for muster run */
    int switches;    /* --switches: the fewest that have so many nodes; 0: any, or not known */
    size_t segment;  /* --segment; 0: none */
    char *exclude;   /* --exclude, in Slurm's notation; "": none */
    int gpus;        /* --gres=gpu:N of a node; 0: whole nodes without GPUs */
    bool is_whole, has_extra; /* --exclusive, --extra */
};

/* block: nodes of a block of topology/block, 0: another topology. has_extra: jobs may ask for what
 * is in a node's Extra. Returns 0, or -1 when memory is out. To be cleared. */
int plan_sbatch_make(const struct plan_figures *figures, const struct plan_layout *layout,
                     size_t block, bool has_extra, struct plan_sbatch *sbatch);
void plan_sbatch_clear(struct plan_sbatch *sbatch);

/* Calls each() for each line, "--nodes=4", as it stands behind #SBATCH. */
void plan_sbatch_lines(const struct plan_sbatch *sbatch,
                       void (*each)(const char *line, void *context), void *context);

#endif
