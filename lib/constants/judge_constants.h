/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_CONSTANTS_H
#define MUSTER_JUDGE_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define JUDGE_CONSTANTS(ROW) \
/* the history of a part */ \
ROW(integer, HISTORY_RUNS_LEAST, 5, "runs", "chosen 2026-11", "of a part, before its history says anything") \
ROW(integer, HISTORY_MARGIN_PERCENT, 10, "%", "chosen 2026-11", "below the median of its history a part is still good") \
/* links: samples */ \
ROW(real, LINKS_QUIET, 0.05, "share of processes' time", "chosen 2026-11", "that a machine takes and still lets them run") \
ROW(integer, LINKS_FEW, 8, "nodes", "chosen 2026-11", "up to so many, suspects are retested until they are sure: too few pairs meet what is intermittent") \
ROW(real, LINKS_SURE, 0.99, "probability", "chosen 2026-11", "below it a finding is unknown") \
ROW(real, LINKS_SPOT_GAP, -0.3, "ln of a ratio", "chosen 2026-11", "a repeat so far below what is expected is not noise (0.74)") \
ROW(real, LINKS_CABLE_GAP, -1.05, "ln of a ratio", "chosen 2026-11", "paths that meet on a good cable of the spine keep more of the limit each (0.35)") \
ROW(integer, SUM_PEERS_LEAST, 3, "peers", "chosen 2026-11", "to compare the sum of a node's rails with") \
ROW(integer, LOSS_LOSING_FOR_ONE, 20, "partners", "chosen 2026-11", "that lose are needed for one that does not") \
/* links: what each pair should reach */ \
ROW(real, BLOCKS_MEASURABLE, 0.1625, "ln of a ratio", "chosen 2026-11", "across is slower than inside when medians are so far apart (0.85)") \
ROW(real, BLOCKS_MOST_ACROSS, 0.6, "of the pairs", "chosen 2026-11", "across that are nearer to their own median") \
ROW(real, BLOCKS_CHANCE_MOST, 0.01, "of certifications", "chosen 2026-11", "without a misplaced node that may move one") \
ROW(real, BLOCKS_INSIDE_LEAST, 0.8, "of the pairs", "chosen 2026-11", "of a node with its block that are good") \
ROW(real, BLOCKS_OUTSIDE_MOST, 0.2, "of the pairs", "chosen 2026-11", "of a node with a block it is not in that are good") \
ROW(real, BLOCKS_ELSEWHERE_LEAST, 0.5, "of the pairs", "chosen 2026-11", "of another block, at which it is misplaced") \
ROW(real, FIT_GOOD_MARGIN, -0.1625, "ln of a ratio", "chosen 2026-11", "an end so far below its peers' median is unsuspicious (0.85)") \
ROW(real, FIT_SIGMAS, 4, "sigma", "chosen 2026-11", "the peers' gate is so far below the median") \
ROW(real, FIT_SIGMA_LEAST, 0.01, "ratio", "chosen 2026-11", "spread of noise, at least") \
ROW(real, FIT_SIGMA_MOST, 0.1, "ratio", "chosen 2026-11", "spread of noise, at most: where half of the samples are bad") \
/* links: parts that explain low pairs */ \
ROW(real, PART_STEADY_SHARE, 0.8, "of its pairs", "chosen 2026-11", "that are low, of a part that is slow all the time") \
ROW(real, PART_HEAP_GAP, 0.3, "ln of a ratio", "chosen 2026-11", "between the medians of low and other pairs, where they are two heaps (0.74)") \
ROW(real, PART_LEVEL_SLACK, 0.1625, "ln of a ratio", "chosen 2026-11", "figures of one cause are as near as that") \
ROW(real, PART_CLEARED_SHARE, 0.25, "of its pairs", "chosen 2026-11", "low alone, at most, to exonerate a part that is low at times") \
ROW(integer, PART_TIMES_LEAST, 3, "low pairs", "chosen 2026-11", "of a part that is intermittent") \
ROW(integer, PART_PARTNERS_LEAST, 3, "partners", "chosen 2026-11", "of these low pairs") \
ROW(integer, PART_INSIDE_LEAST, 4, "pairs", "chosen 2026-11", "of a node inside its block, to say something") \
ROW(real, PART_RATE_LEAST, 0.01, "of the pairs", "chosen 2026-11", "low elsewhere, as is believed at least") \
ROW(real, PART_RATE_MOST, 0.5, "of the pairs", "chosen 2026-11", "low elsewhere, as is believed at most") \
ROW(real, PATH_SLACK, -0.75, "ln of a ratio", "chosen 2026-11", "pairs so far below their slow path have another cause (0.47)") \
ROW(real, PATH_SOLE_SLACK, -0.3, "ln of a ratio", "chosen 2026-11", "the same of a pair that had the path to itself (0.74)") \
ROW(real, PATH_COLLISION, 4, "samples", "chosen 2026-11", "of pairs that meet on a cable of the spine, counted as one") \
/* links: findings */ \
ROW(real, TIMES_SHARE_LEAST, 0.2, "of the samples", "chosen 2026-11", "what is low more rarely is not told from chance") \
ROW(integer, TIMES_LOW_LEAST, 3, "samples", "chosen 2026-11", "low ones of an intermittent part") \
ROW(integer, TIMES_ALONE_LEAST, 2, "samples", "chosen 2026-11", "... of these isolated") \
ROW(integer, TIMES_SUSPICIOUS_LEAST, 2, "samples", "chosen 2026-11", "low ones of a part that is retested") \
ROW(integer, TIMES_PARTNERS_LEAST, 2, "partners", "chosen 2026-11", "with which an intermittent part is low") \
ROW(integer, TIMES_PATH_ROUNDS_LEAST, 3, "retest rounds", "chosen 2026-11", "in which an intermittent path is low") \
ROW(real, TIMES_SUSPICIOUS, 0.5, "probability", "chosen 2026-11", "to retest a part") \
ROW(real, TIMES_DEPTH_LEAST, -0.22, "ln of a ratio", "chosen 2026-11", "an intermittent fault is as deep (0.8): busy machines are somewhat low") \
ROW(real, TIMES_EXONERATED, 0.01, "probability", "chosen 2026-11", "that an end which is low with one partner is well with the others by chance") \
ROW(real, RETEST_CLEAR, 0.1, "probability", "chosen 2026-11", "that an end at fault was low so rarely: none of 11 or one of 18 clears it") \
ROW(real, PAIRS_NOISY, 0.1, "of the pairs", "chosen 2026-11", "low for reasons of their own: more, and a low pair says nothing") \
ROW(integer, PAIRS_UNSURE_LEAST, 32, "pairs", "chosen 2026-11", "that are not sure and are retested, at least") \
ROW(integer, PAIRS_UNSURE_PART, 16, "rounds", "chosen 2026-11", "measured for each round of such retests") \
ROW(real, LATENCY_ALIKE_US, 100, "us", "chosen 2026-11", "a latency so near to its peers' median is good: a hiccup of a scheduler is as long") \
ROW(real, REPORTS_ALIKE_SHARE, 0.85, "ratio", "chosen 2026-11", "the receiver's figure by the sender's, at least") \
ROW(real, REPORTS_CONTRADICTED_SHARE, 0.2, "of its partners' figures", "chosen 2026-11", "that a node with inconsistent reports contradicts") \
ROW(integer, REPORTS_PARTNERS_LEAST, 2, "partners", "chosen 2026-11", "whose figures it contradicts") \
/* links: retests of suspects */ \
ROW(integer, RETEST_SERIAL_MOST, 8, "pairs", "chosen 2026-11", "measured one after the other: some 20 s a rail") \
ROW(integer, RETEST_STEADY_MBPS, 2, "Mb/s", "chosen 2026-11", "that tries of a suspect may differ and be steady, at least") \
ROW(integer, RETEST_ISOLATED_LEAST, 3, "samples", "chosen 2026-11", "of a suspect in which both ends were scheduled") \
ROW(integer, RETEST_CONTROL_LEAST, 3, "samples", "chosen 2026-11", "of its control in which both ends were scheduled") \
ROW(real, RETEST_SUSPECT_LOW_SHARE, 0.8, "of the samples", "chosen 2026-11", "that are low, of a suspect that is confirmed, unless it is intermittent") \
ROW(real, RETEST_CONTROL_LOW_SHARE, 0.2, "of the samples", "chosen 2026-11", "that may be low, of its control") \
ROW(real, SAMPLES_SOUND_GAP, 0.1, "ln of a ratio", "chosen 2026-11", "below the best a sample is of good nodes (0.9)") \
ROW(real, SAMPLES_NOTHING_SHARE, 0.02, "of what is expected", "chosen 2026-11", "that a sample counts as of which nothing arrived") \
ROW(integer, SAMPLES_LOW_LEAST, 20, "samples", "chosen 2026-11", "of a part at fault, of which one is low at least") \
/* links: the likelihood of a part, chosen on simulated clusters (doc/attribution.md) */ \
ROW(real, LIKELIHOOD_HEALTHY_SCALE, 0.012, "ln of a ratio", "chosen 2026-11", "scale of the t distribution of healthy samples") \
ROW(real, LIKELIHOOD_FAULTY_SCALE, 0.04, "ln of a ratio", "chosen 2026-11", "... about the depth of a part") \
ROW(real, LIKELIHOOD_OUTLIER_SHARE, 0.01, "of the samples", "chosen 2026-11", "that may be anything between the next two") \
ROW(real, LIKELIHOOD_OUTLIER_LOW, -3.9, "ln of a ratio", "chosen 2026-11", "0.02: nothing arrived") \
ROW(real, LIKELIHOOD_OUTLIER_HIGH, 0.02, "ln of a ratio", "chosen 2026-11", "1.02") \
ROW(real, LIKELIHOOD_LOW_LIMIT, -0.06, "ln of a ratio", "chosen 2026-11", "a sample below is low") \
ROW(real, LIKELIHOOD_SLOWED_SHARE, 0.7, "of preempted samples", "chosen 2026-11", "that are slow, evenly between the next two") \
ROW(real, LIKELIHOOD_SLOWED_LEAST, 0.3, "of what it should be", "chosen 2026-11", "a preempted sample") \
ROW(real, LIKELIHOOD_SLOWED_MOST, 1.02, "of what it should be", "chosen 2026-11", "a preempted sample") \
ROW(reals, LIKELIHOOD_PREEMPTED, (0.004, 0.6), "probability", "chosen 2026-11", "of a sample of a quiet, of a busy pair run") \
ROW(real, LIKELIHOOD_STALLED_PREEMPTED, 0.75, "probability", "chosen 2026-11", "that a preempted sample is marked as stalled") \
ROW(real, LIKELIHOOD_STALLED_OTHERS, 0.015, "probability", "chosen 2026-11", "that another is") \
ROW(reals, LIKELIHOOD_BUSY_RATES, (0.003, 0.05, 0.2, 0.5, 0.9), "of the pair runs", "chosen 2026-11", "that are busy") \
ROW(reals, LIKELIHOOD_BUSY_PRIORS, (0.5, 0.25, 0.15, 0.07, 0.03), "probability", "chosen 2026-11", "of these") \
ROW(reals, LIKELIHOOD_DUTY_PRIORS, (0.6, 0.1, 0.1, 0.1, 0.1), "probability", "chosen 2026-11", "of a part at fault all the time, 0.75, 0.5, 0.3, 0.15 of it") \
ROW(reals, LIKELIHOOD_LARGE_DUTY_PRIORS, (0.96, 0.01, 0.01, 0.01, 0.01), "probability", "chosen 2026-11", "... of what many nodes share: intermittent is mostly a cable, a module or a NIC") \
ROW(real, LIKELIHOOD_DEPTHS, 22, "depths", "chosen 2026-11", "that a part may have, geometric 0.92 to 0.06") \
ROW(real, LIKELIHOOD_LARGE_PRIOR, 1e-3, "probability", "chosen 2026-11", "of a fault of a rail, leaf, uplink, network") \
ROW(real, LIKELIHOOD_ONE_WAY_PRIOR, 5e-4, "probability", "chosen 2026-11", "... of one direction of a rail") \
ROW(real, LIKELIHOOD_NODE_PRIOR, 5e-4, "probability", "chosen 2026-11", "... of a node") \
ROW(real, LIKELIHOOD_PATH_PRIOR, 8e-4, "probability", "chosen 2026-11", "... of the paths of a node, any of them") \
ROW(real, LIKELIHOOD_PATH_ONE_WAY_PRIOR, 6e-4, "probability", "chosen 2026-11", "... of one direction of these") \
ROW(real, LIKELIHOOD_PATH_RAILS_PRIOR, 3e-4, "probability", "chosen 2026-11", "... of all rails of these") \
ROW(real, LIKELIHOOD_MARGIN, 6.9, "ln of odds", "standard 1995-06: Kass and Raftery, Bayes factors, JASA 90: beyond 5 is very strong", "one wrong drain of a thousand, if the model holds") \
/* diagnosis: what is looked at */ \
ROW(real, SCREEN_DIP_SHARE, 0.01, "of the samples", "chosen 2026-11", "that the generic distribution has anywhere below, each e-fold alike") \
ROW(real, SCREEN_UPPER_SHARE, 0.9, "quantile", "chosen 2026-11", "of like samples, below which a sample is low")
/* clang-format on */
JUDGE_CONSTANTS(CONSTANT_DEFINE)

#endif
