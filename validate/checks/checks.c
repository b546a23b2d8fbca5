/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/checks.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"
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

void check_run(const struct check *check, const struct checks *checks)
{
    struct checks own = *checks;

    own.test = check->name;
    check->run(&own);
}

/* part and message may contain names from any source, so they are cleaned. */
static void report(const struct checks *checks, struct record record, const char *format,
                   va_list arguments)
{
    char part[256], message[1024];

    vsnprintf(message, sizeof message, format, arguments); /* first: %m */
    snprintf(part, sizeof part, "%s", text_of(record.part));
    utf8_clean(part);
    utf8_clean(message);
    record.part = part;
    record.message = message;
    record.suite = "check";
    record.test = checks->test;
    record.node = checks->node;
    checks->sink(&record, checks->context);
}

void checks_report(const struct checks *checks, struct record record, const char *message, ...)
{
    va_list arguments;

    va_start(arguments, message);
    report(checks, record, message, arguments);
    va_end(arguments);
}

void checks_record(const struct checks *checks, const char *part, enum verdict verdict,
                   const char *message, ...)
{
    va_list arguments;

    va_start(arguments, message);
    report(checks, RECORD(.part = part, .verdict = verdict), message, arguments);
    va_end(arguments);
}

void checks_fault(const struct checks *checks, const char *part, enum fault_code code,
                  const char *message, ...)
{
    va_list arguments;

    va_start(arguments, message);
    report(checks, RECORD(.part = part, .verdict = catalog_fault(code)->severity, .code = code),
           message, arguments);
    va_end(arguments);
}

bool checks_skip_recorded(const struct checks *checks)
{
    if (checks->root[0])
        checks_record(checks, "", VERDICT_SKIP, "not available on a recorded node");
    return checks->root[0];
}
