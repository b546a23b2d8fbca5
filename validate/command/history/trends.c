/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/text.h"
#include "validate/command/history/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/grow.h"
#include "lib/base/statistics.h"
#include "validate/report/table.h"

enum { PICTURE = 40 };

struct text_line history_time(double seconds)
{
    struct text_line line;

    text_time(line.text, sizeof line.text, "%Y-%m-%d %H:%M", (time_t)seconds);
    return line;
}

void series_print_record(const struct series *series, const struct series_point *point,
                         double limit)
{
    bool is_busbw = catalog_is_metric(series->metric, METRIC_BUSBW);

    record_put(stdout,
               RECORD(.suite = "history", .test = is_busbw ? "collectives.speed" : "links",
                      .metric = series->metric, .node = series->node, .part = series->part,
                      .run = point->run, .time = point->time, .value = point->value,
                      .unit = series->unit, .limit = limit,
                      .limit_source = isnan(limit) ? NULL : "history"),
               "%s", "");
}

/* The last time at which the part's figures were accepted. */
struct acceptance {
    const char *part;
    double time;
};

static void note_mark(const struct history_mark *mark, void *context)
{
    struct acceptance *acceptance = context;

    if (!*mark->part || strcmp(mark->part, acceptance->part) == 0)
        acceptance->time = fmax(acceptance->time, mark->time);
}

/* Returns the points since the last acceptance; earlier points are no reference any more. */
static struct series series_accepted(const char *path, const struct series *series)
{
    struct acceptance acceptance = {.part = series->part};
    struct series later = *series;

    if (history_marks(path, series->node, note_mark, &acceptance, NULL) > 0)
        for (; later.count > 0 && later.points->time <= acceptance.time; later.count--) {
            later.points++;
            later.values++;
        }
    return later;
}

static void add_row(struct table *table, const char *path, const struct series *series)
{
    char picture[4 * PICTURE + 8];
    double before, last = series->points[series->count - 1].value;
    const struct series later = series_accepted(path, series);
    size_t fall = series_fall(&later, &before);

    series_picture(series, series_has_utf8(), PICTURE, picture, sizeof picture);
    table_cells(table, "%s\t%s\t%s\t%s\t%zu\t%.4g %s\t%.4g", *series->node ? series->node : "-",
                series->part, series->metric, picture, series->count, last, series->unit,
                statistics_median(series->values, series->count));
    if (fall < later.count)
        table_cell(table, VERDICT_WARN, "worse since %s, %.4g before",
                   history_time(later.points[fall].time).text, before);
    else
        table_cell(table, VERDICT_NONE, "-");
}

/* Whether the figure is shown: without a given part, the worse direction of a rail is enough. */
static bool is_shown(const struct series *series, const char *part)
{
    return part || (!catalog_is_metric(series->metric, METRIC_SENDS) &&
                    !catalog_is_metric(series->metric, METRIC_RECEIVES));
}

struct trends {
    const char *path, *part;
    struct table table;
    bool as_json;
    int count;
};

static void add_trend(const struct series *series, void *context)
{
    struct trends *trends = context;

    if (!trends->as_json && !is_shown(series, trends->part))
        return;
    trends->count++;
    for (size_t i = 0; trends->as_json && i < series->count; i++)
        series_print_record(series, &series->points[i], NAN);
    if (!trends->as_json)
        add_row(&trends->table, trends->path, series);
}

static int print_trends(const char *path, const char *node, const char *part, int runs,
                        bool as_json, struct error *err)
{
    struct trends trends = {.path = path, .part = part, .as_json = as_json};
    int result;

    table_heading(&trends.table, "NODE\tPART\tFIGURE\tRUNS, OLDEST FIRST\tN\tLAST\tMEDIAN\tCHANGE");
    result = series_each(path, node, part, runs, add_trend, &trends, err);
    if (result == 0)
        table_end(&trends.table, stdout, "\n");
    table_clear(&trends.table);
    return result == 0 ? trends.count : -1;
}

/* ---------------------------------------------------------------- facts */

struct steps {
    const char *node;
    double *times; /* of the runs, the newest first */
    size_t count;
    bool is_out_of_memory;
    struct table table;
    bool as_json;
    int lines;
};

static void add_time(const struct history_node *node, void *context)
{
    struct steps *steps = context;

    if (!GROW(steps->times, steps->count)) {
        steps->is_out_of_memory = true;
        return;
    }
    steps->times[steps->count++] = node->time;
}

static void add_change(const struct history_change *change, void *context)
{
    struct steps *steps = context;
    const char *before = change->before ? change->before : "unknown";
    const char *after = change->after ? change->after : "unknown";

    steps->lines++;
    if (steps->as_json)
        record_put(stdout,
                   RECORD(.suite = "history", .test = "host.config", .node = change->node,
                          .time = change->time),
                   "%s: %s -> %s", change->fact, before, after);
    else
        table_cells(&steps->table, "%s\t%s: %s -> %s", history_time(change->time).text,
                    change->fact, before, after);
}

static void add_mark(const struct history_mark *mark, void *context)
{
    struct steps *steps = context;
    const char *colon = *mark->why ? ": " : "";

    steps->lines++;
    if (steps->as_json)
        record_put(stdout,
                   RECORD(.suite = "history", .test = "accept", .node = steps->node,
                          .part = mark->part, .time = mark->time),
                   "accepted as it is now%s%s", colon, mark->why);
    else
        table_cells(&steps->table, "%s\t%s%saccepted as it is now%s%s",
                    history_time(mark->time).text, mark->part, *mark->part ? " " : "", colon,
                    mark->why);
}

/* Prints the changes from each run of the node to the next, and the acceptances. */
static int print_changes(const char *path, const char *node, int runs, bool as_json,
                         struct error *err)
{
    struct steps steps = {.node = node, .as_json = as_json};
    int result = history_nodes(path, node, runs, add_time, &steps, err);

    if (steps.is_out_of_memory)
        result = error_set(err, "no memory for %d runs", runs);
    table_heading(&steps.table, "SINCE\tCHANGED");
    for (size_t i = 0; i + 1 < steps.count && result >= 0; i++)
        result =
            history_changes(path, &(struct history_span){node, steps.times[i + 1], steps.times[i]},
                            1, add_change, &steps, err);
    if (result >= 0)
        result = history_marks(path, node, add_mark, &steps, err);
    table_end(&steps.table, stdout, "\n");
    free(steps.times);
    return result < 0 ? -1 : steps.lines;
}

int history_trends(const char *path, const char *node, const char *part, int runs, bool as_json,
                   struct error *err)
{
    int points = print_trends(path, node, part, runs, as_json, err);
    int changes = points >= 0 && node && !part ? print_changes(path, node, runs, as_json, err) : 0;

    return points < 0 || changes < 0 ? -1 : points + changes;
}
