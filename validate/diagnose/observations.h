/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DIAGNOSE_OBSERVATIONS_H
#define MUSTER_DIAGNOSE_OBSERVATIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "validate/diagnose/model.h"

/* The samples by pair run, each beside what it should be. */

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
    /* share of what it should have that a part is at fault below, always and at times; what leaves
     * more is not told */
    double fault_share, fault_share_at_times;
    const int *leaves;   /* [node_count] index of each node's leaf, or NULL */
    const bool *is_lost; /* [node_count] cannot be measured any more; NULL: none */
};

/* They come by pair, in the order of its lower node, then of the other one; those of a pair run one
 * after the other, in the order of time. */
struct diagnose_sample {
    int from, to;
    short rail;
    unsigned short shared; /* pairs that used an uplink beside it, itself counted; 0, 1: none */
    unsigned pair_run;     /* what one pair measured at one time: a number that no other has */
    double rate;           /* over the nominal one of the slower end, or in Mb/s of all; 0: dead */
    double stalled;        /* share of the time in which an end was not scheduled */
    float low, high;       /* of its parts, quartiles or so, over the same; 0: not known */
    float received;        /* what the receiver says of it; 0: nothing */
    bool is_together;      /* all rails of the pair at once */
};

static inline bool sample_is_same_pair(const struct diagnose_sample *a,
                                       const struct diagnose_sample *b)
{
    return (a->from == b->from && a->to == b->to) || (a->from == b->to && a->to == b->from);
}

/* Whether the nodes are on different leaves; and those of a sample. */
bool nodes_are_across(const struct diagnose_network *network, int a, int b);
bool sample_is_across(const struct diagnose_network *network, const struct diagnose_sample *sample);

/* Whether no other node is on its leaf; the leaves are known. */
bool node_is_alone(const struct diagnose_network *network, int node);

/* Whether another pair used an uplink beside it. */
bool sample_is_shared(const struct diagnose_network *network, const struct diagnose_sample *sample);

/* ln of its rate, or of the low end of its parts where it changed meanwhile. */
float sample_y(const struct diagnose_sample *sample);

struct observation {
    const struct model_table *table;
    unsigned char bin, rail;
    /* with all rails at once, of the mean of the rails: those that meet on a cable of an uplink
     * share it as they like; else bin */
    unsigned char mean_bin;
    /* of a stream that is low alone as well: what it may have had of that cable by itself; else bin
     */
    unsigned char apart_bin;
    bool is_up : 1; /* the pair's lower node sends */
    bool is_together : 1, is_low : 1, is_seen : 1;
    bool is_changed : 1; /* while it was measured */
    bool is_slow : 1;    /* its stream, of a rail and way, is low more often than not */
};
_Static_assert(MODEL_BINS <= UCHAR_MAX + 1, "a bin is a byte");

/* The log that it may gain at most for a part. */
static inline float observation_most(const struct observation *sample)
{
    return sample->table->most[sample->is_seen][sample->bin];
}

/* What a pair measured at one time. */
struct run {
    unsigned begin, end; /* observations */
    /* likelihood over that of healthy samples on quiet machines: of healthy ones on busy machines,
     * and of a hiccup, with its odds */
    double busy, hiccup;
};

struct pair {
    int low, high;                 /* nodes, low < high */
    unsigned begin, end;           /* observations */
    unsigned first_run, run_count; /* one after the other */
    double most, gain;             /* that its samples may gain for a part: log, and itself */
    bool is_low;                   /* a sample of it */
};

struct observations {
    const struct diagnose_network *network;
    struct observation *items;
    struct run *runs;
    struct pair *pairs;
    unsigned count, run_count, pair_count;
    unsigned *of_nodes; /* the pairs of each node, one after the other */
    unsigned *first;    /* [nodes + 1] where each node's begin, and the next one's */
    struct model_table *tables[MODEL_SCALES];
};

/* Of those samples that had their uplinks to themselves, to be weighed by some noise. Returns 0, or
 * -1 when memory is out; to be cleared in either case. O(samples). */
int observations_make(const struct diagnose_network *network, const struct diagnose_sample *samples,
                      size_t count, struct observations *observations);
/* What they say beside that noise: tables, and what pairs and runs have of them. O(samples). */
void observations_weigh(struct observations *observations, const struct model_noise *noise);
void observations_clear(struct observations *observations);

#endif
