/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/doctor/doctor.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/record.h"
#include "lib/base/text.h"
#include "lib/constants/command_constants.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/node_lines.h"
#include "validate/slurm/reach.h"
#include "validate/slurm/step.h"

static void take_line(size_t task, const char *node, const char *line, void *context)
{
    (void)task;
    doctor_take(context, node, line, record_now_s());
}

/* Whether its slurmd answers: one that does not keeps the whole job from starting. */
static bool has_slurmd(const struct findings *findings, const char *node)
{
    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->items[i].name, "slurmd") == 0 &&
            strcmp(findings->items[i].host, node) == 0)
            return findings->items[i].verdict == VERDICT_PASS;
    return false;
}

/* Has those that run jobs say what they find. */
static void nodes_query(const struct cluster *cluster, const struct cluster_node *const *nodes,
                        size_t count, struct findings *findings)
{
    struct hostlist names = {0};
    struct arguments program = {0};
    struct process_result result = {0};
    struct node_lines lines = {0};
    struct error err = {""};
    size_t before = findings->count, told;
    int rv = 0;

    for (size_t i = 0; rv == 0 && i < count; i++)
        if (!nodes[i]->is_down && !nodes[i]->is_drained && !nodes[i]->is_absent &&
            !nodes[i]->is_full && has_slurmd(findings, nodes[i]->name))
            rv = hostlist_append(&names, nodes[i]->name);
    step_muster(&program, "doctor", "--here", "--json", NULL);
    if (rv == 0)
        rv = node_lines_begin(cluster, &names, take_line, findings, &lines);
    if (rv != 0)
        error_set(&err, "no memory");
    else if (names.count > 0)
        rv = step_run_on(&names, NULL, STEP_WAIT_S, program.argv,
                         &(struct process){.deadline_s = STEP_DEADLINE_S,
                                           .grace_s = STEP_GRACE_S,
                                           .on_line = node_lines_read,
                                           .context = &lines},
                         &result, &err);
    told = findings->count;
    for (size_t i = 0; i < count; i++) {
        bool has_answered = false;
        char found[DOCTOR_FOUND];

        for (size_t k = before; !has_answered && k < told; k++)
            has_answered = strcmp(findings->items[k].host, nodes[i]->name) == 0;
        snprintf(found, sizeof found, "node is %.30s, not queried", nodes[i]->state);
        if (!has_answered && hostlist_contains(&names, nodes[i]->name))
            snprintf(found, sizeof found, "a job on it reported nothing: %.200s",
                     rv != 0                 ? err.text
                     : *lines.complaint.text ? lines.complaint.text
                                             : "no answer in time");
        if (has_answered)
            snprintf(found, sizeof found, "a job ran and reported its findings");
        doctor_add(findings, nodes[i]->name, "answer",
                   has_answered ? VERDICT_PASS : VERDICT_UNKNOWN, found);
    }
    node_lines_end(&lines);
    arguments_clear(&program);
    hostlist_clear(&names);
}

static void slurmds_query(struct cluster_node *const *nodes, size_t count,
                          struct findings *findings)
{
    struct reach *answers = calloc(count + 1, sizeof *answers);
    struct error err = {"no memory"};
    int rv = answers ? reach_nodes(nodes, count, DOCTOR_REACH_S, NULL, answers, &err) : -1;

    for (size_t i = 0; i < count; i++) {
        enum verdict verdict = rv != 0                             ? VERDICT_UNKNOWN
                               : nodes[i]->is_absent               ? VERDICT_SKIP
                               : answers[i].state == REACH_ANSWERS ? VERDICT_PASS
                                                                   : VERDICT_FAIL;

        doctor_add(findings, nodes[i]->name, "slurmd", verdict,
                   rv != 0                   ? err.text
                   : verdict == VERDICT_SKIP ? nodes[i]->state
                   : verdict == VERDICT_PASS ? "it answers this host"
                                             : answers[i].message);
    }
    free(answers);
}

static int nodes_choose(const struct cluster *cluster, const char *list,
                        struct cluster_node **nodes, struct error *err)
{
    struct hostlist names = {0};
    int count = 0, rv = 0;

    for (size_t i = 0; !list && i < cluster->partition_count; i++)
        for (size_t k = 0;
             cluster->partitions[i].is_default && rv == 0 && k < cluster->partitions[i].nodes.count;
             k++)
            rv = hostlist_append(&names, cluster->partitions[i].nodes.names[k]);
    if (list)
        rv = hostlist_expand(list, &names, err);
    if (rv == 0 && cluster_unknown_node(cluster, &names, err))
        rv = -1;
    for (size_t i = 0; rv == 0 && i < names.count && i < cluster->node_count; i++)
        nodes[count++] = cluster_node(cluster, names.names[i]);
    hostlist_clear(&names);
    return rv == 0 ? count : -1;
}

void doctor_cluster(const struct doctor_site *site, const char *list, struct findings *findings)
{
    struct cluster cluster = {0};
    struct cluster_node **nodes = NULL;
    struct error err = {""};
    char found[DOCTOR_FOUND];
    int count = -1;

    (void)site;
    step_clean_environment();
    if (cluster_open(&err) != 0 || cluster_load(&cluster, &err) != 0) {
        doctor_add(findings, "head", "controller", VERDICT_FAIL, err.text);
        cluster_clear(&cluster);
        return;
    }
    snprintf(found, sizeof found, "it answers: cluster %s, %zu node%s", cluster.name,
             cluster.node_count, text_plural(cluster.node_count));
    doctor_add(findings, "head", "controller", VERDICT_PASS, found);
    nodes = calloc(cluster.node_count + 1, sizeof(*nodes));
    if (nodes)
        count = nodes_choose(&cluster, list, nodes, &err);
    if (count < 0) {
        doctor_add(findings, "head", "answer", VERDICT_UNKNOWN, nodes ? err.text : "no memory");
    } else {
        slurmds_query(nodes, (size_t)count, findings);
        nodes_query(&cluster, (const struct cluster_node *const *)nodes, (size_t)count, findings);
    }
    free(nodes);
    cluster_clear(&cluster);
}
