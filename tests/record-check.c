/* SPDX-License-Identifier: Apache-2.0 */
/* record-check SCHEMA < RECORDS: validates lines of JSON against the tables of doc/records.md.
 * Prints one line for each violation. Exit status: 0 there was at least one record and all are
 * valid, 1 not so, 2 the schema cannot be read. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/catalog/catalog.h"

enum { CELLS = 4, ROWS = 512 };

struct row {
    char cells[CELLS][160]; /* longer cells are cut */
};

struct schema {
    struct row fields[ROWS], tests[ROWS];
    size_t field_count, test_count;
};

/* Splits "| a | b | c | d |" in place. Returns false if the line is no row with four cells. */
static bool split(char *line, struct row *row)
{
    char *at = line, *save = NULL;

    if (*at != '|')
        return false;
    for (size_t i = 0; i < CELLS; i++) {
        char *cell = strtok_r(i ? NULL : at, "|\n", &save), *end;

        if (!cell)
            return false;
        cell += strspn(cell, " ");
        for (end = cell + strlen(cell); end > cell && end[-1] == ' ';)
            *--end = '\0';
        snprintf(row->cells[i], sizeof row->cells[i], "%s", cell);
    }
    return true;
}

static int read_schema(const char *path, struct schema *schema)
{
    FILE *file = fopen(path, "r");
    char line[1024];
    struct row *rows = NULL;
    size_t *count = NULL;

    if (!file)
        return -1;
    while (fgets(line, sizeof line, file)) {
        struct row row;

        if (strncmp(line, "## Fields", 9) == 0) {
            rows = schema->fields;
            count = &schema->field_count;
        } else if (strncmp(line, "## Tests", 8) == 0) {
            rows = schema->tests;
            count = &schema->test_count;
        } else if (rows && *count < ROWS && split(line, &row) &&
                   strncmp(row.cells[0], "---", 3) != 0 &&
                   strcmp(row.cells[0], rows == schema->fields ? "field" : "suite") != 0) {
            rows[(*count)++] = row;
        }
    }
    fclose(file);
    return schema->field_count && schema->test_count ? 0 : -1;
}

static bool is_one_of(const char *text, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(text, *names) == 0)
            return true;
    return false;
}

static bool wrong(size_t line, const char *what, const char *found)
{
    printf("record %zu: %s: %s\n", line, what, found);
    return false;
}

static const char *text_of(const json_t *record, const char *key)
{
    const char *text = json_string_value(json_object_get(record, key));

    return text ? text : "-";
}

static bool field_holds(const struct row *field, const json_t *record, size_t line)
{
    const json_t *value = json_object_get(record, field->cells[0]);
    const char *type = field->cells[1], *present = field->cells[2];

    if (!value && strcmp(present, "always") == 0)
        return wrong(line, "lacks", field->cells[0]);
    if (!value && strncmp(present, "with ", 5) == 0 && json_object_get(record, present + 5))
        return wrong(line, "lacks what goes with another field", field->cells[0]);
    if (!value)
        return true;
    if (strcmp(type, "string") == 0 ? !json_is_string(value) || !*json_string_value(value)
        : strcmp(type, "integer") == 0
            ? !(json_is_integer(value) ||
                (json_is_real(value) &&
                 json_real_value(value) == (long long)json_real_value(value)))
            : !json_is_number(value))
        return wrong(line, "has the wrong type", field->cells[0]);
    return true;
}

static bool test_is_known(const struct schema *schema, const json_t *record, size_t line)
{
    char found[512];
    const char *keys[CELLS] = {"suite", "test", "metric", "unit"};

    for (size_t i = 0; i < schema->test_count; i++) {
        bool same = true;

        for (size_t k = 0; k < CELLS && same; k++) {
            const char *wanted = schema->tests[i].cells[k], *is = text_of(record, keys[k]);

            same = strcmp(wanted, is) == 0 || strcmp(wanted, "any") == 0 ||
                   /* a verdict without a figure has no unit */
                   (k == 3 && strcmp(is, "-") == 0 && !json_object_get(record, "value"));
        }
        if (same)
            return true;
    }
    snprintf(found, sizeof found, "suite %s test %s metric %s unit %s", text_of(record, keys[0]),
             text_of(record, keys[1]), text_of(record, keys[2]), text_of(record, keys[3]));
    return wrong(line, "is not in the table of tests", found);
}

/* Whether a record with the verdict warn, unknown or fail has a code of the catalog and the
 * remediation of the code, and a record without one of these verdicts has no code. */
static bool code_holds(const json_t *record, size_t line)
{
    int verdict = verdict_parse(text_of(record, "verdict"));
    bool is_fault =
        verdict == VERDICT_WARN || verdict == VERDICT_UNKNOWN || verdict == VERDICT_FAIL;
    const char *name = text_of(record, "code");
    const struct catalog_fault *fault = catalog_fault(catalog_fault_parse(name));

    if ((json_object_get(record, "code") != NULL) != is_fault)
        return wrong(line, is_fault ? "lacks a code" : "has a code and no fault", name);
    if (is_fault && !*fault->name)
        return wrong(line, "has a code that is not in the catalogue", name);
    if (is_fault &&
        strcmp(text_of(record, "remediation"), catalog_remediation(fault->remediation)) != 0)
        return wrong(line, "has another remediation than its code", text_of(record, "remediation"));
    return true;
}

static bool record_holds(const struct schema *schema, json_t *record, size_t line)
{
    static const char *const verdicts[] = {"pass", "skip", "warn", "unknown", "fail", NULL};
    static const char *const sources[] = {"nominal",  "peers", "conf",    "sysfs",     "majority",
                                          "expected", "sent",  "history", "reference", NULL};
    const char *key;
    json_t *value;
    bool holds = true;

    json_object_foreach(record, key, value)
    {
        size_t i = 0;

        while (i < schema->field_count && strcmp(schema->fields[i].cells[0], key) != 0)
            i++;
        if (i == schema->field_count)
            holds = wrong(line, "has a field that is not in the table", key);
    }
    for (size_t i = 0; i < schema->field_count; i++)
        holds = field_holds(&schema->fields[i], record, line) && holds;
    if (json_object_get(record, "verdict") && !is_one_of(text_of(record, "verdict"), verdicts))
        holds = wrong(line, "has no such verdict", text_of(record, "verdict"));
    if (json_object_get(record, "limit_source") &&
        !is_one_of(text_of(record, "limit_source"), sources))
        holds = wrong(line, "has no such source of a limit", text_of(record, "limit_source"));
    holds = code_holds(record, line) && holds;
    return test_is_known(schema, record, line) && holds;
}

int main(int argc, char **argv)
{
    static struct schema schema;
    char *line = NULL;
    size_t size = 0, count = 0, bad = 0;

    if (argc != 2 || read_schema(argv[1], &schema) != 0) {
        fprintf(stderr, "usage: record-check doc/records.md < RECORDS\n");
        return 2;
    }
    while (getline(&line, &size, stdin) > 0) {
        json_error_t error;
        json_t *record = json_loads(line, JSON_REJECT_DUPLICATES, &error);

        count++;
        if (!json_is_object(record))
            bad += !wrong(count, "is no JSON object", record ? line : error.text);
        else
            bad += !record_holds(&schema, record, count);
        json_decref(record);
    }
    free(line);
    printf("%zu record(s), %zu wrong\n", count, bad);
    return count > 0 && bad == 0 ? 0 : 1;
}
