/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/stages.h"

#include <string.h>

#include "validate/certify/step/reach_nodes.h"

static void run(struct certify *certify)
{
    size_t asked = 0;

    progress_begin(&certify->progress, "reach");
    progress_doing(&certify->progress, "asking the slurmd of each node");
    certify_reach_first(certify);
    for (size_t i = 0; i < certify->count; i++) {
        struct subject *subject = &certify->subjects[i];

        asked += subject->plan.role != ROLE_LEAVE;
        if (subject->plan.role == ROLE_LEAVE)
            certify_verdict(certify, subject, STAGE_REACH, VERDICT_UNKNOWN, "slurm.state", "",
                            subject->plan.message);
        else if (subject->plan.role == ROLE_FAULTY && outcome_is_good(&subject->outcome) &&
                 strcmp(subject->plan.part, "slurmd") == 0) {
            char text[256];

            /* It answers now: whether it was at fault cannot be told, nor tested. */
            text_put(text, sizeof text,
                     "%.140s; it answers now: scontrol update nodename=%.50s "
                     "state=resume",
                     subject->plan.message, subject->name);
            certify_verdict(certify, subject, STAGE_REACH, VERDICT_UNKNOWN, "slurm.state", "slurmd",
                            text);
        } else if (subject->plan.role == ROLE_FAULTY && outcome_is_good(&subject->outcome))
            certify_verdict(certify, subject, STAGE_REACH, VERDICT_FAIL,
                            strcmp(subject->plan.part, "gres") == 0 ? "slurm.gres" : "slurm.state",
                            subject->plan.part, subject->plan.message);
    }
    certify_stage_end(certify, asked);
}

const struct certify_stage stage_reach = {
    .stage = STAGE_REACH,
    .job = JOB_NONE,
    .level = LEVEL_QUICK,
    .run = run,
};
