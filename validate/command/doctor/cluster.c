/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/doctor/doctor.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/name_index.h"
#include "lib/base/record.h"
#include "lib/base/text.h"
#include "lib/constants/command_constants.h"
#include "validate/policy/plan.h"
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

/* Nodes that a job of one partition asks, and of each why it did not answer. */
struct query {
    const struct cluster *cluster;
    struct findings *findings;
    char *const *program;
    struct name_index places; /* in whys, by name */
    char (*whys)[200];
    const char *partition;
    const struct hostlist *names;
};

/* Among the findings from first to before last. */
static bool has_answered(const struct findings *findings, size_t first, size_t last,
                         const char *node)
{
    for (size_t i = first; i < last; i++)
        if (strcmp(findings->items[i].host, node) == 0)
            return true;
    return false;
}

static void why_set(struct query *query, const char *node, const char *why)
{
    long place = name_index_find(&query->places, node);

    if (place >= 0)
        text_put(query->whys[place], sizeof *query->whys, "%s", why);
}

static size_t group_query(size_t first, size_t count, bool is_last, void *context)
{
    struct query *query = context;
    size_t known = query->findings->count;
    struct process_result result = {0};
    struct node_lines lines = {0};
    struct hostlist names = {0};
    struct error err = {"no memory"};
    bool is_any;
    int rv = hostlist_append_all(&names, (const char *const *)query->names->names + first, count);

    if (rv == 0)
        rv = node_lines_begin(query->cluster, &names, take_line, query->findings, &lines);
    if (rv == 0)
        rv = step_run_on(&names, query->partition, STEP_WAIT_S, query->program,
                         &(struct process){.deadline_s = STEP_DEADLINE_S,
                                           .grace_s = STEP_GRACE_S,
                                           .on_line = node_lines_read,
                                           .context = &lines},
                         &result, &err);
    is_any = query->findings->count > known;
    for (size_t i = 0; (is_any || is_last) && i < names.count; i++)
        if (!has_answered(query->findings, known, query->findings->count, names.names[i]))
            why_set(query, names.names[i],
                    rv != 0                 ? err.text
                    : *lines.complaint.text ? lines.complaint.text
                                            : "no answer in time");
    node_lines_end(&lines);
    hostlist_clear(&names);
    return is_any ? 0 : count;
}

static void partition_query(const struct cluster_partition *partition, const struct hostlist *names,
                            void *context)
{
    struct query *query = context;

    query->partition = partition ? partition->name : NULL;
    query->names = names;
    if (partition)
        step_by_halves(names->count, group_query, query);
    for (size_t i = 0; !partition && i < names->count; i++)
        why_set(query, names->names[i], "it is in no partition that is up");
}

/* Has those that run jobs say what they find. */
static void nodes_query(const struct cluster *cluster, const struct cluster_node *const *nodes,
                        size_t count, struct findings *findings)
{
    struct hostlist names = {0};
    struct arguments program = {0};
    struct query query = {.cluster = cluster, .findings = findings};
    size_t before = findings->count, told;
    int rv = 0;

    for (size_t i = 0; rv == 0 && i < count; i++)
        if (!nodes[i]->is_down && !nodes[i]->is_drained && !nodes[i]->is_absent &&
            !nodes[i]->is_full && has_slurmd(findings, nodes[i]->name))
            rv = hostlist_append(&names, nodes[i]->name);
    step_muster(&program, "doctor", "--here", "--json", NULL);
    query.program = program.argv;
    query.whys = calloc(names.count + 1, sizeof *query.whys);
    if (rv == 0 && query.whys && hostlist_index(&names, &query.places) == 0)
        rv = plan_elsewhere(cluster, &names, partition_query, &query);
    else
        rv = -1;
    told = findings->count;
    for (size_t i = 0; i < count; i++) {
        long place = rv == 0 ? name_index_find(&query.places, nodes[i]->name) : -1;
        bool is_told = has_answered(findings, before, told, nodes[i]->name);
        char found[DOCTOR_FOUND];

        snprintf(found, sizeof found, "node is %.30s, not queried", nodes[i]->state);
        if (rv != 0)
            snprintf(found, sizeof found, "no memory");
        if (place >= 0)
            snprintf(found, sizeof found, "a job on it reported nothing: %s", query.whys[place]);
        if (is_told)
            snprintf(found, sizeof found, "a job ran and reported its findings");
        doctor_add(findings, nodes[i]->name, "answer", is_told ? VERDICT_PASS : VERDICT_UNKNOWN,
                   found);
    }
    name_index_clear(&query.places);
    free(query.whys);
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
    struct hostlist names = {0}, all = {0}; /* all: where no partition is the default one */
    int count = 0, rv = 0;

    for (size_t i = 0; !list && i < cluster->partition_count; i++)
        for (size_t k = 0;
             cluster->partitions[i].is_default && rv == 0 && k < cluster->partitions[i].nodes.count;
             k++)
            rv = hostlist_append(&names, cluster->partitions[i].nodes.names[k]);
    for (size_t i = 0; !list && rv == 0 && names.count == 0 && i < cluster->node_count; i++)
        if (hostlist_append(&all, cluster->nodes[i].name) != 0)
            rv = error_set(err, "no memory");
    if (all.count > 0)
        names = all;
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
