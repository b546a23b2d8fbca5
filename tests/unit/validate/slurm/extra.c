/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/extra.h"

#include <stdlib.h>

#include "tests/unit/tap.h"

static void check_extra(const char *extra, int level, long long expires, const char *expected,
                        const char *name)
{
    struct error err = {""};
    char *text = extra_set_level(extra, level, expires, &err);

    is_str(text ? text : err.text, expected, "%s", name);
    free(text);
}

int main(void)
{
    is_int(extra_is_expired("{\"rack\":7,\"muster_level\":1,\"muster_expires\":5}", 5), 1,
           "an expired entry is over");
    is_int(extra_is_expired("{\"muster_level\":1,\"muster_expires\":5}", 4), 0,
           "a later expiry is not");
    is_int(extra_is_expired("{\"muster_level\":1}", 4), 0, "without an expiry it is not over");
    is_int(extra_is_expired("{\"muster_expires\":\"1\"}", 4), 0,
           "an expiry that is no number is not");
    is_int(extra_is_expired("", 4), 0, "no Extra");
    is_int(extra_is_expired("rack7", 4), 0, "text of the site is not over");

    check_extra(NULL, 2, 1795794800, "{\"muster_level\":2,\"muster_expires\":1795794800}",
                "no Extra");
    check_extra("", 1, 5, "{\"muster_level\":1,\"muster_expires\":5}", "an empty Extra");
    check_extra("{\"rack\":7,\"muster_level\":1,\"muster_expires\":5,\"owner\":\"a b\"}", 2, 9,
                "{\"rack\":7,\"muster_level\":2,\"muster_expires\":9,\"owner\":\"a b\"}",
                "the site's keys are kept, in order");
    check_extra("{\"price\":0.1,\"share\":0.30000000000000004}", 0, 0,
                "{\"price\":0.10000000000000001,\"share\":0.30000000000000004}",
                "... with all digits of a number that needs them");
    check_extra("{\"price\":0.1}", 1, 5, "{\"price\":0.1,\"muster_level\":1,\"muster_expires\":5}",
                "... and numbers as they were");
    check_extra("{\"rack\":7,\"muster_level\":1,\"muster_expires\":5}", 0, 0, "{\"rack\":7}",
                "muster's keys are removed");
    check_extra("{\"muster_level\":1,\"muster_expires\":5}", 0, 0, "",
                "an Extra that is empty then is removed");
    check_extra("{}", 0, 0, "", "an empty object is removed");
    check_extra("{\"muster_level\":\"x\"}", 1, 2, "{\"muster_level\":1,\"muster_expires\":2}",
                "a level that is no number is replaced");

    check_extra("rack7", 2, 9, "Extra is 'rack7', not a JSON object: left unchanged",
                "text of the site is an error");
    check_extra("rack7", 0, 0, "Extra is 'rack7', not a JSON object: left unchanged",
                "... also when removing keys");
    check_extra("[1]", 2, 9, "Extra is '[1]', not a JSON object: left unchanged",
                "a list is an error");
    check_extra("7", 2, 9, "Extra is '7', not a JSON object: left unchanged",
                "a number is an error");
    check_extra("{\"a\":1", 2, 9, "Extra is '{\"a\":1', not a JSON object: left unchanged",
                "an incomplete object is an error");
    check_extra("{\"a\":1,\"a\":2}", 2, 9,
                "Extra is '{\"a\":1,\"a\":2}', not a JSON object: left unchanged",
                "a duplicate key is an error, since either may be the right one");
    return tap_done();
}
