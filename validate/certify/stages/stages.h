/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_STAGES_H
#define MUSTER_CERTIFY_STAGES_H

#include "validate/certify/stages/battery.h"
#include "validate/certify/state/run.h"

/* The stages of a run, one file each. budget.h has how long they take. */
struct certify_stage {
    enum stage stage;         /* the column of its verdicts */
    enum certify_job job;     /* the job in which it runs */
    enum certify_level level; /* the lowest level that includes it; skipped below */
    const char *program;      /* the program that it needs; skipped if not built; NULL: none */
    /* Tests the nodes that are good so far and gives each a verdict: run, or battery if run is
     * NULL. */
    const struct battery *battery;
    void (*run)(struct certify *certify);
    /* Evaluates its records since first beyond their verdicts; NULL: nothing to evaluate. */
    void (*fold)(struct certify *certify, enum stage stage, size_t first);
};

#define STAGE_DECLARE(upper, lower) extern const struct certify_stage stage_##lower;
STAGE_LIST(STAGE_DECLARE)
#undef STAGE_DECLARE
extern const struct certify_stage stage_subnet; /* a part of check */

/* All stages in order; ends with NULL. */
extern const struct certify_stage *const certify_stages[];

#endif
