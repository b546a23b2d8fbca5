/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/stages.h"

static void train_arguments(const struct certify *certify, const struct hostlist *names,
                            double limit_s, struct arguments *program)
{
    char path[4096];

    (void)names;
    step_program_path("muster-train", path, sizeof path);
    arguments_add(program, "%s", path);
    arguments_add(program, "battery");
    arguments_add(program, "--json");
    arguments_add(program, "--time-limit=%.0f", limit_s);
    if (certify->options.level != LEVEL_FULL)
        arguments_add(program, "--quick");
}

const struct certify_stage stage_train = {
    .stage = STAGE_TRAIN,
    .job = JOB_BATTERY,
    .level = LEVEL_STANDARD,
    .program = "muster-train",
    .battery = &(const struct battery){STAGE_TRAIN, true, train_arguments},
};
