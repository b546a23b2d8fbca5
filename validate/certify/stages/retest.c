/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/retest.h"

#include <stdlib.h>
#include <string.h>

#include "validate/certify/choose/allocate.h"
#include "validate/certify/settle/actions.h"
#include "validate/certify/step/reach_nodes.h"

/* A process that died or hung may have been killed by somebody, or have met a moment: its node is a
 * suspect, and fails only when it does so again, alone with a node that is good. One that is silent
 * on a node whose slurmd answers may as well be kept from running: that fails nobody. */

/* RETESTS: suspects of a stage that are measured again, one after the other; the rest is unknown.
 */
enum { RETESTS = 4, PARTNERS = 2 };

size_t certify_suspect(struct certify *certify, size_t first)
{
    size_t count = 0;

    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = &certify->records.items[i];
        struct subject *subject = record->node ? certify_subject(certify, record->node) : NULL;

        if (!subject || !subject->is_asked || subject->is_suspect || !certify_is_death(record) ||
            !outcome_is_good(&subject->outcome))
            continue;
        subject->is_suspect = true;
        text_put(subject->suspicion, sizeof subject->suspicion, "%s",
                 record->message ? record->message : "a process ended early");
        subject->suspect_code = record_code(record);
        snprintf(subject->suspect_part, sizeof subject->suspect_part, "%s",
                 record->part ? record->part : "");
        count++;
    }
    return count;
}

bool certify_is_death(const struct record *record)
{
    return record->node && record->verdict >= VERDICT_UNKNOWN &&
           catalog_is_of_process(record_code(record)) &&
           !catalog_is_suite(record->suite, SUITE_CERTIFY);
}

/* Ends the suspicion. */
static void conclude(struct certify *certify, struct subject *subject, enum stage stage,
                     enum verdict verdict, const char *message)
{
    subject->is_suspect = false;
    if (outcome_is_good(&subject->outcome))
        certify_fault(certify, subject, stage, verdict, subject->suspect_code, "workers.enumerate",
                      subject->suspect_part, message);
}

static void doubt(struct certify *certify, struct subject *subject, enum stage stage,
                  const char *why)
{
    char text[256];

    text_put(text, sizeof text, "%s; %s: suspect", subject->suspicion, why);
    conclude(certify, subject, stage, VERDICT_UNKNOWN, text);
}

/* A good node, of those that passed the stage where there are any, on another leaf switch where
 * there is one. NULL: none that was not tried. */
static struct subject *partner_find(const struct certify *certify, const struct subject *suspect,
                                    enum stage stage, const struct hostlist *tried)
{
    struct subject *best = NULL;
    int best_rank = -1;

    for (size_t i = 0; i < certify->count; i++) {
        struct subject *subject = &certify->subjects[i];
        int rank = 2 * (subject->outcome.stages[stage] == VERDICT_PASS ||
                        subject->outcome.stages[stage] == VERDICT_WARN) +
                   (subject->slurm->leaf != suspect->slurm->leaf);

        if (subject == suspect || !subject->is_in_job || subject->is_suspect ||
            !outcome_is_good(&subject->outcome) || hostlist_contains(tried, subject->name) ||
            rank <= best_rank)
            continue;
        best = subject;
        best_rank = rank;
    }
    return best;
}

/* The first record since first that says that a process of the node died or hung; NULL: none. */
static const struct record *death_find(const struct certify *certify, const char *node,
                                       size_t first)
{
    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = &certify->records.items[i];

        if (certify_is_death(record) && strcmp(record->node, node) == 0)
            return record;
    }
    return NULL;
}

/* Whether its heartbeats stayed away, which a process that is not scheduled does as well. */
static bool is_silence(const struct record *death)
{
    return record_code(death) == FAULT_NODE_FROZEN;
}

/* A node whose slurmd does not answer fails for that, and is no suspect any more. */
static void ask_again(struct certify *certify, struct subject *suspect,
                      const struct hostlist *names, enum stage stage)
{
    certify_reach_again(certify, names, stage);
    suspect->is_suspect = outcome_is_good(&suspect->outcome);
    certify_drop_silent(certify);
}

/* Runs the stage's program on the two alone. Returns whether the suspicion has ended. */
static bool pair_run(struct certify *certify, struct subject *suspect, struct subject *partner,
                     enum stage stage, certify_pair_fn *run, const void *context)
{
    struct hostlist names = {0};
    size_t first = certify->records.count;
    const struct record *death;
    char text[256];
    int rv;

    hostlist_append(&names, suspect->name);
    hostlist_append(&names, partner->name);
    for (size_t i = 0; i < certify->count; i++)
        certify->subjects[i].is_asked =
            &certify->subjects[i] == suspect || &certify->subjects[i] == partner;
    progress_doing(&certify->progress, "%s again, alone with %s", suspect->name, partner->name);
    rv = names.count == 2 ? run(certify, &names, &first, context) : -1;
    if (certify_stop) {
        doubt(certify, suspect, stage, "not measured again");
    } else if (rv == 0) {
        snprintf(text, sizeof text, "not again, alone with %.60s", partner->name);
        doubt(certify, suspect, stage, text);
    } else if (certify_job_is_over(certify)) { /* its end killed them */
        doubt(certify, suspect, stage, "the job was ended while it was measured again");
    } else if ((death = death_find(certify, suspect->name, first)) &&
               !death_find(certify, partner->name, first) && is_silence(death)) {
        ask_again(certify, suspect, &names, stage);
        if (suspect->is_suspect)
            doubt(certify, suspect, stage,
                  "again, though its slurmd answers: stopped, or kept from running");
    } else if (death && !death_find(certify, partner->name, first)) {
        snprintf(suspect->suspect_part, sizeof suspect->suspect_part, "%s",
                 death->part ? death->part : "");
        text_put(text, sizeof text, "%s; again, alone with %.60s",
                 death->message ? death->message : "ended early", partner->name);
        conclude(certify, suspect, stage, VERDICT_FAIL, text);
    } else if (rv > 0) {
        ask_again(certify, suspect, &names, stage);
    }
    hostlist_clear(&names);
    return !suspect->is_suspect;
}

static void suspect_retest(struct certify *certify, struct subject *suspect, enum stage stage,
                           certify_pair_fn *run, const void *context)
{
    struct hostlist tried = {0};

    for (int i = 0; i < PARTNERS && !certify_stop; i++) {
        struct subject *partner = partner_find(certify, suspect, stage, &tried);

        if (!partner || hostlist_append(&tried, partner->name) != 0 ||
            pair_run(certify, suspect, partner, stage, run, context))
            break;
    }
    if (suspect->is_suspect)
        doubt(certify, suspect, stage,
              tried.count > 0 ? "measured again, alone with another node, it could not be told"
                              : "no good node to measure it again with");
    hostlist_clear(&tried);
}

void certify_retest(struct certify *certify, enum stage stage, size_t asked, certify_pair_fn *run,
                    const void *context)
{
    struct hostlist names = {0};
    size_t count = 0, tested = 0;

    for (size_t i = 0; i < certify->count; i++)
        if (certify->subjects[i].is_suspect)
            hostlist_append(&names, certify->subjects[i].name);
    count = names.count;
    if (count == 0)
        return;
    if (!certify_stop) {
        progress_doing(&certify->progress, "asking the slurmd of %zu suspects", count);
        certify_reach_again(certify, &names, stage);
        for (size_t i = 0; i < certify->count; i++)
            certify->subjects[i].is_suspect &= outcome_is_good(&certify->subjects[i].outcome);
        certify_drop_silent(certify);
    }
    for (size_t i = 0; i < certify->count; i++) {
        struct subject *subject = &certify->subjects[i];

        if (!subject->is_suspect)
            continue;
        if (certify_stop)
            doubt(certify, subject, stage, "not measured again");
        else if (alike_is_common(0, count, asked) || tested++ >= RETESTS)
            doubt(certify, subject, stage, "so on many nodes at once: not measured again");
        else
            suspect_retest(certify, subject, stage, run, context);
    }
    hostlist_clear(&names);
}
