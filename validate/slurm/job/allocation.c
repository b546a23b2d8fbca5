/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/job/allocation.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/constants/slurm_constants.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/job/as_user.h"
#include "validate/slurm/show.h"

/* Permanent refusals, and the change that the site must make; %s is the user. */
static const struct {
    int reason;
    const char *next;
} refusals[] = {
    {ESLURM_INVALID_ACCOUNT, "it needs an account that the partition allows (AllowAccounts): "
                             "sacctmgr add user %s account=NAME"},
    {ESLURM_INVALID_QOS, "it needs a QOS that the partition allows (AllowQos): sacctmgr modify "
                         "user %s set qos+=NAME defaultqos=NAME"},
    {ESLURM_ACCOUNTING_POLICY, "a limit of its account or QOS does not allow such a job: sacctmgr "
                               "show assoc user=%s"},
    {ESLURM_JOB_MISSING_REQUIRED_PARTITION_GROUP,
     "it must be in a group of the partition's AllowGroups: usermod -aG GROUP %s"},
    {ESLURM_GROUP_ID_MISSING,
     "it must be in a group of the partition's AllowGroups: usermod -aG GROUP %s"},
    {ESLURM_ACCESS_DENIED, "RootOnly and AllocNodes of the partition must allow jobs of %s"},
    {ESLURM_USER_ID_MISSING,
     "DisableRootJobs in slurm.conf must be no, and slurmctld's host must know the user %s"},
    {ESLURM_INVALID_NODE_COUNT, "MinNodes and MaxNodes of the partition must allow jobs of %s of "
                                "so many nodes; or certify more or fewer at a time: "
                                "--nodes-at-a-time"},
    {ESLURM_INVALID_TIME_LIMIT, "MaxTime of the partition must allow jobs of %s as long as "
                                "the tests; or shorten these with --time-limit"},
    {ESLURM_INVALID_TASK_MEMORY, "MaxMemPerNode or MaxMemPerCPU of slurm.conf or of the partition "
                                 "must allow jobs of %s of whole nodes"},
};

static const char *refusal_next(int reason)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].reason == reason)
            return refusals[i].next;
    return NULL;
}

/* For refusals without a Slurm reason, as by a job_submit plugin. Other failures look the same. */
static const char plugin_next[] =
    "a job_submit plugin may have refused it, see slurmctld's log: it "
    "must accept jobs of %s that request whole nodes, no GPUs and no account";

int allocation_refused(struct error *err, const char *what, const char *nodes, const char *user,
                       int reason)
{
    const char *next = reason == SLURM_ERROR ? plugin_next : refusal_next(reason);
    const char *user_at = next ? strstr(next, "%s") : NULL;
    char some[120];

    text_put(some, sizeof some, "%s", nodes);
    error_set(err, "%s %s for %s: %s", what, some, user, slurm_strerror(reason));
    if (user_at)
        text_put(err->text + strlen(err->text), sizeof err->text - strlen(err->text), "; %.*s%s%s",
                 (int)(user_at - next), next, user, user_at + 2);
    return -1;
}

/* Pending reasons that only the site can clear, each with the matching refusal. Without
 * EnforcePartLimits slurmctld accepts such a job and never starts it. It counts GPUs and memory of
 * whole nodes only when the job could start. */
#define LIMITS(name)                                                                               \
    {WAIT_ASSOC_##name, ESLURM_ACCOUNTING_POLICY},                                                 \
    {                                                                                              \
        WAIT_QOS_##name, ESLURM_ACCOUNTING_POLICY                                                  \
    }
static const struct {
    uint32_t pending;
    int reason;
} never_start[] = {
    {WAIT_ACCOUNT, ESLURM_INVALID_ACCOUNT},
    {WAIT_QOS, ESLURM_INVALID_QOS},
    LIMITS(MAX_NODE_PER_JOB),
    LIMITS(MAX_WALL_PER_JOB),
    LIMITS(MAX_CPU_PER_JOB),
    LIMITS(MAX_GRES_PER_JOB),
    LIMITS(MAX_MEM_PER_JOB),
    LIMITS(MAX_BILLING_PER_JOB),
    LIMITS(MAX_CPU_PER_NODE),
    LIMITS(MAX_GRES_PER_NODE),
    LIMITS(MAX_MEM_PER_NODE),
    LIMITS(MAX_BILLING_PER_NODE),
    LIMITS(MAX_CPU_MINS_PER_JOB),
    LIMITS(MAX_GRES_MINS_PER_JOB),
    LIMITS(MAX_MEM_MINS_PER_JOB),
    LIMITS(MAX_NODE_MINS_PER_JOB),
    LIMITS(MAX_BILLING_MINS_PER_JOB),
    {WAIT_QOS_MIN_CPU, ESLURM_ACCOUNTING_POLICY},
    {WAIT_QOS_MIN_NODE, ESLURM_ACCOUNTING_POLICY},
    {WAIT_PN_MEM_LIMIT, ESLURM_INVALID_TASK_MEMORY},
    {WAIT_PART_TIME_LIMIT, ESLURM_INVALID_TIME_LIMIT},
    {WAIT_PART_NODE_LIMIT, ESLURM_INVALID_NODE_COUNT},
};

/* Returns the refusal of a pending reason; 0: the job may still start. */
static int never_start_refusal(uint32_t pending)
{
    for (size_t i = 0; i < sizeof never_start / sizeof *never_start; i++)
        if (never_start[i].pending == pending)
            return never_start[i].reason;
    return 0;
}

static const char *user_name(const struct user *user)
{
    return user ? user->name : geteuid() == 0 ? "root" : "this user";
}

/* The job's state in slurmctld. */
struct job_status {
    bool is_known, is_pending, is_over; /* over: a prolog failed, or somebody canceled it */
    int refusal;                        /* Slurm's reason if the job will never start; else 0 */
    char why[160];                      /* the controller's message; "" */
};

static struct job_status job_status_of(uint32_t job_id)
{
    struct job_status job_status = {false};
    job_info_msg_t *found = NULL;

    if (slurm_load_job(&found, job_id, SHOW_ALL) != SLURM_SUCCESS)
        return job_status;
    for (uint32_t i = 0; i < found->record_count; i++) {
        const slurm_job_info_t *job = &found->job_array[i];
        uint32_t state = job->job_state & JOB_STATE_BASE;

        job_status.is_known = true;
        job_status.is_pending = state == JOB_PENDING;
        job_status.is_over |= state > JOB_SUSPENDED;
        if (job_status.is_pending)
            job_status.refusal = never_start_refusal(job->state_reason);
        snprintf(job_status.why, sizeof job_status.why, "%s",
                 job->state_desc ? job->state_desc : "");
    }
    slurm_free_job_info_msg(found);
    return job_status;
}

/* Reads why the job waits, as squeue prints it; "" if unknown. */
static void pending_read(uint32_t job_id, char *why, size_t size)
{
    static const char key[] = " Reason=";
    char *text = NULL, *found;

    *why = '\0';
    if (cluster_show_job(job_id, &text, NULL) == 0 && (found = strstr(text, key)))
        snprintf(why, size, "%.*s", (int)strcspn(found + strlen(key), " \n"), found + strlen(key));
    free(text);
}

/* Reads what keeps the job from being ready; "" if unknown. */
static void reason_read(uint32_t job_id, char *reason, size_t size)
{
    struct job_status job_status = job_status_of(job_id);
    char why[64] = "";

    if (job_status.is_pending && !*job_status.why)
        pending_read(job_id, why, sizeof why);
    if (!job_status.is_known)
        *reason = '\0';
    else if (*job_status.why)
        text_put(reason, size, "%s", job_status.why);
    else if (job_status.is_pending)
        text_put(reason, size, "the controller did not start the job%s%s%s", *why ? " (" : "", why,
                 *why ? ")" : "");
    else
        text_put(reason, size, "the prolog did not finish on all nodes");
}

/* Waits until it is time for the next query. */
static void query_wait(const struct allocation_request *request, double begin)
{
    double queried_at = clock_s(),
           pause_s =
               fmin(ALLOCATION_QUERY_MOST_S, fmax(ALLOCATION_QUERY_S, 0.1 * (queried_at - begin)));

    for (double left_s = pause_s; left_s > 0 && !(request->stop && *request->stop);
         left_s = pause_s - (clock_s() - queried_at)) {
        usleep((useconds_t)(1e6 * fmin(left_s, ALLOCATION_TICK_S)));
        if (request->on_tick)
            request->on_tick(request->context);
    }
}

/* Returns the time limit of the request in seconds. A started job gets more time: slurmctld learns
 * the end of each node's prolog one by one. A job that has not started gets no more. */
static double limit_s(const struct allocation_request *request, int ready)
{
    bool has_begun = ready > 0 && (ready & READY_JOB_STATE);

    return request->deadline_s +
           (has_begun ? (double)request->nodes->count / ALLOCATION_NODES_PER_S : 0);
}

/* Waits until the job is ready and the prologs have ended, as salloc does. A failed prolog may end
 * the job. Returns as allocation_get(). */
static int wait_ready(const struct allocation_request *request, const char *nodes, uint32_t job_id,
                      double begin, struct error *err)
{
    static const int all = READY_JOB_STATE | READY_NODE_STATE | READY_PROLOG_STATE;
    bool is_checked = false;
    int refusal = 0;

    for (;;) {
        int ready = slurm_job_node_ready(job_id);

        if (ready > 0 && (ready & all) == all)
            return 0;
        if (ready == READY_JOB_FATAL &&
            cluster_job_state(job_id, request->job_name) == CLUSTER_JOB_LOST) {
            error_set(err, "the controller lost job %u", job_id);
            return 2;
        }
        if (ready == READY_JOB_FATAL ||
            (ready > 0 && !(ready & READY_JOB_STATE) && job_status_of(job_id).is_over))
            return error_set(err, "job %u was removed before it started", job_id);
        if (request->stop && *request->stop) {
            error_set(err, "stopped by a signal");
            return 1;
        }
        if (!is_checked && clock_s() - begin > ALLOCATION_PENDING_S) {
            is_checked = true;
            refusal = job_status_of(job_id).refusal;
        }
        if (refusal != 0)
            return allocation_refused(err, "no allocation of", nodes, user_name(request->user),
                                      refusal);
        if (clock_s() - begin > limit_s(request, ready)) {
            char reason[200];

            reason_read(job_id, reason, sizeof reason);
            error_set(err, "no allocation of %zu nodes within %.0f s%s%s", request->nodes->count,
                      limit_s(request, ready), *reason ? ": " : "", reason);
            return 1;
        }
        query_wait(request, begin);
    }
}

/* Requests the job as the user of this process. Returns 0 or Slurm's errno. */
static int allocate(job_desc_msg_t *wanted, struct as_user_answer *job)
{
    resource_allocation_response_msg_t *granted = NULL;

    wanted->user_id = getuid();
    wanted->group_id = getgid();
    if (slurm_allocate_resources(wanted, &granted) != SLURM_SUCCESS || !granted)
        return errno ? errno : ESLURM_INTERNAL;
    job->value = release_granted_id(granted);
    slurm_free_resource_allocation_response_msg(granted);
    return 0;
}

/* Returns Slurm's list of the reservation's nodes that are not requested, malloc'd; NULL if memory
 * is out. */
static char *other_nodes_fold(const struct allocation_request *request)
{
    struct hostlist others = {0};
    char *folded = NULL;

    if (hostlist_split(request->reservation_nodes, request->nodes, NULL, &others) == 0)
        folded = hostlist_fold_for_slurm(&others);
    hostlist_clear(&others);
    return folded;
}

/* With topology/block, makes the job exclude the reservation's other nodes. Otherwise, or if memory
 * is out, the job names its own nodes. */
static void other_nodes_exclude(const struct allocation_request *request, job_desc_msg_t *job)
{
    char *others =
        request->reservation_nodes && request->reservation ? other_nodes_fold(request) : NULL;

    if (!others || !release_job_spread(job)) {
        free(others);
        return;
    }
    job->req_nodes = NULL;
    job->exc_nodes = *others ? others : NULL;
    if (!*others)
        free(others);
}

/* Fills the job description; its exc_nodes and tres_per_node are malloc'd. Returns the folded
 * nodes, malloc'd; NULL with err. */
static char *job_desc_fill(const struct allocation_request *request, job_desc_msg_t *job,
                           struct error *err)
{
    char *nodes = hostlist_fold_for_slurm(request->nodes);

    if (!nodes)
        error_set(err, "out of memory for an allocation of %zu nodes", request->nodes->count);
    slurm_init_job_desc_msg(job);
    job->name = release_text(request->job_name);
    job->req_nodes = nodes;
    job->min_nodes = job->max_nodes = (uint32_t)request->nodes->count;
    job->clusters = release_text(request->cluster);
    job->partition = release_text(request->partition);
    job->reservation = release_text(request->reservation);
    job->shared = JOB_SHARED_NONE;
    job->pn_min_memory = request->memory;
    job->time_limit = (uint32_t)request->minutes;
    job->kill_on_node_fail = 0; /* a lost node is a test result and must not end the job */
    job->work_dir = release_text("/");
    if (nodes && request->gpus > 0 &&
        asprintf(&job->tres_per_node, "gres/gpu:%ld", request->gpus) < 0)
        job->tres_per_node = NULL;
    if (nodes)
        other_nodes_exclude(request, job);
    return nodes;
}

int allocation_check(const struct allocation_request *request, struct error *err)
{
    job_desc_msg_t job;
    char *nodes = job_desc_fill(request, &job, err);
    struct as_user_answer start;
    int reason, rv = 0;

    if (!nodes)
        return -1;
    reason = as_user(request->user, as_user_would_start, &job, &start);
    if (refusal_next(reason))
        rv = allocation_refused(err, "no allocation of", nodes, request->user->name, reason);
    free(job.tres_per_node);
    free(job.exc_nodes);
    free(nodes);
    return rv;
}

int allocation_get(const struct allocation_request *request, uint32_t *job_id, struct error *err)
{
    double begin = clock_s();
    job_desc_msg_t job;
    char *nodes = job_desc_fill(request, &job, err);
    struct as_user_answer answer = {0};
    int reason, rv;

    *job_id = 0;
    if (!nodes)
        return -1;
    reason =
        request->user ? as_user(request->user, allocate, &job, &answer) : allocate(&job, &answer);
    *job_id = answer.value;
    if (reason != 0) {
        rv = allocation_refused(err, "no allocation of", nodes, user_name(request->user), reason);
    } else {
        if (request->previous_job_id != 0)
            cluster_job_cancel(request->previous_job_id, NULL);
        rv = wait_ready(request, nodes, *job_id, begin, err);
    }
    if (rv != 0)
        *job_id = 0;
    free(job.tres_per_node);
    free(job.exc_nodes);
    free(nodes);
    return rv;
}
