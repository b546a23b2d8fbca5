/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_LOCAL_H
#define MUSTER_SPANK_LOCAL_H

#include <stdbool.h>

#include "spank/options.h"

/* srun, sbatch and salloc: the place where a user's mistake is refused. Checks the twins that the
 * command line leaves in force. Returns 0, or -1 after it has told the user why not. */
int local_check(const struct options *options);

/* In srun, before it changes its environment: whether it was started for an allocation that it does
 * not make itself, by being inside one or by --jobid. An option of the user's program of that name
 * counts as well. */
bool local_is_inside(void);

#endif
