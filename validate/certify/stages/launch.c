/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/stages.h"

#include <stdlib.h>

#include "lib/base/clock.h"

static void launch_arguments(const struct certify *certify, const struct hostlist *names,
                             double limit_s, struct arguments *program)
{
    char *folded = hostlist_fold(names);

    certify_program(certify, "muster-launch", limit_s, program);
    arguments_add(program, "--expect-nodes=%s", text_of(folded));
    arguments_add(program, "--expect-ranks-per-node=%d", certify_ranks_per_node(certify));
    arguments_add(program, "--started=%.3f", clock_epoch_s());
    free(folded);
}

const struct certify_stage stage_launch = {
    .stage = STAGE_LAUNCH,
    .job = JOB_BATTERY,
    .level = LEVEL_QUICK,
    .battery = &(const struct battery){STAGE_LAUNCH, false, launch_arguments},
    .fold = certify_coverage_note,
};
