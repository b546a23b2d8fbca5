/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/validate/localization/fixture.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Localization with four nodes on two leaves, with two rails of 200 Mb/s each. Each test defines
 * what a retest of n2's eth1 measures. */
enum { NODES = 4, RAILS = 2 };
static const struct hostlist nodes = {names, NODES};
static int leaves[] = {0, 0, 1, 1};

/* One transfer over n2's eth1. Transfers of other rails reach 196 Mb/s. */
struct figures {
    double sent, high, received, arrived; /* arrived 0: the receiver's interface does not count */
    double together;                      /* 0: not measured */
    double stalled;
};

static struct conf conf;
static struct figures retest_figures,
    every_other_retest; /* of retests; of every other one; sent 0: as again */
static const double (
    *recorded_mbps)[NODES];      /* n2's eth1 at first; NULL: `once` of run_localization() */
static const double *rates_mbps; /* of n2's eth1 in the isolated retests, in turn; NULL: as again */
static int rates_count, rates_next,
    rates_peer = -1; /* rates_peer: the partner for which times applies; -1: all */
static double latency_us, least_latency_us; /* of n2's eth1; 0: not measured */
static double latency_stalled; /* share of the latency test in which processes were paused */
static int retest_count, together_retests, retests_most = 99; /* retests_most: the next fails */
static double path_mbps;                                      /* of n3 to n4 on eth2; 0: healthy */
static double others_mbps;              /* of isolated transfers without n2; 0: healthy */
static double all_mbps, all_alone_mbps; /* of each path, at first and in retests; 0: healthy */
static bool lacks_rail;                 /* n2 has no eth2 */

static void add_record(const char *metric, int from, int to, int rail, double value, double high,
                       double stalled)
{
    struct record record =
        RECORD(.suite = "links", .test = "links", .metric = metric, .node = names[from],
               .peer = names[to], .part = rails[rail], .value = value, .low = value * 0.99,
               .high = high, .stalled = stalled, .unit = "Mb/s");

    put_record(&record);
}

static void add_speeds(void)
{
    for (int node = 0; node < NODES; node++)
        for (int rail = 0; rail < RAILS; rail++) {
            struct record record =
                RECORD(.suite = "links", .test = "links", .metric = "speed", .node = names[node],
                       .part = rails[rail], .value = 200, .unit = "Mb/s");

            put_record(&record);
        }
}

static void add_together(int from, int to, int rail, double mbps)
{
    /* parts of it may be fast while another rail is slow */
    add_record("bandwidth_together", from, to, rail, mbps, 198, 0);
}

static void add_latency(int from, int to, int rail)
{
    bool is_long = (from == 1 || to == 1) && rail == 0;
    struct record record;

    add_record("latency", from, to, rail, is_long ? latency_us : 9, 5000,
               is_long ? latency_stalled : 0);
    record = remove_last();
    record.low = is_long ? least_latency_us : 7;
    put_record(&record);
}

static void add_transfer(int from, int to, int rail, const struct figures *figures)
{
    static const struct figures healthy = {196, 198, 197, 197, 195};
    const struct figures *use = (from == 1 || to == 1) && rail == 0 ? figures : &healthy;
    struct figures all = {0};
    const struct figures path = {path_mbps, path_mbps, path_mbps, path_mbps, 0, 0};

    if ((retest_count > 0 ? all_alone_mbps : all_mbps) > 0) {
        all.sent = all.high = all.received = all.arrived =
            retest_count > 0 ? all_alone_mbps : all_mbps;
        use = &all;
    }
    if (others_mbps > 0 && retest_count > 0 && from != 1 && to != 1) {
        all.sent = all.high = all.received = all.arrived = others_mbps;
        use = &all;
    }
    if (path_mbps > 0 && from == 2 && to == 3 && rail == 1)
        use = &path;
    if (lacks_rail && (from == 1 || to == 1) && rail == 1)
        return;
    add_record("bandwidth", from, to, rail, use->sent, use->high, use->stalled);
    add_record("bandwidth_received", from, to, rail, use->received,
               use->arrived > 0 ? use->arrived : (double)NAN, NAN);
    if (figures->together > 0)
        add_together(from, to, rail, from == 1 || to == 1 ? figures->together : 195);
    if (latency_us > 0)
        add_latency(from, to, rail);
}

/* Adds the next isolated transfer. */
static void add_next_transfer(int from, int to, int rail, const struct figures *use)
{
    struct figures figures = *use;
    bool is_there = rail == 0 && (from == 1 || to == 1) &&
                    (rates_peer < 0 || from == rates_peer || to == rates_peer);

    if (rates_mbps && is_there) {
        double mbps = rates_mbps[rates_next++ % rates_count];

        figures = (struct figures){mbps, 199, mbps, 199, 0, 0.002};
    }
    add_transfer(from, to, rail, &figures);
    if (rates_mbps && is_there &&
        figures.sent < 180) { /* its slow parts run at a quarter of the rate */
        struct record received = remove_last(), sent = remove_last();

        sent.low = 49;
        put_record(&sent);
        put_record(&received);
    }
}

/* libibverbs messages that do not arrive in a retest. */
struct failing_messages {
    int node, peer; /* peer -1: with all */
    int times;      /* number of failing rounds of retest_schedule(); 0: end of the list */
};
static const struct failing_messages *failing_messages;
static char verbs_pairs[128]; /* the pairs of the last verbs retest */

/* Measures the requested pairs, all once in each round. */
static void measure_verbs(const char *pairs)
{
    snprintf(verbs_pairs, sizeof verbs_pairs, "%s", pairs);
    for (int time = 0; time < retest_schedule(NODES).times; time++)
        for (int from = 0; from < NODES; from++)
            for (int to = 0; to < NODES; to++) {
                char forth[16], back[16];
                bool fails = false;

                snprintf(forth, sizeof forth, "%s:%s", names[from], names[to]);
                snprintf(back, sizeof back, "%s:%s", names[to], names[from]);
                if (from == to || (!strstr(pairs, forth) && !strstr(pairs, back)))
                    continue;
                for (const struct failing_messages *entry = failing_messages;
                     entry && entry->times > 0; entry++)
                    fails |= time < entry->times &&
                             ((from == entry->node && (entry->peer < 0 || to == entry->peer)) ||
                              (to == entry->node && (entry->peer < 0 || from == entry->peer)));
                add_record("bandwidth_rc_write", from, to, 0, fails ? 0 : 900, 900, 0);
                if (fails) {
                    struct record record = remove_last();

                    record.verdict = VERDICT_FAIL;
                    put_record(&record);
                }
            }
}

/* the node that is lost when it is measured again; -1: none */
static int lost_node = -1;
static bool has_lost_node;
static char last_pairs[256];

static bool is_lost(void *context, const char *node)
{
    return has_lost_node && strcmp(node, names[lost_node]) == 0;
}

static bool measure(void *context, const struct hostlist *some, const char *pairs,
                    enum retest_passes passes, size_t *first)
{
    const struct figures *use =
        retest_count % 2 && every_other_retest.sent > 0 ? &every_other_retest : &retest_figures;

    *first = records.count;
    snprintf(last_pairs, sizeof last_pairs, "%s", pairs);
    if (lost_node >= 0 && strstr(pairs, names[lost_node])) {
        has_lost_node = true;
        return false;
    }
    if (retest_count == retests_most)
        return false;
    retest_count++;
    together_retests += passes == PASSES_TOGETHER;
    if (passes == PASSES_VERBS) {
        measure_verbs(pairs);
        return true;
    }
    for (int from = 0; from < NODES; from++)
        for (int to = from + 1; to < NODES; to++) {
            char forth[16], back[16];
            bool is_requested;

            snprintf(forth, sizeof forth, "%s:%s", names[from], names[to]);
            snprintf(back, sizeof back, "%s:%s", names[to], names[from]);
            is_requested = strstr(pairs, forth) || strstr(pairs, back);
            for (int time = 0; time < retest_schedule(NODES).times && is_requested; time++)
                for (int rail = 0; rail < RAILS; rail++) {
                    add_next_transfer(from, to, rail, use);
                    add_next_transfer(to, from, rail, use);
                }
        }
    return true;
}

static void get_history(void *context, const char *node, const char *rail,
                        struct history_figure *history)
{
    if (strcmp(node, "n3") == 0 && strcmp(rail, "eth2") == 0)
        *history = (struct history_figure){260, 1, 9};
}

static void get_reference(void *context, const char *node, const char *rail,
                          struct reference_figure *reference)
{
    if (strcmp(node, "n4") == 0 && strcmp(rail, "eth1") == 0)
        *reference = (struct reference_figure){900, "a table:1"};
}

/* Runs a localization. Returns the first finding that is worse than a warning; NULL: none. */
static const struct finding *run_localization(const struct figures *once,
                                              const struct figures *alone)
{
    clear_all();
    retest_figures = *alone;
    retest_count = together_retests = rates_next = 0;
    add_speeds();
    for (int from = 0; from < NODES; from++)
        for (int to = 0; to < NODES; to++)
            for (int rail = 0; rail < RAILS && from != to; rail++) {
                struct figures figures = *once;

                if (recorded_mbps)
                    figures.sent = figures.received = recorded_mbps[from][to];
                add_transfer(from, to, rail, &figures);
            }
    ok(localization_run(&localization) == 0, "the localization succeeds");
    return localization.findings.count > 0 && localization.findings.items[0].verdict > VERDICT_WARN
               ? &localization.findings.items[0]
               : NULL;
}

static const struct figures healthy = {196, 198, 197, 197, 0}, slow = {49, 50, 49, 49, 0};

/* Returns the finding about n2's eth1; NULL: none. */
static const struct finding *rail_of_n2(void)
{
    for (size_t i = 0; i < localization.findings.count; i++)
        if (localization.findings.items[i].node == 1 && localization.findings.items[i].peer < 0 &&
            localization.findings.items[i].rail == 0)
            return &localization.findings.items[i];
    return NULL;
}

static void fails_rails_that_stay_slow(void)
{
    const struct finding *finding = run_localization(&slow, &slow);

    ok(finding && finding->verdict == VERDICT_FAIL, "a slow rail that stays slow is at fault");
    ok(finding && finding->kind == FINDING_RAIL, "... the finding is about the rail");
    is_int(finding ? finding->node : -1, 1, "... of n2");
    ok(retest_count > 0 && together_retests == 0,
       "... it was measured again without the other rail");
}

/* A retest sees one rail only, since n2 has no other. */
static void fails_the_only_rail(void)
{
    const struct finding *finding;

    lacks_rail = true;
    finding = run_localization(&slow, &slow);
    ok(finding && finding->verdict == VERDICT_FAIL && finding->kind == FINDING_RAIL &&
           finding->node == 1 && finding->rail == 0,
       "a slow rail is at fault although its node lacks the other rail");
    ok(finding && !finding->is_intermittent, "... as a permanent fault");
    is_int(retest_count, 1, "... after one retest");
    is_int((long)localization.findings.count, 2, "... and the other rail has a finding");
    is_int(localization.findings.count == 2 ? (int)localization.findings.items[1].kind : -1,
           FINDING_MISSING, "... as missing");
    lacks_rail = false;
}

static void clears_rails_of_busy_machines(void)
{
    const struct figures kept_waiting = {90, 100, 185, 190, 0},
                         taken = {110, 120, 112, 196, 0, 0.45};

    ok(!run_localization(&slow, &healthy), "a rail that is healthy in a retest is not at fault");
    ok(retest_count > 0, "... after a retest");
    ok(!run_localization(&kept_waiting, &healthy),
       "a sender that was delayed does not have inconsistent reports");
    ok(!run_localization(&kept_waiting, &taken),
       "the best part that the interface counted is used");
}

/* Three rules before a node is drained. */
static void drains_proven_faults_only(void)
{
    static const double one_path_mbps[NODES][NODES] = {
        {0, 196.0}, {196.0, 0, 196.0, 49.0}, {0, 196.0}, {0, 49.0}};
    const struct figures unscheduled = {49, 50, 49, 49, 0, 0.4};
    const struct finding *finding = run_localization(&slow, &unscheduled);

    ok(finding && finding->verdict == VERDICT_UNKNOWN && finding->node == 1,
       "a rail that is slow while an end is not scheduled is unknown");
    has_str(finding ? finding->message : "", "busy machine?", "... the message says so: %s",
            finding ? finding->message : "");
    ok(retest_count > 0, "... after a retest");

    others_mbps = 60;
    finding = run_localization(&slow, &slow);
    for (size_t i = 0; i < localization.findings.count; i++)
        ok(localization.findings.items[i].verdict != VERDICT_FAIL ||
               localization.findings.items[i].node < 0 ||
               localization.findings.items[i].kind == FINDING_PAIR,
           "a rail does not fail while the control pair is as slow: %s",
           localization.findings.items[i].message);
    ok(finding && localization.findings.count > 0, "... but it is not certified");
    others_mbps = 0;

    recorded_mbps = one_path_mbps;
    rates_mbps = (const double[]){49};
    rates_count = 1;
    rates_peer = 3;
    run_localization(&healthy, &healthy);
    for (size_t i = 0; i < localization.findings.count; i++)
        ok(localization.findings.items[i].verdict != VERDICT_FAIL ||
               localization.findings.items[i].kind == FINDING_PAIR,
           "a slow path drains neither end: %s", localization.findings.items[i].message);
    rates_mbps = NULL;
    rates_peer = -1;
    recorded_mbps = NULL;
}

/* The rail is certain after one retest, the path is not, and there is no time for a second one. */
static void keeps_certain_faults(void)
{
    const struct figures held_up = {49, 50, 49, 49, 0, 0.1};
    const struct finding *finding;

    path_mbps = 59;
    retests_most = 1;
    finding = run_localization(&slow, &slow);
    ok(finding && finding->verdict == VERDICT_FAIL && finding->kind == FINDING_RAIL &&
           finding->node == 1,
       "a rail that was slow in a retest is at fault, even without time for other retests");
    run_localization(&slow, &held_up);
    finding = rail_of_n2();
    ok(finding && finding->verdict == VERDICT_UNKNOWN,
       "... unless an end was not scheduled in each of its samples");
    retests_most = 0;
    finding = run_localization(&slow, &slow);
    ok(finding && finding->verdict == VERDICT_UNKNOWN, "... unless there was no retest");
    retests_most = 99;
    path_mbps = 0;
}

static void ignores_bursts(void)
{
    const struct figures burst = {49, 400, 49, 50, 0}, uncounted = {49, 400, 49, 0, 0};
    const struct finding *finding = run_localization(&slow, &burst);

    ok(finding && finding->kind == FINDING_RAIL && finding->verdict == VERDICT_FAIL,
       "samples that the sender saw end at once do not clear a slow rail");
    finding = run_localization(&slow, &uncounted);
    ok(finding && finding->kind == FINDING_RAIL && finding->verdict == VERDICT_FAIL,
       "... even if the interface does not count");
}

static void repeats_retests_without_lost_nodes(void)
{
    const struct finding *finding;

    lost_node = 0;
    localization.is_lost = is_lost;
    finding = run_localization(&slow, &slow);
    ok(has_lost_node, "a node is lost during a retest");
    ok(retest_count > 0 && !strstr(last_pairs, names[lost_node]),
       "... the retest is repeated without it");
    ok(finding && finding->verdict == VERDICT_FAIL && finding->node == 1,
       "... and a slow rail still fails");
    has_lost_node = false;
    localization.is_lost = NULL;
    ok((finding = run_localization(&slow, &slow)) && finding->verdict == VERDICT_UNKNOWN,
       "if the lost node is unknown the rail is unknown");
    has_lost_node = false;
    lost_node = -1;
}

/* Low each time, but never at the same rate. */
static void fails_intermittent_rails(void)
{
    const struct figures once = {118, 130, 119, 0, 0, 0}, busy = {65, 190, 66, 196, 0, 0.3};
    struct figures first = {85, 198, 86, 197, 0, 0.01};
    const struct finding *finding;

    every_other_retest = (struct figures){100, 198, 102, 197, 0, 0.02};
    finding = run_localization(&once, &first);
    ok(finding && finding->kind == FINDING_RAIL && finding->verdict == VERDICT_FAIL,
       "an intermittently slow rail is at fault if its ends were scheduled");
    has_str(finding ? finding->message : "", "at times", "... the message says so");
    every_other_retest = busy;
    first.sent = first.received = 60;
    first.stalled = 0.3;
    finding = run_localization(&once, &first);
    ok(finding && finding->verdict == VERDICT_UNKNOWN, "... it is unknown if they were not");
    has_str(finding ? finding->message : "", "busy machine?", "... the message says so");
    every_other_retest.sent = 0;
}

/* A recorded case: the rail runs at a quarter for one of every three seconds, and three of six
 * transfers met that. They are not enough for certainty. */
static void retests_rails_with_some_low_transfers(void)
{
    static const double met_mbps[NODES][NODES] = {
        {0, 187.0}, {102.6, 0, 103.7, 176.6}, {0, 197.5}, {0, 115.4}};
    const struct figures mean = {148, 200, 148, 199, 0, 0.004};
    const struct finding *finding;

    recorded_mbps = met_mbps;
    finding = run_localization(&healthy, &mean);
    ok(retest_count > 0, "a rail that was low in some transfers is measured again");
    ok(finding && finding->kind == FINDING_RAIL && finding->verdict == VERDICT_FAIL,
       "... and is at fault if it is low in the retest");
    is_int(finding ? finding->node : -1, 1, "... the rail of n2");
    is_int((long)localization.findings.count, 1, "... and nothing else is");
    ok(!run_localization(&healthy, &healthy),
       "... it is not at fault if it is healthy in the retest");
    is_int((long)localization.findings.count, 0, "... and there is no finding then");
    recorded_mbps = NULL;
}

/* A recorded case: the rail runs at a quarter for one of every three seconds, and each of its
 * paths was healthy at some time. An earlier version measured four times and used the best
 * value. */
static void counts_each_transfer(void)
{
    static const double first_mbps[NODES][NODES] = {
        {0, 118.0}, {193.6, 0, 49.1, 194.7}, {0, 192.2}, {0, 197.5}};
    static const double quarter[] = {147, 110, 143, 110, 139, 139, 194, 108, 177, 112,
                                     193, 113, 141, 187, 197, 145, 190, 108, 147, 133};
    static const double in_turn[] = {110, 194, 193, 108, 195, 112, 139, 190};
    static const double sound[] = {192, 196, 197, 194, 195, 193, 190, 196, 197, 194, 192, 195};
    static double once_low[60];
    const struct figures busy = {196, 198, 197, 197, 0, 0.3};
    const struct finding *finding;

    recorded_mbps = first_mbps;
    for (int begin = 0; begin < 3; begin++) {
        rates_mbps = quarter + 6 * begin;
        rates_count = (int)(sizeof quarter / sizeof *quarter) - 6 * begin;
        finding = run_localization(&healthy, &healthy);
        ok(finding && finding->kind == FINDING_RAIL && finding->verdict == VERDICT_FAIL,
           "a rail is at fault although each of its paths is healthy at some time");
        is_int(finding ? finding->node : -1, 1, "... the rail of n2");
        is_int((long)localization.findings.count, 1, "... and nothing else is");
        ok(retest_count <= 3, "... after at most three retests: %d", retest_count);
    }
    rates_mbps = in_turn;
    rates_count = sizeof in_turn / sizeof *in_turn;
    finding = run_localization(&healthy, &healthy);
    ok(finding && finding->kind == FINDING_RAIL && finding->verdict == VERDICT_FAIL,
       "... also if it is healthy with one partner after the other");
    is_int((long)localization.findings.count, 1, "... and nothing else is");
    for (int i = 0; i < 60; i++)
        once_low[i] = i == 2 ? 141 : sound[i % 12];
    rates_mbps = once_low;
    rates_count = 60;
    ok(!run_localization(&busy, &healthy),
       "a rail that was low on busy machines and once in a retest is not at fault");
    is_int((long)localization.findings.count, 0, "... and nothing else is");
    recorded_mbps = NULL;
    rates_mbps = NULL;
}

/* Low once while no process was delayed. */
static void forgives_one_low_transfer(void)
{
    static const double first_mbps[NODES][NODES] = {
        {0, 194.0}, {193.6, 0, 195.1, 78.4}, {0, 192.2}, {0, 191.5}};
    const struct figures busy = {196, 198, 197, 197, 0, 0.3};

    recorded_mbps = first_mbps;
    ok(!run_localization(&healthy, &healthy),
       "a path that was low once on idle machines is not at fault");
    is_int((long)localization.findings.count, 0, "... and there is no finding");
    ok(!run_localization(&busy, &healthy), "... nor is one that was low on busy machines");
    recorded_mbps = NULL;
}

/* Only the path between n2 and n4. */
static void counts_each_transfer_of_a_path(void)
{
    static const double first_mbps[NODES][NODES] = {
        {0, 194.0}, {193.6, 0, 195.1, 58.7}, {0, 192.2}, {0, 77.5}};
    static const double at_times[] = {110, 193, 147, 139, 194, 108};
    const struct finding *finding;

    recorded_mbps = first_mbps;
    rates_mbps = at_times;
    rates_count = sizeof at_times / sizeof *at_times;
    rates_peer = 3;
    finding = run_localization(&healthy, &healthy);
    ok(finding && finding->kind == FINDING_PAIR && finding->verdict == VERDICT_FAIL,
       "an intermittently slow path is at fault");
    ok(finding && finding->node + finding->peer == 4 && finding->rail == 0,
       "... the path from n2 to n4");
    has_str(finding ? finding->message : "", "at times", "... the message says so");
    is_int((long)localization.findings.count, 1, "... and neither of its ends is");
    recorded_mbps = NULL;
    rates_mbps = NULL;
    rates_peer = -1;
}

static void warns_of_high_least_latency(void)
{
    const struct finding *finding;

    latency_us = 259;
    least_latency_us = 9;
    ok(!run_localization(&healthy, &healthy), "answers that other work delays are no fault");
    is_int((long)localization.findings.count, 0, "... or warning, while some come fast");
    least_latency_us = 240;
    run_localization(&healthy, &healthy);
    finding = localization.findings.count > 0 ? &localization.findings.items[0] : NULL;
    ok(finding && finding->verdict == VERDICT_WARN && finding->node == 1 && finding->rail == 0,
       "a rail that never answers fast gets a warning");
    is_near(finding ? finding->value : NAN, 240, 0, "... with its fastest answer");
    is_near(finding ? finding->limit : NAN, 35, 0, "... and a limit relative to its peers");
    latency_stalled = 0.4;
    run_localization(&healthy, &healthy);
    is_int((long)localization.findings.count, 1, "... also if pauses can explain a part of it");
    latency_stalled = 0.7;
    run_localization(&healthy, &healthy);
    is_int((long)localization.findings.count, 0, "... but not if pauses can explain all of it");
    latency_us = latency_stalled = 0;
}

static void names_latency_of_slow_rails(void)
{
    const struct finding *finding;
    char text[256] = "";

    latency_us = 5200;
    least_latency_us = 5000;
    finding = run_localization(&slow, &slow);
    if (finding)
        localization_short_message(finding, text, sizeof text);
    is_str(text, "eth1 49 of 200 Mb/s, latency 5000 us, peers 7 us",
           "a slow rail with a high latency is named with both");
    has_str(finding ? finding->message : "", "latency is 5000 us, its peers' 7: check its path",
            "... and with the first thing to check");
    latency_us = least_latency_us = 9;
    finding = run_localization(&slow, &slow);
    if (finding)
        localization_short_message(finding, text, sizeof text);
    is_str(text, "eth1 49 of 200 Mb/s",
           "... one with a normal latency is named with its bandwidth only");
    latency_us = 0;
}

static void names_inconsistent_reports(void)
{
    const struct figures inconsistent = {196, 198, 49, 49, 0};
    const struct finding *finding = run_localization(&inconsistent, &inconsistent);
    bool is_named = false;

    for (size_t i = 0; i < localization.findings.count; i++)
        is_named |= localization.findings.items[i].kind == FINDING_INCONSISTENT &&
                    localization.findings.items[i].node == 1;
    ok(finding && is_named, "a node that reports more than its receivers got is inconsistent");
}

/* A value of another kind of finding would enter the history of the node's links. */
static void records_values_of_measurements_only(void)
{
    for (enum finding_kind kind = FINDING_NODE; kind <= FINDING_MISSING; kind++) {
        const struct finding finding = {
            .kind = kind, .node = 1, .peer = -1, .metric = "bandwidth", .value = 98, .limit = 100};
        struct record record = localization_record(&localization, &finding);
        bool has_value = kind != FINDING_INCONSISTENT && kind != FINDING_MISPLACED;

        is_str(record.node, localization.links.nodes[1], "a finding of kind %d has its node", kind);
        ok(!record.peer, "... and no peer");
        is_str(record.test, kind == FINDING_MISPLACED ? "net.topology" : "links", "... its test");
        ok(has_value ? record.value == 98 && record.limit == 100 && record.unit && record.metric
                     : isnan(record.value) && isnan(record.limit) && !record.unit && !record.metric,
           "... and %s value", has_value ? "its" : "no");
    }
}

static void retests_hosts(void)
{
    struct figures once = healthy, alone = healthy;
    const struct finding *finding;

    once.together = 100;
    alone.together = 100;
    finding = run_localization(&once, &alone);
    ok(finding && finding->kind == FINDING_HOST && finding->verdict == VERDICT_FAIL,
       "a host that is slow with all rails together, twice, is at fault");
    is_int(finding ? finding->node : -1, 1, "... n2");
    ok(together_retests > 0, "... it was measured again with all rails together");
    alone.together = 195;
    ok(!run_localization(&once, &alone), "a host that is healthy in the retest is not at fault");
}

static void passes_warnings_on(void)
{
    int history = 0, reference = 0;

    localization.get_history = get_history;
    localization.get_reference = get_reference;
    ok(!run_localization(&healthy, &healthy), "warnings fail no node");
    for (size_t i = 0; i < localization.findings.count; i++) {
        const struct finding *finding = &localization.findings.items[i];

        history += strcmp(finding->limit_source, "history") == 0 && finding->node == 2;
        reference += strcmp(finding->limit_source, "reference") == 0 && finding->node == 3;
    }
    is_int(history, 1, "a rail that was faster before gets one warning");
    is_int(reference, 1, "... and so does one that is slower than the reference");
    is_int((long)localization.findings.count, 2, "... and nothing else does");
    is_int(retest_count, 0, "a warning causes no retest");
    localization.get_history = NULL;
    localization.get_reference = NULL;
    ok(!links_show_leaves(&localization.links), "uplinks as fast as leaves do not show the leaves");
}

/* ---------------------------------------------------------------- libibverbs */

static enum verdict reported[NODES];
static char reported_message[512]; /* of the last report */

static void keep_report(void *context, const char *node, enum verdict verdict,
                        const struct record *record)
{
    snprintf(reported_message, sizeof reported_message, "%s",
             record->message ? record->message : "");
    for (int i = 0; i < NODES; i++)
        if (strcmp(names[i], node) == 0 && verdict > reported[i])
            reported[i] = verdict;
}

static void add_failure(const char *metric, int from, int to)
{
    struct record record = RECORD_INIT;

    record.suite = record.test = "links";
    record.metric = metric;
    record.node = names[from];
    record.peer = to < 0 ? NULL : names[to];
    record.part = "rxe1:1";
    record.verdict = VERDICT_FAIL;
    put_record(&record);
}

/* Collects the reports for the added records. retest: what does not arrive in a retest, ended by
 * an entry with times 0. Removes the records of retests afterwards. */
static void collect_reports(const struct failing_messages *retest)
{
    size_t count = records.count;

    memset(reported, 0, sizeof reported);
    *verbs_pairs = '\0';
    failing_messages = retest;
    localization_self_reports(&localization, keep_report, NULL);
    records.count = count; /* as if there had been none */
}

/* n3 fails with two of its three partners, n1 and n4. */
static void report_n3(const struct failing_messages *retest)
{
    records.count = 0;
    add_failure("bandwidth_rc_write", 2, 0);
    add_failure("bandwidth_rc_write", 3, 2);
    collect_reports(retest);
}

static void retests_verbs(void)
{
    static const struct failing_messages always[] = {{2, -1, 99}, {0}},
                                         at_times[] = {{2, -1, 1}, {0}},
                                         a_path[] = {{2, 0, 99}, {0}},
                                         others[] = {{2, -1, 99}, {0, 1, 99}, {0}}, none[] = {{0}};

    report_n3(always);
    ok(reported[2] == VERDICT_FAIL, "a failure that recurs in the retest is that node's");
    ok(reported[0] == VERDICT_NONE && reported[3] == VERDICT_NONE, "... and no other node's");
    is_str(verbs_pairs, "n3:n4,n1:n3,n1:n2",
           "... measured with good partners in turn and a control pair, each isolated");
    report_n3(none);
    ok(reported[2] == VERDICT_UNKNOWN, "a failure that does not recur fails no node");
    has_str(reported_message, "did not recur in the retest", "... the message says so");
    report_n3(at_times);
    ok(reported[2] == VERDICT_UNKNOWN, "... nor does one that recurs only in some rounds");
    report_n3(a_path);
    ok(reported[2] == VERDICT_UNKNOWN, "... or with one partner only");
    report_n3(others);
    ok(reported[2] == VERDICT_UNKNOWN, "... or with the control pair as well");
    has_str(reported_message, "control pair fails too", "... the message says so");
    retests_most = retest_count;
    report_n3(always);
    ok(reported[2] == VERDICT_UNKNOWN, "... or that could not be measured again");
    has_str(reported_message, "not measured again", "... the message says so");
    retests_most = 99;
}

/* n3 is the only node on its leaf switch. */
static void retests_verbs_across(void)
{
    static const struct failing_messages always[] = {{2, -1, 99}, {0}};

    leaves[3] = 0;
    run_localization(&healthy, &healthy);
    report_n3(always);
    ok(reported[2] == VERDICT_UNKNOWN,
       "for a node alone on its leaf switch the uplinks may be at fault");
    has_str(reported_message, "uplinks of its leaf switch", "... the message says so");
    leaves[3] = 1;
    run_localization(&healthy, &healthy);
}

/* n1 and n2 are on one leaf switch, n3 and n4 on another. */
static void reports_damage(void)
{
    run_localization(&healthy, &healthy);
    records.count = 0;
    add_failure("damaged", 0, 2);
    add_failure("damaged", 0, 3);
    collect_reports(NULL);
    ok(reported[0] == VERDICT_UNKNOWN,
       "damage only with nodes of another leaf switch fails no node");
    has_str(reported_message, "uplinks of its leaf switch", "... the message says so");
    add_failure("damaged", 0, 1);
    collect_reports(NULL);
    ok(reported[0] == VERDICT_FAIL, "... with a node of its own leaf, too, it is that node's");
    ok(reported[1] == VERDICT_NONE && reported[2] == VERDICT_NONE, "... and no other node's");
}

static void reports_verbs_failures(void)
{
    static const struct failing_messages n3[] = {{2, -1, 99}, {0}};

    run_localization(&healthy, &healthy);
    records.count = 0;
    add_failure("bandwidth_rc_write", 2, 0);
    add_failure("bandwidth_rc_write", 0, 2);
    collect_reports(n3);
    ok(reported[0] == VERDICT_UNKNOWN && reported[2] == VERDICT_UNKNOWN,
       "verbs messages that fail between two ports may be either node's");
    is_str(verbs_pairs, "", "... and a retest could not decide");
    add_failure("bandwidth_ud_send", 1, 2);
    collect_reports(n3);
    ok(reported[2] == VERDICT_FAIL, "... with a second partner they are that node's");
    ok(reported[0] == VERDICT_NONE && reported[1] == VERDICT_NONE, "... and no other node's");
    retests_verbs();
    retests_verbs_across();
    records.count = 0;
    add_failure("state", 3, 1);
    collect_reports(NULL);
    ok(reported[3] == VERDICT_UNKNOWN && reported[1] == VERDICT_UNKNOWN,
       "GIDs that do not fit may be either node's");
    add_failure("state", 0, -1);
    collect_reports(NULL);
    ok(reported[0] == VERDICT_FAIL, "... a port's own state is its node's");
    add_failure("bandwidth_together", 1, 3);
    collect_reports(NULL);
    ok(reported[3] == VERDICT_UNKNOWN, "diagnosed metrics are left to the diagnosis");
}

static void count_reported(void *context, const char *node, enum verdict verdict,
                           const struct record *record)
{
    size_t *counts = context;

    counts[verdict == VERDICT_FAIL && strcmp(node, "m77") == 0]++;
}

/* One node damages the data that it exchanges with each of many. */
static void reports_damage_with_many_nodes(void)
{
    enum { MANY = 100000 };
    static char texts[MANY + 1][16] = {"m77"};
    static const char *many[MANY + 1] = {texts[0]};
    struct localization all = {.source = {.records = &records},
                               .links = {.node_count = MANY + 1, .nodes = many}};
    size_t counts[2] = {0, 0};

    records_clear(&records);
    records = (struct records){0};
    for (int i = 1; i <= MANY; i++) {
        struct record record;

        snprintf(texts[i], sizeof texts[i], "m%d", i + 100);
        many[i] = texts[i];
        record = RECORD(.suite = "links", .test = "links", .metric = "damaged",
                        .node = many[i % 2 ? i : 0], .peer = many[i % 2 ? 0 : i],
                        .verdict = VERDICT_FAIL);
        put_record(&record);
    }
    if (name_index_build(many, MANY + 1, &all.links.by_node) != 0)
        tap_skip_all("no memory");
    localization_self_reports(&all, count_reported, counts);
    name_index_clear(&all.links.by_node);
    is_int((long)counts[1], MANY,
           "a node damages the data of 100,000 others and is reported for each");
    is_int((long)counts[0], 0, "... and no other node is reported");
}

/* Two of n2's three paths were low, or only one, and there was no time for a retest. */
static void doubts_rails_without_retests(void)
{
    static const double two_mbps[NODES][NODES] = {
        {0, 118.0}, {193.6, 0, 49.1, 194.7}, {0, 192.2}, {0, 197.5}};
    static const double one_mbps[NODES][NODES] = {
        {0, 194.0}, {193.6, 0, 195.1, 58.7}, {0, 192.2}, {0, 77.5}};
    const struct finding *finding;

    recorded_mbps = two_mbps;
    retests_most = 0;
    run_localization(&healthy, &healthy);
    finding = rail_of_n2();
    ok(finding && finding->kind == FINDING_AMBIGUOUS && finding->verdict == VERDICT_UNKNOWN,
       "a rail that may be at fault is ambiguous without a retest");
    has_str(finding ? finding->message : "", "could not be measured again",
            "... the message says so");
    recorded_mbps = one_mbps;
    finding = run_localization(&healthy, &healthy);
    ok(finding && finding->kind == FINDING_AMBIGUOUS && localization.findings.count == 2 &&
           finding[0].node + finding[1].node == 4,
       "... with one slow path either end may be at fault");
    recorded_mbps = NULL;
    retests_most = 99;
}

static bool is_of_all_rails(enum verdict verdict)
{
    const struct finding *finding = localization.findings.items;

    return localization.findings.count == 1 && finding->kind == FINDING_FABRIC &&
           finding->rail < 0 && finding->verdict == verdict;
}

static void retests_slow_fabrics(void)
{
    all_mbps = all_alone_mbps = 99;
    run_localization(&healthy, &healthy);
    ok(retest_count > 0, "if all pairs are slow, some are measured again");
    ok(is_of_all_rails(VERDICT_FAIL), "... if they are slow in the retest the fabric is at fault");
    all_alone_mbps = 196;
    ok(!run_localization(&healthy, &healthy), "... if they are healthy it is not");
    is_int((long)localization.findings.count, 0, "... and there is no finding");
    all_alone_mbps = 99;
    retests_most = 0;
    run_localization(&healthy, &healthy);
    ok(is_of_all_rails(VERDICT_UNKNOWN), "... without a retest it is unknown");
    retests_most = 99;
    all_mbps = all_alone_mbps = 0;
}

/* Adds the bandwidths of a pair on a rail in both directions. */
static void add_pair(int low, int high, int rail, double mbps)
{
    add_record("bandwidth", low, high, rail, mbps, mbps, 0);
    add_record("bandwidth", high, low, rail, mbps, mbps, 0);
}

static void reads_new_records(void)
{
    struct links_source source = {
        .records = &records, .conf = &conf, .names = &nodes, .leaves = (int[]){-1, -1, -1, -1}};
    struct links links = {0};

    clear_all();
    add_pair(2, 3, 1, 100);
    add_pair(0, 1, 1, 100);
    is_int(links_read(&source, 0, SIZE_MAX, 0.85, &links), 0, "records are read");
    is_int((long)links.sample_count, 4, "... all of them");
    is_int(links.samples[0].from, 0, "... sorted by pair");
    add_pair(0, 1, 1, 50);
    is_int(links_read(&source, 0, 4, 0.85, &links), 0, "new records are read");
    is_int((long)links.sample_count, 6, "... and added");
    ok(links.samples[2].from == 0 && links.measured[2].mbps == 50 && links.measured[2].is_isolated,
       "... at the end of their pair");
    ok(links.samples[4].from == 2 && !links.measured[4].is_isolated, "... before the next pair");
    is_int(links.samples[4].rail, 0, "the only rail has index 0");
    add_pair(0, 1, 0, 100);
    is_int(links_read(&source, 0, 4, 0.85, &links), 0, "records of another rail are read");
    is_int((long)links.rail_count, 2, "... which is added");
    is_str(links.rails[0], "eth1", "... in the order of names");
    is_int((long)links.sample_count, 8, "... no sample is lost");
    is_int(links.samples[0].rail, 1, "... and the indexes of rails are adjusted");
    links_clear(&links);
}

/* If one node does not report its speed, the speeds of the others apply. */
static void scales_by_reported_speeds(void)
{
    static const double speeds_mbps[NODES] = {200, 200, 100, 0};
    struct links_source source = {
        .records = &records, .conf = &conf, .names = &nodes, .leaves = (int[]){-1, -1, -1, -1}};
    struct links links = {0};

    clear_all();
    for (int node = 0; node < NODES; node++) {
        struct record record =
            RECORD(.suite = "links", .test = "links", .metric = "speed", .node = names[node],
                   .part = rails[0], .value = speeds_mbps[node], .unit = "Mb/s");

        if (speeds_mbps[node] > 0)
            put_record(&record);
    }
    add_pair(0, 1, 0, 196);
    add_pair(0, 2, 0, 98);
    add_pair(1, 3, 0, 196);
    is_int(links_read(&source, 0, SIZE_MAX, 0.85, &links), 0, "one node reports no speed");
    is_int((long)links.sample_count, 6, "... and all samples are read");
    for (size_t i = 0; i < links.sample_count; i++)
        is_near(links.measured[i].expected_mbps,
                links.samples[i].to == 2 || links.samples[i].from == 2   ? 100
                : links.samples[i].to == 3 || links.samples[i].from == 3 ? 196
                                                                         : 200,
                0.5, "n%d to n%d are compared with the reported speeds, else with others",
                links.samples[i].from + 1, links.samples[i].to + 1);
    links_clear(&links);
    clear_all();
}

int main(void)
{
    conf_defaults(&conf);
    reads_new_records();
    scales_by_reported_speeds();
    localization_make(&conf, &nodes, leaves, measure);
    fails_rails_that_stay_slow();
    fails_the_only_rail();
    repeats_retests_without_lost_nodes();
    clears_rails_of_busy_machines();
    drains_proven_faults_only();
    keeps_certain_faults();
    ignores_bursts();
    fails_intermittent_rails();
    retests_rails_with_some_low_transfers();
    counts_each_transfer();
    forgives_one_low_transfer();
    counts_each_transfer_of_a_path();
    doubts_rails_without_retests();
    retests_slow_fabrics();
    warns_of_high_least_latency();
    names_latency_of_slow_rails();
    names_inconsistent_reports();
    records_values_of_measurements_only();
    retests_hosts();
    passes_warnings_on();
    reports_damage();
    reports_verbs_failures();
    reports_damage_with_many_nodes();
    clear_all();
    conf_clear(&conf);
    return tap_done();
}
