/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ACT_DECISION_H
#define MUSTER_ACT_DECISION_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/record.h"
#include "validate/act/plan.h"

/* What becomes of a node that a run has looked at. Pure. */

struct decision_facts {
    enum plan_role role;
    enum verdict verdict; /* of all stages */
    bool is_near;         /* all that failed are figures near their limits: strikes.h */
    int strike;           /* if so, which this is, from 1 */
};

struct decision_rules {
    bool is_dry_run, no_drain;
    int strikes;         /* wanted of faults near the limit */
    size_t drained, cap; /* nodes that muster has out of service now, and at most: cap.h */
};

enum decision {
    DECISION_NOTHING, /* not ours, nothing is known, or no drain is wanted */
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
