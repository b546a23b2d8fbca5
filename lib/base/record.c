/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/record.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/json_text.h"
#include "lib/base/memory_stream.h"
#include "lib/base/text.h"

static void field_begin(FILE *line, const char *key)
{
    fprintf(line, "%s\"%s\":", ftell(line) > 1 ? "," : "", key);
}

static void field_string(FILE *line, const char *key, const char *value)
{
    if (!value || !*value)
        return;
    field_begin(line, key);
    json_text_write(line, value, "");
}

static void field_number(FILE *line, const char *key, double value)
{
    if (!isfinite(value))
        return;
    field_begin(line, key);
    fprintf(line, "%.15g", value);
}

double record_now_s(void)
{
    return (double)(int64_t)(1e3 * clock_epoch_s()) / 1e3;
}

void record_report(const struct record_sink *sink, struct record record, const char *message, ...)
{
    char text[512];

    TEXT_FORMAT(text, sizeof text, message);
    record.message = text;
    if (record.verdict == VERDICT_NONE && record.code != FAULT_NONE)
        record.verdict = catalog_fault(record.code)->severity;
    sink->take(&record, sink->context);
}

void record_report_pass(const struct record_sink *sink, struct record record)
{
    record.verdict = VERDICT_PASS;
    sink->take(&record, sink->context);
}

enum fault_code record_code(const struct record *record)
{
    enum fault_code code = catalog_default_code(record->test, record->verdict);

    return code != FAULT_NONE && record->code != FAULT_NONE ? record->code : code;
}

/* Returns the catalog's fault of the record; the fault of its test if the code is not listed. */
static const struct catalog_fault *fault_of(const struct record *record)
{
    enum fault_code code = record_code(record);

    return catalog_fault(
        code != FAULT_UNLISTED ? code : catalog_default_code(record->test, record->verdict));
}

static bool has_name(const struct record *record)
{
    return record_code(record) == FAULT_UNLISTED && record->code_name;
}

const char *record_code_name(const struct record *record)
{
    return has_name(record) ? record->code_name : fault_of(record)->name;
}

const char *record_remediation(const struct record *record)
{
    if (has_name(record))
        return record->remediation ? record->remediation : "";
    return catalog_remediation(fault_of(record)->remediation);
}

void record_set_code(struct record *record, const char *name)
{
    record->code = name ? catalog_fault_parse(name) : FAULT_NONE;
    record->code_name = NULL;
    if (record->code == FAULT_NONE && name && *name) {
        record->code = FAULT_UNLISTED;
        record->code_name = name;
    }
}

bool record_lacks_rank(const struct record *record)
{
    enum fault_code code = record_code(record);

    return record->verdict >= VERDICT_UNKNOWN &&
           (catalog_is_of_process(code) || code == FAULT_LAUNCH_FAILED);
}

int record_write(FILE *stream, const struct record *record)
{
    struct record whole = *record;
    char *text = NULL;
    size_t size = 0;
    FILE *line = memory_stream(&text, &size);
    int result = -1;

    if (!line)
        return -1;
    if (!whole.run)
        whole.run = getenv("MUSTER_RUN");
    if (isnan(whole.time))
        whole.time = record_now_s();
    whole.code_name = record_code_name(record);
    whole.remediation = record_remediation(record);
    fputc('{', line);
#define TEXT(key, member) field_string(line, key, whole.member);
#define NUMBER(key, member) field_number(line, key, whole.member);
#define SAMPLES(key, member) field_number(line, key, whole.member ? (double)whole.member : NAN);
#define VERDICT(key, member)                                                                       \
    field_string(line, key, whole.member == VERDICT_NONE ? "" : verdict_name(whole.member));
    RECORD_MEMBERS(TEXT, NUMBER, SAMPLES, VERDICT)
    fputs("}\n", line);
    if (fclose(line) == 0 && fwrite(text, 1, size, stream) == size && fflush(stream) == 0)
        result = 0;
    free(text);
    return result;
}

void record_put(FILE *stream, struct record record, const char *message, ...)
{
    char text[4096];

    TEXT_FORMAT(text, sizeof text, message);
    record.message = text;
    record_write(stream, &record);
}
