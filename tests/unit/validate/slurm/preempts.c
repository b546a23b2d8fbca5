/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/job/preempts.h"

#include <string.h>

#include "tests/unit/tap.h"
#include "validate/slurm/release.h"
#include "validate/slurm/step/step.h"

#include <slurm/slurmdb.h> /* after release.h */

/* Whether a small job would preempt another one. slurmctld reports a preemption on n2, except in
 * partition low, or does not answer. */

static bool is_slurmctld_gone;

int __wrap_slurm_job_will_run2(job_desc_msg_t *wanted, will_run_response_msg_t **answer)
{
    static will_run_response_msg_t found;
    bool is_low = wanted->partition && strcmp(wanted->partition, "low") == 0;

    found.preemptee_job_id =
        strstr(wanted->req_nodes, "n2") && !is_low ? (void *)&found : (void *)NULL;
    *answer = &found;
    return is_slurmctld_gone ? SLURM_ERROR : SLURM_SUCCESS;
}

static char federation[] = "both", cluster[] = "east";
static slurmdb_federation_rec_t federation_found;

int __wrap_slurm_load_federation(void **found)
{
    *found = &federation_found;
    return SLURM_SUCCESS;
}

void __wrap_slurm_destroy_federation_rec(void *found)
{
}

int __wrap_slurm_load_ctl_conf(time_t since, slurm_conf_t **found)
{
    static slurm_conf_t conf;

    conf.cluster_name = cluster;
    *found = &conf;
    return SLURM_SUCCESS;
}

void __wrap_release_conf_free(slurm_conf_t *conf)
{
}

static int started;
static char second_word[40]; /* of srun's command line */

int __wrap_process_run(const struct process *process, struct process_result *result,
                       struct error *err)
{
    *result = (struct process_result){.end = PROCESS_EXITED};
    started++;
    snprintf(second_word, sizeof second_word, "%s", process->argv[1]);
    return 0;
}

static void check_start(const char *name, const char *partition, bool is_started, const char *what)
{
    static char word[] = "true", *program[] = {word, NULL};
    const struct process watching = {.deadline_s = 1};
    struct process_result result;
    struct hostlist nodes = {0};
    struct error err = {""};
    int rv;

    started = 0;
    hostlist_append(&nodes, name);
    rv = step_run_on(&nodes, partition, 1, program, &watching, &result, &err);
    is_int(started, is_started, "%s", what);
    is_int(rv, is_started ? 0 : 1, "... which is %s", is_started ? "no error" : "reported");
    if (!is_started)
        is_str(err.text, "Slurm would preempt a job there", "... why");
    hostlist_clear(&nodes);
}

int main(void)
{
    check_start("n1", NULL, true, "a job that preempts none is started");
    check_start("n2", NULL, false, "a job that would preempt one is not");
    check_start("n2", "low", true, "... unless its partition preempts none");
    ok(strncmp(second_word, "--nodelist=", 11) == 0,
       "... on the only cluster, which needs no name");
    federation_found.name = federation;
    check_start("n1", NULL, true, "a job is started in a federation");
    is_str(second_word, "--clusters=east", "... on this cluster, as others may have such nodes");
    federation_found.name = NULL;
    is_slurmctld_gone = true;
    check_start("n2", NULL, true,
                "without an answer from slurmctld it is started, and srun reports the error");
    return tap_done();
}
