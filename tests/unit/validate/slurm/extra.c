/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/extra.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

static void gives(const char *extra, int level, long long expires, const char *expected,
                  const char *name)
{
    struct error err = {""};
    char *text = extra_with(extra, level, expires, &err);

    is_str(text ? text : err.text, expected, "%s", name);
    free(text);
}

int main(void)
{
    is_int(extra_is_over("{\"rack\":7,\"muster_level\":1,\"muster_expires\":5}", 5), 1, "over");
    is_int(extra_is_over("{\"muster_level\":1,\"muster_expires\":5}", 4), 0, "not yet");
    is_int(extra_is_over("{\"muster_level\":1}", 4), 0, "no end");
    is_int(extra_is_over("{\"muster_expires\":\"1\"}", 4), 0, "an end that is no number");
    is_int(extra_is_over("", 4), 0, "no Extra");
    is_int(extra_is_over("rack7", 4), 0, "a site's own text");

    gives(NULL, 2, 1795794800, "{\"muster_level\":2,\"muster_expires\":1795794800}", "no Extra");
    gives("", 1, 5, "{\"muster_level\":1,\"muster_expires\":5}", "an empty one");
    gives("{\"rack\":7,\"muster_level\":1,\"muster_expires\":5,\"owner\":\"a b\"}", 2, 9,
          "{\"rack\":7,\"muster_level\":2,\"muster_expires\":9,\"owner\":\"a b\"}",
          "the site's keys stay, in their order");
    gives("{\"price\":0.1,\"share\":0.30000000000000004}", 0, 0,
          "{\"price\":0.10000000000000001,\"share\":0.30000000000000004}",
          "... to the last digit, where one needs it");
    gives("{\"price\":0.1}", 1, 5, "{\"price\":0.1,\"muster_level\":1,\"muster_expires\":5}",
          "... with their numbers as they are");
    gives("{\"rack\":7,\"muster_level\":1,\"muster_expires\":5}", 0, 0, "{\"rack\":7}",
          "taken out again");
    gives("{\"muster_level\":1,\"muster_expires\":5}", 0, 0, "", "nothing is left");
    gives("{}", 0, 0, "", "an object with nothing in it");
    gives("{\"muster_level\":\"x\"}", 1, 2, "{\"muster_level\":1,\"muster_expires\":2}",
          "a level that is no number");

    gives("rack7", 2, 9, "Extra is 'rack7', not a JSON object: left unchanged",
          "a site's own text");
    gives("rack7", 0, 0, "Extra is 'rack7', not a JSON object: left unchanged", "... to take out");
    gives("[1]", 2, 9, "Extra is '[1]', not a JSON object: left unchanged", "a list");
    gives("7", 2, 9, "Extra is '7', not a JSON object: left unchanged", "a number");
    gives("{\"a\":1", 2, 9, "Extra is '{\"a\":1', not a JSON object: left unchanged",
          "half an object");
    gives("{\"a\":1,\"a\":2}", 2, 9,
          "Extra is '{\"a\":1,\"a\":2}', not a JSON object: left unchanged",
          "a key twice: which to keep is not ours to say");
    return tap_done();
}
