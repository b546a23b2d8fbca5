/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLAN_CONSTANTS_H
#define MUSTER_PLAN_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define PLAN_CONSTANTS(ROW) \
ROW(real, PLAN_SMALL_S, 3600, "s", "chosen 2026-11", "a job that one device ends by then gets one device") \
ROW(real, PLAN_EFFICIENCY, 0.7, "ratio", "chosen 2026-11", "useful work of a node, of that in the smallest job that fits: more nodes are not worth it") \
ROW(real, PLAN_MEMORY_SHARE, 0.9, "ratio", "chosen 2026-11", "of a device's memory for the model: the rest is the libraries'") \
ROW(real, PLAN_WAIT_SHARE, 0.01, "ratio", "chosen 2026-11", "of its time that a job may wait for repairs: spares are as many as that takes")
/* clang-format on */
PLAN_CONSTANTS(CONSTANT_DEFINE)

#endif
