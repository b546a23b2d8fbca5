/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PREEMPTS_H
#define MUSTER_PREEMPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/hostlist.h"

/* Returns whether slurmctld would end, suspend or requeue other jobs for the job of step_run_on().
 * A free CPU is not enough: the node's memory or the whole node may be in use. partition NULL: the
 * default. Returns false if unknown. */
bool preempts(const struct hostlist *nodes, const char *partition);

#endif
