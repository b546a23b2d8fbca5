/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/stages.h"

#include "validate/certify/stages/battery.h"

static void collectives_arguments(const struct certify *certify, const struct hostlist *names,
                                  double limit_s, struct arguments *program)
{
    (void)names;
    certify_program(certify, "muster-collectives", limit_s, program);
}

static void run(struct certify *certify)
{
    certify_battery(certify, &(struct battery){STAGE_COLLECTIVES, true, collectives_arguments});
}

static void fold(struct certify *certify, size_t first)
{
    certify_coverage_note(certify, STAGE_COLLECTIVES, first);
}

const struct certify_stage stage_collectives = {
    .stage = STAGE_COLLECTIVES,
    .job = JOB_BATTERY,
    .level = LEVEL_QUICK,
    .run = run,
    .fold = fold,
};
