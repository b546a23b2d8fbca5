/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/certify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "validate/slurm/step.h"

enum { CERTIFICATE_S = 20 };

static enum verdict final_of(const struct subject *subject)
{
    struct outcome outcome = subject->outcome;

    return outcome_conclude(&outcome);
}

/* Whether a node may be drained by us now: it failed, it is free of other people's drains. */
static bool is_ours_to_drain(const struct subject *subject)
{
    return final_of(subject) == VERDICT_FAIL &&
           (subject->plan.role == ROLE_TEST || subject->plan.role == ROLE_RETEST);
}

static void settle(struct certify *certify, const struct subject *subject)
{
    struct error err;

    if (subject->is_resumed && undo_note_settled(&certify->undo, subject->name, &err) != 0)
        certify_note(certify, "%s", err.text);
}

/* Drains a node that failed; one of ours keeps its reason where that says the same. */
static void drain(struct certify *certify, struct subject *subject)
{
    char reason[200];
    const char *old = subject->plan.role == ROLE_RETEST ? subject->slurm->reason : "";
    struct error err;
    int rv;

    if (subject->is_drained)
        return;
    subject->is_drained = true;
    plan_reason(strcmp(subject->outcome.test, "workers.enumerate") == 0 ? "reach"
                                                                        : subject->outcome.test,
                subject->outcome.part, subject->outcome.message, time(NULL), reason, sizeof reason);
    if (*old && plan_is_same_reason(old, reason))
        snprintf(reason, sizeof reason, "%s", old);
    if (certify->options.is_dry_run) {
        certify_note(certify, "%s would be drained: %s", subject->name, reason);
        return;
    }
    if (*old && !subject->is_resumed && strcmp(old, reason) == 0) {
        certify_note(certify, "%s stays drained: %s", subject->name, reason);
        return;
    }
    rv = cluster_drain(subject->name, reason, &err);
    if (rv == 0 && subject->is_silent)
        rv = undo_note_down(&certify->undo, subject->name, reason, &err);
    if (rv != 0) {
        certify_note(certify, "%s", err.text);
        return;
    }
    settle(certify, subject);
    certify_note(certify, "%s %s: %s", subject->name, *old ? "stays drained" : "drained", reason);
}

/* Drains the node unless it is not ours, the administrator wants none or the cap is reached. Those
 * that were drained before take nothing away and do not count. Returns false when it was spared
 * because of the cap. */
static bool drain_within_cap(struct certify *certify, struct subject *subject)
{
    size_t cap = plan_drain_cap(certify->count, certify->conf.drain_cap_percent);

    if (subject->is_drained || !is_ours_to_drain(subject) || certify->options.no_drain)
        return true;
    if (subject->plan.role != ROLE_RETEST && certify->drained >= cap)
        return false;
    certify->drained += subject->plan.role != ROLE_RETEST;
    drain(certify, subject);
    return true;
}

void certify_drop_silent(struct certify *certify)
{
    for (size_t i = 0; i < certify->count && !certify->options.is_dry_run; i++)
        if (certify->subjects[i].is_silent)
            drain_within_cap(certify, &certify->subjects[i]);
}

static void drain_all(struct certify *certify)
{
    struct hostlist spared = {0};
    char *folded;

    for (size_t i = 0; i < certify->count; i++)
        if (!drain_within_cap(certify, &certify->subjects[i]))
            hostlist_append(&spared, certify->subjects[i].name);
    if (spared.count > 0) {
        folded = hostlist_fold(&spared);
        certify_note(certify,
                     "NOT DRAINED: %s failed too, but at most %zu of %zu nodes are drained in a "
                     "run (DrainCap=%.0f%%). So many faults at once often have one cause.",
                     folded ? folded : "others",
                     plan_drain_cap(certify->count, certify->conf.drain_cap_percent),
                     certify->count, certify->conf.drain_cap_percent);
        free(folded);
    }
    hostlist_clear(&spared);
}

/* What `muster certificate issue` reads on each of the good nodes. malloc'd. */
static char *certificate_request(const struct certify *certify, const struct hostlist *names)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    if (!stream)
        return NULL;
    fprintf(stream, "run: %s\ncluster: %s\nlevel: %s\nexpires: %lld\n", certify->run,
            certify->cluster.name, certify->options.is_standard ? "standard" : "quick",
            (long long)certify->certified_until_s);
    for (size_t i = 0; i < names->count; i++) {
        const struct subject *subject = certify_subject(certify, names->names[i]);

        fprintf(stream, "node: %s\n", subject->name);
        for (int stage = STAGE_CHECK; stage < STAGE_COUNT; stage++)
            if (stage != STAGE_LINKS)
                fprintf(stream, "test: %s: %s\n", stage_name((enum stage)stage),
                        verdict_name(subject->outcome.stages[stage]));
        for (const char *line = subject->rails; *line;) {
            size_t length = strcspn(line, "\n");

            fprintf(stream, "test: %.*s\n", (int)length, line);
            line += length + (line[length] == '\n');
        }
    }
    fclose(stream);
    return text;
}

/* Runs `muster WORDS...` on the nodes. Whether each did it is told by their records. */
static int muster_run(struct certify *certify, const struct hostlist *names, const char *input,
                      const char *first_word, const char *second_word, size_t *first,
                      struct error *err)
{
    struct certify_environment environment;
    struct arguments program = {0};
    char path[4096];
    int rv;

    step_program_path("muster", path, sizeof path);
    arguments_add(&program, "%s", path);
    arguments_add(&program, "%s", first_word);
    if (second_word)
        arguments_add(&program, "%s", second_word);
    arguments_add(&program, "--json");
    certify_environment(certify, false, &environment);
    rv = certify_step(certify,
                      &(struct certify_step){.stage = STAGE_COLLECTIVES,
                                             .nodes = names,
                                             .tasks_per_node = 1,
                                             .program = program.argv,
                                             .environment = environment.entries,
                                             .input = input,
                                             .deadline_s = CERTIFICATE_S},
                      first, err);
    arguments_clear(&program);
    return rv;
}

/* The verdict that the node gave about its certificate. */
static const struct record *certificate_record(const struct certify *certify, const char *node,
                                               size_t first)
{
    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = &certify->records.items[i];

        if (record->node && strcmp(record->node, node) == 0 &&
            strcmp(record->test, "certificate") == 0 && record->verdict != VERDICT_NONE)
            return record;
    }
    return NULL;
}

static void certificates_issue(struct certify *certify)
{
    struct hostlist names = {0};
    char *request = NULL;
    size_t first;
    struct error err = {""};
    struct tm day;
    int rv;

    for (size_t i = 0; i < certify->count; i++)
        if (certify->subjects[i].is_in_job && final_of(&certify->subjects[i]) == VERDICT_PASS)
            hostlist_append(&names, certify->subjects[i].name);
    if (names.count == 0 || certify->options.is_dry_run) {
        hostlist_clear(&names);
        return;
    }
    progress_begin(&certify->progress, "certificates");
    certify->certified_until_s = time(NULL) + certify->conf.certificate_valid_s;
    request = certificate_request(certify, &names);
    rv = request ? muster_run(certify, &names, request, "certificate", "issue", &first, &err)
                 : error_set(&err, "no memory");
    for (size_t i = 0; i < names.count; i++) {
        struct subject *subject = certify_subject(certify, names.names[i]);
        const struct record *record =
            rv < 0 ? NULL : certificate_record(certify, subject->name, first);
        char text[256];

        if (record && record->verdict == VERDICT_PASS) {
            gmtime_r(&certify->certified_until_s, &day);
            strftime(subject->certified_until, sizeof subject->certified_until,
                     "%Y-%m-%d %H:%M UTC", &day);
            continue;
        }
        snprintf(text, sizeof text, "its certificate was not written: %.200s",
                 record && record->message ? record->message
                 : *err.text               ? err.text
                 : *certify->last_error    ? certify->last_error
                                           : "no word why");
        certify_verdict(certify, subject, STAGE_COLLECTIVES, VERDICT_UNKNOWN, "certificate", "",
                        text);
    }
    certify_stage_end(certify, names.count);
    free(request);
    hostlist_clear(&names);
}

/* A node that failed must not keep the certificate of better days. */
static void certificates_revoke(struct certify *certify)
{
    struct hostlist names = {0};
    size_t first;
    struct error err;

    for (size_t i = 0; i < certify->count; i++) {
        const struct subject *subject = &certify->subjects[i];

        /* One that does not answer would only hold up the step. */
        if (subject->is_in_job && final_of(subject) == VERDICT_FAIL &&
            strcmp(subject->outcome.test, "workers.enumerate") != 0)
            hostlist_append(&names, subject->name);
    }
    if (names.count > 0 && !certify->options.is_dry_run)
        muster_run(certify, &names, NULL, "revoke", NULL, &first, &err);
    hostlist_clear(&names);
}

/* Those that were ours to test again: released when they passed, else put back by undo. */
static void drains_release(struct certify *certify)
{
    for (size_t i = 0; i < certify->count; i++) {
        struct subject *subject = &certify->subjects[i];

        if (!subject->is_resumed || final_of(subject) != VERDICT_PASS)
            continue;
        settle(certify, subject);
        certify_note(certify, "%s released, it was drained: %s", subject->name,
                     subject->slurm->reason);
    }
}

void certify_act(struct certify *certify)
{
    drain_all(certify);
    certificates_revoke(certify);
    certificates_issue(certify);
    certify_extras(certify);
    drains_release(certify);
    certify_consume(certify);
}
