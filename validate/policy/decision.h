/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_DECISION_H
#define MUSTER_POLICY_DECISION_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/record.h"
#include "validate/policy/plan.h"

/* Decides what happens to a node that a run has tested. Pure. */

/* Returns whether a fault takes a node out of service: its verdict is FAIL, and its code's drain
 * mark in the catalog includes `who`, DRAIN_CERTIFY or DRAIN_HEALTH. Only this function reads the
 * mark. */
bool decision_drains(enum verdict verdict, enum fault_code code, enum fault_drain who);

/* The strongest cause to drain a node, among the faults that decision_drains() accepts. */
enum drain_cause {
    CAUSE_NONE,
    CAUSE_NEAR_LIMIT, /* figures near their limits: strikes.h */
    CAUSE_HARD,
};

struct decision_facts {
    enum plan_role role;
    enum verdict verdict; /* of all stages */
    bool is_near;         /* all failures are values near their limits */
    enum drain_cause cause;
    int strike; /* of a figure near its limit: which strike this is, from 1 */
};

struct decision_rules {
    bool is_dry_run, no_drain;
    int strikes;         /* strikes that it takes to drain for a fault near its limit */
    size_t drained, cap; /* nodes that muster has out of service now, and at most: cap.h */
};

enum decision {
    DECISION_NOTHING, /* not ours, unknown, drains are disabled, or no cause for a drain */
    DECISION_CERTIFY,
    DECISION_RELEASE, /* certify, and lift our drain */
    DECISION_SUSPECT, /* gets no new certificate, keeps the old one and service; tested again */
    DECISION_DRAIN,
    DECISION_KEEP,     /* stays drained by muster; the cap does not apply */
    DECISION_OVER_CAP, /* not drained: the cap is reached */
};

/* Decides about a node. A dry run gets the same decisions without acting on them, but never
 * DECISION_RELEASE: it lifts no drain. */
enum decision decision_make(const struct decision_facts *facts, const struct decision_rules *rules);

#endif
