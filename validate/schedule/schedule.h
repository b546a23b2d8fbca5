/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SCHEDULE_H
#define MUSTER_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"

/* Who measures with whom in which round. Pure: no I/O, and the same request gives the same schedule
 * on every process, so that nothing needs to be told around.
 *
 * In a round the pairs are disjoint: a node has one partner or rests. Pairs are built by the circle
 * method (tournament.h); no table of pairs is kept, memory is O(nodes + rounds).
 *
 * Where the blocks (leaf switches) of the nodes are known, a round of SCHEDULE_PAIRS is either
 * inside all blocks at once, where no uplink is used, or across: the blocks play a tournament of
 * their own, and those of two blocks that meet are paired so that each block has one partner block.
 * Then as few pairs at once cross a block's uplink as keep all rounds within 5/4 of what they would
 * be without blocks, plus 8; schedule_pair_load() says how many. Rounds inside and across
 * alternate, so that a run that ends early has both. Blocks whose sizes differ so much that all
 * rounds would be twice as many are not heeded for the order (schedule_pair_load() still tells what
 * crosses). */

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

/* Makes the schedule; to be destroyed with schedule_destroy(). -1 and err: kind or a figure of the
 * request is out of its range, UPLINKS without two blocks, or memory is out. */
int schedule_make(const struct schedule_request *request, struct schedule **schedule,
                  struct error *err);
void schedule_destroy(struct schedule *schedule);

/* Rounds; 0 for fewer than two nodes. */
int schedule_rounds(const struct schedule *schedule);

/* The partner of a node in a round (0 <= round < schedule_rounds()), or SCHEDULE_BYE when it rests.
 * The partner's partner is the node. O(1). */
int schedule_partner(const struct schedule *schedule, int round, int node);

/* Whether the node, which has a partner in that round, is the one that sends first: of two blocks
 * or halves that meet all nodes of the same one. O(1). */
bool schedule_is_first(const struct schedule *schedule, int round, int node);

/* How many pairs at once cross the uplinks that the node's pair uses in that round: the greater of
 * the numbers of its block and of its partner's block, itself counted; 0 when the pair is inside a
 * block, blocks are not known, or the node rests. O(nodes of the two blocks). */
int schedule_pair_load(const struct schedule *schedule, int round, int node);

/* Which round it is that is played as that number (from 0) when all rounds are played so many times
 * over: each time begins elsewhere, so that what comes and goes regularly is not always met by the
 * same pair, or by none. */
int schedule_round_again(int rounds, int times, int number);

/* Rounds that name a bad node among node_count with that confidence (0 < confidence < 1) even when
 * one in twenty of its partners is bad too: the smallest k with
 *     node_count * P(Binomial(k, 0.05) >= k / 2) <= 1 - confidence
 * (then no node has a median that its partners made), at least 3, at most 2 lg N + 8 and at most
 * all rounds. */
int schedule_rounds_for(int node_count, double confidence);

#endif
