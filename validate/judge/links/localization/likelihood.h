/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_LIKELIHOOD_H
#define MUSTER_JUDGE_LIKELIHOOD_H

#include <stdbool.h>
#include <stddef.h>

/* How well a set of faulty parts explains bandwidth samples: one number, a log posterior in nats.
 * Pure.
 *
 * Model: y = ln(rate / reference rate) of a sample is Student t distributed about 0, or about the
 * depth of the deepest faulty part that it passes (a path runs at its bottleneck), or about either
 * where that part is slow for a share of the time only. The t distribution, and a share of samples
 * that may be anything, keep outliers from deciding (Lange, Little and Taylor, Robust statistical
 * modeling using the t distribution, JASA 84, 1989). A pair run is all samples of two nodes in one
 * round. While the machines of a pair run are busy, which is a nuisance variable that is summed
 * out, a share of its samples is of preempted processes, and lower: so a bad moment counts once,
 * however many samples fall into it. The sum of this and of the log prior of each part is
 * compared between sets (Kandula, Katabi and Vasseur, Shrink: a tool for failure diagnosis in IP
 * networks, MineNet 2005; Harsh et al., Flock, arXiv 2305.03348). */

struct likelihood_sample {
    int from, to, rail;
    int pair_run;               /* equal for the samples of one, which follow each other */
    float y;                    /* ln(rate / reference rate) */
    float preempted_prob;       /* that an end was not scheduled, on a busy machine */
    float preempted_quiet_prob; /* ... on a quiet one */
};

enum part_pattern {
    PATTERN_NODE,   /* node: one rail, or all */
    PATTERN_PATH,   /* between node and peer */
    PATTERN_LEAF,   /* all that begins or ends in block */
    PATTERN_UPLINK, /* of that what crosses to another block, or to peer_block */
    PATTERN_NETWORK /* all of a rail */
};

enum { DIRECTION_SENDS = 1, DIRECTION_RECEIVES = 2, DIRECTION_BOTH = 3 };

struct likelihood_part {
    enum part_pattern pattern;
    int node, peer, block, peer_block; /* peer_block -1: any */
    int rail;                          /* -1: all */
    unsigned directions;               /* of node or block */
    float depth, duty;                 /* set by likelihood_fit() */
};

struct likelihood_data {
    const struct likelihood_sample *samples;
    size_t count;
    const int *blocks; /* of each node; NULL: not known */
    size_t node_count;
    bool has_others; /* samples of others that share a switch with the suspect are among them */
};

/* A sample below that is low. */
float likelihood_low(void);

/* The probabilities that an end of the sample was not scheduled, given whether it said so. */
void likelihood_set_preempted(struct likelihood_sample *sample, bool is_stalled);

/* Whether the sample passes the part. */
bool likelihood_touches(const struct likelihood_data *data, const struct likelihood_part *part,
                        const struct likelihood_sample *sample);

/* Sets depth and duty of parts[index] to those of the best score of all parts together, from a few
 * candidates. Returns that score. */
double likelihood_fit(const struct likelihood_data *data, struct likelihood_part *parts,
                      size_t count, size_t index);

/* The log posterior of that set of parts, up to a constant of the data. O(samples x parts). */
double likelihood_score(const struct likelihood_data *data, const struct likelihood_part *parts,
                        size_t count);

/* What a set of parts has to be better than any other by to be a node's failure, in nats. */
double likelihood_margin(void);

#endif
