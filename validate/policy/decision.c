/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/decision.h"

bool decision_drains(enum verdict verdict, enum fault_code code, enum fault_drain who)
{
    return verdict == VERDICT_FAIL && catalog_fault(code)->drain >= who;
}

enum decision decision_make(const struct decision_facts *facts, const struct decision_rules *rules)
{
    bool is_ours = role_is_testable(facts->role);
    bool is_early = facts->role == ROLE_TEST && facts->strike < rules->strikes;

    if (!is_ours)
        return DECISION_NOTHING;
    if (facts->verdict == VERDICT_PASS)
        return facts->role == ROLE_RETEST && !rules->is_dry_run ? DECISION_RELEASE
                                                                : DECISION_CERTIFY;
    if (facts->verdict != VERDICT_FAIL)
        return DECISION_NOTHING;
    if (facts->is_near && is_early)
        return DECISION_SUSPECT;
    if (rules->no_drain || facts->cause == CAUSE_NONE ||
        (facts->cause == CAUSE_NEAR_LIMIT && is_early))
        return DECISION_NOTHING; /* undo restores a lifted drain */
    if (facts->role == ROLE_RETEST)
        return DECISION_KEEP;
    return rules->drained < rules->cap ? DECISION_DRAIN : DECISION_OVER_CAP;
}
