/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MODEL_CONSTANTS_H
#define MUSTER_MODEL_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define MODEL_CONSTANTS(ROW) \
ROW(real, MODEL_HEALTHY_SCALE, 0.012, "of ln rate", "chosen 2026-11", "least scale of healthy samples") \
ROW(real, MODEL_FAULTY_SCALE, 0.04, "of ln rate", "chosen 2026-11", "scale of faulty samples") \
ROW(real, MODEL_DIP_SHARE, 0.01, "of samples", "chosen 2026-11", "are anything between least and most") \
ROW(real, MODEL_DIPS_MOST, 0.1, "of samples", "chosen 2026-11", "are so at most") \
ROW(real, MODEL_DIP_LEAST, 0.2, "of the rate", "chosen 2026-11", "a dip has at least") \
ROW(real, MODEL_DIP_POWER, 6, "exponent", "chosen 2026-11", "of half of these, density ~ rate^power") \
ROW(real, MODEL_LOW, -0.06, "ln rate", "chosen 2026-11", "a sample below is low") \
ROW(real, MODEL_SLOWED_SHARE, 0.7, "of preempted samples", "chosen 2026-11", "are slowed") \
ROW(real, MODEL_SLOWED_LEAST, 0.3, "of the rate", "chosen 2026-11", "of slowed samples, evenly") \
ROW(real, MODEL_MOST, 1.02, "of the rate", "chosen 2026-11", "of slowed samples and dips") \
ROW(real, MODEL_PREEMPTED_QUIET, 0.004, "of samples", "chosen 2026-11", "of quiet machines") \
ROW(real, MODEL_PREEMPTED_BUSY, 0.6, "of samples", "chosen 2026-11", "of busy machines") \
ROW(real, MODEL_SEEN_PREEMPTED, 0.75, "of preempted samples", "chosen 2026-11", "their ends see it") \
ROW(real, MODEL_SEEN_OTHERS, 0.015, "of other samples", "chosen 2026-11", "their ends think so") \
ROW(real, MODEL_SEEN, 0.05, "of the time", "chosen 2026-11", "an end that misses more sees it") \
ROW(real, MODEL_TOGETHER_RUN, 0.5, "probability", "chosen 2026-11", "what comes and goes keeps for a pair run") \
ROW(real, MODEL_CHANGES, 0.1, "of samples that it slows", "chosen 2026-11", "what comes and goes changes in") \
ROW(real, MODEL_CHANGES_ALWAYS, 0.1, "ratio", "chosen 2026-11", "as likely that what is always there lets a sample change") \
ROW(real, MODEL_CHANGED, 1.3, "high over low end", "chosen 2026-11", "what has more changed meanwhile") \
ROW(real, MODEL_HICCUPS_LEAST, 0.001, "of pair runs", "chosen 2026-11", "have one") \
ROW(real, MODEL_HICCUPS_MOST, 0.1, "of pair runs", "chosen 2026-11", "have one at most") \
ROW(real, MODEL_PRIOR_LARGE, 1e-3, "probability", "chosen 2026-11", "rail, leaf, uplink, fabric") \
ROW(real, MODEL_PRIOR_ONE_WAY, 5e-4, "probability", "chosen 2026-11", "rail one way") \
ROW(real, MODEL_PRIOR_NODE, 5e-4, "probability", "chosen 2026-11", "all rails, host") \
ROW(real, MODEL_PRIOR_PATH, 8e-4, "over nodes - 1", "chosen 2026-11", "path of a rail, both ways") \
ROW(real, MODEL_PRIOR_PATH_ONE_WAY, 6e-4, "over nodes - 1", "chosen 2026-11", "path of a rail, one way") \
ROW(real, MODEL_PRIOR_PATH_RAILS, 3e-4, "over nodes - 1", "chosen 2026-11", "path on all rails") \
ROW(real, MODEL_SURE, 0.999, "probability", "chosen 2026-11", "of a part that fails: one of 1000 is wrong") \
ROW(real, MODEL_SURE_SHARED, 0.995, "probability", "measured 2026-11: sim calibrate", "stated at most of a leaf or uplinks: 72 of 16310 are wrong") \
ROW(real, MODEL_CLEARED, 0.01, "probability", "chosen 2026-11", "a part below is not in doubt") \
ROW(real, MODEL_ASKED, 1e-4, "probability", "chosen 2026-11", "a part below is not measured once more") \
ROW(real, MODEL_SOUND, 0.8, "of the nominal rate", "chosen 2026-11", "that sound links have at least") \
ROW(real, MODEL_HEALTHY_SCALE_MOST, 0.1, "of ln rate", "chosen 2026-11", "most scale of healthy samples") \
ROW(real, MODEL_SHALLOWEST, 0.92, "of the rate", "chosen 2026-11", "that the least faulty way has") \
ROW(real, MODEL_DEEPEST, 0.02, "of the rate", "chosen 2026-11", "that the most faulty way has, unless it is dead") \
ROW(real, MODEL_DIPS_KNOWN, 50, "samples", "chosen 2026-11", "that the prior density of dips counts for") \
ROW(real, NEXT_FLATTENED, 0.4, "exponent", "chosen 2026-11", "of weights of explanations: what could overturn the best counts") \
ROW(real, NEXT_SURPRISE, 0.05, "probability", "chosen 2026-11", "that what an explanation predicts is not so") \
ROW(real, NEXT_CONFIRMING, 0.1, "weight", "chosen 2026-11", "of 'nothing' beside a part that is sure") \
ROW(real, NEXT_DIRTY_COSTS, 0.5, "divergence", "chosen 2026-11", "that a partner in another suspicion costs") \
ROW(real, NEXT_ACROSS_COSTS, 0.01, "divergence", "chosen 2026-11", "that an uplink costs, of which little is certain") \
ROW(real, NEXT_NOTHING_TOLD, 0.1, "log odds", "chosen 2026-11", "that changed no more since the last look")
/* clang-format on */
MODEL_CONSTANTS(CONSTANT_DEFINE)

#endif
