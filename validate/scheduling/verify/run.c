/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/scheduling/verify/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/memory_stream.h"
#include "lib/base/text.h"
#include "lib/constants/policy_constants.h"
#include "validate/slurm/job/user.h"
#include "validate/slurm/operations.h"
#include "validate/slurm/undo/undo.h"

struct verify_run {
    const struct verify_setting *setting;
    const char *cluster;
    const struct intent_statement *statement; /* the current one */
    char name[64];                            /* of the reservation and of each job */
    struct undo undo;
    struct hostlist nodes;
    struct verify_capacity capacity;
    struct user *users; /* as intent's who; uid 0: not available, why[] says why */
    char (*why)[160];
};

static bool is_stopped(const struct verify_run *run)
{
    return *run->setting->stop != 0;
}

/* -------------------------------------------------------------------------- nodes */

/* Returns whether who's partition, else the default one, has the node. */
static bool is_in_partition(const struct verify_setting *setting, const struct intent_who *who,
                            const struct site_record *node)
{
    const struct site_record *partition = NULL;

    while (site_next(setting->site, CLUSTER_PARTITIONS, &partition)) {
        bool is_wanted = *who->partition
                             ? strcmp(site_value(partition, "PartitionName"), who->partition) == 0
                             : strcasecmp(site_value(partition, "Default"), "YES") == 0;

        if (is_wanted && !site_is_member(setting->site, partition, node))
            return false;
    }
    return true;
}

static bool is_in_all_partitions(const struct verify_setting *setting,
                                 const struct site_record *node)
{
    for (size_t i = 0; i < setting->intent->who_count; i++)
        if (!is_in_partition(setting, &setting->intent->who[i], node))
            return false;
    return true;
}

/* Lists the nodes that may be used: the given ones, or all nodes that are in every partition of the
 * Who= lines. Returns 0, or -1 with err. */
static int candidates(const struct verify_setting *setting, struct hostlist *list,
                      struct error *err)
{
    const struct site_record *node = NULL;
    int rv = 0;

    for (size_t i = 0; rv == 0 && i < setting->nodes.count; i++)
        if (!site_find(setting->site, CLUSTER_NODES, "NodeName", setting->nodes.names[i]))
            rv = error_set(err, "%s: no such node", setting->nodes.names[i]);
    while (rv == 0 && site_next(setting->site, CLUSTER_NODES, &node)) {
        const char *name = site_value(node, "NodeName");

        if (setting->nodes.count > 0 ? hostlist_contains(&setting->nodes, name)
                                     : is_in_all_partitions(setting, node))
            rv = hostlist_append(list, name) == 0 ? 0 : error_set(err, "no memory");
    }
    if (rv == 0 && list->count == 0)
        rv = error_set(err, "no node is in all partitions of the Who= lines; --nodes names some");
    if (rv != 0)
        hostlist_clear(list);
    return rv;
}

static void measure(const struct site *site, const struct hostlist *list,
                    struct verify_capacity *capacity)
{
    *capacity = (struct verify_capacity){.nodes = (long)list->count};
    for (size_t i = 0; i < list->count; i++) {
        const struct site_record *node = site_find(site, CLUSTER_NODES, "NodeName", list->names[i]);
        long cpus = node ? strtol(site_value(node, "CPUTot"), NULL, 10) : 0;

        if (i == 0 && node)
            snprintf(capacity->gres, sizeof capacity->gres, "%s", site_value(node, "Gres"));
        if (cpus > 0 && (capacity->cpus == 0 || cpus < capacity->cpus))
            capacity->cpus = cpus;
    }
    if (capacity->cpus == 0)
        capacity->cpus = 1;
}

int verify_measure(const struct verify_setting *setting, struct verify_capacity *capacity,
                   struct error *err)
{
    struct hostlist list = {0};

    if (candidates(setting, &list, err) != 0)
        return -1;
    measure(setting->site, &list, capacity);
    hostlist_clear(&list);
    return 0;
}

static struct verify_plan plan_of(const struct verify_run *run, size_t index)
{
    const struct intent_statement *statement = &run->setting->intent->statements[index];

    return statement->kind->plan(statement, &run->capacity);
}

/* Chooses as many free nodes as the statements need; if nodes were given, all of them, of which
 * none may be in use. Chooses none if no statement needs any. Returns 0, or -1 with err. */
static int choose(struct verify_run *run, struct error *err)
{
    const struct intent *intent = run->setting->intent;
    struct hostlist list = {0};
    struct cluster cluster = {0};
    size_t needed = 0;
    int rv = candidates(run->setting, &list, err);

    if (rv == 0)
        rv = operations_slurm.load_nodes(&cluster, err);
    if (rv == 0)
        measure(run->setting->site, &list, &run->capacity);
    for (size_t i = 0; i < intent->count; i++) {
        long nodes = plan_of(run, i).nodes;

        if (nodes != 0)
            needed = (size_t)fmax((double)needed, fmax(1, (double)nodes));
    }
    if (needed == 0)
        hostlist_clear(&list);
    for (size_t i = 0; rv == 0 && i < list.count; i++) {
        const struct cluster_node *node = cluster_node(&cluster, list.names[i]);
        bool is_free = node && !node->is_allocated && !node->is_completing && !node->is_down &&
                       !node->is_drained && node->is_responding && !node->is_reserved &&
                       !cluster_is_reserved_soon(node) && !node->is_waiting && !node->is_absent;

        if (!is_free && run->setting->nodes.count > 0)
            rv = error_set(err, "%s is %s%s; expected a node that is idle and in no reservation",
                           list.names[i], node ? node->state : "not known",
                           node && cluster_is_reserved_soon(node)
                               ? ", and a reservation begins there within the hour"
                               : "");
        else if (is_free && (run->nodes.count < needed || run->setting->nodes.count > 0))
            rv = hostlist_append(&run->nodes, list.names[i]) == 0 ? 0 : error_set(err, "no memory");
    }
    if (rv == 0 && needed > 0 && run->nodes.count == 0)
        rv = error_set(err, "no node is idle and in no reservation; try again, or name nodes that "
                            "will be, by --nodes");
    if (run->nodes.count > 0)
        measure(run->setting->site, &run->nodes, &run->capacity);
    cluster_clear(&cluster);
    hostlist_clear(&list);
    return rv;
}

/* -------------------------------------------------------------------------- begin and end */

static int users_find(struct verify_run *run, struct error *err)
{
    const struct intent *intent = run->setting->intent;
    struct error why = {""};

    run->users = calloc(intent->who_count, sizeof *run->users);
    run->why = calloc(intent->who_count, sizeof *run->why);
    if (!run->users || !run->why)
        return error_set(err, "no memory");
    for (size_t i = 0; i < intent->who_count; i++)
        if (user_find(intent->who[i].user, &run->users[i], &why) != 0) {
            run->users[i].uid = 0;
            text_put(run->why[i], sizeof run->why[i], "%s: %s", intent->who[i].user, why.text);
        }
    return 0;
}

/* Returns the names of the users that exist, each once, with commas; malloc'd. NULL if memory is
 * out. */
static char *users_list(const struct verify_run *run)
{
    char *text = NULL;
    size_t size, written = 0;
    FILE *stream = memory_stream(&text, &size);

    if (!stream)
        return NULL;
    for (size_t i = 0; i < run->setting->intent->who_count; i++) {
        bool is_new = run->users[i].uid != 0;

        for (size_t k = 0; k < i && is_new; k++)
            is_new = run->users[k].uid != run->users[i].uid;
        if (is_new)
            fprintf(stream, "%s%s", written++ ? "," : "", run->users[i].name);
    }
    fclose(stream);
    return text;
}

static int minutes_of(const struct verify_run *run)
{
    double most_s = 0;

    for (size_t i = 0; i < run->setting->intent->count; i++)
        most_s += plan_of(run, i).most_s;
    return (int)fmin(VERIFY_RESERVED_MOST_MIN, ceil(most_s / 60) + 10);
}

/* Opens the journal, notes in it what is made, jobs of each user and the reservation, and makes the
 * reservation. Returns 0, or -1 with err. */
static int begin(struct verify_run *run, struct error *err)
{
    const struct verify_setting *setting = run->setting;
    char *folded = hostlist_fold_for_slurm(&run->nodes), *users = users_list(run);
    int rv = folded && users ? 0 : error_set(err, "no memory");

    if (rv == 0)
        rv = undo_begin(&operations_slurm, setting->directory, run->name, run->cluster, &run->undo,
                        err);
    if (rv == 0 && *err->text) { /* nobody would clean up after the keeper */
        setting->on_leftover(err->text);
        *err->text = '\0';
    }
    for (size_t i = 0; rv == 0 && i < setting->intent->who_count; i++)
        if (run->users[i].uid != 0)
            rv = undo_note_job(&run->undo, run->name, run->users[i].uid, err);
    if (rv == 0)
        rv = undo_note_reservation(&run->undo, run->name, folded, err);
    if (rv == 0 && !is_stopped(run))
        rv = operations_slurm.reserve(run->name, folded, *users ? users : NULL, minutes_of(run),
                                      err);
    free(folded);
    free(users);
    return rv;
}

/* -------------------------------------------------------------------------- probes */

const struct verify_capacity *verify_capacity_of(const struct verify_run *run)
{
    return &run->capacity;
}

static void request_make(const struct verify_run *run, const struct intent_who *who,
                         struct probe_request *request)
{
    size_t index = (size_t)(who - run->setting->intent->who);

    *request = (struct probe_request){.name = run->name,
                                      .cluster = run->cluster,
                                      .user = &run->users[index],
                                      .account = who->account,
                                      .qos = who->qos,
                                      .partition = who->partition,
                                      .reservation = run->name,
                                      .node = "",
                                      .gres = "",
                                      .nodes = 1,
                                      .cpus = 1,
                                      .minutes = 1};
}

/* Returns whether the user exists; else seen->not_shown says what is wrong. */
static bool has_user(const struct verify_run *run, const struct intent_who *who,
                     struct verify_seen *seen)
{
    size_t index = (size_t)(who - run->setting->intent->who);

    if (run->users[index].uid == 0)
        text_put(seen->not_shown, sizeof seen->not_shown, "%s", run->why[index]);
    return run->users[index].uid != 0;
}

struct seen_job *verify_submit(struct verify_run *run, const struct intent_who *who,
                               const struct verify_ask *ask, struct verify_seen *seen)
{
    struct seen_job *job = &seen->jobs[seen->count];
    struct probe_request request;

    if (*seen->not_shown || !has_user(run, who, seen))
        return NULL;
    if (is_stopped(run) || seen->count == SEEN_JOBS) {
        snprintf(seen->not_shown, sizeof seen->not_shown, "it was stopped");
        return NULL;
    }
    request_make(run, who, &request);
    if (ask->reservation)
        request.reservation = ask->reservation;
    request.gres = ask->gres ? ask->gres : "";
    request.nodes = ask->nodes > 0 ? ask->nodes : 1;
    request.cpus = ask->cpus > 0 ? ask->cpus : request.nodes;
    request.minutes = ask->minutes;
    request.is_exclusive = ask->is_exclusive;
    request.node = ask->is_exclusive ? run->nodes.names[0] : "";
    request.is_later = ask->is_later;
    *job = (struct seen_job){.who = who, .submitted_s = NAN, .started_s = NAN};
    job->answer = probe_submit(&request, &job->id, job->message, sizeof job->message);
    seen->count++;
    return job;
}

static void job_query(struct seen_job *job)
{
    char *text = NULL;

    /* what was seen before stays where nothing is known now */
    if (job->id != 0 && !job->is_ended && cluster_show_job(job->id, &text, NULL) == 0)
        seen_job_read(text, job);
    free(text);
}

bool verify_wait(struct verify_run *run, double most_s, struct verify_seen *seen,
                 bool (*is_so)(const struct verify_seen *seen))
{
    double begin = clock_s();

    for (;;) {
        bool is_done;

        for (size_t i = seen->count; i-- > 0;) /* what a job has displaced is queried after it */
            job_query(&seen->jobs[i]);
        is_done = !is_so || is_so(seen);
        run->setting->on_doing(
            text_line("%s, %.0f s", run->statement->line->text, clock_s() - begin).text);
        if (is_done || clock_s() - begin > most_s || is_stopped(run))
            return is_done;
        usleep((useconds_t)(VERIFY_POLL_S * 1e6));
    }
}

bool verify_occupy(struct verify_run *run, const struct intent_who *who, int minutes,
                   struct verify_seen *seen)
{
    const struct verify_ask whole = {.minutes = minutes, .is_exclusive = true};
    const struct seen_job *job = verify_submit(run, who, &whole, seen);

    if (!job)
        return false;
    verify_wait(run, VERIFY_SETTLE_S, seen, seen_last_is_decided);
    if (!seen_is_running(job))
        text_put(seen->not_shown, sizeof seen->not_shown, "no job has the node first: %s",
                 seen_describe(job).text);
    return seen_is_running(job);
}

void verify_factors(struct seen_job *job)
{
    char *text = NULL;

    if (cluster_show_priority(job->id, &text, NULL) == 0)
        seen_factors_read(text, job);
    free(text);
}

static bool is_left(const struct verify_run *run)
{
    struct cluster_job *jobs = NULL;
    int count = operations_slurm.jobs(run->name, &jobs, NULL);

    free(jobs);
    return count != 0;
}

static bool first_is_over(const struct verify_seen *seen)
{
    return !seen_is_running(&seen->jobs[0]) && !seen_is_pending(&seen->jobs[0]);
}

void verify_end(struct verify_run *run, struct seen_job *job)
{
    struct verify_seen one = {.count = 1, .jobs = {*job}};

    if (job->id == 0)
        return;
    operations_slurm.job_cancel(job->id, NULL);
    verify_wait(run, VERIFY_END_S, &one, first_is_over);
    job->is_ended = true;
}

void verify_uncertified(struct verify_run *run, const struct intent_statement *statement,
                        struct verify_seen *seen)
{
    const struct site *site = run->setting->site;
    const struct intent_who *who = statement->who;
    const struct site_record *record = NULL;
    struct hostlist excluded = {0};
    struct seen_node *node = &seen->node;
    struct probe_request request;
    char first[sizeof node->name] = "", *folded = NULL;
    time_t start;
    int rv = 0;

    if (!has_user(run, who, seen))
        return;
    seen->has_gate = run->setting->has_gate || *site_config(site, "Prolog") ||
                     *site_config(site, "PrologSlurmctld");
    while (rv == 0 && site_next(site, CLUSTER_NODES, &record)) {
        const char *name = site_value(record, "NodeName");

        if (hostlist_contains(&run->setting->certified, name))
            rv = hostlist_append(&excluded, name);
        else if (is_in_partition(run->setting, who, record) && seen->node_count++ == 0)
            snprintf(first, sizeof first, "%s", name);
    }
    if (rv == 0 && seen->node_count > 0 && (folded = hostlist_fold_for_slurm(&excluded))) {
        request_make(run, who, &request);
        request.reservation = "";
        request.excluded = folded;
        node->answer =
            probe_would_start(&request, &start, node->name, node->message, sizeof node->message);
        node->after_s = difftime(start, time(NULL));
        if (node->answer != PROBE_ACCEPTED || node->after_s >= VERIFY_NEVER_S)
            memcpy(node->name, first, sizeof first);
    } else if (rv != 0 || seen->node_count > 0) {
        text_put(seen->not_shown, sizeof seen->not_shown, "out of memory");
    }
    free(folded);
    hostlist_clear(&excluded);
}

/* Cancels the jobs of the statement's probe, and waits until no limit counts them any more. */
static void finish(struct verify_run *run, struct verify_seen *seen)
{
    double begin = clock_s();

    for (size_t i = 0; i < seen->count; i++)
        if (seen->jobs[i].id != 0)
            operations_slurm.job_cancel(seen->jobs[i].id, NULL);
    while (seen->count > 0 && is_left(run) && clock_s() - begin < VERIFY_END_S && !is_stopped(run))
        usleep((useconds_t)(VERIFY_POLL_S * 1e6));
}

/* Counts the jobs that are in the cluster before the probe's. A limit is not tried if the
 * statement's user has one of them. */
static void count_others(const struct verify_run *run, struct verify_seen *seen)
{
    const struct intent_statement *statement = run->statement;
    size_t who = (size_t)(statement->who - run->setting->intent->who);
    struct cluster_job *jobs = NULL;
    int count = operations_slurm.jobs("", &jobs, NULL);

    seen->is_group_limited = site_is_group_limited(run->setting->site, statement->who->user);
    for (int i = 0; i < count; i++) {
        bool is_users = run->users[who].uid != 0 && jobs[i].uid == run->users[who].uid;

        seen->other_jobs++;
        if (is_users && statement->kind == &verify_limit)
            text_put(seen->not_shown, sizeof seen->not_shown,
                     "user %s has jobs, %u is one: a test user must have none",
                     statement->who->user, jobs[i].id);
    }
    if (count < 0)
        text_put(seen->not_shown, sizeof seen->not_shown, "the controller does not tell its jobs");
    free(jobs);
}

static void verify_one(struct verify_run *run, const struct intent_statement *statement)
{
    struct verify_result result = verify_not_shown("memory is out");
    long nodes = statement->kind->plan(statement, &run->capacity).nodes;
    struct verify_seen *seen = calloc(1, sizeof *seen);

    run->statement = statement;
    run->setting->on_doing(statement->line->text);
    if (seen) {
        count_others(run, seen);
        if (nodes < 0)
            text_put(seen->not_shown, sizeof seen->not_shown, "%s has no %s", run->nodes.names[0],
                     statement->tres);
        else if (nodes > (long)run->nodes.count)
            text_put(seen->not_shown, sizeof seen->not_shown,
                     "it needs %ld nodes, and %zu are reserved", nodes, run->nodes.count);
        if (!*seen->not_shown)
            statement->kind->probe(run, statement, seen);
        finish(run, seen);
        result = verify_judge(statement, seen);
    }
    if (!is_stopped(run))
        run->setting->on_result(statement, &result);
    free(seen);
}

/* Verifies those that need no nodes, or all others. */
static void verify_some(struct verify_run *run, bool need_nodes)
{
    for (size_t i = 0; i < run->setting->intent->count && !is_stopped(run); i++)
        if ((plan_of(run, i).nodes != 0) == need_nodes)
            verify_one(run, &run->setting->intent->statements[i]);
}

int verify_all(const struct verify_setting *setting, struct error *err)
{
    char cluster[256];
    struct verify_run run = {
        .setting = setting, .cluster = cluster, .undo = {.journal = -1, .keeper_pipe = -1}};
    struct error late = {""};
    int rv = operations_slurm.name(cluster, sizeof cluster, err), left;

    text_time(run.name, sizeof run.name, "policy-%Y%m%d-%H%M%S", time(NULL));
    snprintf(run.name + strlen(run.name), sizeof run.name - strlen(run.name), "-%d", getpid());
    if (rv == 0) {
        left = undo_clean_up(&operations_slurm, setting->directory, cluster, setting->on_leftover,
                             NULL, &late);
        if (left < 0)
            setting->on_leftover(late.text);
        rv = users_find(&run, err);
    }
    if (rv == 0)
        rv = choose(&run, err);
    if (rv == 0)
        verify_some(&run, false);
    if (rv == 0 && run.nodes.count > 0)
        rv = begin(&run, err);
    if (rv == 0)
        verify_some(&run, true);
    if (undo_end(&run.undo, setting->on_leftover, &late) != 0) {
        setting->on_leftover(late.text);
        rv = rv == 0 ? error_set(err, "%s", late.text) : rv;
    }
    hostlist_clear(&run.nodes);
    free(run.users);
    free(run.why);
    return rv;
}
