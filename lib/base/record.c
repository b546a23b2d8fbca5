/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/record.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/utf8.h"

/* One line that is being put together; grows as needed. */
struct line {
    char *text;
    size_t length, size;
    bool out_of_memory;
};

static void line_add(struct line *line, const char *text, size_t length)
{
    if (line->length + length + 1 > line->size) {
        size_t size = 2 * (line->length + length + 256);
        char *grown = realloc(line->text, size);

        if (!grown) {
            line->out_of_memory = true;
            return;
        }
        line->text = grown;
        line->size = size;
    }
    memcpy(line->text + line->length, text, length);
    line->length += length;
}

static void line_add_string(struct line *line, const char *text)
{
    const unsigned char *c = (const unsigned char *)text;

    line_add(line, "\"", 1);
    while (*c) {
        char escape[8];
        size_t length = utf8_length(c);

        if (length == 0) {
            line_add(line, "\xef\xbf\xbd", 3); /* U+FFFD */
            c++;
        } else if (length > 1) {
            line_add(line, (const char *)c, length);
            c += length;
        } else {
            if (*c == '"' || *c == '\\')
                snprintf(escape, sizeof escape, "\\%c", *c);
            else if (*c < 0x20 || *c == 0x7f)
                snprintf(escape, sizeof escape, "\\u%04x", *c);
            else
                snprintf(escape, sizeof escape, "%c", *c);
            line_add(line, escape, strlen(escape));
            c++;
        }
    }
    line_add(line, "\"", 1);
}

static void line_add_key(struct line *line, const char *key)
{
    line_add(line, line->length > 1 ? "," : "", line->length > 1);
    line_add_string(line, key);
    line_add(line, ":", 1);
}

static void field_string(struct line *line, const char *key, const char *value)
{
    if (!value || !*value)
        return;
    line_add_key(line, key);
    line_add_string(line, value);
}

static void field_number(struct line *line, const char *key, double value)
{
    char number[40];

    if (!isfinite(value))
        return;
    snprintf(number, sizeof number, "%.15g", value);
    line_add_key(line, key);
    line_add(line, number, strlen(number));
}

double record_now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-3 * (double)(now.tv_nsec / 1000000);
}

enum fault_code record_code(const struct record *record)
{
    enum fault_code code = catalog_default_code(record->test, record->verdict);

    return code != FAULT_NONE && record->code != FAULT_NONE ? record->code : code;
}

bool record_lacks_rank(const struct record *record)
{
    enum fault_code code = record_code(record);

    return record->verdict >= VERDICT_UNKNOWN &&
           (catalog_is_of_process(code) || code == FAULT_LAUNCH_FAILED);
}

int record_write(FILE *stream, const struct record *record)
{
    const struct catalog_fault *fault = catalog_fault(record_code(record));
    struct line line = {0};
    const char *run = record->run ? record->run : getenv("MUSTER_RUN");
    int result = -1;

    line_add(&line, "{", 1);
    field_string(&line, "run", run);
    field_number(&line, "time", isnan(record->time) ? record_now_s() : record->time);
    field_string(&line, "suite", record->suite);
    field_string(&line, "test", record->test);
    field_string(&line, "metric", record->metric);
    field_string(&line, "node", record->node);
    field_string(&line, "part", record->part);
    field_string(&line, "peer", record->peer);
    field_number(&line, "value", record->value);
    field_string(&line, "unit", record->unit);
    if (record->samples)
        field_number(&line, "samples", record->samples);
    field_number(&line, "low", record->low);
    field_number(&line, "high", record->high);
    field_number(&line, "lowest", record->lowest);
    field_number(&line, "outliers", record->outliers);
    field_string(&line, "stopped", record->stopped);
    field_number(&line, "limit", record->limit);
    field_string(&line, "limit_source", record->limit_source);
    field_number(&line, "confidence", record->confidence);
    field_number(&line, "shared", record->shared);
    field_number(&line, "round", record->round);
    field_number(&line, "stalled", record->stalled);
    if (record->verdict != VERDICT_NONE)
        field_string(&line, "verdict", verdict_name(record->verdict));
    field_string(&line, "code", fault->name);
    field_string(&line, "remediation", catalog_remediation(fault->remediation));
    field_string(&line, "message", record->message);
    line_add(&line, "}\n", 2);
    if (line.out_of_memory)
        errno = ENOMEM;
    else if (fwrite(line.text, 1, line.length, stream) == line.length && fflush(stream) == 0)
        result = 0;
    free(line.text);
    return result;
}
