/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_STAGES_H
#define MUSTER_CERTIFY_STAGES_H

#include "validate/certify/stages/battery.h"
#include "validate/certify/state/run.h"

/* The stages of a run, a file each. How long one takes is in budget.h. */
struct certify_stage {
    enum stage stage;         /* whose column its verdicts stand in */
    enum certify_job job;     /* in which it runs */
    enum certify_level level; /* the least level that has it: below it is skipped */
    const char *program;      /* without which it is skipped, where it was not built; NULL: none */
    /* What asks the nodes that are good so far, and has a verdict for each of them at its end: run,
     * or where that is NULL the battery. */
    const struct battery *battery;
    void (*run)(struct certify *certify);
    /* What its records since first say besides verdicts; NULL: nothing. */
    void (*fold)(struct certify *certify, enum stage stage, size_t first);
};

#define STAGE_DECLARE(upper, lower) extern const struct certify_stage stage_##lower;
STAGE_LIST(STAGE_DECLARE)
#undef STAGE_DECLARE
extern const struct certify_stage stage_subnet; /* a part of check */

/* All of them in their order, ends with NULL. */
extern const struct certify_stage *const certify_stages[];

#endif
