/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/report/records.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/hash.h"
#include "lib/base/utf8.h"

/* The members of struct record that are strings, by their key. */
static const struct {
    const char *key;
    size_t offset;
} strings[] = {
    {"run", offsetof(struct record, run)},
    {"suite", offsetof(struct record, suite)},
    {"test", offsetof(struct record, test)},
    {"metric", offsetof(struct record, metric)},
    {"node", offsetof(struct record, node)},
    {"part", offsetof(struct record, part)},
    {"peer", offsetof(struct record, peer)},
    {"unit", offsetof(struct record, unit)},
    {"limit_source", offsetof(struct record, limit_source)},
    {"message", offsetof(struct record, message)},
    {"stopped", offsetof(struct record, stopped)},
    {"code", offsetof(struct record, code_name)},
    {"remediation", offsetof(struct record, remediation)},
};
enum { STRINGS = sizeof strings / sizeof *strings };

static const struct {
    const char *key;
    size_t offset;
} numbers[] = {
    {"time", offsetof(struct record, time)},
    {"value", offsetof(struct record, value)},
    {"low", offsetof(struct record, low)},
    {"high", offsetof(struct record, high)},
    {"limit", offsetof(struct record, limit)},
    {"lowest", offsetof(struct record, lowest)},
    {"outliers", offsetof(struct record, outliers)},
    {"confidence", offsetof(struct record, confidence)},
    {"shared", offsetof(struct record, shared)},
    {"round", offsetof(struct record, round)},
    {"stalled", offsetof(struct record, stalled)},
    {"job", offsetof(struct record, job)},
    {"user", offsetof(struct record, user)},
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static const char **string_at(struct record *record, size_t i)
{
    return (const char **)(void *)((char *)record + strings[i].offset);
}

static double *number_at(struct record *record, size_t i)
{
    return (double *)(void *)((char *)record + numbers[i].offset);
}

/* The slot that holds the text, or the empty one where it belongs. */
static size_t slot_of(const struct records_texts *texts, const char *text)
{
    size_t at = hash_text(HASH_BEGIN, text) & (texts->size - 1);

    while (texts->slots[at] && strcmp(texts->slots[at], text) != 0)
        at = (at + 1) & (texts->size - 1);
    return at;
}

static bool texts_grow(struct records_texts *texts)
{
    struct records_texts grown = {.size = texts->size ? 2 * texts->size : 256};

    grown.slots = calloc(grown.size, sizeof *grown.slots);
    if (!grown.slots)
        return false;
    for (size_t i = 0; i < texts->size; i++)
        if (texts->slots[i])
            grown.slots[slot_of(&grown, texts->slots[i])] = texts->slots[i];
    grown.count = texts->count;
    grown.bytes = texts->bytes;
    free(texts->slots);
    *texts = grown;
    return true;
}

static bool is_printable(const char *text)
{
    size_t length;

    for (; *text; text += length)
        if ((length = utf8_printable_length((const unsigned char *)text)) == 0)
            return false;
    return true;
}

/* The list's own copy of the text; NULL when memory is out. */
static const char *text_keep(struct records_texts *texts, const char *text)
{
    char *clean = NULL;
    size_t at;

    if (2 * (texts->count + 1) > texts->size && !texts_grow(texts))
        return NULL;
    if (!is_printable(text)) {
        clean = utf8_copy(text);
        if (!clean)
            return NULL;
        utf8_clean(clean);
        text = clean;
    }
    at = slot_of(texts, text);
    if (texts->slots[at]) {
        free(clean);
        return texts->slots[at];
    }
    texts->slots[at] = clean ? clean : strdup(text);
    if (!texts->slots[at])
        return NULL;
    texts->count++;
    texts->bytes += strlen(texts->slots[at]) + 1;
    return texts->slots[at];
}

int records_add(struct records *records, const struct record *record)
{
    struct record added = *record;

    if (!GROW(records->items, records->count))
        return -1;
    for (size_t i = 0; i < STRINGS; i++) {
        const char **text = string_at(&added, i);

        if (*text && !(*text = text_keep(&records->texts, *text)))
            return -1;
    }
    records->items[records->count++] = added;
    return 0;
}

const struct record *records_get(const struct records *records, size_t index, struct record *record)
{
    *record = records->items[index];
    return record;
}

int records_change(struct records *records, size_t index, const struct record *record)
{
    records->items[index] = *record;
    return 0;
}

static const char *type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_NULL:
        return "null";
    default:
        return "a truth value";
    }
}

static int wrong(struct error *err, const char *key, const json_t *value, const char *expected)
{
    error_set(err, "%s is %s, expected %s", key, type_name(value), expected);
    return 1;
}

static int fill(struct record *record, json_t *object, struct error *err)
{
    const json_t *value;

    for (size_t i = 0; i < STRINGS; i++) {
        if (!(value = json_object_get(object, strings[i].key)))
            continue;
        if (!json_is_string(value))
            return wrong(err, strings[i].key, value, "a string");
        *string_at(record, i) = json_string_value(value);
    }
    for (size_t i = 0; i < NUMBERS; i++) {
        if (!(value = json_object_get(object, numbers[i].key)))
            continue;
        if (!json_is_number(value))
            return wrong(err, numbers[i].key, value, "a number");
        *number_at(record, i) = json_number_value(value);
    }
    if ((value = json_object_get(object, "samples"))) {
        if (!json_is_number(value) || json_number_value(value) < 0 ||
            json_number_value(value) > 4e9 ||
            json_number_value(value) != floor(json_number_value(value)))
            return wrong(err, "samples", value, "a whole number from 0");
        record->samples = (unsigned)json_number_value(value);
    }
    if ((value = json_object_get(object, "verdict"))) {
        int verdict = json_is_string(value) ? verdict_parse(json_string_value(value)) : -1;

        if (verdict < 0) {
            error_set(err, "verdict is %.40s, expected pass, skip, warn, unknown or fail",
                      json_is_string(value) ? json_string_value(value) : type_name(value));
            return 1;
        }
        record->verdict = (enum verdict)verdict;
    }
    record_set_code(record, record->code_name);
    if (record->code != FAULT_UNLISTED)
        record->remediation = NULL;
    if (!record->suite || !record->test) {
        error_set(err, "no %s", record->suite ? "test" : "suite");
        return 1;
    }
    return 0;
}

static int parse(struct records *records, const char *line, size_t length,
                 records_wanted_fn *is_wanted, void *context, struct error *err)
{
    struct record record = RECORD_INIT;
    json_error_t fault;
    json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES, &fault);
    int rv = 1;

    if (json_is_object(object))
        rv = fill(&record, object, err);
    else if (object)
        wrong(err, "the line", object, "an object");
    else if (length == 0)
        error_set(err, "an empty line");
    else
        error_set(err, "not JSON: %.160s", fault.text);
    if (rv == 0 && is_wanted && !is_wanted(&record, context))
        rv = 2;
    if (rv == 0)
        rv = records_add(records, &record);
    json_decref(object);
    return rv;
}

int records_parse_bytes(struct records *records, const char *line, size_t length, struct error *err)
{
    return parse(records, line, length, NULL, NULL, err);
}

int records_parse_wanted(struct records *records, const char *line, records_wanted_fn *is_wanted,
                         void *context)
{
    return parse(records, line, strlen(line), is_wanted, context, NULL);
}

static bool is_own(const struct record *record, void *node)
{
    return !record->node || strcmp(record->node, node) == 0;
}

int records_parse_own(struct records *records, const char *node, const char *line)
{
    return records_parse_wanted(records, line, is_own, (void *)(uintptr_t)node);
}

int records_parse(struct records *records, const char *line)
{
    return records_parse_bytes(records, line, strlen(line), NULL);
}

int records_end(const struct records *records)
{
    const struct record *last =
        records->count > 0 ? RECORD_AT(records, records->count - 1) : &(struct record)RECORD_INIT;

    return catalog_is_test(last->test, TEST_MPI_LAUNCH) &&
                   catalog_is_metric(last->metric, METRIC_END) && last->value >= 0 &&
                   last->value <= 255
               ? (int)last->value
               : -1;
}

bool records_explain(const struct records *records, size_t first, int status)
{
    enum verdict least = status == 1 ? VERDICT_FAIL : VERDICT_UNKNOWN;

    if (status == 0)
        return true;
    if (status != 1 && status != 3)
        return false;
    for (size_t i = first; i < records->count; i++)
        if (RECORD_AT(records, i)->verdict >= least)
            return true;
    return false;
}

void records_clear(struct records *records)
{
    for (size_t i = 0; i < records->texts.size; i++)
        free(records->texts.slots[i]);
    free(records->texts.slots);
    free(records->items);
    *records = (struct records){0};
}
