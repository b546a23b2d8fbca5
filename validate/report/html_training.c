/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/compare.h"
#include "validate/report/html.h"

enum { POINTS_MAX = 400 /* points of a curve: more than a screen shows */ };

struct step {
    long number;
    size_t order; /* index in the records: a run resumed from a checkpoint repeats steps */
    double loss, tokens_per_s;
};

/* Returns the number of "step 12", or -1. */
static long step_number(const char *part)
{
    char *end;
    long number;

    if (!part || strncmp(part, "step ", 5) != 0)
        return -1;
    number = strtol(part + 5, &end, 10);
    return *end || end == part + 5 || number < 0 ? -1 : number;
}

static int compare_steps(const void *a, const void *b)
{
    const struct step *x = a, *y = b;

    return COMPARE(x->number, y->number) ?: COMPARE(x->order, y->order);
}

/* Returns the steps of the records, sorted by number, each as it was last trained. NULL: no memory.
 */
static struct step *steps_find(const struct survey *survey, size_t *count)
{
    struct step *steps = malloc((survey->count + 1) * sizeof *steps);
    size_t found = 0, left = 0;

    if (!steps)
        return NULL;
    for (size_t i = 0; i < survey->count; i++) {
        const struct record *record = SURVEY_AT(survey, i);
        long number = step_number(record->part);
        bool is_loss;

        if (number < 0 || !catalog_is_test(record->test, TEST_TRAIN_ONE) || !record->metric ||
            isnan(record->value))
            continue;
        is_loss = catalog_is_metric(record->metric, METRIC_LOSS_NATS);
        if (!is_loss && !catalog_is_metric(record->metric, METRIC_THROUGHPUT))
            continue;
        if (is_loss)
            steps[found++] = (struct step){number, i, record->value, NAN};
        else if (found > 0 && steps[found - 1].number == number)
            steps[found - 1].tokens_per_s = record->value;
    }
    qsort(steps, found, sizeof *steps, compare_steps);
    for (size_t i = 0; i < found; i++)
        if (i + 1 == found || steps[i + 1].number != steps[i].number)
            steps[left++] = steps[i];
    *count = left;
    return steps;
}

/* Writes a point: mean, least and greatest loss of some steps, and their mean speed. */
static void point(FILE *stream, const struct step *steps, size_t count)
{
    double sum = 0, least = INFINITY, greatest = -INFINITY, speed = 0;

    for (size_t i = 0; i < count; i++) {
        sum += steps[i].loss;
        least = fmin(least, steps[i].loss);
        greatest = fmax(greatest, steps[i].loss);
        speed += steps[i].tokens_per_s;
    }
    fprintf(stream, "[%ld", steps[count - 1].number);
    html_number(stream, ",", sum / (double)count);
    html_number(stream, ",", least);
    html_number(stream, ",", greatest);
    html_number(stream, ",", speed / (double)count);
    fputc(']', stream);
}

int html_training(FILE *stream, const struct survey *survey)
{
    size_t count, points;
    struct step *steps = steps_find(survey, &count);

    if (!steps)
        return -1;
    points = count < POINTS_MAX ? count : POINTS_MAX;
    fprintf(stream, "{\"steps\":%zu,\"points\":[", count);
    for (size_t i = 0; i < points; i++) {
        size_t begin = i * count / points, end = (i + 1) * count / points;

        fputs(i ? ",\n" : "", stream);
        point(stream, &steps[begin], end - begin);
    }
    fputs("],\"ends\":[", stream);
    for (int i = 0; i < 2 && count > 0; i++)
        html_number(stream, i ? "," : "", steps[i ? count - 1 : 0].loss);
    fputs("]}", stream);
    free(steps);
    return 0;
}
