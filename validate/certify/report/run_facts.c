/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/statistics.h"
#include "lib/constants/certify_constants.h"
#include "validate/certify/report/run_records.h"
#include "validate/certify/report/run_report.h"

/* Adds a record without a verdict: what a report shows besides verdicts and figures. */

static void report(struct certify *certify, struct record record)
{
    record.suite = "certify";
    certify_record(certify, record);
}

static void fact(struct certify *certify, const char *test, const char *metric, const char *node,
                 const char *text)
{
    if (text && *text)
        report(certify, RECORD(.test = test, .metric = metric, .node = node, .message = text));
}

static bool is_speed(const struct record *record)
{
    return catalog_is_suite(record->suite, SUITE_LINKS) && record->metric && record->part &&
           record->node && catalog_is_metric(record->metric, METRIC_SPEED) && !isnan(record->value);
}

static bool is_bandwidth(const struct record *record)
{
    return catalog_is_suite(record->suite, SUITE_LINKS) && record->metric && record->part &&
           record->node && record->peer && catalog_is_metric(record->metric, METRIC_BANDWIDTH);
}

/* Records once the limit for all pairs of a rail, a share of its nominal speed: the configured one
 * or, as speeds may differ, a lower quantile of the nodes' speeds. None if neither is known.
 * speeds: room for all nodes. */
static void rail_limit(struct certify *certify, const char *rail, double *speeds)
{
    double stated = conf_nominal_mbps(&certify->conf, rail), nominal;

    for (size_t i = 0; i < certify->count; i++)
        speeds[i] = NAN;
    for (size_t i = 0; i < certify->records.count; i++) {
        const struct record *speed = RECORD_AT(&certify->records, i);
        const struct node_run *node_run = is_speed(speed) && strcmp(speed->part, rail) == 0
                                              ? certify_node_run(certify, speed->node)
                                              : NULL;

        if (node_run)
            speeds[node_run - certify->node_runs] = speed->value;
    }
    nominal =
        stated > 0 ? stated : statistics_quantile(speeds, certify->count, CERTIFY_SPEED_SHARE);
    if (nominal > 0)
        report(certify, RECORD(.test = "links", .metric = "bandwidth", .part = rail, .unit = "Mb/s",
                               .limit = nominal * certify->conf.link_nominal_percent / 100,
                               .limit_source = "nominal"));
}

static void limits(struct certify *certify)
{
    double *speeds = malloc((certify->count + 1) * sizeof *speeds);
    struct hostlist rails = {0};

    for (size_t i = 0; speeds && i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);

        if (is_bandwidth(record) && !hostlist_contains(&rails, record->part))
            hostlist_append(&rails, record->part);
    }
    for (size_t i = 0; i < rails.count; i++)
        rail_limit(certify, rails.names[i], speeds);
    hostlist_clear(&rails);
    free(speeds);
}

static void stage_record(struct certify *certify, enum stage stage, const char *metric,
                         const char *unit, double value)
{
    report(certify, RECORD(.test = "stage", .metric = metric, .part = stage_name(stage),
                           .value = value, .unit = unit));
}

/* Records how long the stage took and how many nodes it tested and failed, which shows over time
 * whether its tests are worth it. */
static void stage_facts(struct certify *certify, enum stage stage)
{
    size_t tested = 0, found = 0;

    for (size_t i = 0; i < certify->count; i++) {
        const struct outcome *outcome = &certify->node_runs[i].outcome;
        const struct outcome_fault *worst = outcome_worst(outcome);

        tested += outcome->stages[stage] != VERDICT_NONE && outcome->stages[stage] != VERDICT_SKIP;
        found += worst->stage == stage && worst->verdict == VERDICT_FAIL;
    }
    if (tested == 0)
        return;
    stage_record(certify, stage, "stage_seconds", "s", certify->stage_s[stage]);
    stage_record(certify, stage, "nodes_tested", "count", (double)tested);
    stage_record(certify, stage, "nodes_failed", "count", (double)found);
}

void certify_facts(struct certify *certify)
{
    fact(certify, "run", "cluster", NULL, certify->cluster.name);
    fact(certify, "run", "level", NULL, certify_level_name(certify->options.level));
    for (size_t i = 0; i < certify->count; i++) {
        const struct node_run *node_run = &certify->node_runs[i];
        int leaf = node_run->slurm ? node_run->slurm->leaf : -1;

        if (leaf >= 0 && (size_t)leaf < certify->cluster.leaf_count)
            fact(certify, "net.topology", "leaf", node_run->name, certify->cluster.leaves[leaf]);
        if (*node_run->certified_until)
            report(certify,
                   RECORD(.test = "certificate", .metric = "expires", .node = node_run->name,
                          .value = (double)node_run->certified_until_s, .unit = "s"));
    }
    limits(certify);
    for (int stage = STAGE_REACH; stage < STAGE_CERTIFICATE && !certify_stop; stage++)
        stage_facts(certify, (enum stage)stage);
    for (size_t i = 0; i < certify->notes.count; i++)
        fact(certify, "run", "note", NULL, certify->notes.names[i]);
    report(certify, RECORD(.test = "run", .metric = "seconds", .value = clock_s() - certify->begin,
                           .unit = "s"));
}
