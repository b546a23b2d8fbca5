/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/localization/losses/losses.h"

#include <math.h>
#include <string.h>

#include "lib/base/text.h"
#include "tests/unit/tap.h"

enum { NODES = 16, RAILS = 2, SENT = 1400 };

/* Shares that rails (sends, receives), paths, uplinks and a leaf lose. */
static double sends[NODES][RAILS], receives[NODES][RAILS], path_shares[NODES][NODES], uplink_share,
    leaf_share;
static bool is_damaged, is_stalled;
static bool knows_leaves; /* the leaf switches are known */

/* What is measured again on rail 0; NULL: nothing. */
static const struct retest {
    /* Lost shares: of rail_node with the first partner, of rail_node with the second, and
     * between the two partners; control < 0: not measured. */
    double suspect, partner, control;
    bool is_stalled;
    int rail_node, first, second;
} * retest;

static void losses_reset(void)
{
    for (int i = 0; i < NODES; i++) {
        for (int k = 0; k < RAILS; k++)
            sends[i][k] = receives[i][k] = 0;
        for (int k = 0; k < NODES; k++)
            path_shares[i][k] = 0;
    }
    uplink_share = leaf_share = 0;
    is_damaged = is_stalled = knows_leaves = false;
    retest = NULL;
}

static void add_isolated(struct loss_sample *samples, size_t *count, int from, int to, double share)
{
    for (int direction = 0; direction < 2; direction++)
        samples[(*count)++] = (struct loss_sample){.from = direction ? to : from,
                                                   .to = direction ? from : to,
                                                   .sent = SENT,
                                                   .lost = floor(share * SENT),
                                                   .is_isolated = true,
                                                   .is_stalled = retest->is_stalled};
}

static void add_retest(struct loss_sample *samples, size_t *count)
{
    int node = retest->rail_node, first = retest->first, second = retest->second;

    add_isolated(samples, count, node, first, retest->suspect);
    add_isolated(samples, count, node, second, retest->partner);
    if (retest->control >= 0)
        add_isolated(samples, count, first, second, retest->control);
}

/* Returns the findings when `nodes` nodes measure each other: "rail 2.0 both;path 0-1.0". Nodes
 * below `leaf` are on one leaf switch. */
static const char *losses_text(int nodes, int leaf)
{
    static char text[4096];
    static const char *const names[] = {
        [DIAGNOSE_RAIL] = "rail",     [DIAGNOSE_PATH] = "path",   [DIAGNOSE_LEAF] = "leaf",
        [DIAGNOSE_UPLINK] = "uplink", [DIAGNOSE_FABRIC] = "many",
    };
    static const char *const retests[] = {" not retested", " unscheduled", " no control",
                                          " control too",  " not again",   " confirmed"};
    struct loss_sample samples[NODES * NODES * RAILS + 6];
    int leaves[NODES];
    struct losses losses;
    struct loss_data data;
    size_t count = 0;

    for (int i = 0; i < nodes; i++)
        for (int k = 0; k < nodes; k++)
            for (int rail = 0; rail < RAILS && i != k; rail++) {
                double share = sends[i][rail] + receives[k][rail] +
                               (rail == 0 ? path_shares[i][k] : 0) +
                               ((i < leaf) != (k < leaf) ? uplink_share : 0) +
                               (i < leaf || k < leaf ? leaf_share : 0);

                samples[count++] =
                    (struct loss_sample){.from = i,
                                         .to = k,
                                         .rail = rail,
                                         .sent = SENT,
                                         .lost = floor(share * SENT),
                                         .damaged = is_damaged ? floor(share * SENT) : 0,
                                         .is_stalled = is_stalled};
            }
    for (int i = 0; i < nodes; i++)
        leaves[i] = i < leaf ? 0 : 1;
    if (retest)
        add_retest(samples, &count);
    *text = '\0';
    data = (struct loss_data){
        samples,
        count,
        {.node_count = (size_t)nodes, .rail_count = RAILS, .leaves = knows_leaves ? leaves : NULL}};
    if (losses_judge(&data, &losses) != 0)
        return "no memory";
    for (size_t i = 0; i < losses.count; i++) {
        const struct loss_finding *finding = &losses.findings[i];
        const struct part *part = &finding->part;
        bool is_rail = part->type == DIAGNOSE_RAIL;

        text_join(text, sizeof text, ";", "%s", finding->is_either ? "either" : names[part->type]);
        if (!part_is_large(part))
            text_join(text, sizeof text, "", " %d", part->index);
        if (part->type == DIAGNOSE_PATH)
            text_join(text, sizeof text, "", "-%d", part->peer);
        text_join(text, sizeof text, "", ".%d%s%s%s%s%s", part->rail,
                  is_rail && part->ways & DIAGNOSE_SENDS ? " sends" : "",
                  is_rail && part->ways & DIAGNOSE_RECEIVES ? " receives" : "",
                  finding->is_damage ? " damage" : "", retest ? retests[finding->retest] : "",
                  finding->is_stalled ? " stalled" : "");
    }
    losses_clear(&losses);
    return text;
}

static void test_rails(void)
{
    losses_reset();
    is_str(losses_text(4, 0), "", "without losses there are no findings");
    sends[2][0] = receives[2][0] = 0.02;
    is_str(losses_text(4, 0), "rail 2.0 sends receives", "2 %% in both directions");
    receives[2][0] = 0;
    is_str(losses_text(4, 0), "rail 2.0 sends", "in one direction");
    is_str(losses_text(3, 0), "rail 2.0 sends", "with three nodes");
    is_str(losses_text(16, 0), "rail 2.0 sends", "with 16 nodes");
    sends[3][0] = receives[1][1] = 0.005;
    is_str(losses_text(4, 0), "rail 2.0 sends;rail 3.0 sends;rail 1.1 receives",
           "several rails, also with 0.5 %%");
    losses_reset();
    sends[1][1] = receives[1][1] = 0.005;
    is_damaged = true;
    is_str(losses_text(4, 0), "rail 1.1 sends receives damage", "damage is reported as such");
    losses_reset();
    sends[1][1] = receives[1][1] = 0.0009;
    is_str(losses_text(4, 0), "", "a loss below the limit is no finding");
}

static void test_losses_of_no_node(void)
{
    losses_reset();
    path_shares[0][1] = 0.02;
    is_str(losses_text(4, 0), "path 0-1.0", "one path in one direction");
    path_shares[1][0] = 0.02;
    is_str(losses_text(4, 0), "path 0-1.0;path 1-0.0", "in both directions");
    is_str(losses_text(2, 0), "either 0.0 sends receives;either 1.0 sends receives",
           "of two nodes either may lose");
    losses_reset();
    uplink_share = 0.02;
    ok(!strstr(losses_text(4, 2), "rail"),
       "an uplink between two leaves of two nodes is no rail's fault");
    ok(!strstr(losses_text(16, 2), "rail"), "... nor is that of a small leaf");
    ok(!strstr(losses_text(16, 8), "rail"), "... nor that of half of the nodes");
    losses_reset();
    for (int i = 0; i < 4; i++)
        sends[i][0] = 0.01;
    is_str(losses_text(4, 0), "many.0", "a loss that all nodes share is no node's fault");
}

/* The leaf switches are known. */
static void test_known_leaves(void)
{
    losses_reset();
    knows_leaves = true;
    leaf_share = 0.02;
    is_str(losses_text(4, 2), "leaf.0;leaf.1", "a leaf switch of two nodes is no rail's fault");
    is_str(losses_text(16, 4), "leaf.0;leaf.1", "... nor is one with four of sixteen nodes");
    is_str(losses_text(16, 1), "either 0.0 sends receives;either 0.1 sends receives",
           "for a node alone on its leaf switch either may lose");
    losses_reset();
    knows_leaves = true;
    uplink_share = 0.02;
    is_str(losses_text(4, 2), "uplink.0;uplink.1", "an uplink is one finding");
    is_str(losses_text(16, 8), "uplink.0;uplink.1", "... also with many paths");
    losses_reset();
    knows_leaves = true;
    sends[0][0] = 0.02;
    is_str(losses_text(4, 2), "rail 0.0 sends", "a rail's loss is not its leaf switch's");
    losses_reset();
    knows_leaves = true;
    path_shares[0][3] = path_shares[3][0] = 0.02;
    is_str(losses_text(4, 2), "path 0-3.0;path 3-0.0", "one path's loss is not an uplink's");
}

static void test_retests(void)
{
    static const struct retest again = {0.02, 0.02, 0, false, 2, 0, 1},
                               busy = {0.02, 0.02, 0, true, 2, 0, 1},
                               alone = {0.02, 0.02, -1, false, 2, 0, 1},
                               all = {0.02, 0.02, 0.02, false, 2, 0, 1},
                               some = {0.02, 0.02, 0.0014, false, 2, 0, 1},
                               path_only = {0.02, 0, 0, false, 2, 0, 1},
                               well = {0, 0, 0, false, 2, 0, 1}, others = {0, 0, 0, false, 3, 0, 1};

    losses_reset();
    sends[2][0] = receives[2][0] = 0.02;
    retest = &others;
    is_str(losses_text(4, 0), "rail 2.0 sends receives not retested", "a rail without a retest");
    retest = &again;
    is_str(losses_text(4, 0), "rail 2.0 sends receives confirmed",
           "a loss that recurs, without one of the control pair, is confirmed");
    retest = &busy;
    is_str(losses_text(4, 0), "rail 2.0 sends receives unscheduled",
           "an end was not scheduled in the retest");
    retest = &alone;
    is_str(losses_text(4, 0), "rail 2.0 sends receives no control",
           "the retest had no control pair");
    retest = &all;
    is_str(losses_text(4, 0),
           "rail 2.0 sends receives control too;path 0-1.0 not retested;path 1-0.0 not retested",
           "the control pair loses, too");
    retest = &some;
    is_str(losses_text(4, 0), "rail 2.0 sends receives confirmed",
           "... a single segment of the control pair does not count");
    retest = &path_only;
    is_str(losses_text(4, 0), "rail 2.0 sends receives not again",
           "a loss with one partner only does not confirm");
    retest = &well;
    is_str(losses_text(4, 0), "rail 2.0 sends receives not again", "a loss that does not recur");
    is_stalled = true;
    is_str(losses_text(4, 0), "", "... and was measured with unscheduled ends is no finding");
    retest = &again;
    is_str(losses_text(4, 0), "rail 2.0 sends receives confirmed stalled",
           "... but a fault if it recurs");
    losses_reset();
    sends[2][0] = 0.02;
    retest = &again;
    is_str(losses_text(4, 0), "rail 2.0 sends confirmed",
           "the directions are those that lost twice");
    losses_reset();
    is_stalled = true;
    path_shares[0][1] = 0.02;
    is_str(losses_text(4, 0), "path 0-1.0 stalled",
           "a path's finding says that ends were not scheduled");
}

int main(void)
{
    test_rails();
    test_losses_of_no_node();
    test_known_leaves();
    test_retests();
    return tap_done();
}
