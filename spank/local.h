/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_LOCAL_H
#define MUSTER_SPANK_LOCAL_H

#include <stdbool.h>

#include "spank/options.h"

/* In srun, sbatch and salloc: refuses a user's mistake. Checks the options that are set by their
 * variables and not on the command line. Returns 0, or -1 after it has printed the reason. */
int local_check(const struct options *options);

/* Returns whether this srun uses an existing allocation: it runs inside one or was given --jobid.
 * Call it before srun changes its environment. A --jobid among the program's arguments counts. */
bool local_has_allocation(void);

#endif
