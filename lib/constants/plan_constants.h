/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLAN_CONSTANTS_H
#define MUSTER_PLAN_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define PLAN_CONSTANTS(ROW) \
ROW(real, PLAN_SMALL_S, 3600, "s", "chosen 2026-11", "a job that one device ends by then gets one device") \
ROW(real, PLAN_EFFICIENCY, 0.7, "ratio", "chosen 2026-11", "useful work of a node, of that in the smallest job that fits: more nodes are not worth it") \
ROW(real, PLAN_UPDATE_BYTES, 40, "bytes", "chosen 2026-11", "of memory that AdamW moves for a parameter: four numbers read, three written, and the gradient for its norm, its check and its zero") \
ROW(real, PLAN_MEMORY_SHARE, 0.9, "ratio", "chosen 2026-11", "of a device's memory for the model: the rest is the libraries'") \
ROW(real, PLAN_WAIT_SHARE, 0.01, "ratio", "chosen 2026-11", "of its time that a job may wait for repairs: spares are as many as that takes") \
ROW(real, PLAN_FAILURES, 3.79, "1/1000 node-days", "standard 2026-11: Llama 3, 419 in 54 days on 2048 nodes", "failures that end a job, where the history knows no others") \
ROW(real, PLAN_RESTART_S, 300, "s", "standard 2026-11: Kokolis et al., HPCA 2025", "from a failure to the job's next step, without what is computed again") \
ROW(real, PLAN_REPAIR_S, 86400, "s", "chosen 2026-11", "until a node is back, where the history knows no repair") \
ROW(real, PLAN_CHECKPOINT_BPS, 1e9, "byte/s", "chosen 2026-11", "that a node writes of a checkpoint, where its disk was not measured")
/* clang-format on */
PLAN_CONSTANTS(CONSTANT_DEFINE)

#endif
