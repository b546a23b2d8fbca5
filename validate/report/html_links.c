/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "validate/report/html.h"

/* INTERVALS: the most pairs for which intervals are written too; LIMITS: different limits per rail.
 */
enum { CODES = 65000, ZERO = 65535, ABSENT = 65534, INTERVALS = 40000, LIMITS = 255 };

struct base64 {
    FILE *stream;
    unsigned char bytes[3];
    int count;
};

/* RFC 4648. */
static void base64_flush(struct base64 *base64)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned word;

    if (base64->count == 0)
        return;
    for (int i = base64->count; i < 3; i++)
        base64->bytes[i] = 0;
    word = (unsigned)base64->bytes[0] << 16 | (unsigned)base64->bytes[1] << 8 | base64->bytes[2];
    for (int i = 0; i < 4; i++)
        fputc(i <= base64->count ? letters[word >> (18 - 6 * i) & 63] : '=', base64->stream);
    base64->count = 0;
}

static void base64_add(struct base64 *base64, unsigned char byte)
{
    base64->bytes[base64->count++] = byte;
    if (base64->count == 3)
        base64_flush(base64);
}

/* The logarithmic scale of the figures. */
struct scale {
    double origin, step;
};

static void widen(float value, double *least, double *greatest)
{
    if (isnan(value) || value <= 0)
        return;
    *least = fmin(*least, (double)value);
    *greatest = fmax(*greatest, (double)value);
}

static struct scale scale_of(const struct survey_cell *cells, size_t count)
{
    double least = INFINITY, greatest = 0;

    for (size_t i = 0; i < count; i++) {
        widen(cells[i].value, &least, &greatest);
        widen(cells[i].low, &least, &greatest);
        widen(cells[i].high, &least, &greatest);
    }
    if (greatest == 0)
        least = greatest = 1;
    return (struct scale){log(least), fmax(log(greatest / least) / CODES, 1e-12)};
}

static unsigned code_of(float value, struct scale scale)
{
    if (isnan(value))
        return ABSENT;
    if (value <= 0)
        return ZERO;
    return (unsigned)lround((log((double)value) - scale.origin) / scale.step);
}

static void values(FILE *stream, const char *key, const struct survey_cell *cells, size_t count,
                   size_t offset, struct scale scale)
{
    struct base64 base64 = {.stream = stream};

    fprintf(stream, ",\"%s\":\"", key);
    for (size_t i = 0; i < count; i++) {
        unsigned code =
            code_of(*(const float *)(const void *)((const char *)&cells[i] + offset), scale);

        base64_add(&base64, code & 0xff);
        base64_add(&base64, (unsigned char)(code >> 8));
    }
    base64_flush(&base64);
    fputc('"', stream);
}

/* Writes the alternating lengths of runs of cells that were not measured and that were. */
static void mask(FILE *stream, const struct survey_cell *cells, size_t count, size_t nodes)
{
    size_t begin = 0, end = 0; /* of the current run of measured cells */

    fputs(",\"mask\":[", stream);
    for (size_t i = 0; i < count; i++) {
        size_t at = (size_t)cells[i].from * nodes + cells[i].to;

        if (i == 0 || at != end) {
            if (i > 0)
                fprintf(stream, "%zu,", end - begin);
            fprintf(stream, "%zu,", at - end);
            begin = at;
        }
        end = at + 1;
    }
    fprintf(stream, "%zu]", end - begin);
}

static bool is_same_mask(const struct survey_cell *a, size_t a_count, const struct survey_cell *b,
                         size_t b_count)
{
    size_t i = 0;

    if (!a || a_count != b_count)
        return false;
    while (i < a_count && a[i].from == b[i].from && a[i].to == b[i].to)
        i++;
    return i == a_count;
}

/* Writes a run-length code: value, length, value, length, ... */
static void runs(FILE *stream, const char *key, const unsigned char *bytes, size_t count)
{
    size_t length = 0;

    fprintf(stream, ",\"%s\":[", key);
    for (size_t i = 0; i < count; i++) {
        length++;
        if (i + 1 < count && bytes[i + 1] == bytes[i])
            continue;
        fprintf(stream, "%s%d,%zu", i + 1 > length ? "," : "", bytes[i], length);
        length = 0;
    }
    fputc(']', stream);
}

/* Writes the different limits, and sets the index of each cell's; limits past LIMITS are left out.
 */
static void limits(FILE *stream, const struct survey *survey, const struct survey_cell *cells,
                   size_t count, unsigned char *bytes)
{
    const struct survey_cell *found[LIMITS];
    size_t found_count = 0;

    for (size_t i = 0; i < count; i++) {
        size_t at = 0;

        bytes[i] = 0;
        if (isnan(cells[i].limit))
            continue;
        while (at < found_count &&
               (found[at]->limit != cells[i].limit || found[at]->source != cells[i].source))
            at++;
        if (at == LIMITS)
            continue;
        if (at == found_count)
            found[found_count++] = &cells[i];
        bytes[i] = (unsigned char)(at + 1);
    }
    runs(stream, "limit_of", bytes, count);
    fputs(",\"limits\":[", stream);
    for (size_t i = 0; i < found_count; i++) {
        html_number(stream, i ? ",[" : "[", (double)found[i]->limit);
        html_string(stream, ",", survey->limit_sources[found[i]->source]);
        fputc(']', stream);
    }
    fputc(']', stream);
}

/* The cells written last: the next metric need not repeat an equal mask. */
struct before {
    const struct survey_cell *cells;
    size_t count;
};

static int metric(FILE *stream, const struct survey *survey, const struct survey_rail *rail,
                  enum survey_metric which, struct before *before)
{
    const struct survey_cell *cells = rail->cells[which];
    size_t count = rail->measured[which];
    struct scale scale = scale_of(cells, count);
    unsigned char *bytes = malloc(count + 1);

    if (!bytes)
        return -1;
    fprintf(stream, "{\"count\":%zu", count);
    html_number(stream, ",\"median\":", rail->median[which]);
    html_number(stream, ",\"reference\":", rail->reference[which]);
    fprintf(stream, ",\"origin\":%.12g,\"step\":%.12g", scale.origin, scale.step);
    if (!is_same_mask(before->cells, before->count, cells, count))
        mask(stream, cells, count, survey->node_count);
    *before = (struct before){cells, count};
    values(stream, "values", cells, count, offsetof(struct survey_cell, value), scale);
    if (count <= INTERVALS) {
        values(stream, "low", cells, count, offsetof(struct survey_cell, low), scale);
        values(stream, "high", cells, count, offsetof(struct survey_cell, high), scale);
    }
    for (size_t i = 0; i < count; i++)
        bytes[i] = cells[i].verdict;
    runs(stream, "verdicts", bytes, count);
    limits(stream, survey, cells, count, bytes);
    fputc('}', stream);
    free(bytes);
    return 0;
}

int html_rails(FILE *stream, const struct survey *survey)
{
    struct before before = {NULL, 0};
    int rv = 0;

    fputc('[', stream);
    for (size_t k = 0; k < survey->rail_count && rv == 0; k++) {
        html_string(stream, k ? ",\n{\"name\":" : "{\"name\":", survey->rails[k].name);
        for (int i = 0; i < SURVEY_METRICS && rv == 0; i++) {
            if (!survey->rails[k].cells[i])
                continue;
            fprintf(stream, ",\n\"%s\":", survey_metric_name((enum survey_metric)i));
            rv = metric(stream, survey, &survey->rails[k], (enum survey_metric)i, &before);
        }
        fputc('}', stream);
    }
    fputc(']', stream);
    return rv;
}
