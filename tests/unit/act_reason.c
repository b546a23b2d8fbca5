/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/act/reason.h"

#include <string.h>

#include "tests/unit/tap.h"

static void owners(void)
{
    ok(reason_is_ours("muster: links eth1 98 of 940 Mb/s 2026-11-20"), "ours begins with muster:");
    ok(!reason_is_ours("replace PSU, says muster: yes"), "one that names it later is not ours");
    ok(!reason_is_ours("mustering"), "nor one that only begins alike");
    ok(!reason_is_ours(""), "nor none");
    is_str(reason_slurm_part("Not responding [slurm@2026]"), "slurmd", "Slurm's own has a part");
    ok(!reason_slurm_part("replace PSU"), "a person's has none");
}

static void reasons(void)
{
    const struct reason_fault two[] = {{"links", "eth1", "eth1 98 of 940 Mb/s"},
                                       {"slurm.gres", "gpu3", "is not there"}};
    char reason[200], small[40];
    const time_t day = 1795190000; /* 2026-11-20 */

    reason_write(&(struct reason_fault){"links", "eth1", "eth1 98 of 940 Mb/s"}, 1, day, reason,
                 sizeof reason);
    is_str(reason, "muster: links eth1 98 of 940 Mb/s 2026-11-20", "a part is not named twice");
    reason_write(&(struct reason_fault){"slurm.gres", "gpu3", "/dev/gpu3 \"is\" not\nthere"}, 1,
                 day, reason, sizeof reason);
    is_str(reason, "muster: slurm.gres gpu3 /dev/gpu3  is  not there 2026-11-20",
           "nor left out; quotes and newlines are gone");
    reason_write(
        &(struct reason_fault){"links", "eth1", "eth1 is slower than anything that was ever seen"},
        1, day, small, sizeof small);
    is_str(small + strlen(small) - 11, " 2026-11-20", "a long one is cut before its date");
    is_str(small, "muster: links eth1 is... 2026-11-20", "... behind a whole word");
    reason_write(two, 2, day, reason, sizeof reason);
    is_str(reason, "muster: links eth1 98 of 940 Mb/s; slurm.gres gpu3 is not there 2026-11-20",
           "two faults are both told");
    ok(reason_is_same("muster: links eth1 98 of 940 Mb/s 2026-11-20",
                      "muster: links eth1 101.5 of 940 Mb/s 2026-12-24"),
       "figures and dates do not make another fault");
    ok(!reason_is_same("muster: links eth1 98 of 940 Mb/s 2026-11-20",
                       "muster: links eth2 98 of 940 Mb/s 2026-11-20"),
       "another part does");
    ok(!reason_is_same("muster: links eth1 98 of 940 Mb/s 2026-11-20",
                       "muster: links eth1 98 of 940 Mb/s and more"),
       "more words do");
    ok(!reason_is_same("", "muster: links"), "nothing is not the same as something");
}

int main(void)
{
    owners();
    reasons();
    return tap_done();
}
