/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SCHEDULE_CONSTANTS_H
#define MUSTER_SCHEDULE_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define SCHEDULE_CONSTANTS(ROW) \
ROW(real, SCHEDULE_BAD_SHARE, 0.05, "of the nodes", "chosen 2026-11", "share of bad partners that the number of rounds allows for") \
ROW(real, SCHEDULE_SECOND_CONFIDENCE, 0.99, "probability", "chosen 2026-11", "probability to find a bad node in the second pass of links, all rails of a pair at once") \
ROW(real, SCHEDULE_LEAST_CONFIDENCE, 0.99, "probability", "chosen 2026-11", "probability to find a bad node by single rails, from which nodes pass when the time is over") \
ROW(integer, SPLIT_RANKS_PER_PROCESSOR, 4, "ranks", "measured 2026-11: labs of 16 nodes on two processors, rails of 200 Mb/s", "most ranks that measure at once: 4 do as well as 2 in half the time, 6 stall")
/* clang-format on */
SCHEDULE_CONSTANTS(CONSTANT_DEFINE)

#endif
