/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/doctor/doctor.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/name_index.h"
#include "lib/base/record.h"
#include "lib/base/text.h"
#include "lib/constants/command_constants.h"
#include "validate/command/node_query.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/extra.h"
#include "validate/slurm/step/reach.h"
#include "validate/slurm/step/step.h"

/* Indexes the findings from `first` on by host. Returns 0, or -1 if memory is out. */
static int hosts_index(const struct findings *findings, size_t first, struct name_index *index)
{
    size_t count = findings->count - first;
    const char **hosts = malloc((count + 1) * sizeof *hosts);
    int rv = -1;

    for (size_t i = 0; hosts && i < count; i++)
        hosts[i] = findings->items[first + i].host;
    if (hosts)
        rv = name_index_build(hosts, count, index);
    free(hosts);
    return rv;
}

/* Returns the node's first finding from `first` on, or NULL. */
static const struct finding *finding_of(const struct findings *findings, size_t first,
                                        const struct name_index *index, const char *node)
{
    long at = name_index_find(index, node);

    return at < 0 ? NULL : &findings->items[first + (size_t)at];
}

static bool take_line(const char *node, const char *line, void *context)
{
    return doctor_take(context, node, line, record_now_s()) == 0;
}

static void take_silence(const char *node, const char *why, void *context)
{
    doctor_add(
        context, node, "answer", VERDICT_UNKNOWN,
        text_line("a job on it reported nothing: %s", *why ? why : "no answer in time").text);
}

/* Queries the nodes that can run jobs for their findings. A slurmd that does not answer, by the
 * findings from `slurmds` on, would keep the whole job from starting. */
static void nodes_query(const struct cluster *cluster, const struct cluster_node *const *nodes,
                        size_t count, size_t slurmds, struct findings *findings)
{
    struct hostlist names = {0};
    struct arguments program = {0};
    struct name_index index = {0};
    size_t before = findings->count;
    int rv = hosts_index(findings, slurmds, &index);

    step_add_muster(&program, "doctor", "--here", "--json", NULL);
    for (size_t i = 0; rv == 0 && i < count; i++) {
        const struct finding *slurmd = finding_of(findings, slurmds, &index, nodes[i]->name);

        if (!nodes[i]->is_down && !nodes[i]->is_drained && !nodes[i]->is_absent &&
            !nodes[i]->is_full && slurmd && slurmd->verdict == VERDICT_PASS)
            rv = hostlist_append(&names, nodes[i]->name);
    }
    if (rv == 0)
        rv = node_query_run(&(struct node_query){.cluster = cluster,
                                                 .program = program.argv,
                                                 .deadline_s = STEP_DEADLINE_S,
                                                 .take = take_line,
                                                 .on_silence = take_silence,
                                                 .context = findings},
                            &names);
    name_index_clear(&index);
    if (hosts_index(findings, before, &index) != 0)
        rv = -1;
    for (size_t i = 0; i < count; i++) {
        const struct finding *answer = finding_of(findings, before, &index, nodes[i]->name);
        char found[DOCTOR_FOUND] = "a job ran and reported its findings";

        if (answer && strcmp(answer->name, "answer") == 0)
            continue; /* the node was silent */
        if (!answer && rv != 0)
            snprintf(found, sizeof found, "no memory");
        else if (!answer)
            snprintf(found, sizeof found, "node is %.30s, not queried", nodes[i]->state);
        doctor_add(findings, nodes[i]->name, "answer", answer ? VERDICT_PASS : VERDICT_UNKNOWN,
                   found);
    }
    name_index_clear(&index);
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

static void extras_read(struct cluster_node *const *nodes, size_t count, struct findings *findings)
{
    for (size_t i = 0; i < count; i++) {
        struct error err;
        char *text = extra_set_level(nodes[i]->extra, 0, 0, &err);

        if (!text)
            doctor_add(findings, nodes[i]->name, "extra", VERDICT_WARN,
                       "Extra is not a JSON object: its faults and certificate are not published, "
                       "and its gate gets no permission to refuse jobs");
        free(text);
    }
}

static int nodes_choose(const struct cluster *cluster, const char *list,
                        struct cluster_node **nodes, struct error *err)
{
    struct hostlist names = {0};
    int count = 0, rv = list ? hostlist_expand_once(list, &names, err) : 0;

    for (size_t i = 0; !list && i < cluster->partition_count; i++)
        if (cluster->partitions[i].is_default)
            rv |= hostlist_unite(&names, &cluster->partitions[i].nodes);
    if (!list && names.count == 0) /* there is no default partition */
        for (size_t i = 0; i < cluster->node_count; i++)
            rv |= hostlist_append(&names, cluster->nodes[i].name);
    if (!list && rv != 0)
        error_set(err, "no memory");
    if (rv == 0 && list && cluster_unknown_node(cluster, &names, err))
        rv = -1;
    for (size_t i = 0; rv == 0 && i < names.count && (size_t)count < cluster->node_count; i++) {
        nodes[count] = cluster_node(cluster, names.names[i]);
        count += nodes[count] != NULL; /* Slurm may not list all nodes of a partition */
    }
    hostlist_clear(&names);
    return rv == 0 ? count : -1;
}

int doctor_cluster(const char *list, struct findings *findings, struct error *err)
{
    struct cluster cluster = {0};
    struct cluster_node **nodes = NULL;
    char found[DOCTOR_FOUND];
    int count = -1;

    step_clean_environment();
    if (cluster_open(err) != 0 || cluster_load(&cluster, err) != 0) {
        doctor_add(findings, "head", "controller", VERDICT_FAIL, err->text);
        cluster_clear(&cluster);
        return 0;
    }
    snprintf(found, sizeof found, "it answers: cluster %s, %zu node%s", cluster.name,
             cluster.node_count, text_plural(cluster.node_count));
    doctor_add(findings, "head", "controller", VERDICT_PASS, found);
    nodes = calloc(cluster.node_count + 1, sizeof(*nodes));
    if (nodes)
        count = nodes_choose(&cluster, list, nodes, err);
    else
        error_set(err, "no memory");
    if (count >= 0) {
        size_t slurmds = findings->count;

        slurmds_query(nodes, (size_t)count, findings);
        extras_read(nodes, (size_t)count, findings);
        nodes_query(&cluster, (const struct cluster_node *const *)nodes, (size_t)count, slurmds,
                    findings);
    }
    free(nodes);
    cluster_clear(&cluster);
    return count < 0 ? -1 : 0;
}
