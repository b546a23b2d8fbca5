/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/undo/retest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "validate/slurm/undo/journal.h"

static const char opening[] = "[muster ";

/* Returns the length of the site's text. *mark: where the mark begins; NULL: there is none. */
static size_t site_length(const char *comment, const char **mark)
{
    size_t length = strlen(comment);
    const char *found = NULL;

    for (const char *at = comment; (at = strstr(at, opening)); at++)
        found = at;
    if (length == 0 || comment[length - 1] != ']')
        found = NULL;
    *mark = found;
    if (found)
        length = (size_t)(found - comment);
    if (found && length > 0 && comment[length - 1] == ' ')
        length--;
    return length;
}

static const char *comment_of(const struct cluster_node *node)
{
    return node->comment ? node->comment : "";
}

int retest_mark(const struct cluster_node *node, const char *run, struct batch *comments,
                struct error *err)
{
    const char *comment = comment_of(node), *mark;
    int length = (int)site_length(comment, &mark), rv;
    char *text;

    if (asprintf(&text, "%.*s%s%s%s: %s]", length, comment, length > 0 ? " " : "", opening, run,
                 node->reason) < 0)
        return error_set(err, "no memory");
    rv = batch_add(comments, node->name, text);
    free(text);
    return rv == 0 ? 0 : error_set(err, "no memory");
}

int retest_unmark(const struct cluster_node *node, struct batch *comments, struct error *err)
{
    const char *comment = comment_of(node), *mark;
    char *text = strndup(comment, site_length(comment, &mark));
    int rv = text ? batch_add(comments, node->name, text) : -1;

    free(text);
    return rv == 0 ? 0 : error_set(err, "no memory");
}

bool retest_read(const struct cluster_node *node, char run[64], char reason[256])
{
    const char *mark, *colon;

    (void)site_length(comment_of(node), &mark);
    colon = mark ? strstr(mark, ": ") : NULL;
    if (!colon)
        return false;
    mark += strlen(opening);
    if (run)
        snprintf(run, 64, "%.*s", (int)(colon - mark), mark);
    if (reason)
        snprintf(reason, 256, "%.*s", (int)strlen(colon + 2) - 1, colon + 2);
    return true;
}

/* ---------------------------------------------------------------- dead runs */

bool retest_is_job_of(const struct cluster_job *job, const char *run, uid_t battery_uid)
{
    bool is_inside = strncmp(job->reservation, CLUSTER_RUN, strlen(CLUSTER_RUN)) == 0 &&
                     strcmp(job->reservation + strlen(CLUSTER_RUN), run) == 0;

    return strncmp(job->name, CLUSTER_RUN_JOB, strlen(CLUSTER_RUN_JOB)) == 0 &&
           strcmp(job->name + strlen(CLUSTER_RUN_JOB), run) == 0 &&
           (job->uid == 0 || job->uid == battery_uid || is_inside);
}

static bool has_job(const char *run, uid_t battery_uid, const struct cluster_job *jobs, int count)
{
    for (int i = 0; i < count; i++)
        if (retest_is_job_of(&jobs[i], run, battery_uid))
            return true;
    return false;
}

/* Removes a run; the last one moves to its index. */
static void run_remove(struct hostlist *runs, size_t index)
{
    free(runs->names[index]);
    runs->names[index] = runs->names[--runs->count];
}

/* Finds the runs that have a reservation or a mark, but neither a job nor a locked journal. Returns
 * 0, or -1 with err. */
static int dead_runs_find(const struct cluster_operations *operations,
                          const struct cluster *cluster, const char *directory, uid_t battery_uid,
                          struct hostlist *runs, struct error *err)
{
    struct cluster_job *jobs = NULL;
    int count = 0;

    *runs = (struct hostlist){0};
    hostlist_append_all(runs, (const char *const *)cluster->runs.names, cluster->runs.count);
    for (size_t i = 0; i < cluster->node_count; i++) {
        char run[64];

        if (retest_read(&cluster->nodes[i], run, NULL) && !hostlist_contains(runs, run))
            hostlist_append(runs, run);
    }
    if (runs->count > 0)
        count = operations->jobs(CLUSTER_RUN_JOB, &jobs, err);
    if (count < 0) {
        hostlist_clear(runs);
        return -1;
    }
    for (size_t i = runs->count; i-- > 0;)
        if (has_job(runs->names[i], battery_uid, jobs, count) ||
            journal_is_locked(directory, runs->names[i]))
            run_remove(runs, i);
    free(jobs);
    return 0;
}

void retest_print_reservation_changed(const char *reservation, const struct hostlist *nodes,
                                      char text[400])
{
    char *folded = hostlist_fold_for_slurm(nodes);

    snprintf(text, 400,
             "reservation %.80s left unchanged: it contains %.60s now, not the run's nodes; it "
             "ends by itself, or the next run deletes it once it is an hour old; next: scontrol "
             "delete reservation=%.80s",
             reservation, folded ? folded : "other nodes", reservation);
    free(folded);
}

void retest_print_node_removed(const char *node, char text[400])
{
    snprintf(text, 400,
             "%.200s left unchanged: it was removed from the run's reservation meanwhile", node);
}

void retest_exclude(struct cluster *cluster, const struct hostlist *reservations)
{
    struct hostlist *runs = &cluster->runs;

    for (size_t i = runs->count; i-- > 0;) {
        char reservation[96];

        snprintf(reservation, sizeof reservation, CLUSTER_RUN "%.63s", runs->names[i]);
        if (hostlist_contains(reservations, reservation))
            run_remove(runs, i);
    }
}

/* The cleanup after a dead run. */
struct cleanup {
    const struct cluster_operations *operations;
    char reservation[96];
    bool has_reservation;   /* the reservation exists */
    struct hostlist nodes;  /* of the reservation; owned */
    time_t since;           /* when the reservation began; 0: it ends by itself */
    size_t marked, removed; /* nodes with the mark; of these, no longer in the reservation */
    void (*report)(const char *text);
};

/* Drains a marked node again and removes its mark. A node that somebody removed from the
 * reservation only loses its mark. */
static int node_restore(struct cleanup *cleanup, const struct cluster_node *node,
                        const char *reason, struct batch *drains, struct batch *comments,
                        struct error *err)
{
    bool is_removed = cleanup->has_reservation && !hostlist_contains(&cleanup->nodes, node->name);
    char text[400];

    cleanup->marked++;
    cleanup->removed += is_removed;
    if (is_removed && !node->is_drained) {
        retest_print_node_removed(node->name, text);
        cleanup->report(text);
    } else if (!node->is_drained && batch_add(drains, node->name, reason) != 0) {
        return error_set(err, "no memory");
    }
    return retest_unmark(node, comments, err);
}

/* Deletes the run's reservation if this is safe. A run that lifts drains has an endless
 * reservation. It is deleted if it holds all marked nodes, or if no node is marked and it is an
 * hour old. Any other reservation was changed by somebody, or ends by itself. */
static int reservation_clean_up(const struct cleanup *cleanup, struct error *err)
{
    bool is_abandoned = cleanup->since != 0 && time(NULL) - cleanup->since >= RETEST_UNMARKED_S;
    char text[400];

    if (!cleanup->has_reservation)
        return 0;
    if (cleanup->marked > 0 ? cleanup->removed == 0 : is_abandoned)
        return cleanup->operations->unreserve(cleanup->reservation, err);
    if (cleanup->marked > 0)
        retest_print_reservation_changed(cleanup->reservation, &cleanup->nodes, text);
    else
        snprintf(text, sizeof text,
                 "reservation %.95s left unchanged: no node has its run's mark, and it %s; next: "
                 "scontrol delete reservation=%.95s",
                 cleanup->reservation,
                 cleanup->since == 0 ? "ends by itself" : "began less than an hour ago",
                 cleanup->reservation);
    cleanup->report(text);
    return 0;
}

static int run_clean_up(const struct cluster_operations *operations, const struct cluster *cluster,
                        const char *run, void (*report)(const char *text), struct error *err)
{
    struct cleanup cleanup = {operations, .report = report};
    struct batch drains = {0}, comments = {0};
    char text[400];
    int rv;

    snprintf(text, sizeof text, "cleaning up after run %.63s, whose job is gone", run);
    report(text);
    snprintf(cleanup.reservation, sizeof cleanup.reservation, CLUSTER_RUN "%.63s", run);
    rv = operations->reservation(cleanup.reservation, &cleanup.nodes, &cleanup.since, err);
    cleanup.has_reservation = rv == 1;
    rv = rv < 0 ? -1 : 0;
    for (size_t i = 0; rv == 0 && i < cluster->node_count; i++) {
        char name[64], reason[256];

        if (retest_read(&cluster->nodes[i], name, reason) && strcmp(name, run) == 0)
            rv = node_restore(&cleanup, &cluster->nodes[i], reason, &drains, &comments, err);
    }
    /* if one node cannot be drained, all nodes keep their marks for the next run */
    if (rv == 0)
        rv = batch_apply(&drains, operations->drain, NULL, NULL, err);
    if (rv == 0)
        rv = batch_apply(&comments, operations->set_comment, NULL, NULL, err);
    batch_clear(&drains);
    batch_clear(&comments);
    if (rv == 0)
        rv = reservation_clean_up(&cleanup, err);
    hostlist_clear(&cleanup.nodes);
    return rv;
}

/* Returns a hash of the nodes that these runs marked, and of whether they are drained. It changes
 * while a run without a job yet lifts drains. */
static uint64_t marks_hash(const struct cluster *cluster, const struct hostlist *runs)
{
    uint64_t hash = HASH_BEGIN;

    for (size_t i = 0; i < cluster->node_count; i++) {
        const struct cluster_node *node = &cluster->nodes[i];
        char run[64];

        if (retest_read(node, run, NULL) && hostlist_contains(runs, run))
            hash = hash_text(hash_text(hash, node->name), node->is_drained ? " " : "\n");
    }
    return hash;
}

int retest_clean_up(const struct cluster_operations *operations, const struct cluster *cluster,
                    const char *directory, uid_t battery_uid, double confirm_s,
                    const volatile sig_atomic_t *stop, void (*report)(const char *text),
                    struct error *err)
{
    struct hostlist suspects, runs = {0};
    struct cluster now = {0};
    double begin = clock_s();
    int rv = dead_runs_find(operations, cluster, directory, battery_uid, &suspects, err), count = 0;
    uint64_t marks = marks_hash(cluster, &suspects), marks_now;

    if (rv != 0 || suspects.count == 0) {
        hostlist_clear(&suspects);
        return rv;
    }
    while (rv == 0 && !*stop) { /* a run is dead only if it stays unchanged for confirm_s */
        rv = operations->load_nodes(&now, err) == 0
                 ? dead_runs_find(operations, &now, directory, battery_uid, &runs, err)
                 : -1;
        marks_now = marks_hash(&now, &suspects);
        if (marks_now != marks)
            begin = clock_s();
        marks = marks_now;
        for (size_t i = rv == 0 ? suspects.count : 0; i-- > 0;)
            if (!hostlist_contains(&runs, suspects.names[i])) {
                run_remove(&suspects, i);
                marks = marks_hash(&now, &suspects);
            }
        if (suspects.count == 0 || clock_s() - begin >= confirm_s)
            break;
        hostlist_clear(&runs);
        cluster_clear(&now);
        sleep(1);
    }
    for (size_t i = 0; rv == 0 && !*stop && i < suspects.count; i++, count++)
        rv = run_clean_up(operations, &now, suspects.names[i], report, err);
    hostlist_clear(&suspects);
    hostlist_clear(&runs);
    cluster_clear(&now);
    return rv == 0 ? count : -1;
}
