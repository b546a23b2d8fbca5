/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LOCALIZATION_LOSS_PAIRS_H
#define MUSTER_LOCALIZATION_LOSS_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/constants/links_constants.h"
#include "validate/localization/losses/losses.h"

/* One way of a node's rail, or one direction of a pair. lost: without what the receiver dropped
 * itself; stalled: of that, while an end was not scheduled. */
struct loss_way {
    double sent, lost, damaged, stalled; /* of a node: of the partners that lose */
    int losing, clean;                   /* partners */
};

/* All samples of one direction of a pair on a rail. */
struct loss_pair {
    int from, to, rail;
    struct loss_way way;
};

/* [0]: what it sends; [1]: what it receives. */
struct loss_end {
    struct loss_way ways[2];
};

/* The pairs by rail, each once. is_retest: of the isolated samples during which both ends were
 * scheduled; else of all. malloc'd; NULL: memory is out. */
struct loss_pair *loss_pairs_pool(const struct loss_data *data, bool is_retest, size_t *count);

bool loss_is_losing(const struct loss_way *way);

/* Whether so few are hardly chance where as large a share would have been lost as of `like`: less
 * than 1 of 100 times (Poisson). */
bool loss_is_clean(const struct loss_way *like, const struct loss_way *way);

bool loss_is_each(int losing, int clean);

void loss_way_add(struct loss_way *way, const struct loss_way *other);

/* A finding about nobody yet, of what that way has lost. */
struct loss_finding loss_way_finding(const struct loss_way *way, enum loss_kind kind, int rail);

#endif
