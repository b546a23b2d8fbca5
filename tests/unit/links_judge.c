/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/links.h"
#include "tests/unit/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A fabric of n nodes with two rails at 200 Mb/s, two leaves, and what the test does to it. */
enum { NODES = 12, RAILS = 2 };
static char names[NODES][8];
static const char *node_names[NODES], *const rail_names[] = {"eth1", "eth2"};
static const char *const block_names[] = {"leaf1", "leaf2", "leaf3", "leaf4"};
static int blocks[NODES];
static double nominal[NODES * RAILS];
static struct link_sample samples[NODES * NODES * RAILS + 64];
static struct links links;
static const struct links_limits limits = {80, 85, 5};
static struct finding *findings;
static int found;

static void healthy(size_t nodes, int leaves)
{
    links = (struct links){.node_count = nodes,
                           .rail_count = RAILS,
                           .nodes = node_names,
                           .rails = rail_names,
                           .blocks = leaves ? blocks : NULL,
                           .block_names = block_names,
                           .nominal_mbps = nominal,
                           .samples = samples};
    for (size_t i = 0; i < nodes; i++) {
        snprintf(names[i], sizeof names[i], "n%zu", i + 1);
        node_names[i] = names[i];
        blocks[i] = leaves ? (int)(i * (size_t)leaves / nodes) : 0;
    }
    for (size_t i = 0; i < nodes * RAILS; i++)
        nominal[i] = 200;
    for (int rail = 0; rail < RAILS; rail++)
        for (int from = 0; from < (int)nodes; from++)
            for (int to = 0; to < (int)nodes; to++)
                if (from != to) {
                    /* a deterministic ripple of +-1 % */
                    double ripple = 1 + 0.01 * ((from * 7 + to * 3 + rail) % 3 - 1);

                    samples[links.sample_count++] =
                        (struct link_sample){from, to, rail, 196 * ripple, 40 * ripple};
                }
}

/* Multiplies the bandwidth of the samples that match; -1 matches any. */
static void slow(int from, int to, int rail, double factor)
{
    for (size_t i = 0; i < links.sample_count; i++)
        if ((from < 0 || samples[i].from == from) && (to < 0 || samples[i].to == to) &&
            (rail < 0 || samples[i].rail == rail))
            samples[i].mbps *= factor;
}

static void slow_node(int node, int rail, double factor)
{
    slow(node, -1, rail, factor);
    slow(-1, node, rail, factor);
}

static void slow_leaves(int a, int b, double factor)
{
    for (size_t i = 0; i < links.sample_count; i++) {
        int from = blocks[samples[i].from], to = blocks[samples[i].to];

        if ((from == a && (b < 0 ? to != a : to == b)) ||
            (to == a && (b < 0 ? from != a : from == b)))
            samples[i].mbps *= factor;
    }
}

static void judge(int expected, const char *what)
{
    free(findings);
    found = links_judge(&links, &limits, &findings);
    if (!is_int(found, expected, "%s: %d finding(s)", what, expected))
        for (int i = 0; i < found; i++)
            tap_diag("%s: %s", findings[i].node < 0 ? "-" : node_names[findings[i].node],
                     findings[i].message);
}

static void is_rail(int index, int node, int rail, const char *direction)
{
    if (index >= found) {
        ok(0, "there is a finding %d", index);
        return;
    }
    is_int(findings[index].kind, FINDING_RAIL, "... a node's rail");
    is_int(findings[index].node, node, "... of n%d", node + 1);
    is_int(findings[index].rail, rail, "... %s", rail_names[rail]);
    is_str(findings[index].direction, direction, "... that %s", direction);
    is_int(findings[index].verdict, VERDICT_FAIL, "... fails");
}

/* A finding of that kind on that node; NULL: none. */
static const struct finding *finding_of(enum finding_kind kind, int node)
{
    for (int i = 0; i < found; i++)
        if (findings[i].kind == kind && findings[i].node == node)
            return &findings[i];
    return NULL;
}

static void test_node(void)
{
    healthy(8, 2);
    slow_node(5, -1, 0.5);
    judge(1, "all rails of a node");
    is_int(findings[0].kind, FINDING_NODE, "... is the node");
    is_int(findings[0].node, 5, "... n6");
    is_str(findings[0].part, "all rails", "... by all of its rails");
    ok(findings[0].confidence > 0.999999, "... and that is sure");
}

static void test_leaf(void)
{
    healthy(8, 4);
    for (size_t i = 0; i < links.sample_count; i++)
        if (blocks[samples[i].from] == 1 || blocks[samples[i].to] == 1)
            samples[i].mbps *= 0.5;
    judge(1, "a leaf at half speed");
    is_int(findings[0].kind, FINDING_LEAF, "... is the leaf");
    is_str(findings[0].part, "leaf leaf2", "... by its name");
    is_int(findings[0].verdict, VERDICT_FAIL, "... and none of its nodes");
    for (size_t i = 0; i < links.sample_count; i++)
        if (samples[i].from == 6 && samples[i].rail == 1)
            samples[i].mbps *= 0.4;
    judge(2, "a leaf at half speed and a rail elsewhere that is slow to send");
    is_rail(0, 6, 1, "sends");
    is_int(findings[1].kind, FINDING_LEAF, "... and the leaf");
    healthy(4, 2);
    for (size_t i = 0; i < links.sample_count; i++)
        if (blocks[samples[i].from] == 0 || blocks[samples[i].to] == 0)
            samples[i].mbps *= 0.5;
    judge(1, "one leaf of two, of two nodes each, at half speed");
    is_int(findings[0].kind, FINDING_LEAF, "... is the leaf");
    is_int(findings[0].block, 0, "... leaf1");
}

/* Only two nodes of a leaf were measured, with each other. */
static void test_two_on_a_leaf(void)
{
    size_t kept = 0;

    healthy(4, 2);
    for (size_t i = 0; i < links.sample_count; i++) {
        if (blocks[samples[i].from] != 1 || blocks[samples[i].to] != 1)
            continue;
        samples[kept] = samples[i];
        if (samples[kept].rail == 0)
            samples[kept].mbps *= 0.25;
        kept++;
    }
    links.sample_count = kept;
    judge(6, "two nodes on a leaf, slow with each other, and two nodes not measured");
    for (int i = 0; i < 2; i++)
        is_int(findings[i].kind, FINDING_AMBIGUOUS, "... n%d may be the one, and not the leaf",
               findings[i].node + 1);
}

static void test_uplink_directions(void)
{
    healthy(8, 4);
    for (size_t i = 0; i < links.sample_count; i++)
        if (blocks[samples[i].from] == 2 && blocks[samples[i].to] != 2 && samples[i].rail == 0)
            samples[i].mbps *= 0.3;
    judge(1, "an uplink of one rail that is slow one way");
    is_str(findings[0].part, "uplink leaf3 eth1", "... is that leaf's, on that rail");
    is_str(findings[0].direction, "forth", "... one way");
}

static void test_oversubscribed(void)
{
    healthy(8, 4);
    for (size_t i = 0; i < links.sample_count; i++)
        if (blocks[samples[i].from] != blocks[samples[i].to]) {
            samples[i].mbps *= 0.5;
            samples[i].load = 2;
        }
    judge(0, "uplinks that all pairs share alike");
    for (size_t i = 0; i < links.sample_count; i++)
        if ((blocks[samples[i].from] == 1) != (blocks[samples[i].to] == 1))
            samples[i].mbps *= 0.5;
    judge(1, "one that has half of that");
    is_str(findings[0].part, "uplink leaf2", "... is named");
    has_str(findings[0].message, "when pairs share it", "... with what shows it");
}

static void test_intermittent(void)
{
    healthy(8, 2);
    for (size_t i = 0, turn = 0; i < links.sample_count; i++)
        if (samples[i].rail == 0 && (samples[i].from == 2 || samples[i].to == 2) && turn++ % 3 == 0)
            samples[i].mbps *= 0.4;
    judge(1, "a rail of which each third sample is low");
    is_int(findings[0].kind, FINDING_RAIL, "... is that rail");
    is_int(findings[0].node, 2, "... of n3");
    is_int(findings[0].is_intermittent, 1, "... at times");
    is_near(findings[0].share, 0.36, 0.1, "... how often");
    has_str(findings[0].message, "at times, in 3", "... told so");
    healthy(8, 2);
    for (size_t i = 0; i < links.sample_count; i++) {
        bool is_bad = samples[i].rail == 1 && (samples[i].from == 2 || samples[i].to == 2);

        samples[i].low_mbps = samples[i].mbps * (is_bad ? 0.4 : 0.97);
    }
    judge(1, "a rail of which single repeats are low");
    is_int(findings[0].node == 2 && findings[0].rail == 1 && findings[0].is_intermittent, 1,
           "... is slow at times");
}

/* Asked four times alone each of its ways was well at some time; with whom it was asked or not. */
static void test_cleared_by_all(void)
{
    static struct link_sample alone[16], together[sizeof samples / sizeof *samples];
    int peers[] = {0, 11};

    healthy(12, 2);
    memcpy(together, samples, sizeof samples);
    for (size_t i = 0, turn = 0; i < links.sample_count; i++) {
        struct link_sample *sample = &samples[i];

        if (sample->rail != 0 || (sample->from != 2 && sample->to != 2))
            continue;
        for (int k = 0; k < 2; k++)
            if (sample->from == peers[k] || sample->to == peers[k]) {
                sample->first_mbps = 80;
                sample->again = 4;
            }
        if (sample->again == 0 && turn++ % 3 == 0)
            sample->mbps *= 0.4;
    }
    for (int i = 0; i < 16; i++)
        alone[i] = (struct link_sample){.from = i % 2 ? 2 : peers[i / 8],
                                        .to = i % 2 ? peers[i / 8] : 2,
                                        .mbps = i % 8 < 4 ? 110 : 196,
                                        .again = 1};
    links.moments = alone;
    links.moment_count = 16;
    judge(1, "a rail that was low half of the times that it was asked alone, never its best");
    is_int(findings[0].kind, FINDING_RAIL, "... is that rail");
    is_int(findings[0].node == 2 && findings[0].rail == 0, 1, "... eth1 of n3");
    is_int(findings[0].verdict, VERDICT_FAIL, "... which fails");
    for (size_t i = 0; i < links.sample_count; i++)
        if (together[i].rail == 0 && (together[i].from == 2 || together[i].to == 2))
            together[i].mbps *= 0.5;
    links.together = together;
    links.together_count = links.sample_count;
    judge(1, "one that was slow together with the others as well is no slow host");
    is_int(findings[0].kind, FINDING_RAIL, "... but that rail");
    links.together = NULL;
    links.together_count = 0;
    for (int i = 0; i < 16; i++)
        alone[i].mbps = i == 3 ? 110 : 196;
    judge(0, "one that was low a single time alone was in others' way before");
}

/* All pairs were measured several times. */
static void test_several_times(void)
{
    struct link_sample moment = {.from = 1, .to = 2, .mbps = 60, .first_stalled = 0.01F};

    healthy(4, 2);
    links.moments = &moment;
    links.moment_count = 1;
    judge(1, "a path that was low one time of two while its ends were let run");
    is_int(findings[0].kind, FINDING_PAIR, "... is that path");
    is_int(findings[0].verdict, VERDICT_UNKNOWN, "... of which nothing is known yet");
    is_int(findings[0].is_question, 1, "... and which is to be asked");
    moment.first_stalled = 0.2F;
    judge(1, "one that is low even without twice the time in which its ends were not let run");
    is_int(findings[0].is_question, 1, "... is to be asked as well");
    moment.first_stalled = 0.4F;
    judge(0, "one whose ends were not let run then");
    moment.first_stalled = 0.01F;
    moment.mbps = 180;
    judge(0, "one that was somewhat low, as others are");
    healthy(12, 2);
    moment.mbps = 60;
    links.moments = &moment;
    links.moment_count = 1;
    judge(0, "one of many nodes, of which enough is known");
}

/* What muster-links measured of eth1 of four nodes, row to column, while n4's ran at a quarter for
 * a second of every three: three of its six transfers met that. */
static void test_recorded_at_times(void)
{
    static const double recorded_mbps[4][4] = {{NAN, 183.8, 190.6, 197.5},
                                               {188.6, NAN, 198.2, 115.4},
                                               {184.1, 197.6, NAN, 187.0},
                                               {103.7, 176.6, 102.6, NAN}};

    healthy(4, 2);
    for (size_t i = 0; i < links.sample_count; i++)
        if (samples[i].rail == 0)
            samples[i].mbps = recorded_mbps[samples[i].from][samples[i].to];
    judge(1, "a rail that was well at half of its transfers, as recorded");
    is_int(findings[0].kind, FINDING_RAIL, "... is that rail");
    is_int(findings[0].node == 3 && findings[0].rail == 0, 1, "... eth1 of n4");
    is_int(findings[0].is_intermittent, 1, "... at times");
    is_int(findings[0].verdict, VERDICT_UNKNOWN, "... of which so few transfers make nobody sure");
}

static void test_together(void)
{
    static struct link_sample together[sizeof samples / sizeof *samples];

    healthy(4, 2);
    memcpy(together, samples, sizeof samples);
    links.together = together;
    links.together_count = links.sample_count;
    judge(0, "rails together as alone");
    for (size_t i = 0; i < links.sample_count; i++)
        if (together[i].from == 1 || together[i].to == 1)
            together[i].mbps *= 0.55;
    judge(1, "a host that is slow when both rails run");
    is_int(findings[0].kind, FINDING_HOST, "... is the host");
    is_int(findings[0].node, 1, "... n2");
    is_str(findings[0].metric, "bandwidth_together", "... by both rails");
    has_str(findings[0].message, "PCIe", "... which says where to look");
    memcpy(together, samples, sizeof samples);
    for (size_t i = 0; i < links.sample_count; i++)
        if ((together[i].from == 1 || together[i].to == 1) && together[i].rail == 1)
            together[i].mbps *= 0.4;
    judge(1, "one rail that is slow when both run");
    is_int(findings[0].rail, 1, "... is that rail of the host");
    is_str(findings[0].part, "host eth2", "... by its name");
    healthy(8, 2);
    links.together = together;
    for (size_t i = 0; i < links.sample_count; i++)
        if (blocks[samples[i].from] != blocks[samples[i].to])
            together[links.together_count++] = samples[i];
    for (size_t i = 0; i < links.together_count; i++)
        if (together[i].to == 1) {
            together[i].mbps *= 0.67;
            together[i].load = 2;
        }
    judge(0, "a host whose pairs met others on the uplinks of the only two leaves");
    for (size_t i = 0; i < links.together_count; i++)
        together[i].load = 1;
    judge(1, "... but not when they had them to themselves");
    links.together = NULL;
    links.together_count = 0;
}

/* As a lab of four nodes measured it, n3 having 250 Mb/s for both rails: they share them unevenly,
 * and each time in another way. */
static void test_uneven_host(void)
{
    static const struct {
        int from, to, rail, mbps, again_mbps;
    } recorded[] = {
        {0, 1, 0, 192, 0},   {0, 1, 1, 196, 0},   {1, 0, 0, 197, 0},   {1, 0, 1, 194, 0},
        {1, 3, 0, 178, 0},   {1, 3, 1, 185, 0},   {3, 1, 0, 172, 0},   {3, 1, 1, 177, 0},
        {0, 2, 0, 136, 137}, {0, 2, 1, 105, 109}, {2, 0, 0, 131, 99},  {2, 0, 1, 116, 146},
        {2, 3, 0, 133, 134}, {2, 3, 1, 115, 113}, {3, 2, 0, 107, 112}, {3, 2, 1, 140, 131}};
    enum { RECORDED = sizeof recorded / sizeof *recorded };
    struct link_sample together[RECORDED];

    healthy(4, 2);
    for (size_t i = 0; i < RECORDED; i++) {
        bool is_again = recorded[i].again_mbps > 0;

        together[i] = samples[0];
        together[i].from = recorded[i].from;
        together[i].to = recorded[i].to;
        together[i].rail = recorded[i].rail;
        together[i].mbps = is_again ? recorded[i].again_mbps : recorded[i].mbps;
        together[i].first_mbps = is_again ? (float)recorded[i].mbps : 0;
        together[i].again = is_again;
    }
    links.together = together;
    links.together_count = RECORDED;
    judge(1, "a host whose rails share what it has unevenly");
    is_int(findings[0].kind, FINDING_HOST, "... is the host");
    is_int(findings[0].verdict, VERDICT_FAIL, "... surely");
    is_int(findings[0].node, 2, "... n3");
    is_str(findings[0].part, "host", "... and no rail of it");
    links.together = NULL;
    links.together_count = 0;
}

static void test_liar(void)
{
    healthy(4, 2);
    for (size_t i = 0; i < links.sample_count; i++)
        samples[i].received_mbps = samples[i].mbps * 1.01;
    judge(0, "two ends that say the same");
    for (size_t i = 0; i < links.sample_count; i++)
        if (samples[i].from == 3 && samples[i].rail == 0)
            samples[i].mbps *= 0.6;
    judge(1, "a sender that was kept waiting, as its receivers were not");
    is_rail(0, 3, 0, "sends");
    healthy(4, 2);
    slow_node(3, 0, 0.25);
    for (size_t i = 0; i < links.sample_count; i++) {
        samples[i].received_mbps = samples[i].mbps;
        if (samples[i].from == 3 && samples[i].rail == 0)
            samples[i].mbps = 196;
    }
    judge(2, "a node that hides that it is slow");
    is_rail(0, 3, 0, "both ways");
    is_int(findings[1].kind, FINDING_LIAR, "... and lies");
    is_int(findings[1].node, 3, "... n4");
}

static void test_history(void)
{
    struct history_figure history[NODES * RAILS] = {{0}};

    healthy(4, 2);
    for (int i = 0; i < 4 * RAILS; i++)
        history[i] = (struct history_figure){196, 1, 10};
    links.history = history;
    judge(0, "as good as ever");
    slow_node(2, 1, 0.87);
    judge(1, "an eighth less than it used to have");
    is_int(findings[0].verdict, VERDICT_WARN, "... is a warning");
    is_str(findings[0].limit_source, "history", "... by its history");
    is_near(findings[0].limit, 196 * (1 - HISTORY_MARGIN_PERCENT / 100.0), 0.1,
            "... by its margin");
    history[2 * RAILS + 1].mad = 20;
    judge(0, "... which is none where it always varied as much");
    history[2 * RAILS + 1] = (struct history_figure){196, 1, 4};
    judge(0, "... nor after four runs only");
    links.history = NULL;
}

static void test_reference(void)
{
    struct reference_figure references[NODES * RAILS] = {{0}};

    healthy(4, 2);
    links.references = references;
    judge(0, "a table that says nothing of this hardware");
    references[1 * RAILS + 0] = (struct reference_figure){900, "reference.conf:3, a.test"};
    judge(1, "a rail of which others take more for the least");
    is_int(findings[0].verdict, VERDICT_WARN, "... is a warning");
    is_int(findings[0].node, 1, "... about that node");
    is_str(findings[0].limit_source, "reference", "... by the table");
    is_near(findings[0].limit, 900, 0, "... with what it says");
    has_str(findings[0].message, "(reference.conf:3, a.test)", "... and where");
    slow_node(1, 0, 0.25);
    judge(1, "one that is at fault needs no hint");
    is_int(findings[0].verdict, VERDICT_FAIL, "... is at fault");
    links.references = NULL;
}

/* A slow rail behind a slow uplink: of leaf2 only n4's eth2 is at fault, n3's cannot be told. */
static void test_rail_behind_uplink(void)
{
    healthy(4, 2);
    slow_leaves(0, 1, 0.5);
    for (size_t i = 0; i < links.sample_count; i++) {
        samples[i].load = blocks[samples[i].from] != blocks[samples[i].to];
        if (samples[i].rail == 1 && (samples[i].from == 3 || samples[i].to == 3))
            samples[i].mbps = 49;
    }
    judge(3, "a slow rail behind a slow uplink that nobody shared");
    is_rail(0, 3, 1, "both ways");
    is_int(findings[0].verdict, VERDICT_FAIL, "... is at fault");
    is_str(findings[1].part, "uplink leaf1-leaf2", "... as the uplink is");
    is_int(findings[2].verdict, VERDICT_UNKNOWN, "... of the node beside it nobody can say");
    is_int(findings[2].node, 2, "... n3");
}

static void test_blocks_found(void)
{
    healthy(8, 2);
    slow_leaves(0, 1, 0.25);
    links.blocks = NULL;
    links.block_names = NULL;
    judge(1, "two halves that reach each other slowly, topology not known");
    is_int(findings[0].kind, FINDING_UPLINK, "... is what is between");
    is_str(findings[0].part, "uplink n[1-4]-n[5-8]", "... by the nodes");
    has_str(findings[0].message, "found from the measurements", "... and says that it found them");
}

/* Where the caller does not know who is on a slow leaf, its nodes are not certified one by one. */
static void test_slow_leaf_found(void)
{
    int doubted = 0;

    healthy(12, 3);
    for (size_t i = 0; i < links.sample_count; i++) {
        int from = blocks[samples[i].from], to = blocks[samples[i].to];

        if (from != to)
            samples[i].mbps *= 0.7;
        if (samples[i].rail == 1 && (from == 0 || to == 0))
            samples[i].mbps *= 0.3;
    }
    links.blocks = NULL;
    links.block_names = NULL;
    free(findings);
    found = links_judge(&links, &limits, &findings);
    ok(finding_of(FINDING_LEAF, -1) != NULL, "a slow leaf that was found from the measurements");
    for (int node = 0; node < 4; node++)
        doubted += finding_of(FINDING_AMBIGUOUS, node) != NULL;
    is_int(doubted, 4, "... leaves each of its nodes in doubt");
}

/* Names of nodes as clouds make them differ at their end. */
static void test_long_names(void)
{
    static const char *const ends[] = {
        "cluster-of-our-site-gpu-h100-pool-europe-west-0001",
        "cluster-of-our-site-gpu-h100-pool-europe-west-0002",
    };

    healthy(12, 0);
    links.rail_count = 1;
    links.sample_count /= RAILS;
    node_names[0] = ends[0];
    node_names[1] = ends[1];
    slow(0, 1, 0, 0.2);
    slow(1, 0, 0, 0.2);
    for (size_t i = 0; i < links.sample_count; i++)
        if (samples[i].from + samples[i].to == 1)
            samples[i].again = 3;
    judge(1, "a slow path between nodes of long names");
    is_str(found > 0 ? findings[0].part : "",
           "path cluster-of-our-site-gpu-h100-pool-europe-west-0001-"
           "cluster-of-our-site-gpu-h100-pool-europe-west-0002 eth1",
           "... names both");
    has_str(found > 0 ? findings[0].message : "", "with other partners both ends do well",
            "... and says all of it");
}

static void test_misplaced(void)
{
    const struct finding *finding;

    healthy(8, 2);
    blocks[3] = 1; /* n4 is cabled to leaf2 */
    slow_leaves(0, 1, 0.5);
    blocks[3] = 0;
    judge(2, "a node on the other leaf, below slow uplinks");
    finding = finding_of(FINDING_MISPLACED, 3);
    ok(finding != NULL, "... is misplaced");
    if (finding) {
        is_int(finding->verdict, VERDICT_FAIL, "... surely");
        has_str(finding->message, "topology.conf has it on leaf1", "... says where it is stated");
        has_str(finding->message, "it is on leaf2", "... and where it is");
    }
    finding = finding_of(FINDING_UPLINK, -1);
    ok(finding != NULL, "... and the uplink is slow");
    ok(links_show_blocks(&links, &limits), "... slow uplinks show who is where");
    healthy(8, 2);
    blocks[3] = 1;
    judge(0, "uplinks as fast as leaves: where it is cannot be told");
    ok(!links_show_blocks(&links, &limits), "... and that is known");
}

/* n1's rail was slow while it met n3 and n4, and each time that they met again. */
static void slow_each_time(void)
{
    slow(0, 2, 0, 0.7);
    slow(3, 0, 0, 0.65);
    for (size_t i = 0; i < links.sample_count; i++)
        if (samples[i].mbps < 150) {
            samples[i].again = 3;
            samples[i].first_mbps = samples[i].mbps;
        }
}

/* A missing measurement is no pass, of one direction neither. */
static void test_one_way(void)
{
    size_t left = 0;

    for (int receives = 0; receives < 2; receives++) {
        healthy(8, 2);
        for (size_t i = 0; i < links.sample_count; i++)
            if ((receives ? samples[i].to : samples[i].from) == 3 && samples[i].rail == 1)
                samples[i].mbps = NAN;
        judge(1, receives ? "nothing that a rail receives was measured"
                          : "nothing that a rail sends was measured");
        is_int(found > 0 ? (int)findings[0].kind : -1, FINDING_MISSING,
               "... is a missing measurement");
        is_int(found > 0 ? (int)findings[0].verdict : -1, VERDICT_UNKNOWN, "... and no pass");
        has_str(found > 0 ? findings[0].message : "",
                receives ? "nothing that it receives" : "nothing that it sends",
                "... which is said");
    }
    healthy(8, 2);
    for (size_t i = 0; i < links.sample_count; i++)
        if ((samples[i].from != 3 && samples[i].to != 3) || samples[i].rail == 0)
            samples[left++] = samples[i];
    links.sample_count = left;
    judge(1, "nothing of a rail was measured");
    is_str(found > 0 ? findings[0].message : "", "eth2 was not measured", "... is said as well");
}

/* Two nodes, each alone on its leaf, that are slow with each other: nothing tells the path from the
 * one node or the other. */
static void test_alone_on_leaves(void)
{
    static const char *const four[] = {"eth1", "eth2", "eth3", "eth4"};
    static double speeds[8];

    healthy(2, 2);
    links.rails = four;
    links.rail_count = 4;
    links.nominal_mbps = speeds;
    links.sample_count = 0;
    for (int end = 0; end < 8; end++) {
        speeds[end] = 200;
        samples[links.sample_count++] =
            (struct link_sample){end % 2, 1 - end % 2, end / 2, 98, 40, .again = 2};
    }
    judge(8, "two nodes on two leaves at half speed");
    for (int i = 0; i < found; i++)
        ok(findings[i].kind == FINDING_AMBIGUOUS && findings[i].verdict == VERDICT_UNKNOWN,
           "... may be any of them");
    healthy(3, 3);
    slow(0, 1, -1, 0.5);
    slow(1, 0, -1, 0.5);
    judge(1, "two of three nodes that are slow with each other only");
    is_int(findings[0].kind, FINDING_UPLINK, "... are on a slow path");
}

static void test_confidence(void)
{
    healthy(4, 2);
    slow(0, 2, 0, 0.3);
    judge(1, "a pair that was measured once");
    is_int(findings[0].verdict, VERDICT_UNKNOWN, "... is a suspect");
    for (size_t i = 0; i < links.sample_count; i++)
        if (samples[i].from == 0 && samples[i].to == 2 && samples[i].rail == 0) {
            samples[i].again = 2;
            samples[i].first_mbps = samples[i].mbps;
        }
    judge(1, "... and when it was low twice more");
    is_int(findings[0].verdict, VERDICT_FAIL, "... at fault");
    healthy(4, 2);
    slow_each_time();
    judge(1, "two of a rail's three paths that were low four times");
    is_rail(0, 0, 0, "both ways");
    is_int(findings[0].verdict, VERDICT_FAIL, "... are that rail's fault");
    ok(findings[0].is_intermittent, "... which comes and goes");
    has_str(findings[0].message, "with 2 of its 3 partners", "... with some partners");
    healthy(8, 2);
    slow_each_time();
    judge(2, "two of seven paths of a rail");
    is_int(findings[0].kind, FINDING_PAIR, "... are paths");
    healthy(8, 2);
    for (size_t i = 0; i < links.sample_count; i++)
        if (samples[i].rail == 0 && (samples[i].from == 2 || samples[i].to == 2)) {
            bool is_again = samples[i].from == 3 || samples[i].to == 3;

            samples[i].again = is_again;
            samples[i].first_mbps = is_again ? samples[i].mbps * 0.3 : 0;
            samples[i].first_stalled = 0.4F;
            samples[i].mbps *= is_again ? 1 : 0.3;
        }
    judge(0, "a rail that was slow and is well alone on the network");
}

int main(void)
{
    struct link_pair pairs[8];
    size_t count;

    healthy(4, 2);
    judge(0, "healthy");
    is_near(links_figure(&links, 0, 0), 196, 3, "the figure of a healthy rail");

    healthy(4, 2);
    slow_node(2, 0, 0.25);
    judge(1, "slow rail");
    is_rail(0, 2, 0, "both ways");
    is_near(findings[0].value, 49, 1, "... with its figure");
    has_str(findings[0].message, "of 200 Mb/s (nominal), its peers 19",
            "... and what it should be");
    count = links_suspect_pairs(&links, findings, (size_t)found, pairs, 8);
    is_int(count, 3, "... is confirmed with two partners, and a control pair");
    ok(pairs[0].from == 2 && pairs[1].from == 2 && pairs[0].to != pairs[1].to,
       "... that are not the same");
    ok(pairs[2].from != 2 && pairs[2].to != 2, "... the control is of others");

    healthy(4, 2);
    slow(2, -1, 1, 0.5);
    judge(1, "slow in one direction");
    is_rail(0, 2, 1, "sends");

    healthy(4, 2);
    slow(-1, 2, 1, 0.5);
    judge(1, "slow in the other direction");
    is_rail(0, 2, 1, "receives");

    healthy(4, 2);
    slow_leaves(0, 1, 0.25);
    judge(1, "slow uplink");
    is_int(findings[0].kind, FINDING_UPLINK, "... is the uplink");
    is_str(findings[0].part, "uplink leaf1-leaf2", "... by its name");
    is_int(findings[0].node, -1, "... and no node");
    count = links_suspect_pairs(&links, findings, (size_t)found, pairs, 8);
    is_int(count, 2, "... is confirmed by two pairs across");

    healthy(4, 2);
    slow_leaves(0, 1, 0.4);
    slow_node(3, 1, 0.25);
    judge(3, "slow uplink and slow rail");
    is_rail(0, 3, 1, "both ways");
    is_int(findings[1].kind, FINDING_UPLINK, "... and the uplink");
    is_int(findings[2].node, 2, "... and n3, whose only partner on this side is n4,");
    is_int(findings[2].verdict, VERDICT_UNKNOWN, "... cannot be vouched for");

    healthy(4, 2);
    slow(0, 2, 0, 0.3);
    slow(2, 0, 0, 0.3);
    judge(1, "slow pair");
    is_int(findings[0].kind, FINDING_PAIR, "... is a path");
    is_str(findings[0].part, "path n1-n3 eth1", "... between the two");
    count = links_suspect_pairs(&links, findings, (size_t)found, pairs, 8);
    is_int(count, 1, "... which is measured once more");
    findings[0].again = 1;
    count = links_suspect_pairs(&links, findings, (size_t)found, pairs, 8);
    is_int(count, 3, "... and when it was low alone, its ends with others as well");
    ok(pairs[0].from == 0 && pairs[0].to == 2 && pairs[1].from == 0 && pairs[1].to == 1 &&
           pairs[2].from == 2 && pairs[2].to == 3,
       "... each end with one");

    healthy(4, 2);
    slow_node(1, 0, 0.0);
    judge(1, "no connection");
    is_rail(0, 1, 0, "both ways");
    has_str(findings[0].message, "no connection with any partner", "... is said so");

    healthy(4, 0);
    slow_node(0, 0, 0.25);
    slow_node(1, 1, 0.25);
    judge(2, "two nodes, topology not known");
    is_rail(0, 0, 0, "both ways");
    is_rail(1, 1, 1, "both ways");

    healthy(8, 4);
    slow_leaves(2, -1, 0.3);
    judge(1, "the uplink of one of four leaves");
    is_str(findings[0].part, "uplink leaf3", "... is named");

    healthy(8, 4);
    slow_leaves(0, 3, 0.3);
    judge(1, "the path between two of four leaves");
    is_str(findings[0].part, "uplink leaf1-leaf4", "... is named");

    healthy(2, 0);
    slow(-1, -1, 0, 0.25);
    judge(2, "two nodes that are slow with each other");
    for (int i = 0; i < found; i++) {
        is_int(findings[i].kind, FINDING_AMBIGUOUS, "... cannot be told apart");
        is_int(findings[i].verdict, VERDICT_UNKNOWN, "... so neither is accused");
    }

    healthy(3, 3);
    slow_leaves(0, -1, 0.25);
    judge(1, "one node on its leaf, slow on every rail");
    is_int(findings[0].kind, FINDING_AMBIGUOUS, "... may be its leaf's uplink");
    is_int(findings[0].node, 0, "... or n1");
    is_int(findings[0].rail, -1, "... on all its rails");

    healthy(4, 2);
    slow(-1, -1, 0, 0.25);
    judge(1, "a rail that is slow everywhere");
    is_int(findings[0].kind, FINDING_FABRIC, "... is nobody's own");

    healthy(4, 2);
    slow(-1, -1, 0, 0.5);
    slow_node(2, 0, 0.5);
    judge(2, "a rail that is slow everywhere, and one node slower");
    is_int(findings[0].kind == FINDING_FABRIC || findings[1].kind == FINDING_FABRIC, 1,
           "... is the fabric");
    is_int(findings[0].node == 2 || findings[1].node == 2, 1, "... and the node");

    healthy(4, 2);
    for (size_t i = 0; i < links.sample_count; i++)
        if (samples[i].rail == 1 && (samples[i].from == 3 || samples[i].to == 3))
            samples[i].mbps = samples[i].latency_us = NAN;
    judge(1, "a rail that was not measured");
    is_int(findings[0].kind, FINDING_MISSING, "... is missing");
    is_int(findings[0].verdict, VERDICT_UNKNOWN, "... and unknown, never a pass");
    ok(isnan(links_figure(&links, 3, 1)), "... without a figure");

    healthy(4, 2);
    for (int i = 0; i < 8; i++)
        nominal[i] = NAN;
    slow_node(2, 0, 0.8);
    judge(1, "nominal not known");
    is_rail(0, 2, 0, "both ways");
    is_str(findings[0].limit_source, "peers", "... by its peers");

    healthy(4, 2);
    for (size_t i = 0; i < links.sample_count; i++)
        if (samples[i].rail == 0 && (samples[i].from == 1 || samples[i].to == 1))
            samples[i].latency_us = 900;
    judge(1, "slow to answer");
    is_str(findings[0].metric, "latency", "... is a finding of latency");
    is_int(findings[0].verdict, VERDICT_WARN, "... and a warning");

    healthy(4, 2);
    slow_node(2, 0, 0.25);
    for (int to = 0; to < 4; to++)
        if (to != 2) {
            samples[links.sample_count++] = (struct link_sample){2, to, 0, 196, 40};
            samples[links.sample_count++] = (struct link_sample){to, 2, 0, 196, 40};
        }
    judge(0, "a second measurement that is good replaces the first");
    test_node();
    test_leaf();
    test_two_on_a_leaf();
    test_uplink_directions();
    test_oversubscribed();
    test_intermittent();
    test_cleared_by_all();
    test_several_times();
    test_recorded_at_times();
    test_together();
    test_uneven_host();
    test_liar();
    test_history();
    test_reference();
    test_rail_behind_uplink();
    test_blocks_found();
    test_slow_leaf_found();
    test_long_names();
    test_misplaced();
    test_one_way();
    test_alone_on_leaves();
    test_confidence();
    free(findings);
    return tap_done();
}
