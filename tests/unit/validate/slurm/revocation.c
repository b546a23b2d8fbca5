/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/revocation.h"

#include <stdlib.h>

#include "tests/unit/tap.h"

/* The revocation in a node's Comment, beside text of the site and a retest's mark. */

#define MARK "[muster: certificates issued until 2026-11-20T16:13:20Z are revoked]"

enum { UNTIL = 1795191200 };

static void check_comment(const char *comment, time_t until, const char *wanted, const char *name)
{
    char *text = revocation_set(comment, until);

    is_str(text, wanted, "%s", name);
    free(text);
}

int main(void)
{
    check_comment("", UNTIL, MARK, "a node without a comment gets a revocation");
    check_comment("rack 7", UNTIL, MARK " rack 7", "the site's comment is kept");
    check_comment(MARK " rack 7", UNTIL + 60,
                  "[muster: certificates issued until 2026-11-20T16:14:20Z are revoked] rack 7",
                  "a new revocation replaces the old one");
    check_comment(MARK " rack 7", 0, "rack 7", "without it the site's comment is as before");
    check_comment(MARK, 0, "", "... also if there was none");
    check_comment("rack 7", 0, "rack 7", "... also if nothing was revoked");
    check_comment(MARK " rack 7 [muster 20261120-1: muster: eth1]", 0,
                  "rack 7 [muster 20261120-1: muster: eth1]", "a retest's mark stays at the end");
    check_comment("rack 7 " MARK, UNTIL, MARK " rack 7 ", "a revocation that was moved is found");

    is_int(revocation_read(MARK " rack 7"), UNTIL, "a revocation is read");
    is_int(revocation_read("rack 7 " MARK " x"), UNTIL, "... anywhere in the comment");
    is_int(revocation_read("rack 7"), 0, "a site's comment revokes nothing");
    is_int(revocation_read("[muster 20261120-1: muster: eth1]"), 0, "nor does a mark of a retest");
    is_int(revocation_read("[muster: certificates issued until now are revoked]"), 0,
           "nor does one without a time");
    is_int(revocation_read("[muster: certificates issued until 2026-11-20T16:13:20Z are"), 0,
           "nor does an incomplete one");
    return tap_done();
}
