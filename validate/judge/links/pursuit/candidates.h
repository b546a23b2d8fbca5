/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_CANDIDATES_H
#define MUSTER_JUDGE_CANDIDATES_H

#include "validate/judge/links/pursuit/pursuit.h"

/* All parts that could be at fault, numbered through: first those of the first kind. */
struct candidates {
    const struct cells *cells;
    size_t begin[PART_KINDS + 1]; /* first candidate of each kind; last: how many there are */
};

enum { CANDIDATES_OF_CELL = 24 };

/* Those of the kinds from first_kind to last_kind. */
struct candidates candidates_make(const struct cells *cells, enum part_kind first_kind,
                                  enum part_kind last_kind);

/* How many parts of that kind there are. 0: none can be told there (a fabric without blocks has no
 * uplinks), or a table of them would be too large. */
size_t candidates_count(const struct cells *cells, enum part_kind kind);

bool candidates_is_node(enum part_kind kind);   /* a node's, not a block's */
bool candidates_is_uplink(enum part_kind kind); /* the cables of one block */
enum part_kind candidates_kind(const struct candidates *candidates, size_t candidate);
struct accused candidates_describe(const struct candidates *candidates, size_t candidate);

/* Those that the cell speaks of; numbers: room for CANDIDATES_OF_CELL. Returns how many. */
int candidates_of(const struct candidates *candidates, const struct cell *cell, unsigned *numbers);

/* The open cells of a part, each once. indices: room for all cells. Returns how many. */
size_t candidates_gather(const struct cells *cells, const struct accused *part, unsigned *indices);

#endif
