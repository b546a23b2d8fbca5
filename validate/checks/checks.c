/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/checks.h"

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
void checks_report(const struct checks *checks, struct record record, const char *message, ...)
{
    char part[256], text[1024];

    TEXT_FORMAT(text, sizeof text, message); /* first: %m */
    snprintf(part, sizeof part, "%s", text_of(record.part));
    utf8_clean(part);
    utf8_clean(text);
    record.part = part;
    record.message = text;
    record.suite = "check";
    record.test = checks->test;
    record.node = checks->node;
    if (record.verdict == VERDICT_NONE && record.code != FAULT_NONE)
        record.verdict = catalog_fault(record.code)->severity;
    checks->sink(&record, checks->context);
}

bool checks_skip_recorded(const struct checks *checks)
{
    if (checks->root[0])
        checks_record(checks, "", VERDICT_SKIP, "not available on a recorded node");
    return checks->root[0];
}
