/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/report/records.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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
};
enum { STRINGS = sizeof strings / sizeof *strings };

static const struct {
    const char *key;
    size_t offset;
} numbers[] = {
    {"time", offsetof(struct record, time)},         {"value", offsetof(struct record, value)},
    {"low", offsetof(struct record, low)},           {"high", offsetof(struct record, high)},
    {"limit", offsetof(struct record, limit)},       {"lowest", offsetof(struct record, lowest)},
    {"outliers", offsetof(struct record, outliers)},
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

int records_add(struct records *records, const struct record *record)
{
    struct record added = *record;
    bool is_missing = false;

    if (records->count == records->size) {
        size_t size = records->size ? 2 * records->size : 256;
        struct record *grown = realloc(records->items, size * sizeof *grown);

        if (!grown)
            return -1;
        records->items = grown;
        records->size = size;
    }
    for (size_t i = 0; i < STRINGS; i++) {
        const char **text = string_at(&added, i);

        if (*text && !(*text = strdup(*text)))
            is_missing = true;
    }
    records->items[records->count++] = added;
    return is_missing ? -1 : 0;
}

static int fill(struct record *record, json_t *object)
{
    const json_t *value;

    for (size_t i = 0; i < STRINGS; i++) {
        if (!(value = json_object_get(object, strings[i].key)))
            continue;
        if (!json_is_string(value))
            return 1;
        *string_at(record, i) = json_string_value(value);
    }
    for (size_t i = 0; i < NUMBERS; i++) {
        if (!(value = json_object_get(object, numbers[i].key)))
            continue;
        if (!json_is_number(value))
            return 1;
        *number_at(record, i) = json_number_value(value);
    }
    if ((value = json_object_get(object, "samples"))) {
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return 1;
        record->samples = (unsigned)json_integer_value(value);
    }
    if ((value = json_object_get(object, "verdict"))) {
        int verdict = json_is_string(value) ? verdict_parse(json_string_value(value)) : -1;

        if (verdict < 0)
            return 1;
        record->verdict = (enum verdict)verdict;
    }
    return record->suite && record->test ? 0 : 1;
}

int records_parse(struct records *records, const char *line)
{
    struct record record = RECORD_INIT;
    json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
    int rv = json_is_object(object) ? fill(&record, object) : 1;

    if (rv == 0)
        rv = records_add(records, &record);
    json_decref(object);
    return rv;
}

void records_clear(struct records *records)
{
    for (size_t k = 0; k < records->count; k++)
        for (size_t i = 0; i < STRINGS; i++)
            free((char *)(size_t)*string_at(&records->items[k], i));
    free(records->items);
    *records = (struct records){0};
}
