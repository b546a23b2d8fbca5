/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/schedule/schedule.h"
#include "tests/unit/tap.h"
#include "validate/schedule/apart.h"

#include <math.h>
#include <stdlib.h>

static struct schedule *schedule;
static struct error err;

static int schedule_remake(const struct schedule_request *request)
{
    schedule_destroy(schedule);
    schedule = NULL;
    return schedule_make(request, &schedule, &err);
}

/* Makes the schedule of this request: remake(.node_count = 9, .seed = 5). */
#define remake(...) schedule_remake(&(struct schedule_request){__VA_ARGS__})

/* Returns the largest number of a round's pairs that leave a block. Counted independently. */
static int count_crossing(const int *blocks, int count, int round)
{
    int load = 0;

    for (int block = 0; blocks && block < count; block++) {
        int leaving = 0;

        for (int node = 0; node < count; node++) {
            int partner = schedule_partner(schedule, round, node);

            leaving += partner != SCHEDULE_BYE && blocks[node] == block && blocks[partner] != block;
        }
        load = leaving > load ? leaving : load;
    }
    return load;
}

/* Returns the largest number of pairs that share an uplink in the round, as a pair reports it,
 * itself included. */
static int round_load(int count, int round)
{
    int load = 0;

    for (int node = 0; node < count; node++) {
        int pair_load = schedule_pair_load(schedule, round, node);

        load = pair_load > load ? pair_load : load;
    }
    return load;
}

struct totals {
    int rounds, load,
        inside_rounds;    /* the most pairs across an uplink at once; rounds without any */
    int missing, doubled; /* pairs that never met, or met more than once */
    int most_partners, least_partners;
};

/* Runs all rounds of `count` nodes and checks what must always hold. */
static struct totals run_rounds(const int *blocks, int count, const char *what)
{
    struct totals totals = {.rounds = schedule_rounds(schedule), .least_partners = count};
    char *met_count = calloc((size_t)count * (size_t)count + 1, 1);
    int wrong_pairs = 0, wrong_loads = 0, empty = 0;

    for (int round = 0; round < totals.rounds; round++) {
        int load = round_load(count, round), pairs = 0;

        wrong_loads += load != count_crossing(blocks, count, round);
        totals.load = load > totals.load ? load : totals.load;
        totals.inside_rounds += load == 0;
        for (int node = 0; node < count; node++) {
            int partner = schedule_partner(schedule, round, node);
            int pair_load = schedule_pair_load(schedule, round, node);

            if (partner == SCHEDULE_BYE)
                continue;
            pairs++;
            if (partner < 0 || partner >= count || partner == node ||
                schedule_partner(schedule, round, partner) != node) {
                wrong_pairs++;
                continue;
            }
            met_count[node * count + partner]++;
            wrong_loads += pair_load > load ||
                           (pair_load > 0) != (blocks && blocks[node] != blocks[partner]) ||
                           pair_load != schedule_pair_load(schedule, round, partner);
        }
        empty += pairs == 0;
    }
    for (int a = 0; a < count; a++) {
        int partners = 0;

        for (int b = 0; b < count; b++) {
            partners += met_count[a * count + b];
            totals.missing += a != b && met_count[a * count + b] == 0;
            totals.doubled += met_count[a * count + b] > 1;
        }
        totals.most_partners = partners > totals.most_partners ? partners : totals.most_partners;
        totals.least_partners = partners < totals.least_partners ? partners : totals.least_partners;
    }
    is_int(wrong_pairs, 0, "%s: all rounds are made of disjoint pairs", what);
    is_int(empty, 0, "... none is empty");
    is_int(wrong_loads, 0, "... the pairs that cross an uplink are counted right");
    free(met_count);
    return totals;
}

static void check_all_pairs_meet(const int *blocks, int count, uint64_t seed, const char *what)
{
    struct totals totals;

    remake(.node_count = count, .blocks = blocks, .seed = seed);
    totals = run_rounds(blocks, count, what);
    is_int(totals.missing + totals.doubled, 0,
           "... each pair of %d meets exactly once in %d rounds", count, totals.rounds);
    ok(totals.rounds <= 2 * count + 8, "... within the limit of rounds");
}

static void test_sizes(void)
{
    int leaves[40], uneven[40], lonely[40], some[9] = {4, 4, -1, 7, 7, 7, -3, 4, 4};

    for (int i = 0; i < 40; i++) {
        leaves[i] = 3 + i / 4;
        uneven[i] = i % 7 ? i % 3 : 5;
        lonely[i] = i < 30 ? 0 : i;
    }
    for (int count = 0; count <= 9; count++)
        check_all_pairs_meet(NULL, count, (uint64_t)count, "no blocks");
    for (int count = 2; count <= 40; count += 3) {
        int dense[40];

        for (int i = 0; i < count; i++)
            dense[i] = leaves[i] - 3;
        check_all_pairs_meet(dense, count, (uint64_t)count, "leaves of four");
    }
    check_all_pairs_meet(uneven, 40, 1, "blocks of several sizes");
    check_all_pairs_meet(lonely, 40, 1, "one block and ten of one node");
    remake(.node_count = 9, .blocks = some);
    is_int(schedule_partner(schedule, 0, 2) == 6 || schedule_partner(schedule, 0, 6) == 2, 1,
           "nodes of unknown blocks form a block");
    remake(.node_count = 8, .seed = 5);
    is_int(round_load(8, 0), 0, "without blocks no uplink is used");
}

static void test_uplinks_are_spared(void)
{
    int blocks[1024];
    struct totals totals;

    for (int i = 0; i < 4; i++)
        blocks[i] = i / 2;
    remake(.node_count = 4, .blocks = blocks);
    totals = run_rounds(blocks, 4, "two leaves of two");
    is_int(totals.load, 1, "... one pair at a time crosses");
    is_int(totals.rounds, 5, "... in five rounds");
    for (int i = 0; i < 16; i++)
        blocks[i] = i / 8;
    remake(.node_count = 16, .blocks = blocks);
    totals = run_rounds(blocks, 16, "two leaves of eight");
    is_int(totals.load, 4, "... four at a time cross");
    is_int(totals.rounds, 23, "... in 23 rounds instead of 15");
    is_int(round_load(16, 0), 0, "the first round is inside the blocks");
    is_int(round_load(16, 1), 4, "... the second across");
    for (int i = 0; i < 1024; i++)
        blocks[i] = i / 32;
    remake(.node_count = 1024, .blocks = blocks, .seed = 1);
    is_int(schedule_rounds(schedule), 31 + 31 * 32, "1,024 nodes: 1,023 rounds");
    is_int(round_load(1024, 1), 32, "... in some of which a whole leaf crosses");
}

static int group_of(const int *group, int node)
{
    while (group[node] != node)
        node = group[node];
    return node;
}

/* Returns the number of groups of nodes that no pair across an uplink joins. */
static int groups_across(int count)
{
    int *group = calloc((size_t)count, sizeof *group), groups = count;

    for (int node = 0; node < count; node++)
        group[node] = node;
    for (int round = 0; round < schedule_rounds(schedule); round++)
        for (int node = 0; node < count; node++) {
            int partner = schedule_partner(schedule, round, node);
            bool is_across = schedule_pair_load(schedule, round, node) > 0;
            int a = group_of(group, node), b = is_across ? group_of(group, partner) : a;

            groups -= a != b;
            group[a] = b;
        }
    free(group);
    return groups;
}

static void test_few_rounds(void)
{
    static int blocks[16384];
    struct totals totals;

    is_int(schedule_rounds_for(1, 0.99), 0, "no rounds for one node");
    is_int(schedule_rounds_for(2, 0.999), 1, "all rounds of two");
    is_int(schedule_rounds_for(4, 0.999), 3, "... of four");
    ok(schedule_rounds_for(1024, 0.9) < schedule_rounds_for(1024, 0.9999),
       "more confidence needs more rounds");
    /* binomial tails by hand: 1024 P(B(11, .05) >= 6) = 0.0058; P(B(10, .05) >= 5) gives 0.065 */
    is_int(schedule_rounds_for(1024, 0.99), 11, "... 11 for 99 %% of 1,024 nodes");
    is_int(schedule_rounds_for(1024, 1 - 1e-15), 28, "... and never more than 2 lg N + 8");
    is_int(schedule_rounds_for(1000, 1 - 1e-15), 28, "... with lg rounded up");
    for (int i = 0; i < 512; i++)
        blocks[i] = i / 16;
    remake(.node_count = 512, .blocks = blocks, .confidence = 0.999, .seed = 7);
    totals = run_rounds(blocks, 512, "512 nodes at 99.9 %");
    is_int(totals.rounds, schedule_rounds_for(512, 0.999),
           "... with the rounds for that confidence");
    is_int(totals.doubled, 0, "... no pair twice");
    is_int(totals.least_partners, totals.rounds, "... each node has a partner in each round");
    is_int(totals.inside_rounds, (totals.rounds + 1) / 2,
           "... every other round is within the blocks");
    is_int(groups_across(512), 1, "... and rounds across blocks connect all nodes");
    remake(.node_count = 512, .most_rounds = 9, .seed = 7);
    totals = run_rounds(NULL, 512, "nine rounds without blocks");
    is_int(totals.rounds, 9, "... are nine");
    is_int(totals.doubled, 0, "... no pair twice");
    for (int i = 0; i < 16384; i++)
        blocks[i] = i / 32;
    remake(.node_count = 16384, .blocks = blocks, .confidence = 1 - 1e-15, .seed = 3);
    is_int(schedule_rounds(schedule), 36, "16,384 nodes: at most 36 rounds");
    remake(.node_count = 16384, .blocks = blocks, .seed = 3);
    is_int(schedule_rounds(schedule), 16383, "... or all pairs");
}

static void test_seed(void)
{
    struct schedule *first = NULL;
    int same = 0, other = 0;

    schedule_make(&(struct schedule_request){.node_count = 64, .seed = 1}, &first, &err);
    remake(.node_count = 64, .seed = 1);
    for (int node = 0; node < 64; node++)
        same += schedule_partner(first, 5, node) == schedule_partner(schedule, 5, node);
    remake(.node_count = 64, .seed = 2);
    for (int node = 0; node < 64; node++)
        other += schedule_partner(first, 5, node) == schedule_partner(schedule, 5, node);
    is_int(same, 64, "the same seed gives the same schedule");
    ok(other < 32, "another seed gives another schedule");
    schedule_destroy(first);
}

static void test_uplinks(void)
{
    int blocks[24];
    struct totals totals;

    for (int i = 0; i < 24; i++)
        blocks[i] = i % 4;
    remake(.kind = SCHEDULE_UPLINKS, .node_count = 24, .blocks = blocks);
    totals = run_rounds(blocks, 24, "uplinks of four blocks");
    is_int(totals.rounds, 3, "... three rounds for six pairs of blocks");
    is_int(totals.load, 6, "... with all nodes of a block at once");
    remake(.kind = SCHEDULE_UPLINKS, .node_count = 24, .blocks = blocks, .block = 1,
           .peer_block = 3);
    totals = run_rounds(blocks, 24, "the uplink between two blocks");
    is_int(totals.rounds, 1, "... one round");
    is_int(schedule_partner(schedule, 0, 0), SCHEDULE_BYE, "... the other nodes rest");
    is_int(blocks[schedule_partner(schedule, 0, 1)], 3, "... and the two blocks meet");
    is_int(remake(.kind = SCHEDULE_UPLINKS, .node_count = 24), -1,
           "uplinks without blocks are refused");
    has_str(err.text, "not known", "... with the reason");
    is_int(remake(.kind = SCHEDULE_UPLINKS, .node_count = 24, .blocks = blocks, .block = 1,
                  .peer_block = 9),
           -1, "a block without nodes is refused");
    has_str(err.text, "block 9 has no node", "... with the reason");
}

static void test_bisection(void)
{
    int blocks[24];
    struct totals totals;
    int wrong = 0;

    for (int i = 0; i < 24; i++)
        blocks[i] = i % 4;
    remake(.kind = SCHEDULE_BISECTION, .node_count = 24, .blocks = blocks);
    totals = run_rounds(blocks, 24, "bisection");
    is_int(totals.rounds, 1, "... one round");
    for (int i = 0; i < 24; i++)
        wrong += (blocks[schedule_partner(schedule, 0, i)] < 2) == (blocks[i] < 2);
    is_int(wrong, 0, "... two blocks against two blocks");
    for (int i = wrong = 0; i < 24; i++)
        wrong += schedule_is_first(schedule, 0, i) != (blocks[i] < 2);
    is_int(wrong, 0, "... the nodes of one half send first");
    remake(.kind = SCHEDULE_BISECTION, .node_count = 9, .most_rounds = 3);
    totals = run_rounds(NULL, 9, "bisection of nine, three rounds");
    is_int(totals.rounds, 3, "... has three");
    is_int(totals.doubled, 0, "... no pair twice");
}

static void test_bad_requests(void)
{
    is_int(remake(.node_count = -1), -1, "a negative number of nodes");
    is_int(remake(.node_count = 4, .confidence = 1), -1, "a confidence of 1");
    is_int(remake(.node_count = 4, .confidence = NAN), -1, "a confidence that is not a number");
    is_int(remake(.node_count = 4, .kind = (enum schedule_kind)9), -1, "an unknown kind");
    has_str(err.text, "kind 9", "... is refused with the reason");
    schedule_destroy(NULL);
}

/* Counts conflicts in a round: a node in two pairs, two pairs across one block's uplink, or
 * pairs within and across blocks. */
static int count_conflicts(const int (*pairs)[2], int count, const int *in_block, const int *rounds)
{
    int found = 0;

    for (int i = 0; i < count; i++)
        for (int k = 0; k < i; k++)
            for (int a = 0; a < 2 && rounds[i] == rounds[k]; a++)
                for (int b = 0; b < 2; b++)
                    found += (in_block[pairs[i][0]] == in_block[pairs[i][1]]) !=
                                 (in_block[pairs[k][0]] == in_block[pairs[k][1]]) ||
                             pairs[i][a] == pairs[k][b] ||
                             (in_block[pairs[i][0]] != in_block[pairs[i][1]] &&
                              in_block[pairs[k][0]] != in_block[pairs[k][1]] &&
                              in_block[pairs[i][a]] == in_block[pairs[k][b]]);
    return found;
}

static void test_apart(void)
{
    enum { NODES = 200, PAIRS = 300 };
    static const int few[][2] = {{0, 1}, {2, 3}, {0, 2}, {4, 5}, {1, 4}};
    static const int two_blocks[] = {0, 0, 0, 0, 1, 1};
    static const int far_blocks[] = {70, 70, 70, 70, 90, 90};
    static int many[PAIRS][2], blocks_of[NODES];
    int rounds[PAIRS], made, shared = 0;

    is_int(schedule_apart(few, 5, 6, two_blocks, rounds), 3,
           "five pairs of six nodes: two rounds within blocks, one across");
    is_int(count_conflicts(few, 5, two_blocks, rounds), 0,
           "... no node is in two pairs of a round");
    is_int(rounds[0], 0, "... the first pair is in the first round");
    is_int(schedule_apart(few, 5, 6, far_blocks, rounds), 3,
           "... whatever numbers the blocks have");
    is_int(schedule_apart(few, 5, 6, NULL, rounds), 5, "without blocks one pair after the other");
    is_int(schedule_apart(few, 0, 6, two_blocks, rounds), 0, "without pairs there are no rounds");
    for (int i = 0; i < NODES; i++)
        blocks_of[i] = i / 20;
    for (int i = 0; i < PAIRS; i++) {
        many[i][0] = i * 7 % NODES;
        many[i][1] = (many[i][0] + 1 + i * 13 % (NODES - 1)) % NODES;
    }
    made = schedule_apart((const int(*)[2])many, PAIRS, NODES, blocks_of, rounds);
    is_int(count_conflicts((const int(*)[2])many, PAIRS, blocks_of, rounds), 0,
           "300 pairs of ten blocks: no uplink and no node is used twice in a round");
    for (int i = 0; i < PAIRS; i++)
        shared += blocks_of[many[i][0]] != blocks_of[many[i][1]];
    ok(made >= 2 * shared / 10 && made < 4 * shared / 10,
       "... in %d rounds, of which the uplinks need at least %d", made, 2 * shared / 10);
    /* a node with all others, more than the 64 rounds of a word */
    for (int i = 0; i < 199; i++) {
        many[i][0] = 0;
        many[i][1] = i + 1;
    }
    is_int(schedule_apart((const int(*)[2])many, 199, NODES, blocks_of, rounds), 199,
           "one node with all others needs a round for each");
    is_int(count_conflicts((const int(*)[2])many, 199, blocks_of, rounds), 0,
           "... one pair in each");
}

/* Each repetition runs all rounds and begins with another round. */
static void test_repetitions(void)
{
    enum { ROUNDS = 7, TIMES = 3 };
    bool has_begun[ROUNDS] = {false};

    for (int time = 0; time < TIMES; time++) {
        int run_count[ROUNDS] = {0}, missing = 0, begin;

        for (int i = 0; i < ROUNDS; i++)
            run_count[schedule_round_again(ROUNDS, TIMES, time * ROUNDS + i)]++;
        for (int round = 0; round < ROUNDS; round++)
            missing += run_count[round] != 1;
        begin = schedule_round_again(ROUNDS, TIMES, time * ROUNDS);
        is_int(missing, 0, "repetition %d has each round once", time + 1);
        ok(!has_begun[begin], "... and begins with a round that no other begins with: %d", begin);
        has_begun[begin] = true;
    }
    is_int(schedule_round_again(ROUNDS, 1, 5), 5, "without repetitions the rounds are in order");
}

int main(void)
{
    test_sizes();
    test_uplinks_are_spared();
    test_few_rounds();
    test_seed();
    test_uplinks();
    test_bisection();
    test_bad_requests();
    test_apart();
    test_repetitions();
    schedule_destroy(schedule);
    return tap_done();
}
