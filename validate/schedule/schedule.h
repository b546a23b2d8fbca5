/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SCHEDULE_H
#define MUSTER_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"

/* Which nodes measure with each other in which round. Pure: no I/O, and the same request gives the
 * same schedule on every process, so that processes need not exchange it.
 *
 * In a round the pairs are disjoint: a node has one partner or rests. Pairs are built by the circle
 * method (tournament.h); no table of pairs is kept, memory is O(nodes + rounds).
 *
 * If the blocks (leaf switches) of the nodes are known, a round of SCHEDULE_PAIRS is either inside
 * all blocks at once, where no uplink is used, or across blocks. Across, the blocks have a
 * tournament of their own: in a round each block has one partner block, and nodes are paired
 * between the two. The number of pairs that cross a block's uplink at once (schedule_pair_load())
 * is the smallest that keeps all rounds within 5/4 of those without blocks, plus 8. Rounds inside
 * and across alternate, so that a run that ends early has both. If the sizes of blocks differ so
 * much that there would be twice as many rounds, the order of rounds ignores the blocks;
 * schedule_pair_load() still counts what crosses. */

enum { SCHEDULE_BYE = -1 };

enum schedule_kind {
    SCHEDULE_PAIRS,    /* disjoint pairs; in all rounds each pair of nodes meets exactly once */
    SCHEDULE_UPLINKS,  /* all nodes of two blocks with each other at once: measures the uplinks */
    SCHEDULE_BISECTION /* one half of the nodes with the other, whole blocks as far as can be */
};

struct schedule_request {
    enum schedule_kind kind;
    int node_count;    /* 0 to 16,384 and more */
    const int *blocks; /* node_count numbers, any; those < 0 (not known) are one block. NULL: none
                          known */
    int most_rounds;   /* 0: all. BISECTION: 0 is 1; round r shifts the halves by r */
    double confidence; /* PAIRS: 0: all pairs; else as many rounds as schedule_rounds_for() says */
    int block, peer_block; /* UPLINKS: only between these two; equal: all pairs of blocks in turn */
    uint64_t seed;         /* of the order of nodes and rounds; 0: plain order, as they are given */
};

struct schedule;

/* Makes the schedule, which the caller destroys with schedule_destroy(). Returns 0, or -1 with err
 * if a field of the request is out of its range, if UPLINKS has fewer than two blocks, or if memory
 * is out. */
int schedule_make(const struct schedule_request *request, struct schedule **schedule,
                  struct error *err);
void schedule_destroy(struct schedule *schedule);

/* Returns the number of rounds; 0 for fewer than two nodes. */
int schedule_rounds(const struct schedule *schedule);

/* The partner of a node in a round (0 <= round < schedule_rounds()), or SCHEDULE_BYE when it rests.
 * The partner's partner is the node. O(1). */
int schedule_partner(const struct schedule *schedule, int round, int node);

/* Whether the node, which has a partner in that round, sends first. Of two blocks or halves that
 * are paired, all nodes of the same one do. O(1). */
bool schedule_is_first(const struct schedule *schedule, int round, int node);

/* Returns how many pairs, with the node's own, cross the uplink of its block in that round, or that
 * of its partner's block if these are more; 0 if the pair is inside a block, blocks are not known,
 * or the node rests. O(nodes of the two blocks). */
int schedule_pair_load(const struct schedule *schedule, int round, int node);

/* Returns the round to run as number `number` (from 0) if all rounds are run `times` times over.
 * Each time begins at another round, so that a fault that comes and goes regularly is not always
 * met by the same pair, or by none. */
int schedule_round_again(int rounds, int times, int number);

/* Returns how many rounds show a bad node among node_count with that confidence (0 < confidence <
 * 1) even if one in twenty of its partners is bad too: the smallest k with
 *     node_count * P(Binomial(k, 0.05) >= k / 2) <= 1 - confidence
 * (then the median of no node is due to its partners), at least 3, at most 2 lg N + 8 and at most
 * all rounds. */
int schedule_rounds_for(int node_count, double confidence);

#endif
