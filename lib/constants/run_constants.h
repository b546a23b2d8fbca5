/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RUN_CONSTANTS_H
#define MUSTER_RUN_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define RUN_CONSTANTS(ROW) \
ROW(integer, RUN_LEAST_LEFT_S, 120, "s", "chosen 2026-11", "least rest of the job's time limit for a restart") \
ROW(integer, RUN_TICK_MS, 50, "ms", "chosen 2026-11", "interval of checks whether the command, or the watch for a hang, has ended") \
ROW(integer, RUN_LOOK_S, 20, "s", "chosen 2026-11", "interval of queries of the nodes that the job still has: one small request") \
ROW(integer, RUN_LOST_S, 60, "s", "chosen 2026-11", "time for the command to end by itself after Slurm took a node from the job") \
ROW(integer, RUN_TERM_S, 60, "s", "chosen 2026-11", "time between SIGTERM and SIGKILL of the command") \
ROW(integer, RUN_PREFLIGHT_GRACE_S, 30, "s", "chosen 2026-11", "time for a preflight to end after its budget") \
ROW(real, RUN_STEP_S, 5, "s", "chosen 2026-11", "time for the step of an earlier start to end: with a lost node it does not before Slurm knows of it") \
ROW(real, KEEPER_BEAT_S, 10, "s", "chosen 2026-11", "interval of the bytes that muster run writes to the keeper's step") \
ROW(integer, KEEPER_LOOK_S, 30, "s", "chosen 2026-11", "how long the keeper waits for a byte before it queries the job: one small request") \
ROW(integer, KEEPER_SILENT, 2, "waits", "chosen 2026-11", "waits without a byte before the keeper asks whether the job still has the script's node") \
ROW(integer, RUN_REQUEUE_S, 180, "s", "chosen 2026-11", "time for a restarted slurmctld, or its backup, to accept and act on a request to requeue the job: SlurmctldTimeout is 120 s") \
ROW(integer, RUN_REQUEUE_EACH_S, 10, "s", "chosen 2026-11", "interval of such requests when they fail") \
ROW(real, RUN_EXCLUDE_S, 20, "s", "chosen 2026-11", "how long muster run tries to exclude nodes from a job just requeued: less than Slurm's KillWait, 30 s by default")
/* clang-format on */
RUN_CONSTANTS(CONSTANT_DEFINE)

#endif
