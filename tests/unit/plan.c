/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/index.h"
#include "validate/certify/plan.h"

#include <string.h>

#include "tests/unit/tap.h"

static struct cluster_node idle(void)
{
    static char name[] = "n1", empty[] = "";

    return (struct cluster_node){.name = name,
                                 .address = name,
                                 .gres = empty,
                                 .reason = empty,
                                 .is_idle = true,
                                 .is_responding = true,
                                 .state = "idle"};
}

static void is_role(const struct cluster_node *node, bool is_dry_run, enum plan_role role,
                    const char *part, const char *says, const char *what)
{
    struct plan plan;

    plan_node(node, is_dry_run, &plan);
    is_int(plan.role, role, "%s", what);
    is_str(plan.part, part, "... part '%s'", part);
    has_str(plan.message, says, "... says '%s'", says);
}

static void roles(void)
{
    struct cluster_node node = idle();
    char ours[] = "muster: links eth1 98 of 940 Mb/s 2026-11-20", theirs[] = "replace PSU",
         gres[] = "gres/gpu count reported lower than configured (7 < 8)",
         silent[] = "Not responding";

    is_role(&node, false, ROLE_TEST, "", "", "an idle node is tested");
    node.is_responding = false;
    is_role(&node, false, ROLE_TEST, "", "",
            "one that the controller does not hear too: reach tells");
    node = idle();
    node.is_allocated = true;
    is_role(&node, false, ROLE_LEAVE, "", "jobs run there", "one with jobs is left alone");
    node = idle();
    node.is_drained = true;
    node.reason = ours;
    is_role(&node, false, ROLE_RETEST, "", "", "a drain of ours is tested again");
    is_role(&node, true, ROLE_LEAVE, "", "dry run", "... but not in a dry run");
    node.is_allocated = true;
    is_role(&node, false, ROLE_LEAVE, "", "jobs run there", "... and not while jobs run there");
    node.is_allocated = false;
    node.is_down = true;
    is_role(&node, false, ROLE_RETEST, "", "", "... also one that is down as well");
    node.is_down = false;
    node.reason = theirs;
    is_role(&node, false, ROLE_LEAVE, "", "replace PSU", "a drain of somebody else is not touched");
    node.reason = idle().reason;
    is_role(&node, false, ROLE_LEAVE, "", "no reason given", "... nor one without a reason");
    node.reason = gres;
    is_role(&node, false, ROLE_FAULTY, "gres", "7 < 8", "a drain by Slurm for a fault is named");
    node.reason = silent;
    node.is_drained = false;
    node.is_down = true;
    is_role(&node, false, ROLE_FAULTY, "slurmd", "Not responding", "... and a down node");
    node.reason = theirs;
    is_role(&node, false, ROLE_LEAVE, "", "replace PSU", "one set down by a person is left alone");
    node.reason = idle().reason;
    is_role(&node, false, ROLE_FAULTY, "slurmd", "by Slurm",
            "down without a reason is Slurm's doing");
    node = idle();
    node.is_reserved = true;
    is_role(&node, false, ROLE_LEAVE, "", "reservation", "a reserved node is left alone");
    node = idle();
    node.is_absent = true;
    is_role(&node, false, ROLE_LEAVE, "", "left alone", "one that is powered down is left alone");
    node = idle();
    node.is_idle = false;
    is_role(&node, false, ROLE_LEAVE, "", "its state", "an unknown state is left alone");
}

static void partitions(void)
{
    char gpu[] = "gpu", all[] = "all", off[] = "off";
    struct cluster_partition list[3] = {{.name = gpu, .is_up = true},
                                        {.name = all, .is_up = true, .is_default = true},
                                        {.name = off}};
    struct cluster cluster = {.partitions = list, .partition_count = 3};
    const char *names[] = {"n1", "n2", "n3"};

    hostlist_expand("n[1-2]", &list[0].nodes, NULL);
    hostlist_expand("n[1-2,9]", &list[1].nodes, NULL);
    hostlist_expand("n[1-3]", &list[2].nodes, NULL);
    is_str(plan_partition(&cluster, NULL, names, 2)->name, "all",
           "of partitions with as many of the nodes, the default one");
    is_str(plan_partition(&cluster, "off", names, 2)->name, "off", "the one that was asked for");
    ok(!plan_partition(&cluster, "none", names, 2), "none where the one asked for is not there");
    ok(!plan_partition(&cluster, NULL, names + 2, 1), "none where only one that is down has them");
    for (int i = 0; i < 3; i++)
        hostlist_clear(&list[i].nodes);
}

static void reasons(void)
{
    char reason[200], small[40];
    const time_t day = 1795190000; /* 2026-11-20 */

    plan_reason("links", "eth1", "eth1 98 of 940 Mb/s", day, reason, sizeof reason);
    is_str(reason, "muster: links eth1 98 of 940 Mb/s 2026-11-20", "a part is not named twice");
    plan_reason("slurm.gres", "gpu3", "/dev/gpu3 \"is\" not\nthere", day, reason, sizeof reason);
    is_str(reason, "muster: slurm.gres gpu3 /dev/gpu3  is  not there 2026-11-20",
           "nor left out; quotes and newlines are gone");
    plan_reason("links", "eth1", "eth1 is slower than anything that was ever seen", day, small,
                sizeof small);
    is_str(small + strlen(small) - 11, " 2026-11-20", "a long one is cut before its date");
    ok(plan_is_same_reason("muster: links eth1 98 of 940 Mb/s 2026-11-20",
                           "muster: links eth1 101.5 of 940 Mb/s 2026-12-24"),
       "figures and dates do not make another fault");
    ok(!plan_is_same_reason("muster: links eth1 98 of 940 Mb/s 2026-11-20",
                            "muster: links eth2 98 of 940 Mb/s 2026-11-20"),
       "another part does");
    ok(!plan_is_same_reason("muster: links eth1 98 of 940 Mb/s 2026-11-20",
                            "muster: links eth1 98 of 940 Mb/s and more"),
       "more words do");
    ok(!plan_is_same_reason("", "muster: links"), "nothing is not the same as something");
}

static void caps(void)
{
    is_int(plan_drain_cap(4, 25), 1, "a quarter of 4");
    is_int(plan_drain_cap(5, 25), 2, "a quarter of 5, rounded up");
    is_int(plan_drain_cap(100, 0), 1, "never less than one");
    is_int(plan_drain_cap(1000, 10), 100, "a tenth of 1000, not rounded up for a rounding error");
}

static void outcomes(void)
{
    struct outcome outcome = {0};

    is_int(outcome_conclude(&outcome), VERDICT_UNKNOWN, "nothing measured is unknown");
    outcome = (struct outcome){0};
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        outcome_note(&outcome, (enum stage)stage, VERDICT_PASS, NULL, NULL, NULL);
    is_int(outcome_conclude(&outcome), VERDICT_PASS, "all stages passed is certified");
    outcome_note(&outcome, STAGE_CHECK, VERDICT_SKIP, "gpu.enumerate", "", "no GPU");
    is_int(outcome.stages[STAGE_CHECK], VERDICT_PASS, "a skipped test does not hide the others");
    outcome_note(&outcome, STAGE_CHECK, VERDICT_WARN, "host.config", "kernel",
                 "6.1, 6.2 elsewhere");
    is_int(outcome_conclude(&outcome), VERDICT_PASS, "a warning does not forbid the certificate");
    is_str(outcome.part, "kernel", "... and is told");
    outcome_note(&outcome, STAGE_LAUNCH, VERDICT_UNKNOWN, "mpi.launch", "", "did not end");
    ok(!outcome_is_good(&outcome), "unknown goes no further");
    is_int(outcome_conclude(&outcome), VERDICT_UNKNOWN, "unknown is not certified");
    outcome_note(&outcome, STAGE_LINKS, VERDICT_FAIL, "links", "eth1", "slow");
    outcome_note(&outcome, STAGE_LINKS, VERDICT_FAIL, "links", "eth2", "slow");
    is_int(outcome_conclude(&outcome), VERDICT_FAIL, "a failure outweighs unknown");
    is_str(outcome.part, "eth1", "the first of several failures is named");

    outcome = (struct outcome){0};
    outcome_note(&outcome, STAGE_REACH, VERDICT_PASS, NULL, NULL, NULL);
    outcome_note(&outcome, STAGE_CHECK, VERDICT_SKIP, "a", "", "");
    is_int(outcome_conclude(&outcome), VERDICT_UNKNOWN,
           "a stage with skipped tests only is no pass");
    has_str(outcome.message, "check was not run", "... and is named");
}

static void statuses(void)
{
    enum verdict good[] = {VERDICT_PASS, VERDICT_PASS}, one[] = {VERDICT_PASS, VERDICT_FAIL},
                 doubt[] = {VERDICT_PASS, VERDICT_UNKNOWN};

    is_int(plan_exit_status(good, 2, false), 0, "all certified");
    is_int(plan_exit_status(good, 2, true), 1, "all certified, but an uplink is slow");
    is_int(plan_exit_status(one, 2, false), 1, "one failed");
    is_int(plan_exit_status(doubt, 2, false), 3, "one could not be told");
    is_int(plan_exit_status(NULL, 0, false), 3, "no node is no pass");
}

static void names(void)
{
    const char *const list[] = {"n10", "n2", "n1", "n2", "login"};
    struct name_index index;

    is_int(name_index_build(list, 5, &index), 0, "an index of five names");
    is_int(name_index_find(&index, "n10"), 0, "the first");
    is_int(name_index_find(&index, "n2"), 1, "the first place of a double");
    is_int(name_index_find(&index, "login"), 4, "the last");
    is_int(name_index_find(&index, "n3"), -1, "none");
    is_int(name_index_find(&index, ""), -1, "no name");
    is_int(name_index_find(&index, NULL), -1, "not even that");
    name_index_clear(&index);
    is_int(name_index_find(&index, "n2"), -1, "nothing is in a cleared one");
}

int main(void)
{
    names();
    roles();
    partitions();
    reasons();
    caps();
    outcomes();
    statuses();
    return tap_done();
}
