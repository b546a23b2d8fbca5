/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/scheduling/verify/kinds.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"

const struct policy_kind_row verify_codes[VERIFY_CODES] = {
#define CODE(id, code, what, why, source, cure)                                                    \
    [VERIFY_##id] = {code, VERDICT_FAIL, what, why, source, cure},
    VERIFY_CODE_LIST(CODE)
#undef CODE
};

const struct verify_kind *const verify_kinds[] = {
    &verify_limit,
    &verify_priority,
    &verify_preempt,
    &verify_dedicated,
    &verify_reserved,
    &verify_certified,
    NULL,
};

struct text_line verify_keywords(void)
{
    struct text_line line = text_line("Who=");

    for (size_t i = 0; verify_kinds[i]; i++)
        text_join(line.text, sizeof line.text, ", ", "%s=", verify_kinds[i]->keyword);
    return line;
}

struct verify_result verify_conclude(enum verdict verdict, enum verify_code code,
                                     const char *format, ...)
{
    struct verify_result result = {.verdict = verdict, .code = code};
    char text[sizeof result.found];

    TEXT_FORMAT(text, sizeof text, format);
    text_put(result.found, sizeof result.found, "%s%s",
             verdict == VERDICT_UNKNOWN ? "not shown, because " : "", text);
    return result;
}

struct verify_result verify_judge(const struct intent_statement *statement,
                                  const struct verify_seen *seen)
{
    if (*seen->not_shown)
        return verify_not_shown("%s", seen->not_shown);
    for (size_t i = 0; i < seen->count; i++) {
        const struct seen_job *job = &seen->jobs[i];

        if (job->answer == PROBE_REFUSED || job->answer == PROBE_NO_ANSWER ||
            (job->answer == PROBE_ACCEPTED && !*job->state))
            return verify_not_shown("%s", seen_describe(job).text);
    }
    return statement->kind->judge(statement, seen);
}
