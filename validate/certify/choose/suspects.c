/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/choose/suspects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/grow.h"
#include "lib/constants/certify_constants.h"
#include "validate/certify/report/run_records.h"
#include "validate/certify/step/certify_step.h"
#include "validate/certify/step/record_source.h"
#include "validate/history/node_status.h"
#include "validate/policy/plan.h"
#include "validate/policy/quick_failures.h"
#include "validate/slurm/job/ended.h"
#include "validate/slurm/step/job_match.h"
#include "validate/slurm/step/node_lines.h"
#include "validate/slurm/step/reach.h"
#include "validate/slurm/step/step.h"
#include "validate/suspects/suspect_reports.h"

/* Suspects that users' preflights, strikes or the ends of jobs name. These are a reason to test the
 * nodes again, and no more. */

static bool is_suspect_report(const struct record *record)
{
    return catalog_is_test(record->test, TEST_PREFLIGHT_SUSPECTS) &&
           record_code(record) == FAULT_NODE_REPORTED && record->verdict == VERDICT_WARN &&
           record->node;
}

/* The suspect reports that were read, and whether Slurm knows their jobs. */
struct collected {
    struct certify *certify;
    struct job_match *asked; /* strings are the records' */
    size_t count;
    bool is_any_read; /* the reports of some partition were read */
    struct node_lines lines;
    struct record_source *sources; /* one for each node of lines */
    const struct cluster_partition *partition;
    const char **names;     /* the nodes to query in it */
    struct hostlist unread; /* ... that could not be read, and why */
    struct error why;
};

/* Returns whether the node holds the report: it may only report about jobs that ran there. */
static bool is_own(const struct record *record, const char *node)
{
    return record->peer && strcmp(record->peer, node) == 0;
}

/* Adds a suspect report. The job and user of the report are in record->run, which is cleared: as a
 * record it belongs to this run. */
static void report_add(struct collected *collected, size_t index, struct record *record)
{
    struct job_match report = {
        .node = record->node, .holder = record->peer, .at = (time_t)record->time};
    unsigned job, uid;

    if (!GROW(collected->asked, collected->count))
        return;
    if (!record->run || sscanf(record->run, SUSPECT_REPORT_RUN, &job, &uid) != 2)
        job = uid = 0; /* Slurm knows no such job */
    report.job_id = job;
    report.uid = uid;
    collected->asked[collected->count++] = report;
    record->run = NULL;
    (void)records_change(&collected->certify->records, index, record);
}

static void take_line(size_t task, const char *node, const char *line, void *context)
{
    struct collected *collected = context;

    (void)node;
    (void)record_source_add(collected->certify, &collected->sources[task], STAGE_REACH, line);
}

/* Adds the suspect reports that the nodes of a step wrote to the records since first. */
static void reports_add(struct collected *collected, size_t first)
{
    struct certify *certify = collected->certify;

    for (size_t i = first; i < certify->records.count; i++) {
        struct record record = *RECORD_AT(&certify->records, i);

        if (!catalog_is_test(record.test, TEST_PREFLIGHT_SUSPECTS))
            continue; /* the run's own records are written already */
        if (is_suspect_report(&record))
            report_add(collected, i, &record);
        else if (catalog_is_metric(record.metric, METRIC_OVERFLOW) && record.message)
            certify_note(certify, "%s: %s", record.node ? record.node : "?", record.message);
        if (certify->json)
            record_write(certify->json, &record);
    }
}

/* Finds the free nodes of the run that answer; suspect reports on other nodes wait. */
static void readers_find(struct certify *certify, struct hostlist *names)
{
    struct cluster_node **nodes = calloc(certify->count + 1, sizeof(*nodes));
    struct reach *answers = calloc(certify->count + 1, sizeof *answers);
    size_t count = 0;
    struct error err;

    for (size_t i = 0; nodes && i < certify->count; i++)
        if (certify->node_runs[i].plan.role == ROLE_TEST &&
            !certify->node_runs[i].slurm->is_waiting)
            nodes[count++] = certify->node_runs[i].slurm;
    if (nodes && answers &&
        certify->operations->reach_nodes(nodes, count, CERTIFY_REACH_S, &certify_stop, answers,
                                         &err) == 0)
        for (size_t i = 0; i < count; i++)
            if (answers[i].state == REACH_ANSWERS)
                hostlist_append(names, nodes[i]->name);
    free(nodes);
    free(answers);
}

/* Reads the suspect reports of these nodes by a small job on them. Returns 0; 1 with err if srun
 * has given up and left no job there; else -1 with err. */
static int reports_read(struct collected *collected, const struct hostlist *names,
                        struct error *err)
{
    struct certify *certify = collected->certify;
    struct arguments program = {0};
    struct process_result result;
    int rv;

    if (node_lines_begin(&certify->cluster, names, take_line, collected, &collected->lines) != 0 ||
        !(collected->sources = record_sources_make(&collected->lines.nodes, is_own)))
        return error_set(err, "out of memory for the suspect reports of %zu nodes", names->count);
    step_add_muster(&program, "suspects", "--json", NULL);
    rv = certify->operations->step_run_on(
        names, collected->partition ? collected->partition->name : NULL, SUSPECTS_WAIT_S,
        program.argv,
        &(struct process){.deadline_s = certify_deadline_s(SUSPECTS_COLLECT_S, names->count),
                          .grace_s = CERTIFY_GRACE_S,
                          .on_line = node_lines_read,
                          .context = &collected->lines,
                          .stop = &certify_stop},
        &result, err);
    arguments_clear(&program);
    if (rv != 0 || (result.end == PROCESS_EXITED && result.status == 0))
        return rv;
    error_set(err, "%s",
              *collected->lines.error_line.text ? collected->lines.error_line.text
                                                : "no answer within the time limit");
    return result.end == PROCESS_EXITED ? 1 : -1;
}

/* Drops the nodes that others use by now; their suspect reports wait. A node on which a job
 * completes is kept, as the job may be ours. Returns how many are left, which come first. */
static size_t taken_drop(const struct certify *certify, const char **names, size_t count)
{
    struct cluster now;
    size_t left = 0;

    if (certify->operations->load_nodes(&now, NULL) != 0)
        return count;
    for (size_t i = 0; i < count; i++) {
        const struct cluster_node *node = cluster_node(&now, names[i]);
        const char *name = names[i];
        struct plan plan;

        if (node)
            plan_node(node, true, false, &plan);
        if (node && plan.role != ROLE_TEST && !node->is_completing)
            continue;
        names[i] = names[left];
        names[left++] = name;
    }
    cluster_clear(&now);
    return left;
}

/* Reads the suspect reports of a group of nodes. If that fails, what was read is dropped, as the
 * group's halves are queried again. Returns how many nodes to query again, which come first. */
static size_t group_collect(size_t first, size_t count, bool is_last, void *context)
{
    struct collected *collected = context;
    struct certify *certify = collected->certify;
    const char **names = collected->names + first;
    size_t known = certify->records.count;
    struct hostlist group = {0};
    int rv;

    if (certify_stop)
        return 0;
    rv = hostlist_append_all(&group, names, count) == 0
             ? reports_read(collected, &group, &collected->why)
             : error_set(&collected->why, "out of memory for %zu nodes", count);
    node_lines_end(&collected->lines);
    free(collected->sources);
    collected->sources = NULL;
    hostlist_clear(&group);
    if (rv != 0 && !is_last)
        certify->records.count = known;
    reports_add(collected, known);
    collected->is_any_read |= rv == 0;
    if (rv >= 0)
        count = rv == 0 ? 0 : taken_drop(certify, names, count);
    for (size_t i = 0; is_last && i < count; i++)
        hostlist_append(&collected->unread, names[i]);
    return count;
}

/* Reads the suspect reports of one partition, as a job is in one. What cannot be read is left to a
 * later run: strikes and quick failures count without it, but the run does not pass. Partitions
 * that are down, which come last, are so on purpose: they prevent a pass only if nothing else was
 * read. */
static void partition_collect(const struct cluster_partition *partition,
                              const struct hostlist *names, void *context)
{
    struct collected *collected = context;
    struct certify *certify = collected->certify;

    if (!partition && names->count > 0) {
        certify->has_unread |= !collected->is_any_read;
        certify_note(certify,
                     "cannot read the suspect reports of %zu nodes: none of their partitions is up",
                     names->count);
        return;
    }
    collected->partition = partition;
    collected->names = calloc(names->count + 1, sizeof *collected->names);
    for (size_t i = 0; collected->names && i < names->count; i++)
        collected->names[i] = names->names[i];
    if (collected->names) {
        step_query_by_halves(names->count, group_collect, collected);
    } else {
        certify->has_unread = true;
        certify_note(certify, "out of memory for the suspect reports of %zu nodes", names->count);
    }
    if (collected->unread.count > 0) {
        certify->has_unread = true;
        certify_note(certify, "cannot read the suspect reports of %s: %s",
                     hostlist_text(&collected->unread).text, collected->why.text);
    }
    free(collected->names);
    hostlist_clear(&collected->unread);
}

/* Finds the nodes that hold a suspect report. */
static void holders_find(const struct certify *certify, struct hostlist *holders)
{
    for (size_t i = 0; i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);

        if (is_suspect_report(record) && record->peer)
            hostlist_append(holders, record->peer);
    }
}

static int leaf_of(const struct certify *certify, const char *name)
{
    const struct cluster_node *node = cluster_node(&certify->cluster, name);

    return node ? node->leaf : -1;
}

/* Adds one partner on each leaf switch that has a suspect, as the path between leaves may be at
 * fault. */
static void leaf_partners_find(const struct certify *certify, const struct hostlist *readers,
                               const struct hostlist *suspects, const struct name_index *is_suspect,
                               struct hostlist *partners)
{
    const char **first = calloc(certify->cluster.leaf_count + 1, sizeof *first); /* of each leaf */

    for (size_t i = 0; first && i < readers->count; i++) {
        int leaf = leaf_of(certify, readers->names[i]);

        if (leaf >= 0 && !first[leaf] && !name_index_has(is_suspect, readers->names[i]))
            first[leaf] = readers->names[i];
    }
    for (size_t k = 0; first && k < suspects->count; k++) {
        int leaf = leaf_of(certify, suspects->names[k]);

        if (leaf < 0 || !first[leaf])
            continue;
        hostlist_append(partners, first[leaf]);
        first[leaf] = NULL; /* one is enough */
    }
    free(first);
}

/* Adds partners: nodes of the suspects' leaf switches, then the nodes that hold a suspect report,
 * as it can be removed only there, then others until there are enough. */
static void partners_find(const struct certify *certify, const struct hostlist *readers,
                          const struct hostlist *suspects, struct hostlist *partners)
{
    struct name_index is_suspect = {0}, is_holder = {0};
    struct hostlist holders = {0};

    holders_find(certify, &holders);
    if (hostlist_index(suspects, &is_suspect) == 0 && hostlist_index(&holders, &is_holder) == 0)
        leaf_partners_find(certify, readers, suspects, &is_suspect, partners);
    for (int is_any = 0; is_any < 2 && is_suspect.size > 0; is_any++)
        for (size_t i = 0; i < readers->count && (!is_any || partners->count < SUSPECTS_PARTNERS);
             i++) {
            const char *name = readers->names[i];

            if ((is_any || name_index_has(&is_holder, name)) &&
                !name_index_has(&is_suspect, name) && !hostlist_contains(partners, name))
                hostlist_append(partners, name);
        }
    name_index_clear(&is_suspect);
    name_index_clear(&is_holder);
    hostlist_clear(&holders);
}

void certify_restrict_to(struct certify *certify, const struct cluster_partition *partition,
                         const struct hostlist *others, const struct hostlist *wanted)
{
    struct hostlist tested = {0}, partners = {0}, eligible = {0};
    struct name_index is_wanted = {0}, is_partner = {0};
    size_t kept = 0;

    if (hostlist_index(wanted, &is_wanted) != 0)
        certify_note(certify, "out of memory for %zu nodes", wanted->count);
    for (size_t i = 0; i < certify->count; i++)
        if (role_is_testable(certify->node_runs[i].plan.role) &&
            name_index_has(&is_wanted, certify->node_runs[i].name))
            hostlist_append(&tested, certify->node_runs[i].name);
    if (tested.count > 0) {
        if (!partition)
            partition = plan_partition(&certify->cluster, certify->options.partition,
                                       (const char *const *)tested.names, tested.count);
        /* partners of another partition could outvote the nodes to be tested */
        if (partition)
            hostlist_split(others, &partition->nodes, &eligible, NULL);
        partners_find(certify, partition ? &eligible : others, &tested, &partners);
    }
    (void)hostlist_index(&partners, &is_partner); /* without memory there are none */
    for (size_t i = 0; i < certify->count; i++) {
        struct node_run node_run = certify->node_runs[i];

        node_run.is_partner = name_index_has(&is_partner, node_run.name);
        if (node_run.is_partner || name_index_has(&is_wanted, node_run.name))
            certify->node_runs[kept++] = node_run;
    }
    certify->count = kept;
    name_index_clear(&is_partner);
    name_index_clear(&is_wanted);
    hostlist_clear(&tested);
    hostlist_clear(&partners);
    hostlist_clear(&eligible);
}

/* Adds as suspects the nodes with strikes of earlier runs or quick job failures. */
struct struck {
    struct certify *certify;
    struct hostlist *suspects;
};

static void struck_add(const char *node, const char *message, void *context)
{
    const struct struck *struck = context;

    for (size_t i = 0; i < struck->certify->count; i++) {
        const struct node_run *node_run = &struck->certify->node_runs[i];

        if (strcmp(node_run->name, node) == 0 && node_run->plan.role == ROLE_TEST &&
            !hostlist_contains(struck->suspects, node)) {
            certify_note(struck->certify, "%s: %s", node, message);
            hostlist_append(struck->suspects, node);
        }
    }
}

/* A node that is tested because of a suspect report. */
struct asked_for {
    const char *node, *message;
    unsigned uid;
};

/* How many nodes were tested for which user. */
struct tally {
    struct user_tally {
        unsigned uid;
        int tested; /* nodes tested today, by earlier runs and this one */
    } * users;
    size_t user_count;
    struct asked_for *nodes; /* of this run */
    size_t node_count;
};

/* Returns the user's tally; NULL if memory is out. If the history cannot be read, it starts at 0.
 */
static struct user_tally *tally_of(struct certify *certify, struct tally *tally, unsigned uid)
{
    struct error err;
    int tested;

    for (size_t i = 0; i < tally->user_count; i++)
        if (tally->users[i].uid == uid)
            return &tally->users[i];
    if (!GROW(tally->users, tally->user_count))
        return NULL;
    tested = node_status_tested(certify->conf.history_path, uid,
                                (double)time(NULL) - SUSPECTS_DAY_S, &err);
    if (tested < 0)
        certify_note(certify, "cannot read today's tests for user %u: %s", uid, err.text);
    tally->users[tally->user_count] = (struct user_tally){uid, tested < 0 ? 0 : tested};
    return &tally->users[tally->user_count++];
}

/* Returns whether the node is to be tested for the user, and counts it then. Over all runs, at most
 * SUSPECTS_OF_USER nodes a day are tested for a user. */
static bool tally_admit(struct certify *certify, struct tally *tally, const struct asked_for *asked)
{
    struct user_tally *user = tally_of(certify, tally, asked->uid);

    if (!GROW(tally->nodes, tally->node_count) || !user || user->tested >= SUSPECTS_OF_USER)
        return false;
    user->tested++;
    tally->nodes[tally->node_count++] = *asked;
    return true;
}

/* Records which nodes were tested for whom: the next runs count by these records. */
static void tally_record(struct certify *certify, struct tally *tally)
{
    for (size_t i = 0; i < tally->node_count; i++)
        certify_record(
            certify, RECORD(.suite = "certify", .test = "preflight.suspects", .metric = "user",
                            .node = tally->nodes[i].node, .value = tally->nodes[i].uid, .unit = "1",
                            .verdict = VERDICT_WARN, .message = tally->nodes[i].message));
    free(tally->users);
    free(tally->nodes);
}

/* Makes suspects of the nodes named in suspect reports whose jobs Slurm knows. */
static void reports_evaluate(struct certify *certify, struct collected *collected, size_t first,
                             struct hostlist *suspects)
{
    size_t at = 0, doubted = 0, beyond = 0;
    unsigned uid = 0, beyond_uid = 0;
    struct tally tally = {0};

    for (size_t i = first; i < certify->records.count && at < collected->count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);
        const char *message = text_of(record->message);
        const struct cluster_node *node;
        const struct job_match *asked;
        bool is_in_run = false;

        if (!is_suspect_report(record))
            continue;
        asked = &collected->asked[at++];
        node = cluster_node(&certify->cluster, record->node);
        if (!node || !job_match_is_confirmed(asked)) {
            uid = doubted++ == 0 ? (unsigned)asked->uid : uid;
            continue;
        }
        if (hostlist_contains(suspects, node->name))
            continue; /* one of a node is enough */
        for (size_t k = 0; k < certify->count; k++)
            is_in_run |= strcmp(certify->node_runs[k].name, node->name) == 0;
        if (!is_in_run) {
            certify_note(certify, "%s: %s; not free, a later run tests it", node->name, message);
        } else if (!tally_admit(certify, &tally,
                                &(struct asked_for){node->name, message, (unsigned)asked->uid})) {
            beyond_uid = beyond++ == 0 ? (unsigned)asked->uid : beyond_uid;
        } else {
            certify_note(certify, "%s: %s", node->name, message);
            hostlist_append(suspects, node->name);
        }
    }
    tally_record(certify, &tally);
    if (doubted > 0)
        certify_note(certify,
                     "%zu suspect report%s ignored, the first of user %u: Slurm knows no such job "
                     "of that user at that time",
                     doubted, text_plural(doubted), uid);
    if (beyond > 0)
        certify_note(certify,
                     "%zu suspect report%s kept for later, the first of user %u: at most %d nodes "
                     "a day are tested for one user",
                     beyond, text_plural(beyond), beyond_uid, SUSPECTS_OF_USER);
}

/* Adds the nodes where the jobs of several users fail as soon as they begin. */
static int quick_failures_evaluate(struct certify *certify, struct hostlist *suspects,
                                   struct error *err)
{
    struct ended_job *jobs;
    size_t count;
    int rv = ended_jobs_load(&jobs, &count, err);

    if (rv == 0 &&
        quick_failures_find(jobs, count, struck_add, &(struct struck){certify, suspects}) < 0)
        rv = error_set(err, "no memory");
    ended_jobs_free(jobs, count);
    return rv;
}

int certify_suspects(struct certify *certify, struct error *err)
{
    struct hostlist readers = {0}, suspects = {0};
    struct collected collected = {.certify = certify};
    size_t first = certify->records.count;
    int rv = 0;

    progress_begin(&certify->progress, "suspects");
    progress_doing(&certify->progress, "reading the suspect reports on the free nodes");
    readers_find(certify, &readers);
    if (certify->options.partition)
        partition_collect(plan_partition(&certify->cluster, certify->options.partition, NULL, 0),
                          &readers, &collected);
    else if (plan_report_partitions(&certify->cluster, &readers, partition_collect, &collected) !=
             0)
        rv = error_set(err, "out of memory for the suspect reports of %zu nodes", readers.count);
    if (rv == 0)
        rv = job_match_query(collected.asked, collected.count, err);
    if (rv == 0)
        reports_evaluate(certify, &collected, first, &suspects);
    free(collected.asked);
    if (rv == 0)
        rv = node_status_suspects(certify->conf.history_path, certify->cluster.name,
                                  (double)time(NULL) - (double)certify->conf.strike_window_s,
                                  struck_add, &(struct struck){certify, &suspects}, err) < 0
                 ? -1
                 : 0;
    if (rv == 0)
        rv = quick_failures_evaluate(certify, &suspects, err);
    if (rv == 0) {
        certify_restrict_to(certify, NULL, &readers, &suspects);
        progress_end(&certify->progress, VERDICT_NONE, "%zu of %zu free nodes%s%s", suspects.count,
                     readers.count, suspects.count ? ": " : "", hostlist_text(&suspects).text);
    }
    hostlist_clear(&readers);
    hostlist_clear(&suspects);
    return rv;
}

/* Removes the suspect reports about these nodes ("n[1-2]") from all nodes that answer. */
static void reports_remove(struct certify *certify, const char *about,
                           const struct hostlist *answering)
{
    struct arguments program = {0};
    struct error err;
    size_t first;

    step_add_muster(&program, "suspects", "--json", NULL);
    arguments_add(&program, "--remove=%s", about);
    if (certify_muster(certify,
                       &(struct certify_step){
                           .stage = STAGE_CERTIFICATE,
                           .nodes = answering,
                           .deadline_s = certify_deadline_s(SUSPECTS_REMOVE_S, answering->count)},
                       &program, &first, &err) != 0)
        certify_note(certify, "cannot remove the suspect reports: %s", err.text);
}

void certify_consume(struct certify *certify)
{
    struct hostlist tested = {0}, answering = {0};
    struct name_index is_tested = {0};
    bool is_any = false;
    char *folded;

    for (size_t i = 0; i < certify->count; i++) {
        const struct node_run *node_run = &certify->node_runs[i];

        if (outcome_tested(&node_run->outcome) != VERDICT_UNKNOWN)
            hostlist_append(&tested, node_run->name);
        if (certify_is_available(node_run))
            hostlist_append(&answering, node_run->name);
    }
    (void)hostlist_index(&tested, &is_tested); /* without memory the reports stay */
    for (size_t i = 0; i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);

        is_any |= is_suspect_report(record) && name_index_has(&is_tested, record->node);
    }
    name_index_clear(&is_tested);
    folded = hostlist_fold(&tested);
    if (is_any && folded && answering.count > 0 && certify->job_id != 0 &&
        !certify->options.is_dry_run)
        reports_remove(certify, folded, &answering);
    free(folded);
    hostlist_clear(&tested);
    hostlist_clear(&answering);
}
