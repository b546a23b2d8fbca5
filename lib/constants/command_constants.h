/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_CONSTANTS_H
#define MUSTER_COMMAND_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define COMMAND_CONSTANTS(ROW) \
ROW(integer, BUNDLE_LIMIT_S, 5, "s", "chosen 2026-11", "time limit for a bundle of evidence: a driver may hang") \
ROW(integer, STEP_WAIT_S, 10, "s", "chosen 2026-11", "time limit for the job of a short step to start: compare, doctor, revoke") \
ROW(integer, STEP_DEADLINE_S, 30, "s", "chosen 2026-11", "time limit of a short step") \
ROW(integer, STEP_GRACE_S, 3, "s", "chosen 2026-11", "time between SIGTERM and SIGKILL of a short step") \
ROW(integer, COMPARE_DEADLINE_S, 60, "s", "chosen 2026-11", "time limit of the step of muster compare, which reads all facts of a node") \
ROW(integer, DOCTOR_REACH_S, 3, "s", "chosen 2026-11", "time limit for slurmd to answer") \
ROW(integer, DOCTOR_CLOCK_S, 60, "s", "chosen 2026-11", "most by which the clock of a node differs") \
ROW(integer, DOCTOR_STATE_MB, 64, "MB", "chosen 2026-11", "least free space for the history and certificates") \
ROW(integer, DOCTOR_SPOOL_MB, 100, "MB", "chosen 2026-11", "least free space for the spool of slurmd") \
ROW(integer, NEIGHBORS_S, 5, "s", "chosen 2026-11", "time limit of lldpcli") \
ROW(integer, GATE_NOTE_OLD_S, 86400, "s", "chosen 2026-11", "age up to which the note of a refused job explains a drain") \
ROW(real, LIVE_EACH_S, 0.5, "s", "chosen 2026-11", "interval of progress lines of a stage") \
ROW(integer, REPORT_PIPE_S, 60, "s", "chosen 2026-11", "time limit to write a report into a pipe") \
ROW(integer, INTERFACES_LOCK_MS, 10000, "ms", "chosen 2026-11", "time limit for the lock of the interface journal")
/* clang-format on */
COMMAND_CONSTANTS(CONSTANT_DEFINE)

#endif
