/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_DECISION_H
#define MUSTER_POLICY_DECISION_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/record.h"
#include "validate/policy/plan.h"

/* What becomes of a node that a run has looked at. Pure. */

/* Whether a fault takes a node out of service: its verdict is fail, and its code's drain mark in
 * the catalogue names who asks, DRAIN_CERTIFY or DRAIN_HEALTH. The one place that reads the mark.
 */
bool decision_drains(enum verdict verdict, enum fault_code code, enum fault_drain who);

/* What there is to drain a node for: of its faults those that decision_drains(). */
enum ground {
    GROUND_NONE,
    GROUND_NEAR, /* figures near their limits: strikes.h */
    GROUND_HARD,
};

struct decision_facts {
    enum plan_role role;
    enum verdict verdict; /* of all stages */
    bool is_near;         /* all that failed are figures near their limits */
    enum ground ground;
    int strike; /* of a figure near its limit: which this is, from 1 */
};

struct decision_rules {
    bool is_dry_run, no_drain;
    int strikes;         /* wanted of faults near the limit */
    size_t drained, cap; /* nodes that muster has out of service now, and at most: cap.h */
};

enum decision {
    DECISION_NOTHING, /* not ours, nothing is known, no drain is wanted, or no ground for one */
    DECISION_CERTIFY,
    DECISION_RELEASE, /* certify, and lift our drain */
    DECISION_SUSPECT, /* not certified anew, but keeps certificate and service; to be tested again
                       */
    DECISION_DRAIN,
    DECISION_KEEP,  /* stays drained by us: counts for no cap, as it takes nothing away */
    DECISION_SPARE, /* would be drained, but for the cap */
};

/* In a dry run the same decision is told and nothing done, but for a release: no drain is lifted
 * there, so that none can be passed. */
enum decision decision_make(const struct decision_facts *facts, const struct decision_rules *rules);

#endif
