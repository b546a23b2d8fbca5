/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/statistics.h"
#include "validate/report/survey.h"

static bool is(const char *text, const char *wanted)
{
    return text && strcmp(text, wanted) == 0;
}

static const struct {
    const char *name, *unit;
} metrics[SURVEY_METRICS] = {
    [SURVEY_BANDWIDTH] = {"bandwidth", "Mb/s"},
    [SURVEY_LATENCY] = {"latency", "us"},
    [SURVEY_TOGETHER] = {"bandwidth_together", "Mb/s"},
    [SURVEY_UPLINK] = {"bandwidth_uplink", "Mb/s"},
    [SURVEY_BISECTION] = {"bandwidth_bisection", "Mb/s"},
};

const char *survey_metric_name(enum survey_metric metric)
{
    return metrics[metric].name;
}

static enum survey_metric metric_named(const char *name)
{
    int metric = 0;

    while (metric < SURVEY_METRICS && !is(name, metrics[metric].name))
        metric++;
    return (enum survey_metric)metric;
}

enum survey_metric survey_metric_of(const struct record *record)
{
    enum survey_metric metric;

    if (!catalog_is_suite(record->suite, SUITE_LINKS) ||
        !catalog_is_test(record->test, TEST_LINKS) || !record->node || !record->peer ||
        !record->part || !record->metric || isnan(record->value))
        return SURVEY_METRICS;
    metric = metric_named(record->metric);
    return metric != SURVEY_METRICS && is(record->unit, metrics[metric].unit) ? metric
                                                                              : SURVEY_METRICS;
}

static int compare_rails(const void *a, const void *b)
{
    return strverscmp(((const struct survey_rail *)a)->name, ((const struct survey_rail *)b)->name);
}

static int rails_find(struct survey *survey)
{
    const char **names = malloc((survey->count + 1) * sizeof *names), *last = NULL;
    size_t count = 0, left;

    if (!names)
        return -1;
    for (size_t i = 0; i < survey->count; i++) {
        const struct record *record = SURVEY_AT(survey, i);

        if (survey_metric_of(record) != SURVEY_METRICS && record->part != last)
            last = names[count++] = record->part;
    }
    left = survey_unique(names, count);
    survey->rails = calloc(left + 1, sizeof *survey->rails);
    for (size_t i = 0; survey->rails && i < left; i++) {
        survey->rails[i].name = names[i];
        for (int metric = 0; metric < SURVEY_METRICS; metric++)
            survey->rails[i].median[metric] = survey->rails[i].reference[metric] = (double)NAN;
    }
    survey->rail_count = survey->rails ? left : 0;
    free(names);
    return survey->rails ? 0 : -1;
}

static struct survey_rail *rail_of(const struct survey *survey, const char *name)
{
    const struct survey_rail wanted = {.name = name};

    return survey->rail_count == 0 || !name
               ? NULL
               : bsearch(&wanted, survey->rails, survey->rail_count, sizeof wanted, compare_rails);
}

static unsigned char source_of(struct survey *survey, const char *source)
{
    unsigned char i = 1;

    if (!source || !*source)
        return 0;
    while (i < SURVEY_SOURCES && survey->limit_sources[i] &&
           strcmp(survey->limit_sources[i], source) != 0)
        i++;
    if (i == SURVEY_SOURCES)
        return 0;
    survey->limit_sources[i] = source;
    return i;
}

/* Whether value is better than the known figure of a pair. As in the judgement the best of several
 * counts, as other load on the machines only makes figures worse. */
static bool is_better(float known, float value, enum survey_metric metric)
{
    return isnan(known) || (metric == SURVEY_LATENCY ? value < known : value > known);
}

static int take_cell(struct survey *survey, const struct record *record, enum survey_metric metric)
{
    struct survey_rail *rail = rail_of(survey, record->part);
    long from = survey_node(survey, record->node), to = survey_node(survey, record->peer);

    if (!rail || from < 0 || to < 0)
        return 0;
    if (!GROW(rail->cells[metric], rail->measured[metric]))
        return -1;
    rail->cells[metric][rail->measured[metric]++] =
        (struct survey_cell){.from = (unsigned)from,
                             .to = (unsigned)to,
                             .value = (float)record->value,
                             .low = (float)record->low,
                             .high = (float)record->high,
                             .limit = (float)record->limit,
                             .verdict = (unsigned char)record->verdict,
                             .source = source_of(survey, record->limit_source)};
    return 0;
}

/* A stable counting sort by sender or receiver, linear in cells and nodes. starts: [nodes + 1]. */
static void sort_by(bool is_sender, const struct survey_cell *cells, size_t count, size_t nodes,
                    size_t *starts, struct survey_cell *out)
{
    memset(starts, 0, (nodes + 1) * sizeof *starts);
    for (size_t i = 0; i < count; i++)
        starts[(is_sender ? cells[i].from : cells[i].to) + 1]++;
    for (size_t i = 0; i < nodes; i++)
        starts[i + 1] += starts[i];
    for (size_t i = 0; i < count; i++)
        out[starts[is_sender ? cells[i].from : cells[i].to]++] = cells[i];
}

/* Sorts the cells by sender and receiver, and keeps the best of several figures of a pair. */
static int put_in_order(struct survey *survey, struct survey_rail *rail, enum survey_metric metric)
{
    struct survey_cell *cells = rail->cells[metric], *other;
    size_t count = rail->measured[metric], nodes = survey->node_count, left = 0;
    size_t *starts;

    if (!cells)
        return 0;
    other = malloc(count * sizeof *other);
    starts = malloc((nodes + 1) * sizeof *starts);
    if (other && starts) {
        sort_by(false, cells, count, nodes, starts, other);
        sort_by(true, other, count, nodes, starts, cells);
        for (size_t i = 0; i < count; i++) {
            struct survey_cell *last = left > 0 ? &cells[left - 1] : NULL;

            if (!last || last->from != cells[i].from || last->to != cells[i].to)
                cells[left++] = cells[i];
            else if (is_better(last->value, cells[i].value, metric))
                *last = cells[i];
        }
        rail->measured[metric] = left;
    }
    free(starts);
    free(other);
    return other && starts ? 0 : -1;
}

/* Takes a rail's limit, which muster certify reports once for all pairs. */
static void take_conclusion(struct survey *survey, const struct record *record)
{
    struct survey_rail *rail;
    enum survey_metric metric = metric_named(record->metric);

    if (!catalog_is_suite(record->suite, SUITE_CERTIFY) ||
        !catalog_is_test(record->test, TEST_LINKS) || record->node || record->peer ||
        isnan(record->limit) || metric == SURVEY_METRICS)
        return;
    rail = rail_of(survey, record->part);
    if (!rail || rail->is_limited[metric])
        return;
    rail->is_limited[metric] = true;
    for (size_t i = 0; i < rail->measured[metric]; i++) {
        struct survey_cell *cell = &rail->cells[metric][i];

        if (isnan(cell->limit)) {
            cell->limit = (float)record->limit;
            cell->source = source_of(survey, record->limit_source);
        }
    }
}

/* Finds each node's best figure, and their median. */
static int find_best(const struct survey *survey, struct survey_rail *rail,
                     enum survey_metric metric, double *values)
{
    size_t n = survey->node_count, left = 0;
    float **best = rail->best[metric];

    best[0] = malloc(n * sizeof **best);
    best[1] = malloc(n * sizeof **best);
    if (!best[0] || !best[1])
        return -1;
    for (size_t i = 0; i < n; i++)
        best[0][i] = best[1][i] = NAN;
    for (size_t i = 0; i < rail->measured[metric]; i++) {
        const struct survey_cell *cell = &rail->cells[metric][i];

        if (is_better(best[0][cell->to], cell->value, metric))
            best[0][cell->to] = cell->value;
        if (is_better(best[1][cell->from], cell->value, metric))
            best[1][cell->from] = cell->value;
    }
    for (size_t i = 0; i < n; i++) {
        float either =
            isnan(best[0][i]) || (!isnan(best[1][i]) && is_better(best[0][i], best[1][i], metric))
                ? best[1][i]
                : best[0][i];

        if (!isnan(either))
            values[left++] = (double)either;
    }
    rail->reference[metric] = statistics_median(values, left);
    return 0;
}

/* Sets the verdicts of pairs that have none of their own, and the medians. */
static int settle(struct survey *survey, struct survey_rail *rail, enum survey_metric metric)
{
    size_t count = rail->measured[metric];
    double *values;
    int rv;

    if (!rail->cells[metric])
        return 0;
    values = malloc((count + survey->node_count + 1) * sizeof *values);
    if (!values)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct survey_cell *cell = &rail->cells[metric][i];

        values[i] = (double)cell->value;
        if (cell->verdict == VERDICT_NONE && !isnan(cell->limit))
            cell->verdict = metric == SURVEY_LATENCY
                                ? (cell->value > cell->limit ? VERDICT_WARN : VERDICT_PASS)
                                : (cell->value < cell->limit ? VERDICT_FAIL : VERDICT_PASS);
    }
    rail->median[metric] = statistics_median(values, count);
    rv = find_best(survey, rail, metric, values);
    free(values);
    return rv;
}

static int take_cells(struct survey *survey)
{
    for (size_t i = 0; i < survey->count; i++) {
        const struct record *record = SURVEY_AT(survey, i);
        enum survey_metric metric = survey_metric_of(record);

        if (metric != SURVEY_METRICS && take_cell(survey, record, metric) != 0)
            return -1;
    }
    return 0;
}

static int rails_each(struct survey *survey,
                      int (*act)(struct survey *, struct survey_rail *, enum survey_metric))
{
    for (size_t k = 0; k < survey->rail_count; k++)
        for (int metric = 0; metric < SURVEY_METRICS; metric++)
            if (act(survey, &survey->rails[k], (enum survey_metric)metric) != 0)
                return -1;
    return 0;
}

int survey_links(struct survey *survey)
{
    survey->limit_sources[0] = "";
    if (rails_find(survey) != 0 || take_cells(survey) != 0)
        return -1;
    if (rails_each(survey, put_in_order) != 0)
        return -1;
    for (size_t i = 0; i < survey->count; i++)
        take_conclusion(survey, SURVEY_AT(survey, i));
    return rails_each(survey, settle);
}

double survey_figure(const struct survey *survey, size_t node, size_t rail,
                     enum survey_metric metric, bool is_sending)
{
    const float *best = survey->rails[rail].best[metric][is_sending];

    return best ? (double)best[node] : (double)NAN;
}
