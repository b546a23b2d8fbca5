/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/diagnose/diagnose.h"
#include "tests/unit/tap.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/splitmix.h"
#include "validate/diagnose/likelihood.h"
#include "validate/localization/inconsistent.h"
#include "validate/localization/misplaced.h"

/* A network with leaves of four nodes and two rails each. Each test runs all pairs several times
 * and defines the rate of each sample. */

enum { RAILS = 2, LEAF = 4, NODES_MOST = 12, SAMPLES_MOST = 20000 };

static struct diagnose_network network;
static const struct diagnosis no_diagnosis;
static int leaves[NODES_MOST];
static struct diagnose_sample samples[SAMPLES_MOST];
static size_t count;
static unsigned runs;
static uint64_t random_state;

typedef double rate_of(int from, int to, int rail, bool is_together);

static double uniform(void)
{
    return (double)(splitmix_next(&random_state) >> 11) * 0x1p-53;
}

static void network_make(int nodes)
{
    for (int i = 0; i < nodes; i++)
        leaves[i] = i / LEAF;
    network = (struct diagnose_network){.node_count = (size_t)nodes,
                                        .rail_count = RAILS,
                                        .fault_share = 0.85,
                                        .fault_share_at_times = 0.8,
                                        .leaf_count = (size_t)((nodes + LEAF - 1) / LEAF),
                                        .leaves = leaves};
    count = 0;
    runs = 0;
    random_state = 7;
}

/* Adds a pair run: each rail alone, then all together, in both directions. busy: the probability
 * that a busy machine slows a sample. */
static void add_pair_run(int a, int b, rate_of *rate, double busy)
{
    runs++;
    for (int together = 0; together < 2; together++)
        for (int rail = 0; rail < RAILS; rail++)
            for (int direction = 0; direction < 2; direction++) {
                struct diagnose_sample *sample = &samples[count++];

                *sample = (struct diagnose_sample){.from = direction ? b : a,
                                                   .to = direction ? a : b,
                                                   .rail = rail,
                                                   .is_together = together,
                                                   .pair_run = runs};
                sample->rate =
                    rate(sample->from, sample->to, rail, together) * (0.97 + 0.01 * uniform());
                if (uniform() < busy) {
                    sample->rate *= 0.4 + 0.6 * uniform();
                    sample->stalled = uniform() < 0.75 ? 0.3 : 0;
                }
            }
}

static void add_all_pairs(int nodes, rate_of *rate, double busy)
{
    for (int a = 0; a < nodes; a++)
        for (int b = a + 1; b < nodes; b++)
            for (int times = 0; times < 3; times++)
                add_pair_run(a, b, rate, busy);
}

/* Runs all pairs of nodes within each leaf. */
static void add_leaf_pairs(int nodes, rate_of *rate)
{
    for (int a = 0; a < nodes; a++)
        for (int b = a + 1; b < nodes && b / LEAF == a / LEAF; b++)
            for (int times = 0; times < 3; times++)
                add_pair_run(a, b, rate, 0);
}

static double healthy_rate(int from, int to, int rail, bool is_together)
{
    return 1;
}

static double slow_sender_rail(int from, int to, int rail, bool is_together)
{
    return from == 2 && rail == 1 ? 0.3 : 1;
}

static double slow_host(int from, int to, int rail, bool is_together)
{
    return is_together && (from == 1 || to == 1) ? 0.6 : 1;
}

static double slow_path(int from, int to, int rail, bool is_together)
{
    return rail == 0 && ((from == 1 && to == 5) || (from == 5 && to == 1)) ? 0.5 : 1;
}

static double slow_leaf(int from, int to, int rail, bool is_together)
{
    return from / LEAF == 1 || to / LEAF == 1 ? 0.5 : 1;
}

static double slow_uplink(int from, int to, int rail, bool is_together)
{
    return (from / LEAF == 1) != (to / LEAF == 1) ? 0.25 : 1;
}

/* One uplink cable that the rails share. */
static double slow_shared_cable(int from, int to, int rail, bool is_together)
{
    double alone = slow_uplink(from, to, rail, is_together);

    return alone < 1 && is_together ? alone / 2 : alone;
}

/* A shared cable that is slow in one direction, where the first rail always has a larger share. */
static double slow_cable_one_way(int from, int to, int rail, bool is_together)
{
    double rate = from / LEAF == 1 ? slow_shared_cable(from, to, rail, is_together) : 1;

    return rate < 1 && is_together ? rate * (rail == 0 ? 1.6 : 0.4) : rate;
}

/* The connections between the switches of two leaves. */
static double slow_between_leaves(int from, int to, int rail, bool is_together)
{
    return rail == 1 && from / LEAF + to / LEAF == 2 && from / LEAF != to / LEAF ? 0.3 : 1;
}

static double intermittent_rail(int from, int to, int rail, bool is_together)
{
    return (from == 3 || to == 3) && rail == 0 && runs % 3 == 0 ? 0.25 : 1;
}

/* One uplink cable of four. A hash of the ends chooses the cable of a stream, always the same
 * one. */
static double slow_cable_of_several(int from, int to, int rail, bool is_together)
{
    uint64_t key = (uint64_t)(from * 100 + to * 2 + rail);

    return slow_uplink(from, to, rail, is_together) < 1 && splitmix_next(&key) % 4 == 0 ? 0.3 : 1;
}

static double nearly_fast_rail(int from, int to, int rail, bool is_together)
{
    return (from == 2 || to == 2) && rail == 1 ? 0.9 : 1;
}

/* A slow node, and a rail of another node that has nine tenths of its rate. */
static double slow_node_and_nearly_fast_rail(int from, int to, int rail, bool is_together)
{
    return from == 5 || to == 5 ? 0.3 : nearly_fast_rail(from, to, rail, is_together);
}

static double dead_rail_and_slow_path(int from, int to, int rail, bool is_together)
{
    if (rail == 1 && (from == 6 || to == 6))
        return 0;
    return slow_path(from, to, rail, is_together);
}

/* Diagnoses, and checks that `fails` parts are at fault with certainty, the given part among
 * them. */
static void check_diagnosis(const char *what, enum part_type type, int index, int peer, int rail,
                            int ways, int fails)
{
    struct diagnosis diagnosis;
    int found = 0;
    bool is_there = false;

    ok(diagnose(&network, samples, count, &no_diagnosis, &diagnosis) == 0,
       "%s: the diagnosis succeeds", what);
    for (size_t i = 0; i < diagnosis.count; i++) {
        const struct suspicion *item = &diagnosis.items[i];

        if (item->probability < MODEL_SURE)
            continue;
        found++;
        is_there = is_there ||
                   (item->part.type == type && item->part.index == index &&
                    item->part.peer == peer && item->part.rail == rail && item->part.ways == ways);
    }
    is_int(found, fails, "... the number of parts at fault is right");
    ok(fails == 0 || is_there, "... the faulty part is among them");
    if (found != fails || (fails > 0 && !is_there))
        for (size_t i = 0; i < diagnosis.count; i++)
            tap_diag("type %d index %d peer %d rail %d ways %d: %.6f",
                     (int)diagnosis.items[i].part.type, diagnosis.items[i].part.index,
                     diagnosis.items[i].part.peer, diagnosis.items[i].part.rail,
                     diagnosis.items[i].part.ways, diagnosis.items[i].probability);
    diagnosis_clear(&diagnosis);
}

static void check_parts(void)
{
    static const struct {
        const char *what;
        rate_of *rate;
        int nodes;
        enum part_type type;
        int index, peer, rail, ways, fails;
    } cases[] = {
        {"healthy", healthy_rate, 8, DIAGNOSE_RAIL, 0, 0, 0, 0, 0},
        {"a rail sends slowly", slow_sender_rail, 8, DIAGNOSE_RAIL, 2, -1, 1, DIAGNOSE_SENDS, 1},
        {"a host", slow_host, 8, DIAGNOSE_HOST, 1, -1, -1, DIAGNOSE_BOTH, 1},
        {"a path", slow_path, 8, DIAGNOSE_PATH, 1, 5, 0, DIAGNOSE_BOTH, 1},
        {"a leaf switch", slow_leaf, 12, DIAGNOSE_LEAF, 1, -1, -1, DIAGNOSE_BOTH, 1},
        {"uplinks of a leaf", slow_uplink, 12, DIAGNOSE_UPLINK, 1, -1, -1, DIAGNOSE_BOTH, 1},
        {"a cable that rails share", slow_shared_cable, 12, DIAGNOSE_UPLINK, 1, -1, -1,
         DIAGNOSE_BOTH, 1},
        {"... that is slow one way", slow_cable_one_way, 12, DIAGNOSE_UPLINK, 1, -1, -1,
         DIAGNOSE_SENDS, 1},
        {"uplinks between two leaves", slow_between_leaves, 12, DIAGNOSE_UPLINK, 0, 2, 1,
         DIAGNOSE_BOTH, 1},
        {"one cable of several", slow_cable_of_several, 12, DIAGNOSE_UPLINK, 1, -1, -1,
         DIAGNOSE_BOTH, 1},
        {"a rail with nine tenths", nearly_fast_rail, 8, DIAGNOSE_RAIL, 0, 0, 0, 0, 0},
        {"... beside a slow node", slow_node_and_nearly_fast_rail, 8, DIAGNOSE_NODE, 5, -1, -1,
         DIAGNOSE_BOTH, 1},
        {"a rail at times", intermittent_rail, 8, DIAGNOSE_RAIL, 3, -1, 0, DIAGNOSE_BOTH, 1},
        {"a dead rail and a path", dead_rail_and_slow_path, 8, DIAGNOSE_RAIL, 6, -1, 1,
         DIAGNOSE_BOTH, 2},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        network_make(cases[i].nodes);
        add_all_pairs(cases[i].nodes, cases[i].rate, 0);
        check_diagnosis(cases[i].what, cases[i].type, cases[i].index, cases[i].peer, cases[i].rail,
                        cases[i].ways, cases[i].fails);
    }
}

/* Rails that share a cable divide it unevenly, and the shares change. With 32 nodes the low ends
 * of the shares were once diagnosed as intermittent leaves. */
static void check_uneven_shares(void)
{
    network_make(8);
    add_all_pairs(8, slow_shared_cable, 0);
    for (size_t i = 0; i < count; i++) {
        if (!samples[i].is_together || samples[i].rate > 0.9)
            continue;
        samples[i].rate *= samples[i].rail == 0 ? 0.85 : 1.15;
        samples[i].low = (0.5 + 0.3 * uniform()) * samples[i].rate;
        samples[i].high = 1.5 * samples[i].rate;
    }
    check_diagnosis("rails that share a cable unevenly", DIAGNOSE_UPLINK, 0, -1, -1, DIAGNOSE_BOTH,
                    1);
}

/* Slow samples of busy machines are no part's fault. */
static void check_busy_machines(void)
{
    network_make(8);
    add_all_pairs(8, healthy_rate, 0.6);
    check_diagnosis("busy machines", DIAGNOSE_RAIL, 0, 0, 0, 0, 0);
    network_make(8);
    add_all_pairs(8, slow_sender_rail, 0.6);
    check_diagnosis("a rail on busy machines", DIAGNOSE_RAIL, 2, -1, 1, DIAGNOSE_SENDS, 1);
}

/* Two nodes have only each other as partner, so the fault may be at an end or on the path. */
static void check_two_nodes(void)
{
    struct diagnosis diagnosis;
    struct node_pair pairs[9];

    network_make(2);
    add_all_pairs(2, slow_sender_rail, 0);
    for (size_t i = 0; i < count; i++)
        if (samples[i].from == 1 && samples[i].rail == 1)
            samples[i].rate = 0.3;
    ok(diagnose(&network, samples, count, &no_diagnosis, &diagnosis) == 0 && diagnosis.count >= 2,
       "two nodes: several explanations");
    for (size_t i = 0; i < diagnosis.count; i++)
        ok(diagnosis.items[i].probability < MODEL_SURE, "... none of them is certain");
    is_int(diagnose_next(&network, &diagnosis, NULL, pairs, 8, 8), 1,
           "... the only pair is requested");
    diagnosis_clear(&diagnosis);
}

/* Uplinks with the capacity of one rail. Each rail gets what the other one leaves. */
static double thin_uplinks(int from, int to, int rail, bool is_together)
{
    double share =
        leaves[from] != leaves[to] && is_together ? rail == (from + to) % 2 ? 0.3 : 0.7 : 1;

    return share;
}

static double thin_uplinks_and_host(int from, int to, int rail, bool is_together)
{
    return thin_uplinks(from, to, rail, is_together) * slow_host(from, to, rail, is_together);
}

static double slow_uplinks_of_second_leaf(int from, int to, int rail, bool is_together)
{
    return leaves[from] != leaves[to] && (leaves[from] == 1 || leaves[to] == 1) ? 0.16 : 1;
}

/* Uplinks of low capacity by design are no node's fault. */
static void check_thin_uplinks(void)
{
    size_t kept = 0;

    network_make(8);
    add_all_pairs(8, thin_uplinks, 0);
    check_diagnosis("uplinks that carry one rail", DIAGNOSE_HOST, 0, 0, 0, 0, 0);
    network_make(8);
    add_all_pairs(8, thin_uplinks_and_host, 0);
    check_diagnosis("... and a host", DIAGNOSE_HOST, 1, -1, -1, DIAGNOSE_BOTH, 1);
    network_make(8);
    for (int other = 0; other < 8; other++)
        if (other != 1)
            for (int times = 0; times < 3; times++)
                add_pair_run(other < 1 ? other : 1, other < 1 ? 1 : other, slow_host, 0);
    for (int times = 0; times < 3; times++)
        add_pair_run(2, 3, healthy_rate, 0);
    check_diagnosis("a host of whose leaf nobody else was measured", DIAGNOSE_HOST, 1, -1, -1,
                    DIAGNOSE_BOTH, 1);
    network_make(12);
    add_all_pairs(12, slow_uplinks_of_second_leaf, 0);
    for (size_t i = 0; i < count; i++) /* remove joint samples between the other leaves */
        if (!samples[i].is_together || leaves[samples[i].from] == leaves[samples[i].to] ||
            leaves[samples[i].from] == 1 || leaves[samples[i].to] == 1)
            samples[kept++] = samples[i];
    count = kept;
    check_diagnosis("slow uplinks are not how those at the other end were built", DIAGNOSE_UPLINK,
                    1, -1, -1, DIAGNOSE_BOTH, 1);
    network_make(2);
    leaves[1] = 1;
    network.leaf_count = 2;
    add_all_pairs(2, thin_uplinks, 0);
    check_diagnosis("two nodes of two leaves", DIAGNOSE_HOST, 0, 0, 0, 0, 0);
}

/* Returns whether the diagnosis asks for the pair next. before: the previous diagnosis, or NULL. */
static bool is_requested_next(const struct diagnosis *diagnosis, const struct diagnosis *before,
                              int a, int b)
{
    struct node_pair pairs[9];
    size_t requested_count = diagnose_next(&network, diagnosis, before, pairs, 8, 0);

    for (size_t i = 0; i < requested_count; i++)
        if (pairs[i].low == a && pairs[i].high == b)
            return true;
    return false;
}

/* A certain fault is confirmed within its leaf, since elsewhere an uplink cable may be slow. It
 * is confirmed once, whenever it becomes certain. */
static void check_certain_faults(void)
{
    struct suspicion doubtful = {
        .part = {.type = DIAGNOSE_RAIL, .index = 2, .peer = -1, .ways = DIAGNOSE_BOTH},
        .probability = 0.5,
        .rival_count = 1};
    struct suspicion sure = doubtful;
    struct diagnosis before = {.items = &doubtful, .count = 1};
    struct diagnosis now = {.items = &sure, .count = 1};

    network_make(NODES_MOST);
    doubtful.rivals[0].probability = 0.5;
    sure.probability = 1;
    sure.rival_count = 0;
    ok(is_requested_next(&now, NULL, 0, 2) && is_requested_next(&now, NULL, 1, 2),
       "a certain fault is measured within its leaf");
    ok(is_requested_next(&now, &before, 0, 2), "... also if it just became certain");
    ok(!is_requested_next(&now, &now, 0, 2), "... but only once");
}

/* A measurement of the rail with another partner distinguishes the rail from the path. */
static void check_next(void)
{
    struct diagnosis diagnosis;
    struct node_pair pairs[9];
    size_t requested_count;
    bool has_other = false;

    network_make(8);
    for (int a = 0; a < 8; a++)
        for (int b = a + 1; b < 8; b++)
            if ((a != 2 && b != 2) || b == 3)
                add_pair_run(a, b, slow_sender_rail, 0);
    ok(diagnose(&network, samples, count, &no_diagnosis, &diagnosis) == 0 && diagnosis.count > 0,
       "a node measured with one partner only is in doubt");
    requested_count = diagnose_next(&network, &diagnosis, NULL, pairs, 8, 8);
    for (size_t i = 0; i < requested_count; i++)
        has_other = has_other || ((pairs[i].low == 2 || pairs[i].high == 2) && pairs[i].high != 3);
    ok(has_other, "... and is measured with another partner");
    diagnosis_clear(&diagnosis);
}

/* After a diagnosis without a finding only parts of nodes that were measured since are examined.
 * Nodes 2 and 5 are slow in all samples. Node `measured` gets one more pair run. Returns whether
 * `node` is found. */
static bool is_found_after(const struct diagnosis *before, int node, int measured)
{
    struct diagnosis diagnosis;
    bool is_found = false;

    add_pair_run(measured - 1, measured, healthy_rate, 0);
    ok(diagnose(&network, samples, count, before, &diagnosis) == 0, "the diagnosis is repeated");
    for (size_t i = 0; i < diagnosis.count; i++)
        is_found |= diagnosis.items[i].part.index == node;
    diagnosis_clear(&diagnosis);
    return is_found;
}

static void check_parts_measured_since(void)
{
    struct diagnosis before;

    network_make(8);
    add_leaf_pairs(8, healthy_rate);
    ok(diagnose(&network, samples, count, &no_diagnosis, &before) == 0 && before.count == 0,
       "without a fault nothing is found");
    for (size_t i = 0; i < count; i++)
        samples[i].rate *= samples[i].from == 2 || samples[i].from == 5 ? 0.3 : 1;
    ok(is_found_after(&before, 2, 2), "... a slow node that was measured since is found");
    ok(!is_found_after(&before, 5, 3), "... one that was not is not found");
    ok(is_found_after(&before, 5, 6), "... until it is measured, too");
    diagnosis_clear(&before);
}

static void check_no_samples(void)
{
    network_make(4);
    check_diagnosis("no samples at all", DIAGNOSE_RAIL, 0, 0, 0, 0, 0);
}

/* Node 2 reports that all it sends is fast. Its partners report the true rates. */
static void check_inconsistent(void)
{
    struct inconsistent_node *inconsistent = NULL;

    network_make(8);
    add_all_pairs(8, slow_sender_rail, 0);
    for (size_t i = 0; i < count; i++) {
        samples[i].received = samples[i].rate;
        samples[i].rate = samples[i].from == 2 ? 1 : samples[i].rate;
    }
    ok(inconsistent_find(&network, samples, count, &inconsistent) == 1 && inconsistent[0].node == 2,
       "a node that its partners contradict is inconsistent");
    free(inconsistent);
    check_diagnosis("... and the partners are believed", DIAGNOSE_RAIL, 2, -1, 1, DIAGNOSE_SENDS,
                    1);

    network_make(8);
    add_pair_run(0, 1, healthy_rate, 0);
    samples[0].received = 0.5;
    samples[1].received = 1.2;
    ok(inconsistent_find(&network, samples, count, &inconsistent) == 0,
       "one contradicting partner does not make a node inconsistent, nor does a lower value of the "
       "sender");
    ok(samples[0].rate == 0.5 && samples[1].rate > 0.9 && samples[1].rate < 1,
       "... the lower value is used");
    free(inconsistent);
}

/* Among many nodes a path is measured once, and an intermittent fault rarely. Such a part is
 * measured again although it is not in doubt. */
static void check_next_unlikely(void)
{
    struct suspicion item = {
        .part = {.type = DIAGNOSE_PATH, .index = 2, .peer = 9, .ways = DIAGNOSE_BOTH, .depth = 10},
        .probability = 5e-4,
        .rivals = {{.probability = 1}},
        .rival_count = 1};
    struct diagnosis diagnosis = {.items = &item, .count = 1};
    struct node_pair pairs[9];

    network_make(12);
    ok(diagnose_next(&network, &diagnosis, NULL, pairs, 8, 8) > 0 && pairs[0].low == 2 &&
           pairs[0].high == 9,
       "a fault more likely than chance is requested at first");
    is_int((int)diagnose_next(&network, &diagnosis, &diagnosis, pairs, 8, 8), 0,
           "... and not again");
    item.probability = 0.5;
    is_int((int)diagnose_next(&network, &diagnosis, &diagnosis, pairs, 8, 8), 0,
           "a part whose last measurement changed nothing is not requested again");
    item.probability = 0.6;
    ok(diagnose_next(
           &network, &diagnosis,
           &(struct diagnosis){.items = &(struct suspicion){.part = item.part, .probability = 0.5},
                               .count = 1},
           pairs, 8, 8) > 0,
       "... one whose probability rose is");
}

/* A rate that changes during a sample can have any value between the slow and the full rate. */
static void check_changing_rates(void)
{
    for (int is_known = 0; is_known < 2; is_known++) {
        struct diagnosis diagnosis;
        const struct part *part;

        network_make(8);
        add_all_pairs(8, intermittent_rail, 0);
        for (size_t i = 0; i < count; i++)
            if (samples[i].rate < 0.5 && uniform() < 0.7) {
                samples[i].low = is_known ? 0.25 : 0;
                samples[i].high = 1;
                samples[i].rate = 0.3 + 0.6 * uniform();
            }
        ok(diagnose(&network, samples, count, &no_diagnosis, &diagnosis) == 0 &&
               diagnosis.count > 0,
           "a rate that changes during samples is diagnosed");
        part = &diagnosis.items[0].part;
        ok(part->type == DIAGNOSE_RAIL && part->index == 3 && part->rail == 0 && part->duty > 0 &&
               diagnosis.items[0].probability >= MODEL_SURE,
           "... a rail that comes and goes, %s", is_known ? "by its slow part" : "by its mean");
        ok(diagnosis.count < 2 || diagnosis.items[1].probability < MODEL_SURE,
           "... and no other part");
        ok(!is_known || fabs(exp(model_depth(part->depth)) - 0.25) < 0.03,
           "... with its slow rate");
        diagnosis_clear(&diagnosis);
    }
}

/* Pairs that share an uplink collide on its cables. One pair is also slow by itself. First all
 * pairs run at once, then the requested ones alone. */
static void check_screen(void)
{
    struct diagnosis diagnosis;
    bool is_asked = false;

    network_make(12);
    for (int pair = 0; pair < 12 * 12; pair++) {
        int a = pair / 12, b = pair % 12;

        if (a >= b)
            continue;
        add_pair_run(a, b, slow_path, 0);
        for (size_t i = count - 8; i < count; i++) {
            samples[i].shared = leaves[a] != leaves[b] ? 4 : 0;
            if (leaves[a] != leaves[b] && samples[i].rate > 0.9 && uniform() < 0.2)
                samples[i].rate *= 0.67;
        }
        /* the slow pair and two others */
        for (int times = 0; times < 4 && is_asked && (a == 1 || b == 5) && b < 7 && b > 4;
             times++) {
            add_pair_run(a, b, slow_path, 0);
            for (size_t i = count - 8; i < count; i++)
                samples[i].shared = 1;
        }
        if (pair == 12 * 12 - 13 && !is_asked) { /* the last pair */
            ok(diagnose(&network, samples, count, &no_diagnosis, &diagnosis) == 0 &&
                   diagnose_screen(&network, samples, count, &diagnosis) == 0,
               "shared uplinks: the diagnosis succeeds");
            ok(diagnosis.count == 0, "... collisions on uplinks are no part's fault");
            for (size_t i = 0; i < diagnosis.screened_count; i++)
                is_asked |= diagnosis.screened[i].low == 1 && diagnosis.screened[i].high == 5;
            ok(is_asked, "... the slow path is requested");
            ok(diagnosis.screened_count < 12, "... with few others");
            diagnosis_clear(&diagnosis);
            count = 0;
            pair = is_asked ? -1 : pair;
        }
    }
    ok(diagnose(&network, samples, count, &no_diagnosis, &diagnosis) == 0 && diagnosis.count == 1 &&
           diagnosis.items[0].part.type == DIAGNOSE_PATH &&
           diagnosis.items[0].probability >= MODEL_SURE,
       "... measured alone the path is at fault, and nothing else");
    diagnosis_clear(&diagnosis);
}

/* A sample on a shared uplink is low if it is well below most of its class. A node that is two
 * percent below all others is not requested. */
static void check_screen_ignores_small_differences(void)
{
    struct diagnosis diagnosis;

    for (int node = 5; node >= -1; node -= 6) {
        network_make(12);
        for (int a = 0; a < 12; a++)
            for (int b = a + 1; b < 12; b++)
                add_pair_run(a, b, healthy_rate, 0);
        for (size_t i = 0; i < count; i++) {
            samples[i].shared = 4;
            samples[i].rate *= samples[i].from == node || samples[i].to == node ? 0.98 : 1;
        }
        ok(diagnose(&network, samples, count, &no_diagnosis, &diagnosis) == 0 &&
               diagnose_screen(&network, samples, count, &diagnosis) == 0 &&
               diagnosis.screened_count == 0,
           "%s is asked for nothing",
           node < 0 ? "nobody slow" : "a node a little below all others");
        diagnosis_clear(&diagnosis);
    }
}

/* Where all uplinks are slow alike, no sample is low in its class. A pair of each leaf is requested
 * if the uplinks did not carry what one pair needs, and none was measured alone. */
static void check_screen_of_uplinks(void)
{
    static const struct {
        double carried; /* by four pairs together */
        bool is_alone;  /* the first pair is measured alone as well */
        bool is_asked;
        const char *title;
    } cases[] = {
        {.carried = 1, .title = "uplinks that carried what one pair needs: no request"},
        {.carried = 0.6, .is_asked = true, .title = "uplinks that carried less: a request"},
        {.carried = 0.6, .is_alone = true, .title = "a pair was measured alone: no request"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diagnosis diagnosis;
        bool is_asked[2] = {false};

        network_make(8);
        for (int a = 0; a < 8; a++)
            for (int b = a + 1; b < 8; b++) {
                size_t first = count;

                add_pair_run(a, b, healthy_rate, 0);
                for (size_t k = first; k < count && leaves[a] != leaves[b]; k++) {
                    samples[k].shared = 4;
                    samples[k].rate *= cases[i].carried / 4;
                }
            }
        if (cases[i].is_alone) {
            add_pair_run(0, 4, slow_uplink, 0);
            for (size_t k = count - 8; k < count; k++)
                samples[k].shared = 1;
        }
        ok(diagnose(&network, samples, count, &no_diagnosis, &diagnosis) == 0 &&
               diagnose_screen(&network, samples, count, &diagnosis) == 0,
           "the samples are screened");
        for (size_t k = 0; k < diagnosis.screened_count; k++) {
            is_asked[0] |= diagnosis.screened[k].low / LEAF != diagnosis.screened[k].high / LEAF;
            is_asked[1] |= diagnosis.screened[k].low / LEAF == diagnosis.screened[k].high / LEAF;
        }
        ok(is_asked[0] == cases[i].is_asked && !is_asked[1], "%s", cases[i].title);
        diagnosis_clear(&diagnosis);
    }
}

/* Uplinks have a quarter of the rate. `node` is on leaf_of_node. slow: the share of the rate
 * that node 5 reaches. */
static void add_oversubscribed_pairs(int node, int leaf_of_node, double slow)
{
    network_make(12);
    for (int pair = 0; pair < 3 * 12 * 12; pair++) {
        int a = pair / 12 % 12, b = pair % 12;
        int from = a == node ? leaf_of_node : leaves[a], to = b == node ? leaf_of_node : leaves[b];

        if (a >= b)
            continue;
        add_pair_run(a, b, healthy_rate, 0);
        for (size_t i = count - 8; i < count; i++) {
            samples[i].rate *= (from != to ? 0.25 : 1) * (a == 5 || b == 5 ? slow : 1);
            samples[i].shared = leaves[a] != leaves[b] ? 4 : 1;
        }
    }
}

static void check_misplaced(void)
{
    struct misplaced *misplaced = NULL;

    add_oversubscribed_pairs(5, 2, 1);
    ok(misplaced_find(&network, samples, count, &misplaced) == 1 && misplaced[0].node == 5 &&
           misplaced[0].leaf == 2 && misplaced[0].probability > MODEL_SURE,
       "a node on another leaf than configured is found, with its leaf");
    ok(misplaced[0].is_certain, "... with certainty");
    free(misplaced);
    add_oversubscribed_pairs(5, 2, 1);
    for (size_t i = 0; i < count; i++)
        samples[i].rate *= samples[i].shared == 1 && samples[i].rate < 0.5 ? 4 : 1;
    ok(misplaced_find(&network, samples, count, &misplaced) == 1 && misplaced[0].node == 5 &&
           !misplaced[0].is_certain,
       "... also if it is fast within the configured leaf, but without certainty");
    free(misplaced);
    add_oversubscribed_pairs(-1, 0, 1);
    for (size_t i = 0; i < count; i++)
        samples[i].rate *=
            (samples[i].from == 5 || samples[i].to == 5) && samples[i].rate < 0.5 ? 4 : 1;
    ok(misplaced_find(&network, samples, count, &misplaced) == 0,
       "a node that is fast with all others is not misplaced");
    free(misplaced);
    add_oversubscribed_pairs(-1, 0, 0.25);
    ok(misplaced_find(&network, samples, count, &misplaced) == 0, "a slow node is not misplaced");
    free(misplaced);
    network_make(8);
    add_all_pairs(8, healthy_rate, 0);
    ok(misplaced_find(&network, samples, count, &misplaced) == 0,
       "if uplinks are as fast as rails no node is known to be misplaced");
    free(misplaced);
}

static void check_depth_bins(void)
{
    for (int bin = 0; bin < MODEL_BINS; bin++)
        if (model_bin(model_bin_y(bin)) != bin)
            ok(false, "the middle of bin %d is in that bin", bin);
}

/* The prior of dips is a density over y. Its integral is 1, apart from the 1e-3 of each bin
 * without dips. */
static void check_dips(void)
{
    static const unsigned none[MODEL_BINS];
    struct model_noise noise;
    double all = 0, low = 0;

    model_fit_noise(none, 0, 0, &noise);
    for (int bin = 1; bin < MODEL_BINS - 1; bin++) {
        double width = (model_bin_y(bin + 1) - model_bin_y(bin - 1)) / 2;

        all += noise.dip_density[bin] * width;
        low += exp(model_bin_y(bin)) < MODEL_MOST / 2 ? noise.dip_density[bin] * width : 0;
    }
    is_near(all, 1, 0.02, "the density of dips integrates to 1");
    ok(low > 0.1 && low < 0.25, "... few dips are deep: %.3f", low);
}

/* The bound of each group of depths holds for all depths of the group, for any part beside any
 * other. */
static void check_depth_groups(rate_of *rate)
{
    struct observations observations;
    struct candidate *candidates;
    struct model_noise noise;
    unsigned none[MODEL_BINS] = {0};
    long found, beyond = 0, looser = 0, leaf_ways = 0;

    network_make(12);
    add_all_pairs(12, rate, 0.1);
    is_int(observations_make(&network, samples, count, &observations), 0, "there are samples");
    model_fit_noise(none, 0, 0, &noise);
    observations_weigh(&observations, &noise);
    found = part_candidates(&observations, NULL, 0, &candidates);
    ok(found > 50, "%ld parts could be at fault", found);
    for (long i = 0; i < found; i++)
        leaf_ways +=
            candidates[i].part.type == DIAGNOSE_LEAF && candidates[i].part.ways != DIAGNOSE_BOTH;
    is_int(leaf_ways, 0,
           "... a leaf switch is never slow in one direction: what enters also leaves it");
    for (long i = 1; i < found; i++)
        for (unsigned k = 0; k < observations.pair_count; k++) {
            struct part beside = candidates[i - 1].part;
            struct explained_pair explained = {.observations = &observations,
                                               .pair = &observations.pairs[k],
                                               .parts = {&beside},
                                               .part_count = (int)(k % 2)};
            double gains[MODEL_CELLS], bounds[MODEL_CELLS];

            beside.depth = (int)(i % MODEL_DEPTHS);
            beside.duty = (int)(i / 2 % MODEL_DUTIES);
            pair_gains(&explained, 0.2, &candidates[i].part, MODEL_DEPTHS, gains);
            pair_gains(&explained, 0.2, &candidates[i].part, MODEL_GROUPS, bounds);
            for (int cell = 0; cell < MODEL_CELLS; cell++) {
                beyond += gains[cell] > bounds[cell / MODEL_DEPTHS_OF_GROUP] * (1 + 1e-5);
                looser += gains[cell] < bounds[cell / MODEL_DEPTHS_OF_GROUP] * 0.5;
            }
        }
    is_int(beyond, 0, "no depth gains more than the bound of its group");
    ok(looser > 0, "most depths gain less than the bound");
    free(candidates);
    observations_clear(&observations);
}

int main(void)
{
    check_depth_bins();
    check_dips();
    check_depth_groups(slow_cable_one_way);
    check_depth_groups(intermittent_rail);
    check_no_samples();
    check_parts_measured_since();
    check_parts();
    check_uneven_shares();
    check_busy_machines();
    check_two_nodes();
    check_thin_uplinks();
    check_next();
    check_certain_faults();
    check_next_unlikely();
    check_changing_rates();
    check_screen();
    check_screen_ignores_small_differences();
    check_screen_of_uplinks();
    check_inconsistent();
    check_misplaced();
    return tap_done();
}
