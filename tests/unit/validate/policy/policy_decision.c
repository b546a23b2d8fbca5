/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/decision.h"

#include "tests/unit/tap.h"

/* Rules as by default: three strikes. One node may be drained, none is yet. */
static const struct decision_rules default_rules = {.strikes = 3, .cap = 1};

static enum decision decide(enum plan_role role, enum verdict verdict, int strike,
                            const struct decision_rules *rules)
{
    return decision_make(&(struct decision_facts){.role = role,
                                                  .verdict = verdict,
                                                  .is_near = strike > 0,
                                                  .cause = verdict != VERDICT_FAIL ? CAUSE_NONE
                                                           : strike > 0 ? CAUSE_NEAR_LIMIT
                                                                        : CAUSE_HARD,
                                                  .strike = strike},
                         rules);
}

/* A node that failed with a code that never drains, and has this cause of a drain, too. */
static enum decision decide_with_cause(enum plan_role role, enum drain_cause cause, int strike)
{
    return decision_make(
        &(struct decision_facts){
            .role = role, .verdict = VERDICT_FAIL, .cause = cause, .strike = strike},
        &default_rules);
}

/* Checks each code of the catalog with each verdict. */
static void test_drain_codes(void)
{
    bool is_right = true;

    for (int code = FAULT_NONE; code < FAULT_COUNT; code++)
        for (int verdict = VERDICT_NONE; verdict <= VERDICT_FAIL; verdict++) {
            enum fault_drain mark = catalog_fault((enum fault_code)code)->drain;
            bool certify =
                     decision_drains((enum verdict)verdict, (enum fault_code)code, DRAIN_CERTIFY),
                 health =
                     decision_drains((enum verdict)verdict, (enum fault_code)code, DRAIN_HEALTH);

            is_right = is_right && certify == (verdict == VERDICT_FAIL && mark != DRAIN_NEVER) &&
                       health == (verdict == VERDICT_FAIL && mark == DRAIN_HEALTH);
        }
    ok(is_right, "a fault drains if its verdict is fail and its code may drain");
    ok(!decision_drains(VERDICT_FAIL, FAULT_UPLINKS_MISSING, DRAIN_CERTIFY),
       "... uplinks missing at a switch do not drain a node");
}

int main(void)
{
    struct decision_rules full = default_rules, dry = default_rules, none = default_rules,
                          one = default_rules;

    full.drained = 1;
    dry.is_dry_run = true;
    none.no_drain = true;
    one.strikes = 1;
    is_int(decide(ROLE_TEST, VERDICT_PASS, 0, &default_rules), DECISION_CERTIFY,
           "passed: certified");
    is_int(decide(ROLE_RETEST, VERDICT_PASS, 0, &default_rules), DECISION_RELEASE,
           "drained by muster and passed: released");
    is_int(decide(ROLE_RETEST, VERDICT_UNKNOWN, 0, &default_rules), DECISION_NOTHING,
           "... not if untested");
    is_int(decide(ROLE_RETEST, VERDICT_PASS, 0, &dry), DECISION_CERTIFY, "... not in a dry run");
    is_int(decide(ROLE_RETEST, VERDICT_FAIL, 0, &default_rules), DECISION_KEEP,
           "drained by muster and failed: stays drained");
    is_int(decide(ROLE_RETEST, VERDICT_FAIL, 0, &full), DECISION_KEEP, "... even above the cap");
    is_int(decide(ROLE_RETEST, VERDICT_FAIL, 1, &default_rules), DECISION_KEEP,
           "... also for a failure near the limit");
    is_int(decide(ROLE_TEST, VERDICT_FAIL, 0, &default_rules), DECISION_DRAIN,
           "failed hard: drained");
    is_int(decide(ROLE_TEST, VERDICT_FAIL, 0, &full), DECISION_OVER_CAP,
           "... unless the cap is reached");
    is_int(decide(ROLE_TEST, VERDICT_FAIL, 0, &none), DECISION_NOTHING,
           "... or drains are disabled");
    is_int(decide(ROLE_TEST, VERDICT_FAIL, 0, &dry), DECISION_DRAIN, "a dry run reports the drain");
    is_int(decide(ROLE_TEST, VERDICT_FAIL, 1, &default_rules), DECISION_SUSPECT,
           "failed near the limit once: a suspect");
    is_int(decide(ROLE_TEST, VERDICT_FAIL, 2, &default_rules), DECISION_SUSPECT, "... twice");
    is_int(decide(ROLE_TEST, VERDICT_FAIL, 3, &default_rules), DECISION_DRAIN,
           "the third strike: drained");
    is_int(decide(ROLE_TEST, VERDICT_FAIL, 3, &full), DECISION_OVER_CAP, "... within the cap");
    is_int(decide(ROLE_TEST, VERDICT_FAIL, 1, &one), DECISION_DRAIN,
           "with a limit of one strike: drained at once");
    is_int(decide(ROLE_TEST, VERDICT_FAIL, 1, &none), DECISION_SUSPECT,
           "a suspect is noted even if drains are disabled");
    is_int(decide(ROLE_TEST, VERDICT_UNKNOWN, 0, &default_rules), DECISION_NOTHING,
           "an unknown node is neither drained nor certified");
    is_int(decide(ROLE_SKIP, VERDICT_FAIL, 0, &default_rules), DECISION_NOTHING,
           "somebody else's drain is not changed");
    is_int(decide(ROLE_FAULTY, VERDICT_FAIL, 0, &default_rules), DECISION_NOTHING,
           "... nor is a drain by Slurm for a fault");
    is_int(decide(ROLE_SKIP, VERDICT_PASS, 0, &default_rules), DECISION_NOTHING,
           "... and such a node is not certified");
    is_int(decide_with_cause(ROLE_TEST, CAUSE_NONE, 0), DECISION_NOTHING,
           "failed with a code that never drains: stays in service");
    is_int(decide_with_cause(ROLE_RETEST, CAUSE_NONE, 0), DECISION_NOTHING,
           "... or gets its earlier drain back");
    is_int(decide_with_cause(ROLE_TEST, CAUSE_NEAR_LIMIT, 1), DECISION_NOTHING,
           "... also with a value near its limit, before the last strike");
    is_int(decide_with_cause(ROLE_TEST, CAUSE_NEAR_LIMIT, 3), DECISION_DRAIN,
           "... at the last strike it is drained");
    is_int(decide_with_cause(ROLE_RETEST, CAUSE_NEAR_LIMIT, 0), DECISION_KEEP,
           "drained by muster: stays drained");
    test_drain_codes();
    return tap_done();
}
