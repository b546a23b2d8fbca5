/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ENDED_H
#define MUSTER_ENDED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"

/* Jobs that have ended, as far as the controller still knows them (MinJobAge). */
struct ended_job {
    uid_t uid;
    struct hostlist nodes;
    bool has_failed_early; /* within SUSPECTS_QUICK_S of its start */
};

/* Loads all ended jobs but root's, those of muster's own runs, and those that were canceled,
 * preempted or lost with a node. Returns 0 with *jobs malloc'd, to be released with
 * ended_jobs_free(), or -1 with err. cluster_open() must have succeeded. */
int ended_jobs_load(struct ended_job **jobs, size_t *count, struct error *err);

void ended_jobs_free(struct ended_job *jobs, size_t count);

#endif
