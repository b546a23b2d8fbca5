/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DIAGNOSE_OBSERVATIONS_H
#define MUSTER_DIAGNOSE_OBSERVATIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "validate/diagnose/model.h"

/* The samples, grouped by pair and by pair run, each over the rate that it should have. */

struct node_pair {
    int low, high; /* low < high */
};
static inline struct node_pair node_pair_of(int a, int b)
{
    return a < b ? (struct node_pair){a, b} : (struct node_pair){b, a};
}

struct diagnose_network {
    size_t node_count, rail_count;
    size_t leaf_count; /* 0: not known */
    /* a part is at fault below this share of the rate that it should have: for faults that are
     * always present, and for those that come and go; milder faults are not reported */
    double fault_share, fault_share_at_times;
    const int *leaves;   /* [node_count] index of each node's leaf, or NULL */
    const bool *is_lost; /* [node_count] cannot be measured any more; NULL: none */
};

/* Samples are sorted by the lower node of their pair, then by the other node. Samples of a pair run
 * are adjacent, in the order of time. */
struct diagnose_sample {
    int from, to;
    short rail;
    unsigned short shared; /* pairs on an uplink at the same time, with its own; 0, 1: none */
    unsigned pair_run;     /* unique number of what one pair measured at one time */
    double rate;           /* over the nominal one of the slower end, or all in Mb/s; 0: dead */
    double stalled;        /* share of the time in which an end was not scheduled */
    float low, high;       /* quartiles or so of the parts of the sample, as rate; 0: not known */
    float received;        /* the rate by the receiver, as rate; 0: not known */
    bool is_together;      /* all rails of the pair at once */
};

static inline struct node_pair sample_pair(const struct diagnose_sample *sample)
{
    return node_pair_of(sample->from, sample->to);
}

static inline bool sample_is_same_pair(const struct diagnose_sample *a,
                                       const struct diagnose_sample *b)
{
    return (a->from == b->from && a->to == b->to) || (a->from == b->to && a->to == b->from);
}

/* Whether the nodes, or those of the sample, are on different leaves. */
bool nodes_are_across(const struct diagnose_network *network, int a, int b);
bool sample_is_across(const struct diagnose_network *network, const struct diagnose_sample *sample);

/* Whether no other node is on the leaf of the node. The leaves must be known. */
bool node_is_alone(const struct diagnose_network *network, int node);

/* Whether another pair used an uplink of the sample at the same time. */
bool sample_is_shared(const struct diagnose_network *network, const struct diagnose_sample *sample);

/* Returns ln of the rate or, if the rate changed during the sample, of its low end. */
float sample_y(const struct diagnose_sample *sample);

struct observation {
    const struct model_table *table;
    unsigned char bin, rail;
    /* with all rails at once, bin of the mean of the rails, as rails that meet on a cable of an
     * uplink share it in any way; else bin */
    unsigned char rails_mean_bin;
    /* with all rails at once, of a low stream that is low alone as well: bin of what it may have
     * had of its cable by itself; else bin */
    unsigned char own_share_bin;
    bool is_up : 1; /* the pair's lower node sends */
    bool is_together : 1, is_low : 1, is_seen : 1;
    bool is_changed : 1; /* the rate changed during the sample */
    bool is_slow : 1;    /* its stream (rail and direction) is low more often than not */
};
_Static_assert(MODEL_BINS <= UCHAR_MAX + 1, "a bin is a byte");

/* Returns the most that the sample can add to the log odds of a part. */
static inline float observation_most(const struct observation *sample)
{
    return sample->table->most[sample->is_seen][sample->bin];
}

/* What a pair measured at one time. */
struct run {
    unsigned begin, end; /* observations */
    /* likelihood over that of healthy samples on quiet machines: of healthy samples on busy
     * machines, and of a hiccup, times the odds of one */
    double busy, hiccup;
};

struct pair {
    int low, high;                 /* nodes, low < high */
    unsigned begin, end;           /* observations */
    unsigned first_run, run_count; /* one after the other */
    double most, gain;             /* bound of what its samples add to log odds; exp of that */
    bool is_low;                   /* at least one of its samples */
};

struct observations {
    const struct diagnose_network *network;
    struct observation *items;
    struct run *runs;
    struct pair *pairs;
    unsigned count, run_count, pair_count;
    unsigned *of_nodes; /* the pairs of each node, one after the other */
    unsigned *first;    /* [nodes + 1] where the pairs of each node begin in of_nodes */
    struct model_table *tables[MODEL_SCALES];
};

/* Makes observations of the samples that did not share an uplink. Call observations_weigh() before
 * their likelihoods are used. Returns 0, or -1 if memory is out. Call observations_clear() in both
 * cases. O(samples). */
int observations_make(const struct diagnose_network *network, const struct diagnose_sample *samples,
                      size_t count, struct observations *observations);
/* Computes the likelihoods for that noise: the tables, and what pairs and runs have of them.
 * O(samples). */
void observations_weigh(struct observations *observations, const struct model_noise *noise);
void observations_clear(struct observations *observations);

#endif
