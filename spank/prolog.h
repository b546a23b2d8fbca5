/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_PROLOG_H
#define MUSTER_SPANK_PROLOG_H

#include <stdint.h>
#include <sys/types.h>

#include "lib/constants/node_constants.h"

/* The gate runs on every node of a job, before the job, as root. It compares the node's certificate
 * with the node's present state. It answers within GATE_DEADLINE_MS whatever hangs (munged, a
 * driver behind sysfs, a file system). A check without a result never refuses a job. The note of a
 * refusal takes REFUSED_DEADLINE_MS more at most. */

struct gate_job {
    uid_t uid;       /* jobs of root and of BatteryUser always pass: certification has to run */
    uint32_t job_id; /* for the message */
};

/* Returns 0 to let the job start, or -1 to refuse it. Logs why it refuses a job, or allows it
 * without a valid certificate; a refusal also leaves the same line in the file "refused" beside the
 * certificate. The names of node and cluster come from slurmd's part of the prolog's environment;
 * the user's part (SPANK_*) is not read. */
int gate_check(const char *config_path, const struct gate_job *job);

#endif
