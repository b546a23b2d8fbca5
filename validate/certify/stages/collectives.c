/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/stages.h"

static void collectives_arguments(const struct certify *certify, const struct hostlist *names,
                                  double limit_s, struct arguments *program)
{
    (void)names;
    certify_program(certify, "muster-collectives", limit_s, program);
}

const struct certify_stage stage_collectives = {
    .stage = STAGE_COLLECTIVES,
    .job = JOB_BATTERY,
    .level = LEVEL_QUICK,
    .battery = &(const struct battery){STAGE_COLLECTIVES, true, collectives_arguments},
    .fold = certify_coverage_note,
};
