/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PREEMPTS_H
#define MUSTER_PREEMPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/hostlist.h"

/* Returns whether slurmctld would end, suspend or requeue others' jobs for the job of
 * step_run_on(), requested by this process: a CPU may be free there, and yet not the memory or the
 * node. partition NULL: the default one. False also if that is not known. */
bool preempts(const struct hostlist *nodes, const char *partition);

#endif
