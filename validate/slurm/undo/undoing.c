/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/undo/undoing.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/constants/slurm_constants.h"
#include "validate/slurm/batch.h"
#include "validate/slurm/operations.h"
#include "validate/slurm/undo/retest.h"
#include "validate/slurm/revocation.h"
#include "validate/slurm/undo/journal.h"

void undoing_report(const struct undoing *undoing, const char *format, ...)
{
    char text[400];
    va_list arguments;

    if (!undoing->report)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    undoing->report(text);
}

/* Sets silent nodes down. Those that answer again by now end their job themselves, and a node that
 * somebody else has drained or resumed since is left alone. */
static void silent_down(const struct undoing *undoing)
{
    const char *text = undoing->text;
    struct cluster cluster = {0};
    struct journal_entry entry;
    struct batch silent = {0};
    bool is_loaded = false;

    while (journal_next(&text, &entry)) {
        const struct cluster_node *node;

        if (strcmp(entry.verb, "down") != 0)
            continue;
        if (!is_loaded && undoing->operations->load_nodes(&cluster, NULL) != 0)
            return;
        is_loaded = true;
        node = cluster_node(&cluster, entry.name);
        if (node && node->is_completing && node->is_drained &&
            strcmp(node->reason, entry.rest) == 0)
            batch_add(&silent, entry.name, entry.rest);
    }
    batch_apply(&silent, undoing->operations->down, NULL, NULL, NULL);
    cluster_clear(&cluster);
}

/* Cancels the jobs of that name until none is left. With is_late, waits for one that is still to
 * come. A node that does not answer keeps a job completing: nodes that the journal names are set
 * down then; for another, the wait ends after UNDO_COMPLETING_S. */
static int jobs_undo(const struct undoing *undoing, const struct journal_entry *entry,
                     struct error *err)
{
    const char *name = entry->name;
    uid_t uid = *entry->rest ? (uid_t)strtoul(entry->rest, NULL, 10) : geteuid();
    double begin = clock_s(), canceled = 0;
    bool is_seen = false, is_down = false;

    for (;;) {
        double asked = clock_s();
        struct cluster_job *jobs;
        int count = undoing->operations->jobs(name, &jobs, err), left = 0, alive = 0;

        for (int i = 0; i < count; i++) {
            if (strcmp(jobs[i].name, name) != 0 || (jobs[i].uid != geteuid() && jobs[i].uid != uid))
                continue;
            is_seen = true;
            left++;
            if (!jobs[i].is_completing) {
                alive++;
                undoing->operations->job_cancel(jobs[i].id, err);
            }
        }
        free(jobs);
        if (count == 0 || (count > 0 && left == 0)) {
            if (is_seen || !undoing->is_late || clock_s() - begin > UNDO_LATE_S)
                return 0;
        } else if (clock_s() - begin > UNDO_GONE_S) {
            return count < 0 ? -1 : error_set(err, "job %s still exists", name);
        }
        if (left > 0 && alive == 0) {
            canceled = canceled > 0 ? canceled : clock_s();
            if (!is_down && clock_s() - canceled > UNDO_EPILOG_S) {
                silent_down(undoing);
                is_down = true;
            }
            if (clock_s() - canceled > UNDO_COMPLETING_S)
                return 0;
        }
        /* a controller with very many jobs takes its time for them: it is given as much to rest */
        usleep((useconds_t)(1e6 * fmax(0.1, fmin(1, clock_s() - asked))));
    }
}

/* Looks up the reservation, and its present nodes. *is_same: whether these are the nodes that it
 * was made with. Returns 1, 0 if there is none, or -1 with err. */
static int reservation_find(const struct undoing *undoing, const struct journal_entry *entry,
                            struct hostlist *nodes, bool *is_same, struct error *err)
{
    int found = undoing->operations->reservation(entry->name, nodes, NULL, err);
    char *folded = found == 1 ? hostlist_fold_for_slurm(nodes) : NULL, mark[24];

    *is_same = false;
    if (found != 1)
        return found;
    if (folded) {
        journal_mark(folded, mark);
        *is_same = strcmp(mark, entry->rest) == 0;
    } else {
        found = error_set(err, "no memory");
        hostlist_clear(nodes);
    }
    free(folded);
    return found;
}

static int reservation_undo(const struct undoing *undoing, const struct journal_entry *entry,
                            struct error *err)
{
    double begin = clock_s();
    struct hostlist nodes = {0};

    for (;;) {
        bool is_same;
        int found = reservation_find(undoing, entry, &nodes, &is_same, err);
        char text[400];

        if (found == 1 && !is_same) {
            retest_reservation_changed(entry->name, &nodes, text);
            undoing_report(undoing, "%s", text);
            if (undoing->changed)
                hostlist_append(undoing->changed, entry->name);
        }
        hostlist_clear(&nodes);
        if (found == 0 || (found == 1 && !is_same) ||
            (found == 1 && undoing->operations->unreserve(entry->name, err) == 0))
            return 0;
        if (clock_s() - begin > UNDO_GONE_S)
            return -1;
        usleep(200000);
    }
}

/* The nodes of the run's reservations. */
struct held {
    struct hostlist whole; /* of the reservations that nobody has changed */
    struct hostlist now;   /* of all reservations that exist */
    bool is_any;           /* a reservation exists */
};

static int held_add(const struct hostlist *nodes, struct hostlist *held, struct error *err)
{
    return hostlist_append_all(held, (const char *const *)nodes->names, nodes->count) == 0
               ? 0
               : error_set(err, "no memory");
}

static int held_find(const struct undoing *undoing, struct held *held, struct error *err)
{
    const char *line = undoing->text;
    struct journal_entry entry;
    int rv = 0;

    while (rv == 0 && journal_next(&line, &entry)) {
        struct hostlist nodes = {0};
        bool is_same;
        int found;

        if (strcmp(entry.verb, "reservation") != 0)
            continue;
        found = reservation_find(undoing, &entry, &nodes, &is_same, err);
        held->is_any |= found == 1;
        rv = found < 0 ? -1 : held_add(&nodes, &held->now, err);
        if (rv == 0 && is_same)
            rv = held_add(&nodes, &held->whole, err);
        hostlist_clear(&nodes);
    }
    return rv;
}

static void held_clear(struct held *held)
{
    hostlist_clear(&held->whole);
    hostlist_clear(&held->now);
}

/* What is to be restored: drains first; a mark is removed only once the node has its drain. */
struct restoring {
    const char *run; /* as in struct undoing */
    struct cluster cluster;
    struct held held;
    struct batch drains, comments;
    struct error *err;
    int rv;
};

/* Returns whether the node has the run's own mark. With that of another run, that run tests the
 * node now: it has cleaned up after this one before. */
static bool is_marked(const struct restoring *restoring, const struct cluster_node *node)
{
    char run[64];

    return retest_read(node, run, NULL) && strcmp(run, restoring->run) == 0;
}

static void unmark_add(struct restoring *restoring, const struct cluster_node *node)
{
    if (is_marked(restoring, node) &&
        retest_unmark(node, &restoring->comments, restoring->err) != 0)
        restoring->rv = -1;
}

static void drain_done(const char *name, const char *reason, const struct error *err, void *context)
{
    struct restoring *restoring = context;

    (void)reason;
    if (!err)
        unmark_add(restoring, cluster_node(&restoring->cluster, name));
}

/* Returns whether a node in service is still as the run left it; why: the message if it is not. */
static bool is_left(const struct restoring *restoring, const struct cluster_node *node,
                    const char *reason, char why[400])
{
    const struct held *held = &restoring->held;

    if (held->is_any && !hostlist_contains(&held->now, node->name)) {
        retest_node_freed(node->name, why);
        return false;
    }
    snprintf(why, 400, "%.200s left unchanged: it is in service without the run's mark",
             node->name);
    return is_marked(restoring, node) || hostlist_contains(&held->whole, node->name) ||
           strcmp(node->reason, reason) == 0;
}

/* Drains a node again that was to be tested and did not get that far. */
static void node_undo(const struct undoing *undoing, const struct journal_entry *entry,
                      struct restoring *restoring)
{
    const struct cluster_node *node = cluster_node(&restoring->cluster, entry->name);
    char why[400];

    if (!node)
        return;
    if (!node->is_drained && is_left(restoring, node, entry->rest, why)) {
        if (batch_add(&restoring->drains, entry->name, entry->rest) != 0)
            restoring->rv = error_set(restoring->err, "no memory");
        return;
    }
    if (!node->is_drained)
        undoing_report(undoing, "%s", why);
    unmark_add(restoring, node);
}

static int nodes_undo(const struct undoing *undoing, struct error *err)
{
    struct restoring restoring = {.run = undoing->run, .err = err};
    const char *line = undoing->text;
    bool is_loaded = false;
    struct journal_entry entry;

    while (journal_next(&line, &entry)) {
        if (strcmp(entry.verb, "resume") != 0 || journal_has(undoing->text, "settled", entry.name))
            continue;
        if (!is_loaded && (undoing->operations->load_nodes(&restoring.cluster, err) != 0 ||
                           held_find(undoing, &restoring.held, err) != 0)) {
            restoring.rv = -1;
            break;
        }
        is_loaded = true;
        node_undo(undoing, &entry, &restoring);
    }
    if (batch_apply(&restoring.drains, undoing->operations->drain, drain_done, &restoring, err) !=
            0 ||
        batch_apply(&restoring.comments, undoing->operations->set_comment, NULL, NULL, err) != 0)
        restoring.rv = -1;
    batch_clear(&restoring.comments);
    held_clear(&restoring.held);
    cluster_clear(&restoring.cluster);
    return restoring.rv;
}

/* Revokes what was to be revoked; what has been revoked up to a later time stays so. */
static int revocations_make(const struct undoing *undoing, struct error *err)
{
    struct cluster cluster = {0};
    struct batch comments = {0};
    const char *line = undoing->text;
    bool is_loaded = false;
    struct journal_entry entry;
    int rv = 0;

    while (rv == 0 && journal_next(&line, &entry)) {
        time_t until = (time_t)strtoll(entry.rest, NULL, 10);
        const struct cluster_node *node;
        const char *comment;
        char *revoked;

        if (strcmp(entry.verb, "revoke") != 0 || journal_has(undoing->text, "revoked", entry.name))
            continue;
        if (!is_loaded && undoing->operations->load_nodes(&cluster, err) != 0)
            return -1;
        is_loaded = true;
        node = cluster_node(&cluster, entry.name);
        comment = node && node->comment ? node->comment : "";
        if (!node || revocation_read(comment) >= until)
            continue;
        revoked = revocation_put(comment, until);
        if (!revoked || batch_add(&comments, entry.name, revoked) != 0)
            rv = error_set(err, "no memory");
        undoing_report(undoing, "%s: its certificate is revoked, as the run meant to", entry.name);
        free(revoked);
    }
    if (batch_apply(&comments, undoing->operations->set_comment, NULL, NULL, err) != 0)
        rv = -1;
    batch_clear(&comments);
    cluster_clear(&cluster);
    return rv;
}

/* Undoes each entry of the journal that has the verb. */
static int each_undo(const struct undoing *undoing, const char *verb, struct error *err)
{
    const char *line = undoing->text;
    struct journal_entry entry;
    int rv = 0;

    while (journal_next(&line, &entry))
        if (strcmp(entry.verb, verb) == 0 &&
            (strcmp(verb, "job") == 0 ? jobs_undo(undoing, &entry, err)
                                      : reservation_undo(undoing, &entry, err)) != 0)
            rv = -1;
    return rv;
}

int undoing_run(const struct undoing *undoing, struct error *err)
{
    int rv = each_undo(undoing, "job", err);

    if (revocations_make(undoing, err) != 0 || nodes_undo(undoing, err) != 0)
        return -1;
    return each_undo(undoing, "reservation", err) != 0 ? -1 : rv;
}
