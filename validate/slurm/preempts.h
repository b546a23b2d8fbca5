/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PREEMPTS_H
#define MUSTER_PREEMPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/hostlist.h"

/* What step_run_on() asks for of a node. */
enum { SMALL_JOB_MB = 1, SMALL_JOB_MIN = 1 };

/* Whether slurmctld would end, suspend or queue again others' jobs for a job of one task on each of
 * the nodes, asked for by this process: a CPU is free there, and yet the memory or the node may not
 * be. partition NULL: the default one. False also where that cannot be told. */
bool preempts(const struct hostlist *nodes, const char *partition);

#endif
