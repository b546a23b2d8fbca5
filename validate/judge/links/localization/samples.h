/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_SAMPLES_H
#define MUSTER_JUDGE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/constants/judge_constants.h"
#include "validate/judge/links/localization/likelihood.h"
#include "validate/judge/links/localization/localization.h"

/* The single bandwidth samples of a localization, as shares of what their rail has on sound nodes.
 */
struct sample {
    struct likelihood_sample sample;
    double mbps, low_mbps; /* low_mbps: the low end of its repeats, or mbps */
    double nominal_mbps;   /* of the slower end; 1: not known */
    size_t order;          /* of its record */
    bool is_isolated;      /* of a retest, alone on the network */
    bool is_stalled;       /* an end was not scheduled for a part of the time, or it is not known */
    bool is_shared;        /* beside others on an uplink */
};

/* The rail of a mean over all rails. */
enum { SAMPLES_MEAN = 32767 };

struct samples {
    struct sample *items; /* by pair of nodes and pair run */
    size_t count;
};

/* Reads bandwidth, or bandwidth_together and its means. Returns 0, or -1 when memory is out; to be
 * cleared in either case. O(records log records). */
int samples_read(const struct localization *localization, bool is_together,
                 struct samples *samples);
void samples_clear(struct samples *samples);

/* The samples that have to do with the finding: of few nodes all, else those of its node, and of
 * its leaf where the others there are not all well; without what is low while an end was not
 * scheduled or others used the uplink, which is no evidence. *chosen is malloc'd. Returns 0, or -1
 * when memory is out. */
int samples_choose(const struct samples *samples, const struct links *links,
                   const struct finding *finding, struct likelihood_sample **chosen,
                   struct likelihood_data *data);

#endif
