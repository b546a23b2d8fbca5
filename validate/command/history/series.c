/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/history/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/grow.h"
#include "lib/base/statistics.h"
#include "lib/base/text.h"

/* The series that is being collected. */
struct gathering {
    struct series series;
    bool is_out_of_memory;
    void (*each)(const struct series *series, void *context);
    void *context;
};

static void series_end(struct gathering *gathering)
{
    struct series *series = &gathering->series;

    if (series->count > 0 && !gathering->is_out_of_memory && gathering->each)
        gathering->each(series, gathering->context);
    for (size_t i = 0; i < series->count; i++)
        free(series->points[i].run);
    free(series->points);
    free(series->values);
    free(series->node);
    free(series->part);
    free(series->metric);
    free(series->unit);
    *series = (struct series){0};
}

static bool is_of(const struct series *series, const struct history_point *point)
{
    return series->node && strcmp(series->node, point->node) == 0 &&
           strcmp(series->part, point->part) == 0 && strcmp(series->metric, point->metric) == 0;
}

static void add_point(const struct history_point *point, void *context)
{
    struct gathering *gathering = context;
    struct series *series = &gathering->series;
    struct series_point *points;

    if (gathering->is_out_of_memory)
        return;
    if (!is_of(series, point)) {
        series_end(gathering);
        series->node = strdup(point->node);
        series->part = strdup(point->part);
        series->metric = strdup(point->metric);
        series->unit = strdup(point->unit);
    }
    gathering->is_out_of_memory =
        !series->node || !series->part || !series->metric || !series->unit;
    if (!GROW(series->points, series->count) || !GROW(series->values, series->count)) {
        gathering->is_out_of_memory = true;
        return;
    }
    series->values[series->count] = point->value;
    points = &series->points[series->count++];
    *points = (struct series_point){
        .run = strdup(point->run), .time = point->time, .value = point->value};
    gathering->is_out_of_memory |= !points->run;
}

int series_each(const char *path, const char *node, const char *part, int most,
                void (*each)(const struct series *series, void *context), void *context,
                struct error *err)
{
    struct gathering gathering = {.each = each, .context = context};
    int count = history_points(path, node, part, most, add_point, &gathering, err);

    if (count < 0)
        gathering.each = NULL; /* the last series may be incomplete */
    series_end(&gathering);
    if (count < 0)
        return -1;
    return gathering.is_out_of_memory ? error_set(err, "no memory for the figures") : 0;
}

static bool is_less_better(const struct series *series)
{
    return strcmp(series->unit, "us") == 0;
}

double series_noise(const struct series *series)
{
    double *steps = malloc((series->count + 1) * sizeof *steps), step;
    double median = statistics_median(series->values, series->count);
    double least = is_less_better(series) ? 1 : 0.1;

    if (!steps)
        return least;
    for (size_t i = 1; i < series->count; i++)
        steps[i - 1] = fabs(series->values[i] - series->values[i - 1]);
    step = series->count > 4 ? statistics_median(steps, series->count - 1) : 0;
    free(steps);
    /* the steps of independent values have sqrt(2) times their standard deviation */
    return fmax(least, median > 0 ? 4 * 1.4826 * step / sqrt(2) / median : 0);
}

size_t series_fall(const struct series *series, double *before)
{
    double noise = series_noise(series);
    bool less = is_less_better(series);
    size_t fall = series->count;

    *before = NAN;
    for (size_t at = series->count; at-- > 1;) {
        double median = statistics_median(series->values, at);
        double worst = less ? INFINITY : -INFINITY;

        for (size_t i = at; i < series->count; i++)
            worst = less ? fmin(worst, series->values[i]) : fmax(worst, series->values[i]);
        if (less ? worst <= median * (1 + noise) : worst >= median * (1 - noise))
            break;
        fall = at;
        *before = median;
    }
    return fall;
}

bool series_has_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *locale = getenv(names[i]);

        if (locale && *locale)
            return strcasestr(locale, "UTF-8") || strcasestr(locale, "UTF8");
    }
    return false;
}

void series_picture(const struct series *series, bool has_utf8, size_t most, char *text,
                    size_t size)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    size_t begin = series->count > most ? series->count - most : 0;
    double greatest = 0;

    *text = '\0';
    for (size_t i = begin; i < series->count; i++)
        greatest = fmax(greatest, series->points[i].value);
    for (size_t i = begin; i < series->count && strlen(text) + 4 < size; i++) {
        double share = greatest > 0 ? fmax(series->points[i].value, 0) / greatest : 0;

        if (has_utf8)
            text_join(text, size, "", "%s", blocks[(int)fmin(7, floor(share * 8))]);
        else
            text_join(text, size, "", "%d", (int)fmin(9, floor(share * 10)));
    }
}
