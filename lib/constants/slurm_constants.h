/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SLURM_CONSTANTS_H
#define MUSTER_SLURM_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define SLURM_CONSTANTS(ROW) \
ROW(integer, TOPOLOGY_S, 30, "s", "chosen 2026-11", "time limit of scontrol show topology") \
ROW(real, SHOW_S, 60, "s", "chosen 2026-11", "time limit for a list from Slurm: ten thousand nodes, a busy slurmctld") \
ROW(integer, JOB_MATCH_CLOCKS_S, 300, "s", "chosen 2026-11", "most by which the clocks of a node and the accounting differ") \
ROW(integer, JOB_MATCH_ACCOUNTING_S, 10, "s", "chosen 2026-11", "time limit of sacct") \
ROW(integer, STEP_GROUP_NODES, 256, "nodes", "chosen 2026-11", "most nodes that one step queries, where groups of nodes are halved") \
ROW(integer, STEP_ON_MB, 1, "MB", "chosen 2026-11", "memory that a query beside jobs requests: little, so that it fits anywhere") \
ROW(integer, STEP_ON_MIN, 1, "min", "chosen 2026-11", "time limit of a query beside jobs, the least of Slurm's") \
ROW(integer, STEP_FAILURES_MOST, 9, "steps", "chosen 2026-11", "steps without an answer of any node after which groups are no longer halved: as many as lead from a group to one of its nodes") \
ROW(real, ALLOCATION_QUERY_S, 0.05, "s", "chosen 2026-11", "first interval of queries of a pending job; later a tenth of the wait") \
ROW(real, ALLOCATION_QUERY_MOST_S, 1, "s", "chosen 2026-11", "longest interval of queries of a pending job: 50 queries in 20 s") \
ROW(real, ALLOCATION_TICK_S, 0.1, "s", "chosen 2026-11", "interval of checks for a signal meanwhile") \
ROW(integer, ALLOCATION_NODES_PER_S, 50, "nodes/s", "chosen 2026-11", "prologs that end per second at least once a job has begun, by which its time limit is raised") \
ROW(real, ALLOCATION_PENDING_S, 2, "s", "chosen 2026-11", "time by which the scheduler has considered a job") \
ROW(integer, RESERVATION_IDLE_MIN, 10, "min", "chosen 2026-11", "time after which an unused reservation ends by itself") \
ROW(integer, RESERVATION_SOON_S, 3600, "s", "chosen 2026-11", "time before another's reservation in which no run begins there, as the run's own would keep that reservation's jobs off") \
ROW(integer, UPLINK_NODES_PER_PAIR, 4, "nodes", "chosen 2026-11", "nodes of a leaf where others run jobs for each pair that may use its uplinks at once") \
ROW(integer, MUNGE_WAIT_S, 20, "s", "chosen 2026-11", "time for a munged that was there to come back, the first time") \
ROW(integer, PROBE_LATER_S, 3600, "s", "chosen 2026-11", "delay of a probe job that is not to start") \
ROW(integer, PROBE_MOST_MIN, 15, "min", "chosen 2026-11", "time limit of a probe job that is not canceled") \
ROW(integer, REACH_AT_ONCE, 64, "nodes", "chosen 2026-11", "most nodes whose slurmd is contacted at a time") \
ROW(integer, REACH_RESTART_S, 3, "s", "chosen 2026-11", "time before slurmd is contacted again where the port was closed: it may be restarting") \
ROW(integer, PROCESS_TICK_MS, 100, "ms", "chosen 2026-11", "interval of checks for a signal while a command runs") \
ROW(real, PROCESS_END_S, 3, "s", "chosen 2026-11", "time from the last output of a program to its end") \
ROW(real, PROCESS_KILL_S, 5, "s", "chosen 2026-11", "time for a killed program to end: one that hangs in the kernel is left") \
ROW(integer, RETEST_CONFIRM_S, 30, "s", "chosen 2026-11", "longest time that a living run is without a job and lifts no drain") \
ROW(integer, RESERVATION_ENDLESS_S, 31536000, "s", "standard 2026-11: slurmctld/reservation.c, a reservation of INFINITE minutes ends a year after its begin", "duration from which a reservation has no end") \
ROW(integer, RETEST_UNMARKED_S, 3600, "s", "chosen 2026-11", "longest time that a living run has a reservation without end and no mark on its nodes") \
ROW(integer, UNDO_GONE_S, 30, "s", "chosen 2026-11", "time for a job to be canceled and a reservation to be free") \
ROW(integer, UNDO_COMPLETING_S, 8, "s", "chosen 2026-11", "time for the job to end after that: on a lost node it never does") \
ROW(integer, UNDO_EPILOG_S, 2, "s", "chosen 2026-11", "time for epilogs before silent nodes are set down") \
ROW(integer, UNDO_LATE_S, 3, "s", "chosen 2026-11", "time for the request of a killed salloc to arrive") \
ROW(integer, UNDO_KEEPER_TRIES, 10, "tries", "chosen 2026-11", "attempts to undo what a killed run has left") \
ROW(integer, UNDO_OTHER_HOST_S, 604800, "s", "chosen 2026-11", "time for the host of a journal to undo it; then any host does")
/* clang-format on */
SLURM_CONSTANTS(CONSTANT_DEFINE)

#endif
