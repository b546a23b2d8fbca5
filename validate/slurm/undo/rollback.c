/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/undo/rollback.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/constants/slurm_constants.h"
#include "validate/slurm/batch.h"
#include "validate/slurm/operations.h"
#include "validate/slurm/revocation.h"
#include "validate/slurm/undo/journal.h"
#include "validate/slurm/undo/retest.h"

void rollback_report(const struct rollback *rollback, const char *format, ...)
{
    char text[400];

    if (!rollback->report)
        return;
    TEXT_FORMAT(text, sizeof text, format);
    rollback->report(text);
}

/* Sets down the nodes that keep the job completing. A node that answers again ends its job itself.
 * A node that somebody else drained or resumed meanwhile is skipped. */
static void silent_nodes_set_down(const struct rollback *rollback)
{
    const char *text = rollback->text;
    struct cluster cluster = {0};
    struct journal_entry entry;
    struct batch silent = {0};
    bool is_loaded = false;

    while (journal_next(&text, &entry)) {
        const struct cluster_node *node;

        if (strcmp(entry.verb, "down") != 0)
            continue;
        if (!is_loaded && rollback->operations->load_nodes(&cluster, NULL) != 0)
            return;
        is_loaded = true;
        node = cluster_node(&cluster, entry.name);
        if (node && node->is_completing && node->is_drained &&
            strcmp(node->reason, entry.rest) == 0)
            batch_add(&silent, entry.name, entry.rest);
    }
    batch_apply(&silent, rollback->operations->down, NULL, NULL, NULL);
    cluster_clear(&cluster);
}

/* Cancels the jobs of that name until none exists. With is_request_pending, also waits for a job
 * that slurmctld does not have yet. A silent node keeps its job completing: nodes in the journal
 * are set down; for other nodes, the wait ends after UNDO_COMPLETING_S. */
static int jobs_cancel(const struct rollback *rollback, const struct journal_entry *entry,
                       struct error *err)
{
    const char *name = entry->name;
    uid_t uid = *entry->rest ? (uid_t)strtoul(entry->rest, NULL, 10) : geteuid();
    double begin = clock_s(), canceled = 0;
    bool was_found = false, is_down = false;

    for (;;) {
        double queried_at = clock_s();
        struct cluster_job *jobs;
        int count = rollback->operations->jobs(name, &jobs, err), left = 0, alive = 0;

        for (int i = 0; i < count; i++) {
            if (strcmp(jobs[i].name, name) != 0 || (jobs[i].uid != geteuid() && jobs[i].uid != uid))
                continue;
            was_found = true;
            left++;
            if (!jobs[i].is_completing) {
                alive++;
                rollback->operations->job_cancel(jobs[i].id, err);
            }
        }
        free(jobs);
        if (count == 0 || (count > 0 && left == 0)) {
            if (was_found || !rollback->is_request_pending || clock_s() - begin > UNDO_LATE_S)
                return 0;
        } else if (clock_s() - begin > UNDO_GONE_S) {
            return count < 0 ? -1 : error_set(err, "job %s still exists", name);
        }
        if (left > 0 && alive == 0) {
            canceled = canceled > 0 ? canceled : clock_s();
            if (!is_down && clock_s() - canceled > UNDO_EPILOG_S) {
                silent_nodes_set_down(rollback);
                is_down = true;
            }
            if (clock_s() - canceled > UNDO_COMPLETING_S)
                return 0;
        }
        /* sleep as long as the query took, to limit the load on slurmctld */
        usleep((useconds_t)(1e6 * fmax(0.1, fmin(1, clock_s() - queried_at))));
    }
}

/* Reads the reservation's current nodes. *is_same: they are its original nodes. Returns 1, 0 if
 * there is none, or -1 with err. */
static int reservation_find(const struct rollback *rollback, const struct journal_entry *entry,
                            struct hostlist *nodes, bool *is_same, struct error *err)
{
    int found = rollback->operations->reservation(entry->name, nodes, NULL, err);
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

static int reservation_delete(const struct rollback *rollback, const struct journal_entry *entry,
                              struct error *err)
{
    double begin = clock_s();
    struct hostlist nodes = {0};

    for (;;) {
        bool is_same;
        int found = reservation_find(rollback, entry, &nodes, &is_same, err);
        char text[400];

        if (found == 1 && !is_same) {
            retest_print_reservation_changed(entry->name, &nodes, text);
            rollback_report(rollback, "%s", text);
            if (rollback->changed)
                hostlist_append(rollback->changed, entry->name);
        }
        hostlist_clear(&nodes);
        if (found == 0 || (found == 1 && !is_same) ||
            (found == 1 && rollback->operations->unreserve(entry->name, err) == 0))
            return 0;
        if (clock_s() - begin > UNDO_GONE_S)
            return -1;
        usleep(200000);
    }
}

/* The nodes of the run's reservations. */
struct reserved {
    struct hostlist unchanged; /* of reservations that nobody changed */
    struct hostlist all;       /* of all reservations that exist */
    bool has_reservation;      /* a reservation exists */
};

static int reserved_add(const struct hostlist *nodes, struct hostlist *reserved, struct error *err)
{
    return hostlist_append_all(reserved, (const char *const *)nodes->names, nodes->count) == 0
               ? 0
               : error_set(err, "no memory");
}

static int reserved_read(const struct rollback *rollback, struct reserved *reserved,
                         struct error *err)
{
    const char *line = rollback->text;
    struct journal_entry entry;
    int rv = 0;

    while (rv == 0 && journal_next(&line, &entry)) {
        struct hostlist nodes = {0};
        bool is_same;
        int found;

        if (strcmp(entry.verb, "reservation") != 0)
            continue;
        found = reservation_find(rollback, &entry, &nodes, &is_same, err);
        reserved->has_reservation |= found == 1;
        rv = found < 0 ? -1 : reserved_add(&nodes, &reserved->all, err);
        if (rv == 0 && is_same)
            rv = reserved_add(&nodes, &reserved->unchanged, err);
        hostlist_clear(&nodes);
    }
    return rv;
}

/* The drains to restore. A node's mark is removed only after the node is drained. */
struct restoring {
    const char *run; /* as in struct rollback */
    struct cluster cluster;
    struct reserved reserved;
    struct batch drains, comments;
    struct error *err;
    int rv;
};

/* Returns whether the node has this run's mark. Another run's mark means that the other run cleaned
 * up already and tests the node now. */
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
static bool is_unchanged(const struct restoring *restoring, const struct cluster_node *node,
                         const char *reason, char why[400])
{
    const struct reserved *reserved = &restoring->reserved;

    if (reserved->has_reservation && !hostlist_contains(&reserved->all, node->name)) {
        retest_print_node_removed(node->name, why);
        return false;
    }
    snprintf(why, 400, "%.200s left unchanged: it is in service without the run's mark",
             node->name);
    return is_marked(restoring, node) || hostlist_contains(&reserved->unchanged, node->name) ||
           strcmp(node->reason, reason) == 0;
}

/* Drains a node again if its test did not complete. */
static void drain_restore(const struct rollback *rollback, const struct journal_entry *entry,
                          struct restoring *restoring)
{
    const struct cluster_node *node = cluster_node(&restoring->cluster, entry->name);
    char why[400];

    if (!node)
        return;
    if (!node->is_drained && is_unchanged(restoring, node, entry->rest, why)) {
        if (batch_add(&restoring->drains, entry->name, entry->rest) != 0)
            restoring->rv = error_set(restoring->err, "no memory");
        return;
    }
    if (!node->is_drained)
        rollback_report(rollback, "%s", why);
    unmark_add(restoring, node);
}

static int drains_restore(const struct rollback *rollback, struct error *err)
{
    struct restoring restoring = {.run = rollback->run, .err = err};
    const char *line = rollback->text;
    bool is_loaded = false;
    struct journal_entry entry;

    while (journal_next(&line, &entry)) {
        if (strcmp(entry.verb, "resume") != 0 || journal_has(rollback->text, "settled", entry.name))
            continue;
        if (!is_loaded && (rollback->operations->load_nodes(&restoring.cluster, err) != 0 ||
                           reserved_read(rollback, &restoring.reserved, err) != 0)) {
            restoring.rv = -1;
            break;
        }
        is_loaded = true;
        drain_restore(rollback, &entry, &restoring);
    }
    if (batch_apply(&restoring.drains, rollback->operations->drain, drain_done, &restoring, err) !=
            0 ||
        batch_apply(&restoring.comments, rollback->operations->set_comment, NULL, NULL, err) != 0)
        restoring.rv = -1;
    batch_clear(&restoring.comments);
    hostlist_clear(&restoring.reserved.unchanged);
    hostlist_clear(&restoring.reserved.all);
    cluster_clear(&restoring.cluster);
    return restoring.rv;
}

/* Revokes the noted certificates. A revocation up to a later time stays. */
static int certificates_revoke(const struct rollback *rollback, struct error *err)
{
    struct cluster cluster = {0};
    struct batch comments = {0};
    const char *line = rollback->text;
    bool is_loaded = false;
    struct journal_entry entry;
    int rv = 0;

    while (rv == 0 && journal_next(&line, &entry)) {
        time_t until = (time_t)strtoll(entry.rest, NULL, 10);
        const struct cluster_node *node;
        const char *comment;
        char *revoked;

        if (strcmp(entry.verb, "revoke") != 0 || journal_has(rollback->text, "revoked", entry.name))
            continue;
        if (!is_loaded && rollback->operations->load_nodes(&cluster, err) != 0)
            return -1;
        is_loaded = true;
        node = cluster_node(&cluster, entry.name);
        comment = node && node->comment ? node->comment : "";
        if (!node || revocation_read(comment) >= until)
            continue;
        revoked = revocation_set(comment, until);
        if (!revoked || batch_add(&comments, entry.name, revoked) != 0)
            rv = error_set(err, "no memory");
        rollback_report(rollback, "%s: certificate revoked, as noted by the run", entry.name);
        free(revoked);
    }
    if (batch_apply(&comments, rollback->operations->set_comment, NULL, NULL, err) != 0)
        rv = -1;
    batch_clear(&comments);
    cluster_clear(&cluster);
    return rv;
}

/* Undoes each entry of the journal that has the verb. */
static int entries_undo(const struct rollback *rollback, const char *verb, struct error *err)
{
    const char *line = rollback->text;
    struct journal_entry entry;
    int rv = 0;

    while (journal_next(&line, &entry))
        if (strcmp(entry.verb, verb) == 0 &&
            (strcmp(verb, "job") == 0 ? jobs_cancel(rollback, &entry, err)
                                      : reservation_delete(rollback, &entry, err)) != 0)
            rv = -1;
    return rv;
}

int rollback_run(const struct rollback *rollback, struct error *err)
{
    int rv = entries_undo(rollback, "job", err);

    if (certificates_revoke(rollback, err) != 0 || drains_restore(rollback, err) != 0)
        return -1;
    return entries_undo(rollback, "reservation", err) != 0 ? -1 : rv;
}
