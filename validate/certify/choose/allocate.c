/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/choose/allocate.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/constants/certify_constants.h"
#include "lib/constants/slurm_constants.h"
#include "lib/slurm/gresconf.h"
#include "validate/certify/choose/changes.h"
#include "validate/certify/choose/job_minutes.h"
#include "validate/certify/choose/job_nodes.h"
#include "validate/certify/choose/others.h"
#include "validate/certify/report/run_records.h"
#include "validate/certify/settle/actions.h"
#include "validate/certify/step/give_back.h"
#include "validate/certify/step/reach_nodes.h"
#include "validate/slurm/job/allocation.h"
#include "validate/slurm/job/memory.h"

/* Returns the memory that a job of the run requests per node: see memory_of_job(). */
static uint64_t job_memory(const struct certify *certify, const struct hostlist *names)
{
    const struct cluster_partition *partition = certify_partition(certify);

    return partition ? memory_of_job(&certify->cluster, partition, names) : 0;
}

/* Returns the GPUs per node that a job of the run must request, as a job of whole nodes gets
 * no others (gres_is_explicit()): the number of the node with the fewest, as Slurm gives a job no
 * node that has fewer than it requests (gres_sock_list.c). 0: no request. Sets lacks_gpus of the
 * nodes.
 */
static long job_gpus(const struct certify *certify, const struct hostlist *names)
{
    struct slurm_lines gres = {0};
    char directory[256];
    long least = LONG_MAX, most = 0;

    for (size_t i = 0; i < names->count; i++) {
        long gpus = certify_node_run(certify, names->names[i])->gpus;

        least = gpus < least ? gpus : least;
        most = gpus > most ? gpus : most;
    }
    if (most > 0 && slurm_client_directory("", directory, sizeof directory, NULL) == 0)
        slurm_lines_read("", directory, "gres.conf", &gres, NULL);
    for (size_t i = 0; i < names->count; i++) {
        struct node_run *node_run = certify_node_run(certify, names->names[i]);

        node_run->lacks_gpus =
            node_run->gpus > least && gres_is_explicit(&gres, "gpu", node_run->name);
    }
    if (!gres_is_explicit(&gres, "gpu", NULL))
        least = 0;
    slurm_lines_clear(&gres);
    return least;
}

/* Returns for how many seconds a completing job of the cluster may delay a job of the run. */
static double complete_wait_s(const struct certify *certify)
{
    return fmin(certify->cluster.complete_wait_s, CERTIFY_COMPLETE_WAIT_MOST_S);
}

/* Returns the minutes for one outage of slurmctld, and for the starts and prologs of three jobs. */
static int waits_minutes(const struct certify *certify, size_t nodes)
{
    double job_s = complete_wait_s(certify) + (double)nodes / ALLOCATION_NODES_PER_S;

    return (int)ceil((CERTIFY_CONTROLLER_S + 3 * job_s) / 60);
}

/* Returns the minutes that the run may take. */
static int run_minutes(const struct certify *certify, size_t nodes)
{
    return certify_job_minutes(certify, JOB_CHECK) + certify_job_minutes(certify, JOB_BATTERY) +
           certify_job_minutes(certify, JOB_CERTIFICATES) + CERTIFY_RESERVED_BESIDES_MIN +
           waits_minutes(certify, nodes);
}

/* Leaves out the nodes on which somebody's reservation begins before the run may end: the run's own
 * would keep its jobs off. Returns how many there are. */
static size_t reserved_exclude(struct certify *certify, const struct hostlist *names)
{
    time_t end = time(NULL) + 60 * (time_t)run_minutes(certify, names->count);
    size_t count = 0;

    for (size_t i = 0; i < names->count; i++) {
        struct node_run *node_run = certify_node_run(certify, names->names[i]);
        time_t at = node_run->slurm->reserved_at;
        char text[100];

        if (at == 0 || at >= end)
            continue;
        text_time(
            text, sizeof text,
            "left alone: a reservation begins there at %Y-%m-%d %H:%M UTC, before the run may "
            "end",
            at);
        certify_verdict(certify, node_run, STAGE_REACH, VERDICT_UNKNOWN, "slurm.state", "", text);
        count++;
    }
    return count;
}

/* Reserves the nodes, to keep all other jobs off them until the run is over. The reservation ends
 * by itself, in case no process is left to end it, unless it has a node whose drain the run lifts:
 * that node would be in service then. */
static int reserve(struct certify *certify, const struct hostlist *names, struct error *err)
{
    int minutes = run_minutes(certify, names->count);

    for (size_t i = 0; i < names->count; i++)
        if (certify_node_run(certify, names->names[i])->plan.role == ROLE_RETEST)
            minutes = 0;
    if (names != &certify->reserved)
        hostlist_unite(&certify->reserved, names);
    snprintf(certify->reservation, sizeof certify->reservation, CLUSTER_RUN "%s", certify->run);
    if (certify_reserve(certify, names, minutes, err) == 0)
        return 0;
    certify->reservation[0] = '\0';
    return -1;
}

static void tick(void *context)
{
    struct certify *certify = context;

    progress_tick(&certify->progress);
    certify_give_back_poll(certify);
}

/* Cancels what is left of a try and waits a moment for the nodes to be free again. */
static void allocation_drop(struct certify *certify)
{
    struct cluster_job *jobs;
    int count;

    for (int i = 0; i < 20; i++) {
        double asked = clock_s();
        bool is_any = false;

        count = certify->operations->jobs(certify->job_name, &jobs, NULL);
        for (int k = 0; k < count; k++) {
            is_any |= !jobs[k].is_completing;
            certify->operations->job_cancel(jobs[k].id, NULL);
        }
        free(jobs);
        if (count == 0 || (count > 0 && !is_any && i > 5))
            break;
        /* a controller with very many jobs is given as long to rest as it took to list them */
        usleep((useconds_t)(1e6 * fmax(0.2, fmin(1, clock_s() - asked))));
    }
}

/* Waits until the next look at the nodes. In a long wait looks are rare, as each makes the
 * controller build a table of all nodes. */
static void look_wait(struct certify *certify, double begin)
{
    double asked = clock_s(), pause_s = fmax(CERTIFY_LOOK_S, 0.1 * (asked - begin));

    while (!certify_stop && clock_s() - asked < pause_s) {
        usleep((useconds_t)(1e6 * ALLOCATION_TICK_S));
        tick(certify);
    }
}

/* Finds the nodes to leave out of the next try after one that failed. Slurm may note the cause only
 * after it has ended the job, so while none is found it is queried again. Returns their number. */
static size_t allocation_failed(struct certify *certify, const struct hostlist *names)
{
    struct hostlist good = {0};
    struct ending ending = {.since = clock_s()};
    double begin;
    size_t out;

    for (size_t i = 0; i < names->count; i++)
        if (outcome_is_good(&certify_node_run(certify, names->names[i])->outcome))
            hostlist_append(&good, names->names[i]);
    out = certify_reach_again(certify, &good, STAGE_REACH);
    for (size_t i = 0; i < good.count; i++) {
        struct node_run *node_run = certify_node_run(certify, good.names[i]);

        node_run->is_silent |= !outcome_is_good(&node_run->outcome);
    }
    hostlist_clear(&good);
    certify_drain_silent(certify);
    allocation_drop(certify);
    begin = clock_s();
    for (;;) {
        out += certify_changes_note(certify, names, false, &ending);
        if (out > 0 || certify_stop ||
            clock_s() - begin >=
                (ending.nodes.count > 0 ? CERTIFY_ALLOCATE_NEXT_S : CERTIFY_NOTED_S))
            break;
        look_wait(certify, begin);
    }
    hostlist_clear(&ending.nodes);
    return out > 0 || certify_stop ? out : certify_freed_note(certify, names);
}

/* Restores what was lost with the job that the controller did not save: cancels earlier jobs of the
 * run, whose end may be lost as well, and makes the reservation again if it is gone. Returns 0, or
 * -1 with err. */
static int lost_replace(struct certify *certify, struct error *err)
{
    struct hostlist held = {0};
    int found = 1;

    allocation_drop(certify);
    if (*certify->reservation)
        found = certify->operations->reservation(certify->reservation, &held, NULL, err);
    hostlist_clear(&held);
    return found == 0 ? reserve(certify, &certify->reserved, err) : found < 0 ? -1 : 0;
}

/* Returns whether the run has reached its time limit. */
static bool is_late(const struct certify *certify)
{
    return clock_s() - certify->begin >= 60 * (double)run_minutes(certify, certify->count);
}

/* Returns the request for a job of the run on the nodes. */
static struct allocation_request request_of(struct certify *certify, enum certify_job job,
                                            const struct hostlist *names)
{
    return (struct allocation_request){
        .job_name = certify->job_name,
        .user = certify->is_root && job == JOB_BATTERY ? &certify->battery : NULL,
        .nodes = names,
        .cluster = certify->cluster.name,
        .partition = certify->partition,
        .reservation = *certify->reservation ? certify->reservation : NULL,
        .reservation_nodes =
            certify->cluster.has_blocks && *certify->reservation ? &certify->reserved : NULL,
        .memory = job_memory(certify, names),
        .gpus = job_gpus(certify, names),
        .minutes = certify_job_minutes(certify, job),
        .deadline_s = complete_wait_s(certify) +
                      (job == JOB_CHECK ? CERTIFY_ALLOCATE_S : CERTIFY_ALLOCATE_NEXT_S),
        .stop = &certify_stop,
        .on_tick = tick,
        .context = certify};
}

/* Tries until there is an allocation, no more nodes are found to leave out, or the run's time is
 * over; each try leaves out one or more nodes of the previous try. names: the nodes to request; on
 * return the nodes of the job, for the caller to clear. before: the job to replace, or 0. If there
 * is no job in the end, err says why. */
static void allocation_try(struct certify *certify, uint32_t before, struct hostlist *names,
                           struct error *err)
{
    for (int losses = 0; names->count > 0;) {
        struct allocation_request request = request_of(certify, certify->job, names);
        int rv;

        request.previous_job_id = before;
        progress_doing(&certify->progress, "%zu node%s of partition %s", names->count,
                       text_plural(names->count), certify->partition);
        rv = certify->operations->allocation_get(&request, &certify->job_id, err);
        before = 0;
        if (rv == 2 && ++losses < CERTIFY_JOB_LOSSES && lost_replace(certify, err) == 0)
            continue;
        if (rv == 0 || certify_stop || is_late(certify) || allocation_failed(certify, names) == 0)
            break; /* with no node to leave out, the next try would end the same way */
        certify_job_nodes(certify, names);
    }
}

/* Checks that Slurm would accept the battery's job, before a drain is lifted. Returns 0, or -1 with
 * err. */
static int battery_check(struct certify *certify, const struct hostlist *names, struct error *err)
{
    struct allocation_request request = request_of(certify, JOB_BATTERY, names);

    return certify->operations->allocation_check(&request, err);
}

/* Makes the nodes unknown, as there is no job for them. code: FAULT_NONE if others may have the
 * nodes, or if the reason is not known. */
static void lack_note(struct certify *certify, const struct hostlist *names, enum fault_code code,
                      const struct error *err)
{
    static const enum stage stages[] = {[JOB_CHECK] = STAGE_REACH,
                                        [JOB_BATTERY] = STAGE_LAUNCH,
                                        [JOB_CERTIFICATES] = STAGE_CERTIFICATE};

    certify_all(certify, names, stages[certify->job], VERDICT_UNKNOWN, code, "slurm.state",
                err->text);
    progress_end(&certify->progress, VERDICT_UNKNOWN, "%s", err->text);
}

/* Notes the job and its nodes, or that there is none; then err says why. */
static void allocation_note(struct certify *certify, const struct hostlist *names,
                            const struct error *err)
{
    if (certify->job_id == 0) {
        certify->lacks_job |= names->count > 0;
        lack_note(certify, names, FAULT_NONE, err);
        return;
    }
    for (size_t i = 0; i < names->count; i++)
        certify_node_run(certify, names->names[i])->is_in_job = true;
    progress_end(&certify->progress, VERDICT_NONE, "job %u of %s, %zu node%s%s%s", certify->job_id,
                 certify->job == JOB_BATTERY ? certify->battery.name
                 : certify->is_root          ? "root"
                                             : "this user",
                 names->count, text_plural(names->count),
                 *certify->reservation ? ", reservation " : "", certify->reservation);
}

/* Leaves out the nodes on which a job began between the selection and the reservation. A job of the
 * run that requests such a node would preempt that job, if its partition or QOS may. */
static void begun_note(struct certify *certify, const struct hostlist *names)
{
    struct hostlist free_ones = {0};

    for (size_t i = 0; i < names->count; i++)
        if (certify_node_run(certify, names->names[i])->plan.role == ROLE_TEST)
            hostlist_append(&free_ones, names->names[i]);
    certify_changes_note(certify, &free_ones, false, NULL);
    hostlist_clear(&free_ones);
}

/* Prepares the first job: journal, reservation, checks, and the lifting of drains. Returns 0, or -1
 * with err. */
static int allocation_prepare(struct certify *certify, const struct hostlist *names,
                              struct error *err)
{
    int rv = undo_note_job(&certify->undo, certify->job_name,
                           certify->is_root ? certify->battery.uid : geteuid(), err);

    if (rv == 0 && certify->is_root)
        rv = reserve(certify, names, err);
    if (rv == 0)
        begun_note(certify, names);
    if (rv == 0 && certify->is_root)
        rv = battery_check(certify, names, err);
    return rv == 0 ? certify_drains_lift(certify, names, err) : rv;
}

void certify_allocate(struct certify *certify)
{
    struct hostlist names = {0};
    struct error err = {""};
    char text[200];

    certify->job = JOB_CHECK;
    if (certify_job_nodes(certify, &names) > 0) {
        certify_job_most_text(certify, JOB_BATTERY, text, sizeof text);
        if (*text)
            progress_print(&certify->progress, "the tests end early if they are slow: %s", text);
        progress_begin(&certify->progress, "allocate");
        if (certify->is_root && reserved_exclude(certify, &names) > 0)
            certify_job_nodes(certify, &names);
        if (names.count == 0) {
            error_set(&err, "a reservation begins on each node before the run may end");
        } else if (allocation_prepare(certify, &names, &err) == 0) {
            certify_job_nodes(certify, &names);
            allocation_try(certify, 0, &names, &err);
        }
        allocation_note(certify, &names, &err);
    }
    hostlist_clear(&names);
}

void certify_allocate_next(struct certify *certify, enum certify_job job)
{
    struct hostlist names = {0};
    struct error err = {""};
    uint32_t before = certify->job_id;
    int rv = 0;

    if (!certify->is_root || before == 0 || certify_stop)
        return;
    if (certify->operations->job_state(before, certify->job_name) == CLUSTER_JOB_LOST) {
        before = 0; /* its number may be somebody else's by now */
        rv = lost_replace(certify, &err);
    }
    certify->job = job;
    certify->job_id = 0;
    certify_job_nodes(certify, &names);
    /* a drained node is available for no other job */
    if (certify_changes_note(certify, &names, before != 0, NULL) > 0)
        certify_job_nodes(certify, &names);
    if (names.count > 0) {
        progress_begin(&certify->progress, "allocate");
        if (rv == 0)
            allocation_try(certify, before, &names, &err);
        allocation_note(certify, &names, &err);
    } else if (before != 0) {
        certify->operations->job_cancel(before, NULL);
    }
    hostlist_clear(&names);
}

bool certify_job_is_over(const struct certify *certify)
{
    enum cluster_job_state state =
        certify->operations->job_state(certify->job_id, certify->job_name);

    return state == CLUSTER_JOB_OVER || state == CLUSTER_JOB_LOST;
}

bool certify_allocate_again(struct certify *certify)
{
    enum cluster_job_state state =
        certify->operations->job_state(certify->job_id, certify->job_name);
    uint32_t before = certify->job_id;
    struct hostlist names = {0};
    struct error err = {"the controller lost the job"};
    char text[200];

    if (certify_stop || (state != CLUSTER_JOB_OVER && state != CLUSTER_JOB_LOST))
        return false;
    certify_list_good(certify, &names);
    progress_end(&certify->progress, VERDICT_UNKNOWN,
                 state == CLUSTER_JOB_LOST ? "job %u was lost by the controller"
                                           : "job %u was ended early",
                 before);
    progress_begin(&certify->progress, "allocate");
    for (size_t i = 0; i < names.count; i++)
        certify_node_run(certify, names.names[i])->is_in_job = certify->job != JOB_CHECK;
    certify->job_id = 0;
    if (state == CLUSTER_JOB_OVER && allocation_failed(certify, &names) == 0) {
        certify_job_most_text(certify, certify->job, text, sizeof text);
        error_set(&err, "job %u was canceled, or ended by Slurm, before the tests finished%s%s",
                  before, *text ? "; " : "", text);
        lack_note(certify, &names, FAULT_NOT_MEASURED, &err);
    } else {
        if (state == CLUSTER_JOB_OVER)
            certify_job_nodes(certify, &names);
        if (state == CLUSTER_JOB_OVER || lost_replace(certify, &err) == 0)
            allocation_try(certify, 0, &names, &err);
        allocation_note(certify, &names, &err);
    }
    hostlist_clear(&names);
    return true;
}
