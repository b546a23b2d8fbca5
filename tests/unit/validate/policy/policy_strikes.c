/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/strikes.h"

#include <math.h>

#include "tests/unit/tap.h"

enum { HOUR = 3600, DAY = 24 * HOUR };

static void test_near_limits(void)
{
    ok(strikes_is_near("peers", 160, 170), "a little below the peers is near the limit");
    ok(strikes_is_near("history", 160, 170), "a little below the history is near");
    ok(strikes_is_near("peers", 114, 170), "two thirds of the limit are near");
    ok(!strikes_is_near("peers", 113, 170), "less than two thirds are not");
    ok(!strikes_is_near("nominal", 160, 170), "below a nominal limit is never near");
    ok(!strikes_is_near("conf", 160, 170), "... nor below the site's limit");
    ok(!strikes_is_near(NULL, 160, 170), "... nor without a limit source");
    ok(!strikes_is_near("peers", NAN, 170), "... nor without a value");
    ok(!strikes_is_near("peers", 160, NAN), "... nor without a limit");
    ok(!strikes_is_near("peers", 0, 0), "... nor with a limit of zero");
    ok(strikes_is_near("peers", 60, 90), "two thirds of the limit are near");
    ok(!strikes_is_near("peers", 59, 90), "... less is not");
}

static void test_counts(void)
{
    const double now = 100 * DAY;
    const struct strike earlier[] = {
        {now - 30 * HOUR, false}, {now - 5 * HOUR, false}, {now - HOUR, false}};
    const struct strike drained[] = {
        {now - 5 * HOUR, false}, {now - 4 * HOUR, true}, {now - HOUR, false}};

    is_int(strikes_count(NULL, 0, now, DAY), 1, "without earlier strikes it is the first");
    is_int(strikes_count(earlier, 3, now, DAY), 3, "strikes within the window count");
    is_int(strikes_count(earlier, 3, now, 2 * DAY), 4, "a longer window has more strikes");
    is_int(strikes_count(earlier, 3, now, HOUR), 1,
           "a strike at the end of the window does not count");
    is_int(strikes_count(drained, 3, now, DAY), 2, "after a drain the count starts again");
}

static void test_printed_strikes(void)
{
    char text[64];

    strikes_print(2, 3, DAY, text, sizeof text);
    is_str(text, "strike 2 of 3 within 24 h", "a day is printed as 24 h");
    strikes_print(1, 3, 7 * DAY, text, sizeof text);
    is_str(text, "strike 1 of 3 within 7 days", "a week is printed as 7 days");
    strikes_print(1, 2, 90 * 60, text, sizeof text);
    is_str(text, "strike 1 of 2 within 90 min", "90 minutes are printed");
    strikes_print(1, 2, 61, text, sizeof text);
    is_str(text, "strike 1 of 2 within 61 s", "seconds are printed");
}

int main(void)
{
    test_near_limits();
    test_counts();
    test_printed_strikes();
    return tap_done();
}
