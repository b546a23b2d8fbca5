/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/history/database.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---------------------------------------------------------------- rows */

static bool add_run(sqlite3 *database, const struct history_run *run, double now)
{
    return database_run(database, "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", "tttinni",
                        run->run, run->cluster, run->level, run->is_dry_run, now, run->seconds,
                        run->status);
}

static bool add_nodes(sqlite3 *database, const struct history_run *run, double now,
                      const struct history_node *nodes, size_t count, const struct records *records)
{
    uint64_t *fingerprints = calloc(count + 1, sizeof *fingerprints);
    const char **names = calloc(count + 1, sizeof *names);
    struct name_index index = {0};
    sqlite3_stmt *statement =
        database_prepare(database, "INSERT INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    bool is_done;

    for (size_t i = 0; names && i < count; i++)
        names[i] = nodes[i].node;
    is_done = statement && fingerprints && names && name_index_build(names, count, &index) == 0;
    if (is_done)
        history_fingerprints(records, &index, fingerprints);
    for (size_t i = 0; is_done && i < count; i++)
        is_done = database_insert(statement, "ttnttttttnl", run->run, nodes[i].node, now,
                                  run->level, verdict_name(nodes[i].verdict), nodes[i].test,
                                  nodes[i].part, nodes[i].message, nodes[i].certified_until,
                                  nodes[i].rail_mbps, (sqlite3_int64)fingerprints[i]);
    sqlite3_finalize(statement);
    name_index_clear(&index);
    free(names);
    free(fingerprints);
    return is_done;
}

/* Figures of pairs are many: they are kept only for runs with at most PAIRS_MOST of them, and for
 * RUNS_WITH_PAIRS runs. */
enum { PAIRS_MOST = 4096, RUNS_WITH_PAIRS = 10 };

static bool is_link(const struct record *record)
{
    return catalog_is_suite(record->suite, SUITE_LINKS) &&
           catalog_is_test(record->test, TEST_LINKS);
}

/* Whether the record is a figure of a pair, the limit of a rail, or the leaf switch of a node, from
 * which a report draws its matrix and the topology. */
static bool is_of_matrix(const struct record *record)
{
    bool is_certify = catalog_is_suite(record->suite, SUITE_CERTIFY);

    if (is_certify && catalog_is_test(record->test, TEST_NET_TOPOLOGY))
        return record->node && record->message;
    if (!record->metric || !record->part)
        return false;
    if (is_link(record))
        return record->node && record->peer && isfinite(record->value) &&
               (catalog_is_metric(record->metric, METRIC_LATENCY) ||
                catalog_is_metric(record->metric, METRIC_BANDWIDTH) ||
                catalog_is_metric(record->metric, METRIC_BANDWIDTH_TOGETHER));
    return is_certify && catalog_is_test(record->test, TEST_LINKS) && !record->node &&
           isfinite(record->limit);
}

static bool has_small_matrix(const struct records *records)
{
    size_t count = 0;

    for (size_t i = 0; i < records->count && count <= PAIRS_MOST; i++)
        count += is_of_matrix(RECORD_AT(records, i));
    return count <= PAIRS_MOST;
}

/* Whether the record says that the run is part of a campaign. */
static bool is_of_campaign(const struct record *record)
{
    return catalog_is_suite(record->suite, SUITE_CERTIFY) &&
           catalog_is_test(record->test, TEST_CAMPAIGN) &&
           catalog_is_metric(record->metric, METRIC_NODES);
}

/* Whether the record is the computing rate of a GPU, in BF16, in which models are trained, or in
 * FP32, which each GPU has. */
static bool is_of_gpu(const struct record *record)
{
    return catalog_is_suite(record->suite, SUITE_GPU) && record->node &&
           (catalog_is_metric(record->metric, METRIC_RATE_BF16) ||
            catalog_is_metric(record->metric, METRIC_RATE_FP32));
}

static bool add_records(sqlite3 *database, const struct history_run *run,
                        const struct records *records)
{
    sqlite3_stmt *statement = database_prepare(
        database, "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    bool is_done = statement, has_matrix = has_small_matrix(records);

    for (size_t i = 0; is_done && i < records->count; i++) {
        const struct record *record = RECORD_AT(records, i);

        if ((record->verdict == VERDICT_NONE || record->verdict == VERDICT_PASS) &&
            !(has_matrix && is_of_matrix(record)) && !is_of_campaign(record) &&
            !(catalog_is_test(record->test, TEST_HOST_JOBS) && isfinite(record->job)) &&
            !(catalog_is_suite(record->suite, SUITE_CERTIFY) &&
              catalog_is_test(record->test, TEST_STAGE)))
            continue;
        is_done = database_insert(
            statement, "tnttttttntnttttnn", run->run, record->time, record->suite, record->test,
            record->metric, record->node, record->part, record->peer, record->value, record->unit,
            record->limit, record->limit_source, verdict_name(record->verdict), record->message,
            record_code_name(record), record->job, record->user);
    }
    sqlite3_finalize(statement);
    return is_done;
}

/* ---------------------------------------------------------------- figures */

static bool add_figure(sqlite3_stmt *statement, const char *run, const char *node,
                       const char *metric, const struct record *record)
{
    return database_insert(statement, "kkttnt", node ? node : "", record->part, metric, run,
                           record->value, record->unit);
}

/* Adds the figures. A rail's figure is its best with any partner, which excludes faults of the
 * partners and the path. */
static bool add_figures(sqlite3 *database, const struct history_run *run,
                        const struct records *records)
{
#define INSERT(best)                                                                               \
    "INSERT INTO figures VALUES (?, ?, ?, ?, ?, ?)"                                                \
    " ON CONFLICT (node, part, metric, run) DO UPDATE SET value = " best "(value, excluded.value)"
    sqlite3_stmt *most = database_prepare(database, INSERT("max")),
                 *least = database_prepare(database, INSERT("min"));
    bool is_done = most && least;
#undef INSERT

    for (size_t i = 0; is_done && i < records->count; i++) {
        const struct record *record = RECORD_AT(records, i);
        if (!record->metric || !record->part || !isfinite(record->value))
            continue;
        if (is_link(record) && record->node && record->peer &&
            catalog_is_metric(record->metric, METRIC_BANDWIDTH))
            is_done = add_figure(most, run->run, record->node, "sends", record) &&
                      add_figure(most, run->run, record->peer, "receives", record);
        else if (is_link(record) && record->node &&
                 catalog_is_metric(record->metric, METRIC_LATENCY))
            is_done = add_figure(least, run->run, record->node, "latency", record);
        else if (catalog_is_test(record->test, TEST_COLLECTIVES_SPEED) ||
                 (catalog_is_suite(record->suite, SUITE_HOST) && record->node) || is_of_gpu(record))
            is_done = add_figure(most, run->run, record->node, record->metric, record);
    }
    sqlite3_finalize(most);
    sqlite3_finalize(least);
    /* the bandwidth of each rail is its worse direction, as in the judgement */
    return is_done &&
           database_run(database,
                        "INSERT INTO figures SELECT s.node, s.part, 'bandwidth', s.run,"
                        " min(s.value, r.value), s.unit FROM figures s JOIN figures r"
                        " ON r.node = s.node AND r.part = s.part AND r.run = s.run"
                        " AND r.metric = 'receives' WHERE s.run = ?1 AND s.metric = 'sends'",
                        "t", run->run);
}

/* ---------------------------------------------------------------- facts */

bool database_take_facts(sqlite3 *database, double time)
{
    static const char queries[] =
        "INSERT INTO facts SELECT t.node, t.fact, ?1, t.value FROM reported t WHERE t.value IS NOT"
        " (SELECT value FROM facts f WHERE f.node = t.node AND f.fact = t.fact"
        " ORDER BY f.time DESC LIMIT 1);"
        "INSERT INTO facts SELECT f.node, f.fact, ?1, NULL FROM"
        " (SELECT node, fact, value, row_number() OVER (PARTITION BY node, fact ORDER BY time DESC)"
        " AS nth FROM facts WHERE node IN (SELECT node FROM reported)) f"
        " WHERE f.nth = 1 AND f.value NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM reported t WHERE t.node = f.node AND t.fact = f.fact)";

    return database_run(database, queries, "n", time);
}

bool database_clear_reported(sqlite3 *database)
{
    return database_run(database,
                        "CREATE TEMP TABLE IF NOT EXISTS reported (node INTEGER, fact INTEGER,"
                        " value INTEGER, PRIMARY KEY (node, fact)) WITHOUT ROWID;"
                        "DELETE FROM reported",
                        "");
}

/* Returns the ID of the text, and adds the text if needed; -1 on failure. */
static sqlite3_int64 text_number(sqlite3 *database, sqlite3_stmt *find, sqlite3_stmt *add,
                                 const char *text)
{
    sqlite3_int64 found = -1;

    database_bind(find, "k", text);
    if (sqlite3_step(find) == SQLITE_ROW)
        found = sqlite3_column_int64(find, 0);
    sqlite3_reset(find);
    if (found >= 0)
        return found;
    return database_insert(add, "k", text) ? sqlite3_last_insert_rowid(database) : -1;
}

static bool add_facts(sqlite3 *database, double now, const struct records *records)
{
    sqlite3_stmt *find = NULL, *add = NULL, *insert = NULL;
    bool is_done =
        database_clear_reported(database) &&
        (find = database_prepare(database, "SELECT id FROM texts WHERE text = ?")) &&
        (add = database_prepare(database, "INSERT INTO texts (text) VALUES (?)")) &&
        (insert = database_prepare(database, "INSERT OR REPLACE INTO reported VALUES (?, ?, ?)"));

    for (size_t i = 0; is_done && i < records->count; i++) {
        const struct record *record = RECORD_AT(records, i);
        char fact[256];
        sqlite3_int64 numbers[3];

        if (!catalog_is_test(record->test, TEST_HOST_CONFIG) || record->verdict != VERDICT_NONE ||
            !record->node || !record->metric || !record->message)
            continue;
        snprintf(fact, sizeof fact, "%s%s%s", record->part ? record->part : "",
                 record->part && *record->part ? " " : "", record->metric);
        numbers[0] = text_number(database, find, add, record->node);
        numbers[1] = text_number(database, find, add, fact);
        numbers[2] = text_number(database, find, add, record->message);
        is_done = numbers[0] >= 0 && numbers[1] >= 0 && numbers[2] >= 0 &&
                  database_insert(insert, "lll", numbers[0], numbers[1], numbers[2]);
    }
    sqlite3_finalize(find);
    sqlite3_finalize(add);
    sqlite3_finalize(insert);
    return is_done && database_take_facts(database, now);
}

bool database_add(sqlite3 *database, const struct history_run *run, double now,
                  const struct history_node *nodes, size_t count, const struct records *records)
{
    return add_run(database, run, now) && add_nodes(database, run, now, nodes, count, records) &&
           add_records(database, run, records) && add_figures(database, run, records) &&
           add_facts(database, now, records);
}

/* ---------------------------------------------------------------- the whole */

/* Removes what is older, except facts that are still current. */
static bool forget(sqlite3 *database, double before)
{
    static const char queries[] =
        "DELETE FROM records WHERE run IN (SELECT run FROM runs WHERE time < ?1);"
        "DELETE FROM figures WHERE run IN (SELECT run FROM runs WHERE time < ?1);"
        "DELETE FROM nodes WHERE time < ?1;"
        "DELETE FROM facts WHERE time < ?1 AND EXISTS (SELECT 1 FROM facts f WHERE f.node ="
        " facts.node AND f.fact = facts.fact AND f.time > facts.time AND f.time <= ?1);"
        "DELETE FROM runs WHERE time < ?1";

    return database_run(database, queries, "n", before);
}

/* Removes the records for the matrix that add_records() has kept for older runs. */
static bool forget_pairs(sqlite3 *database)
{
    static const char query[] =
        "DELETE FROM records WHERE run IN (SELECT run FROM runs ORDER BY time DESC LIMIT 10"
        " OFFSET ?1) AND verdict IN ('none', 'pass') AND test IN ('links', 'net.topology')";

    return database_run(database, query, "i", RUNS_WITH_PAIRS);
}

/* Removes the names of a campaign's nodes, which each run has, from all but its newest run:
 * campaign_read() reads no others. */
static bool forget_campaign_names(sqlite3 *database, const struct history_run *run, double now,
                                  const struct records *records)
{
    static const char query[] =
        "UPDATE records SET message = NULL WHERE node IS NULL AND suite = 'certify'"
        " AND test = 'campaign' AND part = ?1 AND message NOT NULL AND run IN"
        " (SELECT run FROM runs WHERE run <> ?2 AND cluster IS ?3 AND time <= ?4)";
    const char *campaign = NULL;

    for (size_t i = 0; i < records->count && !campaign; i++) {
        const struct record *record = RECORD_AT(records, i);

        if (is_of_campaign(record) && record->message)
            campaign = record->part;
    }
    return !campaign || run->is_dry_run ||
           database_run(database, query, "tttn", campaign, run->run, run->cluster, now);
}

/* Returns since when runs are kept. A run's age counts from now, or from the newest stored run if
 * that is earlier. After a gap between runs longer than keep_s the clock may have been ahead: then
 * it counts from the last run before the gap. */
static double kept_since(sqlite3 *database, double now, double keep_s)
{
    static const char query[] =
        "SELECT older FROM (SELECT max(time) AS older FROM runs WHERE time < ?1),"
        " (SELECT min(time) AS newer FROM runs WHERE time >= ?1) WHERE newer - older > ?2";
    double newest = now;

    database_value(database, &newest, "SELECT time FROM runs ORDER BY time DESC LIMIT 1", "");
    newest = fmin(now, newest);
    database_value(database, &newest, query, "nn", newest - keep_s, keep_s);
    return newest - keep_s;
}

int history_add(const char *path, const struct history_run *run, const struct history_node *nodes,
                size_t count, const struct records *records, double keep_s, struct error *err)
{
    struct error why = {""};
    sqlite3 *database = database_open(path, &why);
    bool is_double = false, is_done = false;
    double now, since;

    if (database && spill_take_in(database, path, &why) == 0) {
        is_done = database_run(database, "BEGIN IMMEDIATE", "");
        /* taken under the lock, so that runs that end at once are ordered as they are stored */
        now = run->time > 0 ? run->time : database_now(database);
        since = kept_since(database, now, keep_s);
        is_done = is_done && database_add(database, run, now, nodes, count, records) &&
                  (keep_s <= 0 || forget(database, since)) && forget_pairs(database) &&
                  forget_campaign_names(database, run, now, records) &&
                  database_run(database, "COMMIT", "");
        if (!is_done) {
            is_double = sqlite3_errcode(database) == SQLITE_CONSTRAINT;
            database_failed(database, path, &why);
            database_run(database, "ROLLBACK", "");
            /* else the database is damaged */
            is_double =
                is_double && database_value(database, &since, "SELECT time FROM runs WHERE run = ?",
                                            "t", run->run);
        }
    }
    if (is_done)
        copy_renew(database, path);
    sqlite3_close(database); /* rolls back what was not committed */
    if (is_done)
        return 0;
    if (is_double)
        return error_set(err, "%s", why.text);
    return spill_write(path, run, nodes, count, records, why.text, err);
}

int history_take_in(const char *path, struct error *err)
{
    sqlite3 *database;
    int rv;

    if (!spill_waits(path))
        return 0;
    database = database_open(path, err);
    rv = database ? spill_take_in(database, path, err) : -1;
    if (rv == 0)
        copy_renew(database, path);
    sqlite3_close(database);
    return rv;
}
