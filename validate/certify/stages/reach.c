/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/stages.h"

#include <string.h>

#include "validate/certify/report/run_records.h"
#include "validate/certify/step/reach_nodes.h"

static void run(struct certify *certify)
{
    size_t asked = 0;

    progress_begin(&certify->progress, "reach");
    progress_doing(&certify->progress, "querying the slurmd of each node");
    certify_reach_first(certify);
    for (size_t i = 0; i < certify->count; i++) {
        struct node_run *node_run = &certify->node_runs[i];

        asked += node_run->plan.role != ROLE_SKIP;
        if (node_run->plan.role == ROLE_SKIP)
            certify_verdict(certify, node_run, STAGE_REACH, VERDICT_UNKNOWN, "slurm.state", "",
                            node_run->plan.message);
        else if (node_run->plan.role == ROLE_FAULTY && outcome_is_good(&node_run->outcome) &&
                 strcmp(node_run->plan.part, "slurmd") == 0) {
            char text[256];

            /* It answers now: whether it was at fault is not known, and cannot be tested. */
            text_put(text, sizeof text,
                     "%.100s; it answers now; next: read slurmd's log there, then scontrol update "
                     "nodename=%.63s state=resume",
                     node_run->plan.message, node_run->name);
            certify_fault(certify, node_run, STAGE_REACH, VERDICT_UNKNOWN, FAULT_NOT_MEASURED,
                          "slurm.state", "slurmd", text);
        } else if (node_run->plan.role == ROLE_FAULTY && outcome_is_good(&node_run->outcome))
            certify_verdict(certify, node_run, STAGE_REACH, VERDICT_FAIL,
                            strcmp(node_run->plan.part, "gres") == 0 ? "slurm.gres" : "slurm.state",
                            node_run->plan.part, node_run->plan.message);
    }
    certify_stage_end(certify, asked);
}

const struct certify_stage stage_reach = {
    .stage = STAGE_REACH,
    .job = JOB_NONE,
    .level = LEVEL_QUICK,
    .run = run,
};
