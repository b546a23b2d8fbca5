/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/choose/allocate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/constants/certify_constants.h"
#include "lib/constants/slurm_constants.h"
#include "validate/certify/choose/others.h"
#include "validate/certify/report/run_records.h"
#include "validate/certify/settle/actions.h"
#include "validate/certify/state/estimate.h"
#include "validate/certify/step/give_back.h"
#include "validate/certify/step/reach_nodes.h"
#include "validate/certify/step/step_setup.h"
#include "validate/checks/checks.h"
#include "validate/policy/plan.h"
#include "validate/slurm/allocation.h"

/* All stages of the battery by their limits, and what surrounds them. */
static double battery_s(const struct certify *certify)
{
    return certify_battery_s(certify, certify->count) + 60 * CERTIFY_BATTERY_BESIDES_MIN;
}

/* The steps by their deadlines, and what is between them. */
static double check_s(const struct certify *certify)
{
    return certify_deadline_s(CERTIFY_CHECK_S + checks_held_s(&certify->conf), certify->count) +
           certify_deadline_s(CERTIFY_NEIGHBORS_S, certify->count) + 60 * CERTIFY_SHORT_JOB_MIN;
}

/* Likewise: some steps revoke certificates, one after the other issues a part of them, one removes
 * suspect reports. */
static double certificates_s(const struct certify *certify)
{
    double parts = ceil((double)certify->count / CERTIFY_PART_NODES);

    return certify_deadline_s(CERTIFY_CERTIFICATE_S * (1 + CERTIFY_REVOKE_STEPS), certify->count) +
           certify_deadline_s(CERTIFY_CERTIFICATE_S * parts, certify->count) +
           certify_deadline_s(SUSPECTS_REMOVE_S, certify->count) + 60 * CERTIFY_SHORT_JOB_MIN;
}

/* How long the job may take. An ordinary user's is one for all, without certificates. */
static int wanted_minutes(const struct certify *certify, enum certify_job job)
{
    double wanted_s = job == JOB_BATTERY        ? battery_s(certify)
                      : job == JOB_CERTIFICATES ? certificates_s(certify)
                                                : check_s(certify);

    if (!certify->is_root)
        wanted_s = check_s(certify) + battery_s(certify);
    return (int)ceil(wanted_s / 60);
}

/* MaxTime of the run's partition; 0: no limit. */
static int most_minutes(const struct certify *certify)
{
    const struct cluster_partition *partition =
        certify->partition ? plan_partition(&certify->cluster, certify->partition, NULL, 0) : NULL;

    return partition ? partition->most_minutes : 0;
}

int certify_job_minutes(const struct certify *certify, enum certify_job job)
{
    int wanted = wanted_minutes(certify, job), most = most_minutes(certify);

    return most > 0 && most < wanted ? most : wanted;
}

/* What is to be said of a job that may end before its tests' own limits; text is "" of others. */
static void most_text(const struct certify *certify, enum certify_job job, char *text, size_t size)
{
    int wanted = wanted_minutes(certify, job), most = most_minutes(certify);

    text[0] = '\0';
    if (most > 0 && most < wanted)
        text_put(text, size,
                 "MaxTime=%d of partition %.60s is less than the %d min that they may take", most,
                 certify->partition, wanted);
}

/* For slurmctld once, and for the prologs of three jobs. */
static int waits_minutes(size_t nodes)
{
    return (int)ceil((CERTIFY_CONTROLLER_S + 3 * (double)nodes / ALLOCATION_NODES_PER_S) / 60);
}

/* Keeps all other jobs off the nodes until the run is over. It ends by itself, in case nobody is
 * left to end it, but not with a node whose drain we lift: that would be in service then. */
static int reserve(struct certify *certify, const struct hostlist *names, struct error *err)
{
    int minutes = certify_job_minutes(certify, JOB_CHECK) +
                  certify_job_minutes(certify, JOB_BATTERY) +
                  certify_job_minutes(certify, JOB_CERTIFICATES) + CERTIFY_RESERVED_BESIDES_MIN +
                  waits_minutes(names->count);

    for (size_t i = 0; i < names->count; i++)
        if (certify_node_run(certify, names->names[i])->plan.role == ROLE_RETEST)
            minutes = 0;
    if (names != &certify->reserved)
        hostlist_append_all(&certify->reserved, (const char *const *)names->names, names->count);
    snprintf(certify->reservation, sizeof certify->reservation, CLUSTER_RUN "%s", certify->run);
    if (certify_reserve(certify, names, minutes, err) == 0)
        return 0;
    certify->reservation[0] = '\0';
    return -1;
}

static size_t held_nodes(const struct certify *certify, struct hostlist *names)
{
    *names = (struct hostlist){0};
    for (size_t i = 0; i < certify->count; i++)
        if (certify_is_held(&certify->node_runs[i]))
            hostlist_append(names, certify->node_runs[i].name);
    return names->count;
}

static void elsewhere_note(const struct cluster_partition *partition, const struct hostlist *nodes,
                           void *context)
{
    struct certify *certify = context;
    char text[200];

    if (partition)
        text_put(text, sizeof text, "in another partition: muster certify -p %.60s",
                 partition->name);
    else
        text_put(text, sizeof text, "in no partition that is up");
    for (size_t i = 0; i < nodes->count; i++)
        certify_verdict(certify, certify_node_run(certify, nodes->names[i]), STAGE_REACH,
                        VERDICT_UNKNOWN, "slurm.state", "", text);
    if (partition && certify->partition)
        certify_note(certify,
                     "not tested: %s: a run uses one partition, here %s; next: muster certify -p "
                     "%s, or --campaign NAME for all partitions",
                     hostlist_text(nodes).text, certify->partition, partition->name);
    else
        certify_note(certify, "not tested: %s: %s", hostlist_text(nodes).text, text);
}

/* The battery's job has no more nodes than the partition allows (MaxNodes): the others are left, of
 * partners all that are not needed. */
static void most_keep(struct certify *certify, const struct cluster_partition *partition,
                      struct hostlist *names)
{
    size_t most = partition ? partition->most_nodes : 0, partners = 0, left[2];
    struct hostlist kept = {0}, beyond = {0};
    char text[120];

    if (most == 0 || names->count <= most)
        return;
    for (size_t i = 0; i < names->count; i++)
        partners += certify_node_run(certify, names->names[i])->is_partner;
    partners = partners < CERTIFY_PARTNERS ? partners : CERTIFY_PARTNERS;
    left[false] = most > partners ? most - partners : 1;
    left[true] = most - left[false];
    for (size_t i = 0; i < names->count; i++) {
        size_t *room = &left[certify_node_run(certify, names->names[i])->is_partner];

        hostlist_append(*room > 0 ? &kept : &beyond, names->names[i]);
        *room -= *room > 0;
    }
    text_put(text, sizeof text, "left for another run: MaxNodes=%zu of partition %.60s", most,
             partition->name);
    for (size_t i = 0; i < beyond.count; i++)
        certify_verdict(certify, certify_node_run(certify, beyond.names[i]), STAGE_REACH,
                        VERDICT_UNKNOWN, "slurm.state", "", text);
    certify_note(certify, "%s: %s; next: muster certify --campaign NAME, which has several runs",
                 hostlist_text(&beyond).text, text);
    hostlist_clear(names);
    hostlist_clear(&beyond);
    *names = kept;
}

/* Those that may be allocated; the others get to know why not. */
static size_t candidates(struct certify *certify, struct hostlist *names)
{
    const struct cluster_partition *partition;
    const char **list = calloc(certify->count + 1, sizeof *list);
    struct hostlist elsewhere = {0};
    struct name_index members = {0};
    size_t count = 0;

    *names = (struct hostlist){0};
    for (size_t i = 0; list && i < certify->count; i++)
        if (role_is_testable(certify->node_runs[i].plan.role) &&
            outcome_is_good(&certify->node_runs[i].outcome))
            list[count++] = certify->node_runs[i].name;
    partition = plan_partition(&certify->cluster, certify->options.partition, list, count);
    free(certify->partition);
    certify->partition = partition ? strdup(partition->name) : NULL;
    if (partition && hostlist_index(&partition->nodes, &members) != 0)
        certify_note(certify, "out of memory for the nodes of partition %s", partition->name);
    for (size_t i = 0; i < count; i++)
        hostlist_append(name_index_has(&members, list[i]) ? names : &elsewhere, list[i]);
    if (plan_elsewhere(&certify->cluster, &elsewhere, elsewhere_note, certify) != 0)
        certify_note(certify, "out of memory for the nodes of other partitions");
    most_keep(certify, partition, names);
    hostlist_clear(&elsewhere);
    name_index_clear(&members);
    free(list);
    return names->count;
}

static size_t choose(struct certify *certify, struct hostlist *names)
{
    return certify->job == JOB_CHECK     ? candidates(certify, names)
           : certify->job == JOB_BATTERY ? certify_good(certify, names)
                                         : held_nodes(certify, names);
}

static void tick(void *context)
{
    struct certify *certify = context;

    progress_tick(&certify->progress);
    certify_give_back_look(certify);
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

/* What we are to make of a node's state: our reservation is no obstacle, nor is our job, which is
 * still there while the next one is asked for. */
static void plan_again(const struct certify *certify, const struct cluster_node *node,
                       bool has_our_job, struct plan *plan)
{
    struct cluster_node seen = *node;

    seen.is_reserved &= !*certify->reservation;
    if (has_our_job) {
        seen.is_allocated = seen.is_completing = false;
        seen.is_idle = true;
    }
    plan_node(&seen, false, false, plan);
}

/* What the node's state means for the run. Returns whether it is no longer to be had. */
static bool change_note(struct certify *certify, struct node_run *node_run,
                        const struct cluster_node *node, bool has_our_job, bool is_hung)
{
    struct plan plan;
    char text[256];

    if (!outcome_is_good(&node_run->outcome)) { /* it failed, and is to lose its certificate */
        bool was_missed = node_run->is_missed;

        plan_again(certify, node, has_our_job || node->is_completing, &plan);
        node_run->is_missed |=
            certify->job == JOB_CERTIFICATES && (is_hung || plan.role != ROLE_TEST);
        return node_run->is_missed && !was_missed;
    }
    plan_again(certify, node, has_our_job, &plan);
    if (plan.role == ROLE_FAULTY) {
        certify_verdict(certify, node_run, STAGE_REACH, VERDICT_FAIL, "slurm.state", plan.part,
                        plan.message);
        node_run->plan.role = ROLE_FAULTY; /* the drain is Slurm's */
    } else if (plan.role == ROLE_RETEST &&
               (node_run->plan.role == ROLE_TEST || node_run->is_resumed)) {
        snprintf(text, sizeof text, "drained during the run by its health check: %.200s",
                 node->reason);
        certify_fault(certify, node_run, STAGE_REACH, VERDICT_UNKNOWN, FAULT_NOT_MEASURED,
                      "slurm.state", "", text);
    } else if (plan.role == ROLE_LEAVE && !node->is_completing) {
        certify_verdict(certify, node_run, STAGE_REACH, VERDICT_UNKNOWN, "slurm.state", "",
                        plan.message);
    } else if (is_hung) {
        certify_fault(certify, node_run, STAGE_REACH, VERDICT_UNKNOWN, FAULT_LAUNCH_FAILED,
                      "slurm.state", "prolog",
                      "a job does not start or end there; check its prolog and epilog");
    } else {
        return false;
    }
    node_run->is_missed |= certify->job == JOB_CERTIFICATES;
    return true;
}

/* The nodes on which a job that was canceled has not ended, and since when it is these. */
struct ending {
    struct hostlist nodes;
    double since;
};

/* Whether these are the ones that keep it: it is over on others, whose epilogs may take as long as
 * theirs, and no further node has ended it for a while. */
static bool ending_is_stuck(struct ending *ending, const struct cluster *now,
                            const struct hostlist *names)
{
    struct hostlist left = {0};
    bool is_same;

    for (size_t i = 0; i < names->count; i++) {
        const struct cluster_node *node = cluster_node(now, names->names[i]);

        if (node && node->is_completing)
            hostlist_append(&left, node->name);
    }
    is_same = left.count == ending->nodes.count;
    for (size_t i = 0; is_same && i < left.count; i++)
        is_same = strcmp(left.names[i], ending->nodes.names[i]) == 0;
    if (!is_same)
        ending->since = clock_s();
    hostlist_clear(&ending->nodes);
    ending->nodes = left;
    return left.count < names->count && clock_s() - ending->since >= CERTIFY_HUNG_S;
}

/* What became of the nodes since they were looked at: Slurm has drained one whose prolog failed, a
 * job came first on another. has_our_job: they are in a job of ours; ending: what is left of one
 * that was canceled, or NULL. Returns how many of them are no longer to be had. */
static size_t changes_note(struct certify *certify, const struct hostlist *names, bool has_our_job,
                           struct ending *ending)
{
    struct cluster now;
    size_t changed = 0;
    bool is_stuck;

    if (certify->operations->load_nodes(&now, NULL) != 0)
        return 0;
    is_stuck = ending && ending_is_stuck(ending, &now, names);
    for (size_t i = 0; i < names->count; i++) {
        struct node_run *node_run = certify_node_run(certify, names->names[i]);
        const struct cluster_node *node = cluster_node(&now, node_run->name);

        changed += node && change_note(certify, node_run, node, has_our_job,
                                       is_stuck && node->is_completing);
    }
    cluster_clear(&now);
    return changed;
}

/* A job in the run's reservation never begins with a node that somebody has taken out of that: it
 * is theirs. Returns how many such nodes are found. */
static size_t freed_note(struct certify *certify, const struct hostlist *names)
{
    struct hostlist held = {0};
    struct name_index inside = {0};
    struct error err;
    size_t freed = 0;
    int found = *certify->reservation
                    ? certify->operations->reservation(certify->reservation, &held, NULL, &err)
                    : 0;
    bool is_known = found == 1 && hostlist_index(&held, &inside) == 0;

    for (size_t i = 0; is_known && i < names->count; i++) {
        struct node_run *node_run = certify_node_run(certify, names->names[i]);

        if (name_index_has(&inside, node_run->name) ||
            (!outcome_is_good(&node_run->outcome) && certify->job != JOB_CERTIFICATES))
            continue;
        if (outcome_is_good(&node_run->outcome))
            certify_fault(certify, node_run, STAGE_REACH, VERDICT_UNKNOWN, FAULT_NODE_AWAY,
                          "slurm.state", "",
                          "left alone: it was removed from the run's reservation meanwhile");
        node_run->is_missed |= certify->job == JOB_CERTIFICATES;
        freed++;
    }
    name_index_clear(&inside);
    hostlist_clear(&held);
    return freed;
}

/* Until the nodes are to be looked at again: seldom in a long wait, as the controller makes a table
 * of all nodes each time. */
static void look_wait(struct certify *certify, double begin)
{
    double asked = clock_s(), pause_s = fmax(CERTIFY_LOOK_S, 0.1 * (asked - begin));

    while (!certify_stop && clock_s() - asked < pause_s) {
        usleep((useconds_t)(1e6 * ALLOCATION_TICK_S));
        tick(certify);
    }
}

/* After a try that failed: finds who is to be left out of the next one, which Slurm may note only
 * after it has ended the job, so with nobody found it is asked again. Returns how many. */
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
    certify_drop_silent(certify);
    allocation_drop(certify);
    begin = clock_s();
    for (;;) {
        out += changes_note(certify, names, false, &ending);
        if (out > 0 || certify_stop ||
            clock_s() - begin >=
                (ending.nodes.count > 0 ? CERTIFY_ALLOCATE_NEXT_S : CERTIFY_NOTED_S))
            break;
        look_wait(certify, begin);
    }
    hostlist_clear(&ending.nodes);
    return out > 0 || certify_stop ? out : freed_note(certify, names);
}

/* What the controller did not have time to save is gone with the job: the reservation, the end of
 * earlier jobs. */
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

/* Tries until there is an allocation or nobody more is found to be left out. names: who is to be
 * had; at last those of the job, to be cleared. before: the job whose place it takes, or 0. Without
 * a job at last, err says why. */
static void allocation_try(struct certify *certify, uint32_t before, struct hostlist *names,
                           struct error *err)
{
    for (int i = 0; i < CERTIFY_ALLOCATE_TRIES && names->count > 0; i++) {
        int rv;

        progress_doing(&certify->progress, "%zu node%s of partition %s", names->count,
                       text_plural(names->count), certify->partition);
        rv = certify->operations->allocation_get(
            &(struct allocation_request){
                .job_name = certify->job_name,
                .user = certify->is_root && certify->job == JOB_BATTERY ? &certify->battery : NULL,
                .before = i == 0 ? before : 0,
                .nodes = names,
                .cluster = certify->cluster.name,
                .partition = certify->partition,
                .reservation = *certify->reservation ? certify->reservation : NULL,
                .minutes = certify_job_minutes(certify, certify->job),
                .deadline_s =
                    certify->job == JOB_CHECK ? CERTIFY_ALLOCATE_S : CERTIFY_ALLOCATE_NEXT_S,
                .stop = &certify_stop,
                .on_tick = tick,
                .context = certify},
            &certify->job_id, err);
        if (rv == 2 && lost_replace(certify, err) == 0)
            continue;
        if (rv == 0 || certify_stop || allocation_failed(certify, names) == 0)
            break; /* with nobody to leave out the next try would end the same way */
        hostlist_clear(names);
        choose(certify, names);
    }
}

/* Whether Slurm would have the battery's job: seen before a drain is lifted. */
static int battery_check(const struct certify *certify, const struct hostlist *names,
                         struct error *err)
{
    return certify->operations->allocation_check(
        &(struct allocation_request){.job_name = certify->job_name,
                                     .user = &certify->battery,
                                     .nodes = names,
                                     .cluster = certify->cluster.name,
                                     .partition = certify->partition,
                                     .reservation = certify->reservation,
                                     .minutes = certify_job_minutes(certify, JOB_BATTERY)},
        err);
}

static enum stage stage_of(const struct certify *certify)
{
    return certify->job == JOB_CHECK     ? STAGE_REACH
           : certify->job == JOB_BATTERY ? STAGE_LAUNCH
                                         : STAGE_CERTIFICATE;
}

/* There is no job. code: FAULT_NONE: others may have the nodes, or it is not known why. */
static void lack_note(struct certify *certify, const struct hostlist *names, enum fault_code code,
                      const struct error *err)
{
    certify_all_fault(certify, names, stage_of(certify), VERDICT_UNKNOWN, code, "slurm.state",
                      err->text);
    progress_end(&certify->progress, VERDICT_UNKNOWN, "%s", err->text);
}

/* err: why there is no job, if there is none. */
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

/* What has to be there before the first job. Returns 0, or -1 with err. */
static int allocation_prepare(struct certify *certify, const struct hostlist *names,
                              struct error *err)
{
    int rv = undo_note_job(&certify->undo, certify->job_name,
                           certify->is_root ? certify->battery.uid : geteuid(), err);

    if (rv == 0 && certify->is_root)
        rv = reserve(certify, names, err);
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
    if (candidates(certify, &names) > 0) {
        most_text(certify, JOB_BATTERY, text, sizeof text);
        if (*text)
            progress_print(&certify->progress, "the tests end early if they are slow: %s", text);
        progress_begin(&certify->progress, "allocate");
        if (allocation_prepare(certify, &names, &err) == 0) {
            hostlist_clear(&names);
            candidates(certify, &names);
            allocation_try(certify, 0, &names, &err);
        }
        allocation_note(certify, &names, &err);
    }
    hostlist_clear(&names);
}

void certify_allocate_next(struct certify *certify, enum certify_job job)
{
    struct hostlist names;
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
    choose(certify, &names);
    /* a node that is drained is in no other job */
    if (changes_note(certify, &names, before != 0, NULL) > 0) {
        hostlist_clear(&names);
        choose(certify, &names);
    }
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

size_t certify_drop_drained(struct certify *certify, const struct hostlist *names)
{
    return changes_note(certify, names, true, NULL);
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
    struct hostlist names;
    struct error err = {"the controller lost the job"};
    char text[200];

    if (certify_stop || (state != CLUSTER_JOB_OVER && state != CLUSTER_JOB_LOST))
        return false;
    certify_good(certify, &names);
    progress_end(&certify->progress, VERDICT_UNKNOWN,
                 state == CLUSTER_JOB_LOST ? "job %u was lost by the controller"
                                           : "job %u was ended early",
                 before);
    progress_begin(&certify->progress, "allocate");
    for (size_t i = 0; i < names.count; i++)
        certify_node_run(certify, names.names[i])->is_in_job = certify->job != JOB_CHECK;
    certify->job_id = 0;
    if (state == CLUSTER_JOB_OVER && allocation_failed(certify, &names) == 0) {
        most_text(certify, certify->job, text, sizeof text);
        error_set(&err, "job %u was canceled, or ended by Slurm, before the tests finished%s%s",
                  before, *text ? "; " : "", text);
        lack_note(certify, &names, FAULT_NOT_MEASURED, &err);
    } else {
        if (state == CLUSTER_JOB_OVER) {
            hostlist_clear(&names);
            choose(certify, &names);
        }
        if (state == CLUSTER_JOB_OVER || lost_replace(certify, &err) == 0)
            allocation_try(certify, 0, &names, &err);
        allocation_note(certify, &names, &err);
    }
    hostlist_clear(&names);
    return true;
}
