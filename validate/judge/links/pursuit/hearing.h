/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_HEARING_H
#define MUSTER_JUDGE_HEARING_H

#include "validate/judge/links/pursuit/ranking.h"

/* A candidate is heard: what its cells say for it and against it. */

enum outcome_of_hearing {
    HEARING_GUILTY,
    HEARING_CLEARED, /* it was slow among others, and is well alone on the network */
    HEARING_NO_CASE  /* its low cells are another's, or chance */
};

struct hearing {
    const struct cells *cells;
    const struct ranking *ranking; /* the rates elsewhere */
    unsigned *indices;             /* of the part's cells that are open */
    size_t count;
    /* work space of as many as cells: the low ones' y, the y or expectation of others */
    float *low, *well;
    int *stamps; /* [nodes] */
    int stamp;
};

/* Returns 0, or -1 when memory is out; to be cleared in either case. */
int hearing_make(const struct cells *cells, const struct ranking *ranking, struct hearing *hearing);
void hearing_clear(struct hearing *hearing);

/* Hears the part, and fills in its figures. Afterwards indices and count are its cells. */
enum outcome_of_hearing hearing_hold(struct hearing *hearing, struct accused *part);

#endif
