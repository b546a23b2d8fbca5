/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/clock.h"
#include "validate/certify/certify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "validate/slurm/allocation.h"
#include "validate/slurm/reach.h"

enum {
    REACH_S = 4,
    ALLOCATE_S = 20,
    ALLOCATE_TRIES = 3,
    SETTLE_S = 15,
    JOB_BESIDES_MIN = 2,
    RESERVED_BESIDES_MIN = 5 /* the job begins and ends inside the reservation */
};

static void subject_add(struct certify *certify, struct cluster_node *node)
{
    struct subject *subject = &certify->subjects[certify->count++];

    *subject = (struct subject){.name = node->name, .slurm = node, .rail_mbps = NAN};
    plan_node(node, certify->options.is_dry_run, &subject->plan);
}

/* For certify_subject(). */
static int subjects_index(struct certify *certify, struct error *err)
{
    const char **names = calloc(certify->count + 1, sizeof *names);
    int rv = -1;

    for (size_t i = 0; names && i < certify->count; i++)
        names[i] = certify->subjects[i].name;
    if (names)
        rv = name_index_build(names, certify->count, &certify->by_name);
    free(names);
    return rv == 0 ? 0 : error_set(err, "no memory for %zu nodes", certify->count);
}

static int misuse(struct certify *certify, struct error *err, const char *format, const char *what)
{
    certify->is_misused = true;
    return error_set(err, format, what);
}

/* -w: these, whatever their state. */
static int select_named(struct certify *certify, struct error *err)
{
    struct hostlist names;
    int rv = hostlist_expand(certify->options.nodes, &names, err);

    for (size_t i = 0; rv == 0 && i < names.count; i++) {
        struct cluster_node *node = cluster_node(&certify->cluster, names.names[i]);

        bool is_double = false;

        for (size_t k = 0; k < i && !is_double; k++)
            is_double = strcmp(names.names[k], names.names[i]) == 0;
        if (!node)
            rv = misuse(certify, err, "there is no node %s in this cluster", names.names[i]);
        else if (!is_double)
            subject_add(certify, node);
    }
    hostlist_clear(&names);
    return rv;
}

/* Without names: all but what is somebody else's; that is told in one line. */
static void select_all(struct certify *certify, const struct hostlist *only)
{
    for (size_t i = 0; i < certify->cluster.node_count; i++) {
        struct cluster_node *node = &certify->cluster.nodes[i];
        struct plan plan;

        if (only && !hostlist_contains(only, node->name))
            continue;
        plan_node(node, certify->options.is_dry_run, &plan);
        if (plan.role == ROLE_LEAVE)
            certify_note(certify, "%s: %s", node->name, plan.message);
        else
            subject_add(certify, node);
    }
}

/* A job that ended a moment ago, or a slurmd that came back, needs a few seconds in the controller.
 */
static bool is_settling(const struct cluster *cluster, const struct hostlist *names)
{
    for (size_t i = 0; i < cluster->node_count; i++) {
        const struct cluster_node *node = &cluster->nodes[i];

        if ((!names->count || hostlist_contains(names, node->name)) && node->is_completing &&
            node->is_responding && !node->is_allocated && !node->is_drained)
            return true;
    }
    return false;
}

static int load_settled(struct certify *certify, struct error *err)
{
    struct hostlist names = {0};
    double begin = clock_s();
    int rv = 0;

    if (certify->options.nodes)
        rv = hostlist_expand(certify->options.nodes, &names, err);
    while (rv == 0) {
        rv = cluster_load(&certify->cluster, err);
        if (rv != 0 || !is_settling(&certify->cluster, &names) || clock_s() - begin > SETTLE_S ||
            certify_stop)
            break;
        cluster_clear(&certify->cluster);
        usleep(300000);
    }
    hostlist_clear(&names);
    return rv;
}

int certify_select(struct certify *certify, struct error *err)
{
    const struct cluster_partition *partition = NULL;
    const char *wanted = certify->options.partition;

    if (load_settled(certify, err) != 0)
        return -1;
    certify->subjects = calloc(certify->cluster.node_count + 1, sizeof *certify->subjects);
    if (!certify->subjects)
        return error_set(err, "no memory for %zu nodes", certify->cluster.node_count);
    if (wanted) {
        partition = plan_partition(&certify->cluster, wanted, NULL, 0);
        if (!partition)
            return misuse(certify, err, "there is no partition %s in this cluster", wanted);
    }
    if (certify->options.nodes) {
        if (select_named(certify, err) != 0) {
            certify->count = 0;
            return -1;
        }
    } else {
        select_all(certify, partition ? &partition->nodes : NULL);
        if ((certify->options.is_suspects && certify_suspects(certify, err) != 0) ||
            (certify->options.is_due && certify_due(certify, err) != 0)) {
            certify->count = 0;
            return -1;
        }
    }
    if (certify_take_turns(certify, err) != 0) {
        certify->count = 0;
        return -1;
    }
    return subjects_index(certify, err);
}

/* Asks those subjects for which is_wanted says so. Returns how many do not answer. */
static size_t ask(struct certify *certify, enum stage stage,
                  bool (*is_wanted)(const struct subject *subject, const struct hostlist *names),
                  const struct hostlist *names)
{
    struct cluster_node **nodes = calloc(certify->count + 1, sizeof(*nodes));
    struct subject **subjects = calloc(certify->count + 1, sizeof(*subjects));
    struct reach *answers = calloc(certify->count + 1, sizeof *answers);
    size_t count = 0, silent = 0, no_munge = 0;
    struct error err;

    for (size_t i = 0; nodes && subjects && answers && i < certify->count; i++) {
        if (!is_wanted(&certify->subjects[i], names))
            continue;
        nodes[count] = certify->subjects[i].slurm;
        subjects[count++] = &certify->subjects[i];
    }
    if (!nodes || !subjects || !answers ||
        reach_nodes(nodes, count, REACH_S, &certify_stop, answers, &err) != 0)
        count = 0;
    for (size_t i = 0; i < count; i++)
        no_munge += answers[i].state == REACH_NO_MUNGE;
    for (size_t i = 0; i < count; i++) {
        enum reach_state state = answers[i].state;
        enum verdict verdict = state == REACH_ANSWERS                              ? VERDICT_PASS
                               : state == REACH_FAILED || state == REACH_NOT_ASKED ? VERDICT_UNKNOWN
                                                                                   : VERDICT_FAIL;

        /* Refused by everybody: then it is this host's credential that is wrong. */
        if (state == REACH_NO_MUNGE && no_munge == count && count > 1)
            verdict = VERDICT_UNKNOWN;
        if (verdict != VERDICT_PASS)
            silent++;
        subjects[i]->is_silent |= verdict == VERDICT_FAIL && stage != STAGE_REACH;
        /* In a later stage an answer says nothing about that stage. */
        if (verdict != VERDICT_PASS || stage == STAGE_REACH)
            certify_verdict(certify, subjects[i], stage, verdict, "workers.enumerate",
                            reach_part(state), answers[i].message);
    }
    free(nodes);
    free(subjects);
    free(answers);
    return silent;
}

static bool is_wanted_first(const struct subject *subject, const struct hostlist *names)
{
    (void)names;
    return subject->plan.role != ROLE_LEAVE;
}

static bool is_wanted_again(const struct subject *subject, const struct hostlist *names)
{
    return outcome_is_good(&subject->outcome) && hostlist_contains(names, subject->name);
}

size_t certify_reach_again(struct certify *certify, const struct hostlist *names, enum stage stage)
{
    return ask(certify, stage, is_wanted_again, names);
}

void certify_reach_last(struct certify *certify)
{
    struct hostlist names;

    if (certify_good(certify, &names) > 0)
        certify_reach_again(certify, &names, STAGE_COLLECTIVES);
    hostlist_clear(&names);
}

int certify_reach(struct certify *certify, struct error *err)
{
    size_t asked = 0;

    (void)err;
    progress_begin(&certify->progress, "reach");
    progress_doing(&certify->progress, "asking the slurmd of each node");
    ask(certify, STAGE_REACH, is_wanted_first, NULL);
    for (size_t i = 0; i < certify->count; i++) {
        struct subject *subject = &certify->subjects[i];

        asked += subject->plan.role != ROLE_LEAVE;
        if (subject->plan.role == ROLE_LEAVE)
            certify_verdict(certify, subject, STAGE_REACH, VERDICT_UNKNOWN, "slurm.state", "",
                            subject->plan.message);
        else if (subject->plan.role == ROLE_FAULTY && outcome_is_good(&subject->outcome) &&
                 strcmp(subject->plan.part, "slurmd") == 0) {
            char text[256];

            /* It answers now: whether it was at fault cannot be told, nor tested. */
            snprintf(text, sizeof text,
                     "%.140s; it answers now: scontrol update nodename=%.50s "
                     "state=resume",
                     subject->plan.message, subject->name);
            certify_verdict(certify, subject, STAGE_REACH, VERDICT_UNKNOWN, "slurm.state", "slurmd",
                            text);
        } else if (subject->plan.role == ROLE_FAULTY && outcome_is_good(&subject->outcome))
            certify_verdict(certify, subject, STAGE_REACH, VERDICT_FAIL,
                            strcmp(subject->plan.part, "gres") == 0 ? "slurm.gres" : "slurm.state",
                            subject->plan.part, subject->plan.message);
    }
    certify_stage_end(certify, asked);
    return 0;
}

/* All stages of the battery by their limits, and what surrounds them. */
static int minutes_of(const struct certify *certify, int besides)
{
    return (int)ceil(3 * certify->budget_s / 60) + besides;
}

/* Lifts our drains inside a reservation, so that nothing but the test can start there. Nodes that
 * wait for their first certificate can be had in a reservation of ours only, too. */
static int drains_lift(struct certify *certify, const struct hostlist *names, struct error *err)
{
    char *folded = NULL;
    bool is_any = false;
    int rv = 0;

    for (size_t i = 0; i < names->count; i++)
        is_any |= certify_subject(certify, names->names[i])->plan.role == ROLE_RETEST ||
                  certify_subject(certify, names->names[i])->slurm->is_waiting;
    if (!is_any)
        return 0;
    folded = hostlist_fold(names);
    snprintf(certify->reservation, sizeof certify->reservation, "muster-%s", certify->run);
    if (!folded || undo_note_reservation(&certify->undo, certify->reservation, err) != 0 ||
        cluster_reserve(certify->reservation, folded, minutes_of(certify, RESERVED_BESIDES_MIN),
                        err) != 0) {
        certify->reservation[0] = '\0';
        free(folded);
        return -1;
    }
    free(folded);
    for (size_t i = 0; rv == 0 && i < names->count; i++) {
        struct subject *subject = certify_subject(certify, names->names[i]);

        if (subject->plan.role != ROLE_RETEST)
            continue;
        rv = undo_note_resume(&certify->undo, subject->name, subject->slurm->reason, err);
        if (rv == 0)
            rv = cluster_resume(subject->name, err);
        subject->is_resumed = rv == 0;
    }
    return rv;
}

/* Those that may be allocated; the others get to know why not. */
static size_t candidates(struct certify *certify, struct hostlist *names)
{
    const struct cluster_partition *partition;
    const char **list = calloc(certify->count + 1, sizeof *list);
    size_t count = 0;

    *names = (struct hostlist){0};
    for (size_t i = 0; list && i < certify->count; i++)
        if ((certify->subjects[i].plan.role == ROLE_TEST ||
             certify->subjects[i].plan.role == ROLE_RETEST) &&
            outcome_is_good(&certify->subjects[i].outcome))
            list[count++] = certify->subjects[i].name;
    partition = plan_partition(&certify->cluster, certify->options.partition, list, count);
    free(certify->partition);
    certify->partition = partition ? strdup(partition->name) : NULL;
    for (size_t i = 0; i < count; i++) {
        if (partition && hostlist_contains(&partition->nodes, list[i])) {
            hostlist_append(names, list[i]);
        } else {
            char text[128];

            snprintf(text, sizeof text, "not in partition %.60s; certify it with -p",
                     partition ? partition->name : "of any kind that is up");
            certify_verdict(certify, certify_subject(certify, list[i]), STAGE_REACH,
                            VERDICT_UNKNOWN, "slurm.state", "", text);
        }
    }
    free(list);
    return names->count;
}

static void tick(void *context)
{
    struct certify *certify = context;

    progress_tick(&certify->progress);
}

/* Cancels what is left of a try and waits a moment for the nodes to be free again. */
static void allocation_drop(struct certify *certify)
{
    struct cluster_job *jobs;
    int count;

    for (int i = 0; i < 20; i++) {
        bool is_any = false;

        count = cluster_jobs(certify->job_name, &jobs, NULL);
        for (int k = 0; k < count; k++) {
            is_any |= !jobs[k].is_completing;
            cluster_job_cancel(jobs[k].id, NULL);
        }
        free(jobs);
        if (count == 0 || (count > 0 && !is_any && i > 5))
            break;
        usleep(200000);
    }
}

/* What became of the nodes since they were looked at: Slurm has drained one whose prolog failed, a
 * job came first on another. Returns how many of them are no longer to be had. */
static size_t changes_note(struct certify *certify, const struct hostlist *names)
{
    struct cluster now;
    size_t changed = 0, completing = 0;

    if (cluster_load(&now, NULL) != 0)
        return 0;
    for (size_t i = 0; i < names->count; i++) {
        const struct cluster_node *node = cluster_node(&now, names->names[i]);

        completing += node && node->is_completing;
    }
    for (size_t i = 0; i < names->count; i++) {
        struct subject *subject = certify_subject(certify, names->names[i]);
        const struct cluster_node *node = cluster_node(&now, subject->name);
        struct plan plan;

        if (!node || !outcome_is_good(&subject->outcome))
            continue;
        plan_node(node, false, &plan);
        if (plan.role == ROLE_FAULTY) {
            certify_verdict(certify, subject, STAGE_REACH, VERDICT_FAIL, "slurm.state", plan.part,
                            plan.message);
            subject->plan.role = ROLE_FAULTY; /* the drain is Slurm's */
            changed++;
        } else if (plan.role == ROLE_RETEST && subject->plan.role == ROLE_TEST) {
            char text[256];

            snprintf(text, sizeof text, "drained meanwhile by its health check: %.200s",
                     node->reason);
            certify_verdict(certify, subject, STAGE_REACH, VERDICT_UNKNOWN, "slurm.state", "",
                            text);
            changed++;
        } else if (plan.role == ROLE_LEAVE && !node->is_completing &&
                   !(node->is_reserved && *certify->reservation)) {
            certify_verdict(certify, subject, STAGE_REACH, VERDICT_UNKNOWN, "slurm.state", "",
                            plan.message);
            changed++;
        } else if (node->is_completing && completing < names->count) {
            /* The cancelled try is over on the other nodes. */
            certify_verdict(certify, subject, STAGE_REACH, VERDICT_UNKNOWN, "slurm.state", "prolog",
                            "a job does not begin or end there: look at its prolog and epilog");
            changed++;
        }
    }
    cluster_clear(&now);
    return changed;
}

/* After a try that failed: finds who is to be left out of the next one, which Slurm may note only
 * after it has ended the job, so with nobody found it is asked again. Returns how many. */
static size_t allocation_failed(struct certify *certify, const struct hostlist *names)
{
    size_t out = certify_reach_again(certify, names, STAGE_REACH);

    for (size_t i = 0; i < names->count; i++) {
        struct subject *subject = certify_subject(certify, names->names[i]);

        subject->is_silent |= !outcome_is_good(&subject->outcome);
    }
    certify_drop_silent(certify);
    allocation_drop(certify);
    out += changes_note(certify, names);
    for (int i = 0; out == 0 && i < 10 && !certify_stop; i++) {
        usleep(500000);
        out = changes_note(certify, names);
    }
    return out;
}

/* Tries until there is an allocation or nobody more is found to be left out. names: who is to be
 * had; at last those of the job, to be cleared. */
static void allocation_try(struct certify *certify, struct hostlist *names, struct error *err)
{
    int rv = 0;

    for (int i = 0; i < ALLOCATE_TRIES && names->count > 0; i++) {
        progress_doing(&certify->progress, "%zu nodes of partition %s", names->count,
                       certify->partition);
        rv = allocation_get(
            &(struct allocation_request){.job_name = certify->job_name,
                                         .nodes = names,
                                         .partition = certify->partition,
                                         .reservation =
                                             *certify->reservation ? certify->reservation : NULL,
                                         .minutes = minutes_of(certify, JOB_BESIDES_MIN),
                                         .deadline_s = ALLOCATE_S,
                                         .stop = &certify_stop,
                                         .on_tick = tick,
                                         .context = certify},
            &certify->job_id, err);
        if (rv == 0 || certify_stop || allocation_failed(certify, names) == 0)
            break; /* with nobody to leave out the next try would end the same way */
        hostlist_clear(names);
        candidates(certify, names);
    }
}

static void allocation_tell(struct certify *certify, const struct hostlist *names,
                            const struct error *err)
{
    if (certify->job_id == 0) {
        certify_all(certify, names, STAGE_REACH, VERDICT_UNKNOWN, "slurm.state", err->text);
        progress_end(&certify->progress, VERDICT_UNKNOWN, "%s", err->text);
        return;
    }
    for (size_t i = 0; i < names->count; i++)
        certify_subject(certify, names->names[i])->is_in_job = true;
    progress_end(&certify->progress, VERDICT_NONE, "job %u, %zu nodes%s%s", certify->job_id,
                 names->count, *certify->reservation ? ", reservation " : "", certify->reservation);
}

int certify_allocate(struct certify *certify, struct error *err)
{
    struct hostlist names = {0};

    if (candidates(certify, &names) == 0) {
        hostlist_clear(&names);
        return 0;
    }
    progress_begin(&certify->progress, "allocate");
    if (undo_note_job(&certify->undo, certify->job_name, err) == 0 &&
        drains_lift(certify, &names, err) == 0)
        allocation_try(certify, &names, err);
    allocation_tell(certify, &names, err);
    hostlist_clear(&names);
    return 0;
}

static bool is_job_there(const struct certify *certify)
{
    struct cluster_job *jobs = NULL;
    int count = cluster_jobs(certify->job_name, &jobs, NULL);
    bool is_there = count < 0; /* nobody says that it is not */

    for (int i = 0; i < count; i++)
        is_there |= jobs[i].id == certify->job_id && !jobs[i].is_completing;
    free(jobs);
    return is_there;
}

bool certify_allocate_again(struct certify *certify)
{
    struct hostlist names;
    struct error err = {"the job was lost"};

    if (certify_stop || is_job_there(certify))
        return false;
    certify_good(certify, &names);
    progress_end(&certify->progress, VERDICT_UNKNOWN, "job %u was taken away", certify->job_id);
    progress_begin(&certify->progress, "allocate");
    for (size_t i = 0; i < certify->count; i++)
        certify->subjects[i].is_in_job = false;
    certify->job_id = 0;
    if (allocation_failed(certify, &names) > 0) {
        hostlist_clear(&names);
        candidates(certify, &names);
        allocation_try(certify, &names, &err);
    }
    allocation_tell(certify, &names, &err);
    hostlist_clear(&names);
    return true;
}
