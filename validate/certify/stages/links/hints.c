/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/links/hints.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/compare.h"
#include "lib/base/grow.h"
#include "validate/certify/report/run_records.h"
#include "validate/certify/state/run.h"
#include "validate/compare/hints.h"
#include "validate/history/history.h"

/* A rail that a record names. */
struct rail_hint {
    size_t node_run;
    const char *part; /* the records' */
    double nic_gbps;  /* 0: not known */
    struct history_figure figure;
    char source[232]; /* of least_mbps */
    double least_mbps;
};

struct hints {
    struct certify *certify;
    struct rail_hint *rails; /* by node and part, each once */
    size_t count;
    bool is_out_of_memory;
};

static void rail_add(struct hints *hints, const char *node, const char *part, double nic_gbps)
{
    const struct certify *certify = hints->certify;
    const struct node_run *node_run = part ? certify_node_run(certify, node) : NULL;

    if (!node_run || !node_run->is_in_job)
        return;
    if (!GROW(hints->rails, hints->count)) {
        hints->is_out_of_memory = true;
        return;
    }
    hints->rails[hints->count++] =
        (struct rail_hint){.node_run = (size_t)(node_run - certify->node_runs),
                           .part = part,
                           .nic_gbps = nic_gbps,
                           .figure = {NAN, NAN, 0}};
}

static int by_rail(const void *left, const void *right)
{
    const struct rail_hint *a = left, *b = right;

    return COMPARE(a->node_run, b->node_run) ?: strcmp(a->part, b->part);
}

/* Sorts by rail; of one rail, the entry with a known speed first. */
static int by_speed(const void *left, const void *right)
{
    const struct rail_hint *a = left, *b = right;

    return by_rail(left, right) ?: COMPARE(b->nic_gbps, a->nic_gbps);
}

static void rails_unite(struct hints *hints)
{
    size_t left = 0;

    if (hints->count > 1)
        qsort(hints->rails, hints->count, sizeof *hints->rails, by_speed);
    for (size_t i = 0; i < hints->count; i++)
        if (left == 0 || by_rail(&hints->rails[left - 1], &hints->rails[i]) != 0)
            hints->rails[left++] = hints->rails[i];
    hints->count = left;
}

/* Finds each rail that was measured since first, and the hardware that the nodes reported before.
 * The same rail comes in many records, one after the other. */
static void rails_find(struct hints *hints, size_t first, struct reference_hardware *hardware)
{
    const struct certify *certify = hints->certify;
    const char *last_node = NULL, *last_part = NULL;

    for (size_t i = 0; i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);
        const struct node_run *node_run = certify_node_run(certify, record->node);
        struct reference_hardware *node =
            node_run ? &hardware[node_run - certify->node_runs] : NULL;

        if (!node_run || !record->metric)
            continue;
        if (i >= first && catalog_is_suite(record->suite, SUITE_LINKS)) {
            if (record->node != last_node || record->part != last_part)
                rail_add(hints, record->node, record->part, 0);
            last_node = record->node;
            last_part = record->part;
        } else if (catalog_is_test(record->test, TEST_HOST_CONFIG) && record->message) {
            if (record->part && catalog_is_metric(record->metric, METRIC_SPEED) &&
                isfinite(record->value))
                rail_add(hints, record->node, record->part, record->value / 1000);
            else if (catalog_is_metric(record->metric, METRIC_MODEL) && !*node->gpu)
                node->gpu = record->message;
            else if (catalog_is_metric(record->metric, METRIC_CPU_MODEL))
                node->cpu = record->message;
            else if (catalog_is_metric(record->metric, METRIC_GPU_COUNT) && isfinite(record->value))
                node->gpus = (int)record->value;
        }
    }
    rails_unite(hints);
}

static void hints_query_history(struct hints *hints)
{
    const struct certify *certify = hints->certify;
    struct history_query *queries = calloc(hints->count + 1, sizeof *queries);
    uint64_t *fingerprints = certify_fingerprints(certify);
    struct error err = {"no memory"};
    bool is_known = false;

    if (queries && fingerprints) {
        for (size_t i = 0; i < hints->count; i++)
            queries[i] =
                (struct history_query){.node = certify->node_runs[hints->rails[i].node_run].name,
                                       .part = hints->rails[i].part,
                                       .metric = "bandwidth",
                                       .fingerprint = fingerprints[hints->rails[i].node_run]};
        is_known = history_figures(certify->conf.history_path, queries, hints->count, &err) == 0;
    }
    for (size_t i = 0; is_known && i < hints->count; i++)
        hints->rails[i].figure = queries[i].figure;
    if (!is_known)
        fprintf(stderr, "muster certify: history: %s\n", err.text);
    free(fingerprints);
    free(queries);
}

static void hints_query_reference(struct hints *hints, const struct reference_hardware *hardware)
{
    struct reference reference;
    struct error err;

    if (hints_read(&hints->certify->conf, &reference, &err) != 0)
        certify_note(hints->certify, "%s", err.text);
    for (size_t i = 0; i < hints->count; i++) {
        struct rail_hint *rail = &hints->rails[i];
        struct reference_hardware one = hardware[rail->node_run];
        const struct reference_line *line;

        one.nic_gbps = rail->nic_gbps;
        line = reference_find(&reference, "links.bandwidth", REFERENCE_THRESHOLD, &one);
        if (!line)
            continue;
        rail->least_mbps = reference_mbps(line);
        snprintf(rail->source, sizeof rail->source, "%.60s:%u, %.150s", reference.file, line->line,
                 line->source);
    }
    reference_clear(&reference);
}

struct hints *hints_open(struct certify *certify, size_t first)
{
    struct hints *hints = calloc(1, sizeof *hints);
    struct reference_hardware *hardware = calloc(certify->count + 1, sizeof *hardware);

    for (size_t i = 0; hardware && i < certify->count; i++)
        hardware[i] = (struct reference_hardware){.gpu = "", .cpu = ""};
    if (hints)
        hints->certify = certify;
    if (hints && hardware)
        rails_find(hints, first, hardware);
    if (!hints || !hardware || hints->is_out_of_memory) {
        certify_note(certify, "out of memory for results of earlier runs");
    } else if (hints->count > 0) {
        hints_query_history(hints);
        hints_query_reference(hints, hardware);
    }
    free(hardware);
    return hints;
}

void hints_close(struct hints *hints)
{
    if (hints)
        free(hints->rails);
    free(hints);
}

static const struct rail_hint *rail_of(const struct hints *hints, const char *node,
                                       const char *part)
{
    const struct node_run *node_run = hints ? certify_node_run(hints->certify, node) : NULL;
    struct rail_hint wanted = {.part = part};

    if (!node_run || hints->count == 0)
        return NULL;
    wanted.node_run = (size_t)(node_run - hints->certify->node_runs);
    return bsearch(&wanted, hints->rails, hints->count, sizeof *hints->rails, by_rail);
}

void hints_recall(const struct hints *hints, const char *node, const char *rail,
                  struct history_figure *history)
{
    const struct rail_hint *hint = rail_of(hints, node, rail);

    if (hint)
        *history = hint->figure;
}

void hints_refer(const struct hints *hints, const char *node, const char *rail,
                 struct reference_figure *reference)
{
    const struct rail_hint *hint = rail_of(hints, node, rail);

    if (hint && hint->least_mbps > 0)
        *reference = (struct reference_figure){hint->least_mbps, hint->source};
}
