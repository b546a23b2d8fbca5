/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/schedule/apart.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* The rounds that a node, or the uplink of a block, is in: one bit each, in words of 64 rounds. Two
 * entries follow the nodes: rounds that have pairs within blocks, and rounds that have pairs
 * across. */
struct busy_rounds {
    uint64_t *nodes, *uplinks; /* [words][width] */
    size_t words, width;       /* the greater of nodes and blocks, plus two */
};

/* Doubles the rounds there is room for. */
static int grow(struct busy_rounds *busy_rounds)
{
    size_t words = busy_rounds->words ? 2 * busy_rounds->words : 1,
           all = words * busy_rounds->width;
    size_t old = busy_rounds->words * busy_rounds->width;
    uint64_t **tables[] = {&busy_rounds->nodes, &busy_rounds->uplinks};

    for (int k = 0; k < 2; k++) {
        uint64_t *grown = realloc(*tables[k], (all + 1) * sizeof *grown);

        if (!grown)
            return -1;
        for (size_t i = old; i < all; i++)
            grown[i] = 0;
        *tables[k] = grown;
    }
    busy_rounds->words = words;
    return 0;
}

/* Returns the first round in which both ends, and the uplinks of their blocks if the pair uses
 * them, are free, and marks it. Returns -1 if memory is out. */
static int assign_round(struct busy_rounds *busy_rounds, const int pair[2], const int *blocks)
{
    bool is_across = blocks[pair[0]] != blocks[pair[1]];

    for (size_t word = 0;; word++) {
        uint64_t taken, *nodes, *uplinks, *kinds;

        if (word == busy_rounds->words && grow(busy_rounds) != 0)
            return -1;
        nodes = &busy_rounds->nodes[word * busy_rounds->width];
        uplinks = &busy_rounds->uplinks[word * busy_rounds->width];
        kinds = nodes + busy_rounds->width - 2;
        taken = nodes[pair[0]] | nodes[pair[1]] | kinds[!is_across];
        if (is_across)
            taken |= uplinks[blocks[pair[0]]] | uplinks[blocks[pair[1]]];
        if (~taken) {
            int bit = __builtin_ctzll(~taken);

            kinds[is_across] |= UINT64_C(1) << bit;
            for (int k = 0; k < 2; k++) {
                nodes[pair[k]] |= UINT64_C(1) << bit;
                if (is_across)
                    uplinks[blocks[pair[k]]] |= UINT64_C(1) << bit;
            }
            return (int)(64 * word) + bit;
        }
    }
}

int schedule_apart(const int (*pairs)[2], size_t count, int node_count, const int *blocks,
                   int *rounds)
{
    struct busy_rounds busy_rounds = {.width = (size_t)node_count + 2};
    int most = 0;

    for (int node = 0; blocks && node < node_count; node++)
        if ((size_t)blocks[node] + 3 > busy_rounds.width)
            busy_rounds.width = (size_t)blocks[node] + 3;
    for (size_t i = 0; i < count && most >= 0; i++) {
        rounds[i] = blocks ? assign_round(&busy_rounds, pairs[i], blocks) : (int)i;
        most = rounds[i] < 0 ? -1 : rounds[i] + 1 > most ? rounds[i] + 1 : most;
    }
    free(busy_rounds.nodes);
    free(busy_rounds.uplinks);
    return most;
}
