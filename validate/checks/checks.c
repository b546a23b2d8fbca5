/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/checks.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/utf8.h"

#define CHECK_ROW(name, help, run) {name, help, run},
const struct check check_table[] = {CHECK_LIST(CHECK_ROW)};
const size_t check_count = sizeof check_table / sizeof *check_table;

int check_is_wanted(const struct check *check, const char *only)
{
    if (!only || !only[0])
        return 1;
    for (const char *word = only; *word;) {
        size_t length = strcspn(word, ",");

        if (length > 0 && strncmp(check->name, word, length) == 0 &&
            (check->name[length] == '\0' || check->name[length] == '.'))
            return 1;
        word += length + (word[length] == ',');
    }
    return 0;
}

/* The text as it may be printed; the names in it may be anybody's. */
static const char *printable(const char *text, char *copy, size_t size)
{
    if (!text)
        return NULL;
    snprintf(copy, size, "%s", text);
    utf8_clean(copy);
    return copy;
}

void checks_report(const struct checks *checks, const char *test, struct record *record)
{
    char part[256], message[1024];

    record->part = printable(record->part, part, sizeof part);
    record->message = printable(record->message, message, sizeof message);
    record->suite = "check";
    record->test = test;
    record->node = checks->node;
    checks->sink(record, checks->context);
}

static void report(const struct checks *checks, const char *test, const char *part,
                   enum verdict verdict, enum fault_code code, const char *format,
                   va_list arguments)
{
    struct record record;
    char message[512];

    vsnprintf(message, sizeof message, format, arguments);
    record = RECORD(.part = part, .verdict = verdict, .code = code, .message = message);
    checks_report(checks, test, &record);
}

void checks_record(const struct checks *checks, const char *test, const char *part,
                   enum verdict verdict, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    report(checks, test, part, verdict, FAULT_NONE, format, arguments);
    va_end(arguments);
}

void checks_fault(const struct checks *checks, const char *test, const char *part,
                  enum fault_code code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    report(checks, test, part, catalog_fault(code)->severity, code, format, arguments);
    va_end(arguments);
}
