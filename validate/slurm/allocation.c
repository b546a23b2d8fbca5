/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/allocation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "validate/slurm/process.h"
#include "validate/slurm/release.h"

enum { ASK_US = 50000, TICK_ASKS = 2 };

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

/* As salloc waits: until the prologs have ended as well. A job can be lost to one that fails. */
static int wait_ready(const struct allocation_request *request, uint32_t job_id, double begin,
                      struct error *err)
{
    static const int all = READY_JOB_STATE | READY_NODE_STATE | READY_PROLOG_STATE;

    for (int i = 1;; i++) {
        int ready = slurm_job_node_ready(job_id);

        if (ready > 0 && (ready & all) == all)
            return 0;
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
        if (request->on_tick && i % TICK_ASKS == 0)
            request->on_tick(request->context);
        usleep(ASK_US);
    }
}

int allocation_get(const struct allocation_request *request, uint32_t *job_id, struct error *err)
{
    resource_allocation_response_msg_t *granted = NULL;
    char *nodes = hostlist_fold(request->nodes), *name = strdup(request->job_name);
    char *partition = request->partition ? strdup(request->partition) : NULL;
    char *reservation = request->reservation ? strdup(request->reservation) : NULL;
    char directory[] = "/";
    double begin = clock_s();
    job_desc_msg_t wanted;
    int rv = -1;

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
    wanted.user_id = getuid();
    wanted.group_id = getgid();
    wanted.work_dir = directory;
    if (slurm_allocate_resources(&wanted, &granted) != SLURM_SUCCESS || !granted) {
        bool is_root = errno == ESLURM_USER_ID_MISSING && geteuid() == 0;

        error_set(err, "no allocation of %s: %s%s", nodes, slurm_strerror(errno),
                  is_root ? "; DisableRootJobs of slurm.conf has to be no, as this job is root's"
                          : "");
        goto done;
    }
    *job_id = release_granted_id(granted);
    rv = wait_ready(request, *job_id, begin, err);
done:
    if (granted)
        slurm_free_resource_allocation_response_msg(granted);
    if (rv != 0)
        *job_id = 0;
    free(nodes);
    free(name);
    free(partition);
    free(reservation);
    return rv;
}
