/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/report/recordfile.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int recordfile_open(const char *path, FILE **stream, struct error *err)
{
    *stream = NULL;
    if (!path)
        return 0;
    *stream = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    return *stream ? 0 : error_set(err, "%s: %m", path);
}

int recordfile_close(const char *path, FILE *stream, struct error *err)
{
    bool is_cut;

    if (!stream)
        return 0;
    is_cut = ferror(stream) != 0;
    is_cut |= (stream == stdout ? fflush(stream) : fclose(stream)) != 0;
    return is_cut ? error_set(err, "%s: could not write all records",
                              stream == stdout ? "standard output" : path)
                  : 0;
}

/* TOLD: the most lines reported for one file; the first ones show what is wrong with it. GREATEST:
 * far above any figure of any unit in doc/records.md. */
enum { TOLD = 10 };
static const double GREATEST = 1e18, YEAR_2100_S = 4102444800;

/* Whether figures of the unit are never negative. */
static bool is_amount(const char *unit)
{
    static const char *const units[] = {"Mb/s", "GB/s", "us", "MB", "bytes", "count"};

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i]) == 0)
            return true;
    return false;
}

static bool starts_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

int recordfile_doubt(const struct record *record, struct error *err)
{
    const struct {
        const char *key, *text;
    } names[] = {{"run", record->run},
                 {"suite", record->suite},
                 {"test", record->test},
                 {"metric", record->metric},
                 {"node", record->node},
                 {"part", record->part},
                 {"peer", record->peer},
                 {"unit", record->unit},
                 {"limit_source", record->limit_source}};
    const struct {
        const char *key;
        double number;
    } numbers[] = {{"value", record->value},
                   {"low", record->low},
                   {"high", record->high},
                   {"limit", record->limit}};
    const char *metric = record->metric ? record->metric : "";

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].text && strlen(names[i].text) > RECORDFILE_NAME)
            return error_set(err, "%s has %zu bytes, allowed %d", names[i].key,
                             strlen(names[i].text), RECORDFILE_NAME);
    if (record->message && strlen(record->message) > RECORDFILE_MESSAGE)
        return error_set(err, "message has %zu bytes, allowed %d", strlen(record->message),
                         RECORDFILE_MESSAGE);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (isnan(numbers[i].number))
            continue;
        if (!record->unit || !*record->unit)
            return error_set(err, "%s without a unit", numbers[i].key);
        if (fabs(numbers[i].number) > GREATEST ||
            (numbers[i].number < 0 && is_amount(record->unit)))
            return error_set(err, "%s is %g %s, which is impossible", numbers[i].key,
                             numbers[i].number, record->unit);
    }
    if (record->low > record->high)
        return error_set(err, "low is %g, above high, %g", record->low, record->high);
    if (!isnan(record->time) && (record->time < 0 || record->time > YEAR_2100_S))
        return error_set(err, "time is %.0f, expected seconds since 1970", record->time);
    if (record->verdict == VERDICT_PASS &&
        ((starts_with(metric, "bandwidth") && record->value < record->limit) ||
         (starts_with(metric, "latency") && record->value > record->limit)))
        return error_set(err, "passes with %g %s, on the wrong side of its limit %g", record->value,
                         record->unit, record->limit);
    return 0;
}

/* Reads one line without its newline into line, at most RECORDFILE_LINE bytes of it. Returns its
 * whole length, or -1 at the end of the file. *is_whole: whether it ended with a newline. */
static long line_read(FILE *file, char *line, bool *is_whole)
{
    long length = 0;
    int c;

    *is_whole = false;
    while ((c = getc_unlocked(file)) != EOF) {
        if (c == '\n') {
            *is_whole = true;
            return length;
        }
        if (length < RECORDFILE_LINE)
            line[length] = (char)c;
        length++;
    }
    return length > 0 ? length : -1;
}

/* Returns 0 after adding the line, 1 with err if it is left out, -1 if memory is out. */
static int line_take(struct records *records, const char *line, long length, bool is_whole,
                     struct error *err)
{
    int rv;

    if (length > RECORDFILE_LINE) {
        error_set(err, "a line of %ld bytes, allowed %d", length, RECORDFILE_LINE);
        return 1;
    }
    if (length > 0 && line[length - 1] == '\r')
        length--;
    rv = records_parse_bytes(records, line, (size_t)length, err);
    if (rv == 1 && !is_whole)
        error_prefix(err, "cut off at the end of the file");
    if (rv == 0 && recordfile_doubt(RECORD_AT(records, records->count - 1), err) != 0) {
        records->count--;
        return 1;
    }
    return rv;
}

static double share_read(FILE *file)
{
    struct stat about;

    return fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0
               ? (double)ftello(file) / (double)about.st_size
               : (double)NAN;
}

long recordfile_read(const char *path, struct records *records,
                     const struct recordfile_listener *listener, struct error *err)
{
    bool is_input = strcmp(path, "-") == 0, is_whole;
    const char *name = is_input ? "standard input" : path;
    FILE *file = is_input ? stdin : fopen(path, "re");
    char *line = malloc(RECORDFILE_LINE), text[64];
    long length, out = 0;
    struct error fault;
    int rv = 0;

    if (!file || !line) {
        error_set(err, "%s: %m", name);
        rv = -1;
    }
    for (long number = 1; rv >= 0 && (length = line_read(file, line, &is_whole)) >= 0; number++) {
        rv = line_take(records, line, length, is_whole, &fault);
        if (rv < 0)
            error_set(err, "%s:%ld: out of memory for more records", name, number);
        if (listener->at && number % RECORDFILE_STEP == 0)
            listener->at(name, number, share_read(file), listener->context);
        if (rv != 1)
            continue;
        if (out++ < TOLD) {
            error_prefix(&fault, "%s:%ld", name, number);
            listener->report(fault.text, listener->context);
        }
    }
    if (rv >= 0 && ferror(file)) {
        error_set(err, "%s: %m", name);
        rv = -1;
    }
    if (out > TOLD) {
        snprintf(text, sizeof text, ": %ld more lines", out - TOLD);
        error_set(&fault, "%.400s%s", name, text);
        listener->report(fault.text, listener->context);
    }
    if (file && !is_input)
        fclose(file);
    free(line);
    return rv < 0 ? -1 : out;
}
