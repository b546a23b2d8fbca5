/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/step/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/constants/slurm_constants.h"
#include "validate/slurm/job/as_user.h"

enum { MEMORY_MB = 64 };

/* What refusals mean for the policy; others are PROBE_REFUSED. */
static const struct {
    int reason;
    enum probe_answer answer;
} answers[] = {
    {ESLURM_ACCOUNTING_POLICY, PROBE_LIMITED},
    {ESLURM_INVALID_TIME_LIMIT, PROBE_LIMITED},
    {ESLURM_INVALID_NODE_COUNT, PROBE_LIMITED},
    {ESLURM_TOO_MANY_REQUESTED_CPUS, PROBE_LIMITED},
    {ESLURM_RESERVATION_ACCESS, PROBE_DENIED},
    {SLURM_COMMUNICATIONS_CONNECTION_ERROR, PROBE_NO_ANSWER},
    {SLURMCTLD_COMMUNICATIONS_CONNECTION_ERROR, PROBE_NO_ANSWER},
    {SLURMCTLD_COMMUNICATIONS_SEND_ERROR, PROBE_NO_ANSWER},
    {SLURMCTLD_COMMUNICATIONS_RECEIVE_ERROR, PROBE_NO_ANSWER},
    {SLURM_PROTOCOL_SOCKET_IMPL_TIMEOUT, PROBE_NO_ANSWER},
};

static enum probe_answer answer_of(int reason)
{
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (answers[i].reason == reason)
            return answers[i].answer;
    return reason == 0 ? PROBE_ACCEPTED : PROBE_REFUSED;
}

static int submit(job_desc_msg_t *wanted, struct as_user_answer *job)
{
    submit_response_msg_t *answer = NULL;

    dup2(open("/dev/null", O_WRONLY), 2); /* of the child: hide libslurm's messages */
    if (slurm_submit_batch_job(wanted, &answer) != SLURM_SUCCESS || !answer)
        return errno ? errno : ESLURM_INTERNAL;
    job->value = release_submitted_id(answer);
    slurm_free_submit_response_response_msg(answer);
    return 0;
}

static char *text_or_null(const char *text)
{
    return text && *text ? release_text(text) : NULL;
}

static enum probe_answer request_send(const struct probe_request *request, as_user_fn *function,
                                      struct as_user_answer *answer, char *text, size_t size)
{
    char script[64], gres[2][128], *environment[] = {release_text("PATH=/usr/bin:/bin"), NULL};
    job_desc_msg_t job;
    int reason;

    snprintf(script, sizeof script, "#!/bin/sh\nexec sleep %.2f\n",
             request->run_s > 0                  ? request->run_s
             : request->minutes < PROBE_MOST_MIN ? 60.0 * request->minutes
                                                 : 60.0 * PROBE_MOST_MIN);
    slurm_init_job_desc_msg(&job);
    job.name = text_or_null(request->name);
    job.clusters = text_or_null(request->cluster);
    job.account = text_or_null(request->account);
    job.qos = text_or_null(request->qos);
    job.partition = text_or_null(request->partition);
    job.reservation = text_or_null(request->reservation);
    job.req_nodes = text_or_null(request->node);
    job.exc_nodes = text_or_null(request->excluded);
    job.min_nodes = job.max_nodes = (uint32_t)request->nodes;
    job.num_tasks = job.min_cpus = (uint32_t)request->cpus;
    job.cpus_per_task = 1;
    job.pn_min_memory = MEMORY_MB;
    if (request->is_exclusive)
        job.shared = JOB_SHARED_NONE;
    if (request->is_later)
        job.begin_time = time(NULL) + PROBE_LATER_S;
    if (request->minutes > 0)
        job.time_limit = (uint32_t)request->minutes;
    /* Slurm removes a job that does not start in time, even if muster has died */
    job.deadline = time(NULL) + PROBE_LATER_S + request->wait_s +
                   60 * ((time_t)request->minutes + PROBE_MOST_MIN);
    job.work_dir = release_text("/");
    job.std_out = job.std_err = job.std_in = release_text("/dev/null");
    job.script = script;
    job.environment = environment;
    job.env_size = 1;
    /* each release accepts one notation of GRES and refuses the other */
    snprintf(gres[0], sizeof gres[0], "gres:%s", request->gres);
    snprintf(gres[1], sizeof gres[1], "gres/%s", request->gres);
    job.tres_per_node = *request->gres ? gres[0] : NULL;
    reason = as_user(request->user, function, &job, answer);
    if (*request->gres && (reason == ESLURM_INVALID_GRES || reason == ESLURM_INVALID_TRES)) {
        job.tres_per_node = gres[1];
        reason = as_user(request->user, function, &job, answer);
    }
    snprintf(text, size, "%s", reason ? slurm_strerror(reason) : "");
    return answer_of(reason);
}

enum probe_answer probe_submit(const struct probe_request *request, uint32_t *id, char *text,
                               size_t size)
{
    struct as_user_answer job = {0};
    enum probe_answer answer = request_send(request, submit, &job, text, size);

    *id = job.value;
    return answer;
}

enum probe_answer probe_would_start(const struct probe_request *request, time_t *start,
                                    char node[64], char *text, size_t size)
{
    struct as_user_answer job = {0};
    enum probe_answer answer = request_send(request, as_user_would_start, &job, text, size);

    *start = job.value;
    memcpy(node, job.nodes, sizeof job.nodes);
    return answer;
}
