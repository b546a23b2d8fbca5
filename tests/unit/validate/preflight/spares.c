/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>

#include "lib/base/text.h"
#include "tests/unit/tap.h"
#include "validate/preflight/preflight.h"

enum { COUNT = 6 };

static char text[64];

/* Returns the numbers of the usable nodes, the best first. */
static const char *ranked_text(const struct member *members)
{
    size_t indices[COUNT], good = spares_rank(members, COUNT, indices);

    text[0] = '\0';
    for (size_t i = 0; i < good; i++)
        text_join(text, sizeof text, " ", "%zu", indices[i] + 1);
    return text;
}

int main(void)
{
    struct member members[COUNT];
    size_t index;

    for (int i = 0; i < COUNT; i++)
        members[i] = (struct member){.share = 0.98, .latency_us = 8};
    is_str(ranked_text(members), "1 2 3 4 5 6", "equal nodes stay in order");
    members[0].share = 0.96;
    members[1].share = 1.0;
    is_str(ranked_text(members), "1 2 3 4 5 6", "differences within the noise are ignored");
    members[2].share = 0.8;
    is_str(ranked_text(members), "1 2 4 5 6 3", "a slower rail ranks last");
    members[3].latency_us = 500;
    is_str(ranked_text(members), "1 2 5 6 4 3", "then a longer latency");
    members[4].verdict = VERDICT_FAIL;
    members[0].is_silent = true;
    is_str(ranked_text(members), "2 6 4 3", "faulty and silent nodes are left out");
    members[1].verdict = VERDICT_UNKNOWN;
    members[3].verdict = VERDICT_WARN;
    is_str(ranked_text(members), "6 4 3", "unknown nodes are left out; a warning has no effect");
    members[5].share = members[5].latency_us = NAN;
    is_str(ranked_text(members), "4 3 6", "a node that was not measured ranks last");
    for (int i = 0; i < COUNT; i++)
        members[i] = (struct member){.share = NAN, .latency_us = NAN};
    is_str(ranked_text(members), "1 2 3 4 5 6", "without measurements all stay in order");
    is_int(spares_rank(members, 0, &index), 0, "no nodes give no ranking");
    return tap_done();
}
