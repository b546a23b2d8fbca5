/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/report/junit.h"

#include <stdbool.h>
#include <string.h>

static void escape(FILE *stream, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)(text ? text : ""); *c; c++) {
        switch (*c) {
        case '<':
            fputs("&lt;", stream);
            break;
        case '>':
            fputs("&gt;", stream);
            break;
        case '&':
            fputs("&amp;", stream);
            break;
        case '"':
            fputs("&quot;", stream);
            break;
        case '\t':
        case '\n':
        case '\r':
            fprintf(stream, "&#%d;", *c);
            break;
        default:
            if (*c < 0x20 || *c == 0x7f)
                fputs("\xef\xbf\xbd", stream);
            else
                fputc(*c, stream);
        }
    }
}

/* Records that came in by JSON are UTF-8 already; those made here go through no such sieve, but
 * hold only what came in. */
static void attribute(FILE *stream, const char *name, const char *value)
{
    fprintf(stream, " %s=\"", name);
    escape(stream, value);
    fputc('"', stream);
}

static void element(FILE *stream, const char *name, const char *message)
{
    fprintf(stream, "\n      <%s", name);
    attribute(stream, "message", message);
    fputs("/>\n    ", stream);
}

static void test_case(FILE *stream, const struct record *record)
{
    const char *message = record->message ? record->message : "";
    const char *part = record->part ? record->part : "", *peer = record->peer ? record->peer : "";

    fputs("    <testcase", stream);
    attribute(stream, "classname", record->node ? record->node : "cluster");
    fputs(" name=\"", stream);
    escape(stream, record->test);
    fputs(*part ? " " : "", stream);
    escape(stream, part);
    fputs(*peer ? " to " : "", stream);
    escape(stream, peer);
    fputs("\">", stream);
    if (record->verdict == VERDICT_FAIL)
        element(stream, "failure", message);
    else if (record->verdict == VERDICT_UNKNOWN)
        element(stream, "error", message);
    else if (record->verdict == VERDICT_SKIP)
        element(stream, "skipped", message);
    else if (record->verdict == VERDICT_WARN && *message) {
        fputs("\n      <system-out>", stream);
        escape(stream, message);
        fputs("</system-out>\n    ", stream);
    }
    fputs("</testcase>\n", stream);
}

static size_t count_of(const struct records *records, const char *suite, enum verdict verdict)
{
    size_t count = 0;

    for (size_t i = 0; i < records->count; i++)
        count += strcmp(records->items[i].suite, suite) == 0 &&
                 (verdict == VERDICT_NONE ? records->items[i].verdict != VERDICT_NONE
                                          : records->items[i].verdict == verdict);
    return count;
}

int junit_write(FILE *stream, const struct records *records, const char *run)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"muster ", stream);
    escape(stream, run);
    fputs("\">\n", stream);
    for (size_t i = 0; i < records->count; i++) {
        const char *suite = records->items[i].suite;
        bool is_done = records->items[i].verdict == VERDICT_NONE;

        for (size_t k = 0; k < i && !is_done; k++)
            is_done = records->items[k].verdict != VERDICT_NONE &&
                      strcmp(records->items[k].suite, suite) == 0;
        if (is_done)
            continue;
        fputs("  <testsuite", stream);
        attribute(stream, "name", suite);
        fprintf(stream, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n",
                count_of(records, suite, VERDICT_NONE), count_of(records, suite, VERDICT_FAIL),
                count_of(records, suite, VERDICT_UNKNOWN), count_of(records, suite, VERDICT_SKIP));
        for (size_t k = i; k < records->count; k++)
            if (records->items[k].verdict != VERDICT_NONE &&
                strcmp(records->items[k].suite, suite) == 0)
                test_case(stream, &records->items[k]);
        fputs("  </testsuite>\n", stream);
    }
    fputs("</testsuites>\n", stream);
    return fflush(stream) == 0 && !ferror(stream) ? 0 : -1;
}
