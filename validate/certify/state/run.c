/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/state/run.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "validate/report/recordfile.h"
#include "validate/report/table.h"

volatile sig_atomic_t certify_stop;

static const char *const level_names[] = {"quick", "standard", "full"};

const char *certify_level_name(enum certify_level level)
{
    return level_names[level];
}

void certify_note(struct certify *certify, const char *format, ...)
{
    static const char cut[] = " ... (cut)";
    char *text;
    va_list values;
    int length;

    va_start(values, format);
    length = vasprintf(&text, format, values);
    va_end(values);
    if (length < 0)
        return;
    table_clean(text);
    if (length > RECORDFILE_MESSAGE) /* a list of a thousand nodes: muster report would doubt it */
        memcpy(text + RECORDFILE_MESSAGE - strlen(cut), cut, sizeof cut);
    hostlist_append(&certify->notes, text);
    free(text);
}

struct subject *certify_subject(const struct certify *certify, const char *name)
{
    long place = name_index_find(&certify->by_name, name);

    return place < 0 ? NULL : &certify->subjects[place];
}

void certify_record(struct certify *certify, const struct record *record)
{
    struct record complete = *record;

    complete.run = certify->run;
    complete.time = record_now_s();
    if (records_add(&certify->records, &complete) != 0)
        certify_note(certify, "no memory for all records");
    if (certify->json)
        record_write(certify->json, &complete);
}

void certify_verdict(struct certify *certify, struct subject *subject, enum stage stage,
                     enum verdict verdict, const char *test, const char *part, const char *message)
{
    certify_fault(certify, subject, stage, verdict, FAULT_NONE, test, part, message);
}

void certify_fault(struct certify *certify, struct subject *subject, enum stage stage,
                   enum verdict verdict, enum fault_code code, const char *test, const char *part,
                   const char *message)
{
    if (!subject)
        return;
    if (test) {
        struct record record = RECORD_INIT;

        record.suite = "certify";
        record.test = test;
        record.node = subject->name;
        record.part = part;
        record.verdict = verdict;
        record.code = code;
        record.message = message;
        certify_record(certify, &record);
    }
    outcome_note(&subject->outcome, stage, verdict, code, test, part, message);
}

size_t certify_good(struct certify *certify, struct hostlist *names)
{
    *names = (struct hostlist){0};
    for (size_t i = 0; i < certify->count; i++) {
        struct subject *subject = &certify->subjects[i];

        subject->is_asked = !certify_stop && subject->is_in_job && !subject->is_suspect &&
                            outcome_is_good(&subject->outcome);
        if (subject->is_asked)
            hostlist_append(names, subject->name);
    }
    return names->count;
}

void certify_stage_end(struct certify *certify, size_t asked)
{
    size_t good = 0;

    for (size_t i = 0; i < certify->count; i++)
        good += outcome_is_good(&certify->subjects[i].outcome);
    progress_end(&certify->progress, certify->count == good ? VERDICT_NONE : VERDICT_WARN,
                 "%zu nodes asked, %zu of %zu good so far", asked, good, certify->count);
}

double certify_delay_s(double most_s)
{
    uint32_t salt = (uint32_t)getpid() * 2654435761U;

    if (getrandom(&salt, sizeof salt, GRND_NONBLOCK) != (ssize_t)sizeof salt)
        salt ^= (uint32_t)time(NULL);
    return turn_jitter_s(most_s, salt);
}

bool certify_is_held(const struct subject *subject)
{
    return subject->is_in_job && !subject->is_silent && !subject->is_missed;
}

void certify_all(struct certify *certify, const struct hostlist *names, enum stage stage,
                 enum verdict verdict, const char *test, const char *message)
{
    for (size_t i = 0; i < names->count; i++) {
        struct subject *subject = certify_subject(certify, names->names[i]);

        if (subject && !subject->is_suspect && outcome_is_good(&subject->outcome))
            certify_verdict(certify, subject, stage, verdict, test, "", message);
    }
}

bool certify_is_complete(const struct certify *certify, size_t first)
{
    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = &certify->records.items[i];

        if ((record->verdict >= VERDICT_UNKNOWN && !record->node) || record_lacks_rank(record))
            return false;
    }
    return certify->records.count > first;
}
