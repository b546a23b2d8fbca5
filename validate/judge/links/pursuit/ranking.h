/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_RANKING_H
#define MUSTER_JUDGE_RANKING_H

#include "validate/judge/links/pursuit/candidates.h"

/* The candidates by how hard their low cells are to explain by the rate of low cells elsewhere. */

/* Of a candidate's open cells, by region. Repeated measurements count as so many; whole numbers. */
struct tally {
    float all[CELL_REGIONS], low[CELL_REGIONS];
};

struct ranking {
    struct candidates candidates;
    struct tally *tallies;     /* [candidate] */
    double rate[CELL_REGIONS]; /* of low cells elsewhere */
    /* a heap, the best one first */
    struct ranking_entry {
        float score;
        unsigned candidate;
    } * entries;
    size_t entry_count;
};

/* Ranks the candidates of the kinds from first_kind to last_kind. Returns 0, or -1 when memory is
 * out; to be cleared in either case. O(cells + candidates). */
int ranking_make(const struct cells *cells, enum part_kind first_kind, enum part_kind last_kind,
                 struct ranking *ranking);
void ranking_clear(struct ranking *ranking);

/* Takes the best candidate that is left and has enough low cells for any case. False: none is. */
bool ranking_next(struct ranking *ranking, unsigned *candidate);

/* A cell is explained: it speaks of nobody from here on. */
void ranking_drop(struct ranking *ranking, const struct cell *cell);

/* Log-likelihood ratio of a rate of its own, low of all, against that rate; 0 when it is not
 * higher. */
double ranking_likelihood(double low, double all, double rate);

/* An intermittent part has that much more low cells than elsewhere: a node's; a block's uplinks, of
 * which one in many may be bad, the less of them where hardly any cell is low otherwise. */
extern const double ranking_partial_excess;
double ranking_cable_excess(const struct ranking *ranking);
/* A part is slow when that share of its cells is low and there are not two heaps of them. */
extern const double ranking_slow_share;

#endif
