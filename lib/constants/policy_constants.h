/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_CONSTANTS_H
#define MUSTER_POLICY_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define POLICY_CONSTANTS(ROW) \
ROW(integer, ALIKE_PART_LEAST, 2, "nodes", "chosen 2026-11", "with the same part at fault, for a common cause") \
ROW(integer, ALIKE_PART_PERCENT, 50, "% of the nodes asked", "chosen 2026-11", "the same: so many at least") \
ROW(integer, ALIKE_KIND_LEAST, 3, "nodes", "chosen 2026-11", "with a part of the same kind at fault, for a common cause") \
ROW(integer, ALIKE_KIND_PERCENT, 10, "% of the nodes asked", "chosen 2026-11", "the same: more than that") \
ROW(integer, ALIKE_DRAINS_S, 3600, "s", "chosen 2026-11", "before a fault begins, within which drains of others for the same are of one event: their checks see it minutes apart") \
ROW(integer, CAP_DRAINS_LEAST, 1, "nodes", "chosen 2026-11", "that DrainCap always allows") \
ROW(integer, CAP_TESTS_LEAST, 2, "nodes", "chosen 2026-11", "that TestCap always allows: a link has two ends") \
ROW(integer, TESTING_LOCK_MS, 30000, "ms", "chosen 2026-11", "for the lock of the nodes that are in tests") \
ROW(integer, TESTING_LOCK_EACH_MS, 100, "ms", "chosen 2026-11", "between tries to get it") \
/* muster certify --idle */ \
ROW(real, IDLE_AGE_MOST, 2, "ratio", "chosen 2026-11", "of the time since the last test to CertificateValidity, that counts") \
ROW(real, IDLE_FAULT_RISK, 0.25, "ratio", "chosen 2026-11", "more score for each fault and repair in the history") \
ROW(real, IDLE_WARNING_RISK, 0.1, "ratio", "chosen 2026-11", "the same for each run that warned of the node") \
ROW(real, IDLE_JOB_RISK, 0.1, "ratio", "chosen 2026-11", "the same for each job while which its counters or its kernel log had something") \
ROW(integer, IDLE_COUNT_MOST, 10, "count", "chosen 2026-11", "of each of these, that counts") \
ROW(integer, IDLE_RISK_S, 90 * 86400, "s", "chosen 2026-11", "of history that counts, as muster history --offenders looks back") \
ROW(real, IDLE_SCORE_LEAST, 0.5, "ratio", "chosen 2026-11", "of an idle node that is tested: without faults at half the time that its certificate holds") \
ROW(integer, IDLE_REST_S, 3600, "s", "chosen 2026-11", "after a test, interrupted or not, in which a node is left alone") \
ROW(integer, IDLE_NODES_LEAST, 2, "nodes", "chosen 2026-11", "that IdleCap always allows") \
ROW(real, IDLE_LOOK_S, 5, "s", "chosen 2026-11", "between looks at the jobs that wait, at most a quarter of IdleGrace") \
ROW(real, IDLE_LOOK_SHARE, 10, "ratio", "chosen 2026-11", "the same: at least so many times what the look itself took") \
/* muster policy verify */ \
ROW(integer, VERIFY_MARGIN_S, 5, "s", "chosen 2026-11", "beyond a stated time: Slurm's times are whole seconds, looked at now and then") \
ROW(integer, VERIFY_PRIORITY_MIN, 8, "min", "chosen 2026-11", "time limit of jobs that compare priorities") \
ROW(integer, VERIFY_LIMIT_MIN, 5, "min", "chosen 2026-11", "time limit of jobs that reach a limit") \
ROW(integer, VERIFY_WITHIN_MOST_S, 600, "s", "chosen 2026-11", "Within= of a policy file, at most") \
ROW(integer, VERIFY_WALL_MOST_MIN, 525600, "min", "chosen 2026-11", "Wall= of a policy file, at most: a year") \
ROW(real, VERIFY_POLL_S, 0.3, "s", "chosen 2026-11", "between looks at the jobs") \
ROW(integer, VERIFY_RESERVED_MOST_MIN, 24 * 60, "min", "chosen 2026-11", "the reservation lasts at most") \
ROW(integer, VERIFY_SETTLE_S, 90, "s", "chosen 2026-11", "a job may take until the scheduler has decided about it: a busy one looks at all jobs once a minute (sched_interval)") \
ROW(integer, VERIFY_END_S, 60, "s", "chosen 2026-11", "a canceled job may take until it has ended") \
ROW(integer, VERIFY_SOON_S, 60, "s", "chosen 2026-11", "a job starts that soon, or does not") \
ROW(integer, VERIFY_NEVER_S, 30 * 24 * 3600, "s", "chosen 2026-11", "a start so far away is none") \
/* muster policy simulate */ \
ROW(real, SIMULATE_LOOK_S, 1, "s", "chosen 2026-11", "between looks at the jobs: Slurm's times are whole seconds") \
ROW(integer, SIMULATE_LATENCY_S, 12, "s", "chosen 2026-11", "that Slurm itself may take for a start: it ends a preempted job and plans again, each of which it does every few seconds; a wait is not told from less") \
ROW(integer, SIMULATE_STILL_S, 90, "s", "chosen 2026-11", "without a running job or a start, after which those that wait are not waited for") \
ROW(integer, SIMULATE_NODES_MOST, 100000, "nodes", "chosen 2026-11", "of a job in a day's file, at most") \
ROW(integer, SIMULATE_RUN_MOST_S, 366 * 86400, "s", "chosen 2026-11", "time of a job in a day's file, at most")
/* clang-format on */
POLICY_CONSTANTS(CONSTANT_DEFINE)

#endif
