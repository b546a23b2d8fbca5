/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/splitmix.h"
#include "lib/base/text.h"
#include "tests/unit/validate/localization/fixture.h"

/* Records of four nodes with two rails on two leaf switches. Each stream has SENT segments, some
 * of which are retransmitted. */
enum { NODES = 4, RAILS = 2, SENT = 1000, TIMES = 3 };
static const struct hostlist nodes = {names, NODES};
static int leaves[] = {0, 0, 1, 1};

struct network {
    double sends, receives; /* lost of SENT by n2's eth1, to others and from them */
    double dropped;         /* segments that n2 drops itself of those that eth1 receives */
    double uplink, all;     /* lost segments between the leaf switches, and everywhere */
    double stalled;
    double slow_mbps; /* of all transfers over n2's eth1; 0: as fast as the others */
    bool is_uneven;   /* transfers between the leaf switches have rates by chance */
};

static struct conf conf = {.link_nominal_percent = 80, .link_peers_percent = 80};
static const struct network *current, *retest; /* retest: NULL: a retest fails */
static char requested[2][256];                 /* the pairs of each retest */
static int retest_count;

static void add_record(const char *metric, int from, int to, int rail, double value,
                       unsigned samples)
{
    struct record record =
        RECORD(.suite = "links", .test = "links", .metric = metric, .node = names[from],
               .peer = names[to], .part = rails[rail], .value = value);

    record.low = record.high = value;
    record.samples = samples;
    record.stalled = strcmp(metric, "bandwidth") == 0 ? current->stalled : (double)NAN;
    record.unit = strcmp(metric, "bandwidth") == 0 ? "Mb/s" : "count";
    put_record(&record);
}

static double mbps_of(int from, int to, int rail)
{
    static uint64_t state = 1;

    if (current->slow_mbps > 0 && rail == 0 && (from == 1 || to == 1))
        return current->slow_mbps;
    return current->is_uneven && leaves[from] != leaves[to]
               ? 196 - (double)(splitmix_next(&state) % 140)
               : 196;
}

static void add_pair_run(int from, int to)
{
    for (int rail = 0; rail < RAILS; rail++) {
        double lost = current->all + (leaves[from] != leaves[to] ? current->uplink : 0);

        lost += rail == 0 && from == 1 ? current->sends : 0;
        lost += rail == 0 && to == 1 ? current->receives : 0;
        if (rail == 0 && to == 1 && current->dropped > 0) /* written before the losses */
            add_record("socket_drops", to, from, rail, current->dropped, 0);
        add_record("bandwidth", from, to, rail, mbps_of(from, to, rail), 8);
        add_record("lost_segments", from, to, rail, lost, SENT);
    }
}

static bool measure(void *context, const struct hostlist *some, const char *pairs,
                    enum retest_passes passes, size_t *first)
{
    *first = records.count;
    if (!retest)
        return false;
    current = retest;
    if (retest_count < 2)
        snprintf(requested[retest_count], sizeof requested[0], "%s", pairs);
    retest_count++;
    for (int from = 0; from < NODES; from++)
        for (int to = 0; to < NODES; to++) {
            char pair[2][16];

            snprintf(pair[0], sizeof pair[0], "%s:%s", names[from], names[to]);
            snprintf(pair[1], sizeof pair[1], "%s:%s", names[to], names[from]);
            for (int time = 0; time < TIMES; time++)
                if (from != to && (strstr(pairs, pair[0]) || strstr(pairs, pair[1])))
                    add_pair_run(from, to);
        }
    return true;
}

/* Returns the findings, such as "fail n2 eth1 sends". */
static const char *losses_text(const struct network *once, const struct network *then)
{
    static const char *const kinds[] = {
        [DIAGNOSE_RAIL] = "",          [DIAGNOSE_PATH] = "path ",  [DIAGNOSE_LEAF] = "leaf ",
        [DIAGNOSE_UPLINK] = "uplink ", [DIAGNOSE_FABRIC] = "all ",
    };
    static char text[512];
    const struct losses *losses = &localization.losses;

    clear_all();
    localization_make(&conf, &nodes, leaves, measure);
    retest_count = 0;
    current = once;
    retest = then;
    for (int from = 0; from < NODES; from++)
        for (int to = 0; to < NODES; to++)
            if (from != to)
                add_pair_run(from, to);
    *text = '\0';
    if (localization_run(&localization) != 0 || losses_retest(&localization) != 0)
        return "no memory";
    for (size_t i = 0; i < losses->count; i++) {
        const struct loss_finding *finding = &losses->findings[i];
        const struct part *part = &finding->part;
        bool is_rail = part->type == DIAGNOSE_RAIL;

        text_join(text, sizeof text, ";", "%s %s%s%s%s%s%s", verdict_name(losses_verdict(finding)),
                  finding->is_either ? "either " : kinds[part->type],
                  part_is_large(part) ? "" : names[part->index], part_is_large(part) ? "" : " ",
                  rails[part->rail], is_rail && part->ways & DIAGNOSE_SENDS ? " sends" : "",
                  is_rail && part->ways & DIAGNOSE_RECEIVES ? " receives" : "");
    }
    return text;
}

/* Returns the first finding of that kind about a speed, or NULL. */
static const struct finding *speed_finding(enum finding_kind kind)
{
    for (size_t i = 0; i < localization.findings.count; i++)
        if (localization.findings.items[i].kind == kind)
            return &localization.findings.items[i];
    return NULL;
}

static const struct network healthy = {0}, lossy = {.sends = 20, .receives = 20},
                            lossy_sends = {.sends = 20}, lossy_uplink = {.uplink = 20},
                            uneven_uplink = {.uplink = 20, .is_uneven = true},
                            uneven = {.is_uneven = true},
                            busy = {.sends = 20, .receives = 20, .stalled = 0.4},
                            busy_well = {.stalled = 0.4}, lossy_all = {.all = 20},
                            lossy_receives = {.receives = 20},
                            slow_in_lossy = {.all = 20, .slow_mbps = 97},
                            slow_receiver = {.receives = 20, .dropped = 20},
                            both = {.receives = 40, .dropped = 20},
                            slow = {.receives = 20, .slow_mbps = 97};

int main(void)
{
    const struct finding *slow_rail;

    is_str(losses_text(&healthy, &healthy), "", "without losses there are no findings");
    is_int(retest_count, 0, "... and no retest");
    is_str(losses_text(&lossy, &lossy), "fail n2 eth1 sends receives",
           "a rail whose loss recurs fails");
    is_int(retest_count, 1, "... after one retest");
    is_str(requested[0], "n1:n2,n2:n3,n1:n3", "... with two partners, and a control pair");
    is_str(losses_text(&lossy_sends, &lossy_sends), "fail n2 eth1 sends", "... in one direction");
    is_str(losses_text(&lossy, NULL), "unknown n2 eth1 sends receives",
           "without a retest it is unknown");
    is_str(losses_text(&lossy, &healthy), "unknown n2 eth1 sends receives",
           "a loss that does not recur is unknown");
    is_int(retest_count, 1, "... after one retest");
    is_str(losses_text(&lossy, &lossy_sends), "fail n2 eth1 sends",
           "a rail fails for the direction that loses twice");
    ok(strncmp(losses_text(&lossy, &lossy_all), "unknown n2 eth1", 15) == 0,
       "a loss is unknown if the control pair loses, too");
    is_str(losses_text(&lossy, &busy), "unknown n2 eth1 sends receives",
           "... or if its ends were not scheduled in the retest");
    is_int(retest_count, 2, "... of which there are two");
    is_str(losses_text(&busy, &lossy), "fail n2 eth1 sends receives",
           "a rail that is lossy on a busy machine fails if the loss recurs");
    is_str(losses_text(&busy, &healthy), "",
           "a loss on a busy machine that does not recur is no finding");
    ok(strncmp(losses_text(&busy, &busy_well), "unknown", 7) == 0,
       "... unless the retest was busy, too");
    is_str(losses_text(&lossy_uplink, &lossy_uplink), "fail uplink eth1;fail uplink eth2",
           "a lossy uplink is no node's fault");
    is_int(retest_count, 0, "... and needs no retest");
    losses_text(&uneven, &uneven);
    ok(speed_finding(FINDING_LEAF), "rates by chance between leaf switches may be a leaf switch's");
    for (int i = 0; i < 5; i++) {
        losses_text(&uneven_uplink, &uneven_uplink);
        ok(!speed_finding(FINDING_LEAF), "... not if the uplink loses packets");
    }
    is_str(losses_text(&lossy_all, &lossy_all), "fail all eth1;fail all eth2",
           "a loss that all share is no node's fault");
    losses_text(&slow_in_lossy, &slow_in_lossy);
    slow_rail = speed_finding(FINDING_RAIL);
    ok(slow_rail && slow_rail->verdict == VERDICT_FAIL && slow_rail->node == 1,
       "... and does not excuse a rail that is slower than all others");
    is_str(losses_text(&slow_receiver, &slow_receiver), "",
           "segments that the receiver dropped itself are no loss of the network");
    is_int(retest_count, 0, "... and need no retest");
    is_str(losses_text(&lossy_receives, &slow_receiver), "unknown n2 eth1 receives",
           "... also in a retest");
    is_str(losses_text(&both, &both), "fail n2 eth1 receives", "other losses of that rail are");
    is_str(losses_text(&slow, &slow), "",
           "drops of a slow rail are no loss, though most samples are retests of it");
    clear_all();
    return tap_done();
}
