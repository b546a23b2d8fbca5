/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/certify/state/outcome.h"

#include "lib/base/name_index.h"
#include "tests/unit/tap.h"

static void test_verdicts(void)
{
    struct outcome outcome = {0}, before;

    is_int(outcome_conclude(&outcome), VERDICT_UNKNOWN,
           "without measurements the outcome is unknown");
    outcome = (struct outcome){0};
    for (int stage = 0; stage < STAGE_COUNT; stage++)
        outcome_note(&outcome, (enum stage)stage, VERDICT_PASS, FAULT_NONE, NULL, NULL, NULL);
    is_int(outcome_conclude(&outcome), VERDICT_PASS, "a node that passed all stages is certified");
    outcome_note(&outcome, STAGE_CHECK, VERDICT_SKIP, FAULT_NONE, "gpu.enumerate", "", "no GPU");
    is_int(outcome.stages[STAGE_CHECK], VERDICT_PASS, "a skipped test does not hide the others");
    outcome_note(&outcome, STAGE_CHECK, VERDICT_WARN, FAULT_NONE, "host.config", "kernel",
                 "6.1, 6.2 elsewhere");
    is_int(outcome_conclude(&outcome), VERDICT_PASS, "a warning does not forbid the certificate");
    is_str(outcome_worst(&outcome)->part, "kernel", "... and is named");
    outcome_note(&outcome, STAGE_LAUNCH, VERDICT_UNKNOWN, FAULT_NONE, "mpi.launch", "",
                 "did not end");
    ok(!outcome_is_good(&outcome), "a node with an unknown result is not good");
    is_int(outcome_conclude(&outcome), VERDICT_UNKNOWN, "unknown is not certified");
    outcome_note(&outcome, STAGE_LINKS, VERDICT_FAIL, FAULT_NONE, "links", "eth1", "slow");
    outcome_note(&outcome, STAGE_LINKS, VERDICT_FAIL, FAULT_NONE, "links", "eth2", "slow");
    is_int(outcome_conclude(&outcome), VERDICT_FAIL, "a failure outweighs unknown");
    is_str(outcome_worst(&outcome)->part, "eth1", "the first of several failures is named");

    outcome = (struct outcome){0};
    outcome_note(&outcome, STAGE_REACH, VERDICT_PASS, FAULT_NONE, NULL, NULL, NULL);
    outcome_note(&outcome, STAGE_CHECK, VERDICT_SKIP, FAULT_NONE, "a", "", "");
    is_int(outcome_conclude(&outcome), VERDICT_UNKNOWN,
           "a stage with skipped tests only is no pass");
    has_str(outcome_worst(&outcome)->message, "stage check did not complete", "... and is named");

    outcome = (struct outcome){0};
    for (int stage = 0; stage < STAGE_TRAIN; stage++)
        outcome_note(&outcome, (enum stage)stage, VERDICT_PASS, FAULT_NONE, NULL, NULL, NULL);
    outcome_note(&outcome, STAGE_TRAIN, VERDICT_SKIP, FAULT_NONE, NULL, "", "");
    is_int(outcome_tested(&outcome), VERDICT_PASS, "training may be skipped with a record");
    before = outcome;
    is_int(outcome_conclude(&before), VERDICT_UNKNOWN,
           "without its certificate it is not certified");
    has_str(outcome_worst(&before)->message, "stage certificate did not complete",
            "... and the missing stage is named");
    outcome_note(&outcome, STAGE_CERTIFICATE, VERDICT_PASS, FAULT_NONE, NULL, "", "");
    is_int(outcome_conclude(&outcome), VERDICT_PASS,
           "... and with its certificate it is certified");
    outcome.stages[STAGE_CERTIFICATE] = VERDICT_SKIP;
    is_int(outcome_conclude(&outcome), VERDICT_PASS, "... or in a dry run");
    outcome.stages[STAGE_TRAIN] = VERDICT_NONE;
    is_int(outcome_conclude(&outcome), VERDICT_UNKNOWN,
           "... but without a record of training it is not");
}

static void test_near_limits(void)
{
    struct outcome outcome = {0};

    outcome_note_near(&outcome, STAGE_LINKS, FAULT_NONE, "links", "eth1", "a little slow");
    ok(outcome.is_near && outcome_conclude(&outcome) == VERDICT_FAIL,
       "a value near its limit fails and is marked as near");
    outcome_note_near(&outcome, STAGE_LINKS, FAULT_NONE, "links", "eth2", "a little slow");
    ok(outcome.is_near, "... a second one too");
    is_str(outcome_worst(&outcome)->part, "eth1", "... and the first is named");
    outcome_note(&outcome, STAGE_LINKS, VERDICT_FAIL, FAULT_NONE, "links", "eth3", "dead");
    ok(!outcome.is_near, "a hard failure clears the mark");
    is_str(outcome_worst(&outcome)->part, "eth3", "... and becomes the worst fault");
    outcome_note_near(&outcome, STAGE_LINKS, FAULT_NONE, "links", "eth4", "a little slow");
    ok(!outcome.is_near, "a later value near its limit does not set the mark again");
    is_str(outcome_worst(&outcome)->part, "eth3", "... and the worst fault stays the same");
    outcome = (struct outcome){0};
    outcome_note(&outcome, STAGE_CHECK, VERDICT_UNKNOWN, FAULT_NONE, "check", "", "no word");
    outcome_note_near(&outcome, STAGE_LINKS, FAULT_NONE, "links", "eth1", "a little slow");
    ok(outcome.is_near, "a value near its limit outweighs unknown");
    outcome_note(&outcome, STAGE_LINKS, VERDICT_FAIL, FAULT_NONE, "links", "eth1", "slow");
    ok(!outcome.is_near && outcome.fault_count == 2, "a hard failure of the same takes its place");
    outcome = (struct outcome){0};
    outcome_note_near(&outcome, STAGE_LINKS, FAULT_NONE, "links", "eth1", "a little slow");
    outcome_excuse(&outcome, 0);
    ok(outcome.verdict == VERDICT_UNKNOWN && !outcome.is_near,
       "a value near its limit that is excused is unknown, and not near");
}

static void test_drain_grounds(void)
{
    struct outcome outcome = {0};

    ok(!outcome_drain_cause(&outcome), "without a fault there is no reason to drain");
    outcome_note(&outcome, STAGE_CHECK, VERDICT_UNKNOWN, FAULT_LINK_DOWN, "check", "eth1", "x");
    outcome_note(&outcome, STAGE_CHECK, VERDICT_FAIL, FAULT_UPLINKS_MISSING, "net.topology", "eth1",
                 "x");
    is_int(outcome.verdict, VERDICT_FAIL, "a fault that never drains still fails its node");
    ok(!outcome_drain_cause(&outcome), "... and is no reason to drain, nor is an unknown result");
    outcome_note_near(&outcome, STAGE_LINKS, FAULT_RAIL_SLOW, "links", "eth1", "x");
    ok(outcome_drain_cause(&outcome) && outcome_drain_cause(&outcome)->is_near && !outcome.is_near,
       "a value near its limit is one, even beside a hard fault that is none");
    outcome_note(&outcome, STAGE_LINKS, VERDICT_FAIL, FAULT_PACKET_LOSS, "links", "eth1", "x");
    is_int(outcome_drain_cause(&outcome)->code, FAULT_PACKET_LOSS,
           "a hard fault comes first, even of the same test and part");
    is_int(outcome.fault_count, 4, "... and all are kept");
}

static void test_several_faults(void)
{
    struct outcome outcome = {0};
    char text[OUTCOME_TEXT], small[40];

    outcome_text(&outcome, false, text, sizeof text);
    is_str(text, "", "without a fault the text is empty");
    outcome_note(&outcome, STAGE_CHECK, VERDICT_WARN, FAULT_NONE, "host.config", "kernel", "6.1");
    outcome_note_near(&outcome, STAGE_LINKS, FAULT_NONE, "links", "eth2", "eth2 70 of 100 Mb/s");
    outcome_note(&outcome, STAGE_CHECK, VERDICT_FAIL, FAULT_NONE, "slurm.gres", "gpu3",
                 "is not there");
    outcome_note(&outcome, STAGE_LINKS, VERDICT_FAIL, FAULT_NONE, "links", "eth1",
                 "eth1 9 of 100 Mb/s");
    outcome_note(&outcome, STAGE_LINKS, VERDICT_FAIL, FAULT_NONE, "links", "eth1",
                 "eth1 8 of 100 Mb/s");
    is_int(outcome.fault_count, 4, "one fault of each test and part");
    outcome_text(&outcome, false, text, sizeof text);
    is_str(text, "gpu3: is not there; eth1 9 of 100 Mb/s; eth2 70 of 100 Mb/s",
           "all failures are listed, hard ones first");
    outcome_text(&outcome, true, small, sizeof small);
    is_str(small, "is not there; eth1 9 of 100 Mb/s...", "... as many as fit");

    outcome_excuse(&outcome, 0);
    is_int(outcome.verdict, VERDICT_FAIL,
           "excusing a fault that many nodes share leaves the others");
    outcome_text(&outcome, false, text, sizeof text);
    is_str(text, "eth1 9 of 100 Mb/s; eth2 70 of 100 Mb/s",
           "... without the excused one in the text");
    is_int(outcome.stages[STAGE_CHECK], VERDICT_UNKNOWN, "... its stage is unknown");
    outcome_excuse(&outcome, 0);
    ok(outcome.is_near, "... and only a value near its limit is left");
    outcome_excuse(&outcome, 0);
    ok(outcome.verdict == VERDICT_UNKNOWN && !outcome.is_near,
       "with all faults excused the outcome is unknown");

    outcome = (struct outcome){0};
    for (int i = 0; i < 2 * OUTCOME_FAULTS; i++) {
        char part[8];

        snprintf(part, sizeof part, "gpu%d", i);
        outcome_note(&outcome, STAGE_CHECK, i < OUTCOME_FAULTS ? VERDICT_UNKNOWN : VERDICT_FAIL,
                     FAULT_NONE, "slurm.gres", part, "");
    }
    is_int(outcome.fault_count, OUTCOME_FAULTS, "no more faults are kept than the table holds");
    is_str(outcome.faults[OUTCOME_FAULTS - 1].part, "gpu11",
           "... failures replace unknown results");

    outcome = (struct outcome){0};
    for (int i = 0; i < OUTCOME_FAULTS + 1; i++) {
        char part[8];

        snprintf(part, sizeof part, "eth%d", i);
        outcome_note(&outcome, STAGE_CHECK, VERDICT_FAIL, FAULT_LINK_DOWN, "net", part, "");
    }
    is_str(outcome.faults[OUTCOME_FAULTS - 1].part, "eth5",
           "of several faults with one code the first are kept");
    outcome_note(&outcome, STAGE_CHECK, VERDICT_WARN, FAULT_CONFIG_DIFFERS, "host.config", "", "");
    is_str(outcome.faults[OUTCOME_FAULTS - 1].part, "eth5", "... a warning does not replace them");
    outcome_note(&outcome, STAGE_CHECK, VERDICT_FAIL, FAULT_GPU_MEMORY_ERRORS, "gpu.health", "gpu0",
                 "");
    is_str(outcome.faults[OUTCOME_FAULTS - 1].part, "gpu0", "... a failure with another code does");
    is_str(outcome.faults[OUTCOME_FAULTS - 2].part, "eth4", "... it replaces the last one");
}

static void test_exit_statuses(void)
{
    enum verdict good[] = {VERDICT_PASS, VERDICT_PASS}, one[] = {VERDICT_PASS, VERDICT_FAIL},
                 doubt[] = {VERDICT_PASS, VERDICT_UNKNOWN};

    is_int(outcome_exit_status(good, 2, false), 0, "all certified");
    is_int(outcome_exit_status(good, 2, true), 1, "all certified, but an uplink is slow");
    is_int(outcome_exit_status(one, 2, false), 1, "one failed");
    is_int(outcome_exit_status(doubt, 2, false), 3, "one is unknown");
    is_int(outcome_exit_status(doubt, 2, true), 1, "... and an uplink is slow");
    is_int(outcome_exit_status(NULL, 0, false), 3, "no node is no pass");
}

static void test_name_index(void)
{
    const char *const list[] = {"n10", "n2", "n1", "n2", "login"};
    struct name_index index;

    is_int(name_index_build(list, 5, &index), 0, "an index of five names");
    is_int(name_index_find(&index, "n10"), 0, "the first");
    is_int(name_index_find(&index, "n2"), 1, "the first index of a duplicate");
    is_int(name_index_find(&index, "login"), 4, "the last");
    is_int(name_index_find(&index, "n3"), -1, "a name that is missing");
    is_int(name_index_find(&index, ""), -1, "an empty name");
    is_int(name_index_find(&index, NULL), -1, "no name");
    name_index_clear(&index);
    is_int(name_index_find(&index, "n2"), -1, "a cleared index has no names");
}

int main(void)
{
    test_name_index();
    test_verdicts();
    test_near_limits();
    test_several_faults();
    test_drain_grounds();
    test_exit_statuses();
    return tap_done();
}
