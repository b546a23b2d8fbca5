/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/settle/actions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "validate/certify/settle/alike.h"
#include "validate/history/node_status.h"
#include "validate/slurm/retest.h"

static void resumed(const char *name, const char *nothing, const struct error *err, void *context)
{
    (void)nothing;
    certify_subject(context, name)->is_resumed = !err;
}

int certify_drains_lift(struct certify *certify, const struct hostlist *names, struct error *err)
{
    struct batch comments = {0}, resumes = {0};
    int rv = 0;

    for (size_t i = 0; rv == 0 && i < names->count; i++) {
        const struct subject *subject = certify_subject(certify, names->names[i]);

        if (subject->plan.role != ROLE_RETEST)
            continue;
        rv = undo_note_resume(&certify->undo, subject->name, subject->slurm->reason, err);
        if (rv == 0)
            rv = retest_mark(subject->slurm, certify->run, &comments, err);
        if (rv == 0 && batch_add(&resumes, subject->name, "") != 0)
            rv = error_set(err, "no memory");
    }
    if (rv == 0)
        rv = batch_apply(&comments, certify->operations->set_comment, NULL, NULL, err);
    if (rv == 0)
        rv = batch_apply(&resumes, certify->operations->resume, resumed, certify, err);
    batch_clear(&comments);
    batch_clear(&resumes);
    return rv;
}

static void settled(const char *name, const char *comment, const struct error *err, void *context)
{
    struct certify *certify = context;
    const struct subject *subject = certify_subject(certify, name);
    struct error why;

    (void)comment;
    if (err)
        certify_note(certify, "%s", err->text);
    else if (undo_note_settled(&certify->undo, name, &why) != 0)
        certify_note(certify, "%s", why.text);
    else if (outcome_tested(&subject->outcome) == VERDICT_PASS)
        certify_note(certify, "%s released, it was drained: %s", name, subject->slurm->reason);
}

/* The node's drain, which we had lifted, is as it is to be. */
static void settle_add(struct certify *certify, const struct subject *subject,
                       struct batch *comments)
{
    struct error err;

    if (subject->is_resumed && retest_unmark(subject->slurm, comments, &err) != 0)
        certify_note(certify, "%s", err.text);
}

static void settle(struct certify *certify, struct batch *comments)
{
    struct error err;

    batch_apply(comments, certify->operations->set_comment, settled, certify, &err);
}

static size_t drain_cap(const struct certify *certify)
{
    return cap_nodes(certify->cluster.node_count, certify->conf.drain_cap_percent,
                     CAP_DRAINS_LEAST);
}

/* Counts what muster has out of service now, whoever of its runs and tools took it: those whose
 * drain was lifted for the test too, unless they passed. */
static void drained_count(struct certify *certify)
{
    struct cluster now = {0};
    bool is_known = certify->operations->load_nodes(&now, NULL) == 0;
    size_t count = cap_taken(is_known ? &now : &certify->cluster);

    for (size_t i = 0; i < certify->count; i++) {
        const struct subject *subject = &certify->subjects[i];
        const struct cluster_node *node = is_known ? cluster_node(&now, subject->name) : NULL;

        if (is_known)
            count += subject->is_resumed && node && !cap_counts(node) &&
                     outcome_tested(&subject->outcome) != VERDICT_PASS;
        else
            count += subject->decision == DECISION_DRAIN;
    }
    certify->drained = count;
    cluster_clear(&now);
}

/* What is done to nodes once it is decided about all. */
struct actions {
    struct certify *certify;
    struct batch drains, comments;
};

static bool stays_drained(const struct subject *subject)
{
    return subject->decision == DECISION_KEEP && *subject->slurm->reason;
}

/* A node is to be drained; one of ours keeps its reason where that says the same. */
static void drain_add(struct actions *actions, const struct subject *subject)
{
    struct certify *certify = actions->certify;
    const struct outcome *outcome = &subject->outcome;
    struct reason_fault faults[OUTCOME_FAULTS];
    size_t count = 0;
    char reason[200];
    const char *old = stays_drained(subject) ? subject->slurm->reason : "";

    for (size_t i = 0; i < outcome->fault_count; i++)
        if (decision_drains(outcome->faults[i].verdict, outcome->faults[i].code, DRAIN_CERTIFY))
            faults[count++] = (struct reason_fault){
                outcome->faults[i].code, outcome->faults[i].part, outcome->faults[i].message};
    reason_write(faults, count, time(NULL), reason, sizeof reason);
    if (*old && reason_is_same(old, reason))
        snprintf(reason, sizeof reason, "%s", old);
    if (certify->options.is_dry_run) {
        certify_note(certify, "%s would be drained: %s", subject->name, reason);
        return;
    }
    if (*old && !subject->is_resumed && strcmp(old, reason) == 0) {
        certify_note(certify, "%s stays drained: %s", subject->name, reason);
        return;
    }
    if (batch_add(&actions->drains, subject->name, reason) != 0)
        certify_note(certify, "%s: no memory to drain it: %s", subject->name, reason);
}

static void drained(const char *name, const char *reason, const struct error *err, void *context)
{
    struct actions *actions = context;
    struct certify *certify = actions->certify;
    const struct subject *subject = certify_subject(certify, name);
    struct error why = {""};

    if (err)
        why = *err;
    else if (subject->is_silent)
        undo_note_down(&certify->undo, name, reason, &why);
    if (*why.text) {
        certify_note(certify, "%s", why.text);
        return;
    }
    settle_add(certify, subject, &actions->comments);
    certify_note(certify, "%s %s: %s", name, stays_drained(subject) ? "stays drained" : "drained",
                 reason);
}

static void actions_take(struct actions *actions)
{
    struct error err;

    batch_apply(&actions->drains, actions->certify->operations->drain, drained, actions, &err);
    settle(actions->certify, &actions->comments);
}

/* A failure near a limit is put on record, and counted at the next one. */
static void strike(struct certify *certify, const struct subject *subject,
                   const struct outcome_fault *fault)
{
    bool is_last = subject->strike >= certify->conf.strikes;
    struct record record = RECORD_INIT;
    char count[64], text[360];

    strikes_print(subject->strike, certify->conf.strikes, (double)certify->conf.strike_window_s,
                  count, sizeof count);
    snprintf(text, sizeof text, "%s %s, %s", fault->test, fault->message, count);
    record.suite = "certify";
    record.test = "strikes";
    record.metric = fault->test;
    record.node = subject->name;
    record.part = fault->part;
    record.value = subject->strike;
    record.unit = "count";
    record.limit = certify->conf.strikes;
    record.limit_source = "conf";
    record.verdict = is_last ? VERDICT_FAIL : VERDICT_WARN;
    record.code = fault->code;
    record.message = text;
    certify_record(certify, &record);
    if (!is_last)
        certify_note(certify, "%s is a suspect: %s", subject->name, text);
}

/* Which strike a failure near a limit is, from 1. */
static int strike_of(struct certify *certify, const char *node, const struct outcome_fault *fault)
{
    struct error err;
    int strike =
        node_status_strike(certify->conf.history_path, node, fault->code, fault->part,
                           (double)time(NULL), (double)certify->conf.strike_window_s, &err);

    if (strike < 0)
        certify_note(certify, "%s: its strikes are not known: %s", node, err.text);
    return strike < 0 ? 1 : strike;
}

/* Decides about a node, once. */
static void decide(struct actions *actions, struct subject *subject)
{
    struct certify *certify = actions->certify;
    const struct outcome_fault *ground = outcome_ground(&subject->outcome), *near = NULL;
    /* until the node has said that it was muster's gate, its drain is Slurm's */
    struct decision_facts facts = {.role = subject->plan.wants_refusal ? ROLE_FAULTY
                                                                       : subject->plan.role,
                                   .verdict = outcome_tested(&subject->outcome),
                                   .is_near = subject->outcome.is_near,
                                   .ground = !ground           ? GROUND_NONE
                                             : ground->is_near ? GROUND_NEAR
                                                               : GROUND_HARD};

    if (subject->is_decided)
        return;
    if (facts.ground == GROUND_NEAR)
        near = ground;
    else if (facts.is_near)
        near = outcome_worst(&subject->outcome);
    if (near && facts.role == ROLE_TEST) {
        subject->strike = facts.strike = strike_of(certify, subject->name, near);
        strike(certify, subject, near);
    }
    subject->is_decided = true;
    subject->decision =
        decision_make(&facts, &(struct decision_rules){.is_dry_run = certify->options.is_dry_run,
                                                       .no_drain = certify->options.no_drain,
                                                       .strikes = certify->conf.strikes,
                                                       .drained = certify->drained,
                                                       .cap = drain_cap(certify)});
    certify->drained += subject->decision == DECISION_DRAIN;
    if (facts.role == ROLE_TEST && facts.verdict == VERDICT_FAIL && !ground)
        certify_note(certify, "%s is not certified and stays in service: %s drains no node",
                     subject->name, catalog_fault(outcome_worst(&subject->outcome)->code)->name);
    if (subject->decision == DECISION_DRAIN || subject->decision == DECISION_KEEP)
        drain_add(actions, subject);
}

void certify_drop_silent(struct certify *certify)
{
    struct actions actions = {.certify = certify};
    bool is_any = false;

    for (size_t i = 0; i < certify->count && !certify->options.is_dry_run; i++)
        is_any |= certify->subjects[i].is_silent && !certify->subjects[i].is_decided;
    if (!is_any)
        return;
    certify_alike(certify);
    drained_count(certify);
    for (size_t i = 0; i < certify->count; i++)
        if (certify->subjects[i].is_silent)
            decide(&actions, &certify->subjects[i]);
    actions_take(&actions);
}

void certify_drains_decide(struct certify *certify)
{
    struct actions actions = {.certify = certify};
    struct hostlist spared = {0};
    char *folded;

    certify_alike(certify);
    certify_alike_tell(certify);
    drained_count(certify);
    for (size_t i = 0; i < certify->count; i++) {
        decide(&actions, &certify->subjects[i]);
        if (certify->subjects[i].decision == DECISION_SPARE)
            hostlist_append(&spared, certify->subjects[i].name);
    }
    actions_take(&actions);
    if (spared.count > 0) {
        folded = hostlist_fold(&spared);
        certify_note(certify,
                     "NOT DRAINED: %s failed too, but at most %zu of %zu nodes are drained by "
                     "muster at a time (DrainCap=%.0f%%), and %zu are",
                     folded ? folded : "others", drain_cap(certify), certify->cluster.node_count,
                     certify->conf.drain_cap_percent, certify->drained);
        free(folded);
    }
    hostlist_clear(&spared);
}

/* Those that were ours to test again: released when they passed, else put back by undo. */
void certify_drains_release(struct certify *certify)
{
    struct batch comments = {0};

    for (size_t i = 0; i < certify->count; i++) {
        const struct subject *subject = &certify->subjects[i];

        if (subject->is_resumed && outcome_tested(&subject->outcome) == VERDICT_PASS)
            settle_add(certify, subject, &comments);
    }
    settle(certify, &comments);
}
