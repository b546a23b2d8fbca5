/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/node/health.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/certificate/certificate.h"
#include "validate/checks/checks.h"
#include "validate/command/command.h"
#include "validate/command/node/published.h"
#include "validate/command/node/self_drain.h"
#include "validate/health/log_file.h"
#include "validate/health/onset.h"
#include "validate/health/unreviewed.h"
#include "validate/policy/policy.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/extra.h"
#include "validate/slurm/revocation.h"

static void problem_add(struct health_summary *summary, const struct record *record)
{
    size_t at = 0;

    while (at < summary->problem_count && summary->problems[at].verdict >= record->verdict)
        at++;
    if (at >= HEALTH_PROBLEMS)
        return;
    if (summary->problem_count < HEALTH_PROBLEMS)
        summary->problem_count++;
    for (size_t i = summary->problem_count - 1; i > at; i--)
        summary->problems[i] = summary->problems[i - 1];
    summary->problems[at].verdict = record->verdict;
    snprintf(summary->problems[at].text, sizeof summary->problems[at].text, "%s%s%s: %s",
             record->test, record->part && *record->part ? " " : "",
             record->part ? record->part : "", record->message ? record->message : "");
}

void health_take(struct health_summary *summary, const struct record *record)
{
    summary->counts[record->verdict]++;
    if (record->verdict >= VERDICT_WARN)
        problem_add(summary, record);
    if (!*summary->drain && health_is_hard(record, summary->lets_rails_fail)) {
        snprintf(summary->fault, sizeof summary->fault, "%s %s %s", record->test,
                 catalog_fault(record_code(record))->name, record->part ? record->part : "");
        reason_write(&(struct reason_fault){record_code(record), record->part ? record->part : "",
                                            record->message ? record->message : ""},
                     1, time(NULL), summary->drain, sizeof summary->drain);
    }
}

int health_nagios(const struct health_summary *summary, double seconds)
{
    static const char *const words[] = {"OK", "WARNING", "CRITICAL", "UNKNOWN"};
    const size_t *counts = summary->counts;
    size_t all = counts[VERDICT_PASS] + counts[VERDICT_WARN] + counts[VERDICT_UNKNOWN] +
                 counts[VERDICT_FAIL];
    int status = counts[VERDICT_FAIL] > 0      ? 2
                 : counts[VERDICT_UNKNOWN] > 0 ? 3
                 : counts[VERDICT_WARN] > 0    ? 1
                                               : 0;

    printf("MUSTER %s - ", words[status]);
    for (size_t i = 0; i < summary->problem_count; i++) {
        for (const char *c = summary->problems[i].text; *c; c++)
            putchar(*c == '|' || *c == '\n' ? ' ' : *c); /* '|' begins the performance data */
        fputs("; ", stdout);
    }
    if (status == 0)
        printf("%zu checks passed", all);
    else
        printf("%zu failed, %zu unknown, %zu warned of %zu", counts[VERDICT_FAIL],
               counts[VERDICT_UNKNOWN], counts[VERDICT_WARN], all);
    printf("|time=%.3fs;1 failed=%zu;;0 unknown=%zu warned=%zu;0 passed=%zu\n", seconds,
           counts[VERDICT_FAIL], counts[VERDICT_UNKNOWN], counts[VERDICT_WARN],
           counts[VERDICT_PASS]);
    return status;
}

/* Whether a certificate issued at this time is void, by what Slurm knows of the node; sets why. */
static bool is_void(const struct cluster_node *node, time_t issued, char *why, size_t size)
{
    if (health_ends_certificate(node, issued))
        text_put(why, size, "the node was drained after its issue: %s", node->reason);
    else if (revocation_read(node->comment) >= issued)
        text_put(why, size, "revoked while the node was unreachable");
    else
        return false;
    return true;
}

/* Removes the certificate from the node's Extra: once the node is resumed, a job that requests
 * certified nodes must not get it. Best effort, as the gate checks anyway. */
static void extra_withdraw(const struct cluster_node *node)
{
    bool shows_certificate = extra_is_expired(node->extra, LLONG_MAX);
    struct error err;
    char *extra = shows_certificate ? extra_set_level(node->extra, 0, 0, &err) : NULL;

    if (extra)
        (void)cluster_set_extra(node->name, extra, &err);
    free(extra);
}

/* Removes the node's certificate if the node failed, or the certificate was revoked, while it could
 * not be reached; so no job gets there before. Sets text to a message, or to "". */
static void certificate_withdraw(const char *name, const struct conf *conf, char *text, size_t size)
{
    struct cluster cluster = {0};
    const struct cluster_node *node;
    char why[300], *comment;
    struct error err = {""};
    time_t issued = certificate_issued(conf->certificate_path, NULL);
    int result = 1;

    *text = '\0';
    if (issued == 0 || published_load(name, &cluster, &err) != 0)
        return; /* the next check withdraws it */
    node = cluster_node(&cluster, name);
    if (node && is_void(node, issued, why, sizeof why))
        result = certificate_remove(conf->certificate_path, issued, &err);
    if (result <= 0) { /* else it is not void, or gone, or issued again meanwhile */
        if (result < 0) {
            text_put(text, size, "certificate not removed: %s", err.text);
        } else {
            text_put(text, size, "certificate removed, %s", why);
            extra_withdraw(node);
        }
        comment =
            !*err.text && revocation_read(node->comment) ? revocation_set(node->comment, 0) : NULL;
        if (comment && cluster_set_comment(name, comment, &err) != 0) { /* harmless */
            size_t length = strlen(text);

            text_put(text + length, size - length, "; its Comment stays as it is: %s", err.text);
        }
        free(comment);
    }
    cluster_clear(&cluster);
}

/* Whether the fault that an earlier check found, if any, would be found by these tests too. */
static bool is_sought(const char *only)
{
    char test[32];

    return !onset_read_test(ONSET_FILE, test) ||
           check_is_wanted(&(struct check){.name = test}, only);
}

int health_run(const struct health_summary *summary, const char *node, const struct conf *conf)
{
    size_t printed = 0, failed = summary->counts[VERDICT_FAIL];
    /* a fault that this check did not look for may last */
    bool decides = *summary->fault || is_sought(summary->only), may_resume = false;
    struct unreviewed drain;
    long long now_s = (long long)clock_s();
    time_t since = 0;
    char text[400] = "";

    for (size_t i = 0; i < summary->problem_count; i++)
        if (summary->problems[i].verdict == VERDICT_FAIL) {
            printf("muster check: %s: %s\n", node, summary->problems[i].text);
            printed++;
        }
    if (failed > printed)
        printf("muster check: %s: and %zu more failed; run muster check\n", node, failed - printed);
    if (decides)
        since = time(NULL) - (time_t)(now_s - onset_update(ONSET_FILE, summary->fault, now_s));
    if (conf->health_drain) {
        if ((decides || unreviewed_read(UNREVIEWED_FILE, &drain)) &&
            self_drain(node, summary->drain, since, conf, UNREVIEWED_FILE, text, sizeof text))
            log_file_mark_drained(conf);
        if (*text)
            printf("muster check: %s %s\n", node, text);
        may_resume = unreviewed_read(UNREVIEWED_FILE, &drain);
    }
    if (!may_resume) { /* a node that a later check may resume keeps its certificate */
        certificate_withdraw(node, conf, text, sizeof text);
        if (*text)
            printf("muster check: %s %s\n", node, text);
    }
    return failed > 0 ? COMMAND_FAIL : COMMAND_PASS;
}
