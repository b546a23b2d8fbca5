/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_CELLS_H
#define MUSTER_JUDGE_CELLS_H

#include <stdbool.h>
#include <stddef.h>

#include "validate/judge/links/links.h"

/* The fit of the judge: measured samples as logarithms beside what they should be. */

/* Two regions of samples have a rate of low ones of their own: across uplinks pairs get into each
 * other's way that do not inside a block. */
enum cell_region { CELL_INSIDE, CELL_ACROSS, CELL_REGIONS };

enum { CELL_LOADS = 16 }; /* pairs that share an uplink, by powers of two */

/* Logarithms are natural, of the share of what nominal says (both ends' lower one) where all
 * nominals of the rail are known, else of Mb/s. */
struct cell {
    int from, to;
    float y;        /* measured */
    float expected; /* what the fit expects: its region' median, or a slower part that was found */
    float limit;    /* low below that */
    float first_limit;   /* limit before any part was found */
    float first_y;       /* before it was measured once more */
    float first_stalled; /* the share of its time then in which its ends were not let run */
    float spot;          /* of the low end of its repeats; = y when not known */
    short rail;
    unsigned char region;
    unsigned char load;  /* pairs that shared its uplink, ceil(log2()); 0: it had it to itself */
    unsigned char again; /* times that it was measured once more, alone */
    unsigned char quiet, quiet_low; /* times alone with its ends let run, those below limit; 0
                                       before cells_count_alone() */
    bool is_sole;                   /* it is known that no other pair shared its uplink */
    bool was_low;                   /* the first time that it was measured */
    bool is_low;                    /* y < limit */
    bool is_open;                   /* not explained by a part that was found */
};

/* A cell in its receiver's row; the sender is here too, as the cell itself is far away in memory.
 */
struct incoming {
    unsigned cell; /* index */
    int from;
};

struct cells {
    const struct links *links;
    const struct links_limits *limits;
    size_t nodes, rails, count;
    struct cell *cells; /* by sender, rail */
    size_t *out_begin;  /* [nodes x rails + 1] first cell of a sender's rail */
    size_t *in_begin;   /* [nodes x rails + 1] first place in incoming of a receiver's rail */
    struct incoming *incoming; /* by receiver and rail */
    int *blocks;               /* [nodes] */
    size_t block_count;        /* 1: not known or one */
    int *block_size;           /* [block_count] nodes of which something was measured */
    int *members;              /* [nodes] by block */
    int *members_begin;        /* [block_count + 1] */
    float *typical;            /* [rails] median inside blocks */
    float *sigma;              /* [rails x CELL_REGIONS] 1.4826 MAD, at least 0.01 */
    float *across;             /* [rails] median across with the uplink to itself; NAN: none */
    bool *has_nominal;         /* [rails] all are known */
    bool *is_fabric;           /* [rails] slow on most nodes alike: nominal is no gate */
    bool *is_uplinks;          /* [rails] all uplinks are slow alike */
};

/* The table of the samples, without anything that the fit finds. received: room for `count`,
 * becomes y in the order of incoming. Else as cells_fit(). */
int cells_build(const struct links *links, const struct links_limits *limits,
                const struct link_sample *samples, size_t count, const int *blocks,
                struct cells *cells, float *received);

/* fit.c: fits the samples. blocks: of all nodes, or NULL. by_nominal: nominal is a gate. The result
 * is to be cleared in either case. Returns 0, or -1 when memory is out. */
int cells_fit(const struct links *links, const struct links_limits *limits,
              const struct link_sample *samples, size_t count, const int *blocks, bool by_nominal,
              struct cells *cells);
void cells_clear(struct cells *cells);

/* Counts quiet and quiet_low of each cell, by what links.moments holds. */
void cells_count_alone(struct cells *cells);

/* The cell of that sender, receiver and rail; NULL when it was not measured. O(nodes). */
struct cell *cells_find(const struct cells *cells, int from, int to, int rail);

/* The share of the cell's 100 % that is, as a logarithm. */
float cells_y(const struct cells *cells, const struct cell *cell, double mbps);

/* 100 % of the cell in Mb/s: nominal of the lower end, or 1. */
double cells_base(const struct cells *cells, const struct cell *cell);

/* The part of the vector's values of that rank from below (0 the lowest), which is put in its
 * place: O(count). count > 0. cells_median: the higher one of two in the middle. */
float cells_rank(float *values, size_t count, size_t rank);
float cells_median(float *values, size_t count);

#endif
