/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/undo/retest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lib/base/text.h"
#include "tests/unit/tap.h"

/* Tests the mark of a lifted drain, and what a later run does with a mark that was left. */

static const char *reserved = "n[1-3]"; /* NULL: no reservation */
static time_t reserved_since;           /* when it began; 0: it has an end */
static char operations_text[1000], job_name[64], job_reservation[64];
static uid_t job_uid;
static struct cluster_node nodes[3];
static int loads;             /* of the nodes, so far */
static void (*at_load)(void); /* what the other run does meanwhile */
static const char *journals = "/none";
static double wait_s; /* for another run that lifts drains */
static volatile sig_atomic_t stop;

static void add_operation(const char *what, const char *name)
{
    text_join(operations_text, sizeof operations_text, "", "%s %s;", what, name);
}

static int set_comment(const char *name, const char *comment, struct error *err)
{
    add_operation(comment, name);
    return 0;
}

static void cluster_make(struct cluster *cluster)
{
    *cluster = (struct cluster){.nodes = nodes, .node_count = 3};
    hostlist_append(&cluster->runs, "20261120-1");
}

static int load_nodes(struct cluster *cluster, struct error *err)
{
    loads++;
    if (at_load)
        at_load();
    cluster_make(cluster);
    return 0;
}

void cluster_clear(struct cluster *cluster)
{
    hostlist_clear(&cluster->runs);
}

static int drain(const char *name, const char *reason, struct error *err)
{
    add_operation(reason, name);
    return 0;
}

static int unreserve(const char *name, struct error *err)
{
    add_operation("unreserve", name);
    return 0;
}

static int reservation(const char *name, struct hostlist *found, time_t *since, struct error *err)
{
    *since = reserved_since;
    *found = (struct hostlist){0};
    if (!reserved || strcmp(name, "muster-20261120-1") != 0)
        return 0;
    return hostlist_expand(reserved, found, err) == 0 ? 1 : -1;
}

static int jobs_find(const char *prefix, struct cluster_job **jobs, struct error *err)
{
    *jobs = calloc(1, sizeof **jobs);
    if (*jobs) {
        snprintf((*jobs)->name, sizeof(*jobs)->name, "%s", job_name);
        snprintf((*jobs)->reservation, sizeof(*jobs)->reservation, "%s", job_reservation);
        (*jobs)->uid = job_uid;
    }
    return *jobs && *job_name ? 1 : 0;
}

static const struct cluster_operations operations = {.load_nodes = load_nodes,
                                                     .reservation = reservation,
                                                     .jobs = jobs_find,
                                                     .drain = drain,
                                                     .set_comment = set_comment,
                                                     .unreserve = unreserve};

static void print_text(const char *text)
{
    add_operation("print", text);
}

/* Cleans up after runs, with BatteryUser 977. Returns the number of runs, with the operations in
 * operations_text. */
static int clean_up(const struct cluster *cluster)
{
    operations_text[0] = '\0';
    return retest_clean_up(&operations, cluster, journals, 977, wait_s, &stop, print_text, NULL);
}

/* Writes the comment of one node, with the mark of the run, or NULL: without a mark. */
static int mark_node(const struct cluster_node *node, const char *run)
{
    struct batch comments = {0};
    int rv = run ? retest_mark(node, run, &comments, NULL) : retest_unmark(node, &comments, NULL);

    operations_text[0] = '\0';
    return rv == 0 ? batch_apply(&comments, set_comment, NULL, NULL, NULL) : -1;
}

/* The run's journal is gone. */
static void leaves_what_others_have_changed(const struct cluster *cluster)
{
    static char comment[] = "y";
    char *marked[2] = {nodes[0].comment, nodes[1].comment};

    reserved = "n[2-3]";
    is_int(clean_up(cluster), 1, "one node was removed from the reservation");
    ok(!strstr(operations_text, "muster: one n1"), "... it stays in service");
    has_str(operations_text, "print n1 left unchanged: it was removed from",
            "... a message says so");
    has_str(operations_text, ";x n1;", "... its mark is removed");
    has_str(operations_text,
            "print reservation muster-20261120-1 left unchanged: it contains n[2-3] now",
            "... the reservation stays");
    has_str(operations_text, "the next run deletes it once it is an hour old",
            "... for a later run");
    ok(!strstr(operations_text, "unreserve"), "... unchanged");

    reserved = NULL;
    is_int(clean_up(cluster), 1, "the reservation is gone");
    has_str(operations_text, "gone;muster: one n1; n2;x n1;",
            "... the marked nodes are drained again");

    reserved = "n[2-3]";
    nodes[0].comment = nodes[1].comment = comment;
    is_int(clean_up(cluster), 1, "no node has a mark");
    has_str(operations_text, "print reservation muster-20261120-1 left unchanged",
            "... a reservation with an end stays");
    ok(!strstr(operations_text, "unreserve"), "... unchanged");
    nodes[0].comment = marked[0];
    nodes[1].comment = marked[1];
    reserved = "n[1-3]";
}

/* Another run lifts drains: one in the first second. Its job begins after the next. */
static void lift_drain(void)
{
    nodes[1].is_drained = loads < 2;
    if (loads > 2)
        snprintf(job_name, sizeof job_name, "muster-certify-20261120-1");
}

static void waits_while_drains_are_lifted(const struct cluster *cluster)
{
    loads = 0;
    at_load = lift_drain;
    wait_s = 0.5;
    job_uid = 0;
    is_int(clean_up(cluster), 0, "a run that still lifts drains is alive");
    is_str(operations_text, "", "... and is left alone");
    at_load = NULL;
    wait_s = 0;
    nodes[1].is_drained = true;
    job_name[0] = '\0';
}

static void leaves_a_run_whose_journal_is_locked(const struct cluster *cluster)
{
    char directory[] = "/tmp/muster-retest-XXXXXX", path[80];
    FILE *journal;

    if (!mkdtemp(directory))
        return;
    snprintf(path, sizeof path, "%s/20261120-1", directory);
    journal = fopen(path, "w");
    journals = directory;
    ok(journal && flock(fileno(journal), LOCK_EX | LOCK_NB) == 0, "a run holds its journal");
    is_int(clean_up(cluster), 0, "... and is alive, even without a job");
    is_str(operations_text, "", "... so it is left alone");
    if (journal)
        fclose(journal);
    is_int(clean_up(cluster), 1, "a journal without a lock shows no run");
    journals = "/none";
    unlink(path);
    rmdir(directory);
}

/* The run's host was lost before it marked a node, or after it had removed all marks. */
static void removes_what_has_no_end(void)
{
    static char comment[] = "y";
    struct cluster cluster;
    char *marked[2] = {nodes[0].comment, nodes[1].comment};
    struct hostlist changed = {0};

    cluster_make(&cluster);
    nodes[0].comment = nodes[1].comment = comment;
    reserved_since = time(NULL) - 60;
    clean_up(&cluster);
    has_str(operations_text, "left unchanged",
            "a new reservation stays, as a run may be about to mark its nodes");
    reserved_since = 1;
    clean_up(&cluster);
    has_str(operations_text, "unreserve muster-20261120-1;",
            "... an old one without an end is removed");
    hostlist_append(&changed, "muster-20261120-1");
    retest_exclude(&cluster, &changed);
    clean_up(&cluster);
    is_str(operations_text, "", "... unless it was just reported as left");
    hostlist_clear(&changed);
    cluster_clear(&cluster);
    reserved_since = 0;
    nodes[0].comment = marked[0];
    nodes[1].comment = marked[1];
}

int main(void)
{
    struct cluster_node node = {.name = (char[]){"n1"},
                                .reason = (char[]){"muster: eth1 [9 Mb/s]"}};
    struct cluster cluster;
    char run[64], reason[256];

    is_int(mark_node(&node, "20261120-1"), 0, "a node without a comment is marked");
    is_str(operations_text, "[muster 20261120-1: muster: eth1 [9 Mb/s]] n1;",
           "... with the run and the reason");
    node.comment = (char[]){"rack 7 [left]"};
    mark_node(&node, "20261120-1");
    is_str(operations_text, "rack 7 [left] [muster 20261120-1: muster: eth1 [9 Mb/s]] n1;",
           "the site's comment is kept");
    ok(!retest_read(&node, run, reason), "a comment of the site has no mark");
    node.comment = (char[]){"rack 7 [left] [muster 20261120-1: muster: eth1 [9 Mb/s]]"};
    ok(retest_read(&node, run, reason), "a mark is read");
    is_str(run, "20261120-1", "... its run");
    is_str(reason, "muster: eth1 [9 Mb/s]", "... and the reason of the drain");
    mark_node(&node, "20261121-2");
    is_str(operations_text, "rack 7 [left] [muster 20261121-2: muster: eth1 [9 Mb/s]] n1;",
           "a new mark replaces the old one");
    mark_node(&node, NULL);
    is_str(operations_text, "rack 7 [left] n1;",
           "without the mark the site's comment is as before");
    node.comment = NULL;
    ok(!retest_read(&node, NULL, NULL), "a node without a comment has no mark");

    nodes[0] = (struct cluster_node){.name = (char[]){"n1"},
                                     .comment = (char[]){"x [muster 20261120-1: muster: one]"}};
    nodes[1] = (struct cluster_node){.name = (char[]){"n2"},
                                     .comment = (char[]){"[muster 20261120-1: muster: two]"},
                                     .is_drained = true};
    nodes[2] = (struct cluster_node){.name = (char[]){"n3"}, .comment = (char[]){"y"}};
    cluster_make(&cluster);
    snprintf(job_name, sizeof job_name, "muster-certify-20261120-1");
    is_int(clean_up(&cluster), 0, "a run with a job is alive");
    is_str(operations_text, "", "... and left alone");
    job_uid = 977;
    is_int(clean_up(&cluster), 0, "... also with a job of BatteryUser");
    is_str(operations_text, "", "... also left alone");
    job_uid = 1000;
    snprintf(job_reservation, sizeof job_reservation, "muster-20261120-1");
    is_int(clean_up(&cluster), 0, "... also with a job of another BatteryUser, in its reservation");
    job_reservation[0] = '\0';
    is_int(clean_up(&cluster), 1, "another user's job of that name does not count");
    job_name[0] = '\0';
    is_int(clean_up(&cluster), 1, "a run without a job is over");
    is_str(operations_text,
           "print cleaning up after run 20261120-1, whose job is gone;muster: one n1; n2;x n1;"
           "unreserve muster-20261120-1;",
           "... its nodes are drained again, its marks and reservation removed");
    leaves_what_others_have_changed(&cluster);
    waits_while_drains_are_lifted(&cluster);
    leaves_a_run_whose_journal_is_locked(&cluster);
    removes_what_has_no_end();
    stop = 1;
    is_int(clean_up(&cluster), 0, "an interrupted cleanup does nothing");
    is_str(operations_text, "", "... at all");
    cluster_clear(&cluster);
    return tap_done();
}
