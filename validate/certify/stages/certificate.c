/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/text.h"
#include "validate/certify/stages/stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/memory_stream.h"
#include "lib/certificate/certificate.h"
#include "lib/constants/certify_constants.h"
#include "validate/certify/choose/nodes.h"
#include "validate/certify/choose/suspects.h"
#include "validate/certify/choose/turns.h"
#include "validate/certify/report/run_records.h"
#include "validate/certify/settle/actions.h"
#include "validate/certify/stages/extras.h"
#include "validate/certify/stages/request.h"
#include "validate/certify/step/certify_step.h"
#include "validate/certify/step/reach_nodes.h"
#include "validate/history/node_status.h"
#include "validate/policy/turn.h"
#include "validate/slurm/batch.h"
#include "validate/slurm/revocation.h"
#include "validate/slurm/step/step.h"

/* Runs program on the nodes. Its records report for each node whether it succeeded. */
static int certificates_step(struct certify *certify, const struct hostlist *names,
                             const char *input, struct arguments *program, size_t *first,
                             struct error *err)
{
    return certify_muster(certify,
                          &(struct certify_step){.stage = STAGE_CERTIFICATE,
                                                 .nodes = names,
                                                 .input = input,
                                                 .deadline_s = certify_deadline_s(
                                                     CERTIFY_CERTIFICATE_S, names->count)},
                          program, first, err);
}

/* Returns whether a certificate of a higher level may stay on the node: not if the node should have
 * none. */
static bool may_keep(const struct node_run *node_run)
{
    return node_run->plan.role == ROLE_TEST && revocation_read(node_run->slurm->comment) == 0;
}

/* Returns the lines of a node's certificate, malloc'd; NULL if memory is out: half of them would
 * certify a rail that failed. keep: a certificate of a higher level stays if it is valid until
 * then. */
static char *results_of(const struct node_run *node_run, time_t keep)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = memory_stream(&text, &size);

    if (!stream)
        return NULL;
    if (may_keep(node_run))
        fprintf(stream, "keep: %lld\n", (long long)keep);
    for (int stage = STAGE_CHECK; stage < STAGE_CERTIFICATE; stage++)
        if (stage != STAGE_LINKS && node_run->outcome.stages[stage] != VERDICT_SKIP)
            fprintf(stream, "test: %s: %s\n", stage_name((enum stage)stage),
                    verdict_name(node_run->outcome.stages[stage]));
    for (size_t k = 0; k < node_run->rails.count; k++)
        fprintf(stream, "test: %s\n", node_run->rails.names[k]);
    fclose(stream);
    return text;
}

static bool is_to_have_one(const struct node_run *node_run)
{
    return node_run->is_in_job && outcome_tested(&node_run->outcome) == VERDICT_PASS;
}

/* Returns for how many seconds a certificate of a higher level must still be valid to stay. A run
 * with --due renews only certificates that are due, also of partners: the remaining nights are for
 * nodes that are busy now. */
static time_t keep_s(const struct certify *certify)
{
    double ahead_s = turn_ahead_s((double)certify->conf.certificate_valid_s);

    return (time_t)(certify->options.is_due ? ahead_s : fmin(CERTIFY_KEEP_S, ahead_s));
}

/* Makes the parts. Returns how many nodes are to have a certificate, or -1 with err. */
static long parts_make(const struct certify *certify, struct request_parts *parts,
                       struct error *err)
{
    struct request_node *nodes = calloc(certify->count + 1, sizeof *nodes);
    time_t keep = time(NULL) + keep_s(certify);
    size_t count = 0;
    char head[700];
    int rv = nodes ? 0 : error_set(err, "no memory");

    *parts = (struct request_parts){0};
    snprintf(head, sizeof head, "run: %s\ncluster: %.400s\nlevel: %s\nexpires: %lld\n",
             certify->run, certify->cluster.name, certify_level_name(certify->options.level),
             (long long)certify->certified_until_s);
    for (size_t i = 0; rv == 0 && i < certify->count; i++) {
        if (!is_to_have_one(&certify->node_runs[i]))
            continue;
        nodes[count].name = certify->node_runs[i].name;
        nodes[count].results = results_of(&certify->node_runs[i], keep);
        if (!nodes[count++].results)
            rv = error_set(err, "no memory");
    }
    if (rv == 0)
        rv = request_parts_make(head, nodes, count, REQUEST_BYTES, parts, err);
    for (size_t i = 0; i < count; i++)
        free(nodes[i].results);
    free(nodes);
    return rv == 0 ? (long)count : -1;
}

/* kept: the end of the certificate of a higher level that stays, or 0. */
static void certified(struct certify *certify, struct node_run *node_run, time_t kept)
{
    node_run->certified_until_s = kept ? kept : certify->certified_until_s;
    if (!kept)
        node_run->certified_level = certificate_level(certify_level_name(certify->options.level));
    text_time(node_run->certified_until, sizeof node_run->certified_until, "%Y-%m-%d %H:%M UTC",
              node_run->certified_until_s);
    outcome_note(&node_run->outcome, STAGE_CERTIFICATE, VERDICT_PASS, FAULT_NONE, NULL, "", "");
}

static void not_certified(struct certify *certify, struct node_run *node_run, const char *why)
{
    char text[256];

    text_put(text, sizeof text, "cannot write its certificate: %s", why);
    certify_verdict(certify, node_run, STAGE_CERTIFICATE, VERDICT_UNKNOWN, "certificate", "", text);
}

/* Reads the nodes' answers from the records since first. */
static void answers_read(struct certify *certify, size_t first)
{
    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);
        struct node_run *node_run = catalog_is_test(record->test, TEST_CERTIFICATE)
                                        ? certify_node_run(certify, record->node)
                                        : NULL;

        if (node_run && record->verdict != VERDICT_NONE && node_run->certificate_record == 0)
            node_run->certificate_record = i + 1;
        else if (node_run && record->metric && record->message &&
                 catalog_is_metric(record->metric, METRIC_LEVEL))
            node_run->certified_level = certificate_level(record->message);
    }
}

/* Returns the end of the certificate that stays on the node, by its record; 0: it has a new one. */
static time_t kept_until(const struct record *record)
{
    return record->metric && catalog_is_metric(record->metric, METRIC_EXPIRES) &&
                   isfinite(record->value)
               ? (time_t)record->value
               : 0;
}

static void part_issue(struct certify *certify, const struct request_part *part)
{
    struct arguments program = {0};
    struct error err = {""};
    size_t first;
    int rv;

    step_add_muster(&program, "certificate", "issue", "--json", NULL);
    rv = certificates_step(certify, &part->nodes, part->text, &program, &first, &err);
    if (rv >= 0)
        answers_read(certify, first);
    for (size_t i = 0; i < part->nodes.count; i++) {
        struct node_run *node_run = certify_node_run(certify, part->nodes.names[i]);
        const struct record *record =
            node_run->certificate_record > 0
                ? RECORD_AT(&certify->records, node_run->certificate_record - 1)
                : NULL;

        if (record && record->verdict == VERDICT_PASS)
            certified(certify, node_run, kept_until(record));
        else
            not_certified(certify, node_run,
                          record && record->message ? record->message
                          : *err.text               ? err.text
                                                    : error_line_text(&certify->error_line));
    }
}

static void certificates_issue(struct certify *certify)
{
    struct request_parts parts;
    struct error err = {""};
    long asked;

    for (size_t i = 0; certify->options.is_dry_run && i < certify->count; i++)
        if (is_to_have_one(&certify->node_runs[i]))
            outcome_note(&certify->node_runs[i].outcome, STAGE_CERTIFICATE, VERDICT_SKIP,
                         FAULT_NONE, NULL, "", "");
    if (certify->options.is_dry_run)
        return;
    certify->certified_until_s = time(NULL) + certify->conf.certificate_valid_s;
    asked = parts_make(certify, &parts, &err);
    if (asked == 0) {
        request_parts_clear(&parts);
        return;
    }
    progress_begin(&certify->progress, stage_name(STAGE_CERTIFICATE));
    for (size_t i = 0; asked > 0 && i < parts.count; i++) {
        if (parts.count > 1)
            progress_doing(&certify->progress, "part %zu of %zu, %zu node%s", i + 1, parts.count,
                           parts.items[i].nodes.count, text_plural(parts.items[i].nodes.count));
        part_issue(certify, &parts.items[i]);
    }
    for (size_t i = 0; asked < 0 && i < certify->count; i++)
        if (is_to_have_one(&certify->node_runs[i]))
            not_certified(certify, &certify->node_runs[i], err.text);
    certify_stage_end(certify, asked > 0 ? (size_t)asked : 0);
    if (asked > 0)
        request_parts_clear(&parts);
}

/* Sets is_revoked of the nodes that reported, since first, that their certificate is gone. */
static void revoked_note(struct certify *certify, size_t first)
{
    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);
        struct node_run *node_run =
            catalog_is_metric(record->metric, METRIC_REVOKED) && record->verdict == VERDICT_NONE
                ? certify_node_run(certify, record->node)
                : NULL;

        if (node_run)
            node_run->is_revoked = true;
    }
}

enum { ALL_ISSUED = -1 }; /* of revoke_until: all certificates */

static void failure_note(const char *node, double time, void *context)
{
    struct node_run *node_run = certify_node_run(context, node);

    if (node_run)
        node_run->revoke_until = (time_t)time;
}

/* Returns which certificates of the node to revoke, as in revoke_until. failed: when an earlier run
 * failed it; 0: none did. If nothing is known of it now, those from before an earlier run failed
 * it: that run may not have reached it, and another host may have certified it since. */
static time_t limit_of(const struct node_run *node_run, time_t failed)
{
    time_t revoked = revocation_read(node_run->slurm->comment);

    if (!certify_is_available(node_run))
        return 0;
    if (certify_loses_certificate(node_run))
        return ALL_ISSUED;
    if (outcome_tested(&node_run->outcome) != VERDICT_UNKNOWN || node_run->plan.needs_gate_refusal)
        return 0;
    return failed > revoked ? failed : revoked;
}

/* Revokes the certificates of the nodes with that limit, and clears the limit. */
static void part_revoke(struct certify *certify, time_t until)
{
    struct arguments program = {0};
    struct hostlist names = {0};
    char option[48];
    size_t first;
    struct error err;

    for (size_t i = 0; i < certify->count; i++)
        if (certify->node_runs[i].revoke_until == until) {
            hostlist_append(&names, certify->node_runs[i].name);
            certify->node_runs[i].revoke_until = 0;
        }
    if (names.count > 0) {
        snprintf(option, sizeof option, "--issued-until=%lld", (long long)until);
        step_add_muster(&program, "revoke", "--json", until == ALL_ISSUED ? NULL : option, NULL);
        if (certificates_step(certify, &names, NULL, &program, &first, &err) >= 0)
            revoked_note(certify, first);
    }
    hostlist_clear(&names);
}

static void certificates_revoke(struct certify *certify)
{
    struct node_run *node_runs = certify->node_runs;
    struct error err;

    if (node_status_failed(certify->conf.history_path, certify->cluster.name, failure_note, certify,
                           &err) < 0)
        certify_note(certify, "cannot read which nodes failed before: %s", err.text);
    if (certify->job_id == 0 || certify->options.is_dry_run)
        return;
    for (size_t i = 0; i < certify->count; i++)
        node_runs[i].revoke_until = limit_of(&node_runs[i], node_runs[i].revoke_until);
    part_revoke(certify, ALL_ISSUED);
    /* the others are revoked at the next contact */
    for (size_t i = 0, steps = 0; i < certify->count && steps < CERTIFY_REVOKE_STEPS; i++)
        if (node_runs[i].revoke_until != 0) {
            part_revoke(certify, node_runs[i].revoke_until);
            steps++;
        }
}

static void revocation_written(const char *name, const char *comment, const struct error *err,
                               void *context)
{
    struct certify *certify = context;

    if (err) {
        certify_note(certify, "%s", err->text);
        return;
    }
    (void)undo_note_revoked(&certify->undo, name, NULL);
    if (revocation_read(comment) != 0)
        certify_note(
            certify,
            "%s did not remove its certificate; it is revoked, but stays on the node until "
            "its health check or muster revoke on %s removes it",
            name, name);
}

/* Returns until when certificates of the node are to be revoked; 0: none is; -1: the revocation
 * stays as it is. */
static time_t revoked_until(const struct node_run *node_run, time_t now)
{
    if (*node_run->certified_until || node_run->is_revoked)
        return 0;
    return certify_loses_certificate(node_run) ? now : -1;
}

static void revocations_write(struct certify *certify)
{
    struct batch comments = {0};
    struct cluster now = {0};
    struct error err = {""};
    time_t begin = time(NULL);
    bool is_any = false;

    for (size_t i = 0; i < certify->count && !certify->options.is_dry_run; i++) {
        const struct node_run *node_run = &certify->node_runs[i];
        time_t until = revoked_until(node_run, begin);

        if (until > 0 && undo_note_revocation(&certify->undo, node_run->name, until, &err) != 0)
            certify_note(certify, "%s", err.text);
        is_any |= until > 0 || (until == 0 && revocation_read(node_run->slurm->comment) != 0);
    }
    if (!is_any)
        return;
    /* this run, and others, have changed Comments since they were read */
    if (certify->operations->load_nodes(&now, &err) != 0)
        certify_note(
            certify,
            "certificates on unreachable nodes stay valid until the next run can revoke them: %s",
            err.text);
    for (size_t i = 0; i < certify->count; i++) {
        const struct node_run *node_run = &certify->node_runs[i];
        const struct cluster_node *node = cluster_node(&now, node_run->name);
        time_t until = revoked_until(node_run, begin);
        char *comment = node && until >= 0 ? revocation_set(node->comment, until) : NULL;

        if (comment && strcmp(comment, node->comment) != 0)
            batch_add(&comments, node->name, comment); /* out of memory: the next run does it */
        free(comment);
    }
    batch_apply(&comments, certify->operations->set_comment, revocation_written, certify, &err);
    cluster_clear(&now);
}

/* Returns whether the node has booted since the run began. slurmctld computes the boot time at each
 * registration: for the same boot it may differ by a second. */
static bool has_booted(const struct cluster_node *before, const struct cluster_node *now,
                       time_t begin)
{
    return before->boot_time > 0 && now && now->boot_time >= begin &&
           now->boot_time > before->boot_time + CERTIFY_SAME_BOOT_S;
}

/* Makes nodes unknown that booted during the run: they are not well, whatever was measured after
 * that. */
static void reboots_find(struct certify *certify)
{
    time_t begin = time(NULL) - (time_t)(clock_s() - certify->begin);
    struct cluster now = {0};

    if (certify->operations->load_nodes(&now, NULL) != 0)
        return;
    for (size_t i = 0; i < certify->count; i++) {
        struct node_run *node_run = &certify->node_runs[i];
        const struct cluster_node *node = cluster_node(&now, node_run->name);

        if (node_run->plan.role != ROLE_SKIP && has_booted(node_run->slurm, node, begin)) {
            certify_fault(certify, node_run, STAGE_REACH, VERDICT_UNKNOWN, FAULT_NOT_MEASURED,
                          "slurm.state", "node",
                          "it rebooted during the run; read its console log and journalctl -b -1");
            certify_note(certify, "%s rebooted during this run", node_run->name);
        }
    }
    cluster_clear(&now);
}

/* The order matters: nothing is issued before all nodes are decided about, and no node is released
 * before it has its certificate. */
static void run(struct certify *certify)
{
    certify_await(certify);
    if (certify_stop)
        return;
    reboots_find(certify);
    certify_reach_cut_off(certify);
    certify_drains_decide(certify);
    certificates_revoke(certify);
    certificates_issue(certify);
    certify_leave_waiting(certify);
    certify_extras(certify, false);
    certify_await(certify);
    certify_drains_release(certify);
    revocations_write(certify);
    certify_extras(certify, true);
    certify_consume(certify);
}

const struct certify_stage stage_certificate = {
    .stage = STAGE_CERTIFICATE,
    .job = JOB_CERTIFICATES,
    .level = LEVEL_QUICK,
    .run = run,
};
