/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "tests/unit/tap.h"
#include "validate/report/records.h"
#include "validate/report/table.h"

static bool has_no_memory; /* strdup() fails */

char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
    return has_no_memory ? NULL : __real_strdup(text);
}

/* A record without its suite would match every suite. */
static void test_without_memory(void)
{
    struct records records = {0};
    struct record record = RECORD_INIT;

    record.suite = "links";
    record.test = "links";
    is_int(records_add(&records, &record), 0, "a record is added");
    record.test = "another";
    has_no_memory = true;
    is_int(records_add(&records, &record), -1, "... but not without memory");
    is_int(records_parse(&records, "{\"suite\":\"a\",\"test\":\"b\"}"), -1,
           "... nor is one parsed");
    has_no_memory = false;
    is_int(records.count, 1, "... and no part of it is stored");
    is_int(records_add(&records, &record), 0, "with memory again it is added");
    is_str(RECORD_AT(&records, 1)->test, "another", "... completely");
    records_clear(&records);
}

static void check_refused(const char *line, const char *what)
{
    struct records records = {0};

    is_int(records_parse(&records, line), 1, "%s is no record", what);
    is_int(records.count, 0, "... and adds none");
    records_clear(&records);
}

static void test_parsing(void)
{
    struct records records = {0};
    struct record record = RECORD_INIT;
    const struct record *found;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    record.suite = "links";
    record.test = "links";
    record.metric = "bandwidth";
    record.node = "n1";
    record.part = "eth1";
    record.peer = "n\"2\n";
    record.value = 196.25;
    record.unit = "Mb/s";
    record.samples = 5;
    record.lowest = 120;
    record.outliers = 1;
    record.stopped = "budget";
    record.low = 190;
    record.high = 199;
    record.limit = 160;
    record.limit_source = "nominal";
    record.verdict = VERDICT_WARN;
    record.message = "caf\xc3\xa9";
    record.run = "r1";
    record.time = 1795190000.25;
    record_write(stream, &record);
    fclose(stream);
    is_int(records_parse(&records, text), 0, "what record_write() writes is read");
    found = RECORD_AT(&records, 0);
    is_str(found->suite, "links", "suite");
    is_str(found->peer, "n\"2?", "a string with escapes, its newline replaced");
    is_str(found->message, "caf\xc3\xa9", "UTF-8");
    is_near(found->value, 196.25, 1e-9, "value");
    is_near(found->time, 1795190000.25, 1e-3, "time");
    is_near(found->low, 190, 0, "low");
    is_int(found->samples, 5, "samples");
    is_near(found->lowest, 120, 0, "lowest");
    is_near(found->outliers, 1, 0, "outliers");
    is_str(found->stopped, "budget", "stopped");
    is_int(found->verdict, VERDICT_WARN, "verdict");
    free(text);
    is_int(records_parse(&records, "{\"suite\":\"a\",\"test\":\"b\",\"colour\":[1]}"), 0,
           "an unknown field is ignored");
    ok(isnan(RECORD_AT(&records, 1)->value), "a number that is absent is NAN");
    ok(!RECORD_AT(&records, 1)->node, "a string that is absent is NULL");
    record.message = "caf\xe9 \xed\xa0\x80";
    is_int(records_add(&records, &record), 0, "a record with bytes that are no UTF-8 is added");
    is_str(RECORD_AT(&records, 2)->message, "caf\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
           "invalid bytes become U+FFFD");
    ok(RECORD_AT(&records, 2)->node == RECORD_AT(&records, 0)->node, "equal texts are stored once");
    is_int(records_parse(&records, "{\"suite\":\"a\",\"test\":\"b\",\"node\":\"n1\\u001b[2J\","
                                   "\"message\":\"\\u001b]0;x\\u0007\\r\\u009b31m \\u202ebad\"}"),
           0, "a record with control characters is read");
    is_str(RECORD_AT(&records, 3)->node, "n1?[2J", "... they are replaced");
    is_str(RECORD_AT(&records, 3)->message, "?]0;x????31m ???bad", "... in all strings");
    for (int i = 0; i < 2000; i++) {
        char name[32];

        snprintf(name, sizeof name, "n%d", i % 1000);
        record.node = name;
        records_add(&records, &record);
    }
    is_str(RECORD_AT(&records, 4 + 1234)->node, "n234", "each of many texts is the right one");
    ok(RECORD_AT(&records, 4 + 1234)->node == RECORD_AT(&records, 4 + 234)->node,
       "... and is stored once");
    records_clear(&records);

    check_refused("", "an empty line");
    check_refused("srun: error: n1: task 0: Killed", "a line of srun");
    check_refused("[1]", "an array");
    check_refused("{\"test\":\"b\"}", "an object without a suite");
    check_refused("{\"suite\":\"a\"}", "an object without a test");
    check_refused("{\"suite\":\"a\",\"test\":\"b\",\"value\":\"1\"}", "a string as value");
    check_refused("{\"suite\":\"a\",\"test\":\"b\",\"node\":1}", "a number as node");
    check_refused("{\"suite\":\"a\",\"test\":\"b\",\"verdict\":\"good\"}", "an unknown verdict");
    check_refused("{\"suite\":\"a\",\"test\":\"b\",\"samples\":-1}", "a negative count");
    check_refused("{\"suite\":\"a\",\"suite\":\"b\",\"test\":\"b\"}", "a field given twice");
    check_refused("{\"suite\":\"a\",\"test\":\"b\"", "half a record");
}

static void test_sizes(void)
{
    struct records records = {0};
    struct record record =
        RECORD(.suite = "links", .test = "links", .metric = "bandwidth", .part = "eth1",
               .unit = "Mb/s", .samples = 5, .low = 97103.123456789, .high = 98001.9876543,
               .stalled = 0, .shared = 1);

    for (int i = 0; i < 10000; i++) {
        char node[16], peer[16];

        snprintf(node, sizeof node, "n%d", i);
        snprintf(peer, sizeof peer, "n%d", 9999 - i);
        record.node = node;
        record.peer = peer;
        record.value = 97654.321 + i / 3.0;
        records_add(&records, &record);
    }
    ok(records.starts[10000 / 16 - 1] < 9984 * 64, "a bandwidth record takes less than 64 bytes");
    is_near(RECORD_AT(&records, 7777)->value, 97654.321 + 7777 / 3.0, 0,
            "... and has its own value");
    records_clear(&records);
}

/* Packed records must come back unchanged. */
static void test_packing(void)
{
    struct records records = {0};
    struct record record =
        RECORD(.suite = "certify", .test = "links", .message = "", .stopped = "interval",
               .limit_source = "nominal", .code = FAULT_UNLISTED, .code_name = "newer",
               .remediation = "wait", .verdict = VERDICT_FAIL, .samples = 4294967295u, .value = 0.1,
               .low = -0.5, .high = 1e300, .lowest = 16777217, .outliers = INFINITY, .limit = 0,
               .confidence = 0.999, .round = 3, .job = 4294967294.0, .user = 1000,
               .time = 1795190000.25);
    const struct record *found;

    records_add(&records, &record);
    found = RECORD_AT(&records, 0);
    ok(found->value == record.value && found->low == record.low && found->high == record.high &&
           found->lowest == record.lowest && found->outliers == record.outliers &&
           found->limit == 0 && found->confidence == record.confidence && found->round == 3 &&
           found->job == record.job && found->user == 1000 && found->time == record.time,
       "numbers are equal to the last bit");
    ok(isnan(found->shared) && isnan(found->stalled) && !found->node && !found->run,
       "... missing values stay missing");
    ok(found->message && !*found->message, "... an empty text is not a missing one");
    is_str(found->stopped, "interval", "a text is kept");
    is_str(record_code_name(found), "newer", "an unknown code of a newer muster is kept");
    is_str(record_remediation(found), "wait", "... with its remediation");
    is_int(found->samples, 4294967295u, "samples");
    is_int(found->verdict, VERDICT_FAIL, "verdict");
    records_clear(&records);
}

static void test_changed_records(void)
{
    struct records records = {0};
    struct record record = RECORD(.suite = "certify", .test = "links", .run = "r1", .node = "n1",
                                  .verdict = VERDICT_FAIL);

    for (int i = 0; i < 100; i++) {
        record.value = i / 10.0;
        records_add(&records, &record);
    }
    records.count = 50;
    record.value = -1;
    records_add(&records, &record);
    is_int(records.count, 51, "after records were dropped another one is added");
    is_near(RECORD_AT(&records, 49)->value, 4.9, 0, "... after the remaining ones");
    is_near(RECORD_AT(&records, 50)->value, -1, 0, "... with its value");
    record = *RECORD_AT(&records, 20);
    record.run = NULL;
    record.verdict = VERDICT_NONE;
    is_int(records_change(&records, 20, &record), 0, "fields can be removed from a record");
    ok(!RECORD_AT(&records, 20)->run && RECORD_AT(&records, 20)->verdict == VERDICT_NONE,
       "... and are gone");
    is_near(RECORD_AT(&records, 20)->value, 2.0, 0, "... its other fields stay");
    is_str(RECORD_AT(&records, 21)->run, "r1", "... and so does the next record");
    record.run = record.peer = record.part = "r1";
    is_int(records_change(&records, 20, &record), -1, "a record cannot grow");
    ok(!RECORD_AT(&records, 20)->run, "... and stays unchanged");
    records_clear(&records);
}

static void test_tables(void)
{
    struct table table = {0};
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    table_heading(&table, "NODE\tV\tMESSAGE");
    table_cell(&table, VERDICT_NONE, "n\xc3\xa9");
    table_cell(&table, VERDICT_FAIL, "FAILED");
    table_cell(&table, VERDICT_NONE, "eth%d", 1);
    table_print(&table, stream, false);
    fclose(stream);
    is_str(text, "NODE  V       MESSAGE\nn\xc3\xa9    FAILED  eth1\n",
           "columns are aligned by characters, the last one is not padded");
    free(text);
    stream = open_memstream(&text, &size);
    table_print(&table, stream, true);
    fclose(stream);
    has_str(text, "\033[1;31mFAILED\033[0m  eth1", "colors do not count for the width");
    free(text);
    table_clear(&table);
    stream = open_memstream(&text, &size);
    table_heading(&table, "A\tB\t%");
    table_end(&table, stream, "\n");
    table_heading(&table, "A\tB\t%");
    table_cells(&table, "%s\t%d\t", "a\tb", 12);
    table_end(&table, stream, "\n");
    fclose(stream);
    is_str(
        text, "\nA    B   %\na?b  12\n",
        "cells come from a format, not from a value's tabs; a table without rows is not printed");
    free(text);
}

static void test_program_ends(void)
{
    struct records records = {0};
    struct record record = RECORD_INIT;

    record.suite = record.test = "links";
    record.verdict = VERDICT_PASS;
    records_add(&records, &record);
    ok(records_explain(&records, 0, 0), "status 0 is explained by passed records");
    ok(!records_explain(&records, 0, 1), "status 1 needs a failed record");
    ok(!records_explain(&records, 0, 3), "... status 3 needs an unknown one");
    ok(!records_explain(&records, 0, 134), "... an abort is never explained");
    record.verdict = VERDICT_UNKNOWN;
    records_add(&records, &record);
    ok(records_explain(&records, 0, 3), "an unknown record explains status 3");
    ok(!records_explain(&records, 2, 3), "... only after the given index");
    ok(!records_explain(&records, 0, 1), "... and does not explain status 1");
    record.verdict = VERDICT_FAIL;
    records_add(&records, &record);
    ok(records_explain(&records, 2, 1) && records_explain(&records, 2, 3),
       "a failed record explains status 1 and 3");
    is_int(records_end(&records), -1, "no program has reported its end");
    record = (struct record)RECORD_INIT;
    record.test = "mpi.launch";
    record.metric = "end";
    record.value = 3;
    record.unit = "1";
    records_add(&records, &record);
    is_int(records_end(&records), 3, "a reported end has a status");
    record.value = NAN;
    records_add(&records, &record);
    is_int(records_end(&records), -1, "an end without a number has none");
    records_clear(&records);
}

int main(void)
{
    test_parsing();
    test_without_memory();
    test_sizes();
    test_packing();
    test_changed_records();
    test_program_ends();
    test_tables();
    return tap_done();
}
