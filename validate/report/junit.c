/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/compare.h"
#include "lib/base/text.h"
#include "validate/report/format.h"

/* One test suite per suite of records, one test case per node and test: the names are the same in
 * each run, so that a CI system sees what is new. fail is a failure, unknown an error, skip
 * skipped; a warning passes, with its lines as system-out. Attributes follow the schema that
 * Jenkins and GitLab read (github.com/testmoapp/junitxml). Characters that XML 1.0 does not allow
 * become U+FFFD. */

/* LINES_MAX: lines of a test case. SUITES_MAX: muster has a dozen suites; if a file has more, the
 * rest are one suite, as no failure may be left out. */
enum { LINES_MAX = 200, SUITES_MAX = 256 };

struct line {
    const struct survey *survey;
    size_t index; /* of its record in the survey */
    size_t suite; /* index of its suite */
};

/* The line's record, valid until the end of the enclosing block. */
#define RECORD_OF(line) SURVEY_AT((line)->survey, (line)->index)

static void escape(FILE *stream, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text_of(text); *c; c++) {
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
        case 0xef: /* U+FFFE and U+FFFF are no characters of XML */
            if (c[1] == 0xbf && (c[2] == 0xbe || c[2] == 0xbf)) {
                fputs("\xef\xbf\xbd", stream);
                c += 2;
                break;
            }
            fputc(*c, stream);
            break;
        default:
            if (*c < 0x20 || *c == 0x7f)
                fputs("\xef\xbf\xbd", stream);
            else
                fputc(*c, stream);
        }
    }
}

static void attribute(FILE *stream, const char *name, const char *value)
{
    fprintf(stream, " %s=\"", name);
    escape(stream, value);
    fputc('"', stream);
}

static void property(FILE *stream, const char *name, const char *value)
{
    if (!*text_of(value))
        return;
    fputs("      <property", stream);
    attribute(stream, "name", name);
    attribute(stream, "value", value);
    fputs("/>\n", stream);
}

static const char *node_of(const struct record *record)
{
    return record->node && *record->node ? record->node : "cluster";
}

static int compare_lines(const void *a, const void *b)
{
    const struct line *left = a, *right = b;
    const struct record *x = RECORD_OF(left), *y = RECORD_OF(right);

    /* the worst first, then in the order of the records */
    return COMPARE(left->suite, right->suite) ?: strverscmp(node_of(x), node_of(y))
           ?: strcmp(x->test, y->test) ?: COMPARE(y->verdict, x->verdict)
           ?: COMPARE(left->index, right->index);
}

/* Writes "eth1 to n2: 49 of 200 Mb/s". */
static void write_message(FILE *stream, const struct record *record)
{
    const char *part = text_of(record->part), *peer = text_of(record->peer),
               *message = text_of(record->message);

    if (!*part || strncmp(message, part, strlen(part)) != 0) {
        escape(stream, part);
        fputs(*part && *peer ? " to " : "", stream);
        escape(stream, peer);
        fputs(*part || *peer ? ": " : "", stream);
    }
    escape(stream, *message ? message : verdict_name(record->verdict));
}

static void lines(FILE *stream, const struct line *line, size_t count)
{
    for (size_t i = 0; i < count && i < LINES_MAX; i++) {
        const struct record *record = RECORD_OF(&line[i]);

        if (record->verdict < VERDICT_WARN)
            return;
        fprintf(stream, "%s: ", verdict_name(record->verdict));
        write_message(stream, record);
        fputc('\n', stream);
    }
    if (count > LINES_MAX)
        fputs("...\n", stream);
}

static void seconds(FILE *stream, double value)
{
    fprintf(stream, " time=\"%.3f\"", isnan(value) || value < 0 ? 0 : value);
}

static double span(const struct line *line, size_t count)
{
    double begin = NAN, end = NAN;

    for (size_t i = 0; i < count; i++) {
        double time = RECORD_OF(&line[i])->time;

        begin = fmin(begin, time);
        end = fmax(end, time);
    }
    return end - begin;
}

/* Writes one test case of `count` lines, the worst first. */
static void test_case(FILE *stream, const struct line *line, size_t count)
{
    const struct record *worst = RECORD_OF(line);
    const char *element = worst->verdict == VERDICT_FAIL      ? "failure"
                          : worst->verdict == VERDICT_UNKNOWN ? "error"
                                                              : NULL;
    const struct catalog_fault *fault = catalog_fault(record_code(worst));

    fputs("    <testcase", stream);
    attribute(stream, "classname", node_of(worst));
    attribute(stream, "name", worst->test);
    seconds(stream, span(line, count));
    if (worst->verdict == VERDICT_PASS) {
        fputs("/>\n", stream);
        return;
    }
    fputs(">\n", stream);
    if (element) {
        fprintf(stream, "      <%s message=\"", element);
        write_message(stream, worst);
        fputc('"', stream);
        attribute(stream, "type", record_code_name(worst));
        fputc('>', stream);
        lines(stream, line, count);
        escape(stream, fault->advice);
        fprintf(stream, "</%s>\n", element);
    } else if (worst->verdict == VERDICT_SKIP) {
        fputs("      <skipped", stream);
        attribute(stream, "message", worst->message);
        fputs("/>\n", stream);
    } else {
        fputs("      <system-out>", stream);
        lines(stream, line, count);
        fputs("</system-out>\n", stream);
    }
    fputs("    </testcase>\n", stream);
}

/* Returns the number of lines of the test case that starts at line. */
static size_t case_length(const struct line *line, size_t left)
{
    const struct record *first = RECORD_OF(line);
    size_t length = 1;

    while (length < left && line[length].suite == line->suite &&
           strcmp(node_of(RECORD_OF(&line[length])), node_of(first)) == 0 &&
           strcmp(RECORD_OF(&line[length])->test, first->test) == 0)
        length++;
    return length;
}

struct tally {
    size_t cases, failures, errors, skipped;
};

static struct tally count_cases(const struct line *line, size_t count)
{
    struct tally tally = {0};

    for (size_t i = 0; i < count; i += case_length(&line[i], count - i)) {
        enum verdict verdict = RECORD_OF(&line[i])->verdict;

        tally.cases++;
        tally.failures += verdict == VERDICT_FAIL;
        tally.errors += verdict == VERDICT_UNKNOWN;
        tally.skipped += verdict == VERDICT_SKIP;
    }
    return tally;
}

static void counts(FILE *stream, struct tally tally)
{
    fprintf(stream, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"", tally.cases,
            tally.failures, tally.errors, tally.skipped);
}

static void test_suite(FILE *stream, const struct survey *survey, const struct line *line,
                       size_t count)
{
    char stamp[32] = "";
    double begin = INFINITY;

    for (size_t i = 0; i < count; i++)
        begin = fmin(begin, RECORD_OF(&line[i])->time);
    fputs("  <testsuite", stream);
    attribute(stream, "name", line->suite < SUITES_MAX ? RECORD_OF(line)->suite : "others");
    counts(stream, count_cases(line, count));
    seconds(stream, span(line, count));
    if (isfinite(begin))
        attribute(stream, "timestamp",
                  text_time(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", (time_t)begin));
    fputs(">\n    <properties>\n", stream);
    property(stream, "run", survey->run);
    property(stream, "cluster", survey->cluster);
    property(stream, "level", survey->level);
    property(stream, "generator", PACKAGE_STRING);
    fputs("    </properties>\n", stream);
    for (size_t i = 0; i < count;) {
        size_t length = case_length(&line[i], count - i);

        test_case(stream, &line[i], length);
        i += length;
    }
    fputs("  </testsuite>\n", stream);
}

/* Returns the records with a verdict, sorted by suite (in order of appearance), node and test. */
static struct line *sort(const struct survey *survey, size_t *count)
{
    struct line *line = malloc((survey->count + 1) * sizeof *line);
    const char *suites[SUITES_MAX];
    size_t suite_count = 0;

    *count = 0;
    for (size_t i = 0; line && i < survey->count; i++) {
        const struct record *record = SURVEY_AT(survey, i);
        size_t suite = 0;

        if (record->verdict == VERDICT_NONE)
            continue;
        while (suite < suite_count && strcmp(suites[suite], record->suite) != 0)
            suite++;
        if (suite == suite_count && suite < SUITES_MAX)
            suites[suite_count++] = record->suite;
        line[(*count)++] = (struct line){survey, i, suite};
    }
    if (line && *count > 0)
        qsort(line, *count, sizeof *line, compare_lines);
    return line;
}

int junit_write(FILE *stream, const struct survey *survey)
{
    size_t count;
    struct line *line = sort(survey, &count);

    if (!line)
        return -1;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"muster ", stream);
    escape(stream, survey->run);
    fputc('"', stream);
    counts(stream, count_cases(line, count));
    seconds(stream, isnan(survey->seconds) ? survey->end - survey->begin : survey->seconds);
    fputs(">\n", stream);
    for (size_t i = 0; i < count;) {
        size_t end = i + 1;

        while (end < count && line[end].suite == line[i].suite)
            end++;
        test_suite(stream, survey, &line[i], end - i);
        i = end;
    }
    fputs("</testsuites>\n", stream);
    free(line);
    return fflush(stream) == 0 && !ferror(stream) ? 0 : -1;
}
