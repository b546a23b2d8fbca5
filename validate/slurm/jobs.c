/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/cluster.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/utf8.h"
#include "lib/constants/slurm_constants.h"
#include "lib/slurm/slurmconf.h"
#include "validate/slurm/job/allocation.h"
#include "validate/slurm/release.h"

int cluster_reserve(const char *name, const char *nodes, const char *users, int minutes,
                    struct error *err)
{
    resv_desc_msg_t wanted;
    char *made, *all;
    int rv = 0;

    if (asprintf(&all, "root%s%s", users ? "," : "", users ? users : "") < 0)
        return error_set(err, "no memory");
    slurm_init_resv_desc_msg(&wanted);
    wanted.name = release_text(name);
    wanted.node_list = release_text(nodes);
    wanted.users = all;
    wanted.start_time = time(NULL);
    wanted.flags = RESERVE_FLAG_MAINT | RESERVE_FLAG_IGN_JOBS | RESERVE_FLAG_SPEC_NODES;
    wanted.duration = minutes > 0 ? (uint32_t)minutes : INFINITE;
    if (minutes > 0) {
        wanted.flags |= RESERVE_FLAG_PURGE_COMP;
        wanted.purge_comp_time = RESERVATION_IDLE_MIN * 60;
    }
    made = slurm_create_reservation(&wanted);
    if (!made)
        rv = allocation_refused(err, "cannot reserve", nodes, users ? users : "root", errno);
    release_reservation_name_free(made);
    free(all);
    return rv;
}

/* Returns the list with the sign before each part, malloc'd: "+n[1-2],+m1", as scontrol sends it
 * for Nodes+=. NULL if memory is out. */
static char *list_add_signs(const char *list, char sign)
{
    char *text = malloc(2 * strlen(list) + 2), *end = text;
    bool is_inside = false;

    if (!text)
        return NULL;
    *end++ = sign;
    for (; *list; list++) {
        *end++ = *list;
        is_inside = *list == '[' || (is_inside && *list != ']');
        if (*list == ',' && !is_inside)
            *end++ = sign;
    }
    *end = '\0';
    return text;
}

/* Returns whether slurmctld accepted the change. */
static bool waiting_update(resv_desc_msg_t *wanted, const struct hostlist *names,
                           const struct hostlist *changed)
{
    char *folded = hostlist_fold_for_slurm(changed), *text;
    bool is_more = changed->count > 0 && hostlist_contains(names, changed->names[0]);
    bool is_done;

    text = folded ? list_add_signs(folded, is_more ? '+' : '-') : NULL;
    wanted->node_list = changed->count > 0 ? text : NULL;
    is_done = text && slurm_update_reservation(wanted) == SLURM_SUCCESS;
    free(text);
    free(folded);
    return is_done;
}

int cluster_update_waiting(const struct hostlist *names, const struct hostlist *changed,
                           bool is_there, struct error *err)
{
    resv_desc_msg_t wanted;
    char *folded;
    int rv = 0;

    if (names->count == 0)
        return is_there ? cluster_unreserve(CLUSTER_WAITING, err) : 0;
    folded = hostlist_fold_for_slurm(names);
    if (!folded)
        return error_set(err, "no memory");
    slurm_init_resv_desc_msg(&wanted);
    wanted.name = release_text(CLUSTER_WAITING);
    /* INFINITE minutes are counted from its begin */
    wanted.end_time = time(NULL) + RESERVATION_ENDLESS_S;
    if (!is_there) {
        rv = cluster_reserve(CLUSTER_WAITING, folded, NULL, 0, err);
    } else if (!waiting_update(&wanted, names, changed)) {
        wanted.node_list = folded; /* before 23.02 slurmctld accepts only the whole list */
        if (slurm_update_reservation(&wanted) != SLURM_SUCCESS)
            rv = error_set(err, "cannot put %s in reservation %s: %s", folded, CLUSTER_WAITING,
                           slurm_strerror(errno));
    }
    free(folded);
    return rv;
}

int cluster_unreserve(const char *name, struct error *err)
{
    reservation_name_msg_t gone = {.name = release_text(name)};

    if (slurm_delete_reservation(&gone) != SLURM_SUCCESS && errno != ESLURM_RESERVATION_INVALID)
        return error_set(err, "cannot delete reservation %s: %s", name, slurm_strerror(errno));
    return 0;
}

int cluster_jobs(const char *prefix, struct cluster_job **jobs, struct error *err)
{
    job_info_msg_t *found = NULL;
    int count = 0;

    *jobs = NULL;
    if (slurm_load_jobs(0, &found, SHOW_ALL) != SLURM_SUCCESS)
        return release_failed(err, "cannot query the controller for its jobs");
    *jobs = calloc(found->record_count + 1, sizeof **jobs);
    for (uint32_t i = 0; *jobs && i < found->record_count; i++) {
        const slurm_job_info_t *info = &found->job_array[i];
        uint32_t base = info->job_state & JOB_STATE_BASE;
        bool is_completing = info->job_state & JOB_COMPLETING;
        struct cluster_job *job = &(*jobs)[count];

        if (!info->name || strncmp(info->name, prefix, strlen(prefix)) != 0 ||
            (base >= JOB_COMPLETE && !is_completing))
            continue;
        job->id = release_job_id(info);
        job->uid = info->user_id;
        snprintf(job->name, sizeof job->name, "%s", info->name);
        snprintf(job->host, sizeof job->host, "%s", info->alloc_node ? info->alloc_node : "");
        snprintf(job->reservation, sizeof job->reservation, "%s",
                 info->resv_name ? info->resv_name : "");
        utf8_clean(job->name);
        utf8_clean(job->host);
        job->is_pending = base == JOB_PENDING;
        job->is_running = base == JOB_RUNNING && !is_completing;
        job->is_completing = is_completing;
        count++;
    }
    slurm_free_job_info_msg(found);
    return *jobs ? count : error_set(err, "out of memory for the cluster's jobs");
}

enum cluster_job_state cluster_job_state(uint32_t id, const char *name)
{
    enum cluster_job_state state = CLUSTER_JOB_LOST;
    job_info_msg_t *found = NULL;

    if (slurm_load_job(&found, id, SHOW_ALL) != SLURM_SUCCESS)
        return errno == ESLURM_INVALID_JOB_ID ? CLUSTER_JOB_LOST : CLUSTER_JOB_UNKNOWN;
    for (uint32_t i = 0; i < found->record_count; i++) {
        const slurm_job_info_t *info = &found->job_array[i];
        bool is_over =
            (info->job_state & JOB_STATE_BASE) >= JOB_COMPLETE || info->job_state & JOB_COMPLETING;

        if (release_job_id(info) == id && info->name && strcmp(info->name, name) == 0)
            state = is_over ? CLUSTER_JOB_OVER : CLUSTER_JOB_ACTIVE;
    }
    slurm_free_job_info_msg(found);
    return state;
}

int cluster_job_cancel(uint32_t id, struct error *err)
{
    if (slurm_kill_job(id, SIGKILL, 0) == SLURM_SUCCESS || errno == ESLURM_ALREADY_DONE ||
        errno == ESLURM_INVALID_JOB_ID)
        return 0;
    return error_set(err, "cannot cancel job %u: %s", id, slurm_strerror(errno));
}

int cluster_job_cancel_steps(uint32_t id, const char *name, struct error *err)
{
    job_step_info_response_msg_t *found = NULL;
    int rv = 0;

    if (release_steps_load(id, &found, err) != 0)
        return -1;
    for (uint32_t i = 0; i < found->job_step_count; i++) {
        uint32_t step = found->job_steps[i].step_id.step_id;

        if (!release_step_is_of(&found->job_steps[i], id) || step >= SLURM_MAX_NORMAL_STEP_ID ||
            (name && (!found->job_steps[i].name || strcmp(found->job_steps[i].name, name) != 0)))
            continue;
        if (release_step_kill(id, step, SIGKILL) != SLURM_SUCCESS && errno != ESLURM_ALREADY_DONE &&
            errno != ESLURM_INVALID_JOB_ID)
            rv = error_set(err, "cannot cancel step %u.%u: %s", id, step, slurm_strerror(errno));
    }
    slurm_free_job_step_info_response_msg(found);
    return rv;
}

/* ---------------------------------------------------------------- what a job consists of */

/* Adds the nodes in text that are not in names yet. Slurm lists each node once. */
static int names_add(const char *text, struct hostlist *names, struct error *err)
{
    struct hostlist more;
    int rv = 0;

    if (!text || !*text)
        return 0;
    if (hostlist_expand(text, &more, err) != 0)
        return -1;
    if (hostlist_unite(names, &more) != 0)
        rv = error_set(err, "out of memory for %zu nodes", more.count);
    hostlist_clear(&more);
    return rv;
}

/* Returns the GPUs in a text "gres:gpu:8" or "gres/gpu:8"; several have commas between them. */
static long gpus_of(const char *text)
{
    long count = 0;

    for (const char *at = text; at && (at = strstr(at, "gpu")); at++)
        if (at > text && (at[-1] == ':' || at[-1] == '/'))
            count += slurm_gres_count(at, "gpu");
    return count;
}

/* Returns the step's GPUs on that many nodes, from its request or else from its tasks. */
static long gpus_wanted(const job_step_info_t *step, size_t nodes)
{
    long per_node = gpus_of(step->tres_per_node), all = gpus_of(step->tres_per_step);

    if (per_node > 0)
        return per_node * (long)nodes;
    return all > 0 ? all : gpus_of(step->tres_per_task) * (long)step->num_tasks;
}

/* Adds the nodes and GPUs of a step. A heterogeneous step within one job is listed several times.
 */
static int step_names(uint32_t id, uint32_t step, struct cluster_component *component, long *gpus,
                      struct error *err)
{
    job_step_info_response_msg_t *steps = NULL;
    int rv = 0;

    if (release_steps_load(id, &steps, err) != 0)
        return -1;
    for (uint32_t i = 0; rv == 0 && i < steps->job_step_count; i++)
        if (release_step_is_of(&steps->job_steps[i], id) &&
            steps->job_steps[i].step_id.step_id == step) {
            size_t known = component->nodes.count;

            component->steps++;
            rv = names_add(steps->job_steps[i].nodes, &component->nodes, err);
            *gpus += gpus_wanted(&steps->job_steps[i], component->nodes.count - known);
        }
    slurm_free_job_step_info_response_msg(steps);
    return rv;
}

/* Sets the job's GPUs on each node of the component, or 0 if their sum exceeds wanted; wanted -1:
 * no limit. GRES details follow the order of the job's nodes. So do the component's nodes, but the
 * order restarts with each step. */
static int gpus_find(const slurm_job_info_t *info, long wanted, struct cluster_component *component,
                     struct error *err)
{
    struct hostlist names;
    size_t at = 0;
    long all = 0;

    component->gpus = calloc(component->nodes.count + 1, sizeof *component->gpus);
    if (!component->gpus)
        return error_set(err, "out of memory for %zu nodes", component->nodes.count);
    if (wanted == 0 || info->gres_detail_cnt == 0 || !info->nodes)
        return 0;
    if (hostlist_expand(info->nodes, &names, err) != 0)
        return -1;
    for (size_t i = 0; i < component->nodes.count; i++)
        for (size_t tries = 0; tries < names.count; tries++, at = (at + 1) % names.count)
            if (strcmp(names.names[at], component->nodes.names[i]) == 0) {
                if (at < info->gres_detail_cnt && info->gres_detail_str[at])
                    component->gpus[i] = slurm_gres_count(info->gres_detail_str[at], "gpu");
                break;
            }
    for (size_t i = 0; i < component->nodes.count; i++)
        all += component->gpus[i];
    for (size_t i = 0; wanted >= 0 && wanted < all && i < component->nodes.count; i++)
        component->gpus[i] = 0;
    hostlist_clear(&names);
    return 0;
}

static uint32_t leader_of(const slurm_job_info_t *info)
{
    return info->het_job_id != 0 && info->het_job_id != NO_VAL ? info->het_job_id
                                                               : release_job_id(info);
}

static job_info_msg_t *job_load(uint32_t id, struct error *err)
{
    job_info_msg_t *jobs = NULL;

    if (slurm_load_job(&jobs, id, SHOW_ALL | SHOW_DETAIL) != SLURM_SUCCESS)
        error_set(err, "cannot query the controller for job %u: %s", id, slurm_strerror(errno));
    return jobs;
}

/* Loads the job and, by its leader, the other components. */
static job_info_msg_t *components_load(uint32_t id, uint32_t *leader, struct error *err)
{
    job_info_msg_t *jobs = job_load(id, err);

    *leader = id;
    for (uint32_t i = 0; jobs && i < jobs->record_count; i++)
        if (release_job_id(&jobs->job_array[i]) == id)
            *leader = leader_of(&jobs->job_array[i]);
    if (jobs && *leader != id) {
        slurm_free_job_info_msg(jobs);
        jobs = job_load(*leader, err);
    }
    return jobs;
}

static int compare_groups(const void *a, const void *b)
{
    const struct cluster_component *one = a, *other = b;

    return (one->group > other->group) - (one->group < other->group);
}

int cluster_job_components(uint32_t id, const uint32_t *step, uint32_t *leader,
                           struct cluster_component **components, struct error *err)
{
    job_info_msg_t *jobs = components_load(id, leader, err);
    int count = 0, rv = 0;

    *components = NULL;
    if (!jobs)
        return -1;
    *components = calloc(jobs->record_count + 1, sizeof **components);
    if (!*components)
        rv = error_set(err, "out of memory for the components of job %u", id);
    for (uint32_t i = 0; rv == 0 && i < jobs->record_count; i++) {
        const slurm_job_info_t *info = &jobs->job_array[i];
        struct cluster_component *component = &(*components)[count];
        long wanted = step ? 0 : -1;

        if (leader_of(info) != *leader)
            continue;
        component->group = info->het_job_id == *leader ? (long)info->het_job_offset : -1;
        rv = step ? step_names(release_job_id(info), *step, component, &wanted, err)
                  : names_add(info->nodes, &component->nodes, err);
        if (rv == 0 && component->nodes.count > 0)
            rv = gpus_find(info, wanted, component, err);
        count += component->nodes.count > 0;
    }
    slurm_free_job_info_msg(jobs);
    if (rv == 0 && count == 0)
        rv = error_set(err, "the controller reports no nodes of %s %u.%u", step ? "step" : "job",
                       id, step ? *step : 0);
    if (rv != 0) {
        cluster_components_free(*components, count);
        *components = NULL;
        return -1;
    }
    qsort(*components, (size_t)count, sizeof **components, compare_groups);
    return count;
}

void cluster_components_free(struct cluster_component *components, int count)
{
    for (int i = 0; components && i < count; i++) {
        hostlist_clear(&components[i].nodes);
        free(components[i].gpus);
    }
    free(components);
}
