/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/sums.h"
#include "tests/unit/tap.h"

#include <math.h>

static struct sum_verdict verdicts[8];

int main(void)
{
    struct link_sum sums[] = {{"uplink leaf1-leaf2", 800, 4},      {"uplink leaf2-leaf1", 798, 4},
                              {"uplink leaf1-leaf3", 802, 4},      {"uplink leaf3-leaf1", 600, 4},
                              {"bisection first-second", 1000, 8}, {"uplink leaf1-leaf4", 150, 2}};

    sums_judge(sums, 6, 200, 85, verdicts);
    is_int(verdicts[0].verdict, VERDICT_PASS, "an uplink that carries all of its flows");
    is_near(verdicts[0].limit, 680, 0.1, "... is held to what their rails have");
    is_int(verdicts[3].verdict, VERDICT_WARN, "one that carries less than its peers");
    is_near(verdicts[3].limit, 680, 0.1, "... is held to their median");
    has_str(verdicts[3].message, "uplink leaf3-leaf1: 600 Mb/s in 4 flows, 75 % of what their",
            "... and says what it has");
    is_int(verdicts[4].verdict, VERDICT_UNKNOWN, "half of it through a bisection without peers");
    has_str(verdicts[4].message, "nothing to hold it against", "... is not known to be a fault");
    is_int(verdicts[5].verdict, VERDICT_UNKNOWN, "another number of flows has other peers");
    sums_judge(sums, 6, 400, 85, verdicts);
    is_int(verdicts[0].verdict, VERDICT_PASS,
           "half of it, as all peers have it, is as it was built");
    is_int(verdicts[3].verdict, VERDICT_WARN, "... less than these is not");
    sums_judge(sums, 1, NAN, 85, verdicts);
    is_int(verdicts[0].verdict, VERDICT_UNKNOWN, "of rails that are not known nothing can be said");
    ok(isnan(verdicts[0].limit), "... there is no limit");
    return tap_done();
}
