/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLAN_SBATCH_H
#define MUSTER_PLAN_SBATCH_H

#include "validate/plan/figures.h"

/* Returns the sbatch options for the nodes of a plan, one per line, "--nodes=4", as behind #SBATCH;
 * malloc'd, NULL if memory is out. Pure. block: nodes of a block of topology/block, 0: another
 * topology. has_extra: jobs may request what is in a node's Extra. */
char *plan_sbatch_text(const struct plan_figures *figures, const struct plan_layout *layout,
                       size_t block, bool has_extra);

#endif
