/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/job/preempts.h"

#include <stdlib.h>

#include "lib/constants/slurm_constants.h"
#include "validate/slurm/job/as_user.h"

static int query(job_desc_msg_t *wanted, struct as_user_answer *is_any)
{
    will_run_response_msg_t *answer = NULL;

    if (slurm_job_will_run2(wanted, &answer) == SLURM_SUCCESS && answer)
        is_any->value = answer->preemptee_job_id != NULL; /* a list, or none */
    return 0;
}

bool preempts(const struct hostlist *nodes, const char *partition)
{
    char *folded = hostlist_fold_for_slurm(nodes);
    struct as_user_answer is_any = {0};
    job_desc_msg_t job;

    if (!folded)
        return false;
    slurm_init_job_desc_msg(&job);
    job.req_nodes = folded;
    job.partition = release_text(partition);
    job.min_nodes = job.max_nodes = job.num_tasks = job.min_cpus = (uint32_t)nodes->count;
    job.ntasks_per_node = 1;
    job.pn_min_memory = STEP_ON_MB;
    job.time_limit = STEP_ON_MIN;
    job.work_dir = release_text("/");
    (void)as_user(NULL, query, &job, &is_any);
    free(folded);
    return is_any.value != 0;
}
