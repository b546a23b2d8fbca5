/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/health/rates.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"

static const char title[] = "muster rates 1";

void rates_init(struct rates *rates, const char *boot_id)
{
    *rates = (struct rates){{0}};
    snprintf(rates->boot_id, sizeof rates->boot_id, "%s", boot_id);
}

void rates_clear(struct rates *rates)
{
    free(rates->series);
    rates->series = NULL;
    rates->count = 0;
}

/* Finds or adds the series; NULL if memory is out or there is no room for one more. */
static struct rates_series *find_series(struct rates *rates, const char *part, const char *counter)
{
    struct rates_series *series;

    for (size_t i = 0; i < rates->count; i++)
        if (strcmp(rates->series[i].part, part) == 0 &&
            strcmp(rates->series[i].counter, counter) == 0)
            return &rates->series[i];
    if (rates->count >= RATES_SERIES_MOST)
        return NULL;
    if (!GROW(rates->series, rates->count))
        return NULL;
    series = &rates->series[rates->count++];
    *series = (struct rates_series){.count = 0};
    snprintf(series->part, sizeof series->part, "%s", part);
    snprintf(series->counter, sizeof series->counter, "%s", counter);
    return series;
}

static void keep_sample(struct rates_series *series, uint64_t value, int64_t now_s,
                        int64_t window_s)
{
    size_t old = 0;

    if (series->count > 0 &&
        now_s - series->samples[series->count - 1].time_s < window_s / RATES_SAMPLES)
        return;
    /* of the samples older than the window only the newest is kept */
    while (old + 1 < series->count && series->samples[old + 1].time_s <= now_s - window_s)
        old++;
    if (old == 0 && series->count == RATES_SAMPLES)
        old = 1;
    memmove(series->samples, series->samples + old,
            (series->count - old) * sizeof *series->samples);
    series->count -= old;
    series->samples[series->count].time_s = now_s;
    series->samples[series->count++].value = value;
}

double rates_update(struct rates *rates, const char *part, const char *counter, uint64_t value,
                    int64_t now_s, int64_t window_s)
{
    struct rates_series *series = find_series(rates, part, counter);
    int64_t then_s = 0;
    uint64_t then = 0;

    if (series && series->count > 0 && value < series->samples[series->count - 1].value) {
        then_s = series->samples[series->count - 1].time_s;
        series->count = 0;
    } else if (series && series->count > 0) {
        size_t base = 0;

        while (base + 1 < series->count && series->samples[base + 1].time_s <= now_s - window_s)
            base++;
        then_s = series->samples[base].time_s;
        then = series->samples[base].value;
    }
    if (series)
        keep_sample(series, value, now_s, window_s);
    return now_s - then_s > window_s
               ? (double)(value - then) * (double)window_s / (double)(now_s - then_s)
               : (double)(value - then);
}

int rates_write(const void *what, FILE *stream)
{
    const struct rates *rates = what;

    fprintf(stream, "%s\nboot %s\n", title, rates->boot_id);
    for (size_t i = 0; i < rates->count; i++) {
        const struct rates_series *series = &rates->series[i];

        fprintf(stream, "%s %s", series->part, series->counter);
        for (size_t j = 0; j < series->count; j++)
            fprintf(stream, " %" PRId64 ":%" PRIu64, series->samples[j].time_s,
                    series->samples[j].value);
        fputc('\n', stream);
    }
    return ferror(stream) ? -1 : 0;
}

static void parse_series(struct rates *rates, char *line)
{
    char *part = strsep(&line, " "), *counter = strsep(&line, " "), *word;
    struct rates_series *series;

    if (!part || !counter || strlen(part) >= sizeof series->part ||
        strlen(counter) >= sizeof series->counter)
        return;
    series = find_series(rates, part, counter);
    while (series && series->count < RATES_SAMPLES && (word = strsep(&line, " "))) {
        int64_t time_s;
        uint64_t value;

        if (sscanf(word, "%" SCNd64 ":%" SCNu64, &time_s, &value) != 2 ||
            (series->count > 0 && (time_s <= series->samples[series->count - 1].time_s ||
                                   value < series->samples[series->count - 1].value)))
            return;
        series->samples[series->count].time_s = time_s;
        series->samples[series->count++].value = value;
    }
}

int rates_parse(struct rates *rates, char *text, const char *boot_id)
{
    char head[128], *line, *rest = text;

    rates_init(rates, boot_id);
    snprintf(head, sizeof head, "%s\nboot %s\n", title, boot_id);
    if (strncmp(text, head, strlen(head)) != 0)
        return -1;
    rest += strlen(head);
    while ((line = strsep(&rest, "\n")))
        if (*line)
            parse_series(rates, line);
    return 0;
}
