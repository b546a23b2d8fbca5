/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/retest.h"

#include <stdlib.h>
#include <string.h>

#include "lib/constants/certify_constants.h"
#include "validate/certify/choose/allocate.h"
#include "validate/certify/report/run_records.h"
#include "validate/certify/settle/actions.h"
#include "validate/certify/step/reach_nodes.h"

/* A process that died or hung may have been killed by somebody, or have hit a transient condition:
 * its node is a suspect, and fails only if it recurs in a retest with one good node. A process that
 * is silent on a node whose slurmd answers may be kept from running: that fails no node. */

void certify_suspect(struct certify *certify, size_t first)
{
    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);
        struct node_run *node_run = certify_node_run(certify, record->node);

        if (!node_run || !node_run->is_selected || node_run->is_suspect ||
            !certify_is_death(record) || !outcome_is_good(&node_run->outcome))
            continue;
        node_run->is_suspect = true;
        text_put(node_run->suspicion, sizeof node_run->suspicion, "%s",
                 record->message ? record->message : "a process ended early");
        node_run->suspect_code = record_code(record);
        snprintf(node_run->suspect_part, sizeof node_run->suspect_part, "%s",
                 text_of(record->part));
    }
}

bool certify_is_death(const struct record *record)
{
    return record->node && record->verdict >= VERDICT_UNKNOWN &&
           catalog_is_of_process(record_code(record)) &&
           !catalog_is_suite(record->suite, SUITE_CERTIFY);
}

/* Ends the suspicion against a node with a verdict. */
static void conclude(struct certify *certify, struct node_run *node_run, enum stage stage,
                     enum verdict verdict, const char *message)
{
    node_run->is_suspect = false;
    if (outcome_is_good(&node_run->outcome))
        certify_fault(certify, node_run, stage, verdict, node_run->suspect_code,
                      "workers.enumerate", node_run->suspect_part, message);
}

static void doubt(struct certify *certify, struct node_run *node_run, enum stage stage,
                  const char *why)
{
    char text[256];

    text_put(text, sizeof text, "%s; %s: suspect", node_run->suspicion, why);
    conclude(certify, node_run, stage, VERDICT_UNKNOWN, text);
}

/* How a stage's program is run on two nodes. */
struct pair_runner {
    certify_pair_fn *run;
    certify_takes_fn *takes;
    const void *context;
};

/* Returns a good node that was not tried: one that passed the stage rather than another, and then
 * one on another leaf switch. NULL if there is none. */
static struct node_run *partner_find(const struct certify *certify, const struct node_run *suspect,
                                     enum stage stage, const struct pair_runner *runner,
                                     const struct hostlist *tried)
{
    struct node_run *best = NULL;
    int best_rank = -1;

    for (size_t i = 0; i < certify->count; i++) {
        struct node_run *node_run = &certify->node_runs[i];
        int rank = 2 * (node_run->outcome.stages[stage] == VERDICT_PASS ||
                        node_run->outcome.stages[stage] == VERDICT_WARN) +
                   (node_run->slurm->leaf != suspect->slurm->leaf);

        if (node_run == suspect || !node_run->is_in_job || node_run->is_suspect ||
            !outcome_is_good(&node_run->outcome) || hostlist_contains(tried, node_run->name) ||
            (runner->takes && !runner->takes(runner->context, node_run)) || rank <= best_rank)
            continue;
        best = node_run;
        best_rank = rank;
    }
    return best;
}

/* Finds the first record since first of a process of the node that died or hung. Returns whether
 * there is one. */
static bool death_find(const struct certify *certify, const char *node, size_t first,
                       struct record *death)
{
    for (size_t i = first; i < certify->records.count; i++)
        if (certify_is_death(records_get(&certify->records, i, death)) &&
            strcmp(death->node, node) == 0)
            return true;
    return false;
}

/* Queries the slurmd of the nodes. A suspect whose slurmd does not answer fails for that, and is no
 * suspect any more. */
static void slurmd_query(struct certify *certify, struct node_run *suspect,
                         const struct hostlist *names, enum stage stage)
{
    certify_reach_again(certify, names, stage);
    suspect->is_suspect = outcome_is_good(&suspect->outcome);
    certify_drain_silent(certify);
}

/* Runs the stage's program on the two alone. Returns whether the suspicion has ended. */
static bool pair_run(struct certify *certify, struct node_run *suspect, struct node_run *partner,
                     enum stage stage, const struct pair_runner *runner)
{
    struct hostlist names = {0};
    size_t first = certify->records.count;
    struct record death, other;
    bool is_own_death;
    char text[256];
    int rv;

    hostlist_append(&names, partner->name); /* rank 0 is there: it reports the other one's end */
    hostlist_append(&names, suspect->name);
    for (size_t i = 0; i < certify->count; i++)
        certify->node_runs[i].is_selected =
            &certify->node_runs[i] == suspect || &certify->node_runs[i] == partner;
    progress_doing(&certify->progress, "%s again, alone with %s", suspect->name, partner->name);
    rv = names.count == 2 ? runner->run(certify, &names, &first, runner->context) : -1;
    is_own_death = death_find(certify, suspect->name, first, &death) &&
                   !death_find(certify, partner->name, first, &other);
    if (certify_stop) {
        doubt(certify, suspect, stage, "not retested");
    } else if (rv == 0) {
        snprintf(text, sizeof text, "did not recur alone with %.60s", partner->name);
        doubt(certify, suspect, stage, text);
    } else if (certify_job_is_over(certify)) { /* the job's end killed the processes */
        doubt(certify, suspect, stage, "the job was ended during the retest");
    } else if (is_own_death && record_code(&death) == FAULT_NODE_FROZEN) {
        /* the heartbeats stopped, as also happens to a process that is not scheduled */
        slurmd_query(certify, suspect, &names, stage);
        if (suspect->is_suspect)
            doubt(certify, suspect, stage,
                  "recurred, but its slurmd answers: the process was stopped or not scheduled");
    } else if (is_own_death) {
        snprintf(suspect->suspect_part, sizeof suspect->suspect_part, "%s", text_of(death.part));
        text_put(text, sizeof text, "%s; recurred alone with %.60s",
                 death.message ? death.message : "ended early", partner->name);
        conclude(certify, suspect, stage, VERDICT_FAIL, text);
    } else if (rv > 0) {
        slurmd_query(certify, suspect, &names, stage);
    }
    hostlist_clear(&names);
    return !suspect->is_suspect;
}

static void suspect_retest(struct certify *certify, struct node_run *suspect, enum stage stage,
                           const struct pair_runner *runner)
{
    struct hostlist tried = {0};

    for (int i = 0; i < CERTIFY_RETEST_PARTNERS && !certify_stop; i++) {
        struct node_run *partner = partner_find(certify, suspect, stage, runner, &tried);

        if (!partner || hostlist_append(&tried, partner->name) != 0 ||
            pair_run(certify, suspect, partner, stage, runner))
            break;
    }
    if (suspect->is_suspect)
        doubt(certify, suspect, stage,
              tried.count > 0 ? "the retest alone with another node was inconclusive"
                              : "no good node was left to retest it with");
    hostlist_clear(&tried);
}

void certify_retest(struct certify *certify, enum stage stage, size_t asked, certify_pair_fn *run,
                    certify_takes_fn *takes, const void *context)
{
    const struct pair_runner runner = {run, takes, context};
    struct hostlist names = {0};
    size_t count = 0, tested = 0;

    for (size_t i = 0; i < certify->count; i++)
        if (certify->node_runs[i].is_suspect)
            hostlist_append(&names, certify->node_runs[i].name);
    count = names.count;
    if (count == 0)
        return;
    if (!certify_stop) {
        progress_doing(&certify->progress, "querying the slurmd of %zu suspect%s", count,
                       text_plural(count));
        certify_reach_again(certify, &names, stage);
        for (size_t i = 0; i < certify->count; i++)
            certify->node_runs[i].is_suspect &= outcome_is_good(&certify->node_runs[i].outcome);
        certify_drain_silent(certify);
    }
    for (size_t i = 0; i < certify->count; i++) {
        struct node_run *node_run = &certify->node_runs[i];

        if (!node_run->is_suspect)
            continue;
        if (certify_stop)
            doubt(certify, node_run, stage, "not retested");
        else if (alike_is_common(0, count, asked) || tested++ >= CERTIFY_RETESTS)
            doubt(certify, node_run, stage, "not retested because many nodes did the same");
        else
            suspect_retest(certify, node_run, stage, &runner);
    }
    hostlist_clear(&names);
}
