/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RUN_CONSTANTS_H
#define MUSTER_RUN_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define RUN_CONSTANTS(ROW) \
ROW(integer, RUN_LEAST_LEFT_S, 120, "s", "chosen 2026-11", "of the job's time limit: a restart with less is not worth it") \
ROW(integer, RUN_TICK_MS, 50, "ms", "chosen 2026-11", "between looks whether the command has ended, or the watch for a hang") \
ROW(integer, RUN_LOOK_S, 20, "s", "chosen 2026-11", "between looks which nodes the job still has: one small request") \
ROW(integer, RUN_LOST_S, 60, "s", "chosen 2026-11", "for the command to end by itself after Slurm took a node from the job") \
ROW(integer, RUN_TERM_S, 60, "s", "chosen 2026-11", "between SIGTERM and SIGKILL of the command") \
ROW(integer, RUN_PREFLIGHT_GRACE_S, 30, "s", "chosen 2026-11", "for a preflight to end after its budget") \
ROW(real, RUN_STEP_S, 5, "s", "chosen 2026-11", "for the step of an earlier start to be over: with a node that is lost it is not before Slurm knows") \
ROW(real, KEEPER_BEAT_S, 10, "s", "chosen 2026-11", "between the bytes that muster run writes to the keeper's step") \
ROW(integer, KEEPER_LOOK_S, 30, "s", "chosen 2026-11", "that the keeper waits for a byte; after each without one it asks for the job: one small request") \
ROW(integer, KEEPER_SILENT, 2, "waits", "chosen 2026-11", "without a byte before the keeper asks whether the job still has the script's node") \
ROW(integer, RUN_REQUEUE_S, 180, "s", "chosen 2026-11", "for a slurmctld that is started again, or for its backup, to take or to act on a request to queue the job again: SlurmctldTimeout is 120 s") \
ROW(integer, RUN_REQUEUE_EACH_S, 10, "s", "chosen 2026-11", "between such requests that fail") \
ROW(real, RUN_EXCLUDE_S, 20, "s", "chosen 2026-11", "that muster run tries to exclude nodes from a job just queued again: less than Slurm's KillWait, 30 s by default")
/* clang-format on */
RUN_CONSTANTS(CONSTANT_DEFINE)

#endif
