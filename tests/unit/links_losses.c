/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/losses/losses.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

enum { NODES = 16, RAILS = 2, SENT = 1400 };

/* A network whose rails, ways, pairs and leaves lose so much. */
static double sends[NODES][RAILS], receives[NODES][RAILS], path[NODES][NODES], uplink;
static bool is_damaged;

static void reset(void)
{
    for (int i = 0; i < NODES; i++) {
        for (int k = 0; k < RAILS; k++)
            sends[i][k] = receives[i][k] = 0;
        for (int k = 0; k < NODES; k++)
            path[i][k] = 0;
    }
    uplink = 0;
    is_damaged = false;
}

/* "rail 2.0 both;path 0-1.0": what is found when `nodes` measure each other, those below leaf on
 * one leaf switch. */
static const char *found(int nodes, int leaf)
{
    static char text[4096];
    static const char *const names[] = {"rail", "either", "path", "many"};
    struct loss_sample samples[NODES * NODES * RAILS];
    struct loss_finding *findings;
    size_t count = 0, total, used = 0;

    for (int i = 0; i < nodes; i++)
        for (int k = 0; k < nodes; k++)
            for (int rail = 0; rail < RAILS && i != k; rail++) {
                double share = sends[i][rail] + receives[k][rail] + (rail == 0 ? path[i][k] : 0) +
                               ((i < leaf) != (k < leaf) ? uplink : 0);

                samples[count++] =
                    (struct loss_sample){.from = i,
                                         .to = k,
                                         .rail = rail,
                                         .sent = SENT,
                                         .lost = floor(share * SENT),
                                         .damaged = is_damaged ? floor(share * SENT) : 0};
            }
    *text = '\0';
    if (losses_judge(samples, count, nodes, RAILS, &findings, &total) != 0)
        return "no memory";
    for (size_t i = 0; i < total && used + 64 < sizeof text; i++) {
        const struct loss_finding *finding = &findings[i];

        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? ";" : "",
                                 names[finding->kind]);
        if (finding->node >= 0)
            used += (size_t)snprintf(text + used, sizeof text - used, " %d", finding->node);
        if (finding->peer >= 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "-%d", finding->peer);
        used +=
            (size_t)snprintf(text + used, sizeof text - used, ".%d%s%s%s", finding->rail,
                             finding->sends ? " sends" : "", finding->receives ? " receives" : "",
                             finding->is_damage ? " damage" : "");
    }
    free(findings);
    return text;
}

static void rails(void)
{
    reset();
    is_str(found(4, 0), "", "nothing is lost: nothing is found");
    sends[2][0] = receives[2][0] = 0.02;
    is_str(found(4, 0), "rail 2.0 sends receives", "2 %% both ways");
    receives[2][0] = 0;
    is_str(found(4, 0), "rail 2.0 sends", "one way");
    is_str(found(3, 0), "rail 2.0 sends", "of three nodes");
    is_str(found(16, 0), "rail 2.0 sends", "of many");
    sends[3][0] = receives[1][1] = 0.005;
    is_str(found(4, 0), "rail 2.0 sends;rail 3.0 sends;rail 1.1 receives", "several, 0.5 %% too");
    reset();
    sends[1][1] = receives[1][1] = 0.005;
    is_damaged = true;
    is_str(found(4, 0), "rail 1.1 sends receives damage", "damage is told");
    reset();
    sends[1][1] = receives[1][1] = 0.0009;
    is_str(found(4, 0), "", "less than the limit is nothing");
}

static void nobodys(void)
{
    reset();
    path[0][1] = 0.02;
    is_str(found(4, 0), "path 0-1.0", "one path, one way");
    path[1][0] = 0.02;
    is_str(found(4, 0), "path 0-1.0;path 1-0.0", "both ways");
    is_str(found(2, 0), "either 0.0 sends receives;either 1.0 sends receives",
           "of two nodes it could be either");
    reset();
    uplink = 0.02;
    ok(!strstr(found(4, 2), "rail"), "an uplink between two leaves of two is no rail's");
    ok(!strstr(found(16, 2), "rail"), "nor one of a small leaf");
    ok(!strstr(found(16, 8), "rail"), "nor one of half of the nodes");
    reset();
    for (int i = 0; i < 4; i++)
        sends[i][0] = 0.01;
    is_str(found(4, 0), "many.0", "what all have alike is no node's");
}

static void congestion(void)
{
    ok(losses_is_congested(99, 198), "half as fast as others: it may have been held back");
    ok(!losses_is_congested(180, 198), "nearly as fast");
    ok(losses_is_congested(NAN, 198), "unknown");
    for (int i = 0; i <= LOSS_FAST_SHARE; i++)
        ok(losses_limit((enum loss_limit_name)i)->value > 0 &&
               *losses_limit((enum loss_limit_name)i)->source,
           "limit %d has a value and a source", i);
}

int main(void)
{
    rails();
    nobodys();
    congestion();
    return tap_done();
}
