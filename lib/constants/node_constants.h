/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NODE_CONSTANTS_H
#define MUSTER_NODE_CONSTANTS_H

#include "lib/constants/constant.h"

/* The constants of the plugin and of the libraries that it shares with all programs (spank,
 * lib). */

/* clang-format off */
#define NODE_CONSTANTS(ROW) \
/* the plugin */ \
ROW(integer, GATE_DEADLINE_MS, 900, "ms", "chosen 2026-11", "time limit of the gate, whatever hangs") \
ROW(integer, NODE_DEADLINE_MS, 3000, "ms", "chosen 2026-11", "time limit for a step to read its node: healthy nodes take a few ms") \
ROW(integer, NETIF_DEADLINE_MS, 8000, "ms", "chosen 2026-11", "time limit for settings of interfaces: a driver takes about 1 s for an MTU or a ring") \
ROW(integer, NETIF_LOCK_MS, 7500, "ms", "chosen 2026-11", "most of that for the lock of the interface journal") \
ROW(integer, NETIF_WAITED_MS, 2000, "ms", "chosen 2026-11", "wait for that lock from which a setting may be late because of it: the remaining time may be too short") \
ROW(integer, JOBS_DEADLINE_MS, 50, "ms", "chosen 2026-11", "time limit for the counters of a node before and after a job") \
ROW(integer, JOB_LOG_LOCK_MS, 500, "ms", "chosen 2026-11", "time limit for the lock of the log of jobs, which others hold for less than 1 ms") \
ROW(integer, SUSPECTS_DEADLINE_MS, 200, "ms", "chosen 2026-11", "time limit for the directory of suspect reports, which takes less than 1 ms") \
ROW(integer, REFUSED_DEADLINE_MS, 500, "ms", "chosen 2026-11", "time limit for the note of a refused job, which takes less than 1 ms") \
ROW(integer, ASIDE_S, 60, "s", "chosen 2026-11", "age from which a file that a job's hook had begun to write is given up") \
ROW(integer, PREFLIGHT_ENDING_S, 8, "s", "chosen 2026-11", "how long srun waits for muster preflight to end its step once its budget is over") \
ROW(integer, PREFLIGHT_KILL_S, 3, "s", "chosen 2026-11", "time then before it kills muster preflight, and again before it leaves what hangs in the kernel") \
ROW(integer, PREFLIGHT_POLL_MS, 10, "ms", "chosen 2026-11", "interval of checks whether it has ended") \
/* certificates */ \
ROW(integer, SEAL_TIMEOUT_MS, 800, "ms", "chosen 2026-11", "time limit for munged") \
ROW(integer, SEAL_RESTART_S, 3, "s", "chosen 2026-12", "time before a munged that does not answer is asked again: it may be restarting") \
ROW(integer, CERTIFICATE_CLOCK_SLACK_S, 300, "s", "chosen 2026-11", "most by which the clock of a node may be behind the time of issue") \
ROW(integer, REFUSED_CLOCK_SLACK_S, 300, "s", "chosen 2026-11", "most time between the refusal of a job and a drain that it explains") \
ROW(integer, BRAKE_FRESH_S, 3600, "s", "chosen 2026-11", "how long GateBrake lets a node pass for one cause") \
/* the kernel */ \
ROW(integer, LIVE_WAIT_MS, 1000, "ms", "chosen 2026-11", "time limit for addresses and routes") \
ROW(integer, LIVE_TRIES, 3, "tries", "chosen 2026-11", "attempts to read them while they change") \
ROW(integer, NETLINK_WAIT_MS, 5000, "ms", "chosen 2026-11", "time limit for an answer of the kernel about interfaces or sockets") \
ROW(real, BOUNDED_KILL_WAIT_S, 0.2, "s", "chosen 2026-11", "time for a killed process to end") \
ROW(real, BOUNDED_KERNEL_WAIT_S, 5, "s", "chosen 2026-11", "time for one that waits in the kernel: a driver that starts a GPU does so for seconds") \
ROW(real, BOUNDED_DYING_WAIT_S, 10, "s", "chosen 2026-11", "time for any other: a busy machine may run it late, or it has much memory to return")
/* clang-format on */
NODE_CONSTANTS(CONSTANT_DEFINE)

#endif
