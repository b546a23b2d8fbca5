/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RUN_SCRIPT_H
#define MUSTER_RUN_SCRIPT_H

#include <stdbool.h>

/* Whether a job script says --no-kill or -k in a line of #SBATCH that sbatch reads: above the first
 * command. Pure. */
bool script_has_no_kill(const char *script);

#endif
