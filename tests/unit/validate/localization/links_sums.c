/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/tap.h"
#include "validate/localization/sums.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static struct sum_verdict verdicts[8];

/* Each leaf switch of a large cluster to each other one. */
static void test_many(void)
{
    enum { LEAVES = 625, SUMS = LEAVES * (LEAVES - 1) };
    struct link_sum *sums = calloc(SUMS, sizeof *sums);
    struct sum_verdict *many = calloc(SUMS, sizeof *many);
    static char names[SUMS][32];
    int warned = 0, count = 0;

    for (int from = 0; sums && many && from < LEAVES; from++)
        for (int to = 0; to < LEAVES; to++) {
            if (from == to)
                continue;
            snprintf(names[count], sizeof names[count], "uplink leaf%d-leaf%d", from, to);
            sums[count] = (struct link_sum){names[count], 400 + count % 7, from % 2 ? 8 : 4};
            count++;
        }
    sums[12345].mbps = 100;
    sums_judge(sums, SUMS, 200, 85, many);
    for (int i = 0; i < SUMS; i++)
        warned += many[i].verdict == VERDICT_WARN;
    is_int(warned, 1, "of 390,000 uplinks one carries less than its peers");
    is_int(many[12345].verdict, VERDICT_WARN, "... and is named");
    is_near(many[12345].limit, 0.85 * 403, 0.01,
            "... with a limit relative to the median of the others");
    free(sums);
    free(many);
}

int main(void)
{
    struct link_sum sums[] = {{"uplink leaf1-leaf2", 800, 4},      {"uplink leaf2-leaf1", 798, 4},
                              {"uplink leaf1-leaf3", 802, 4},      {"uplink leaf3-leaf1", 600, 4},
                              {"bisection first-second", 1000, 8}, {"uplink leaf1-leaf4", 150, 2}};

    sums_judge(sums, 6, 200, 85, verdicts);
    is_int(verdicts[0].verdict, VERDICT_PASS,
           "an uplink that carries the rate of its flows passes");
    is_near(verdicts[0].limit, 680, 0.1, "... its limit follows the speed of the rails");
    is_int(verdicts[3].verdict, VERDICT_WARN,
           "an uplink that carries less than its peers gets a warning");
    is_near(verdicts[3].limit, 680, 0.1, "... its limit follows their median");
    has_str(verdicts[3].message, "uplink leaf3-leaf1: 600 Mb/s in 4 flows, 75 % of what their",
            "... the message has its rate and share");
    is_int(verdicts[4].verdict, VERDICT_UNKNOWN,
           "a bisection at half the rate without peers is unknown");
    has_str(verdicts[4].message, "no peers to compare with", "... the message says why");
    is_int(verdicts[5].verdict, VERDICT_UNKNOWN,
           "an uplink with another number of flows has other peers");
    sums_judge(sums, 6, 400, 85, verdicts);
    is_int(verdicts[0].verdict, VERDICT_PASS, "half the rate on all peers is by design");
    is_int(verdicts[3].verdict, VERDICT_WARN, "... less than the peers is a warning");
    sums_judge(sums, 1, NAN, 85, verdicts);
    is_int(verdicts[0].verdict, VERDICT_UNKNOWN, "without the speed of the rails it is unknown");
    ok(isnan(verdicts[0].limit), "... there is no limit");
    sums[0].mbps = NAN;
    sums_judge(sums, 6, 400, 85, verdicts);
    is_int(verdicts[0].verdict, VERDICT_WARN, "an uplink without a value gets a warning");
    test_many();
    return tap_done();
}
