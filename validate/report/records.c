/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

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

/* The members of struct record, with their keys. */
struct member {
    const char *key;
    size_t offset;
};
#define MEMBER(key, member) {key, offsetof(struct record, member)},
static const struct member strings[] = {
    RECORD_MEMBERS(MEMBER, RECORD_NONE, RECORD_NONE, RECORD_NONE)};
static const struct member numbers[] = {
    RECORD_MEMBERS(RECORD_NONE, MEMBER, RECORD_NONE, RECORD_NONE)};
enum { STRINGS = sizeof strings / sizeof *strings, NUMBERS = sizeof numbers / sizeof *numbers };

/* The head of a packed record: its length in bytes, bit masks of the strings and numbers that
 * follow (a number as float if that is exact, else as double), and the other members. */
struct head {
    uint64_t length : 8, verdict : 3, code : 10;
    uint64_t texts : STRINGS, floats : NUMBERS, doubles : NUMBERS;
};
enum {
    COUNT_MOST = 5, /* bytes of count_put() */
    PACKED_MOST = sizeof(struct head) + COUNT_MOST * (STRINGS + 1) + sizeof(double) * NUMBERS,
    STRIDE = 16
};
_Static_assert(PACKED_MOST < 1 << 8 && VERDICT_FAIL < 1 << 3 && FAULT_UNLISTED < 1 << 10,
               "the head has room for all");

static const char **string_at(struct record *record, size_t i)
{
    return (const char **)(void *)((char *)record + strings[i].offset);
}

static double *number_at(struct record *record, size_t i)
{
    return (double *)(void *)((char *)record + numbers[i].offset);
}

/* Returns the slot that holds the text's number, or the empty slot for it. */
static size_t slot_of(const struct records_texts *texts, const char *text)
{
    size_t at = hash_text(HASH_BEGIN, text) & (texts->size - 1);

    while (texts->slots[at] && strcmp(texts->items[texts->slots[at] - 1], text) != 0)
        at = (at + 1) & (texts->size - 1);
    return at;
}

static bool slots_grow(struct records_texts *texts)
{
    size_t size = texts->size ? 2 * texts->size : 256;
    unsigned *slots = calloc(size, sizeof *slots);

    if (!slots)
        return false;
    free(texts->slots);
    texts->slots = slots;
    texts->size = size;
    for (size_t i = 0; i < texts->count; i++)
        slots[slot_of(texts, texts->items[i])] = (unsigned)i + 1;
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

/* Sets *number to that of the list's own copy of the text. Returns false if memory is out. */
static bool text_keep(struct records_texts *texts, const char *text, unsigned *number)
{
    char *clean = NULL;
    size_t at;

    if (2 * (texts->count + 1) > texts->size && !slots_grow(texts))
        return false;
    if (!is_printable(text)) {
        clean = utf8_copy(text);
        if (!clean)
            return false;
        utf8_clean(clean);
        text = clean;
    }
    at = slot_of(texts, text);
    if (texts->slots[at]) {
        free(clean);
        *number = texts->slots[at] - 1;
        return true;
    }
    if (!clean)
        clean = strdup(text);
    if (!clean || !GROW(texts->items, texts->count)) {
        free(clean);
        return false;
    }
    *number = (unsigned)texts->count;
    texts->items[texts->count++] = clean;
    texts->slots[at] = *number + 1;
    texts->bytes += strlen(clean) + 1;
    return true;
}

/* Writes seven bits per byte, the lowest first; the eighth bit is clear in the last byte. */
static unsigned char *count_put(unsigned char *at, unsigned count)
{
    for (; count > 0x7f; count >>= 7)
        *at++ = (unsigned char)(count | 0x80);
    *at++ = (unsigned char)count;
    return at;
}

static const unsigned char *count_get(const unsigned char *at, unsigned *count)
{
    *count = 0;
    for (int shift = 0;; shift += 7) {
        *count |= (*at & 0x7fu) << shift;
        if (*at++ < 0x80)
            return at;
    }
}

/* Returns the offset of record `index` in packed, and its head. */
static size_t place_of(const struct records *records, size_t index, struct head *head)
{
    size_t place = records->starts[index / STRIDE];

    for (size_t i = index % STRIDE;; i--) {
        memcpy(head, records->packed + place, sizeof *head);
        if (i == 0)
            return place;
        place += head->length;
    }
}

static size_t end_of(const struct records *records)
{
    struct head last = {0};
    size_t place = records->count > 0 ? place_of(records, records->count - 1, &last) : 0;

    return place + last.length;
}

static bool room_make(struct records *records, size_t bytes)
{
    size_t size = 2 * records->size + PACKED_MOST;
    unsigned char *grown;

    if (bytes <= records->size)
        return true;
    grown = realloc(records->packed, size);
    if (!grown)
        return false;
    records->packed = grown;
    records->size = size;
    return true;
}

/* Packs the record. Returns its length, or 0 if memory is out. */
static size_t pack(struct records_texts *texts, const struct record *record,
                   unsigned char packed[PACKED_MOST])
{
    struct head head = {.verdict = record->verdict, .code = record->code};
    unsigned char *at = packed + sizeof head;
    struct record copy = *record;

    for (size_t i = 0; i < STRINGS; i++) {
        const char *text = *string_at(&copy, i);
        unsigned number;

        if (!text)
            continue;
        if (!text_keep(texts, text, &number))
            return 0;
        head.texts |= 1u << i;
        at = count_put(at, number);
    }
    for (size_t i = 0; i < NUMBERS; i++) {
        double number = *number_at(&copy, i);
        float rounded = (float)number;

        if ((double)rounded == number) {
            head.floats |= 1u << i;
            at = mempcpy(at, &rounded, sizeof rounded);
        } else if (!isnan(number)) {
            head.doubles |= 1u << i;
            at = mempcpy(at, &number, sizeof number);
        }
    }
    at = count_put(at, copy.samples);
    head.length = (uint64_t)(at - packed);
    memcpy(packed, &head, sizeof head);
    return head.length;
}

int records_add(struct records *records, const struct record *record)
{
    unsigned char packed[PACKED_MOST];
    size_t length = pack(&records->texts, record, packed), place = end_of(records);

    if (length == 0 || !room_make(records, place + length))
        return -1;
    if (records->count % STRIDE == 0) {
        if (!GROW(records->starts, records->count / STRIDE))
            return -1;
        records->starts[records->count / STRIDE] = place;
    }
    memcpy(records->packed + place, packed, length);
    records->count++;
    return 0;
}

int records_change(struct records *records, size_t index, const struct record *record)
{
    unsigned char packed[PACKED_MOST];
    struct head before, head;
    size_t length = pack(&records->texts, record, packed),
           place = place_of(records, index, &before);

    if (length == 0 || length > before.length)
        return -1;
    memcpy(&head, packed, sizeof head);
    head.length = before.length;
    memcpy(packed, &head, sizeof head);
    memcpy(records->packed + place, packed, length);
    return 0;
}

const struct record *records_get(const struct records *records, size_t index, struct record *record)
{
    struct head head;
    const unsigned char *at = records->packed + place_of(records, index, &head) + sizeof head;

    *record = (struct record)RECORD_INIT;
    for (unsigned left = head.texts; left > 0; left &= left - 1) {
        unsigned number;

        at = count_get(at, &number);
        *string_at(record, (size_t)__builtin_ctz(left)) = records->texts.items[number];
    }
    for (unsigned left = head.floats | head.doubles; left > 0; left &= left - 1) {
        double *number = number_at(record, (size_t)__builtin_ctz(left));
        float rounded;

        if (head.floats & left & -left) {
            memcpy(&rounded, at, sizeof rounded);
            at += sizeof rounded;
            *number = (double)rounded;
        } else {
            memcpy(number, at, sizeof *number);
            at += sizeof *number;
        }
    }
    count_get(at, &record->samples);
    record->verdict = (enum verdict)head.verdict;
    record->code = (enum fault_code)head.code;
    return record;
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
        error_set(err, "no field %s", record->suite ? "test" : "suite");
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
    for (size_t i = 0; i < records->texts.count; i++)
        free(records->texts.items[i]);
    free(records->texts.items);
    free(records->texts.slots);
    free(records->packed);
    free(records->starts);
    *records = (struct records){0};
}
