/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/reason.h"

#include <string.h>

#include "tests/unit/tap.h"

static void test_owners(void)
{
    ok(reason_is_ours("muster: rail_slow eth1 98 of 940 Mb/s 2026-11-20"),
       "a reason that begins with muster: is muster's");
    ok(reason_is_ours("muster: links eth1 98 of 940 Mb/s 2026-11-20"),
       "... and so is one of an older muster");
    ok(!reason_is_ours("replace PSU, says muster: yes"), "a reason that names muster later is not");
    ok(!reason_is_ours("mustering"), "... nor is a longer first word");
    ok(!reason_is_ours(""), "... nor is an empty reason");
    is_str(reason_slurm_part("Not responding [slurm@2026]"), "slurmd",
           "Slurm's own reason has a part");
    is_str(reason_slurm_part("Kill task failed"), "slurmd",
           "... a step that did not end in time blames slurmd");
    ok(!reason_slurm_part("replace PSU"), "a person's reason has none");
}

static void test_reasons(void)
{
    const struct reason_fault two[] = {
        {FAULT_RAIL_SLOW, "eth1", "eth1 98 of 940 Mb/s"},
        {FAULT_PROCESS_DIED, "rank 5", "rank 5 on n1 died; recurred alone with n2"}};
    char reason[200], small[50];
    const time_t day = 1795190000; /* 2026-11-20 */

    reason_write(two, 1, day, reason, sizeof reason);
    is_str(reason, "muster: rail_slow eth1 98 of 940 Mb/s 2026-11-20",
           "a part in the message is not repeated");
    reason_write(&(struct reason_fault){FAULT_GRES_MISMATCH, "gpu3", "/dev/gpu3 \"is\" not\nthere"},
                 1, day, reason, sizeof reason);
    is_str(reason, "muster: gres_mismatch gpu3 /dev/gpu3  is  not there 2026-11-20",
           "a part missing in the message is added; quotes and newlines are removed");
    reason_write(&(struct reason_fault){FAULT_MUNGE_FAILED, "", "no munged"}, 1, day, reason,
                 sizeof reason);
    is_str(reason, "muster: munge_failed - no munged 2026-11-20",
           "a fault of the whole node has part -");
    reason_write(&(struct reason_fault){FAULT_RAIL_SLOW, "eth1", "eth10 is slow"}, 1, day, reason,
                 sizeof reason);
    is_str(reason, "muster: rail_slow eth1 eth10 is slow 2026-11-20",
           "eth10 is not taken for eth1");
    reason_write(&(struct reason_fault){FAULT_RAIL_SLOW, "eth1", "rail of n1: slow"}, 1, day,
                 reason, sizeof reason);
    is_str(reason, "muster: rail_slow eth1 rail of n1: slow 2026-11-20",
           "nor is a word of the same length");
    reason_write(&(struct reason_fault){FAULT_RAIL_SLOW, "eth1",
                                        "eth1 is slower than anything that was ever seen"},
                 1, day, small, sizeof small);
    is_str(small + strlen(small) - 11, " 2026-11-20", "a long reason is cut before its date");
    is_str(small, "muster: rail_slow eth1 is slower... 2026-11-20", "... after a whole word");
    reason_write(two, 2, day, reason, sizeof reason);
    is_str(reason,
           "muster: rail_slow eth1 98 of 940 Mb/s; process_died rank+5 on n1 died, recurred alone "
           "with n2 2026-11-20",
           "two faults are separated by a semicolon, which no message contains, and a part is one "
           "word");
}

/* More and longer faults than a reason has room for. */
static void test_long_reasons(void)
{
    struct reason_fault faults[8];
    char message[600], reason[200];

    for (size_t i = 0; i < sizeof message; i++)
        message[i] = i + 1 == sizeof message ? '\0' : "slow "[i % 5];
    for (int i = 0; i < 8; i++)
        faults[i] = (struct reason_fault){FAULT_RAIL_SLOW, i == 0 ? "eth1" : message, message};
    reason_write(faults, 8, 1795190000, reason, sizeof reason);
    ok(strlen(reason) < sizeof reason && reason_is_same(reason, "muster: rail_slow eth1"),
       "of many long faults the first one is named: %s", reason);
}

/* On another day, with a cut anywhere after the first fault. */
static void test_same_cut_reasons(void)
{
    const struct reason_fault two[] = {{FAULT_RAIL_SLOW, "eth1", "eth1 98 of 940 Mb/s"},
                                       {FAULT_GPU_MISSING, "gpu3", "gpu3 has gone"}};
    char then[120], now[120];
    int wrong = 0;

    for (size_t size = 50; size <= sizeof then; size++) {
        reason_write(two, 2, 1795190000, then, size);
        reason_write(two, 2, 1795190000 + 86400, now, size);
        wrong += !reason_is_same(then, now) || !reason_has(now, then);
    }
    is_int(wrong, 0, "a reason that was cut is the same on another day");
}

static void test_same_reasons(void)
{
    static const char slow[] = "muster: rail_slow eth1 98 of 940 Mb/s 2026-11-20";
    static const char two[] = "muster: rail_slow eth1 98 of 940 Mb/s; gpu_missing gpu 7 2026-11-20";

    ok(reason_is_same(slow, "muster: rail_slow eth1 in other words 2026-12-24"),
       "another message or date is the same fault");
    ok(reason_is_same(slow, "muster: rail_slow eth1"), "... and so is a missing one");
    ok(!reason_is_same(slow, "muster: rail_slow eth2 98 of 940 Mb/s 2026-11-20"),
       "another part is another fault");
    ok(!reason_is_same(slow, "muster: packet_loss eth1 98 of 940 Mb/s 2026-11-20"),
       "another code is another fault");
    ok(reason_is_same(two, "muster: rail_slow eth1 1; gpu_missing gpu 6 2026-12-24"),
       "the same two faults are the same");
    ok(!reason_is_same(slow, two), "an additional fault is not the same");
    ok(!reason_is_same("", slow), "an empty reason is not the same as a fault");
    ok(!reason_is_same("", ""), "... nor as another empty one");
    ok(!reason_is_same("muster:", "muster: ") && !reason_is_same("muster: ... x", "muster: ... x"),
       "... nor are reasons without a fault the same");
    ok(reason_has(two, "muster: gpu_missing gpu 6 2026-12-24") && reason_has(two, two),
       "a reason with two faults has each of them");
    ok(!reason_has(slow, two) && !reason_has(two, "muster: rail_slow eth2"), "... but no other");
    ok(!reason_has(two, "muster:") && !reason_has("", slow) && !reason_has(slow, ""),
       "an empty reason has no fault and is in none");
    ok(!reason_is_same("muster: links eth1 98 of 940 Mb/s 2026-11-20", slow),
       "a reason of an older muster is not the same");
}

static void test_gate_refusals(void)
{
    char reason[200];

    reason_write(&(struct reason_fault){FAULT_GATE_REFUSED, "", "certificate missing: no; file"}, 1,
                 0, reason, sizeof reason);
    ok(reason_is_refusal(reason), "a refusal by the gate is recognized: %s", reason);
    ok(!reason_is_refusal("muster: rail_slow eth1 98 of 940 Mb/s 2026-11-20"),
       "a fault is no refusal");
    ok(!reason_is_refusal("muster: gate_refused - x; rail_slow eth1 98 2026-11-20"),
       "a refusal with a fault is none");
    ok(!reason_is_refusal("Prolog error") && !reason_is_refusal(""), "reasons of others are none");
}

int main(void)
{
    test_gate_refusals();
    test_owners();
    test_reasons();
    test_long_reasons();
    test_same_reasons();
    test_same_cut_reasons();
    return tap_done();
}
