/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/signals.h"
#include "lib/constants/command_constants.h"
#include "validate/policy/plan.h"
#include "validate/command/command.h"
#include "validate/history/history.h"
#include "validate/report/records.h"
#include "validate/slurm/batch.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/extra.h"
#include "validate/slurm/node_lines.h"
#include "validate/slurm/revocation.h"
#include "validate/slurm/step.h"

static volatile sig_atomic_t interrupted; /* the signal */

static void interrupt(int signal_number)
{
    interrupted = signal_number;
}

static void receive_line(size_t task, const char *node, const char *line, void *context)
{
    (void)task;
    records_parse_own(context, node, line);
}

/* A node of the list. */
struct target {
    const char *name;
    bool is_asked, is_told; /* told: of what became of its certificate */
    bool is_gone;           /* it has none any more */
};

struct revoking {
    const char *command;
    bool as_json;
    struct cluster cluster;
    struct target *targets;
    size_t count;
    int status;
};

static void failure_print(struct revoking *revoking, struct target *target, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", revoking->command, target->name, why);
    target->is_told = true;
    revoking->status = COMMAND_FAIL;
}

/* What the node itself says became of its certificate. */
static void answer_print(struct revoking *revoking, struct target *target,
                         const struct record *record)
{
    if (!record->message) {
        failure_print(revoking, target, "cannot parse its answer");
    } else if (record->verdict == VERDICT_FAIL) {
        failure_print(revoking, target, record->message);
    } else {
        if (revoking->as_json)
            record_write(stdout, record);
        else
            printf("%s: %s\n", target->name, record->message);
        target->is_told = target->is_gone = true;
    }
}

static int compare_targets(const void *a, const void *b)
{
    struct target *const *one = a, *const *other = b;

    return strcmp((*one)->name, (*other)->name);
}

static int compare_name(const void *name, const void *target)
{
    return strcmp(name, (*(struct target *const *)target)->name);
}

/* Asks them all in one step. Of those that did not answer, complaint says why. */
static void step_query(struct revoking *revoking, struct target **targets, size_t count,
                       const char *partition, char *complaint, size_t size)
{
    struct arguments program = {0};
    struct hostlist names = {0};
    struct records records = {0};
    struct process_result result = {0};
    struct node_lines lines = {0};
    struct error err = {""};
    int rv = 0;

    for (size_t i = 0; rv == 0 && i < count; i++) {
        targets[i]->is_asked = true;
        rv = hostlist_append(&names, targets[i]->name);
    }
    step_muster(&program, "revoke", "--json", NULL);
    if (rv == 0)
        rv = node_lines_begin(&revoking->cluster, &names, receive_line, &records, &lines);
    if (rv != 0)
        error_set(&err, "no memory for a step on %zu nodes", count);
    else
        rv = step_run_on(&names, partition, STEP_WAIT_S, program.argv,
                         &(struct process){.deadline_s = STEP_DEADLINE_S,
                                           .grace_s = STEP_GRACE_S,
                                           .on_line = node_lines_read,
                                           .context = &lines,
                                           .stop = &interrupted},
                         &result, &err);
    for (size_t i = 0; i < records.count; i++) {
        const char *node = records.items[i].node;
        struct target **found =
            node ? bsearch(node, targets, count, sizeof(*targets), compare_name) : NULL;

        if (found && !(*found)->is_told)
            answer_print(revoking, *found, &records.items[i]);
    }
    if (rv != 0)
        snprintf(complaint, size, "%s; run muster revoke on the node itself", err.text);
    else if (result.end == PROCESS_STOPPED)
        snprintf(complaint, size, "interrupted; its certificate may still be there");
    else
        snprintf(complaint, size, "%s; run muster revoke on the node itself",
                 *lines.complaint.text ? lines.complaint.text : "no answer in time");
    node_lines_end(&lines);
    arguments_clear(&program);
    hostlist_clear(&names);
    records_clear(&records);
}

/* Nodes of one partition. */
struct group {
    struct revoking *revoking;
    struct target **targets;
    const char *partition;
};

static size_t group_query(size_t first, size_t count, bool is_last, void *context)
{
    const struct group *group = context;
    struct target **targets = group->targets + first;
    char complaint[600];
    size_t left = 0;

    if (interrupted)
        return 0;
    step_query(group->revoking, targets, count, group->partition, complaint, sizeof complaint);
    for (size_t i = 0; i < count; i++) {
        struct target *target = targets[i];

        targets[i] = targets[left]; /* those that are told go behind the others */
        targets[left] = target;
        left += !target->is_told;
    }
    if (left > 1)
        qsort(targets, left, sizeof(*targets), compare_targets);
    for (size_t i = 0; (is_last || interrupted) && i < left; i++)
        failure_print(group->revoking, targets[i], complaint);
    return interrupted ? 0 : left;
}

/* Asks those that are in the partition that has most of them. Returns how many are left, which are
 * the first of targets then. */
static size_t partition_query(struct revoking *revoking, struct target **targets, size_t count)
{
    const char **names = calloc(count + 1, sizeof *names);
    struct target **idle = calloc(count + 1, sizeof(*idle)),
                  **full = calloc(count + 1, sizeof(*full));
    const struct cluster_partition *partition = NULL;
    struct name_index members = {0};
    size_t idle_count = 0, full_count = 0, left = 0;

    for (size_t i = 0; names && i < count; i++)
        names[i] = targets[i]->name;
    if (names && idle && full)
        partition = plan_partition(&revoking->cluster, NULL, names, count);
    if (partition && hostlist_index(&partition->nodes, &members) != 0)
        partition = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!partition)
            failure_print(revoking, targets[i],
                          "not in a partition that is up; run muster revoke on the node itself");
        else if (!name_index_has(&members, targets[i]->name))
            targets[left++] = targets[i];
        else if (cluster_node(&revoking->cluster, targets[i]->name)->is_full)
            full[full_count++] = targets[i];
        else
            idle[idle_count++] = targets[i];
    }
    if (partition) {
        step_by_halves(idle_count, group_query, &(struct group){revoking, idle, partition->name});
        if (full_count > 0) /* not by halves: they are not expected to start one */
            group_query(0, full_count, true, &(struct group){revoking, full, partition->name});
    }
    name_index_clear(&members);
    free(names);
    free(idle);
    free(full);
    return left;
}

static void all_query(struct revoking *revoking)
{
    struct target **targets = calloc(revoking->count + 1, sizeof(*targets));
    size_t count = 0;

    for (size_t i = 0; !targets && i < revoking->count; i++)
        failure_print(revoking, &revoking->targets[i], "out of memory");
    for (size_t i = 0; targets && i < revoking->count; i++) {
        const struct cluster_node *node =
            cluster_node(&revoking->cluster, revoking->targets[i].name);
        char why[200];

        if (node->is_down || node->is_drained || node->is_absent || node->is_invalid) {
            snprintf(why, sizeof why,
                     "node is %s and runs no job; run muster revoke on the node itself",
                     node->state);
            revoking->targets[i].is_asked = true;
            failure_print(revoking, &revoking->targets[i], why);
        } else {
            targets[count++] = &revoking->targets[i];
        }
    }
    if (count > 1)
        qsort(targets, count, sizeof(*targets), compare_targets);
    while (count > 0 && !interrupted)
        count = partition_query(revoking, targets, count);
    free(targets);
}

/* Nobody who asks for certified nodes is to get these. Best effort: the gate knows anyway. now: the
 * nodes as they are by now. */
static void extras_take_out(const struct revoking *revoking, const struct cluster *now)
{
    struct batch batch = {0};
    struct error err = {""};

    for (size_t i = 0; i < revoking->count && revoking->cluster.has_extra; i++) {
        const struct target *target = &revoking->targets[i];
        const struct cluster_node *node = cluster_node(now, target->name);
        char *text =
            node && target->is_asked && *node->extra ? extra_with(node->extra, 0, 0, &err) : NULL;

        if (text && strcmp(text, node->extra) != 0)
            batch_add(&batch, target->name, text);
        free(text);
    }
    if (batch_apply(&batch, cluster_set_extra, NULL, NULL, &err) != 0)
        fprintf(stderr, "%s: %s\n", revoking->command, err.text);
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

/* A node that was not reached does it itself, as soon as it can. */
static void revocations_write(struct revoking *revoking, const struct cluster *now)
{
    struct batch comments = {0};
    struct error err;

    for (size_t i = 0; i < revoking->count; i++) {
        const struct target *target = &revoking->targets[i];
        const struct cluster_node *node = cluster_node(now, target->name);
        char *comment = node && target->is_asked
                            ? revocation_put(node->comment, target->is_gone ? 0 : time(NULL))
                            : NULL;

        if (comment && strcmp(comment, node->comment) != 0)
            batch_add(&comments, target->name, comment);
        free(comment);
    }
    batch_apply(&comments, cluster_set_comment, revocation_print, revoking, &err);
}

/* A run may have put its mark into a Comment while the nodes were asked, or have taken it out: the
 * texts are read again before they are changed. */
static void slurm_write(struct revoking *revoking)
{
    struct cluster now = {0};
    struct error err = {""};

    if (cluster_load_nodes(&now, &err) != 0)
        fprintf(stderr,
                "%s: %s; certificates of nodes that were not reached stay valid: run it again\n",
                revoking->command, err.text);
    extras_take_out(revoking, &now);
    revocations_write(revoking, &now);
    cluster_clear(&now);
}

/* So that muster certify --due and muster reserve count them as not certified. */
static void history_write(const struct revoking *revoking, const char *history)
{
    struct hostlist names = {0};
    struct error err;

    for (size_t i = 0; i < revoking->count; i++)
        if (revoking->targets[i].is_asked)
            hostlist_append(&names, revoking->targets[i].name);
    if (history && names.count > 0 && history_revoke(history, &names, 0, &err) != 0)
        fprintf(stderr, "%s: %s; certify --due still counts them as certified\n", revoking->command,
                err.text);
    hostlist_clear(&names);
}

/* Who was not asked any more. */
static void interruption_print(const struct revoking *revoking)
{
    struct hostlist names = {0};

    for (size_t i = 0; i < revoking->count; i++)
        if (!revoking->targets[i].is_asked)
            hostlist_append(&names, revoking->targets[i].name);
    if (names.count > 0)
        fprintf(stderr, "%s: interrupted: not asked: %s\n", revoking->command,
                hostlist_text(&names).text);
    hostlist_clear(&names);
}

/* Each node once, in the order of the list. Returns 0, or -1 with err. */
static int targets_make(struct revoking *revoking, const struct hostlist *names, struct error *err)
{
    bool *is_seen = calloc(revoking->cluster.node_count + 1, sizeof *is_seen);

    revoking->targets = calloc(names->count + 1, sizeof *revoking->targets);
    for (size_t i = 0; is_seen && revoking->targets && i < names->count; i++) {
        const struct cluster_node *node = cluster_node(&revoking->cluster, names->names[i]);
        bool *seen = &is_seen[node - revoking->cluster.nodes];

        if (!*seen)
            revoking->targets[revoking->count++].name = node->name;
        *seen = true;
    }
    free(is_seen);
    return revoking->count > 0 ? 0 : error_set(err, "no memory for %zu nodes", names->count);
}

int revoke_nodes(const char *command, const char *list, bool as_json, const char *history)
{
    struct revoking revoking = {.command = command, .as_json = as_json};
    struct hostlist names;
    struct error err;

    if (hostlist_expand(list, &names, &err) == 0 && names.count == 0)
        error_set(&err, "-w names no node: '%s'", list);
    if (names.count == 0) {
        fprintf(stderr, "%s: %s\n", command, err.text);
        return COMMAND_USAGE;
    }
    step_clean_environment();
    if (cluster_open(&err) != 0 || cluster_load(&revoking.cluster, &err) != 0) {
        revoking.status = COMMAND_UNKNOWN;
    } else if (cluster_unknown_node(&revoking.cluster, &names, &err)) {
        revoking.status = COMMAND_USAGE;
    } else if (targets_make(&revoking, &names, &err) != 0) {
        revoking.status = COMMAND_UNKNOWN;
    } else {
        signals_catch(interrupt, 0); /* a step on its way is ended by srun itself */
        all_query(&revoking);
        slurm_write(&revoking);
        history_write(&revoking, history);
        err.text[0] = '\0';
    }
    if (*err.text)
        fprintf(stderr, "%s: %s\n", command, err.text);
    if (interrupted) {
        interruption_print(&revoking);
        revoking.status = COMMAND_UNKNOWN;
    }
    free(revoking.targets);
    cluster_clear(&revoking.cluster);
    hostlist_clear(&names);
    return revoking.status;
}
