/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/strikes.h"

#include <math.h>

#include "tests/unit/tap.h"

enum { HOUR = 3600, DAY = 24 * HOUR };

static void near(void)
{
    ok(strikes_is_near("peers", 160, 170), "a little below its peers is near");
    ok(strikes_is_near("history", 160, 170), "a little below its past is near");
    ok(strikes_is_near("peers", 114, 170), "two thirds of the limit is near");
    ok(!strikes_is_near("peers", 113, 170), "less is not");
    ok(!strikes_is_near("nominal", 160, 170), "below an absolute floor is not, however little");
    ok(!strikes_is_near("conf", 160, 170), "nor below what the site wants");
    ok(!strikes_is_near(NULL, 160, 170), "nor what has no limit");
    ok(!strikes_is_near("peers", NAN, 170), "nor what was not measured");
    ok(!strikes_is_near("peers", 160, NAN), "nor against nothing");
    ok(!strikes_is_near("peers", 0, 0), "nor against zero");
}

static void counts(void)
{
    const double now = 100 * DAY;
    const struct strike earlier[] = {
        {now - 30 * HOUR, false}, {now - 5 * HOUR, false}, {now - HOUR, false}};
    const struct strike drained[] = {
        {now - 5 * HOUR, false}, {now - 4 * HOUR, true}, {now - HOUR, false}};

    is_int(strikes_count(NULL, 0, now, DAY), 1, "the first is the first");
    is_int(strikes_count(earlier, 3, now, DAY), 3, "those within the window count");
    is_int(strikes_count(earlier, 3, now, 2 * DAY), 4, "a longer one remembers more");
    is_int(strikes_count(earlier, 3, now, HOUR), 1, "one at its very end does not count");
    is_int(strikes_count(drained, 3, now, DAY), 2, "a drain begins the count again");
}

static void words(void)
{
    char text[64];

    strikes_print(2, 3, DAY, text, sizeof text);
    is_str(text, "strike 2 of 3 within 24 h", "a day is 24 h");
    strikes_print(1, 3, 7 * DAY, text, sizeof text);
    is_str(text, "strike 1 of 3 within 7 days", "a week is 7 days");
    strikes_print(1, 2, 90 * 60, text, sizeof text);
    is_str(text, "strike 1 of 2 within 90 min", "90 minutes");
    strikes_print(1, 2, 61, text, sizeof text);
    is_str(text, "strike 1 of 2 within 61 s", "seconds");
}

int main(void)
{
    near();
    counts();
    words();
    return tap_done();
}
