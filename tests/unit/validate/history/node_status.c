/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/history/node_status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/text.h"
#include "tests/unit/tap.h"
#include "validate/history/history.h"
#include "validate/history/offenders.h"

enum { HOUR = 3600, DAY = 24 * HOUR };

static const double now = 1795190000; /* 2026-11-20 */
static char path[] = "/tmp/muster-status-XXXXXX";
static char listed[2000];
static const char *cluster; /* cluster of the runs that are added and queried; NULL: unknown, any */
static const char *firmware; /* firmware of eth1 of each node; NULL: unknown */

static void add_suspect(const char *node, const char *message, void *context)
{
    text_join(listed, sizeof listed, "", "%s %s;", node, message);
}

static void add_certified(const char *node, double until, void *context)
{
    text_join(listed, sizeof listed, "", "%s %.0f;", node, until - now);
}

static void facts_add(struct records *records, const char *node)
{
    struct record record = RECORD(.test = "host.config", .metric = "firmware", .node = node,
                                  .part = "eth1", .message = firmware);

    if (firmware)
        records_add(records, &record);
}

/* Adds a run with one node that ended `ago` seconds before now. record: a record of the node, or
 * NULL; its suite, run, node and time are set here. */
static void add_run_with_record(const char *run, double ago, struct history_node node,
                                struct record *record, bool is_dry_run)
{
    struct records records = {0};
    struct error err;

    node.rail_mbps = NAN;
    if (record) {
        record->suite = "certify";
        record->run = run;
        record->node = node.node;
        record->time = now - ago - 1;
        records_add(&records, record);
    }
    facts_add(&records, node.node);
    is_int(history_add(
               path,
               &(struct history_run){
                   .run = run, .cluster = cluster, .time = now - ago, .is_dry_run = is_dry_run},
               &node, 1, &records, 0, &err),
           0, "run %s", run);
    records_clear(&records);
}

/* strike: 0 none, 1 a strike before the last, 2 the last strike. */
static void add_run(const char *run, double ago, const char *node, enum verdict verdict, int strike,
                    const char *until, bool is_dry_run)
{
    struct record record =
        RECORD(.test = "strikes", .metric = "links", .part = "eth1", .value = strike,
               .verdict = strike == 2 ? VERDICT_FAIL : VERDICT_WARN, .message = "links eth1");

    add_run_with_record(
        run, ago, (struct history_node){.node = node, .verdict = verdict, .certified_until = until},
        strike > 0 ? &record : NULL, is_dry_run);
}

static const char *list_suspects(double since)
{
    listed[0] = '\0';
    return node_status_suspects(path, cluster, since, add_suspect, NULL, NULL) < 0 ? "an error"
                                                                                   : listed;
}

static const char *list_certified(void)
{
    listed[0] = '\0';
    return node_status_certified(path, cluster, add_certified, NULL, NULL) < 0 ? "an error"
                                                                               : listed;
}

static void add_failed(const char *node, double time, void *context)
{
    text_join(listed, sizeof listed, "", "%s %.0f;", node, (now - time) / HOUR);
}

/* Returns the failed nodes with the hours since their last failure. */
static const char *list_failed(void)
{
    listed[0] = '\0';
    return node_status_failed(path, cluster, add_failed, NULL, NULL) < 0 ? "an error" : listed;
}

static void add_tests(const struct node_tests *tests, void *context)
{
    text_join(listed, sizeof listed, "", "%s %.1f %.1f %u %u;", tests->node,
              tests->tested > 0 ? (now - tests->tested) / HOUR : 0, (now - tests->tried) / HOUR,
              tests->warnings, tests->jobs);
}

/* Returns for each node the hours since its last test and its last try, its warnings, and its
 * jobs. */
static const char *list_tests(double since)
{
    listed[0] = '\0';
    return node_status_tests(path, cluster, since, add_tests, NULL, NULL) < 0 ? "an error" : listed;
}

/* Adds a run with a record of what a job left on the node. */
static void add_job_run(const char *run, double ago, const char *node, double job)
{
    struct record record = RECORD(.test = "host.jobs", .metric = "events", .value = 1,
                                  .unit = "count", .job = job, .verdict = VERDICT_WARN);

    add_run_with_record(run, ago, (struct history_node){.node = node, .verdict = VERDICT_PASS},
                        &record, false);
}

static void check_tests(void)
{
    is_str(list_tests(0), "", "no node was tested");
    add_run("w1", 30 * HOUR, "n1", VERDICT_PASS, 1, NULL, false);
    add_run("w2", 20 * HOUR, "n1", VERDICT_FAIL, 1, NULL, false);
    add_run("w3", 10 * HOUR, "n1", VERDICT_UNKNOWN, 0, NULL, false);
    add_run("w4", 5 * HOUR, "n1", VERDICT_PASS, 1, NULL, true);
    add_run("w5", 9 * HOUR, "n2", VERDICT_UNKNOWN, 0, NULL, false);
    add_job_run("w6", 8 * HOUR, "n3", 12);
    add_job_run("w7", 7 * HOUR, "n3", 12);
    add_job_run("w8", 6 * HOUR, "n3", 13);
    is_str(list_tests(now - 2 * DAY), "n1 20.0 10.0 2 0;n2 0.0 9.0 0 0;n3 6.0 6.0 0 2;",
           "an unknown verdict is a try but no test, a dry run is neither, a job counts once");
    is_str(list_tests(now - DAY), "n1 20.0 10.0 1 0;n2 0.0 9.0 0 0;n3 6.0 6.0 0 2;",
           "... warnings count within the window");
}

/* Counts the strikes against the node with its current fingerprint. */
static int count_strikes(const char *node, const char *part)
{
    uint64_t fingerprint = 0;
    struct records records = {0};
    struct name_index index;

    facts_add(&records, node);
    name_index_build(&node, 1, &index);
    history_fingerprints(&records, &index, &fingerprint);
    name_index_clear(&index);
    records_clear(&records);
    return node_status_strike(path, cluster, node, FAULT_RAIL_SLOW, part, fingerprint, now, DAY,
                              NULL);
}

static void check_hardware(void)
{
    firmware = "20.1";
    add_run("s1", 5 * HOUR, "n1", VERDICT_FAIL, 1, NULL, false);
    add_run("s2", 4 * HOUR, "n1", VERDICT_FAIL, 1, NULL, false);
    is_int(count_strikes("n1", "eth1"), 3, "two strikes against the current card");
    firmware = "22.4";
    is_int(count_strikes("n1", "eth1"), 1, "... do not count against another card");
    add_run("s3", 3 * HOUR, "n1", VERDICT_FAIL, 1, NULL, false);
    is_int(count_strikes("n1", "eth1"), 2, "... its own strikes do");
    firmware = NULL;
    is_int(count_strikes("n1", "eth1"), 4, "without known firmware all strikes count");
    add_run("s4", 2 * HOUR, "n1", VERDICT_FAIL, 1, NULL, false);
    firmware = "22.4";
    is_int(count_strikes("n1", "eth1"), 3, "... and so do strikes against unknown firmware");
    firmware = NULL;
}

/* Adds a run `ago` seconds before now that tested the node for the user. */
static void add_user_test(const char *run, double ago, const char *node, double uid,
                          bool is_dry_run)
{
    struct record record = RECORD(.test = "preflight.suspects", .metric = "user", .value = uid,
                                  .unit = "1", .verdict = VERDICT_WARN);

    add_run_with_record(run, ago, (struct history_node){.node = node, .verdict = VERDICT_PASS},
                        &record, is_dry_run);
}

static int count_tested(unsigned uid)
{
    return node_status_tested(path, uid, now - DAY, NULL);
}

static void check_tested(void)
{
    is_int(node_status_tested("/nonexistent/history.db", 1000, now - DAY, NULL), 0,
           "without a history nothing was tested for a user");
    is_int(count_tested(1000), 0, "no node was tested for a user");
    add_user_test("t1", 26 * HOUR, "n1", 1000, false);
    is_int(count_tested(1000), 0, "a test more than a day ago does not count");
    add_user_test("t2", 23 * HOUR, "n1", 1000, false);
    add_user_test("t3", 2 * HOUR, "n1", 1000, false);
    add_user_test("t4", HOUR, "n2", 1000, false);
    add_user_test("t5", HOUR, "n3", 1001, false);
    add_user_test("t6", HOUR, "n3", 1000, true);
    is_int(count_tested(1000), 3, "each test of a node counts, but dry runs do not");
    is_int(count_tested(1001), 1, "... each user has an own count");
    is_int(count_tested(4294967294U), 0, "... also the highest UID");
}

/* Returns the number of nodes that failed in the queried cluster; -1 on an error. */
static long count_failed_nodes(void)
{
    struct offenders offenders;
    long count;

    if (offenders_read(path, cluster, now - DAY, &offenders, NULL) != 0)
        return -1;
    count = (long)offenders.count;
    offenders_clear(&offenders);
    return count;
}

static void add_past(const struct history_node *node, void *context)
{
    text_join(listed, sizeof listed, "", "%s %s%s;", node->run, verdict_name(node->verdict),
              *node->certified_until ? " certified" : "");
}

static const char *list_past_runs(void)
{
    listed[0] = '\0';
    return history_nodes_past(path, cluster, 2, add_past, NULL, NULL) < 0 ? "an error" : listed;
}

/* The clusters red and blue each have a node n1. */
static void check_clusters(void)
{
    static const char until[] = "2026-11-27 18:13 UTC";

    cluster = "red";
    add_run("u1", 9 * HOUR, "n1", VERDICT_FAIL, 1, NULL, false);
    is_int(count_strikes("n1", "eth1"), 2, "a strike in cluster red");
    cluster = "blue";
    is_int(count_strikes("n1", "eth1"), 1, "... does not count in cluster blue");
    is_str(list_suspects(now - DAY), "", "... and makes no suspect in blue");
    add_run("u2", 8 * HOUR, "n1", VERDICT_PASS, 0, until, false);
    is_str(list_certified(), "n1 613180;", "n1 of blue is certified");
    is_str(list_tests(now - DAY), "n1 8.0 8.0 0 0;", "... and was tested without a warning");
    is_int(count_failed_nodes(), 0, "... and did not fail");
    cluster = "red";
    is_str(list_tests(now - DAY), "n1 9.0 9.0 1 0;",
           "... n1 of red was tested earlier, with a warning");
    is_int(count_failed_nodes(), 1, "... and failed");
    is_str(list_certified(), "", "... and is not certified");
    is_str(list_suspects(now - DAY), "n1 links eth1;", "... and is still a suspect");
    add_run("u3", 7 * HOUR, "n1", VERDICT_FAIL, 0, NULL, false);
    cluster = "blue";
    is_str(list_certified(), "n1 613180;",
           "... its failure does not end the certificate of blue's n1");
    is_str(list_failed(), "", "... or count as a failure in blue");
    is_str(list_past_runs(), "u2 pass certified;", "... or appear in blue's past runs");
    add_run("u4", 6 * HOUR, "n1", VERDICT_PASS, 0, until, false);
    cluster = "red";
    is_str(list_failed(), "n1 7;", "... a pass in blue does not clear the failure in red");
    cluster = NULL;
    add_run("u5", 5 * HOUR, "n1", VERDICT_PASS, 0, until, false);
    cluster = "red";
    is_str(list_failed(), "", "a run without a cluster counts for both clusters");
    is_str(list_certified(), "n1 613180;", "... and certifies both");
    is_str(list_past_runs(), "u5 pass certified;u3 fail;", "... and is in the past runs of both");
    cluster = NULL;
    is_str(list_past_runs(), "u5 pass certified;u4 pass;",
           "without a cluster the newest runs of the name are listed");
}

int main(void)
{
    struct hostlist revoked;
    struct error err;
    FILE *stream;

    close(mkstemp(path));
    unlink(path);
    is_int(count_strikes("n1", "eth1"), 1, "without a history the next strike is the first");
    is_str(list_suspects(0), "", "without a history no node is a suspect");
    is_str(list_certified(), "", "... or certified");
    is_str(list_failed(), "", "... or failed");

    add_run("a", 30 * HOUR, "n1", VERDICT_FAIL, 1, NULL, false);
    add_run("b", 20 * HOUR, "n1", VERDICT_FAIL, 1, NULL, false);
    add_run("c", 10 * HOUR, "n1", VERDICT_FAIL, 1, NULL, true);
    is_int(count_strikes("n1", "eth1"), 2,
           "an earlier strike within a day counts, a dry run's does not");
    is_int(count_strikes("n1", "eth2"), 1, "another part has its own count");
    is_int(count_strikes("n2", "eth1"), 1, "another node has its own count");
    is_str(list_suspects(now - DAY), "n1 links eth1;",
           "a node whose last run was a strike is a suspect");
    is_str(list_suspects(now - HOUR), "", "... within the window");
    add_run("c1", 9.5 * HOUR, "n1", VERDICT_UNKNOWN, 0, NULL, false);
    is_str(list_suspects(now - DAY), "n1 links eth1;", "... also after an interrupted run");
    add_run("d", 9 * HOUR, "n1", VERDICT_PASS, 0, "2026-11-27 18:13 UTC", false);
    is_str(list_suspects(now - DAY), "", "a node that passed since is no suspect");
    is_int(count_strikes("n1", "eth1"), 2, "... but its strike still counts");
    is_str(list_certified(), "n1 613180;", "the node is certified");
    add_run("e", 8 * HOUR, "n1", VERDICT_FAIL, 1, NULL, false);
    is_str(list_certified(), "n1 613180;", "a suspect keeps its certificate");
    is_str(list_failed(), "", "... and has not failed");
    add_run("f", 7 * HOUR, "n1", VERDICT_FAIL, 2, NULL, false);
    is_str(list_certified(), "", "a drained node loses its certificate");
    is_str(list_suspects(now - DAY), "", "... and is no suspect any more");
    is_int(count_strikes("n1", "eth1"), 1, "... and its strikes start again");
    is_str(list_failed(), "n1 7;", "... and has failed");
    add_run("g", 6 * HOUR, "n2", VERDICT_PASS, 0, "2026-11-27 18:13 UTC", false);
    add_run("h", 5 * HOUR, "n2", VERDICT_UNKNOWN, 0, NULL, false);
    add_run("i", 4 * HOUR, "n2", VERDICT_FAIL, 0, NULL, true);
    is_str(list_failed(), "n1 7;", "an unknown verdict or a dry run does not make it fail");
    add_run_with_record(
        "i2", 3.5 * HOUR,
        (struct history_node){.node = "n2", .verdict = VERDICT_FAIL, .test = "slurm.state"}, NULL,
        false);
    is_str(list_failed(), "n1 7;", "... nor does a drain by Slurm, after which it was not tested");
    is_str(list_certified(), "n2 613180;", "... or end its certificate");
    add_run("j", 3 * HOUR, "n1", VERDICT_FAIL, 1, NULL, false);
    is_int(count_strikes("n1", "eth1"), 2, "a strike after the failure");
    is_str(list_failed(), "n1 7;", "a failure stays until the node is certified");
    add_run("k", 2.5 * HOUR, "n1", VERDICT_PASS, 0, "2026-11-27 18:13 UTC", false);
    is_str(list_failed(), "", "... and not longer");
    is_int(history_accept(path, "n1", NULL, "new cable", now - 2 * HOUR, &err), 0,
           "a repair is accepted");
    is_int(count_strikes("n1", "eth1"), 1, "... earlier strikes do not count");
    is_str(list_certified(), "n1 613180;n2 613180;", "... certificates stay");
    hostlist_expand("n[2-3]", &revoked, &err);
    is_int(history_revoke(path, &revoked, now - 2 * HOUR, &err), 0,
           "a certificate is revoked by hand");
    is_str(list_certified(), "n1 613180;", "... and does not count any more");
    add_run("l", HOUR, "n2", VERDICT_PASS, 0, "2026-11-27 18:13 UTC", false);
    is_str(list_certified(), "n1 613180;n2 613180;", "... until the node gets another one");
    hostlist_clear(&revoked);

    stream = fopen(path, "w");
    fputs("this is no database, and it is long enough to be taken for none by its first page",
          stream);
    fclose(stream);
    is_int(node_status_strike(path, NULL, "n1", FAULT_RAIL_SLOW, "eth1", 0, now, DAY, &err), -1,
           "a file that is no database is an error");
    has_str(err.text, path, "... is named");
    unlink(path);
    check_tested();
    unlink(path);
    check_hardware();
    unlink(path);
    check_tests();
    unlink(path);
    check_clusters();
    unlink(path);
    return tap_done();
}
