/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SLURM_CONSTANTS_H
#define MUSTER_SLURM_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define SLURM_CONSTANTS(ROW) \
ROW(integer, TOPOLOGY_S, 30, "s", "chosen 2026-11", "for scontrol show topology") \
ROW(real, SHOW_S, 60, "s", "chosen 2026-11", "for a list of Slurm: ten thousand nodes, a busy slurmctld") \
ROW(integer, RAN_CLOCKS_S, 300, "s", "chosen 2026-11", "that clocks of a node and the accounting may differ") \
ROW(integer, RAN_ACCOUNTING_S, 10, "s", "chosen 2026-11", "for sacct") \
ROW(integer, STEP_GROUP_NODES, 256, "nodes", "chosen 2026-11", "that one step asks at most, where many are asked by halves") \
ROW(integer, STEP_ON_MB, 1, "MB", "chosen 2026-11", "of memory that a query beside jobs asks for, so that it fits anywhere") \
ROW(integer, STEP_ON_MIN, 1, "min", "chosen 2026-11", "its time limit, the least of Slurm's") \
ROW(integer, STEP_FAILURES_MOST, 9, "steps", "chosen 2026-11", "without an answer of any node, as many as from a group to one node of it: then groups are not halved") \
ROW(real, ALLOCATION_QUERY_S, 0.05, "s", "chosen 2026-11", "between queries of a job that pends, at first; a tenth of the wait then") \
ROW(real, ALLOCATION_QUERY_MOST_S, 1, "s", "chosen 2026-11", "the same, at most: 50 queries in 20 s") \
ROW(real, ALLOCATION_TICK_S, 0.1, "s", "chosen 2026-11", "between looks for a signal meanwhile") \
ROW(integer, ALLOCATION_NODES_PER_S, 50, "nodes/s", "chosen 2026-11", "whose prologs end, at least, once a job has begun: it gets as much more time") \
ROW(real, ALLOCATION_PENDING_S, 2, "s", "chosen 2026-11", "the scheduler has looked at a job by then") \
ROW(integer, RESERVATION_IDLE_MIN, 10, "min", "chosen 2026-11", "a reservation that is not used ends by itself") \
ROW(integer, RESERVATION_SOON_S, 3600, "s", "chosen 2026-11", "before others' reservation begins no run begins there, whose own would keep its jobs off") \
ROW(integer, UPLINK_NODES_PER_PAIR, 4, "nodes", "chosen 2026-11", "of a leaf where others run jobs, for each pair at once over its uplinks") \
ROW(integer, MUNGE_WAIT_S, 20, "s", "chosen 2026-11", "for a munged that was there to come back, the first time") \
ROW(integer, PROBE_LATER_S, 3600, "s", "chosen 2026-11", "until a probe job that is not to start may begin") \
ROW(integer, PROBE_MOST_MIN, 15, "min", "chosen 2026-11", "a probe job that is not canceled ends, whatever its time limit") \
ROW(integer, REACH_AT_ONCE, 64, "nodes", "chosen 2026-11", "whose slurmd is asked at a time") \
ROW(integer, REACH_RESTART_S, 3, "s", "chosen 2026-11", "before slurmd is asked again where the port was closed: it may restart") \
ROW(integer, PROCESS_TICK_MS, 100, "ms", "chosen 2026-11", "between looks for a signal while a command runs") \
ROW(real, PROCESS_END_S, 3, "s", "chosen 2026-11", "from the last word of a program to its end") \
ROW(real, PROCESS_KILL_S, 5, "s", "chosen 2026-11", "for a program that was killed to end: one that hangs in the kernel is left") \
ROW(integer, RETEST_CONFIRM_S, 30, "s", "chosen 2026-11", "a living run is without a job and lifts no drain, at most") \
ROW(integer, RESERVATION_ENDLESS_S, 31536000, "s", "standard 2026-11: slurmctld/reservation.c, a reservation of INFINITE minutes ends a year after its begin", "a reservation that lasts so long has no end") \
ROW(integer, RETEST_UNMARKED_S, 3600, "s", "chosen 2026-11", "a living run has a reservation without end and no mark on its nodes, at most") \
ROW(integer, UNDO_GONE_S, 30, "s", "chosen 2026-11", "for a job to be canceled and a reservation to be free") \
ROW(integer, UNDO_COMPLETING_S, 8, "s", "chosen 2026-11", "then for the job to end: on a node that is lost it never does") \
ROW(integer, UNDO_EPILOG_S, 2, "s", "chosen 2026-11", "for epilogs, before nodes that are silent are set down") \
ROW(integer, UNDO_LATE_S, 3, "s", "chosen 2026-11", "for the request of a salloc that was killed") \
ROW(integer, UNDO_KEEPER_TRIES, 10, "tries", "chosen 2026-11", "to undo what a run that was killed has left") \
ROW(integer, UNDO_OTHER_HOST_S, 604800, "s", "chosen 2026-11", "for the host of a journal to undo it; then any host does")
/* clang-format on */
SLURM_CONSTANTS(CONSTANT_DEFINE)

#endif
