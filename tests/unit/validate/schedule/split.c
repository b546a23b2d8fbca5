/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/schedule/split.h"
#include "tests/unit/tap.h"
#include "validate/schedule/schedule.h"

#include <string.h>

enum { NODES = 64, LEAF = 16 };

static int blocks[NODES], partners[NODES], sub_rounds[NODES];

/* Makes a round. across: each node's partner is on another leaf. */
static void make_round(bool across)
{
    for (int node = 0; node < NODES; node++) {
        blocks[node] = node / LEAF;
        partners[node] = across ? (node + NODES / 2) % NODES : node ^ 1;
    }
}

/* Returns the largest number of pairs in one sub-round for which is_of() holds. */
static int most_at_once(int count, bool (*is_of)(int node, int what), int what)
{
    int most = 0;

    for (int number = 0; number < count; number++) {
        int pairs = 0;

        for (int node = 0; node < NODES; node++)
            pairs += sub_rounds[node] == number && partners[node] > node && is_of(node, what);
        most = pairs > most ? pairs : most;
    }
    return most;
}

static bool is_any_node(int node, int what)
{
    return true;
}

static bool is_of_leaf(int node, int leaf)
{
    return blocks[node] == leaf || blocks[partners[node]] == leaf;
}

/* Counts nodes that are not in exactly one sub-round together with their partner. */
static int wrong_pairs(int count)
{
    int wrong = 0;

    for (int node = 0; node < NODES; node++)
        wrong += partners[node] < 0 ? sub_rounds[node] != -1
                                    : sub_rounds[node] < 0 || sub_rounds[node] >= count ||
                                          sub_rounds[node] != sub_rounds[partners[node]];
    return wrong;
}

static int split(const struct split_limits *limits)
{
    int count = schedule_split(limits, partners, NODES, sub_rounds);

    is_int(wrong_pairs(count), 0, "each pair is in one sub-round of %d", count);
    return count;
}

static void test_pairs(void)
{
    int count;

    make_round(false);
    is_int(split(&(struct split_limits){0}), 1, "without limits all pairs run at once");
    count = split(&(struct split_limits){.pairs = 10});
    is_int(count, 4, "32 pairs with 10 at once need 4 sub-rounds");
    is_int(most_at_once(count, is_any_node, 0), 10, "... with at most 10 pairs each");
    is_int(split(&(struct split_limits){.pairs = 1}), 32, "one pair at a time needs 32");
    partners[0] = partners[1] = SCHEDULE_BYE;
    is_int(split(&(struct split_limits){.pairs = 1}), 31, "resting nodes need none");
    for (int node = 0; node < NODES; node++)
        partners[node] = SCHEDULE_BYE;
    is_int(split(&(struct split_limits){.pairs = 1}), 0, "a round without pairs needs none");
    is_int(schedule_split(&(struct split_limits){0}, partners, 0, sub_rounds), 0,
           "... nor does one without nodes");
}

static void test_leaves(void)
{
    static const int two[4] = {2, 2, 2, 2}, three[4] = {3, 3, 3, 3}, many[4] = {16, 16, 16, 16};
    int count;

    make_round(false);
    count = split(&(struct split_limits){.leaf_pairs = 2, .blocks = blocks});
    is_int(count, 4, "2 of a leaf's 8 pairs at once, in all leaves in parallel");
    is_int(most_at_once(count, is_of_leaf, 3), 2, "... with at most 2 pairs each");
    is_int(split(&(struct split_limits){.uplink_pairs = two, .blocks = blocks}), 1,
           "pairs within a leaf use no uplink");
    make_round(true);
    count = split(&(struct split_limits){.uplink_pairs = three, .blocks = blocks});
    is_int(count, 6, "3 of a leaf's 16 pairs across at once");
    is_int(most_at_once(count, is_of_leaf, 0), 3, "... with at most 3 pairs each");
    is_int(split(&(struct split_limits){.leaf_pairs = 1, .blocks = blocks}), 1,
           "pairs across leaves do not count for a leaf");
    blocks[0] = -1;
    is_int(split(&(struct split_limits){.uplink_pairs = many, .blocks = blocks}), 1,
           "a node on an unknown leaf has no limit");
    is_int(split(&(struct split_limits){.uplink_pairs = two}), 1, "unknown leaves have no limit");
}

/* Leaves of 32, 16, 12 and 4 nodes. The third one has no limit. */
static void test_own_limits(void)
{
    static const int uplink_pairs[4] = {8, 4, 0, 1};
    int count;

    make_round(true);
    for (int node = 0; node < NODES; node++)
        blocks[node] = node < 32 ? 0 : node < 48 ? 1 : node < 60 ? 2 : 3;
    count = split(&(struct split_limits){.uplink_pairs = uplink_pairs, .blocks = blocks});
    is_int(count, 7,
           "with different limits no more sub-rounds are needed than for the slowest leaf");
    is_int(most_at_once(count, is_of_leaf, 0), 8, "... 8 at once of the large leaf's 32 pairs");
    is_int(most_at_once(count, is_of_leaf, 1), 4, "... 4 at once of another leaf's 16 pairs");
    is_int(most_at_once(count, is_of_leaf, 2), 4,
           "... a leaf without a limit gets what the others leave");
    is_int(most_at_once(count, is_of_leaf, 3), 1, "... 1 at once of the small leaf's 4 pairs");
}

static void test_hosts(void)
{
    int hosts[NODES], host_ranks[NODES], count;

    make_round(false);
    for (int node = 0; node < NODES; node++) {
        hosts[node] = 0;
        host_ranks[node] = 4;
    }
    count = split(&(struct split_limits){.hosts = hosts, .host_ranks = host_ranks});
    is_int(count, 16, "all nodes on one machine with room for four ranks: two pairs at once");
    for (int node = 0; node < NODES; node++)
        hosts[node] = node;
    count = split(&(struct split_limits){.hosts = hosts, .host_ranks = host_ranks});
    is_int(count, 1, "each node on its own machine: all pairs at once");
    for (int node = 0; node < NODES; node++)
        hosts[node] = node % 2;
    count = split(&(struct split_limits){.hosts = hosts, .host_ranks = host_ranks});
    is_int(count, 8, "partners on two machines: four pairs at once");
    memset(host_ranks, 0, sizeof host_ranks);
    host_ranks[0] = 1;
    for (int node = 0; node < NODES; node++)
        hosts[node] = 0;
    is_int(split(&(struct split_limits){.hosts = hosts, .host_ranks = host_ranks}), 32,
           "a pair that exceeds all limits runs alone");
}

int main(void)
{
    test_pairs();
    test_leaves();
    test_own_limits();
    test_hosts();
    return tap_done();
}
