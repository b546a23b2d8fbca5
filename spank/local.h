/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_LOCAL_H
#define MUSTER_SPANK_LOCAL_H

#include "spank/options.h"

/* srun, sbatch and salloc: the place where a user's mistake is refused. Checks the twins that the
 * command line leaves in force. Returns 0, or -1 after it has told the user why not. */
int local_check(const struct options *options);

#endif
