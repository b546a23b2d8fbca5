/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DIAGNOSE_OBSERVATIONS_H
#define MUSTER_DIAGNOSE_OBSERVATIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "validate/diagnose/model.h"

/* The samples by pair run, each beside what it should be. */

struct diagnose_network {
    size_t node_count, rail_count;
    size_t leaf_count; /* 0: not known */
    const int *leaves; /* [node_count] index of each node's leaf, or NULL */
};

struct diagnose_sample {
    int from, to, rail;
    double rate;       /* over the nominal one of the slower end, or in Mb/s of all; 0: dead */
    double received;   /* what the receiver says of it; 0: nothing */
    double stalled;    /* share of the time in which an end was not scheduled */
    bool is_together;  /* all rails of the pair at once */
    int shared;        /* pairs that used an uplink beside it, itself counted; 0, 1: none */
    unsigned pair_run; /* what one pair measured at one time: samples of one come one after the
                          other */
};

struct observation {
    const struct model_table *table;
    unsigned short bin, rail;
    unsigned short shared; /* pairs that used an uplink, itself counted; 1: it alone */
    bool is_up;            /* the pair's lower node sends */
    bool is_together, is_low, is_seen;
    bool is_relative; /* to others that shared uplinks, as these have less than the nominal rate */
};

struct run {
    int low, high;       /* nodes, low < high */
    unsigned begin, end; /* observations */
    unsigned kind;       /* runs of a kind have the same observations */
};

struct observations {
    const struct diagnose_network *network;
    struct observation *items;
    struct run *runs;
    unsigned count, run_count, kind_count;
    unsigned *node_begin;                  /* [nodes + 1] of node_runs */
    unsigned *node_runs;                   /* run numbers, by node, then by the other end */
    unsigned *node_across, *node_together; /* [nodes] runs across leaves; with all rails together */
    unsigned *leaf_begin;                  /* [leaves + 1] of members */
    int *members;                          /* nodes, by leaf */
    struct model_table *tables[2][MODEL_SCALES];
    double *location; /* ln of what a rail of sound nodes has, [rail_count] */
};

/* dips: of samples that have their uplink to themselves, and of others. What shared an uplink is
 * left out where the pair was measured alone as well. Returns 0, or -1 when memory is out; to be
 * cleared in either case. O(samples). */
int observations_make(const struct diagnose_network *network, const struct model_dips dips[2],
                      const struct diagnose_sample *samples, size_t count,
                      struct observations *observations);
void observations_clear(struct observations *observations);

#endif
