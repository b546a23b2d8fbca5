/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "validate/certify/certify.h"
#include "validate/slurm/extra.h"

/* The nodes that get the same Extra: one message to the controller for all of them. */
struct group {
    char *text;
    struct hostlist names;
};

static void group_add(struct group *groups, size_t *count, char *text, const char *name)
{
    size_t i = 0;

    while (i < *count && strcmp(groups[i].text, text) != 0)
        i++;
    if (i == *count) {
        groups[i] = (struct group){.text = text};
        ++*count;
    } else {
        free(text);
    }
    hostlist_append(&groups[i].names, name);
}

/* What the node's Extra is to be; NULL when that is what it is, or when it is to be left alone. */
static char *text_wanted(struct certify *certify, const struct subject *subject)
{
    struct outcome outcome = subject->outcome;
    enum verdict verdict = outcome_conclude(&outcome);
    const char *level = certify_level_name(certify->options.level);
    struct error err = {""};
    char *text;

    if (*subject->certified_until)
        text =
            extra_with(subject->slurm->extra, extra_level(level), certify->certified_until_s, &err);
    else if (verdict == VERDICT_FAIL && subject->decision != DECISION_SUSPECT &&
             *subject->slurm->extra && !extra_is_over(subject->slurm->extra, (long long)time(NULL)))
        text = extra_with(subject->slurm->extra, 0, 0, &err);
    else
        return NULL;
    if (!text && *subject->certified_until)
        certify_note(certify, "%s: %s", subject->name, err.text);
    if (text && strcmp(text, subject->slurm->extra) == 0) {
        free(text);
        text = NULL;
    }
    return text;
}

/* Slurm does not know when a certificate ends: what has ended is taken out wherever it stands, of
 * nodes that this run does not look at too. */
static void expired_add(struct certify *certify, struct group *groups, size_t *count)
{
    long long now = (long long)time(NULL);
    struct error err;

    for (size_t i = 0; i < certify->cluster.node_count; i++) {
        const struct cluster_node *node = &certify->cluster.nodes[i];
        const struct subject *subject = certify_subject(certify, node->name);
        char *text;

        if ((subject && *subject->certified_until) || !extra_is_over(node->extra, now))
            continue;
        text = extra_with(node->extra, 0, 0, &err);
        if (text)
            group_add(groups, count, text, node->name);
    }
}

/* What the health check of a node wrote for the gate ends with its certificate. */
static void gates_clear(struct certify *certify)
{
    for (size_t i = 0; i < certify->count; i++) {
        struct subject *subject = &certify->subjects[i];
        struct error err;
        char *cause, *text;

        if (!*subject->certified_until)
            continue;
        cause = extra_gate(subject->slurm->extra);
        text = cause ? extra_with_gate(subject->slurm->extra, NULL, &err) : NULL;
        if (text && cluster_set_extra(subject->name, text, &err) == 0) {
            free(subject->slurm->extra);
            subject->slurm->extra = text;
            text = NULL;
        } else if (cause) {
            certify_note(certify, "%s", err.text);
        }
        free(text);
        free(cause);
    }
}

void certify_extras(struct certify *certify)
{
    struct group *groups;
    size_t count = 0;
    struct error err;

    if (!certify->options.is_dry_run)
        gates_clear(certify);
    if (!certify->cluster.has_extra || !certify->conf.write_extra || certify->options.is_dry_run)
        return;
    groups = calloc(certify->count + certify->cluster.node_count + 1, sizeof *groups);
    if (groups)
        expired_add(certify, groups, &count);
    for (size_t i = 0; groups && i < certify->count; i++) {
        char *text = text_wanted(certify, &certify->subjects[i]);

        if (text)
            group_add(groups, &count, text, certify->subjects[i].name);
    }
    for (size_t i = 0; i < count; i++) {
        char *names = hostlist_fold(&groups[i].names);

        if (names && cluster_set_extra(names, groups[i].text, &err) != 0)
            certify_note(certify, "%s", err.text);
        free(names);
        free(groups[i].text);
        hostlist_clear(&groups[i].names);
    }
    free(groups);
}
