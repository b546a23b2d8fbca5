/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/collectives/effort.h"
#include "tests/unit/tap.h"

/* Simulates `collectives` collectives with `cases` cases each. A case takes seconds_each.
 * Returns the elapsed time in seconds. */
static double run_collectives(struct effort *effort, size_t collectives, size_t cases,
                              double seconds_each)
{
    double elapsed_s = 0;

    effort->planned = collectives * cases;
    for (size_t i = 0; i < collectives; i++) {
        effort_begin(effort, cases);
        for (size_t k = 0; k < cases; k++) {
            if (k >= EFFORT_LEAST && k % EFFORT_STEP == 0 && !effort_has_time(effort, elapsed_s))
                break;
            effort_add(effort);
            elapsed_s += seconds_each;
        }
    }
    return elapsed_s;
}

static void test_times(void)
{
    struct effort fast = {.allowed_s = 10}, slow = {.allowed_s = 10}, slowest = {.allowed_s = 10},
                  late = {.allowed_s = 10};
    double elapsed_s;

    run_collectives(&fast, 16, 40, 0.01);
    ok(effort_coverage(&fast) == 1, "with enough time all cases run");
    elapsed_s = run_collectives(&slow, 16, 40, 0.1);
    ok(elapsed_s > 5 && elapsed_s < 11, "slow cases use the allowed time: %.1f of 10 s", elapsed_s);
    ok(effort_coverage(&slow) > 0.1 && effort_coverage(&slow) < 0.2, "... with %.2f of the cases",
       effort_coverage(&slow));
    elapsed_s = run_collectives(&slowest, 16, 40, 10);
    ok(slowest.run == (size_t)16 * EFFORT_LEAST,
       "very slow cases still run the minimum of each collective");
    effort_begin(&late, 10);
    late.planned = 20;
    effort_begin(&late, 10);
    for (int i = 0; i < EFFORT_LEAST; i++)
        effort_add(&late);
    ok(effort_has_time(&late, 9.9), "time left by one collective is available to the next");
    ok(!effort_has_time(&late, 10), "... and no more");
}

static void test_orders(void)
{
    size_t bad = 0, gaps = 0;

    for (size_t count = 1; count <= 200; count++) {
        bool seen[200] = {false};

        for (size_t i = 0; i < count; i++) {
            size_t at = effort_order(i, count);

            bad += at >= count || seen[at];
            if (at < count)
                seen[at] = true;
        }
    }
    is_int((long long)bad, 0, "each case comes once in the order, for 1 to 200 of them");
    for (size_t quarter = 0; quarter < 4; quarter++) {
        bool is_in = false;

        for (size_t i = 0; i < 8; i++)
            is_in |= effort_order(i, 84) / 21 == quarter;
        gaps += !is_in;
    }
    is_int((long long)gaps, 0, "... and the first eight of 84 cover all quarters");
}

int main(void)
{
    test_times();
    test_orders();
    is_int(effort_odd(4, 128 << 10), 1023, "1,023 elements for few ranks");
    is_int(effort_odd(24, 128 << 10), 681, "... fewer for more ranks, an odd number");
    is_int(effort_odd(512, 128 << 10), 31, "... in proportion");
    is_int(effort_odd(100000, 128 << 10), 15, "... not fewer than 15");
    return tap_done();
}
