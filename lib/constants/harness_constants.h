/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HARNESS_CONSTANTS_H
#define MUSTER_HARNESS_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define HARNESS_CONSTANTS(ROW) \
/* the time limit of a program */ \
ROW(real, PROGRAM_TIME_LIMIT_MOST_S, 7 * 86400.0, "s", "chosen 2026-11", "longest time limit of a program of the battery, of a stage, and of QuickBudget and the like") \
/* a program that does not start */ \
ROW(real, WATCHDOG_BASE_S, 60, "s", "chosen 2026-11", "time limit for MPI to start") \
ROW(real, WATCHDOG_RANK_S, 0.02, "s", "chosen 2026-11", "time limit for MPI to start, more for each rank") \
ROW(real, WATCHDOG_EACH_S, 0.5, "s", "chosen 2026-11", "interval of the watchdog's checks") \
ROW(real, WATCHDOG_AFTER_S, 5, "s", "chosen 2026-11", "how long ranks wait for the record of rank 0: Slurm ends the step when the first one leaves") \
/* a program that hangs */ \
ROW(real, MONITOR_POLL_S, 0.1, "s", "chosen 2026-11", "interval of checks for silent ranks") \
ROW(real, MONITOR_MOVED_BYTES, 4096, "bytes", "chosen 2026-11", "data moved that is no progress: keepalives of a library") \
ROW(real, STALL_LATE_S, 0.3, "s", "chosen 2026-11", "delay of a thread's wakeup from which it was not scheduled") \
ROW(real, STALL_SILENCE_INTERVALS, 10, "intervals", "chosen 2026-11", "heartbeat intervals after which a rank counts as silent") \
ROW(real, STALL_SILENCE_GAPS, 5, "gaps", "chosen 2026-11", "the same in multiples of the longest gap that ranks of the program had") \
ROW(real, STALL_SILENCE_LEAST_S, 3, "s", "chosen 2026-11", "least silence for a rank to count as silent") \
ROW(real, STALL_SILENCE_MOST_S, 60, "s", "chosen 2026-11", "silence after which a rank counts as silent in any case") \
ROW(real, STALL_MEMORY_S, 10, "s", "chosen 2026-11", "decay time of the longest gap") \
ROW(integer, WATCH_CONNECT_MS, 2000, "ms", "chosen 2026-11", "time limit for a rank to connect to rank 0") \
ROW(integer, WATCH_ANSWER_MS, 8000, "ms", "chosen 2026-11", "time limit for it to be accepted then, on a busy machine too") \
ROW(real, ADMISSION_PROOF_S, 1, "s", "chosen 2026-11", "how long a connection may be open without a proof") \
ROW(real, ADMISSION_WANTED_S, 0.2, "s", "chosen 2026-11", "the same where others wait for its slot") \
/* waiting for MPI */ \
ROW(integer, WAIT_TESTS, 20, "tests", "chosen 2026-11", "tests of requests before the first sleep") \
ROW(real, WAIT_SLEEP_SHARE, 1.0 / 64, "of the wait", "chosen 2026-11", "length of a sleep, of the time waited: a step of the wait may be as much later") \
ROW(real, WAIT_SLEEP_MOST_S, 0.05, "s", "chosen 2026-11", "longest sleep")
/* clang-format on */
HARNESS_CONSTANTS(CONSTANT_DEFINE)

#endif
