/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/stages.h"

#include <math.h>

#include "lib/constants/battery_constants.h"
#include "validate/certify/stages/decline.h"

/* muster-host, one task per node. It compares parts with their peers; here they are compared with
 * what they showed before. */

static void host_arguments(const struct certify *certify, const struct hostlist *names,
                           double limit_s, struct arguments *program)
{
    (void)names;
    certify_program(certify, "muster-host", limit_s, program);
    if (certify->options.level == LEVEL_FULL)
        arguments_add(program, "--times=%d", HOST_FULL_TIMES);
}

/* Returns whether the record is a figure that passed, of threads that were not kept from running.
 */
static bool is_figure(const struct record *record)
{
    return record->node && record->part && record->metric && isfinite(record->value) &&
           record->verdict == VERDICT_PASS && !(record->stalled > HOST_STALLED_MOST_SHARE) &&
           catalog_is_suite(record->suite, SUITE_HOST);
}

static void fold(struct certify *certify, enum stage stage, size_t first)
{
    certify_skip_unmeasured(certify, stage, SUITE_HOST, first);
    certify_decline(certify, stage, first, is_figure);
}

const struct certify_stage stage_host = {
    .stage = STAGE_HOST,
    .job = JOB_BATTERY,
    .level = LEVEL_STANDARD,
    .program = "muster-host",
    .battery =
        &(const struct battery){.stage = STAGE_HOST, .tasks_per_node = 1, .build = host_arguments},
    .fold = fold,
};
