/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LINKS_CONSTANTS_H
#define MUSTER_LINKS_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define LINKS_CONSTANTS(ROW) \
/* the history of a part */ \
ROW(integer, HISTORY_RUNS_LEAST, 5, "runs", "chosen 2026-11", "of a part, before its history says anything") \
ROW(integer, HISTORY_MARGIN_PERCENT, 10, "%", "chosen 2026-11", "below the median of its history a part is still good") \
/* links: samples */ \
ROW(integer, LINKS_FEW, 8, "nodes", "chosen 2026-11", "up to so many, suspects are retested until they are sure: too few pairs meet what is intermittent") \
ROW(integer, SUM_PEERS_LEAST, 3, "peers", "chosen 2026-11", "to compare the sum of a node's rails with") \
ROW(real, LOSS_SHARE, 1e-3, "of the segments", "standard 2026-11: Guo et al., Pingmesh, SIGCOMM 2015", "are lost: 1e-5 to 1e-4 is normal, 1e-3 an incident; the lab, shaped and busy: none of 53000") \
ROW(integer, LOSS_PATH_LEAST, 10, "segments", "chosen 2026-11", "lost on a path: fewer may be one burst of other traffic") \
ROW(integer, LOSS_PAIR_LEAST, 2, "segments", "chosen 2026-11", "lost of a pair: one alone is chance") \
ROW(real, LOSS_FAST_SHARE, 0.8, "of the best bandwidth", "chosen 2026-11", "that a stream has at least, or a slower hop fills its queue") \
ROW(integer, LOSS_LOSING_FOR_ONE, 20, "partners", "chosen 2026-11", "that lose are needed for one that does not") \
/* links: findings */ \
ROW(real, LEAVES_MEASURABLE, 0.1625, "ln of a ratio", "chosen 2026-11", "across is slower than inside when medians are so far apart (0.85)") \
ROW(real, LATENCY_ALIKE_US, 100, "us", "chosen 2026-11", "a latency so near to its peers' median is good: a hiccup of a scheduler is as long") \
ROW(real, UPLINKS_ALIKE_SHARE, 0.5, "of the best leaf's", "chosen 2026-11", "that the uplinks of each leaf carry at least where all are slow as built") \
ROW(real, UPLINK_CARRIES_SHARE, 0.75, "quantile", "chosen 2026-11", "of what pairs have by the uplinks of a leaf, that these carry: the other leaf of a pair may be slower") \
ROW(real, REPORTS_ALIKE_SHARE, 0.85, "ratio", "chosen 2026-11", "the receiver's figure by the sender's, at least") \
ROW(real, REPORTS_CONTRADICTED_SHARE, 0.2, "of its partners' figures", "chosen 2026-11", "that a node with inconsistent reports contradicts") \
ROW(integer, REPORTS_PARTNERS_LEAST, 2, "partners", "chosen 2026-11", "whose figures it contradicts") \
/* links: retests of suspects */ \
ROW(integer, RETEST_SERIAL_MOST, 8, "pairs", "chosen 2026-11", "measured one after the other: some 20 s a rail") \
ROW(real, RETEST_SUSPECT_LOW_SHARE, 0.8, "of the samples", "chosen 2026-11", "that are low, of a part that fails, unless it comes and goes") \
ROW(real, RETEST_UNSEEN_CHANCE, 0.01, "probability", "chosen 2026-11", "of as many low samples by ends that were not scheduled and did not notice: more fails nothing") \
ROW(real, RETEST_CONTROL_LOW_SHARE, 0.5, "of its share of low samples", "chosen 2026-11", "that its control may have") \
ROW(integer, RETEST_CLEARED_LEAST, 11, "samples", "chosen 2026-11", "all well, of a part that was low before and is cleared") \
ROW(integer, RETEST_PAIRS_MOST, 32, "pairs", "chosen 2026-11", "measured in one retest, of each RETEST_NODES") \
ROW(integer, RETEST_NODES, 256, "nodes", "chosen 2026-11", "see above") \
ROW(integer, RETEST_ROUNDS_FOR_ONE, 8, "rounds", "chosen 2026-11", "measured for each pair of a later retest that no part is suspected for") \
/* diagnosis: what is looked at */ \
ROW(real, SCREEN_DIP_SHARE, 0.01, "of the samples", "chosen 2026-11", "that the generic distribution has anywhere below, each e-fold alike") \
ROW(real, SCREEN_UPPER_SHARE, 0.9, "quantile", "chosen 2026-11", "of like samples, below which a sample is low") \
ROW(real, SCREEN_GENERIC, 10, "samples", "chosen 2026-11", "that the generic distribution counts for") \
ROW(real, SCREEN_FOLDS, 4, "of ln rate", "chosen 2026-11", "over which the generic distribution is spread") \
ROW(real, SCREEN_PICK_LEAST, 12, "log likelihood ratio", "chosen 2026-11", "of a part that is looked at") \
ROW(real, SCREEN_PATH_LEAST, 4, "log likelihood ratio", "chosen 2026-11", "of a path that is looked at") \
ROW(real, SCREEN_PATH_SCALE, 0.02, "of ln rate", "chosen 2026-11", "scale about the depth of a path")
/* clang-format on */
LINKS_CONSTANTS(CONSTANT_DEFINE)

#endif
