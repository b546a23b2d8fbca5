/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/record.h"
#include "lib/base/json_text.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>

static const char *written(const struct record *record)
{
    static char text[4096];
    FILE *stream = fmemopen(text, sizeof text, "w");

    memset(text, 0, sizeof text);
    record_write(stream, record);
    fclose(stream);
    return text;
}

static const char *escaped(const char *text, const char *also)
{
    static char out[256];
    FILE *stream = fmemopen(out, sizeof out, "w");

    memset(out, 0, sizeof out);
    json_text_write(stream, text, also);
    fclose(stream);
    return out;
}

static void store_verdict(struct record *record, void *context)
{
    *(enum verdict *)context = record->verdict;
}

static void reports_have_verdicts(void)
{
    enum verdict verdict = VERDICT_SKIP;
    const struct record_sink sink = {store_verdict, &verdict};

    record_report(&sink, RECORD(.test = "links", .value = 1), "%s", "one");
    is_int(verdict, VERDICT_NONE, "a value without a code has no verdict");
    record_report(&sink, RECORD(.test = "links", .code = FAULT_LINK_ERRORS), "%s", "one");
    is_int(verdict, VERDICT_WARN, "... with a code, it has the severity of the code");
    record_report(&sink, RECORD(.code = FAULT_LINK_ERRORS, .verdict = VERDICT_FAIL), "%s", "one");
    is_int(verdict, VERDICT_FAIL, "... unless it has its own verdict");
    record_report_pass(&sink, RECORD(.test = "links", .value = 1));
    is_int(verdict, VERDICT_PASS, "... and record_report_pass() sets pass");
}

int main(void)
{
    struct record record = RECORD_INIT;
    FILE *full;

    unsetenv("MUSTER_RUN");
    record.time = 1795190000.5;
    is_str(written(&record), "{\"time\":1795190000.5}\n", "absent members are not written");
    record.suite = "links";
    record.node = "n1";
    record.value = 196.25;
    record.unit = "Mb/s";
    record.samples = 5;
    record.lowest = 120;
    record.outliers = 1;
    record.stopped = "budget";
    record.verdict = VERDICT_FAIL;
    is_str(written(&record),
           "{\"time\":1795190000.5,\"suite\":\"links\",\"node\":\"n1\",\"value\":196.25,"
           "\"unit\":\"Mb/s\",\"samples\":5,\"lowest\":120,\"outliers\":1,\"stopped\":\"budget\","
           "\"verdict\":\"fail\",\"code\":\"test_failed\",\"remediation\":\"check_log\"}\n",
           "a record is one line of JSON");
    record.samples = (1 << 24) + 1;
    has_str(written(&record), "\"samples\":16777217,", "a number of samples is exact");
    record.test = "gpu.health";
    has_str(written(&record), "\"code\":\"gpu_unhealthy\",\"remediation\":\"reset_gpu\"",
            "a failure without a code has the code of its test");
    record.code = FAULT_GPU_MEMORY_ERRORS;
    has_str(written(&record), "\"code\":\"gpu_memory_errors\"", "... else its own code");
    record_set_code(&record, "brand_new");
    is_int(record_code(&record), FAULT_UNLISTED, "a code that the catalog lacks is FAULT_UNLISTED");
    ok(catalog_fault(record_code(&record))->drain == DRAIN_NEVER, "... which drains no node");
    has_str(written(&record), "\"code\":\"brand_new\"", "... but keeps its name");
    ok(!strstr(written(&record), "remediation"), "... without the remediation of another code");
    record.code_name = NULL;
    has_str(written(&record), "\"code\":\"gpu_unhealthy\"",
            "... if the name is lost, the name of the test's code");
    record_set_code(&record, "gpu_lost");
    is_int(record.code, FAULT_GPU_LOST, "a code that the catalog has is set");
    record.verdict = VERDICT_PASS;
    ok(!strstr(written(&record), "code"), "... and a pass has none");
    record.test = NULL;
    setenv("MUSTER_RUN", "r1", 1);
    has_str(written(&record), "{\"run\":\"r1\",", "the run comes from the environment");
    record.message = "a \"quote\", a \\, a\ttab, \xc3\xa9, a bad byte \xff.";
    has_str(written(&record),
            "\"a \\\"quote\\\", a \\\\, a\\u0009tab, \xc3\xa9, a bad byte \xef\xbf\xbd.\"",
            "text is escaped, and always UTF-8");
    is_str(escaped("</script> \"&\" \xc3\xa9", "<>&'"),
           "\"\\u003c/script\\u003e \\\"\\u0026\\\" \xc3\xa9\"",
           "... in a page also the characters that could end an element");
    is_str(escaped("", "<"), "\"\"", "... and \"\" is an empty string");
    record.message = "\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82";
    ok(!strpbrk(strstr(written(&record), "message"), "\xc0\xed\xf4\xe2"),
       "overlong, surrogate, out-of-range and truncated UTF-8 sequences are not written");
    record.value = 1.0 / 0.0;
    ok(!strstr(written(&record), "inf"), "a value that is not finite is not written");
    record = (struct record)RECORD_INIT;
    record.verdict = VERDICT_UNKNOWN;
    record.code = FAULT_LAUNCH_FAILED;
    ok(record_lacks_rank(&record), "a record of a program that did not start lacks ranks");
    record.code = FAULT_PROCESS_DIED;
    ok(record_lacks_rank(&record), "... and a record of a program with a dead process");
    record.verdict = VERDICT_PASS;
    ok(!record_lacks_rank(&record), "... but not a record that passed");
    record.verdict = VERDICT_FAIL;
    record.code = FAULT_RAIL_SLOW;
    record.message = "a process died";
    ok(!record_lacks_rank(&record), "... nor a record of a slow rail, whatever its message says");
    record.code = FAULT_NONE;
    record.test = "workers.enumerate";
    ok(record_lacks_rank(&record), "... without a code, the code of the test decides");
    full = fopen("/dev/full", "w");
    is_int(record_write(full, &record), -1, "a full disk is an error");
    fclose(full);
    for (int i = VERDICT_NONE; i <= VERDICT_FAIL; i++)
        is_int(verdict_parse(verdict_name(i)), i,
               "the name of verdict %s is parsed to the same verdict", verdict_name(i));
    is_int(verdict_parse("good"), -1, "an unknown verdict is refused");
    reports_have_verdicts();
    return tap_done();
}
