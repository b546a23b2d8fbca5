/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LINKS_CONSTANTS_H
#define MUSTER_LINKS_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define LINKS_CONSTANTS(ROW) \
/* the history of a part */ \
ROW(integer, HISTORY_RUNS_LEAST, 5, "runs", "chosen 2026-11", "least earlier runs of a part for its history to count") \
ROW(integer, HISTORY_MARGIN_PERCENT, 10, "%", "chosen 2026-11", "how far below the median of its history a part is still good") \
/* links: samples */ \
ROW(integer, LINKS_FEW, 8, "nodes", "chosen 2026-11", "most nodes of which suspects are retested until they are sure: too few pairs meet an intermittent fault") \
ROW(integer, SUM_PEERS_LEAST, 3, "peers", "chosen 2026-11", "least peers to compare the sum of a node's rails with") \
ROW(real, LOSS_SHARE, 1e-3, "of the segments", "standard 2026-11: Guo et al., Pingmesh, SIGCOMM 2015", "share of lost segments that is too much: 1e-5 to 1e-4 is normal, 1e-3 an incident; the lab, shaped and busy: none of 53000") \
ROW(integer, LOSS_PATH_LEAST, 10, "segments", "chosen 2026-11", "least lost segments of a path: fewer may be one burst of other traffic") \
ROW(integer, LOSS_PAIR_LEAST, 2, "segments", "chosen 2026-11", "least lost segments of a pair: one alone is chance") \
ROW(real, LOSS_FAST_SHARE, 0.8, "of the best bandwidth", "chosen 2026-11", "least rate of a stream whose losses count, of the best: a slower hop's queue overflows") \
ROW(integer, LOSS_LOSING_FOR_ONE, 20, "partners", "chosen 2026-11", "partners that must lose for each one that does not") \
/* links: findings */ \
ROW(real, LEAVES_MEASURABLE, 0.1625, "ln of a ratio", "chosen 2026-11", "distance of the medians from which across is slower than inside (0.85)") \
ROW(real, LATENCY_ALIKE_US, 100, "us", "chosen 2026-11", "distance to the peers' median up to which a latency is good: a hiccup of a scheduler is as long") \
ROW(real, UPLINKS_ALIKE_SHARE, 0.5, "of the best leaf's", "chosen 2026-11", "least rate of each leaf's uplinks, of the best leaf's, where all are slow as built") \
ROW(real, UPLINK_CARRIES_SHARE, 0.75, "quantile", "chosen 2026-11", "quantile of the rates of pairs over a leaf's uplinks that is their rate: the other leaf of a pair may be slower") \
ROW(real, REPORTS_ALIKE_SHARE, 0.85, "ratio", "chosen 2026-11", "least receiver's figure of a transfer, of the sender's") \
ROW(real, REPORTS_CONTRADICTED_SHARE, 0.2, "of its partners' figures", "chosen 2026-11", "share of its partners' figures that a node with inconsistent reports contradicts") \
ROW(integer, REPORTS_PARTNERS_LEAST, 2, "partners", "chosen 2026-11", "least partners whose figures such a node contradicts") \
/* links: retests of suspects */ \
ROW(integer, RETEST_SERIAL_MOST, 8, "pairs", "chosen 2026-11", "most pairs measured one after the other: some 20 s a rail") \
ROW(real, RETEST_SUSPECT_LOW_SHARE, 0.8, "of the samples", "chosen 2026-11", "least share of low samples of a part that fails, unless it is intermittent") \
ROW(real, RETEST_UNSEEN_CHANCE, 0.01, "probability", "chosen 2026-11", "probability that unnoticed preemption makes as many low samples, above which nothing fails") \
ROW(real, LEAF_LOW_SHARE, 0.75, "of the leaf's share of low samples", "chosen 2026-11", "least share of low samples of a node, if its leaf is at fault") \
ROW(integer, LEAF_EXCEPT_LEAST, 4, "nodes", "chosen 2026-11", "least number of nodes of a leaf at fault, of which one may look good") \
ROW(real, RETEST_CONTROL_LOW_SHARE, 0.5, "of its share of low samples", "chosen 2026-11", "most low samples of the control, of the part's share of them") \
ROW(integer, RETEST_CLEARED_LEAST, 11, "samples", "chosen 2026-11", "least samples, all good, that clear a part that was low before") \
ROW(integer, RETEST_PAIRS_MOST, 32, "pairs", "chosen 2026-11", "most pairs of a retest, for each RETEST_NODES") \
ROW(integer, RETEST_NODES, 256, "nodes", "chosen 2026-11", "nodes for which a retest has RETEST_PAIRS_MOST more pairs") \
ROW(integer, RETEST_ROUNDS_FOR_ONE, 8, "rounds", "chosen 2026-11", "rounds measured for each pair of a later retest that no suspicion asks for") \
/* diagnosis: which parts are examined */ \
ROW(real, SCREEN_DIP_SHARE, 0.01, "of the samples", "chosen 2026-11", "share of low samples in the generic distribution, the same for each e-fold below") \
ROW(real, SCREEN_UPPER_SHARE, 0.9, "quantile", "chosen 2026-11", "quantile of like samples below which a sample is low") \
ROW(real, SCREEN_GENERIC, 10, "samples", "chosen 2026-11", "samples that the generic distribution counts for") \
ROW(real, SCREEN_FOLDS, 4, "of ln rate", "chosen 2026-11", "range over which the generic distribution is spread") \
ROW(real, SCREEN_PICK_LEAST, 12, "log likelihood ratio", "chosen 2026-11", "least log likelihood ratio of a part that is measured alone") \
ROW(real, SCREEN_PATH_LEAST, 4, "log likelihood ratio", "chosen 2026-11", "least log likelihood ratio of a path that is measured alone") \
ROW(real, SCREEN_PATH_SCALE, 0.02, "of ln rate", "chosen 2026-11", "scale of samples about the depth of a path")
/* clang-format on */
LINKS_CONSTANTS(CONSTANT_DEFINE)

#endif
