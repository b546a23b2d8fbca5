/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/signals.h"
#include "lib/constants/command_constants.h"
#include "validate/command/command.h"
#include "validate/command/node_query.h"
#include "validate/history/history.h"
#include "validate/report/records.h"
#include "validate/slurm/batch.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/extra.h"
#include "validate/slurm/revocation.h"
#include "validate/slurm/step/step.h"

static volatile sig_atomic_t interrupted; /* the signal */

static void interrupt(int signal_number)
{
    interrupted = signal_number;
}

/* The state of a node of the cluster. */
struct target {
    bool is_wanted;               /* it is in the list */
    bool is_queried, is_reported; /* is_reported: the result for its certificate is printed */
    bool is_gone;                 /* its certificate is removed */
};

struct revoking {
    const char *command;
    bool as_json;
    struct cluster cluster;
    struct target *targets; /* by node of the cluster */
    int status;
};

static struct target *target_find(const struct revoking *revoking, const char *name)
{
    return &revoking->targets[cluster_node(&revoking->cluster, name) - revoking->cluster.nodes];
}

static void failure_print(struct revoking *revoking, const char *name, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", revoking->command, name, why);
    target_find(revoking, name)->is_reported = true;
    revoking->status = COMMAND_FAIL;
}

/* Takes the node's own report of the result. */
static bool take_line(const char *node, const char *line, void *context)
{
    struct revoking *revoking = context;
    struct target *target = target_find(revoking, node);
    struct records records = {0};
    const struct record *record;
    bool is_answer = records_parse_own(&records, node, line) == 0;

    target->is_queried = true;
    if (is_answer && !target->is_reported) {
        record = RECORD_AT(&records, 0);
        if (!record->message || record->verdict == VERDICT_FAIL) {
            failure_print(revoking, node,
                          record->message ? record->message : "cannot parse its answer");
        } else {
            if (revoking->as_json)
                record_write(stdout, record);
            else
                printf("%s: %s\n", node, record->message);
            target->is_reported = target->is_gone = true;
        }
    }
    records_clear(&records);
    return is_answer;
}

static void take_silence(const char *node, const char *why, void *context)
{
    char text[700];

    target_find(context, node)->is_queried = true;
    if (interrupted)
        snprintf(text, sizeof text, "interrupted; its certificate may still be there");
    else
        snprintf(text, sizeof text, "%s; run muster revoke on the node itself",
                 *why ? why : "no answer in time");
    failure_print(context, node, text);
}

static void all_query(struct revoking *revoking)
{
    struct hostlist idle = {0}, full = {0};
    struct arguments program = {0};
    struct node_query query = {.cluster = &revoking->cluster,
                               .deadline_s = STEP_DEADLINE_S,
                               .take = take_line,
                               .on_silence = take_silence,
                               .context = revoking,
                               .retries_silent = true,
                               .stop = &interrupted};
    int rv = 0;

    for (size_t i = 0; rv == 0 && i < revoking->cluster.node_count; i++) {
        const struct cluster_node *node = &revoking->cluster.nodes[i];
        char why[100];

        if (!revoking->targets[i].is_wanted)
            continue;
        snprintf(why, sizeof why, "node is %s and runs no job", node->state);
        if (node->is_down || node->is_drained || node->is_absent || node->is_invalid)
            take_silence(node->name, why, revoking);
        else
            rv = hostlist_append(node->is_full ? &full : &idle, node->name);
    }
    step_add_muster(&program, "revoke", "--json", NULL);
    query.program = program.argv;
    rv = rv == 0 ? node_query_run(&query, &idle) : rv;
    query.is_at_once = true; /* they are not expected to start a job */
    rv = rv == 0 ? node_query_run(&query, &full) : rv;
    for (size_t i = 0; rv != 0 && i < revoking->cluster.node_count; i++)
        if (revoking->targets[i].is_wanted && !revoking->targets[i].is_reported)
            failure_print(revoking, revoking->cluster.nodes[i].name, "out of memory");
    arguments_clear(&program);
    hostlist_clear(&idle);
    hostlist_clear(&full);
}

static void revocation_print(const char *name, const char *comment, const struct error *err,
                             void *context)
{
    const struct revoking *revoking = context;

    if (err)
        fprintf(stderr, "%s: %s\n", revoking->command, err->text);
    else if (revocation_read(comment) != 0)
        fprintf(stderr,
                "%s: %s: its certificate is revoked in Slurm: its next health check removes it\n",
                revoking->command, name);
}

/* Updates Slurm, so that no job that asks for certified nodes gets these; best effort, as the gate
 * checks anyway. A node that was not reached removes its certificate itself later. While the nodes
 * were queried a run may have set or removed its mark in a Comment, so the texts are read again
 * before they are changed. */
static void slurm_write(struct revoking *revoking)
{
    struct batch extras = {0}, comments = {0};
    struct cluster now = {0};
    struct error err = {""};

    if (cluster_load_nodes(&now, &err) != 0)
        fprintf(stderr,
                "%s: %s; certificates of nodes that were not reached stay valid: run it again\n",
                revoking->command, err.text);
    for (size_t i = 0; i < revoking->cluster.node_count; i++) {
        const struct target *target = &revoking->targets[i];
        const char *name = revoking->cluster.nodes[i].name;
        const struct cluster_node *node = target->is_queried ? cluster_node(&now, name) : NULL;
        char *extra = node && revoking->cluster.has_extra && *node->extra
                          ? extra_set_level(node->extra, 0, 0, &err)
                          : NULL;
        char *comment =
            node ? revocation_set(node->comment, target->is_gone ? 0 : time(NULL)) : NULL;

        if (extra && strcmp(extra, node->extra) != 0)
            batch_add(&extras, name, extra);
        if (comment && strcmp(comment, node->comment) != 0)
            batch_add(&comments, name, comment);
        free(extra);
        free(comment);
    }
    if (batch_apply(&extras, cluster_set_extra, NULL, NULL, &err) != 0)
        fprintf(stderr, "%s: %s\n", revoking->command, err.text);
    batch_apply(&comments, cluster_set_comment, revocation_print, revoking, &err);
    cluster_clear(&now);
}

/* Returns the nodes of the list that were queried, or were not; clear the result. */
static struct hostlist names_find(const struct revoking *revoking, bool is_queried)
{
    struct hostlist names = {0};

    for (size_t i = 0; i < revoking->cluster.node_count; i++)
        if (revoking->targets[i].is_wanted && revoking->targets[i].is_queried == is_queried)
            hostlist_append(&names, revoking->cluster.nodes[i].name);
    return names;
}

int revoke_nodes(const char *command, const char *list, bool as_json, const char *history)
{
    struct revoking revoking = {.command = command, .as_json = as_json};
    struct hostlist names, queried = {0}, left = {0};
    struct error err;

    if (hostlist_expand(list, &names, &err) == 0 && names.count == 0)
        error_set(&err, "-w names no node: '%s'", list);
    if (names.count == 0)
        return command_failed(COMMAND_USAGE, command, "%s", err.text);
    step_clean_environment();
    if (cluster_open(&err) != 0 || cluster_load(&revoking.cluster, &err) != 0) {
        revoking.status = COMMAND_UNKNOWN;
    } else if (cluster_unknown_node(&revoking.cluster, &names, &err)) {
        revoking.status = COMMAND_USAGE;
    } else if (!(revoking.targets =
                     calloc(revoking.cluster.node_count + 1, sizeof *revoking.targets))) {
        error_set(&err, "no memory for %zu nodes", names.count);
        revoking.status = COMMAND_UNKNOWN;
    } else {
        for (size_t i = 0; i < names.count; i++)
            target_find(&revoking, names.names[i])->is_wanted = true;
        signals_catch(interrupt, 0); /* srun itself ends a running step */
        all_query(&revoking);
        slurm_write(&revoking);
        queried = names_find(&revoking, true);
        left = names_find(&revoking, false);
        /* so that muster certify --due and muster reserve count the nodes as not certified */
        if (history && queried.count > 0 && history_revoke(history, &queried, 0, &err) != 0)
            fprintf(stderr, "%s: %s; certify --due still counts them as certified\n", command,
                    err.text);
        err.text[0] = '\0';
    }
    if (*err.text)
        fprintf(stderr, "%s: %s\n", command, err.text);
    if (interrupted) {
        if (left.count > 0)
            fprintf(stderr, "%s: interrupted: not asked: %s\n", command, hostlist_text(&left).text);
        revoking.status = COMMAND_UNKNOWN;
    }
    free(revoking.targets);
    cluster_clear(&revoking.cluster);
    hostlist_clear(&names);
    hostlist_clear(&queried);
    hostlist_clear(&left);
    return revoking.status;
}
