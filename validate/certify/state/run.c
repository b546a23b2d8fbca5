/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/state/run.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/certificate/certificate.h"
#include "validate/report/recordfile.h"
#include "validate/report/table.h"

volatile sig_atomic_t certify_stop;

const char *certify_level_name(enum certify_level level)
{
    return certificate_level_name((int)level + 1);
}

void certify_note(struct certify *certify, const char *format, ...)
{
    static const char cut[] = " ... (cut) ... ";
    enum { KEPT = 512 }; /* bytes kept of the end, which has the cause and the next step */
    char *text;
    va_list values;
    int length;

    va_start(values, format);
    length = vasprintf(&text, format, values);
    va_end(values);
    if (length < 0)
        return;
    table_clean(text);
    length = (int)strlen(text);
    if (length > RECORDFILE_MESSAGE) { /* too long for muster report, as with a thousand nodes */
        char *end = text + RECORDFILE_MESSAGE - KEPT, *kept = text + length - KEPT;

        while (((unsigned char)*kept & 0xc0) == 0x80) /* not inside of a character of UTF-8 */
            kept++;
        memmove(end, kept, strlen(kept) + 1);
        memcpy(end - strlen(cut), cut, strlen(cut));
    }
    hostlist_append(&certify->notes, text);
    free(text);
}

struct node_run *certify_node_run(const struct certify *certify, const char *name)
{
    long place = name ? name_index_find(&certify->by_name, name) : -1;

    return place < 0 ? NULL : &certify->node_runs[place];
}

size_t certify_list_good(struct certify *certify, struct hostlist *names)
{
    hostlist_clear(names);
    for (size_t i = 0; i < certify->count; i++) {
        struct node_run *node_run = &certify->node_runs[i];

        node_run->is_selected = !certify_stop && node_run->is_in_job && !node_run->is_suspect &&
                                outcome_is_good(&node_run->outcome);
        if (node_run->is_selected)
            hostlist_append(names, node_run->name);
    }
    return names->count;
}

bool certify_is_available(const struct node_run *node_run)
{
    return node_run->is_in_job && !node_run->is_silent && !node_run->lacks_certificate_job;
}

bool certify_is_untested(const struct node_run *node_run)
{
    return !role_is_testable(node_run->plan.role) || node_run->plan.needs_gate_refusal;
}

bool certify_loses_certificate(const struct node_run *node_run)
{
    return !certify_is_untested(node_run) && outcome_tested(&node_run->outcome) == VERDICT_FAIL &&
           node_run->decision != DECISION_SUSPECT;
}

bool certify_is_complete(const struct certify *certify, size_t first)
{
    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);

        if ((record->verdict >= VERDICT_UNKNOWN && !record->node) || record_lacks_rank(record))
            return false;
    }
    return certify->records.count > first;
}
