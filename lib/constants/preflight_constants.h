/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PREFLIGHT_CONSTANTS_H
#define MUSTER_PREFLIGHT_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define PREFLIGHT_CONSTANTS(ROW) \
ROW(integer, PREFLIGHT_QUICK_ROUNDS, 3, "rounds", "chosen 2026-11", "rounds of links: partners that tell a node from a path") \
ROW(integer, PREFLIGHT_QUICK_REPEATS, 2, "repeats", "chosen 2026-11", "repeats of each pair: what looks bad is measured again") \
ROW(integer, PREFLIGHT_CONFIRM_TRIES, 3, "tries", "chosen 2026-11", "retests of links on suspects") \
ROW(integer, PREFLIGHT_CONFIRM_REPEATS, 6, "repeats", "chosen 2026-11", "repeats of each pair with a suspect") \
ROW(real, PREFLIGHT_REACH_SHARE, 0.1, "of the budget", "chosen 2026-11", "share of the budget for slurmd to answer") \
ROW(integer, PREFLIGHT_REACH_MOST_S, 3, "s", "chosen 2026-11", "most time for slurmd to answer") \
ROW(real, PREFLIGHT_CONNECT_S, 1.5, "s", "standard 2026-11: RFC 6298, a lost SYN is sent again after 1 s", "least time for a host to accept the connection: with less, silence is no fault") \
ROW(real, PREFLIGHT_FIRST_SHARE, 0.5, "of the budget", "chosen 2026-11", "share of the budget for the first run") \
ROW(integer, PREFLIGHT_LEAST_S, 3, "s", "chosen 2026-11", "least time left for which MPI is started again") \
ROW(integer, PREFLIGHT_GPUS_LEAST_S, 5, "s", "chosen 2026-11", "least time left for which muster-gpu is started") \
ROW(integer, PREFLIGHT_GRACE_S, 2, "s", "chosen 2026-11", "time for a program to end after its time limit") \
ROW(integer, PREFLIGHT_REPORT_S, 4, "s", "chosen 2026-11", "time limit of the step that leaves a suspect report") \
ROW(integer, PREFLIGHT_REPORT_GRACE_S, 1, "s", "chosen 2026-11", "time between SIGTERM and SIGKILL of that step") \
ROW(real, SPARES_LATENCY_FLOOR_US, 100, "us", "chosen 2026-11", "latency below which spares are ranked as equal")
/* clang-format on */
PREFLIGHT_CONSTANTS(CONSTANT_DEFINE)

#endif
