/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/history/campaign.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/name_index.h"
#include "lib/base/text.h"
#include "lib/certificate/certificate.h"
#include "validate/history/database.h"
#include "validate/report/recordfile.h"

/* Uses the index by node: few records have no node. */
#define CAMPAIGN_RECORD                                                                            \
    "records.node IS NULL AND records.suite = 'certify' AND records.test = 'campaign'"

bool campaign_is_name(const char *name)
{
    return isalnum((unsigned char)*name) && text_is_name(name, "._-", CAMPAIGN_NAME);
}

struct reading {
    struct campaign *campaign;
    struct name_index index; /* of its nodes */
    char *run;               /* the newest so far */
    struct hostlist lists;   /* the nodes that it named, folded; several lists if there are many */
    struct hostlist nodes;   /* ... and each of them */
    int *tries;              /* of each node */
};

/* Expands the nodes of the newest run only: those of all runs would be nodes times runs. */
static int expand_lists(struct reading *reading, struct error *err)
{
    int rv = 0;

    for (size_t i = 0; rv == 0 && i < reading->lists.count; i++) {
        struct hostlist part;

        if (hostlist_expand(reading->lists.names[i], &part, NULL) != 0) {
            reading->campaign->is_named = false;
            continue;
        }
        rv = hostlist_append_all(&reading->nodes, (const char *const *)part.names, part.count);
        hostlist_clear(&part);
    }
    return rv == 0 ? 0
                   : error_set(err, "out of memory for the nodes of campaign %s",
                               reading->campaign->name);
}

static int run_take(struct reading *reading, sqlite3_stmt *statement)
{
    struct campaign *campaign = reading->campaign;
    const char *run = database_text(statement, 5), *cluster = database_text(statement, 6);
    double begin = sqlite3_column_double(statement, 0) - sqlite3_column_double(statement, 1);

    if (!reading->run || strcmp(run, reading->run) != 0) {
        if (campaign->runs++ == 0 || begin < campaign->begin)
            campaign->begin = begin;
        hostlist_clear(&reading->lists);
        campaign->is_named = true;
        free(reading->run);
        reading->run = strdup(run);
        if (!reading->run)
            return -1;
    }
    if (*cluster)
        text_put(campaign->cluster, sizeof campaign->cluster, "%s", cluster);
    campaign->last = sqlite3_column_double(statement, 0);
    campaign->wanted = (size_t)sqlite3_column_double(statement, 3);
    text_put(campaign->level, sizeof campaign->level, "%s", database_text(statement, 2));
    if (!*database_text(statement, 4)) {
        campaign->is_named = false;
        return 0;
    }
    return hostlist_append(&reading->lists, database_text(statement, 4));
}

/* Reads the runs of the campaign and their nodes: the given ones, else those of the newest run. */
static int read_runs(const char *path, const struct hostlist *nodes, struct reading *reading,
                     struct error *err)
{
    struct campaign *campaign = reading->campaign;
    struct database_rows rows =
        database_query(path, err,
                       "SELECT runs.time, runs.seconds, runs.level, records.value, records.message,"
                       " run, cluster FROM records JOIN runs USING (run) WHERE " CAMPAIGN_RECORD
                       " AND records.part = ?1 AND dry_run = 0 AND " DATABASE_OF_CLUSTER
                       " ORDER BY runs.time, run, records.rowid",
                       "t---t", campaign->name, campaign->cluster);
    int count;

    while (database_next(&rows))
        rows.is_out_of_memory = run_take(reading, rows.statement) != 0;
    count = database_end(&rows, err);
    if (count < 0)
        return -1;
    if (count > 0 && expand_lists(reading, err) != 0)
        return -1;
    if (count == 0)
        campaign->begin = (double)time(NULL);
    campaign->is_named = nodes || (campaign->is_named && reading->nodes.count >= campaign->wanted);
    if (!campaign->is_named)
        return count;
    if (!nodes)
        nodes = &reading->nodes;
    campaign->wanted = nodes->count;
    if (hostlist_append_all(&campaign->nodes, (const char *const *)nodes->names, nodes->count) != 0)
        return error_set(err, "out of memory for %zu nodes", nodes->count);
    return count;
}

/* Adds the nodes that were tested since the campaign began. Returns 0, or -1 with err. */
static int names_read(const char *path, const struct campaign *campaign, struct hostlist *names,
                      struct error *err)
{
    struct database_rows rows =
        database_query(path, err,
                       "SELECT DISTINCT node FROM nodes JOIN runs USING (run)"
                       " WHERE nodes.time >= ?1 AND " DATABASE_OF_CLUSTER " ORDER BY node",
                       "n---t", campaign->begin, campaign->cluster);

    while (database_next(&rows))
        rows.is_out_of_memory = hostlist_append(names, database_text(rows.statement, 0)) != 0;
    return database_end(&rows, err) < 0 ? -1 : 0;
}

/* Takes a node of a run; the newest run comes last. */
static void node_take(struct reading *reading, sqlite3_stmt *statement)
{
    struct campaign *campaign = reading->campaign;
    long place = name_index_find(&reading->index, database_text(statement, 0));
    int verdict = verdict_parse(database_text(statement, 2));
    bool is_certified = *database_text(statement, 3) != '\0';
    bool is_try = sqlite3_column_int(statement, 4) > 0;
    enum campaign_state *state;

    if (place < 0)
        return;
    state = &campaign->states[place];
    if (is_certified &&
        certificate_level(database_text(statement, 1)) >= certificate_level(campaign->level))
        *state = CAMPAIGN_CERTIFIED;
    else if (verdict == VERDICT_FAIL)
        *state = CAMPAIGN_FAILED;
    else if (verdict == VERDICT_UNKNOWN && is_try && *state == CAMPAIGN_LEFT &&
             ++reading->tries[place] >= CAMPAIGN_TRIES)
        *state = CAMPAIGN_UNKNOWN;
}

static int nodes_take(const char *path, struct reading *reading, struct error *err)
{
    /* it is no try if the node was busy with a job or another run */
    struct database_rows rows = database_query(
        path, err,
        "SELECT nodes.node, nodes.level, verdict, certified_until,"
        " nodes.run IN (SELECT run FROM records WHERE " CAMPAIGN_RECORD " AND records.part = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM records WHERE records.run = nodes.run AND"
        " records.node = nodes.node AND suite = 'certify' AND records.test = 'certify' AND"
        " code = ?2) FROM nodes JOIN runs USING (run) WHERE nodes.time >= ?4 AND dry_run = 0"
        " AND " DATABASE_OF_CLUSTER " ORDER BY nodes.time",
        "tt-nt", reading->campaign->name, catalog_fault(FAULT_NODE_AWAY)->name,
        reading->campaign->begin, reading->campaign->cluster);

    while (database_next(&rows))
        node_take(reading, rows.statement);
    return database_end(&rows, err) < 0 ? -1 : 0;
}

static int read_states(const char *path, struct reading *reading, struct error *err)
{
    struct campaign *campaign = reading->campaign;
    struct hostlist *nodes = &campaign->nodes;
    int rv = 0;

    if (!campaign->is_named && /* then only the tested nodes are known */
        names_read(path, campaign, nodes, err) != 0)
        return -1;
    campaign->states = calloc(nodes->count + 1, sizeof *campaign->states);
    reading->tries = calloc(nodes->count + 1, sizeof *reading->tries);
    if (!campaign->states || !reading->tries || hostlist_index(nodes, &reading->index) != 0)
        return error_set(err, "out of memory for %zu nodes", nodes->count);
    if (*campaign->level)
        rv = nodes_take(path, reading, err);
    for (size_t i = 0; i < nodes->count; i++)
        campaign->counts[campaign->states[i]]++;
    if (campaign->wanted > nodes->count) /* some nodes are not known by name */
        campaign->counts[CAMPAIGN_LEFT] += campaign->wanted - nodes->count;
    campaign->wanted = campaign->wanted < nodes->count ? nodes->count : campaign->wanted;
    return rv;
}

int campaign_read(const char *path, const char *name, const char *cluster,
                  const struct hostlist *nodes, struct campaign *campaign, struct error *err)
{
    struct reading reading = {.campaign = campaign};
    int count;

    *campaign = (struct campaign){0};
    text_put(campaign->name, sizeof campaign->name, "%s", name);
    text_put(campaign->cluster, sizeof campaign->cluster, "%s", cluster ? cluster : "");
    count = read_runs(path, nodes, &reading, err);
    if (count >= 0 && read_states(path, &reading, err) != 0)
        count = -1;
    name_index_clear(&reading.index);
    hostlist_clear(&reading.lists);
    hostlist_clear(&reading.nodes);
    free(reading.run);
    free(reading.tries);
    if (count < 0)
        campaign_clear(campaign);
    return count > 0 ? 1 : count;
}

void campaign_clear(struct campaign *campaign)
{
    hostlist_clear(&campaign->nodes);
    free(campaign->states);
    *campaign = (struct campaign){0};
}

static int records_add_nodes(const struct campaign *campaign, const struct hostlist *nodes,
                             struct records *records)
{
    char *folded = hostlist_fold(nodes);
    size_t half = nodes->count / 2;
    struct record record;
    int rv = -1;

    if (folded && half > 0 && strlen(folded) >= RECORDFILE_MESSAGE) {
        rv = records_add_nodes(campaign, &(struct hostlist){nodes->names, half}, records);
        if (rv == 0)
            rv = records_add_nodes(
                campaign, &(struct hostlist){nodes->names + half, nodes->count - half}, records);
    } else if (folded) {
        record = RECORD(.suite = "certify", .test = "campaign", .metric = "nodes",
                        .part = campaign->name, .value = (double)campaign->nodes.count,
                        .unit = "count", .message = folded);
        rv = records_add(records, &record);
    }
    free(folded);
    return rv;
}

int campaign_records(const struct campaign *campaign, struct records *records)
{
    return records_add_nodes(campaign, &campaign->nodes, records);
}

int campaign_list(const char *path, const char *name, struct hostlist *names,
                  struct hostlist *clusters, struct error *err)
{
    struct database_rows rows = database_query(
        path, err,
        "SELECT part, cluster FROM (SELECT part, cluster, min(records.time) AS begin,"
        " max(cluster) OVER (PARTITION BY part) AS known FROM records JOIN runs USING (run)"
        " WHERE " CAMPAIGN_RECORD " AND part NOT NULL AND (?1 IS NULL OR part = ?1)"
        " GROUP BY part, cluster) WHERE cluster IS NOT NULL OR known IS NULL ORDER BY begin",
        "t", name);

    while (database_next(&rows))
        rows.is_out_of_memory = hostlist_append(names, database_text(rows.statement, 0)) != 0 ||
                                hostlist_append(clusters, database_text(rows.statement, 1)) != 0;
    return database_end(&rows, err) < 0 ? -1 : 0;
}

void campaign_describe(const struct campaign *campaign, char *text, size_t size)
{
    char failed[32] = "", unknown[32] = "", left[32] = "";
    const size_t *counts = campaign->counts;

    if (counts[CAMPAIGN_FAILED] > 0)
        snprintf(failed, sizeof failed, ", %zu failed", counts[CAMPAIGN_FAILED]);
    if (counts[CAMPAIGN_UNKNOWN] > 0)
        snprintf(unknown, sizeof unknown, ", %zu unknown", counts[CAMPAIGN_UNKNOWN]);
    if (counts[CAMPAIGN_LEFT] > 0)
        snprintf(left, sizeof left, ", %zu left", counts[CAMPAIGN_LEFT]);
    text_put(text, size, "%zu of %zu nodes certified%s%s%s%s%s%s", counts[CAMPAIGN_CERTIFIED],
             campaign->wanted, *campaign->level ? " (" : "", campaign->level,
             *campaign->level ? ")" : "", failed, unknown, left);
}
