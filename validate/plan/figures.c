/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/plan/figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/text.h"
#include "lib/constants/plan_constants.h"
#include "validate/history/database.h"
#include "validate/report/records.h"

enum { RUNS_MOST = 100000 };

/* ---------------------------------------------------------------- nodes and failures */

static int compare_name(const void *name, const void *node)
{
    return strcmp(name, ((const struct plan_node *)node)->name);
}

static struct plan_node *node_of(const struct plan_figures *figures, const char *name)
{
    return bsearch(name, figures->nodes, figures->count, sizeof *figures->nodes, compare_name);
}

struct reading {
    struct plan_figures *figures;
    double failing; /* when the node began to fail, as runs are read backwards; NAN: it does not */
    double passed;  /* when it passed after that */
    bool is_out_of_memory;
};

static void end_failure(struct reading *reading)
{
    struct plan_figures *figures = reading->figures;

    if (isnan(reading->failing))
        return;
    figures->failed++;
    if (!isnan(reading->passed)) {
        figures->repaired++;
        figures->repair_s += reading->passed - reading->failing;
    }
    reading->failing = NAN;
}

/* Takes a run; they come by node, the newest first. */
static void take_run(const struct history_node *run, void *context)
{
    struct reading *reading = context;
    struct plan_figures *figures = reading->figures;
    struct plan_node *node = figures->count > 0 ? &figures->nodes[figures->count - 1] : NULL;

    if (!node || strcmp(node->name, run->node) != 0) {
        end_failure(reading);
        reading->passed = NAN;
        if (!GROW(figures->nodes, figures->count)) {
            reading->is_out_of_memory = true;
            return;
        }
        node = &figures->nodes[figures->count++];
        *node = (struct plan_node){.island = -1,
                                   .verdict = run->verdict,
                                   .link_mbps = NAN,
                                   .latency_us = NAN,
                                   .memory_GBps = NAN,
                                   .disk_MBps = NAN,
                                   .core_gflops = NAN,
                                   .bf16_gflops = NAN,
                                   .fp32_gflops = NAN};
        snprintf(node->name, sizeof node->name, "%s", run->node);
    }
    figures->node_s += node->first > 0 ? node->first - run->time : 0;
    node->first = run->time;
    if (run->verdict == VERDICT_FAIL)
        reading->failing = run->time;
    if (run->verdict != VERDICT_PASS)
        return;
    end_failure(reading);
    reading->passed = run->time;
}

/* ---------------------------------------------------------------- figures and facts */

/* Sums over the parts that the newest run measured: others may no longer exist. */
static void add(double *sum, double *time, const struct history_point *point)
{
    if (point->time < *time)
        return;
    *sum = point->time > *time ? point->value : *sum + point->value;
    *time = point->time;
}

/* Takes the newest value of a part's figure. */
static void take_point(const struct history_point *point, void *context)
{
    struct plan_figures *figures = context;
    struct plan_node *node = *point->node ? node_of(figures, point->node) : NULL;

    if (!node)
        return;
    if (catalog_is_metric(point->metric, METRIC_BANDWIDTH))
        add(&node->link_mbps, &node->link_time, point);
    else if (catalog_is_metric(point->metric, METRIC_LATENCY))
        node->latency_us = fmax(node->latency_us, point->value);
    else if (catalog_is_metric(point->metric, METRIC_TRIAD))
        add(&node->memory_GBps, &node->memory_time, point);
    else if (catalog_is_metric(point->metric, METRIC_DISK_WRITE))
        node->disk_MBps = point->value;
    else if (catalog_is_metric(point->metric, METRIC_CORE_RATE))
        node->core_gflops = fmin(node->core_gflops, point->value);
    else if (catalog_is_metric(point->metric, METRIC_RATE_BF16))
        node->bf16_gflops = fmin(node->bf16_gflops, point->value);
    else if (catalog_is_metric(point->metric, METRIC_RATE_FP32))
        node->fp32_gflops = fmin(node->fp32_gflops, point->value);
}

static const char facts_query[] =
    "SELECT n.text, f.text, v.text, max(facts.time) FROM facts JOIN texts n ON n.id = node"
    " JOIN texts f ON f.id = fact JOIN texts v ON v.id = value WHERE f.text IN"
    " ('fabric', 'gpu.count', 'memory') OR f.text LIKE '% gpu.memory'"
    " GROUP BY node, fact UNION ALL"
    " SELECT node, 'leaf', message, max(time) FROM records WHERE suite = 'certify' AND"
    " test = 'net.topology' AND metric = 'leaf' GROUP BY node";

static void take_fact(sqlite3_stmt *statement, struct plan_figures *figures)
{
    struct plan_node *node = node_of(figures, database_text(statement, 0));
    const char *fact = database_text(statement, 1), *value = database_text(statement, 2);
    const char *metric = strrchr(fact, ' ') ? strrchr(fact, ' ') + 1 : fact; /* behind its part */
    double number = strtod(value, NULL);

    if (!node)
        return;
    if (catalog_is_metric(metric, METRIC_FABRIC))
        snprintf(node->class, sizeof node->class, "%s", value);
    else if (catalog_is_metric(metric, METRIC_LEAF))
        snprintf(node->leaf, sizeof node->leaf, "%s", value);
    else if (catalog_is_metric(metric, METRIC_MEMORY))
        node->host_mb = number * (strstr(value, "TiB") ? 1048576 : 1024) * 1.048576;
    else if (catalog_is_metric(metric, METRIC_GPU_MEMORY))
        node->gpu_mb = node->gpu_mb > 0 ? fmin(node->gpu_mb, number) : number;
    else
        node->gpus = number;
}

/* ---------------------------------------------------------------- sources */

static void set(struct plan_figures *figures, enum plan_figure_id id, double value,
                const char *format, ...) __attribute__((format(printf, 4, 5)));
static void set(struct plan_figures *figures, enum plan_figure_id id, double value,
                const char *format, ...)
{
    struct plan_figure *figure = &figures->figures[id];

    if (!isnan(figure->value) || isnan(value))
        return;
    figure->value = value;
    TEXT_FORMAT(figure->source, sizeof figure->source, format);
}

/* Takes the rates of a layer and of the update on the slowest rank, from muster-train's records. */
static int take_records(const char *path, struct plan_figures *figures, struct error *err)
{
    struct records records = {0};
    FILE *file = fopen(path, "re");
    double rate = NAN, update = NAN;
    char *line = NULL;
    size_t size = 0;

    if (!file)
        return error_set(err, "%s: %m", path);
    while (getline(&line, &size, file) > 0)
        records_parse(&records, line);
    for (size_t i = 0; i < records.count; i++) {
        const struct record *record = RECORD_AT(&records, i);

        if (!record->metric || isnan(record->value))
            continue;
        if (catalog_is_metric(record->metric, METRIC_LAYER_RATE))
            rate = fmin(rate, record->value);
        else if (catalog_is_metric(record->metric, METRIC_UPDATE_RATE))
            update = fmin(update, record->value);
    }
    fclose(file);
    free(line);
    records_clear(&records);
    if (isnan(rate))
        return error_set(err,
                         "%s: found no layer rate, expected the output of muster-train --dry-run "
                         "--split=measured --json",
                         path);
    set(figures, FIGURE_RATE, rate / 1e3, "a layer on the slowest rank, from %s", path);
    set(figures, FIGURE_BANDWIDTH, update * PLAN_UPDATE_BYTES / 1e9,
        "AdamW on the slowest rank, from %s", path);
    return 0;
}

/* Returns the lowest value of a good node; NAN: it is not known of any. */
static double least(const struct plan_figures *figures, size_t offset)
{
    double found = NAN;

    for (size_t i = 0; i < figures->count; i++)
        if (figures->nodes[i].verdict == VERDICT_PASS)
            found = fmin(found, *(const double *)((const char *)&figures->nodes[i] + offset));
    return found;
}
#define LEAST(figures, member) least(figures, offsetof(struct plan_node, member))

static void take_history(struct plan_figures *figures)
{
    bool are_given = !isnan(figures->figures[FIGURE_DEVICES].value);
    double gpus = LEAST(figures, gpus), days = figures->node_s / 86400;
    double devices = gpus > 0 ? gpus : 1, weight_days = 1000 / PLAN_FAILURES;

    figures->is_on_hosts = !(gpus > 0) && !are_given;
    if (figures->count > 0)
        set(figures, FIGURE_DEVICES, devices,
            gpus > 0 ? "GPUs, from the history"
                     : "no GPU in the history: the processors count as one device");
    devices = figures->figures[FIGURE_DEVICES].value;
    if (gpus > 0)
        set(figures, FIGURE_MEMORY, LEAST(figures, gpu_mb) > 0 ? LEAST(figures, gpu_mb) / 1e3 : NAN,
            "the smallest GPU, from the history");
    else
        set(figures, FIGURE_MEMORY,
            LEAST(figures, host_mb) > 0 ? LEAST(figures, host_mb) / 1e3 / devices : NAN,
            "the smallest node, from the history");
    if (figures->is_on_hosts)
        set(figures, FIGURE_BANDWIDTH, LEAST(figures, memory_GBps) / devices,
            "triad of the slowest node, from the history");
    set(figures, FIGURE_CHECKPOINT, LEAST(figures, disk_MBps) / 1e3,
        "the slowest local disk, from the history");
    set(figures, FIGURE_CHECKPOINT, PLAN_CHECKPOINT_BPS / 1e9,
        "assumed: no disk was measured (--checkpoint-rate)");
    set(figures, FIGURE_FAILURES, 1000 * (figures->failed + 1) / (days + weight_days),
        "%.0f failure%s in %.0f node-days of the history, plus one in %.0f (Llama 3)",
        figures->failed, text_plural((size_t)figures->failed), days, weight_days);
    if (figures->repaired > 0)
        set(figures, FIGURE_REPAIR, figures->repair_s / figures->repaired / 3600,
            "from a failure to the next pass, mean of %.0f in the history", figures->repaired);
    set(figures, FIGURE_REPAIR, PLAN_REPAIR_S / 3600,
        "assumed: no repair in the history (--repair)");
    set(figures, FIGURE_RESTART, PLAN_RESTART_S, "published for RSC-1 (--restart)");
}

/* ---------------------------------------------------------------- islands */

static void island_make(struct plan_island *island, const char *name)
{
    *island = (struct plan_island){.flops = NAN, .node_Bps = NAN};
    text_put(island->name, sizeof island->name, "%s", name);
}

static struct plan_island *island_of(struct plan_cluster *cluster, const char *name)
{
    int at = 0;

    while (at < cluster->island_count && strcmp(cluster->islands[at].name, name) != 0)
        at++;
    if (at == PLAN_ISLANDS_MOST)
        return NULL;
    if (at == cluster->island_count)
        island_make(&cluster->islands[cluster->island_count++], name);
    return &cluster->islands[at];
}

/* Returns the node's island: by muster.conf, else by the kind of its network. */
static const char *island_name(const struct conf *conf, const struct plan_node *node)
{
    for (size_t i = 0; i < conf->island_count; i++)
        if (hostlist_contains(&conf->islands[i].nodes, node->name))
            return conf->islands[i].name;
    return *node->class ? node->class : "all";
}

/* Returns whether the bfloat16 rate is known of all nodes whose GPUs have a rate: else it cannot
 * compare them. */
static bool have_bf16(const struct plan_figures *figures)
{
    for (size_t i = 0; i < figures->count; i++)
        if (!isnan(figures->nodes[i].fp32_gflops) && isnan(figures->nodes[i].bf16_gflops))
            return false;
    return true;
}

/* How fast a device of the node computes, as far as the history knows. */
static double device_gflops(const struct plan_node *node, bool in_bf16)
{
    double gpu_gflops = in_bf16 ? node->bf16_gflops : node->fp32_gflops;

    return node->gpus > 0 ? gpu_gflops : node->core_gflops;
}

static int make_islands(const struct plan_sources *sources, struct plan_figures *figures,
                        struct error *err)
{
    struct plan_cluster *cluster = &figures->cluster;
    double given_Bps = figures->figures[FIGURE_LINK].value * 1e9 / 8, fastest = NAN;
    bool in_bf16 = have_bf16(figures);

    for (size_t i = 0; i < figures->count; i++) {
        struct plan_node *node = &figures->nodes[i];
        struct plan_island *island;

        if (node->verdict != VERDICT_PASS)
            continue;
        island = island_of(cluster, island_name(sources->conf, node));
        if (!island)
            return error_set(err, "more than %d islands in the history", PLAN_ISLANDS_MOST);
        node->island = (int)(island - cluster->islands);
        island->nodes++;
        island->node_Bps = fmin(island->node_Bps, node->link_mbps * 1e6 / 8);
        island->latency_s = fmax(island->latency_s, node->latency_us / 1e6);
        island->flops = fmin(island->flops, device_gflops(node, in_bf16));
        fastest = fmax(fastest, device_gflops(node, in_bf16));
    }
    if (sources->available > 0) {
        if (cluster->island_count == 0)
            island_make(&cluster->islands[0], "all");
        cluster->island_count = 1;
        cluster->islands[0].nodes = sources->available;
        cluster->islands[0].flops = NAN;
    }
    for (int i = 0; i < cluster->island_count; i++) {
        struct plan_island *island = &cluster->islands[i];

        island->flops = figures->figures[FIGURE_RATE].value * 1e12 *
                        (isnan(island->flops) ? 1 : island->flops / fastest);
        if (!isnan(given_Bps))
            island->node_Bps = given_Bps;
        if (isnan(island->node_Bps) && island->nodes > 1)
            return error_set(err, "no bandwidth of a node of island %s in the history; give --link",
                             island->name);
        if (isnan(island->node_Bps)) /* one node sends to nobody */
            island->node_Bps = INFINITY;
    }
    set(figures, FIGURE_LINK,
        isinf(cluster->islands[0].node_Bps) ? NAN : cluster->islands[0].node_Bps * 8 / 1e9,
        "all rails of the slowest node, from the history");
    return 0;
}

/* What each node sends to each other by all rails, newest values; take_pair() keeps the lowest
 * between islands. */
static const char pairs_query[] =
    "SELECT node, peer, sum(value) FROM (SELECT node, peer, part, max(time), value FROM records"
    " WHERE suite = 'links' AND test = 'links' AND metric = 'bandwidth' GROUP BY node, peer, part)"
    " GROUP BY node, peer";

static void take_pair(sqlite3_stmt *statement, struct plan_figures *figures)
{
    const struct plan_node *node = node_of(figures, database_text(statement, 0));
    const struct plan_node *peer = node_of(figures, database_text(statement, 1));

    if (node && peer && node->island >= 0 && peer->island >= 0 && node->island != peer->island)
        figures->across_mbps = fmin(figures->across_mbps, database_number(statement, 2));
}

/* The slowest uplink that the newest certification failed: an island is planned as one network. */
static const char uplinks_query[] =
    "SELECT message FROM records WHERE suite = 'certify' AND code = 'uplink_slow' AND verdict ="
    " 'fail' AND run = (SELECT run FROM records WHERE suite = 'certify' ORDER BY time DESC LIMIT 1)"
    " ORDER BY value LIMIT 1";

static void take_uplink(sqlite3_stmt *statement, struct plan_figures *figures)
{
    text_put(figures->slow_uplink, sizeof figures->slow_uplink, "%s", database_text(statement, 0));
}

/* ---------------------------------------------------------------- the whole */

/* Calls take() for each row of the query. Returns 0, or -1 with err. */
static int query_each(const struct plan_sources *sources, const char *query,
                      void (*take)(sqlite3_stmt *row, struct plan_figures *figures),
                      struct plan_figures *figures, struct error *err)
{
    struct database_rows rows = database_query(sources->history, err, query, "");

    while (database_next(&rows))
        take(rows.statement, figures);
    return database_end(&rows, err) < 0 ? -1 : 0;
}

static int need(const struct plan_figures *figures, enum plan_figure_id id, const char *what,
                const char *option, struct error *err)
{
    if (!isnan(figures->figures[id].value))
        return 0;
    return error_set(err, "%s: not in the history; give %s", what, option);
}

static const struct plan_figure no_figures[FIGURE_COUNT] = {
    [FIGURE_DEVICES] = {"devices per node", "1", NAN, ""},
    [FIGURE_RATE] = {"training speed", "TFLOP/s", NAN, ""},
    [FIGURE_LINK] = {"node bandwidth", "Gb/s", NAN, ""},
    [FIGURE_ACROSS] = {"node bandwidth between islands", "Gb/s", NAN, ""},
    [FIGURE_MEMORY] = {"memory per device", "GB", NAN, ""},
    [FIGURE_BANDWIDTH] = {"memory bandwidth per device", "GB/s", NAN, ""},
    [FIGURE_FAILURES] = {"failures per 1000 node-days", "1", NAN, ""},
    [FIGURE_REPAIR] = {"a repair", "h", NAN, ""},
    [FIGURE_RESTART] = {"a restart", "s", NAN, ""},
    [FIGURE_CHECKPOINT] = {"checkpoint rate", "GB/s", NAN, ""},
};

int plan_figures_read(const struct plan_sources *sources, struct plan_figures *figures,
                      struct error *err)
{
    struct reading reading = {.figures = figures, .failing = NAN, .passed = NAN};
    struct plan_figure *all = figures->figures;
    struct plan_cluster *cluster = &figures->cluster;

    *figures = (struct plan_figures){.across_mbps = NAN};
    memcpy(figures->figures, no_figures, sizeof no_figures);
    for (int i = 0; i < FIGURE_COUNT; i++)
        set(figures, (enum plan_figure_id)i, sources->given[i], "given");
    if (history_nodes_past(sources->history, NULL, RUNS_MOST, take_run, &reading, err) < 0)
        return -1;
    end_failure(&reading);
    if (reading.is_out_of_memory)
        return error_set(err, "no memory");
    if (history_points(sources->history, NULL, NULL, 1, take_point, figures, err) < 0 ||
        query_each(sources, facts_query, take_fact, figures, err) != 0)
        return -1;
    if (figures->count == 0 && sources->available == 0)
        return error_set(err, "no nodes in the history %s; give --available", sources->history);
    if (sources->records && take_records(sources->records, figures, err) != 0)
        return -1;
    take_history(figures);
    if (need(figures, FIGURE_DEVICES, "number of devices per node", "--devices", err) != 0 ||
        need(figures, FIGURE_RATE, "training speed", "--rate or --measured", err) != 0 ||
        need(figures, FIGURE_MEMORY, "memory of a device", "--memory", err) != 0 ||
        make_islands(sources, figures, err) != 0 ||
        query_each(sources, pairs_query, take_pair, figures, err) != 0 ||
        query_each(sources, uplinks_query, take_uplink, figures, err) != 0)
        return -1;
    if (cluster->island_count > 1)
        set(figures, FIGURE_ACROSS, figures->across_mbps / 1e3,
            "the slowest pair between two islands, from the history");
    cluster->devices = (int)all[FIGURE_DEVICES].value;
    cluster->memory_bytes = all[FIGURE_MEMORY].value * 1e9;
    cluster->memory_Bps =
        isnan(all[FIGURE_BANDWIDTH].value) ? (double)INFINITY : all[FIGURE_BANDWIDTH].value * 1e9;
    cluster->failures = all[FIGURE_FAILURES].value / 1000 / 86400;
    cluster->repair_s = all[FIGURE_REPAIR].value * 3600;
    cluster->restart_s = all[FIGURE_RESTART].value;
    cluster->checkpoint_Bps = all[FIGURE_CHECKPOINT].value * 1e9;
    cluster->across_Bps = isnan(all[FIGURE_ACROSS].value) ? 0 : all[FIGURE_ACROSS].value * 1e9 / 8;
    for (int i = 0; i < cluster->island_count; i++)
        cluster->across_s = fmax(cluster->across_s, cluster->islands[i].latency_s);
    return 0;
}

void plan_figures_clear(struct plan_figures *figures)
{
    free(figures->nodes);
    figures->nodes = NULL;
    figures->count = 0;
}
