/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/settle/actions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/constants/checks_constants.h"
#include "validate/certify/report/run_records.h"
#include "validate/certify/settle/alike.h"
#include "validate/history/node_status.h"
#include "validate/policy/reason.h"
#include "validate/policy/testing.h"
#include "validate/slurm/undo/retest.h"

static bool is_away(const struct cluster_node *node)
{
    return node->is_drained || node->is_down;
}

/* Returns whether somebody else has replaced the drain that the run began with. */
static bool is_replaced(const struct node_run *node_run, const struct cluster_node *node)
{
    return strcmp(node->reason, node_run->slurm->reason) != 0 && !reason_is_ours(node->reason);
}

/* Returns whether the drain may be lifted. A resume would cancel a reboot or power-down that
 * somebody has requested meanwhile, and Slurm resumes no node whose registration it refuses. */
static bool is_liftable(const struct cluster_node *node)
{
    return !node->is_absent && !node->is_invalid;
}

static void set_unknown(struct certify *certify, const char *name, const char *what,
                        const char *why)
{
    char text[256];

    text_put(text, sizeof text, "left alone: %s%s", what, why);
    certify_verdict(certify, certify_node_run(certify, name), STAGE_REACH, VERDICT_UNKNOWN,
                    "slurm.state", "", text);
}

/* Lifts drains. If Slurm refuses a request for a node, the node becomes unknown, and undo restores
 * its drain. */
struct lifting {
    struct certify *certify;
    struct batch resumes;
};

static void mark_done(const char *name, const char *comment, const struct error *err, void *context)
{
    struct lifting *lifting = context;

    (void)comment;
    if (err)
        set_unknown(lifting->certify, name, "", err->text);
    else if (batch_add(&lifting->resumes, name, "") != 0)
        set_unknown(lifting->certify, name, "", "no memory");
}

static void resume_done(const char *name, const char *nothing, const struct error *err,
                        void *context)
{
    (void)nothing;
    certify_node_run(context, name)->is_resumed = !err;
    if (err)
        set_unknown(context, name, "", err->text);
}

int certify_drains_lift(struct certify *certify, const struct hostlist *names, struct error *err)
{
    struct lifting lifting = {.certify = certify};
    struct batch drains = {0}, comments = {0};
    struct cluster now = {0};
    int rv = certify->operations->load_nodes(&now, err);

    for (size_t i = 0; rv == 0 && i < names->count; i++) {
        struct node_run *node_run = certify_node_run(certify, names->names[i]);
        const struct cluster_node *node = cluster_node(&now, node_run->name);

        if (node_run->plan.role != ROLE_RETEST || !node)
            continue;
        if (!is_away(node)) { /* somebody resumed it: test it as a node in service */
            node_run->plan.role = ROLE_TEST;
            node_run->plan.needs_gate_refusal = false;
        } else if (is_replaced(node_run, node)) {
            set_unknown(certify, node_run->name, "drained by someone else meanwhile: ",
                        *node->reason ? node->reason : "no reason given");
        } else if (!is_liftable(node)) {
            set_unknown(certify, node_run->name, "", node->state);
        } else if ((rv = retest_mark(node, certify->run, &comments, err)) == 0 &&
                   batch_add(&drains, node_run->name, node->reason) != 0) {
            rv = error_set(err, "no memory");
        }
    }
    if (rv == 0 && drains.count > 0)
        rv = undo_note_resumes(&certify->undo, &drains, err);
    if (rv == 0)
        (void)batch_apply(&comments, certify->operations->set_comment, mark_done, &lifting, err);
    (void)batch_apply(&lifting.resumes, certify->operations->resume, resume_done, certify, err);
    batch_clear(&drains);
    batch_clear(&comments);
    cluster_clear(&now);
    return rv;
}

struct unmarking {
    struct certify *certify;
    struct batch nodes; /* nodes that are in their final state */
};

static void unmark_done(const char *name, const char *comment, const struct error *err,
                        void *context)
{
    struct unmarking *unmarking = context;

    (void)comment;
    if (err)
        certify_note(unmarking->certify, "%s", err->text);
    else if (batch_add(&unmarking->nodes, name, "") != 0)
        certify_note(unmarking->certify,
                     "%s: out of memory, cannot note its final state in the journal", name);
}

/* Adds the removal of the run's mark from the Comment of a node in its final state. node: its
 * current state; NULL: unknown. */
static void unmark_add(struct certify *certify, const struct node_run *node_run,
                       const struct cluster_node *node, struct batch *comments)
{
    struct error err;

    if (node_run->is_resumed && node && retest_unmark(node, comments, &err) != 0)
        certify_note(certify, "%s", err.text);
}

static void unmark_apply(struct certify *certify, struct batch *comments)
{
    struct unmarking unmarking = {.certify = certify};
    struct error err;
    int rv;

    batch_apply(comments, certify->operations->set_comment, unmark_done, &unmarking, &err);
    rv = unmarking.nodes.count > 0 ? undo_note_settled(&certify->undo, &unmarking.nodes, &err) : 0;
    if (rv != 0)
        certify_note(certify, "%s", err.text);
    for (size_t i = 0; rv >= 0 && i < unmarking.nodes.count; i++) {
        const struct node_run *node_run = certify_node_run(certify, unmarking.nodes.nodes[i].name);

        if (outcome_tested(&node_run->outcome) == VERDICT_PASS)
            certify_note(certify, "%s released; it was drained: %s", node_run->name,
                         node_run->slurm->reason);
    }
    batch_clear(&unmarking.nodes);
}

static size_t drain_cap(const struct certify *certify)
{
    return cap_nodes(&certify->cluster, certify->conf.drain_cap_percent, CAP_DRAINS_LEAST);
}

/* Decides about nodes and drains them. */
struct actions {
    struct certify *certify;
    int lock; /* held from counting drained nodes to draining: other runs of this host wait */
    bool lacks_lock; /* another run has it (lock_err): its drains are unknown */
    struct error lock_err;
    struct cluster now; /* empty: it could not be read, err says why */
    struct error err;
    struct batch drains, drained, comments; /* drained: accepted drains */
};

static void actions_lock(struct actions *actions)
{
    const struct certify *certify = actions->certify;

    actions->lock = -1;
    if (!certify->is_root || certify->options.is_dry_run)
        return;
    actions->lock = testing_lock(certify->runs, &actions->lock_err);
    actions->lacks_lock = actions->lock < 0 && errno == EWOULDBLOCK;
}

/* Returns whether a run on any head has lifted the node's drain for a test that it has not passed
 * yet. */
static bool is_lifted(const struct certify *certify, const struct cluster_node *node)
{
    const struct node_run *node_run = certify_node_run(certify, node->name);

    return !cap_counts_node(node) && retest_read(node, NULL, NULL) &&
           !(node_run && node_run->is_resumed &&
             outcome_tested(&node_run->outcome) == VERDICT_PASS);
}

/* Counts the nodes that any run or tool of muster holds out of service. A node whose drain is
 * lifted for a test counts until it passes. */
static void actions_begin(struct actions *actions)
{
    struct certify *certify = actions->certify;
    bool is_known;
    size_t count;

    actions_lock(actions);
    is_known = certify->operations->load_nodes(&actions->now, &actions->err) == 0;
    count = cap_count(is_known ? &actions->now : &certify->cluster);

    for (size_t i = 0; i < actions->now.node_count; i++)
        count += is_lifted(certify, &actions->now.nodes[i]);
    for (size_t i = 0; i < certify->count && !is_known; i++)
        count += certify->node_runs[i].decision == DECISION_DRAIN;
    certify->drained = count;
}

/* Returns whether somebody else took the node out of service. A node that Slurm set down does not
 * count: it returns by itself, but a faulty node must stay out. */
static bool is_taken_by_others(const struct cluster_node *node)
{
    return is_away(node) && !reason_is_ours(node->reason) &&
           (node->is_drained || !reason_slurm_part(node->reason));
}

/* Returns whether the node may be drained: its state is known, and nobody else drained it
 * meanwhile. */
static bool is_drainable(struct actions *actions, const struct node_run *node_run)
{
    const struct cluster_node *node = cluster_node(&actions->now, node_run->name);

    if (!node)
        certify_note(actions->certify, "%s not drained: cannot read its state in Slurm: %s",
                     node_run->name, *actions->err.text ? actions->err.text : "no such node");
    else if (is_taken_by_others(node))
        certify_note(actions->certify, "%s left unchanged: drained by someone else meanwhile: %s",
                     node_run->name, *node->reason ? node->reason : "no reason given");
    return node && !is_taken_by_others(node);
}

/* Returns whether muster had drained the node before, as its health check does. */
static bool was_drained_by_muster(const struct actions *actions, const char *name)
{
    const struct cluster_node *node = cluster_node(&actions->now, name);

    return node && cap_is_drained_by_muster(node);
}

static bool stays_drained(const struct node_run *node_run)
{
    return node_run->decision == DECISION_KEEP;
}

/* Adds the drain of a node. An earlier drain keeps its reason if the new reason is the same. */
static void drain_add(struct actions *actions, const struct node_run *node_run)
{
    struct certify *certify = actions->certify;
    const struct outcome *outcome = &node_run->outcome;
    struct reason_fault faults[OUTCOME_FAULTS];
    size_t count = 0;
    char reason[200];
    const char *old = stays_drained(node_run) ? node_run->slurm->reason : "";

    for (size_t i = 0; i < outcome->fault_count; i++)
        if (decision_drains(outcome->faults[i].verdict, outcome->faults[i].code, DRAIN_CERTIFY))
            faults[count++] = (struct reason_fault){
                outcome->faults[i].code, outcome->faults[i].part, outcome->faults[i].message};
    reason_write(faults, count, time(NULL), reason, sizeof reason);
    if (reason_is_same(old, reason))
        snprintf(reason, sizeof reason, "%s", old);
    if (certify->options.is_dry_run) {
        certify_note(certify, "%s would be drained: %s", node_run->name, reason);
        return;
    }
    if (!node_run->is_resumed && was_drained_by_muster(actions, node_run->name) &&
        strcmp(old, reason) == 0) {
        certify_note(certify, "%s stays drained: %s", node_run->name, reason);
        return;
    }
    if (batch_add(&actions->drains, node_run->name, reason) != 0)
        certify_note(certify, "%s: out of memory, cannot drain it: %s", node_run->name, reason);
}

static void drain_done(const char *name, const char *reason, const struct error *err, void *context)
{
    struct actions *actions = context;

    if (err)
        certify_note(actions->certify, "%s", err->text);
    else if (batch_add(&actions->drained, name, reason) != 0)
        certify_note(actions->certify, "%s drained: %s", name, reason);
}

static void drain_undone(const char *name, const char *nothing, const struct error *err,
                         void *context)
{
    struct certify *certify = context;

    (void)nothing;
    if (err) {
        certify_note(certify, "%s", err->text);
        return;
    }
    certify_node_run(certify, name)->decision = DECISION_OVER_CAP;
    certify->drained--;
}

/* Undoes drains that exceed DrainCap: health checks and runs on other head nodes may have drained
 * nodes since the count. */
static void excess_drains_undo(struct actions *actions)
{
    struct certify *certify = actions->certify;
    size_t cap = drain_cap(certify), drains = 0;
    struct batch resumes = {0};
    struct cluster now = {0};
    struct error err;

    for (size_t i = 0; i < actions->drained.count; i++)
        drains +=
            certify_node_run(certify, actions->drained.nodes[i].name)->decision == DECISION_DRAIN;
    if (drains == 0)
        return;
    sleep(HEALTH_SETTLE_S);
    if (certify->operations->load_nodes(&now, &err) != 0)
        certify_note(certify,
                     "cannot check whether other head nodes drained nodes too (DrainCap): %s",
                     err.text);
    for (size_t i = 0; i < actions->drained.count; i++) {
        const struct batch_node *drain = &actions->drained.nodes[i];
        const struct cluster_node *node = cluster_node(&now, drain->name);

        if (certify_node_run(certify, drain->name)->decision == DECISION_DRAIN && node &&
            !was_drained_by_muster(actions, drain->name) && node->is_drained && !node->is_down &&
            reason_is_same(node->reason, drain->text) && cap_count_before(&now, node) >= cap)
            batch_add(&resumes, drain->name, ""); /* out of memory: it stays drained */
    }
    batch_apply(&resumes, certify->operations->resume, drain_undone, certify, &err);
    cluster_clear(&now);
}

/* Completes a drain: updates the journal, the node's Comment and the notes. */
static void drain_complete(struct actions *actions, const char *name, const char *reason)
{
    struct certify *certify = actions->certify;
    const struct node_run *node_run = certify_node_run(certify, name);
    struct error why;

    if (node_run->decision == DECISION_OVER_CAP)
        return;
    if (node_run->is_silent && undo_note_down(&certify->undo, name, reason, &why) != 0)
        certify_note(certify, "%s", why.text);
    unmark_add(certify, node_run, cluster_node(&actions->now, name), &actions->comments);
    certify_note(certify, "%s %s: %s", name, stays_drained(node_run) ? "stays drained" : "drained",
                 reason);
}

static void actions_apply(struct actions *actions)
{
    struct error err;

    batch_apply(&actions->drains, actions->certify->operations->drain, drain_done, actions, &err);
    excess_drains_undo(actions);
    for (size_t i = 0; i < actions->drained.count; i++)
        drain_complete(actions, actions->drained.nodes[i].name, actions->drained.nodes[i].text);
    batch_clear(&actions->drained);
    if (actions->lock >= 0)
        close(actions->lock);
    unmark_apply(actions->certify, &actions->comments);
    cluster_clear(&actions->now);
}

/* Records a failure near a limit as a strike, which counts at the next one. */
static void strike_record(struct certify *certify, const struct node_run *node_run,
                          const struct outcome_fault *fault)
{
    bool is_last = node_run->strike >= certify->conf.strikes;
    char count[64], text[360];

    strikes_print(node_run->strike, certify->conf.strikes, (double)certify->conf.strike_window_s,
                  count, sizeof count);
    snprintf(text, sizeof text, "%s %s, %s", fault->test, fault->message, count);
    certify_record(certify,
                   RECORD(.suite = "certify", .test = "strikes", .metric = fault->test,
                          .node = node_run->name, .part = fault->part, .value = node_run->strike,
                          .unit = "count", .limit = certify->conf.strikes, .limit_source = "conf",
                          .verdict = is_last ? VERDICT_FAIL : VERDICT_WARN, .code = fault->code,
                          .message = text));
    if (!is_last)
        certify_note(certify, "%s is a suspect: %s", node_run->name, text);
}

/* Returns which strike a failure near a limit is, from 1. */
static int strike_read(struct certify *certify, const char *node, uint64_t fingerprint,
                       const struct outcome_fault *fault)
{
    struct error err;
    int strike = node_status_strike(certify->conf.history_path, certify->cluster.name, node,
                                    fault->code, fault->part, fingerprint, (double)time(NULL),
                                    (double)certify->conf.strike_window_s, &err);

    if (strike < 0)
        certify_note(certify, "%s: cannot read its strikes: %s", node, err.text);
    return strike < 0 ? 1 : strike;
}

/* Returns whether the node has stopped answering for certain. */
static bool is_lost(const struct node_run *node_run)
{
    return node_run->is_silent && !node_run->is_cut_off;
}

/* Returns the node's role. A drain by Slurm counts as a fault until the node reports that muster's
 * gate caused it. */
static enum plan_role role_of(const struct node_run *node_run)
{
    return node_run->plan.needs_gate_refusal ? ROLE_FAULTY : node_run->plan.role;
}

/* Returns the failure near a limit for which the node gets a strike; NULL: none, or the node is
 * decided about. */
static const struct outcome_fault *near_fault_of(const struct node_run *node_run)
{
    const struct outcome_fault *cause = outcome_drain_cause(&node_run->outcome);

    if (node_run->is_decided || role_of(node_run) != ROLE_TEST)
        return NULL;
    if (cause && cause->is_near)
        return cause;
    return node_run->outcome.is_near ? outcome_worst(&node_run->outcome) : NULL;
}

/* Counts the strikes of all nodes, before the lock: the history may be slow. */
static void strikes_count_all(struct certify *certify)
{
    uint64_t *fingerprints = NULL;

    for (size_t i = 0; i < certify->count; i++) {
        struct node_run *node_run = &certify->node_runs[i];
        const struct outcome_fault *near = near_fault_of(node_run);

        if (!near)
            continue;
        if (!fingerprints)
            fingerprints = certify_fingerprints(certify);
        node_run->strike =
            strike_read(certify, node_run->name, fingerprints ? fingerprints[i] : 0, near);
        strike_record(certify, node_run, near);
    }
    free(fingerprints);
}

/* Decides about a node, once. */
static void node_decide(struct actions *actions, struct node_run *node_run)
{
    struct certify *certify = actions->certify;
    const struct outcome_fault *cause = outcome_drain_cause(&node_run->outcome);
    struct decision_facts facts = {.role = role_of(node_run),
                                   .strike = node_run->strike,
                                   .verdict = outcome_tested(&node_run->outcome),
                                   .is_near = node_run->outcome.is_near,
                                   .cause = !cause           ? CAUSE_NONE
                                            : cause->is_near ? CAUSE_NEAR_LIMIT
                                                             : CAUSE_HARD};

    if (node_run->is_decided)
        return;
    node_run->is_decided = true;
    node_run->decision = decision_make(
        &facts, &(struct decision_rules){.is_dry_run = certify->options.is_dry_run,
                                         .no_drain = certify->options.no_drain,
                                         .strikes = certify->conf.strikes,
                                         .drained = certify->drained,
                                         .cap = actions->lacks_lock ? 0 : drain_cap(certify)});
    if ((node_run->decision == DECISION_DRAIN || node_run->decision == DECISION_KEEP) &&
        !is_drainable(actions, node_run))
        node_run->decision = DECISION_NOTHING;
    certify->drained +=
        node_run->decision == DECISION_DRAIN && !was_drained_by_muster(actions, node_run->name);
    if (facts.role == ROLE_TEST && facts.verdict == VERDICT_FAIL && !cause)
        certify_note(certify,
                     "%s not certified, stays in service: fault code %s never drains a node",
                     node_run->name, catalog_fault(outcome_worst(&node_run->outcome)->code)->name);
    if (node_run->decision == DECISION_DRAIN || node_run->decision == DECISION_KEEP)
        drain_add(actions, node_run);
}

void certify_drain_silent(struct certify *certify)
{
    struct actions actions = {.certify = certify};
    bool is_any = false;

    for (size_t i = 0; i < certify->count && !certify->options.is_dry_run; i++)
        is_any |= is_lost(&certify->node_runs[i]) && !certify->node_runs[i].is_decided;
    if (!is_any)
        return;
    certify_excuse_common(certify);
    actions_begin(&actions);
    /* without the lock, certify_drains_decide() decides later */
    for (size_t i = 0; i < certify->count && !actions.lacks_lock; i++)
        if (is_lost(&certify->node_runs[i]))
            node_decide(&actions, &certify->node_runs[i]);
    actions_apply(&actions);
}

void certify_drains_decide(struct certify *certify)
{
    struct actions actions = {.certify = certify};
    struct hostlist spared = {0};

    certify_excuse_common(certify);
    certify_report_common(certify);
    strikes_count_all(certify);
    actions_begin(&actions);
    for (size_t i = 0; i < certify->count; i++)
        node_decide(&actions, &certify->node_runs[i]);
    actions_apply(&actions);
    for (size_t i = 0; i < certify->count; i++)
        if (certify->node_runs[i].decision == DECISION_OVER_CAP)
            hostlist_append(&spared, certify->node_runs[i].name);
    if (spared.count > 0 && actions.lacks_lock)
        certify_note(certify,
                     "NOT DRAINED: %s failed, but another run of this host may be draining nodes "
                     "(DrainCap): %s",
                     hostlist_text(&spared).text, actions.lock_err.text);
    else if (spared.count > 0)
        certify_note(certify,
                     "NOT DRAINED: %s failed too, but muster has drained %zu node%s and may drain "
                     "at most %zu of %zu (DrainCap=%.0f%%)",
                     hostlist_text(&spared).text, certify->drained, text_plural(certify->drained),
                     drain_cap(certify), cap_base(&certify->cluster),
                     certify->conf.drain_cap_percent);
    hostlist_clear(&spared);
}

/* Unmarks the nodes that passed after a lifted drain: they stay in service. Undo drains the others
 * again. */
void certify_drains_release(struct certify *certify)
{
    struct batch comments = {0};
    struct cluster now = {0};
    struct error err;

    if (certify->operations->load_nodes(&now, &err) != 0)
        certify_note(certify, "no node released: %s", err.text);
    for (size_t i = 0; i < certify->count; i++) {
        const struct node_run *node_run = &certify->node_runs[i];

        if (node_run->is_resumed && outcome_tested(&node_run->outcome) == VERDICT_PASS)
            unmark_add(certify, node_run, cluster_node(&now, node_run->name), &comments);
    }
    unmark_apply(certify, &comments);
    cluster_clear(&now);
}
