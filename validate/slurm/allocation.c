/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/allocation.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/read_all.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/release.h"

/* The longer it has taken, the less often the controller is asked: so a wait of 20 s is some 50
 * requests, and its end is seen a tenth late at most. */
static const double ASK_S = 0.05, ASK_MOST_S = 1, TICK_S = 0.1;

/* The job as the controller has it. */
struct standing {
    bool is_known, is_pending, is_over; /* over: a prolog failed, or somebody cancelled it */
    char why[160];                      /* what the controller says of it; "" */
};

static struct standing standing_of(uint32_t job_id)
{
    struct standing standing = {false};
    job_info_msg_t *found = NULL;

    if (slurm_load_job(&found, job_id, SHOW_ALL) != SLURM_SUCCESS)
        return standing;
    for (uint32_t i = 0; i < found->record_count; i++) {
        const slurm_job_info_t *job = &found->job_array[i];
        uint32_t state = job->job_state & JOB_STATE_BASE;

        standing.is_known = true;
        standing.is_pending = state == JOB_PENDING;
        standing.is_over |= state > JOB_SUSPENDED;
        snprintf(standing.why, sizeof standing.why, "%s", job->state_desc ? job->state_desc : "");
    }
    slurm_free_job_info_msg(found);
    return standing;
}

/* What keeps it from being ready. "" when that is not known. */
static const char *reason_of(const struct standing *standing)
{
    if (!standing->is_known)
        return "";
    if (*standing->why)
        return standing->why;
    return standing->is_pending ? "the controller did not start the job"
                                : "the prolog did not end on all of them";
}

/* Until it is time to ask again. */
static void ask_wait(const struct allocation_request *request, double begin)
{
    double asked = clock_s(), pause_s = fmin(ASK_MOST_S, fmax(ASK_S, 0.1 * (asked - begin)));

    for (double left_s = pause_s; left_s > 0 && !(request->stop && *request->stop);
         left_s = pause_s - (clock_s() - asked)) {
        usleep((useconds_t)(1e6 * fmin(left_s, TICK_S)));
        if (request->on_tick)
            request->on_tick(request->context);
    }
}

/* As salloc waits: until the prologs have ended as well. A job can be lost to one that fails. */
static int wait_ready(const struct allocation_request *request, uint32_t job_id, double begin,
                      struct error *err)
{
    static const int all = READY_JOB_STATE | READY_NODE_STATE | READY_PROLOG_STATE;

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
            (ready > 0 && !(ready & READY_JOB_STATE) && standing_of(job_id).is_over))
            return error_set(err, "job %u was taken away before it began", job_id);
        if (request->stop && *request->stop) {
            error_set(err, "stopped by a signal");
            return 1;
        }
        if (clock_s() - begin > request->deadline_s) {
            struct standing standing = standing_of(job_id);
            const char *reason = reason_of(&standing);

            error_set(err, "no allocation of %zu nodes within %.0f s%s%s", request->nodes->count,
                      request->deadline_s, *reason ? ": " : "", reason);
            return 1;
        }
        ask_wait(request, begin);
    }
}

/* Slurm's refusal and, where that is known, what the site has to do. */
static int refused(struct error *err, const char *nodes, const struct user *user, int reason)
{
    const char *name = user ? user->name : geteuid() == 0 ? "root" : "this user";
    char next[200] = "";

    if (reason == ESLURM_USER_ID_MISSING && !user && geteuid() == 0)
        snprintf(next, sizeof next,
                 "; DisableRootJobs of slurm.conf has to be no, as this job is root's");
    else if (reason == ESLURM_INVALID_ACCOUNT)
        snprintf(next, sizeof next,
                 "; AccountingStorageEnforce wants an account: sacctmgr add user %s account=NAME",
                 name);
    else if (reason == ESLURM_ACCESS_DENIED || reason == ESLURM_GROUP_ID_MISSING)
        snprintf(next, sizeof next,
                 "; AllowGroups, AllowAccounts and RootOnly of the partition must let %s in", name);
    return error_set(err, "no allocation of %s for %s: %s%s", nodes, name, slurm_strerror(reason),
                     next);
}

/* Asks for the job as the user that this process is. Returns 0 or Slurm's errno. */
static int submit(job_desc_msg_t *wanted, uint32_t *job_id)
{
    resource_allocation_response_msg_t *granted = NULL;

    wanted->user_id = getuid();
    wanted->group_id = getgid();
    if (slurm_allocate_resources(wanted, &granted) != SLURM_SUCCESS || !granted)
        return errno ? errno : ESLURM_INTERNAL;
    *job_id = release_granted_id(granted);
    slurm_free_resource_allocation_response_msg(granted);
    return 0;
}

/* What a child of another user's tells. */
struct submitted {
    int reason;
    uint32_t job_id;
};

/* In a child that has become the user: from 23.11 on a job belongs to whose credential the request
 * has, whatever root asks for. */
static int submit_as(const struct user *user, job_desc_msg_t *wanted, uint32_t *job_id)
{
    struct submitted told = {.reason = ECHILD};
    pid_t parent = getpid(), child;
    int ends[2], reason;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    fflush(NULL);
    child = fork();
    if (child == 0) {
        if (user_become(user) != 0)
            told.reason = errno;
        else if (prctl(PR_SET_PDEATHSIG, SIGKILL), getppid() == parent)
            told.reason = submit(wanted, &told.job_id);
        _exit(write(ends[1], &told, sizeof told) != (ssize_t)sizeof told);
    }
    reason = errno;
    close(ends[1]);
    if (child > 0) {
        if (read_all(ends[0], &told, sizeof told) != (ssize_t)sizeof told)
            told = (struct submitted){.reason = ECHILD};
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            ;
        reason = told.reason;
        *job_id = told.job_id;
    }
    close(ends[0]);
    return reason;
}

int allocation_get(const struct allocation_request *request, uint32_t *job_id, struct error *err)
{
    char *nodes = hostlist_fold(request->nodes), *name = strdup(request->job_name);
    char *partition = request->partition ? strdup(request->partition) : NULL;
    char *reservation = request->reservation ? strdup(request->reservation) : NULL;
    char directory[] = "/";
    double begin = clock_s();
    job_desc_msg_t wanted;
    int reason, rv = -1;

    *job_id = 0;
    if (!nodes || !name || (request->partition && !partition) ||
        (request->reservation && !reservation)) {
        error_set(err, "no memory for an allocation of %zu nodes", request->nodes->count);
        goto done;
    }
    slurm_init_job_desc_msg(&wanted);
    wanted.name = name;
    wanted.req_nodes = nodes;
    wanted.min_nodes = wanted.max_nodes = (uint32_t)request->nodes->count;
    wanted.partition = partition;
    wanted.reservation = reservation;
    wanted.shared = JOB_SHARED_NONE;
    wanted.pn_min_memory = 0; /* all of it */
    wanted.time_limit = (uint32_t)request->minutes;
    wanted.kill_on_node_fail = 0; /* the loss of a node is a result, not the end */
    wanted.work_dir = directory;
    reason = request->user ? submit_as(request->user, &wanted, job_id) : submit(&wanted, job_id);
    if (reason != 0) {
        refused(err, nodes, request->user, reason);
        goto done;
    }
    if (request->before != 0)
        cluster_job_cancel(request->before, NULL);
    rv = wait_ready(request, *job_id, begin, err);
done:
    if (rv != 0)
        *job_id = 0;
    free(nodes);
    free(name);
    free(partition);
    free(reservation);
    return rv;
}
