/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/runs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/utf8.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/release.h"

struct list {
    struct cluster_run *runs;
    int count;
};

/* The run of that name, added where it is not there. NULL when memory is out. */
static struct cluster_run *run_of(struct list *list, const char *name)
{
    struct cluster_run *runs;

    for (int i = 0; i < list->count; i++)
        if (strcmp(list->runs[i].run, name) == 0)
            return &list->runs[i];
    runs = grow(list->runs, (size_t)list->count, sizeof *runs);
    if (!runs)
        return NULL;
    list->runs = runs;
    runs[list->count] = (struct cluster_run){0};
    snprintf(runs[list->count].run, sizeof runs->run, "%s", name);
    utf8_clean(runs[list->count].run);
    return &runs[list->count++];
}

static int nodes_add(struct cluster_run *run, const char *text, struct error *err)
{
    struct hostlist more = {0};
    int rv = hostlist_expand(text ? text : "", &more, err);

    for (size_t i = 0; rv == 0 && i < more.count; i++)
        if (hostlist_append(&run->nodes, more.names[i]) != 0)
            rv = error_set(err, "no memory for the nodes of run %s", run->run);
    hostlist_clear(&more);
    return rv;
}

static void since_take(struct cluster_run *run, time_t since)
{
    if (run->since == 0 || since < run->since)
        run->since = since;
}

static int job_take(struct list *list, const slurm_job_info_t *info, struct error *err)
{
    uint32_t base = info->job_state & JOB_STATE_BASE;
    struct cluster_run *run;

    if (!info->name || strncmp(info->name, RUNS_JOB, strlen(RUNS_JOB)) != 0 || info->user_id != 0 ||
        (base != JOB_PENDING && base != JOB_RUNNING))
        return 0;
    run = run_of(list, info->name + strlen(RUNS_JOB));
    if (!run)
        return error_set(err, "no memory for the runs");
    run->has_job = true;
    snprintf(run->host, sizeof run->host, "%s", info->alloc_node ? info->alloc_node : "");
    utf8_clean(run->host);
    since_take(run, info->submit_time);
    return nodes_add(run, info->nodes && *info->nodes ? info->nodes : info->req_nodes, err);
}

static int reservation_take(struct list *list, const reserve_info_t *info, struct error *err)
{
    struct cluster_run *run;

    if (!info->name || strncmp(info->name, RUNS_RESERVATION, strlen(RUNS_RESERVATION)) != 0)
        return 0;
    run = run_of(list, info->name + strlen(RUNS_RESERVATION));
    if (!run)
        return error_set(err, "no memory for the runs");
    run->has_reservation = true;
    since_take(run, info->start_time);
    return nodes_add(run, info->node_list, err);
}

static int jobs_take(struct list *list, struct error *err)
{
    job_info_msg_t *found = NULL;
    int rv = 0;

    if (slurm_load_jobs(0, &found, SHOW_ALL) != SLURM_SUCCESS)
        return error_set(err, "cannot ask the controller for its jobs: %s", slurm_strerror(errno));
    for (uint32_t i = 0; rv == 0 && i < found->record_count; i++)
        rv = job_take(list, &found->job_array[i], err);
    slurm_free_job_info_msg(found);
    return rv;
}

static int reservations_take(struct list *list, struct error *err)
{
    reserve_info_msg_t *found = NULL;
    int rv = 0;

    if (slurm_load_reservations(0, &found) != SLURM_SUCCESS)
        return error_set(err, "cannot ask the controller for its reservations: %s",
                         slurm_strerror(errno));
    for (uint32_t i = 0; rv == 0 && i < found->record_count; i++)
        rv = reservation_take(list, &found->reservation_array[i], err);
    slurm_free_reservation_info_msg(found);
    return rv;
}

int cluster_runs(struct cluster_run **runs, struct error *err)
{
    struct list list = {0};

    *runs = NULL;
    if (reservations_take(&list, err) != 0 || jobs_take(&list, err) != 0) {
        cluster_runs_free(list.runs, list.count);
        return -1;
    }
    *runs = list.runs;
    return list.count;
}

void cluster_runs_free(struct cluster_run *runs, int count)
{
    for (int i = 0; i < count; i++)
        hostlist_clear(&runs[i].nodes);
    free(runs);
}

int cluster_reservation(const char *name, struct hostlist *nodes, struct error *err)
{
    reserve_info_msg_t *found = NULL;
    int rv = 0;

    *nodes = (struct hostlist){0};
    if (slurm_load_reservations(0, &found) != SLURM_SUCCESS)
        return error_set(err, "cannot ask the controller for its reservations: %s",
                         slurm_strerror(errno));
    for (uint32_t i = 0; rv == 0 && i < found->record_count; i++) {
        const reserve_info_t *info = &found->reservation_array[i];

        if (info->name && strcmp(info->name, name) == 0)
            rv = hostlist_expand(info->node_list ? info->node_list : "", nodes, err) == 0 ? 1 : -1;
    }
    slurm_free_reservation_info_msg(found);
    return rv;
}
