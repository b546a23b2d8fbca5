/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_PROLOG_H
#define MUSTER_SPANK_PROLOG_H

#include <stdint.h>
#include <sys/types.h>

#include "lib/constants/node_constants.h"

/* The gate: on every node of a job, before the job, as root. It reads the node's certificate and
 * holds it against what the node is now. It answers within GATE_DEADLINE_MS whatever hangs (a
 * munged, a driver behind sysfs, a file system), and what it cannot tell never refuses a job. The
 * note of a refusal has REFUSED_DEADLINE_MS more. */

struct gate_job {
    uid_t uid;       /* root's jobs and BatteryUser's pass: certification has to run there */
    uint32_t job_id; /* for the message */
};

/* Returns 0 to let the job start or -1 to refuse it, after it has logged why and, refusing, left
 * the same line in the file "refused" beside the certificate. The names of node and cluster come
 * from slurmd's part of the prolog's environment; nothing of the user's (SPANK_*) is looked at. */
int gate_check(const char *config_path, const struct gate_job *job);

#endif
