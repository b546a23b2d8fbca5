/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MODEL_CONSTANTS_H
#define MUSTER_MODEL_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define MODEL_CONSTANTS(ROW) \
ROW(real, MODEL_HEALTHY_SCALE, 0.012, "of ln rate", "chosen 2026-11", "least scale of healthy samples") \
ROW(real, MODEL_FAULTY_SCALE, 0.04, "of ln rate", "chosen 2026-11", "scale of faulty samples") \
ROW(real, MODEL_DIP_SHARE, 0.01, "of samples", "chosen 2026-11", "least share of dips: healthy samples that are low for no known reason") \
ROW(real, MODEL_DIPS_MOST, 0.1, "of samples", "chosen 2026-11", "most share of dips") \
ROW(real, MODEL_DIP_LEAST, 0.2, "of the rate", "chosen 2026-11", "least rate of a dip") \
ROW(real, MODEL_DIP_POWER, 6, "exponent", "chosen 2026-11", "density of half of the dips is proportional to the rate to this power") \
ROW(real, MODEL_LOW, -0.06, "ln rate", "chosen 2026-11", "y below which a sample is low") \
ROW(real, MODEL_SLOWED_SHARE, 0.7, "of preempted samples", "chosen 2026-11", "share of preempted samples that are slowed") \
ROW(real, MODEL_SLOWED_LEAST, 0.3, "of the rate", "chosen 2026-11", "least rate of a slowed sample, with all rates above as likely") \
ROW(real, MODEL_MOST, 1.02, "of the rate", "chosen 2026-11", "highest rate of slowed samples and dips") \
ROW(real, MODEL_PREEMPTED_QUIET, 0.004, "of samples", "chosen 2026-11", "share of preempted samples on quiet machines") \
ROW(real, MODEL_PREEMPTED_BUSY, 0.6, "of samples", "chosen 2026-11", "share of preempted samples on busy machines") \
ROW(real, MODEL_SEEN_PREEMPTED, 0.75, "of preempted samples", "chosen 2026-11", "share of preempted samples that an end notices") \
ROW(real, MODEL_SEEN_OTHERS, 0.015, "of other samples", "chosen 2026-11", "share of other samples that an end wrongly takes for preempted") \
ROW(real, MODEL_SEEN, 0.05, "of the time", "chosen 2026-11", "time not scheduled above which an end notices a preemption") \
ROW(real, MODEL_TOGETHER_RUN, 0.5, "probability", "chosen 2026-11", "probability that an intermittent fault is present or absent for a whole pair run") \
ROW(real, MODEL_CHANGES, 0.1, "of samples that it slows", "chosen 2026-11", "share of the samples slowed by an intermittent fault during which it changes") \
ROW(real, MODEL_CHANGES_ALWAYS, 0.1, "ratio", "chosen 2026-11", "likelihood of a sample that changed through a permanent fault, over that of another") \
ROW(real, MODEL_CHANGED, 1.3, "high over low end", "chosen 2026-11", "upper over lower end of a sample's parts above which the rate changed during it") \
ROW(real, MODEL_HICCUPS_LEAST, 0.001, "of pair runs", "chosen 2026-11", "least share of pair runs with a hiccup") \
ROW(real, MODEL_HICCUPS_MOST, 0.1, "of pair runs", "chosen 2026-11", "most share of pair runs with a hiccup") \
ROW(real, MODEL_PRIOR_LARGE, 1e-3, "probability", "chosen 2026-11", "prior of a rail, leaf, uplink or the fabric") \
ROW(real, MODEL_PRIOR_ONE_WAY, 5e-4, "probability", "chosen 2026-11", "prior of a rail in one direction") \
ROW(real, MODEL_PRIOR_NODE, 5e-4, "probability", "chosen 2026-11", "prior of all rails of a node, or a host") \
ROW(real, MODEL_PRIOR_PATH, 8e-4, "over nodes - 1", "chosen 2026-11", "prior of a rail's path in both directions") \
ROW(real, MODEL_PRIOR_PATH_ONE_WAY, 6e-4, "over nodes - 1", "chosen 2026-11", "prior of a rail's path in one direction") \
ROW(real, MODEL_PRIOR_PATH_RAILS, 3e-4, "over nodes - 1", "chosen 2026-11", "prior of a path on all rails") \
ROW(real, MODEL_SURE, 0.999, "probability", "chosen 2026-11", "least probability of a part that fails: one of 1000 is wrong") \
ROW(real, MODEL_SURE_MOST, 0.9999, "probability", "measured 2026-11: sim calibrate", "highest probability stated of a part of a node or a path: 3 of 82899 are wrong") \
ROW(real, MODEL_SURE_SHARED, 0.995, "probability", "measured 2026-11: sim calibrate", "highest probability stated of leaves, uplinks and the fabric: 64 of 21243 are wrong") \
ROW(real, MODEL_CLEARED, 0.01, "probability", "chosen 2026-11", "probability below which a part is not in doubt") \
ROW(real, MODEL_ASKED, 1e-4, "probability", "chosen 2026-11", "probability below which a part is not measured again") \
ROW(real, MODEL_SOUND, 0.8, "of the nominal rate", "chosen 2026-11", "least rate of a sound link") \
ROW(real, MODEL_HEALTHY_SCALE_MOST, 0.1, "of ln rate", "chosen 2026-11", "highest scale of healthy samples") \
ROW(real, MODEL_SHALLOWEST, 0.92, "of the rate", "chosen 2026-11", "rate of a faulty link at the least depth") \
ROW(real, MODEL_DEEPEST, 0.02, "of the rate", "chosen 2026-11", "rate of a faulty link at the greatest depth, unless it is dead") \
ROW(real, MODEL_DIPS_KNOWN, 50, "samples", "chosen 2026-11", "samples that the prior density of dips counts for") \
ROW(real, NEXT_FLATTENED, 0.4, "exponent", "chosen 2026-11", "exponent of the explanations' weights: what could overturn the best one counts") \
ROW(real, NEXT_SURPRISE, 0.05, "probability", "chosen 2026-11", "probability that an explanation's prediction is wrong") \
ROW(real, NEXT_CONFIRMING, 0.1, "weight", "chosen 2026-11", "weight of 'nothing at fault' beside a part that is sure") \
ROW(real, NEXT_DIRTY_COSTS, 0.5, "divergence", "chosen 2026-11", "cost of a partner that is part of another suspicion") \
ROW(real, NEXT_ACROSS_COSTS, 0.01, "divergence", "chosen 2026-11", "cost of a pair across uplinks, of which little is certain") \
ROW(real, NEXT_NOTHING_TOLD, 0.1, "log odds", "chosen 2026-11", "change since the last retest below which a suspicion is not measured again")
/* clang-format on */
MODEL_CONSTANTS(CONSTANT_DEFINE)

#endif
