/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_CONSTANTS_H
#define MUSTER_POLICY_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define POLICY_CONSTANTS(ROW) \
ROW(integer, ALIKE_PART_LEAST, 2, "nodes", "chosen 2026-11", "least nodes with the same part at fault for a common cause") \
ROW(integer, ALIKE_PART_PERCENT, 50, "% of the nodes asked", "chosen 2026-11", "least share of nodes with the same part at fault for a common cause") \
ROW(integer, ALIKE_KIND_LEAST, 3, "nodes", "chosen 2026-11", "least nodes with a part of the same kind at fault for a common cause") \
ROW(integer, ALIKE_KIND_PERCENT, 10, "% of the nodes asked", "chosen 2026-11", "share of nodes with a part of the same kind at fault above which there is a common cause") \
ROW(integer, ALIKE_DRAINS_S, 3600, "s", "chosen 2026-11", "time before a fault within which drains of others for the same fault are one event: their checks see it minutes apart") \
ROW(integer, CAP_DRAINS_LEAST, 1, "nodes", "chosen 2026-11", "nodes that DrainCap always allows") \
ROW(integer, CAP_TESTS_LEAST, 2, "nodes", "chosen 2026-11", "nodes that TestCap always allows: a link has two ends") \
ROW(integer, TESTING_LOCK_MS, 30000, "ms", "chosen 2026-11", "time limit for the lock of the nodes in tests") \
ROW(integer, TESTING_LOCK_EACH_MS, 100, "ms", "chosen 2026-11", "interval of attempts to get it") \
/* muster certify --idle */ \
ROW(real, IDLE_AGE_MOST, 2, "ratio", "chosen 2026-11", "highest ratio of the time since the last test to CertificateValidity that counts") \
ROW(real, IDLE_FAULT_RISK, 0.25, "ratio", "chosen 2026-11", "relative increase of the score for each fault and repair in the history") \
ROW(real, IDLE_WARNING_RISK, 0.1, "ratio", "chosen 2026-11", "relative increase of the score for each run that warned of the node") \
ROW(real, IDLE_JOB_RISK, 0.1, "ratio", "chosen 2026-11", "relative increase of the score for each job during which its counters or its kernel log had something") \
ROW(integer, IDLE_COUNT_MOST, 10, "count", "chosen 2026-11", "most of each of these that count") \
ROW(integer, IDLE_RISK_S, 90 * 86400, "s", "chosen 2026-11", "length of the history that counts, as muster history --offenders looks back") \
ROW(real, IDLE_SCORE_LEAST, 0.5, "ratio", "chosen 2026-11", "least score of an idle node that is tested: without faults, at half of its certificate's validity") \
ROW(integer, IDLE_REST_S, 3600, "s", "chosen 2026-11", "time after a test, interrupted or not, in which a node is left alone") \
ROW(integer, IDLE_NODES_LEAST, 2, "nodes", "chosen 2026-11", "nodes that IdleCap always allows") \
ROW(real, IDLE_LOOK_S, 5, "s", "chosen 2026-11", "interval of queries of the waiting jobs, at most a quarter of IdleGrace") \
ROW(real, IDLE_LOOK_SHARE, 10, "ratio", "chosen 2026-11", "least interval of these queries, in times that one took") \
/* muster policy verify */ \
ROW(integer, VERIFY_MARGIN_S, 5, "s", "chosen 2026-11", "tolerance beyond a stated time: Slurm's times are whole seconds, and are read now and then") \
ROW(integer, VERIFY_PRIORITY_MIN, 8, "min", "chosen 2026-11", "time limit of jobs that compare priorities") \
ROW(integer, VERIFY_LIMIT_MIN, 5, "min", "chosen 2026-11", "time limit of jobs that reach a limit") \
ROW(integer, VERIFY_WITHIN_MOST_S, 600, "s", "chosen 2026-11", "most Within= in a policy file") \
ROW(integer, VERIFY_WALL_MOST_MIN, 525600, "min", "chosen 2026-11", "most Wall= in a policy file: a year") \
ROW(real, VERIFY_POLL_S, 0.3, "s", "chosen 2026-11", "interval of queries of the jobs") \
ROW(integer, VERIFY_RESERVED_MOST_MIN, 24 * 60, "min", "chosen 2026-11", "longest duration of the reservation") \
ROW(integer, VERIFY_SETTLE_S, 90, "s", "chosen 2026-11", "time limit for the scheduler to decide about a job: a busy one considers all jobs once a minute (sched_interval)") \
ROW(integer, VERIFY_END_S, 60, "s", "chosen 2026-11", "time limit for a canceled job to end") \
ROW(integer, VERIFY_SOON_S, 60, "s", "chosen 2026-11", "time within which a job that can start does") \
ROW(integer, VERIFY_NEVER_S, 30 * 24 * 3600, "s", "chosen 2026-11", "distance from which a start time means never") \
/* muster policy simulate */ \
ROW(real, SIMULATE_POLL_S, 1, "s", "chosen 2026-11", "interval of queries of the jobs: Slurm's times are whole seconds") \
ROW(integer, SIMULATE_LATENCY_S, 12, "s", "chosen 2026-11", "time that Slurm itself may take for a start: it ends a preempted job and plans again, each of which it does every few seconds; shorter waits cannot be told apart") \
ROW(integer, SIMULATE_STILL_S, 90, "s", "chosen 2026-11", "time without a running job or a start after which waiting jobs are given up") \
ROW(integer, SIMULATE_NODES_MOST, 100000, "nodes", "chosen 2026-11", "most nodes of a job in a day's file") \
ROW(integer, SIMULATE_RUN_MOST_S, 366 * 86400, "s", "chosen 2026-11", "longest time of a job in a day's file")
/* clang-format on */
POLICY_CONSTANTS(CONSTANT_DEFINE)

#endif
