/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/choose/suspects.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/grow.h"
#include "validate/certify/step/certify_step.h"
#include "validate/claims/claims.h"
#include "validate/history/node_status.h"
#include "validate/slurm/labels.h"
#include "validate/slurm/ran.h"
#include "validate/slurm/reach.h"
#include "validate/slurm/step.h"

/* What users' preflights and strikes hold against nodes: a reason to test these again, and no more.
 */

enum {
    PARTNERS = 2,
    REACH_S = 4,
    WAIT_S = 10,
    COLLECT_S = 30,
    REMOVE_S = 20,
    GRACE_S = 3,
    SUSPECTS_OF_USER = 16,
    DAY_S = 86400
};

static bool is_claim(const struct record *record)
{
    return record_code(record) == FAULT_NODE_REPORTED && record->verdict == VERDICT_WARN &&
           record->node;
}

/* The claims as they come in, and whether Slurm knows of them. */
struct heard {
    struct certify *certify;
    struct ran *asked; /* strings are the records' */
    size_t count;
    struct hostlist nodes; /* of the tasks */
    struct labels labels;
};

/* A node's claims count as its own only, whatever it says: those of jobs that ran there. */
static bool is_accepted(struct heard *heard, long task, const struct record *record)
{
    struct certify *certify = heard->certify;
    const char *node = heard->nodes.names[task];

    if (record->peer && strcmp(record->peer, node) == 0)
        return true;
    if (certify->refused_records++ == 0)
        snprintf(certify->refused_node, sizeof certify->refused_node, "%s", node);
    return false;
}

/* Whose it is stands in its run; as a record it is one of this run. */
static void claim_hear(struct heard *heard, struct record *record)
{
    struct ran *asked = grow(heard->asked, heard->count, sizeof *asked);
    struct ran claim = {.node = record->node, .holder = record->peer, .at = (time_t)record->time};
    unsigned job, uid;

    if (!asked)
        return;
    heard->asked = asked;
    if (!record->run || sscanf(record->run, CLAIM_RUN, &job, &uid) != 2)
        job = uid = 0; /* Slurm knows no such job */
    claim.job_id = job;
    claim.uid = uid;
    asked[heard->count++] = claim;
    record->run = NULL;
}

static void hear(const char *line, bool is_error, void *context)
{
    struct heard *heard = context;
    struct certify *certify = heard->certify;
    struct record *record;
    const char *text;
    long task;

    if (is_error) {
        complaint_add(&certify->complaint, labels_skip(&heard->labels, line));
        return;
    }
    task = labels_take(&heard->labels, line, &text);
    if (task >= 0 && records_parse(&certify->records, text) == 0) {
        record = &certify->records.items[certify->records.count - 1];
        if (!is_accepted(heard, task, record)) {
            certify->records.count--;
            return;
        }
        if (is_claim(record))
            claim_hear(heard, record);
        else if (catalog_is_metric(record->metric, METRIC_OVERFLOW) && record->message)
            certify_note(certify, "%s: %s", record->node ? record->node : "?", record->message);
        if (certify->json)
            record_write(certify->json, record);
    }
}

/* Of the subjects those that are free and answer; a claim on another waits. */
static void readers_find(struct certify *certify, struct hostlist *names)
{
    struct cluster_node **nodes = calloc(certify->count + 1, sizeof(*nodes));
    struct reach *answers = calloc(certify->count + 1, sizeof *answers);
    size_t count = 0;
    struct error err;

    for (size_t i = 0; nodes && i < certify->count; i++)
        if (certify->subjects[i].plan.role == ROLE_TEST && !certify->subjects[i].slurm->is_waiting)
            nodes[count++] = certify->subjects[i].slurm;
    if (nodes && answers &&
        certify->operations->reach_nodes(nodes, count, REACH_S, &certify_stop, answers, &err) == 0)
        for (size_t i = 0; i < count; i++)
            if (answers[i].state == REACH_ANSWERS)
                hostlist_append(names, nodes[i]->name);
    free(nodes);
    free(answers);
}

/* Reads the claims of those nodes by a small job on them. Returns 0, or -1 with err. */
static int claims_collect(struct certify *certify, const struct hostlist *names,
                          struct heard *heard, struct error *err)
{
    const struct cluster_partition *partition =
        plan_partition(&certify->cluster, certify->options.partition,
                       (const char *const *)names->names, names->count);
    struct arguments program = {0};
    struct process_result result;
    int rv;

    if (certify_task_nodes(certify, names, &heard->nodes) != 0 ||
        labels_make(&heard->nodes, &heard->labels) != 0)
        return error_set(err, "no memory for the claims of %zu nodes", names->count);
    step_muster(&program, "claim", "--json", NULL);
    rv = certify->operations->step_run_on(names, partition ? partition->name : NULL, WAIT_S, true,
                                          program.argv,
                                          &(struct process){.deadline_s = COLLECT_S,
                                                            .grace_s = GRACE_S,
                                                            .on_line = hear,
                                                            .context = heard,
                                                            .stop = &certify_stop},
                                          &result, err);
    arguments_clear(&program);
    if (rv == 0 && (result.end != PROCESS_EXITED || result.status != 0))
        rv = error_set(err, "the claims of %zu nodes could not be read: %s", names->count,
                       *result.complaint.text ? result.complaint.text : "no answer in time");
    return rv;
}

static bool is_holder(const struct certify *certify, const char *name)
{
    for (size_t i = 0; i < certify->records.count; i++) {
        const struct record *record = &certify->records.items[i];

        if (is_claim(record) && record->peer && strcmp(record->peer, name) == 0)
            return true;
    }
    return false;
}

static int leaf_of(const struct certify *certify, const char *name)
{
    const struct cluster_node *node = cluster_node(&certify->cluster, name);

    return node ? node->leaf : -1;
}

/* One partner on each leaf switch that has a suspect, as the path between leaves may be what is at
 * fault; then those that keep a claim about another, as it is taken away at the end only where it
 * is; then others, until there are enough. */
static void partners_find(const struct certify *certify, const struct hostlist *readers,
                          const struct hostlist *suspects, struct hostlist *partners)
{
    for (size_t k = 0; k < suspects->count; k++) {
        int leaf = leaf_of(certify, suspects->names[k]);
        bool has_one = leaf < 0;

        for (size_t i = 0; i < partners->count && !has_one; i++)
            has_one = leaf_of(certify, partners->names[i]) == leaf;
        for (size_t i = 0; i < readers->count && !has_one; i++) {
            const char *name = readers->names[i];

            has_one = leaf_of(certify, name) == leaf && !hostlist_contains(suspects, name);
            if (has_one)
                hostlist_append(partners, name);
        }
    }
    for (int is_any = 0; is_any < 2; is_any++)
        for (size_t i = 0; i < readers->count && (!is_any || partners->count < PARTNERS); i++) {
            const char *name = readers->names[i];

            if ((is_any || is_holder(certify, name)) && !hostlist_contains(suspects, name) &&
                !hostlist_contains(partners, name))
                hostlist_append(partners, name);
        }
}

void certify_keep(struct certify *certify, const struct hostlist *others,
                  const struct hostlist *wanted)
{
    struct hostlist partners = {0};
    size_t kept = 0;

    if (wanted->count > 0)
        partners_find(certify, others, wanted, &partners);
    for (size_t i = 0; i < certify->count; i++) {
        struct subject subject = certify->subjects[i];

        subject.is_partner = hostlist_contains(&partners, subject.name);
        if (subject.is_partner || hostlist_contains(wanted, subject.name))
            certify->subjects[kept++] = subject;
    }
    certify->count = kept;
    hostlist_clear(&partners);
}

/* Those against which there are strikes of earlier runs. */
struct struck {
    struct certify *certify;
    struct hostlist *suspects;
};

static void struck_add(const char *node, const char *message, void *context)
{
    const struct struck *struck = context;

    for (size_t i = 0; i < struck->certify->count; i++) {
        const struct subject *subject = &struck->certify->subjects[i];

        if (strcmp(subject->name, node) == 0 && subject->plan.role == ROLE_TEST &&
            !hostlist_contains(struck->suspects, node)) {
            certify_note(struck->certify, "%s: %s", node, message);
            hostlist_append(struck->suspects, node);
        }
    }
}

/* A node that is tested because of a claim. */
struct asked_for {
    const char *node, *message;
    unsigned uid;
};

/* What users have had tested. */
struct tally {
    struct user_tally {
        unsigned uid;
        int tested; /* nodes, today: by the runs before and this one */
    } * users;
    size_t user_count;
    struct asked_for *nodes; /* of this run */
    size_t node_count;
};

/* Without memory or history the user has had nothing. NULL: no memory. */
static struct user_tally *tally_of(struct certify *certify, struct tally *tally, unsigned uid)
{
    struct user_tally *users;
    struct error err;
    int tested;

    for (size_t i = 0; i < tally->user_count; i++)
        if (tally->users[i].uid == uid)
            return &tally->users[i];
    users = grow(tally->users, tally->user_count, sizeof *users);
    if (!users)
        return NULL;
    tally->users = users;
    tested = node_status_tested(certify->conf.history_path, uid, (double)time(NULL) - DAY_S, &err);
    if (tested < 0)
        certify_note(certify, "what was tested for user %u today is not known: %s", uid, err.text);
    users[tally->user_count] = (struct user_tally){uid, tested < 0 ? 0 : tested};
    return &users[tally->user_count++];
}

/* Returns whether the node is to be tested for that user, of whose claims no more than some a day
 * are, over all runs; then it is counted. */
static bool tally_take(struct certify *certify, struct tally *tally, const struct asked_for *asked)
{
    struct user_tally *user = tally_of(certify, tally, asked->uid);
    struct asked_for *nodes = grow(tally->nodes, tally->node_count, sizeof *nodes);

    if (nodes)
        tally->nodes = nodes;
    if (!nodes || !user || user->tested >= SUSPECTS_OF_USER)
        return false;
    user->tested++;
    nodes[tally->node_count++] = *asked;
    return true;
}

/* The next runs count by these records. */
static void tally_record(struct certify *certify, struct tally *tally)
{
    for (size_t i = 0; i < tally->node_count; i++) {
        struct record record = RECORD_INIT;

        record.suite = "certify";
        record.test = "preflight.claims";
        record.metric = "user";
        record.node = tally->nodes[i].node;
        record.value = tally->nodes[i].uid;
        record.unit = "1";
        record.verdict = VERDICT_WARN;
        record.message = tally->nodes[i].message;
        certify_record(certify, &record);
    }
    free(tally->users);
    free(tally->nodes);
}

/* Makes suspects of the nodes that believed claims are about. */
static void claims_weigh(struct certify *certify, struct heard *heard, size_t first,
                         struct hostlist *suspects)
{
    size_t at = 0, doubted = 0, beyond = 0;
    unsigned uid = 0, beyond_uid = 0;
    struct tally tally = {0};

    for (size_t i = first; i < certify->records.count && at < heard->count; i++) {
        const struct record *record = &certify->records.items[i];
        const char *message = record->message ? record->message : "";
        const struct cluster_node *node;
        const struct ran *asked;
        bool is_subject = false;

        if (!is_claim(record))
            continue;
        asked = &heard->asked[at++];
        node = cluster_node(&certify->cluster, record->node);
        if (!node || !ran_is_true(asked)) {
            uid = doubted++ == 0 ? (unsigned)asked->uid : uid;
            continue;
        }
        if (hostlist_contains(suspects, node->name))
            continue; /* one of a node is enough */
        for (size_t k = 0; k < certify->count; k++)
            is_subject |= strcmp(certify->subjects[k].name, node->name) == 0;
        if (!is_subject) {
            certify_note(certify, "%s: %s; it is not free and waits", node->name, message);
        } else if (!tally_take(certify, &tally,
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
                     "%zu claims not believed, the first of user %u: Slurm knows no such job of "
                     "that user on the node and its holder then",
                     doubted, uid);
    if (beyond > 0)
        certify_note(
            certify,
            "%zu claims wait, the first of user %u: no more than %d nodes a day are tested "
            "for one user",
            beyond, beyond_uid, SUSPECTS_OF_USER);
}

int certify_suspects(struct certify *certify, struct error *err)
{
    struct hostlist readers = {0}, suspects = {0};
    struct heard heard = {.certify = certify};
    size_t first = certify->records.count;
    int rv = 0;

    progress_begin(&certify->progress, "suspects");
    progress_doing(&certify->progress, "reading the claims on the free nodes");
    readers_find(certify, &readers);
    if (readers.count > 0)
        rv = claims_collect(certify, &readers, &heard, err);
    if (rv == 0)
        rv = ran_query(heard.asked, heard.count, err);
    if (rv == 0)
        claims_weigh(certify, &heard, first, &suspects);
    free(heard.asked);
    labels_clear(&heard.labels);
    hostlist_clear(&heard.nodes);
    if (rv == 0)
        rv = node_status_suspects(certify->conf.history_path,
                                  (double)time(NULL) - (double)certify->conf.strike_window_s,
                                  struck_add, &(struct struck){certify, &suspects}, err) < 0
                 ? -1
                 : 0;
    if (rv == 0) {
        char *folded = hostlist_fold(&suspects);

        certify_keep(certify, &readers, &suspects);
        progress_end(&certify->progress, VERDICT_NONE, "%zu of %zu free nodes%s%s", suspects.count,
                     readers.count, suspects.count ? ": " : "", folded ? folded : "");
        free(folded);
    }
    hostlist_clear(&readers);
    hostlist_clear(&suspects);
    return rv;
}

/* The claims about those nodes ("n[1-2]") from all that answer. */
static void claims_take_away(struct certify *certify, const char *about,
                             const struct hostlist *answering)
{
    struct arguments program = {0};
    struct error err;
    size_t first;

    step_muster(&program, "claim", "--json", NULL);
    arguments_add(&program, "--remove=%s", about);
    if (certify_muster(certify,
                       &(struct certify_step){
                           .stage = STAGE_CERTIFICATE, .nodes = answering, .deadline_s = REMOVE_S},
                       &program, &first, &err) != 0)
        certify_note(certify, "the claims were not taken away: %s", err.text);
}

void certify_consume(struct certify *certify)
{
    struct hostlist tested = {0}, answering = {0};
    bool is_any = false;
    char *folded;

    for (size_t i = 0; i < certify->count; i++) {
        const struct subject *subject = &certify->subjects[i];

        if (outcome_tested(&subject->outcome) != VERDICT_UNKNOWN)
            hostlist_append(&tested, subject->name);
        if (certify_is_held(subject))
            hostlist_append(&answering, subject->name);
    }
    for (size_t i = 0; i < certify->records.count; i++)
        is_any |= is_claim(&certify->records.items[i]) &&
                  hostlist_contains(&tested, certify->records.items[i].node);
    folded = hostlist_fold(&tested);
    if (is_any && folded && answering.count > 0 && certify->job_id != 0 &&
        !certify->options.is_dry_run)
        claims_take_away(certify, folded, &answering);
    free(folded);
    hostlist_clear(&tested);
    hostlist_clear(&answering);
}
