/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/validate/localization/fixture.h"
#include "validate/localization/findings/builder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/splitmix.h"
#include "lib/base/text.h"

/* Localization with up to nine nodes. Each test defines the bandwidth of each direction. */
enum { NODES = 9, ROUNDS = 3 };

/* The bandwidth of a direction. 0: it was not measured. DEAD: no data arrives. */
static const double DEAD = 1e-9;
typedef double direction_mbps(int from, int to, int rail);

static struct conf conf;
static struct hostlist nodes = {names, 0};
static int rail_count, retests;
static direction_mbps *current_mbps;
static double stalled; /* of the direction queried last */
static int
    sharing_pairs; /* number of pairs that share an uplink at a time, with leaves of three nodes */
static bool loses_long; /* a dead rail loses long packets only */

static void add_record(const char *metric, int from, int to, int rail, double value)
{
    struct record record =
        RECORD(.suite = "links", .test = "links", .metric = metric, .node = names[from],
               .peer = to < 0 ? NULL : names[to], .part = rails[rail], .value = value,
               .low = value * 0.99, .high = value * 1.01, .stalled = 0, .unit = "Mb/s");

    put_record(&record);
}

static void add_pair(int low, int high)
{
    for (int rail = 0; rail < rail_count; rail++)
        for (int back = 0; back < 2; back++) {
            int from = back ? high : low, to = back ? low : high;
            /* samples scatter */
            double scatter = 1 - 0.002 * ((from * 5 + to * 3 + rail + retests) % 7);

            double mbps = current_mbps(from, to, rail);
            bool is_dead = mbps <= DEAD;
            struct record record;

            if (!(mbps > 0))
                continue;
            if (is_dead && loses_long) {
                add_record("path_mtu", from, to, rail, 1500);
                record = remove_last();
                record.limit = 9000;
                put_record(&record);
            }
            add_record("bandwidth", from, to, rail, is_dead ? 0 : mbps * scatter);
            record = remove_last();
            record.stalled = is_dead ? NAN : stalled;
            record.shared = from / 3 != to / 3 ? sharing_pairs : 0;
            record.code = is_dead && loses_long ? FAULT_PATH_MTU_LOW : FAULT_NONE;
            put_record(&record);
        }
}

static bool measure(void *context, const struct hostlist *some, const char *pairs,
                    enum retest_passes passes, size_t *first)
{
    *first = records.count;
    retests++;
    for (int low = 0; low < (int)nodes.count; low++)
        for (int high = low + 1; high < (int)nodes.count; high++) {
            char text[16];

            snprintf(text, sizeof text, "%s:%s", names[low], names[high]);
            for (int round = 0; round < ROUNDS && strstr(pairs, text); round++)
                add_pair(low, high);
        }
    return true;
}

/* Runs a localization. leaf_size 0: the leaves are unknown. speed_mbps 0: the speed of the rails
 * is unknown. */
static void run_localization(int count, int per_node, int leaf_size, double speed_mbps,
                             direction_mbps *mbps)
{
    static int leaves[NODES];

    clear_all();
    nodes.count = (size_t)count;
    rail_count = per_node;
    current_mbps = mbps;
    retests = 0;
    stalled = 0;
    for (int node = 0; node < count; node++) {
        leaves[node] = leaf_size > 0 ? node / leaf_size : -1;
        for (int rail = 0; rail < per_node && speed_mbps > 0; rail++)
            add_record("speed", node, -1, rail, speed_mbps);
    }
    for (int low = 0; low < count; low++)
        for (int high = low + 1; high < count; high++)
            for (int round = 0; round < ROUNDS; round++)
                add_pair(low, high);
    localization_make(&conf, &nodes, leaves, measure);
    ok(localization_run(&localization) == 0, "the localization succeeds");
}

/* Returns the findings in their order: "fail n2 eth1; unknown n3 eth1". */
static const char *findings_text(void)
{
    static char text[2048];

    text[0] = '\0';
    for (size_t i = 0; i < localization.findings.count; i++) {
        const struct finding *finding = &localization.findings.items[i];

        text_join(text, sizeof text, "; ", "%s%s%s %s", verdict_name(finding->verdict),
                  finding->node >= 0 ? " " : "", finding->node >= 0 ? names[finding->node] : "",
                  finding->part);
    }
    return text;
}

#define finds(count, per_node, leaf_size, speed_mbps, mbps, ...)                                   \
    (run_localization(count, per_node, leaf_size, speed_mbps, mbps),                               \
     is_str(findings_text(), __VA_ARGS__))

static const char *first_message(void)
{
    return localization.findings.count ? localization.findings.items[0].message : "";
}

static double all_healthy(int from, int to, int rail)
{
    return from == to ? rail : 196;
}

static double slow_n2(int from, int to, int rail)
{
    return (from == 1 || to == 1) && rail == 0 ? 49 : 196;
}

/* n2's eth1 has no connection. How long its ends waited is unknown. */
static double dead_n2(int from, int to, int rail)
{
    return (from == 1 || to == 1) && rail == 0 ? DEAD : 196;
}

/* n2 is often not scheduled, as in the model of a busy machine, and mostly records that it
 * stalled. */
static double busy_n2(int from, int to, int rail)
{
    static uint64_t state = 1;
    unsigned at = from == 1 || to == 1 ? (unsigned)(splitmix_next(&state) % 20) : 19;

    stalled = at < 9 ? 0.3 : 0;
    return at < 11 ? 60 : 196;
}

static double slow_pair(int from, int to, int rail)
{
    return from + to == 3 && from * to == 2 && rail == 0 ? 49 : 196;
}

static double slow_across(int from, int to, int rail)
{
    return from / 4 != to / 4 ? 60 + rail : 196;
}

static double slow_n2_and_across(int from, int to, int rail)
{
    return fmin(slow_n2(from, to, rail), slow_across(from, to, rail));
}

static double slow_uplinks(int from, int to, int rail)
{
    return from / 3 != to / 3 ? 60 + rail : 196;
}

/* Like slow_uplinks(), but the first leaf's uplinks are much slower. */
static double slower_uplink(int from, int to, int rail)
{
    return (from / 3 == 0) != (to / 3 == 0) ? 10 : slow_uplinks(from, to, rail);
}

/* The same with four leaves. */
static double slower_of_four(int from, int to, int rail)
{
    return from / 2 == to / 2 ? 196 : from / 2 == 0 || to / 2 == 0 ? 10 : 60 + rail;
}

/* The same in one direction only. */
static double sends_slower(int from, int to, int rail)
{
    return from / 2 == to / 2 ? 196 : from / 2 == 0 ? 10 : 60 + rail;
}

static double slow_n9(int from, int to, int rail)
{
    return (from == 8 || to == 8) && rail == 0 ? 49 : 196;
}

/* The switch of the second leaf has half its speed. Leaves have three nodes each. */
static double slow_leaf(int from, int to, int rail)
{
    return from / 3 == 1 || to / 3 == 1 ? 98 : all_healthy(from, to, rail);
}

/* n5 has a slow rail on a slow leaf. */
static double slow_n5_of_slow_leaf(int from, int to, int rail)
{
    return fmin((from == 4 || to == 4) && rail == 0 ? 40 : 196, slow_leaf(from, to, rail));
}

/* Rails of two of the three nodes of a leaf are slow in half of their samples. */
static double intermittent_rails(int from, int to, int rail)
{
    static uint64_t state = 7;
    bool is_one = from == 3 || from == 4 || to == 3 || to == 4;

    return is_one && rail == 0 && splitmix_next(&state) % 2 == 0 ? 60 : all_healthy(from, to, rail);
}

/* n4 is on the third leaf. Leaves have three nodes each. */
static double n4_elsewhere(int from, int to, int rail)
{
    int leaf_of_from = from == 3 ? 2 : from / 3, leaf_of_to = to == 3 ? 2 : to / 3;

    return leaf_of_from != leaf_of_to ? 60 + rail : 196;
}

static double n2_only_sends(int from, int to, int rail)
{
    return to == 1 && rail == 1 ? 0 : all_healthy(from, to, rail);
}

/* n6 was measured with n1 only, and n1 is slow. */
static double n6_with_a_slow_one(int from, int to, int rail)
{
    if ((from == 5 && to != 0) || (to == 5 && from != 0))
        return 0;
    return from == 0 || to == 0 ? 49 : all_healthy(from, to, rail);
}

/* n1 and n2 are on one leaf, n3 and n4 on another; NULL: unknown */
static const int *known_leaves;
static int partner = 1;

/* Returns whether a retest confirms that n1's rail is slow. n1 is low in `low` of six samples
 * with its partner, the control pair in control_low of six. */
static bool is_confirmed(int low, int control_low, const char **why)
{
    static struct diagnose_sample samples[12];
    static struct link_sample measured[12];
    static char text[256];
    struct suspicion item = {.part = {.type = DIAGNOSE_RAIL, .peer = -1, .ways = DIAGNOSE_BOTH},
                             .probability = 1};
    struct links links = {.node_count = 4,
                          .rail_count = 1,
                          .samples = samples,
                          .measured = measured,
                          .sample_count = 12};
    struct evidence evidence = {.links = &links,
                                .network = {.node_count = 4,
                                            .rail_count = 1,
                                            .leaf_count = known_leaves ? 2 : 0,
                                            .fault_share = 0.85,
                                            .leaves = known_leaves},
                                .conf = &conf,
                                .diagnosis = {.items = &item, .count = 1}};
    struct findings_builder builder = {.evidence = &evidence,
                                       .is_suspect = (bool[]){true, false, false, false}};
    bool is_cleared, is_right;

    for (int i = 0; i < 12; i++) {
        bool is_low = i % 6 < (i < 6 ? low : control_low);

        samples[i] = (struct diagnose_sample){.from = i < 6          ? 0
                                                      : partner == 2 ? 1
                                                                     : 2,
                                              .to = i < 6 ? partner : 3,
                                              .rate = is_low ? 0.3 : 1};
        measured[i].is_isolated = true;
    }
    evidence_index(&builder);
    is_right = evidence_confirms(&builder, &item, &is_cleared, text, sizeof text);
    evidence_index_clear(&builder);
    *why = text;
    return is_right;
}

/* Returns whether a retest clears n1's rail, which is slow at times. All samples of the retest
 * cross an uplink that loses packets and are low. before: the rate of a sample within n1's leaf. */
static bool is_cleared_by_explained(double before)
{
    static struct diagnose_sample samples[1 + RETEST_CLEARED_LEAST];
    static struct link_sample measured[1 + RETEST_CLEARED_LEAST];
    const struct part uplink = {.type = DIAGNOSE_UPLINK,
                                .peer = 1,
                                .rail = -1,
                                .ways = DIAGNOSE_BOTH,
                                .depth = MODEL_DEPTHS - 1};
    struct suspicion item = {
        .part = {.type = DIAGNOSE_RAIL, .peer = -1, .ways = DIAGNOSE_BOTH, .duty = 1},
        .probability = 1};
    struct links links = {.node_count = 4,
                          .rail_count = 1,
                          .samples = samples,
                          .measured = measured,
                          .sample_count = 1 + RETEST_CLEARED_LEAST};
    struct evidence evidence = {.links = &links,
                                .network = {.node_count = 4,
                                            .rail_count = 1,
                                            .leaf_count = 2,
                                            .fault_share = 0.85,
                                            .leaves = (int[]){0, 0, 1, 1}},
                                .conf = &conf};
    struct findings_builder builder = {.evidence = &evidence,
                                       .is_suspect = (bool[]){true, false, false, false},
                                       .shared = (const struct part *[]){&uplink},
                                       .shared_count = 1};
    bool is_cleared;
    char why[256];

    for (int i = 0; i <= RETEST_CLEARED_LEAST; i++) {
        samples[i] = (struct diagnose_sample){.to = i > 0 ? 2 : 1, .rate = i > 0 ? 0.5 : before};
        measured[i].is_isolated = i > 0;
    }
    evidence_index(&builder);
    evidence_confirms(&builder, &item, &is_cleared, why, sizeof why);
    evidence_index_clear(&builder);
    return is_cleared;
}

/* One of four transfers was low for a part of its time, but not in the mean. */
static void reports_rates_of_low_parts(void)
{
    struct diagnose_sample samples[4];
    struct link_sample measured[4];
    struct suspicion item = {
        .part = {.type = DIAGNOSE_RAIL, .peer = -1, .ways = DIAGNOSE_BOTH, .duty = 1}};
    struct links links = {.node_count = 2,
                          .rail_count = 1,
                          .samples = samples,
                          .measured = measured,
                          .sample_count = 4};
    struct evidence evidence = {.links = &links,
                                .conf = &conf,
                                .network = {.node_count = 2, .rail_count = 1, .fault_share = 0.85}};
    struct findings_builder builder = {.evidence = &evidence};
    struct finding finding = {.value = NAN};

    for (int i = 0; i < 4; i++) {
        samples[i] = (struct diagnose_sample){.from = i % 2, .to = 1 - i % 2, .rate = 1};
        measured[i] = (struct link_sample){.mbps = 200, .expected_mbps = 200};
    }
    samples[1].rate = 0.9;
    samples[1].high = 1;
    samples[1].low = 0.3;
    evidence_index(&builder);
    evidence_value(&builder, &item, &finding);
    is_int(lround(finding.value), 60,
           "a transfer that was low for a part is reported with its low rate");
    samples[1].low = samples[1].high = 0;
    finding.value = NAN;
    evidence_value(&builder, &item, &finding);
    is_int(lround(finding.value), 180, "... if no rate is below the limit, with the lowest mean");
    evidence_index_clear(&builder);
}

static void test_retest_confirmation(void)
{
    const char *why;

    ok(is_confirmed(6, 0, &why), "a rail that is low while the control pair is not is confirmed");
    ok(is_confirmed(6, 2, &why), "... also if the control pair is low in a third of its samples");
    ok(!is_confirmed(6, 4, &why), "... not if the control pair is low in most of its samples");
    has_str(why, "control pair is slow as well", "... the reason says so");
    ok(!is_confirmed(3, 0, &why), "... not if it is low in half of its samples only");
    has_str(why, "3 of 6 retest samples were slow", "... the reason says so");

    known_leaves = (int[]){0, 0, 1, 1};
    ok(is_confirmed(6, 0, &why), "a rail that is low within its leaf is confirmed");
    partner = 2;
    ok(!is_confirmed(6, 0, &why), "... not one that is low with other leaves only");
    has_str(why, "0 of 0 samples within its leaf were slow", "... the reason says so");
    known_leaves = (int[]){0, 1, 1, 1};
    ok(is_confirmed(6, 0, &why), "... but the only node of its leaf is");
    known_leaves = NULL;
    ok(is_confirmed(6, 0, &why), "... and so is a rail with unknown leaves");
    partner = 1;

    ok(is_cleared_by_explained(1), "a rail that is low only across a lossy uplink is cleared");
    ok(!is_cleared_by_explained(0.5), "... not one that was low within its leaf as well");
}

int main(void)
{
    conf_defaults(&conf);
    test_retest_confirmation();
    reports_rates_of_low_parts();
    finds(6, 2, 0, 200, all_healthy, "", "a healthy network has no findings");
    is_int(retests, 0, "... and nothing is measured again");

    finds(6, 2, 0, 200, slow_n2, "fail n2 eth1", "a slow rail");
    has_str(first_message(), "48 of 200 Mb/s (nominal), its peers 195", "... with its bandwidths");
    finds(6, 2, 0, 0, slow_n2, "fail n2 eth1", "... found without nominal speeds");
    has_str(first_message(), "48 Mb/s, its peers 195", "... by comparison with its peers");
    finds(6, 1, 0, 200, slow_n2, "fail n2 eth1", "... found as the only rail of its node");

    finds(6, 2, 0, 200, dead_n2, "fail n2 eth1", "a rail without a connection");
    has_str(first_message(), "no connection with any partner", "... the message says so");
    loses_long = true;
    run_localization(6, 2, 0, 200, dead_n2);
    loses_long = false;
    is_str(findings_text(), "fail n2 eth1", "a rail that loses long packets");
    is_str(first_message(),
           "eth1 loses packets of 9000 bytes, those of 1500 arrive: check the MTU of the switches, "
           "first of its own port",
           "... the message says so");

    finds(6, 2, 0, 200, slow_pair, "fail n2 path n2-n3 eth1",
          "a slow path is no fault of either end");
    run_localization(2, 2, 0, 200, slow_n2);
    is_int((int)localization.findings.items[0].verdict, VERDICT_UNKNOWN,
           "of two nodes either may be slow: %s", findings_text());
    has_str(findings_text(), "unknown n1 eth1", "... n1");
    has_str(findings_text(), "unknown n2 eth1", "... or n2");

    finds(8, 2, 4, 200, slow_across, "fail uplink leaf1-leaf2",
          "a slow uplink between two leaves names both leaves");
    finds(8, 2, 4, 200, slow_n2_and_across, "fail n2 eth1; fail uplink leaf1-leaf2",
          "... and pairs across it are no control for a rail");
    finds(8, 2, 0, 200, slow_across, "fail uplink n[1-4]-n[5-8]",
          "... is found without known leaves");
    has_str(first_message(), "leaves found from the measurements", "... the message says so");
    finds(9, 2, 3, 200, slow_uplinks, "warn all uplinks", "equally slow uplinks are by design");
    run_localization(9, 2, 3, 200, slower_uplink);
    ok(strstr(findings_text(), "fail uplink leaf1") && !strstr(findings_text(), "all uplinks"),
       "... unless one leaf's are far slower: %s", findings_text());
    finds(8, 2, 2, 200, slower_of_four, "fail uplink leaf1; warn all other uplinks",
          "... three other leaves are then by design");
    has_str(localization.findings.items[localization.findings.count - 1].message,
            "every other uplink carries 6", "... with their rate");
    run_localization(8, 2, 2, 200, sends_slower);
    ok(strstr(findings_text(), "uplink leaf1"),
       "... a leaf that is slower in one direction is found: %s", findings_text());
    finds(9, 2, 3, 200, slow_leaf, "fail leaf leaf2", "a slow leaf is no fault of its nodes");
    run_localization(9, 2, 3, 200, slow_n5_of_slow_leaf);
    ok(strstr(findings_text(), "fail n5 eth1") && strstr(findings_text(), "fail leaf leaf2"),
       "... a slower rail of one of them is: %s", findings_text());
    run_localization(9, 2, 3, 200, intermittent_rails);
    ok(!strstr(findings_text(), "fail leaf"), "faults of some of its nodes are not the leaf's: %s",
       findings_text());
    run_localization(9, 2, 4, 200, slow_n9);
    is_int((int)localization.findings.items[0].verdict, VERDICT_UNKNOWN,
           "for a node alone on its leaf the leaf may be slow: %s", findings_text());

    sharing_pairs = 4;
    run_localization(9, 2, 3, 200, n4_elsewhere);
    sharing_pairs = 0;
    is_str(findings_text(), "fail n4 leaf2; warn all uplinks",
           "a node on another leaf than in topology.conf");
    is_str(first_message(), "topology.conf has it on leaf2, but measurements place it on leaf3",
           "... with that leaf");
    ok(localization.findings.items[0].confidence >= MODEL_SURE, "... with certainty");
    finds(6, 2, 0, 200, n2_only_sends, "unknown n2 eth2",
          "a rail measured in one direction only is unknown");
    has_str(first_message(), "nothing that it receives", "... the message says so");
    run_localization(6, 2, 0, 200, n6_with_a_slow_one);
    has_str(findings_text(), "fail n1 all rails; unknown n6 eth1",
            "a rail measured only with a slow node is unknown");
    has_str(localization.findings.count > 1 ? localization.findings.items[1].message : "",
            "no measurement clears it", "... the message says so");
    is_str(localization.findings.items[1].limit_source, "nominal",
           "... compared with its nominal speed");
    run_localization(6, 2, 0, 0, n6_with_a_slow_one);
    has_str(findings_text(), "unknown n6 eth1", "... found without nominal speeds");
    for (size_t i = 0; i < localization.findings.count; i++)
        if (localization.findings.items[i].node == 5 && localization.findings.items[i].rail == 0)
            is_str(localization.findings.items[i].limit_source, "peers",
                   "... compared with its peers");
    for (int count = 3; count < 7; count++) {
        run_localization(count, 2, 0, 200, busy_n2);
        ok(!strstr(findings_text(), "fail"), "%d nodes: a busy machine fails no node: %s", count,
           findings_text());
    }
    clear_all();
    conf_clear(&conf);
    return tap_done();
}
