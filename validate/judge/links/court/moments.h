/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_MOMENTS_H
#define MUSTER_JUDGE_MOMENTS_H

#include "lib/constants/judge_constants.h"
#include "validate/judge/links/pursuit/candidates.h"
#include "validate/judge/links/court/court.h"

/* The parts of court_moments(), which share this. */

/* One measurement: the first one, among others, or one alone. */
struct moment {
    struct cell *cell;
    float y;
    bool is_low, is_alone;
    int look; /* alone: in which look */
};

/* A rail of a node, or its path to a peer. */
struct suspect {
    enum part_kind kind;  /* PART_SENDS, PART_RECEIVES; PART_RAIL: both ways */
    int node, peer, rail; /* peer -1: not a path */
};

struct evidence {
    size_t low, all, alone, alone_low;
    unsigned looks_low; /* a bit for each look in which it was low */
    int partners, partners_low;
    double likelihood;
    bool has_alibi; /* a path's ends were well with others often enough */
};

/* Somebody who explains what was low better than chance does. */
struct charge {
    struct suspect suspect;
    struct evidence evidence;
    struct accused accused;
};

struct moments {
    struct court *court;
    struct moment *items; /* [total]; behind count what a charge explains */
    size_t total, count;
    size_t low; /* of the first count */
    struct charge *charges;
    size_t charge_count;
    float *levels; /* work space, [count] */
    char *seen;    /* [nodes] 1: a partner, 3: one with which it was low */
};

/* What the moments that nobody explains yet, the first `count`, say of a suspect. */
struct evidence moments_weigh(struct moments *moments, const struct suspect *suspect);

/* The suspect as one that is low at times. There is a low moment of it among the first `count`. */
struct accused moments_describe(struct moments *moments, const struct suspect *suspect,
                                const struct evidence *evidence);

/* Makes a finding of a path. */
struct finding *moments_tell_path(struct court *court, const struct suspect *path,
                                  enum verdict verdict, const struct accused *accused);

/* Whether the finding is about the cell's ends, their leaf switch or its uplinks. */
bool moments_is_about(const struct court *court, const struct finding *finding,
                      const struct cell *cell);

/* questions.c: of what was low and stays open, who is to be asked once more: the last one, after
 * which `count` is all. */
void moments_ask(struct moments *moments);

#endif
