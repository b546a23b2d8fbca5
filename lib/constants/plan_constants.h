/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLAN_CONSTANTS_H
#define MUSTER_PLAN_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define PLAN_CONSTANTS(ROW) \
ROW(real, PLAN_SMALL_S, 3600, "s", "chosen 2026-11", "time of a job on one device up to which it gets one device") \
ROW(real, PLAN_EFFICIENCY, 0.7, "ratio", "chosen 2026-11", "least useful work of a node, of that in the smallest job that fits, for more nodes to be worth it") \
ROW(real, PLAN_UPDATE_BYTES, 40, "bytes", "chosen 2026-11", "memory traffic of AdamW per parameter: four numbers read, three written, and the gradient for its norm, its check and its zero") \
ROW(real, PLAN_MEMORY_SHARE, 0.9, "ratio", "chosen 2026-11", "share of a device's memory for the model: the rest is the libraries'") \
ROW(real, PLAN_WAIT_SHARE, 0.01, "ratio", "chosen 2026-11", "share of its time that a job may wait for repairs, from which the number of spares follows") \
ROW(real, PLAN_FAILURES, 3.79, "1/1000 node-days", "standard 2026-11: Llama 3, 419 in 54 days on 2048 nodes", "failures that end a job, where the history has none") \
ROW(real, PLAN_RESTART_S, 300, "s", "standard 2026-11: Kokolis et al., HPCA 2025", "time from a failure to the job's next step, without what is computed again") \
ROW(real, PLAN_REPAIR_S, 86400, "s", "chosen 2026-11", "time until a node is back, where the history has no repair") \
ROW(real, PLAN_CHECKPOINT_BPS, 1e9, "byte/s", "chosen 2026-11", "rate at which a node writes a checkpoint, where its disk was not measured")
/* clang-format on */
PLAN_CONSTANTS(CONSTANT_DEFINE)

#endif
