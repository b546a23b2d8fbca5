/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/history/history.h"
#include "validate/history/recall.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "tests/unit/capture.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

static char seen_text[8000], *directory;
static struct error err;

static void add_node(const struct history_node *node, void *context)
{
    text_join(seen_text, sizeof seen_text, "", "%s %s %s %.0f %s;", node->run, node->node,
              verdict_name(node->verdict), node->time, node->part);
}

static int add_run(const char *path, const char *run, double time, enum verdict n1, enum verdict n2)
{
    struct records records = {0};
    const struct history_node nodes[] = {
        {.node = "n1", .verdict = n1, .part = n1 == VERDICT_FAIL ? "eth1" : "", .rail_mbps = 196},
        {.node = "n2", .verdict = n2, .rail_mbps = NAN}};
    int rv;

    err.text[0] = '\0';
    records_parse(
        &records,
        "{\"suite\":\"links\",\"test\":\"links\",\"metric\":\"bandwidth\","
        "\"node\":\"n1\",\"part\":\"eth1\",\"peer\":\"n2\",\"value\":196,\"unit\":\"Mb/s\"}");
    records_parse(&records, "{\"suite\":\"certify\",\"test\":\"net.topology\",\"node\":\"n1\","
                            "\"message\":\"leaf1\"}");
    rv = history_add(path, &(struct history_run){.run = run, .time = time, .seconds = 3.5}, nodes,
                     2, &records, 0, &err);
    records_clear(&records);
    return rv;
}

static const char *path_in(const char *name)
{
    static char paths[4][256];
    static int next;

    next = (next + 1) % 4;
    snprintf(paths[next], sizeof paths[next], "%s/%s", directory, name);
    return paths[next];
}

struct since_query {
    const char *node;
    double since;
};

static void find_since(const struct history_node *node, void *context)
{
    struct since_query *since_query = context;

    if (strcmp(node->node, since_query->node) == 0)
        since_query->since = node->since;
}

/* Returns since when the node has its verdict; 0: the node is unknown. */
static double since_of(const char *path, const char *node)
{
    struct since_query since_query = {node, 0};

    return history_nodes(path, NULL, 100, find_since, &since_query, &err) < 0 ? -1
                                                                              : since_query.since;
}

static void test_runs(void)
{
    const char *path = path_in("history.db");

    is_int(history_nodes(path, NULL, 10, add_node, NULL, &err), 0,
           "without a database there is no history");
    is_int(add_run(path, "r1", 100, VERDICT_PASS, VERDICT_PASS), 0, "a run is added");
    is_int(add_run(path, "r2", 200, VERDICT_FAIL, VERDICT_PASS), 0, "another one");
    is_int(add_run(path, "r3", 300, VERDICT_FAIL, VERDICT_UNKNOWN), 0, "and a third");
    is_int(history_nodes(path, NULL, 10, add_node, NULL, &err), 2, "two nodes are known");
    is_str(seen_text, "r3 n1 fail 300 eth1;r3 n2 unknown 300 ;",
           "each node has its newest verdict");
    seen_text[0] = '\0';
    is_int(history_nodes(path, "n1", 2, add_node, NULL, &err), 2, "the newest two runs of a node");
    is_str(seen_text, "r3 n1 fail 300 eth1;r2 n1 fail 200 eth1;", "the newest run comes first");
    is_near(since_of(path, "n1"), 200, 0, "n1 has failed since the second run");
    is_near(since_of(path, "n2"), 300, 0, "n2 is unknown since the third run");
    is_near(since_of(path, "n9"), 0, 0, "n9 is unknown");
    is_int(add_run(path, "r3", 400, VERDICT_PASS, VERDICT_PASS), -1, "a run's ID is unique");
    is_near(since_of(path, "n1"), 200, 0, "... and nothing of the second one is kept");
}

static void test_find(void)
{
    const char *path = path_in("history.db");
    struct history_run run;
    char text[192];

    is_int(history_run_find(path, "last", &run, text, &err), 1, "the last run");
    is_str(run.run, "r3", "... is the newest");
    is_int(history_run_find(path, "previous", &run, text, &err), 1, "the previous run");
    is_str(run.run, "r2", "... is the second newest");
    is_int(history_run_find(path, "r1", &run, text, &err), 1, "a run by its ID");
    is_near(run.time, 100, 0, "... with its time");
    is_int(history_run_find(path, "r", &run, text, &err), 0, "an ambiguous prefix");
    is_str(err.text, "several runs start with 'r'", "... is an error");
    is_int(history_run_find(path, "x", &run, text, &err), 0, "an unknown prefix");
    has_str(err.text, "no run 'x' in", "... is an error");
}

/* ---------------------------------------------------------------- figures and facts */

static void add_fact(struct records *records, const char *node, const char *fact, const char *part,
                     const char *value)
{
    struct record record = RECORD(.suite = "check", .test = "host.config", .node = node,
                                  .metric = fact, .part = part, .message = value);

    records_add(records, &record);
}

static void add_measurement(struct records *records, const char *from, const char *to, double mbps)
{
    struct record record = RECORD_INIT;

    record.suite = record.test = "links";
    record.metric = "bandwidth";
    record.node = from;
    record.peer = to;
    record.part = "eth1";
    record.value = mbps;
    record.unit = "Mb/s";
    records_add(records, &record);
}

/* Adds a run with n1 and n2, in which n1 sends at this rate. */
static int add_figures(const char *path, int number, double mbps, enum verdict n1,
                       const char *firmware, const char *kernel, bool is_warned)
{
    struct records records = {0};
    struct record warning;
    char run[16];
    const struct history_node nodes[] = {{.node = "n1", .verdict = n1, .rail_mbps = mbps},
                                         {.node = "n2", .verdict = VERDICT_PASS, .rail_mbps = NAN}};
    int rv;

    snprintf(run, sizeof run, "f%02d", number);
    add_measurement(&records, "n1", "n2", mbps);
    add_measurement(&records, "n1", "n3", mbps / 2);
    add_measurement(&records, "n2", "n1", 150);
    add_fact(&records, "n1", "firmware", "eth1", firmware);
    if (kernel)
        add_fact(&records, "n1", "cmdline", "", kernel);
    add_fact(&records, "n2", "firmware", "eth1", "1.0");
    warning =
        RECORD(.suite = "certify", .test = "links", .node = "n1", .part = "eth1",
               .limit_source = "history", .verdict = VERDICT_WARN, .message = "slower than it was");
    if (is_warned)
        records_add(&records, &warning);
    rv = history_add(path, &(struct history_run){.run = run, .time = 1000 + number}, nodes, 2,
                     &records, 0, &err);
    records_clear(&records);
    return rv;
}

static void add_point(const struct history_point *point, void *context)
{
    text_join(seen_text, sizeof seen_text, "", "%s %s %s %s %g;", point->node, point->part,
              point->metric, point->run, point->value);
}

static void add_change(const struct history_change *change, void *context)
{
    text_join(seen_text, sizeof seen_text, "", "%s %s %s>%s @%g;", change->node, change->fact,
              change->before ? change->before : "-", change->after ? change->after : "-",
              change->time);
}

static int changes(const char *path, const char *node, double then, double now)
{
    return history_changes(path, &(struct history_span){node, then, now}, 1, add_change, NULL,
                           &err);
}

static struct history_figure query_figure(const char *path, const char *metric,
                                          const char *firmware)
{
    struct records records = {0};
    struct name_index index;
    struct history_query query = {.node = "n1", .part = "eth1", .metric = metric};

    add_fact(&records, "n1", "firmware", "eth1", firmware);
    add_fact(&records, "n1", "speed", "eth1", "does not count");
    name_index_build(&query.node, 1, &index);
    history_fingerprints(&records, &index, &query.fingerprint);
    name_index_clear(&index);
    is_int(history_figures(path, &query, 1, &err), 0,
           "the history of %s with firmware %s is queried (%s)", metric, firmware, err.text);
    records_clear(&records);
    return query.figure;
}

static void test_figures(void)
{
    const char *path = path_in("figures.db");
    struct history_figure figure;

    figure = query_figure(path, "sends", "1.0");
    is_int(figure.count, 0, "without a database there is no history");
    for (int i = 1; i <= 6; i++)
        is_int(add_figures(path, i, 190 + i, VERDICT_PASS, "1.0", "quiet", false), 0, "run %d", i);
    add_figures(path, 7, 40, VERDICT_FAIL, "1.0", "quiet", false);
    add_figures(path, 8, 120, VERDICT_PASS, "1.0", "quiet iommu=pt", true);
    add_figures(path, 9, 80, VERDICT_PASS, "2.0", NULL, false);
    figure = query_figure(path, "sends", "1.0");
    is_int(figure.count, 6, "runs that passed without warnings on this firmware count");
    is_near(figure.median, 193.5, 1e-9, "... their median is over the best rate with any partner");
    is_near(figure.mad, 1.5, 1e-9, "... and its deviation");
    is_near(history_figure_floor(&figure), 193.5 * 0.9, 1e-9, "... and the floor keeps the margin");
    is_int(history_accept(path, "n9", NULL, NULL, 0, &err), 1, "a node that no run has is refused");
    is_int(history_accept(path, "n1", "eth7", NULL, 0, &err), 1, "... and so is an unknown part");
    ok(strstr(err.text, "no run of muster certify contains n1 eth7") != NULL,
       "... with the reason (%s)", err.text);
    is_int(history_accept(path, "n1", "eth1", "new cable", 1003.5, &err), 0,
           "a repair of a rail is accepted (%s)", err.text);
    figure = query_figure(path, "sends", "1.0");
    is_int(figure.count, 3, "... only later runs count then");
    is_near(figure.median, 195, 1e-9, "... their median");
    is_int(history_accept(path, "n1", NULL, NULL, 1004.5, &err), 0,
           "a repair of a whole node is accepted");
    is_int((int)query_figure(path, "sends", "1.0").count, 2, "... for each of its parts");
    figure = query_figure(path, "receives", "1.0");
    is_near(figure.median, 150, 1e-9, "the other direction has its own history");
    figure = query_figure(path, "sends", "2.0");
    is_int(figure.count, 1, "other firmware has its own history");
    ok(isnan(history_figure_floor(&figure)), "... one run gives no floor yet");
    figure = (struct history_figure){100, 10, 9};
    is_near(history_figure_floor(&figure), 100 - 4 * 14.826, 1e-9, "noise widens the margin");

    seen_text[0] = '\0';
    is_int(history_points(path, "n1", "eth1", 2, add_point, NULL, &err), 6, "trends are read");
    is_str(seen_text,
           "n1 eth1 bandwidth f08 120;n1 eth1 bandwidth f09 80;n1 eth1 receives f08 150;n1 eth1 "
           "receives f09 150;n1 eth1 sends f08 120;"
           "n1 eth1 sends f09 80;",
           "... each with its newest runs");
    seen_text[0] = '\0';
    is_int(changes(path, NULL, 1001, 1008), 1, "changes are read");
    is_str(seen_text, "n1 cmdline quiet>quiet iommu=pt @1008;", "... between two runs");
    seen_text[0] = '\0';
    changes(path, "n1", 1007, 1009);
    is_str(seen_text, "n1 cmdline quiet>- @1009;n1 eth1 firmware 1.0>2.0 @1009;",
           "... a fact may disappear");
    seen_text[0] = '\0';
    is_int(history_changes(path,
                           (const struct history_span[]){
                               {"n1", 1001, 1008}, {"n7", 1001, 1009}, {"n1", 1007, 1009}},
                           3, add_change, NULL, &err),
           3, "several spans are read at once");
    is_str(seen_text,
           "n1 cmdline quiet>quiet iommu=pt @1008;n1 cmdline quiet>- @1009;"
           "n1 eth1 firmware 1.0>2.0 @1009;",
           "... one after the other");
    is_int(changes(path, NULL, 500, 1009), 0, "a fact that was unknown before has not changed");
}

static int count_rows(const char *path, const char *query)
{
    sqlite3 *database = NULL;
    sqlite3_stmt *statement = NULL;
    int found = -1;

    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(database, query, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        found = sqlite3_column_int(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return found;
}

static void execute(const char *path, const char *queries)
{
    sqlite3 *database = NULL;

    sqlite3_open(path, &database);
    is_int(sqlite3_exec(database, queries, NULL, NULL, NULL), SQLITE_OK, "prepared: %.30s",
           queries);
    sqlite3_close(database);
}

static void test_forgetting(void)
{
    const char *path = path_in("figures.db");
    struct records records = {0};

    is_int(count_rows(path, "SELECT count(*) FROM facts"), 6,
           "of the facts of nine runs only changes are stored");
    is_int(history_add(path, &(struct history_run){.run = "g", .time = 1010}, NULL, 0, &records, 2,
                       &err),
           0, "a run that keeps two seconds of history");
    is_int(count_rows(path, "SELECT count(*) FROM runs"), 4,
           "... removes runs older than that before the previous run");
    is_int(count_rows(path, "SELECT count(*) FROM figures"), 21, "... and their figures");
    seen_text[0] = '\0';
    changes(path, "n1", 1008, 1010);
    is_str(seen_text, "n1 cmdline quiet iommu=pt>- @1009;n1 eth1 firmware 1.0>2.0 @1009;",
           "... but keeps facts that are still valid");
}

/* Stores runs at these times one after the other. Returns how many are kept in the end. */
static int count_kept(const char *name, const double *times, int count)
{
    const char *path = path_in(name);
    char run[16];

    for (int i = 0; i < count; i++) {
        snprintf(run, sizeof run, "a%d", i);
        is_int(history_add(path, &(struct history_run){.run = run, .time = times[i]}, NULL, 0,
                           &(struct records){0}, 100, &err),
               0, "a run at %.0f", times[i]);
    }
    return count_rows(path, "SELECT count(*) FROM runs");
}

static void keeps_runs_though_a_clock_was_ahead(void)
{
    const double once[] = {1000, 1010, 9000, 1020, 1025};
    const double often[] = {1000, 1010, 9000, 9010, 9020, 1020, 1025};
    const double seldom[] = {1000, 1200, 1400, 1600, 1800};

    is_int(count_kept("ahead.db", once, 5), 5,
           "a run stored with a clock that is ahead removes none, nor does the next");
    is_int(count_kept("often.db", often, 7), 7, "... nor do several");
    is_int(count_kept("seldom.db", seldom, 5), 3, "with rare runs three are kept");
}

static void check_newest(const char *path, const char *run, const char *what)
{
    struct history_run found = {.run = ""};
    char text[192];

    history_run_find(path, "last", &found, text, &err);
    is_str(found.run, run, "%s", what);
}

static void orders_runs_though_a_clock_was_stepped_back(void)
{
    const char *path = path_in("back.db");
    const double now = (double)time(NULL);
    struct history_query query = {.node = "n1", .part = "eth1", .metric = "sends"};

    add_run(path, "early", now + 3600, VERDICT_FAIL, VERDICT_PASS);
    add_run(path, "late", 0, VERDICT_PASS, VERDICT_PASS);
    check_newest(path, "late", "a run after the clock was set back by an hour is the newest");
    seen_text[0] = '\0';
    history_nodes(path, "n1", 1, add_node, NULL, &err);
    ok(strncmp(seen_text, "late n1 pass ", 13) == 0, "... and so is its node");
    is_int(history_accept(path, "n1", "eth1", NULL, 0, &err), 0, "a repair is accepted after that");
    is_int(history_figures(path, &query, 1, &err), 0, "... the history is queried");
    is_int(query.figure.count, 0, "... the repair is later than both runs");
    add_run(path, "third", 0, VERDICT_PASS, VERDICT_PASS);
    history_figures(path, &query, 1, &err);
    is_int(query.figure.count, 1, "... and earlier than the next run");
    add_run(path, "error", now + 40.0 * 86400, VERDICT_PASS, VERDICT_PASS);
    add_run(path, "fourth", 0, VERDICT_PASS, VERDICT_PASS);
    check_newest(path, "error", "a clock that was far ahead does not move other runs");
    ok(count_rows(path, "SELECT count(*) FROM runs WHERE run = 'fourth' AND time <"
                        " (SELECT time FROM runs WHERE run = 'error') - 86400") == 1,
       "... the later run keeps its own time");
}

/* ---------------------------------------------------------------- pairs */

static size_t recalled_pairs(const char *path, const char *run)
{
    struct records records = {0};
    size_t count = 0;

    if (recall_run(path, run, &records, &err) != 0)
        tap_diag("%s", err.text);
    for (size_t i = 0; i < records.count; i++) {
        const struct record *record = RECORD_AT(&records, i);

        count +=
            (record->peer && strcmp(record->suite, "links") == 0 && record->value > 0) ||
            (strcmp(record->test, "net.topology") == 0 && strcmp(record->message, "leaf1") == 0);
    }
    records_clear(&records);
    return count;
}

static void test_pairs(void)
{
    const char *path = path_in("pairs.db");
    const struct history_node node = {.node = "n1", .verdict = VERDICT_PASS, .rail_mbps = 196};
    struct records records = {0};
    char name[16];

    for (int run = 1; run <= 11; run++) {
        snprintf(name, sizeof name, "p%d", run);
        add_run(path, name, 100 * run, VERDICT_PASS, VERDICT_PASS);
    }
    is_int((long)recalled_pairs(path, "p11"), 2, "a run is recalled with its pair and leaf");
    is_int((long)recalled_pairs(path, "p2"), 2, "... and so is the tenth newest");
    is_int((long)recalled_pairs(path, "p1"), 0, "... an older run has none");
    for (int i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "n%d", i);
        add_measurement(&records, "n1", name, 196);
    }
    is_int(history_add(path, &(struct history_run){.run = "big", .time = 2000}, &node, 1, &records,
                       0, &err),
           0, "a run with thousands of pairs");
    is_int((long)recalled_pairs(path, "big"), 0, "... is kept without pairs");
    records_clear(&records);
}

/* Returns the code of a run's first record of the test. */
static enum fault_code recalled_code(const char *path, const char *run, const char *test)
{
    struct records records = {0};
    enum fault_code code = FAULT_NONE;

    if (recall_run(path, run, &records, &err) != 0)
        tap_diag("%s", err.text);
    for (size_t i = 0; i < records.count && code == FAULT_NONE; i++) {
        const struct record *record = RECORD_AT(&records, i);

        if (strcmp(record->test, test) == 0)
            code = record_code(record);
    }
    records_clear(&records);
    return code;
}

static void test_codes(void)
{
    const char *path = path_in("codes.db");
    struct records records = {0};
    struct record record = RECORD(.suite = "check", .test = "net.interfaces", .node = "n1",
                                  .verdict = VERDICT_FAIL, .code = FAULT_LINK_DOWN);
    const struct history_node node = {.node = "n1", .verdict = VERDICT_FAIL};

    records_add(&records, &record);
    record.suite = record.test = "certify";
    records_add(&records, &record);
    is_int(history_add(path, &(struct history_run){.run = "r"}, &node, 1, &records, 0, &err), 0,
           "a run with a code is added (%s)", err.text);
    is_int(recalled_code(path, "r", "net.interfaces"), FAULT_LINK_DOWN,
           "... and read back with the code");
    is_int(recalled_code(path, "r", "certify"), FAULT_LINK_DOWN, "... of the conclusion as well");
    records_clear(&records);
}

/* ---------------------------------------------------------------- other databases */

/* A run waits beside a database that cannot take it, and is taken in once one can. */
static void test_waiting(const char *name, const char *why)
{
    const char *path = path_in(name);
    char waiting[192], aside[192];

    is_int(add_run(path, "w1", 100, VERDICT_PASS, VERDICT_FAIL), 1, "%s: the run waits", name);
    has_str(err.text, why, "... with the reason");
    snprintf(waiting, sizeof waiting, "%s.w1.waiting", path);
    has_str(err.text, waiting, "... and the path");
    is_int(add_run(path, "w2", 200, VERDICT_FAIL, VERDICT_FAIL), 1, "the next run waits, too");
    snprintf(aside, sizeof aside, "%s.aside", path);
    is_int(rename(path, aside), 0, "the cause is moved away");
    is_int(add_run(path, "w3", 300, VERDICT_FAIL, VERDICT_PASS), 0, "a third run is added (%s)",
           err.text);
    is_int(count_rows(path, "SELECT count(*) FROM runs"), 3, "... with the two that waited");
    is_int(count_rows(path, "SELECT count(*) FROM figures"), 6, "... and their figures");
    is_near(since_of(path, "n1"), 200, 0, "... in the order of time");
    ok(access(waiting, F_OK) != 0, "... and none waits any more");
}

/* Returns the number of files removed. */
static int remove_from_run(void)
{
    glob_t found = {0};
    int count = 0;

    if (glob("/run/muster/history.db.*r9.waiting", 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            count += unlink(found.gl_pathv[i]) == 0;
    globfree(&found);
    return count;
}

static void test_bad_databases(void)
{
    char broken[192], garbage[4097];

    snprintf(garbage, sizeof garbage, "%04096d", 7);
    tree_put(directory, "corrupt.db", garbage);
    is_int(history_nodes(path_in("corrupt.db"), NULL, 1, add_node, NULL, &err), -1,
           "a file that is no database cannot be read");
    has_str(err.text, "corrupt.db: ", "... with its name");
    test_waiting("corrupt.db", "file is not a database");
    is_int(add_run(path_in("damaged.db"), "d1", 1, VERDICT_PASS, VERDICT_PASS), 0,
           "a run is added");
    execute(path_in("damaged.db"),
            "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM"
            " sqlite_master WHERE name = 'records') WHERE name = 'sqlite_autoindex_nodes_1'");
    is_int(history_accept(path_in("damaged.db"), "n1", NULL, NULL, 2, &err), -1,
           "a damaged database is an error, not an unknown node");
    has_str(err.text, "malformed", "... with the reason");
    execute(path_in("foreign.db"), "CREATE TABLE moz_places (id INTEGER)");
    test_waiting("foreign.db", "found a database that is not muster's");
    execute(path_in("newer.db"), "PRAGMA application_id = 0x6d757374;"
                                 "PRAGMA user_version = 7; CREATE TABLE runs (x)");
    test_waiting("newer.db", "found schema 7 of a newer muster");
    execute(path_in("older.db"), "PRAGMA application_id = 0x6d757374;"
                                 "PRAGMA user_version = 3; CREATE TABLE runs (x)");
    test_waiting("older.db", "found schema 3 of an older muster");
    is_int(mkdir(path_in("directory.db"), 0755), 0, "a directory is made");
    test_waiting("directory.db", "found a directory, expected a database");
    tree_put(directory, "[a]*/b\\?[c].db", garbage);
    test_waiting("[a]*/b\\?[c].db", "file is not a database");
    is_int(add_run("/dev/null/x/history.db", "r9", 1, VERDICT_PASS, VERDICT_PASS),
           geteuid() == 0 ? 1 : -1,
           "a directory that cannot be written: the run waits in /run (%s)", err.text);
    execute(path_in("history.db.v.waiting"),
            "CREATE TABLE runs (x); PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 7");
    tree_put(directory, "history.db.w.waiting", "not a database");
    tree_put(directory, "history.db.x.waiting", "");
    is_int(add_run(path_in("history.db"), "after", 900, VERDICT_PASS, VERDICT_PASS), 0,
           "an invalid waiting file does not stop a run");
    for (const char *name = "vwx"; *name; name++) {
        snprintf(broken, sizeof broken, "%s.%c.waiting.broken", path_in("history.db"), *name);
        ok(access(broken, F_OK) == 0, "... %c is renamed to broken", *name);
    }
    is_int(count_rows(path_in("history.db"), "SELECT count(*) FROM runs WHERE run = 'r9'"), 0,
           "... runs that wait for another path are not taken in");
    is_int(remove_from_run(), geteuid() == 0, "... they stay in /run");
    execute(path_in("history.db.y.waiting"), "PRAGMA application_id = 0x6d757374;"
                                             "PRAGMA user_version = 7; CREATE TABLE runs (x)");
    is_int(add_run(path_in("history.db"), "then", 901, VERDICT_PASS, VERDICT_PASS), 0,
           "a run of a newer muster does not stop one");
    ok(access(path_in("history.db.y.waiting"), F_OK) == 0, "... and keeps waiting");
    unlink(path_in("history.db.y.waiting"));
}

/* Two waiting files with complete runs that the database refuses: by its index, or as a column is
 * missing. */
static void test_refused_runs(void)
{
    const char *path = path_in("refusing.db");
    char name[192], broken[192];

    for (const char *at = "pq"; *at; at++) {
        snprintf(name, sizeof name, "%s.%c.waiting", path, *at);
        add_run(name, "s1", 100, VERDICT_PASS, VERDICT_PASS);
        execute(name, *at == 'p' ? "DROP INDEX nodes_of_run; CREATE TABLE copied AS SELECT * FROM"
                                   " nodes; DROP TABLE nodes; CREATE TABLE nodes AS SELECT * FROM"
                                   " copied UNION ALL SELECT * FROM copied"
                                 : "CREATE TABLE copied AS SELECT run, cluster, level, dry_run,"
                                   " time, seconds FROM runs; DROP TABLE runs; ALTER TABLE copied"
                                   " RENAME TO runs");
    }
    is_int(add_run(path, "s2", 200, VERDICT_PASS, VERDICT_PASS), 0,
           "waiting runs that are refused do not stop the next run (%s)", err.text);
    is_int(count_rows(path, "SELECT count(*) FROM runs"), 1, "... nothing of them is added");
    for (const char *at = "pq"; *at; at++) {
        snprintf(broken, sizeof broken, "%s.%c.waiting.broken", path, *at);
        ok(access(broken, F_OK) == 0, "... %c is renamed to broken", *at);
    }
}

/* Waiting runs outlive a database whose damage refuses them: an index that has the nodes of no row,
 * a table or a column that is lost. */
static void waits_for_a_new_database(const char *name, const char *damage)
{
    char path[192], waiting[192], aside[192];

    snprintf(path, sizeof path, "%s", path_in(name));
    snprintf(waiting, sizeof waiting, "%s.w.waiting", path);
    snprintf(aside, sizeof aside, "%s.aside", path);
    add_run(path, "h", 100, VERDICT_PASS, VERDICT_PASS);
    execute(path, damage);
    is_int(add_run(path, "x", 300, VERDICT_PASS, VERDICT_PASS), 1,
           "a run waits if the damaged database refuses it (%s)", err.text);
    add_run(waiting, "w", 200, VERDICT_PASS, VERDICT_PASS);
    is_int(add_run(path, "y", 400, VERDICT_PASS, VERDICT_PASS), 1, "... or one that waits (%s)",
           err.text);
    ok(access(waiting, F_OK) == 0, "... which is not renamed");
    rename(path, aside);
    is_int(add_run(path, "z", 500, VERDICT_PASS, VERDICT_PASS), 0, "a new database is made");
    is_int(count_rows(path, "SELECT count(*) FROM runs WHERE run IN ('w', 'x', 'y', 'z')"), 4,
           "... with all of them");
}

/* Returns what is printed on standard error while a run is added. */
static const char *stderr_of_add(const char *path, const char *run)
{
    const char *stderr_text;
    int rv;

    capture_begin();
    rv = add_run(path, run, 902, VERDICT_PASS, VERDICT_PASS);
    stderr_text = capture_end(2);
    is_int(rv, 0, "run %s is added", run);
    return stderr_text;
}

static bool is_disk_failing;

ssize_t __real_read_all(int fd, void *bytes, size_t length);
ssize_t __wrap_read_all(int fd, void *bytes, size_t length);
ssize_t __wrap_read_all(int fd, void *bytes, size_t length)
{
    if (!is_disk_failing)
        return __real_read_all(fd, bytes, length);
    errno = EIO;
    return -1;
}

/* To SQLite a page that cannot be read is damage. */
static void keeps_a_waiting_file_that_cannot_be_read(void)
{
    const char *path = path_in("failing.db"), *waiting = path_in("failing.db.z.waiting");
    char text[300];

    tree_put(directory, "failing.db.z.waiting", "not read");
    is_disk_failing = true;
    snprintf(text, sizeof text, "%s: Input/output error; it goes on waiting\n", waiting);
    is_str(stderr_of_add(path, "f1"), text, "a waiting file that cannot be read is named");
    is_disk_failing = false;
    ok(access(waiting, F_OK) == 0, "... and keeps waiting");
    has_str(stderr_of_add(path, "f2"), "found no complete run, renamed to",
            "... until it can be read");
}

static void names_waiting_files_of_other_users(void)
{
    const char *path = path_in("another.db"), *waiting = path_in("another.db.z.waiting");
    char stderr_text[200];

    execute(waiting, "CREATE TABLE runs (x)");
    if (chown(waiting, geteuid() + 1, (gid_t)-1) != 0) {
        tap_skip("a file of another user needs root");
        return;
    }
    snprintf(stderr_text, sizeof stderr_text, "%s: belongs to UID %u, ", waiting,
             (unsigned)geteuid() + 1);
    has_str(stderr_of_add(path, "a1"), stderr_text, "a waiting file of another user is named");
    ok(access(waiting, F_OK) == 0, "... and keeps waiting");
}

static const char *locked_at_step; /* by another process, once the statement is prepared; or NULL */

int __real_sqlite3_step(sqlite3_stmt *statement);
int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    sqlite3 *other = NULL;
    int status;

    if (locked_at_step && sqlite3_open(locked_at_step, &other) == SQLITE_OK)
        sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL);
    status = __real_sqlite3_step(statement);
    sqlite3_close(other);
    return status;
}

static void test_locked(void)
{
    const char *path = path_in("locked.db");
    sqlite3 *database;
    double begin;

    is_int(history_take_in(path, &err), 0, "without waiting runs nothing is taken in");
    ok(access(path, F_OK) != 0, "... no database is made");
    add_run(path, "l1", 100, VERDICT_PASS, VERDICT_PASS);
    history_busy_ms = 100;
    sqlite3_open(path, &database);
    sqlite3_exec(database, "BEGIN EXCLUSIVE", NULL, NULL, NULL);
    is_int(add_run(path, "l2", 200, VERDICT_PASS, VERDICT_PASS), 1,
           "a run waits while another process holds the lock");
    has_str(err.text, "database is locked", "... with the reason");
    is_int(history_take_in(path, &err), -1, "... and is not taken in");
    history_busy_ms = 1000;
    begin = clock_s();
    is_int(history_take_in(path, &err), -1, "a lock is awaited");
    ok(clock_s() - begin < 2.5, "... once (%.1f s)", clock_s() - begin);
    sqlite3_close(database);
    history_busy_ms = 10000;
    is_int(history_take_in(path, &err), 0, "after the lock is released");
    is_int(count_rows(path, "SELECT count(*) FROM runs"), 2, "... the waiting run is taken in");
    is_int(count_rows(path_in("locked.db.copy"), "SELECT count(*) FROM runs"), 2,
           "... and is in the copy for other users");
    is_int(add_run(path, "l3", 300, VERDICT_PASS, VERDICT_PASS), 0, "... the next run is added");
    is_int(count_rows(path, "SELECT count(*) FROM runs"), 3, "... and no run waits");
    history_busy_ms = 10;
    locked_at_step = path;
    is_int(history_nodes(path, NULL, 10, add_node, NULL, &err), -1, "a lock that comes late");
    locked_at_step = NULL;
    history_busy_ms = 10000;
    has_str(err.text, "database is locked", "... is named, too");
}

/* Adds a run now in which a node has this kernel. */
static int add_kernel(const char *path, const char *run, const char *kernel)
{
    const struct record fact = RECORD(.suite = "check", .test = "host.config", .metric = "kernel",
                                      .node = "n1", .message = kernel);
    struct records records = {0};
    int rv;

    records_add(&records, &fact);
    rv = history_add(path, &(struct history_run){.run = run}, NULL, 0, &records, 0, &err);
    records_clear(&records);
    return rv;
}

static void test_waiting_at_once(void)
{
    const char *path = path_in("at_once.db");
    char garbage[4097];

    snprintf(garbage, sizeof garbage, "%04096d", 7);
    tree_put(directory, "at_once.db", garbage);
    while (clock_epoch_s() - (double)time(NULL) > 0.5) /* early in a second */
        usleep(10000);
    is_int(add_kernel(path, "a", "6.1"), 1, "a run waits");
    is_int(add_kernel(path, "b", "6.2"), 1, "... and another of the same second");
    unlink(path);
    is_int(history_take_in(path, &err), 0, "both are taken in (%s)", err.text);
    is_int(count_rows(path, "SELECT count(*) FROM facts"), 2, "... with their different facts");
}

static int mode_of(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 ? (int)(status.st_mode & 0777) : -1;
}

/* An ordinary user reads the history and keeps what it can open locked until the pipe ends. Exit
 * status 0: the copy was readable, and the database was not. */
static void __attribute__((noreturn)) run_other_user(const char *path, const char *copy, int done)
{
    sqlite3 *database = NULL, *original = NULL;
    char byte = 0;
    int rv = 1;

    if (setgid(65534) != 0 || setuid(65534) != 0)
        _exit(77);
    seen_text[0] = '\0';
    if (history_nodes(path, NULL, 9, add_node, NULL, &err) == 2 &&
        sqlite3_open_v2(path, &original, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK &&
        sqlite3_open_v2(copy, &database, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_exec(database, "BEGIN; SELECT count(*) FROM runs", NULL, NULL, NULL) == SQLITE_OK)
        rv = 0;
    if (rv != 0)
        fprintf(stderr, "# read by another user: %s; %s\n", err.text, seen_text);
    if (write(done, &byte, 1) != 1 || read(done, &byte, 1) < 0)
        rv = 2;
    _exit(rv);
}

static void test_other_users(void)
{
    const char *path = path_in("others.db"), *copy = path_in("others.db.copy"),
               *site = path_in("site.db");
    int ends[2], status = -1;
    char byte;
    pid_t child;

    add_run(path, "o1", 100, VERDICT_PASS, VERDICT_PASS);
    is_int(mode_of(path), 0600, "only the owner can read the history");
    is_int(mode_of(copy), 0644, "... other users have a copy");
    chmod(path, 0644);
    add_run(path, "o2", 200, VERDICT_PASS, VERDICT_PASS);
    is_int(mode_of(path), 0600, "a history that others could read is made private");
    is_int(count_rows(copy, "SELECT count(*) FROM runs"), 2, "... and the copy has both runs");
    execute(site, "CREATE TABLE jobs (id)");
    chmod(site, 0644);
    add_run(site, "s1", 100, VERDICT_PASS, VERDICT_PASS);
    is_int(mode_of(site), 0644, "another program's file keeps its mode");
    if (geteuid() != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        ok(true, "other users # SKIP needs root");
        return;
    }
    chmod(directory, 0755);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        close(ends[0]);
        run_other_user(path, copy, ends[1]);
    }
    close(ends[1]);
    ok(read(ends[0], &byte, 1) == 1, "another user reads the copy and holds a lock");
    history_busy_ms = 100;
    is_int(add_run(path, "o3", 300, VERDICT_PASS, VERDICT_PASS), 0,
           "... which does not stop a run (%s)", err.text);
    history_busy_ms = 10000;
    is_int(count_rows(copy, "SELECT count(*) FROM runs"), 3, "... or the next copy");
    close(ends[0]);
    waitpid(child, &status, 0);
    is_int(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0,
           "the user read the copy and could not open the history itself");
    child = fork();
    if (child == 0) {
        chmod(directory, 0700);
        _exit(setgid(65534) == 0 && setuid(65534) == 0 &&
                      history_nodes(path, NULL, 9, add_node, NULL, &err) == -1 &&
                      strcmp(err.text + strlen(path), ": Permission denied") == 0
                  ? 0
                  : 1);
    }
    waitpid(child, &status, 0);
    chmod(directory, 0755);
    is_int(status, 0, "a history in a closed directory says so");
    child = fork();
    if (child == 0)
        _exit(setgid(65534) == 0 && setuid(65534) == 0 &&
                      history_accept(path, "n1", NULL, NULL, 0, &err) == -1 &&
                      strcmp(err.text + strlen(path), ": Permission denied") == 0
                  ? 0
                  : 1);
    waitpid(child, &status, 0);
    is_int(status, 0, "... and so does one that the user may not change");
}

/* Runs in its own mount namespace with a disk of 240 kB, half of which the copy takes, and its
 * own /run. Returns 0 on success, 77 to skip. */
static int run_on_full_disk(void)
{
    const char *path = path_in("small/history.db");
    char names[24];
    int stored = 0, waiting = 0, rv = 0;

    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mkdir(path_in("small"), 0755) != 0 ||
        mount("small", path_in("small"), "tmpfs", 0, "size=240k") != 0 ||
        mount("run", "/run", "tmpfs", 0, "size=8m") != 0)
        return 77;
    for (int i = 0; i < 4000 && rv >= 0 && waiting < 3; i++) {
        snprintf(names, sizeof names, "d%03d", i);
        rv = add_run(path, names, 100 + i, VERDICT_PASS, VERDICT_FAIL);
        stored += rv == 0;
        waiting += rv == 1;
    }
    if (waiting != 3 || !strstr(err.text, "full") || stored < 3 ||
        count_rows(path, "SELECT count(*) FROM runs") != stored ||
        count_rows(path, "SELECT count(*) FROM pragma_quick_check WHERE quick_check <> 'ok'") !=
            0) {
        fprintf(stderr, "# %d stored, %d waiting: %s\n", stored, waiting, err.text);
        return 1;
    }
    if (mount("small", path_in("small"), "tmpfs", MS_REMOUNT, "size=8m") != 0)
        return 77;
    rv = add_run(path, "room", 900, VERDICT_PASS, VERDICT_PASS);
    if (rv != 0 || count_rows(path, "SELECT count(*) FROM runs") != stored + waiting + 1) {
        fprintf(stderr, "# with free space again: %d, %s\n", rv, err.text);
        return 2;
    }
    return 0;
}

static void test_full_disk(void)
{
    pid_t child;
    int status = -1;

    fflush(NULL);
    child = fork();
    if (child == 0)
        _exit(run_on_full_disk());
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        ok(true, "a full disk # SKIP no mount namespace of our own here");
    else
        is_int(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0,
               "on a full disk runs wait, nothing is damaged, and all are taken in once there is "
               "space");
}

/* ---------------------------------------------------------------- several at once */

enum { WRITERS = 4, RUNS_EACH = 15 };

static void test_concurrency(void)
{
    const char *path = path_in("shared.db");
    int good = 0, status;

    fflush(NULL);
    for (int i = 0; i < WRITERS; i++)
        if (fork() == 0) {
            char run[16];
            int lost = 0;

            for (int k = 0; k < RUNS_EACH; k++) {
                snprintf(run, sizeof run, "c%d-%d", i, k);
                lost += add_run(path, run, 0, VERDICT_PASS, VERDICT_PASS) < 0;
            }
            _exit(lost);
        }
    while (wait(&status) > 0)
        good += status == 0;
    is_int(good, WRITERS, "four processes write at the same time");
    is_int(add_run(path, "end", 0, VERDICT_PASS, VERDICT_PASS), 0, "one more run");
    is_int(count_rows(path, "SELECT count(*) FROM runs"), WRITERS * RUNS_EACH + 1,
           "... each run is stored once");
}

static void test_kills(void)
{
    const char *path = path_in("killed.db");
    int runs, nodes;

    for (int i = 0; i < 15; i++) {
        pid_t child;

        fflush(NULL);
        child = fork();
        if (child == 0)
            for (int k = 0;; k++) {
                char run[24];

                snprintf(run, sizeof run, "k%d-%d", i, k);
                add_run(path, run, 0, VERDICT_PASS, VERDICT_PASS);
            }
        usleep(3000 + 7001 * (unsigned)i);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    is_int(add_run(path, "end", 0, VERDICT_PASS, VERDICT_PASS), 0,
           "after writers are killed at any time the next run is added (%s)", err.text);
    runs = count_rows(path, "SELECT count(*) FROM runs");
    nodes = count_rows(path, "SELECT count(*) FROM nodes");
    is_int(nodes, 2 * runs, "... each of %d runs is complete", runs);
    is_int(count_rows(path, "SELECT count(*) FROM pragma_quick_check WHERE quick_check <> 'ok'"), 0,
           "... and the database is intact");
}

/* As the process of a large run: its change, not yet whole, is in the file when it is killed. */
static void __attribute__((noreturn)) die_in_the_middle(const char *path)
{
    static const char change[] =
        "PRAGMA cache_size = 5; BEGIN IMMEDIATE;"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
        " INSERT INTO texts (text) SELECT printf('%0200d', i) FROM n; DELETE FROM nodes";
    sqlite3 *database = NULL;

    _exit(sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
                  sqlite3_exec(database, change, NULL, NULL, NULL) == SQLITE_OK
              ? 0
              : 1);
}

/* Returns whether a run was killed and left its journal. */
static bool has_died_in_the_middle(const char *path)
{
    char journal[256];
    int status = -1;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0)
        die_in_the_middle(path);
    waitpid(child, &status, 0);
    snprintf(journal, sizeof journal, "%s-journal", path);
    return status == 0 && access(journal, F_OK) == 0;
}

static void test_killed_run(void)
{
    const char *path = path_in("half.db"), *other = path_in("other.db"),
               *journal = path_in("other.db-journal");

    add_run(path, "h1", 100, VERDICT_PASS, VERDICT_PASS);
    ok(has_died_in_the_middle(path), "a run is killed while its change is half written");
    seen_text[0] = '\0';
    is_int(history_nodes(path, NULL, 9, add_node, NULL, &err), 2, "the history can be read (%s)",
           err.text);
    is_str(seen_text, "h1 n1 pass 100 ;h1 n2 pass 100 ;", "... as it was before that run");
    add_run(other, "o1", 100, VERDICT_PASS, VERDICT_PASS);
    if (!has_died_in_the_middle(other) || chown(journal, geteuid() + 1, (gid_t)-1) != 0) {
        tap_skip("a file of another user needs root");
        return;
    }
    is_int(history_nodes(other, NULL, 9, add_node, NULL, &err), -1,
           "... but not by the journal of another user");
    ok(access(journal, F_OK) == 0, "... which root leaves alone");
}

int main(void)
{
    directory = tree_unpack("");
    test_runs();
    test_find();
    test_figures();
    test_forgetting();
    keeps_runs_though_a_clock_was_ahead();
    orders_runs_though_a_clock_was_stepped_back();
    test_pairs();
    test_codes();
    test_bad_databases();
    test_refused_runs();
    waits_for_a_new_database("index.db", "CREATE UNIQUE INDEX lost ON nodes (node)");
    waits_for_a_new_database("table.db", "DROP TABLE records");
    waits_for_a_new_database("column.db", "CREATE UNIQUE INDEX lost ON nodes (node);"
                                          "ALTER TABLE runs RENAME COLUMN run TO lost");
    names_waiting_files_of_other_users();
    keeps_a_waiting_file_that_cannot_be_read();
    test_locked();
    test_waiting_at_once();
    test_other_users();
    test_full_disk();
    test_concurrency();
    test_kills();
    test_killed_run();
    tree_remove(directory);
    return tap_done();
}
