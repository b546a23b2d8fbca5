/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TRAINER_CONSTANTS_H
#define MUSTER_TRAINER_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define TRAINER_CONSTANTS(ROW) \
ROW(real, SPEED_LEAST_S, 0.1, "s", "chosen 2026-11", "least time that a layer is computed when stages are split by speed") \
ROW(integer, TRAIN_OLD_S, 24 * 3600, "s", "chosen 2026-11", "age from which checkpoints of the battery are left over: no battery takes as long") \
ROW(real, TRAIN_SPEED_LEAST_SHARE, 0.75, "ratio", "chosen 2026-11", "speed of a rank by itself, of the median of all ranks, below which it is slow") \
ROW(real, TRAIN_PATIENCE_S, 60, "s", "chosen 2026-11", "time without progress of a rank that is a hang: longer than any unit of a model takes") \
ROW(real, TRAIN_STORAGE_S, 600, "s", "chosen 2026-11", "time that a checkpoint waits for storage before that is a hang: longer than a failover of a file server takes")
/* clang-format on */
TRAINER_CONSTANTS(CONSTANT_DEFINE)

#endif
