/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PREEMPTS_H
#define MUSTER_PREEMPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/hostlist.h"

/* Whether slurmctld would end, suspend or queue again others' jobs for the job of step_run_on(),
 * asked for by this process: a CPU is free there, and yet the memory or the node may not
 * be. partition NULL: the default one. False also where that cannot be told. */
bool preempts(const struct hostlist *nodes, const char *partition);

#endif
