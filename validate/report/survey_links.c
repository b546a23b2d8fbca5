/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

    if (!is(record->suite, "links") || !is(record->test, "links") || !record->node ||
        !record->peer || !record->part || !record->metric || isnan(record->value))
        return SURVEY_METRICS;
    metric = metric_named(record->metric);
    return metric != SURVEY_METRICS && is(record->unit, metrics[metric].unit) ? metric
                                                                              : SURVEY_METRICS;
}

static int compare_names(const void *a, const void *b)
{
    return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_rails(const void *a, const void *b)
{
    return strverscmp(((const struct survey_rail *)a)->name, ((const struct survey_rail *)b)->name);
}

static int rails_find(struct survey *survey)
{
    const char **names = malloc((survey->count + 1) * sizeof *names), *last = NULL;
    size_t count = 0, left = 0;

    if (!names)
        return -1;
    for (size_t i = 0; i < survey->count; i++)
        if (survey_metric_of(survey->items[i]) != SURVEY_METRICS && survey->items[i]->part != last)
            last = names[count++] = survey->items[i]->part;
    if (count > 0)
        qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count; i++)
        if (left == 0 || strcmp(names[left - 1], names[i]) != 0)
            names[left++] = names[i];
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

static struct survey_cell *cells_of(struct survey *survey, struct survey_rail *rail,
                                    enum survey_metric metric)
{
    size_t count = survey->node_count * survey->node_count;

    if (rail->cells[metric])
        return rail->cells[metric];
    rail->cells[metric] = malloc(count * sizeof(struct survey_cell));
    for (size_t i = 0; rail->cells[metric] && i < count; i++)
        rail->cells[metric][i] =
            (struct survey_cell){.value = NAN, .low = NAN, .high = NAN, .limit = NAN};
    return rail->cells[metric];
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

/* As the judge takes it: of several figures of a pair the best one, as other work on the machines
 * only ever takes away. */
static bool is_better(const struct survey_cell *cell, double value, enum survey_metric metric)
{
    return isnan(cell->value) ||
           (metric == SURVEY_LATENCY ? value < (double)cell->value : value > (double)cell->value);
}

static int take_cell(struct survey *survey, const struct record *record, enum survey_metric metric)
{
    struct survey_rail *rail = rail_of(survey, record->part);
    long from = survey_node(survey, record->node), to = survey_node(survey, record->peer);
    struct survey_cell *cell;

    if (!rail || from < 0 || to < 0)
        return 0;
    if (!cells_of(survey, rail, metric))
        return -1;
    cell = &rail->cells[metric][(size_t)from * survey->node_count + (size_t)to];
    rail->measured[metric] += isnan(cell->value);
    if (is_better(cell, record->value, metric))
        *cell = (struct survey_cell){.value = (float)record->value,
                                     .low = (float)record->low,
                                     .high = (float)record->high,
                                     .limit = (float)record->limit,
                                     .verdict = (unsigned char)record->verdict,
                                     .source = source_of(survey, record->limit_source)};
    return 0;
}

/* A rail's limit, which muster certify says once for all pairs, and its findings about pairs. */
static void take_conclusion(struct survey *survey, const struct record *record)
{
    struct survey_rail *rail;
    enum survey_metric metric = metric_named(record->metric);
    size_t count = survey->node_count * survey->node_count;

    if (!is(record->suite, "certify") || !is(record->test, "links") || record->node ||
        record->peer || isnan(record->limit) || metric == SURVEY_METRICS)
        return;
    rail = rail_of(survey, record->part);
    for (size_t i = 0; rail && rail->cells[metric] && i < count; i++) {
        struct survey_cell *cell = &rail->cells[metric][i];

        if (!isnan(cell->value) && isnan(cell->limit)) {
            cell->limit = (float)record->limit;
            cell->source = source_of(survey, record->limit_source);
        }
    }
}

static double reference_of(const struct survey *survey, const struct survey_cell *cells,
                           enum survey_metric metric, double *values)
{
    size_t n = survey->node_count, left = 0;

    for (size_t i = 0; i < n; i++) {
        struct survey_cell best = {.value = NAN};

        for (size_t k = 0; k < n; k++) {
            if (!isnan(cells[i * n + k].value) &&
                is_better(&best, (double)cells[i * n + k].value, metric))
                best = cells[i * n + k];
            if (!isnan(cells[k * n + i].value) &&
                is_better(&best, (double)cells[k * n + i].value, metric))
                best = cells[k * n + i];
        }
        if (!isnan(best.value))
            values[left++] = (double)best.value;
    }
    return statistics_median(values, left);
}

/* The verdicts of pairs that nobody judged by themselves, and the medians. */
static int settle(struct survey *survey, struct survey_rail *rail, enum survey_metric metric)
{
    size_t count = survey->node_count * survey->node_count, left = 0;
    double *values;

    if (!rail->cells[metric])
        return 0;
    values = malloc((rail->measured[metric] + survey->node_count + 1) * sizeof *values);
    if (!values)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct survey_cell *cell = &rail->cells[metric][i];

        if (isnan(cell->value))
            continue;
        values[left++] = (double)cell->value;
        if (cell->verdict == VERDICT_NONE && !isnan(cell->limit))
            cell->verdict = metric == SURVEY_LATENCY
                                ? (cell->value > cell->limit ? VERDICT_WARN : VERDICT_PASS)
                                : (cell->value < cell->limit ? VERDICT_FAIL : VERDICT_PASS);
    }
    rail->median[metric] = statistics_median(values, left);
    rail->reference[metric] = reference_of(survey, rail->cells[metric], metric, values);
    free(values);
    return 0;
}

int survey_links(struct survey *survey)
{
    survey->limit_sources[0] = "";
    if (rails_find(survey) != 0)
        return -1;
    if (survey->node_count > 0 &&
        survey->rail_count > SURVEY_CELLS / survey->node_count / survey->node_count) {
        survey->has_no_matrix = true;
        return 0;
    }
    for (size_t i = 0; i < survey->count; i++) {
        enum survey_metric metric = survey_metric_of(survey->items[i]);

        if (metric != SURVEY_METRICS && take_cell(survey, survey->items[i], metric) != 0)
            return -1;
    }
    for (size_t i = 0; i < survey->count; i++)
        take_conclusion(survey, survey->items[i]);
    for (size_t k = 0; k < survey->rail_count; k++)
        for (int metric = 0; metric < SURVEY_METRICS; metric++)
            if (settle(survey, &survey->rails[k], (enum survey_metric)metric) != 0)
                return -1;
    return 0;
}

double survey_figure(const struct survey *survey, size_t node, size_t rail,
                     enum survey_metric metric, bool is_sending)
{
    const struct survey_cell *cells = survey->rails[rail].cells[metric];
    struct survey_cell best = {.value = NAN};
    size_t n = survey->node_count;

    for (size_t i = 0; cells && i < n; i++) {
        const struct survey_cell *cell = is_sending ? &cells[node * n + i] : &cells[i * n + node];

        if (!isnan(cell->value) && is_better(&best, (double)cell->value, metric))
            best = *cell;
    }
    return (double)best.value;
}
