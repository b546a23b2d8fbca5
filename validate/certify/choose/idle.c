/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/choose/idle.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/constants/policy_constants.h"
#include "validate/certify/choose/suspects.h"
#include "validate/certify/report/run_records.h"
#include "validate/certify/step/give_back.h"
#include "validate/history/node_status.h"
#include "validate/history/offenders.h"

/* The facts from which scores are computed. */
struct facts {
    const struct cluster *cluster;
    struct idle_node *nodes; /* of each node of the cluster */
};

/* Returns the node's facts; NULL if the cluster no longer has the node. */
static struct idle_node *facts_of(const struct facts *facts, const char *name)
{
    const struct cluster_node *node = cluster_node(facts->cluster, name);

    return node ? &facts->nodes[node - facts->cluster->nodes] : NULL;
}

static void tests_set(const struct node_tests *tests, void *context)
{
    struct idle_node *node = facts_of(context, tests->node);

    if (!node)
        return;
    node->tested = tests->tested;
    node->tried = tests->tried;
    node->warnings = tests->warnings;
    node->jobs = tests->jobs;
}

static int offenders_add(const struct facts *facts, const struct certify *certify, double since,
                         struct error *err)
{
    struct offenders offenders;

    if (offenders_read(certify->conf.history_path, certify->cluster.name, since, &offenders, err) !=
        0)
        return -1;
    for (size_t i = 0; i < offenders.count; i++) {
        struct idle_node *node = facts_of(facts, offenders.items[i].node);

        if (node)
            node->faults += offender_score(&offenders.items[i]);
    }
    offenders_clear(&offenders);
    return 0;
}

static int facts_read(const struct certify *certify, struct facts *facts, struct error *err)
{
    double since = (double)time(NULL) - (double)IDLE_RISK_S;

    if (!facts->nodes)
        return error_set(err, "out of memory for %zu nodes", facts->cluster->node_count);
    if (node_status_tests(certify->conf.history_path, certify->cluster.name, since, tests_set,
                          facts, err) < 0)
        return -1;
    return offenders_add(facts, certify, since, err);
}

/* Finds the nodes of the run that are idle and that no job waits for. Returns 0, or -1 with err. */
static int unwanted_find(struct certify *certify, struct hostlist *names, struct error *err)
{
    const struct pending_job *job;
    struct pending_job *jobs = NULL;
    bool is_slow;
    int rv = 0, count = certify_pending_jobs(certify, &jobs, &is_slow, err);

    for (size_t i = 0; i < certify->count && count >= 0; i++)
        if (certify->node_runs[i].plan.role == ROLE_TEST && certify->node_runs[i].slurm->is_idle)
            hostlist_append(names, certify->node_runs[i].name);
    while (
        rv == 0 && count > 0 &&
        (job = pending_job_for_nodes(jobs, count, &certify->cluster, &certify->cluster, names))) {
        certify_note(certify, "left alone: idle nodes of partition %s: job %u waits for nodes",
                     job->partitions, job->id);
        rv = pending_nodes_remove(job, &certify->cluster, names);
    }
    pending_jobs_free(jobs, count);
    if (rv == 0 && count >= 0 && names->count == 1) /* links needs two */
        hostlist_clear(names);
    return rv != 0     ? error_set(err, "out of memory for %zu nodes", certify->count)
           : count < 0 ? -1
                       : 0;
}

static void chosen_note(struct certify *certify, const struct idle_node *node, const char *name)
{
    char tested[64] = "never tested";

    if (node->tested > 0)
        snprintf(tested, sizeof tested, "tested %.1f days ago",
                 ((double)time(NULL) - node->tested) / 86400);
    certify_note(certify,
                 "%s: score %.2f: %s, %u faults and repairs, %u warnings, %u jobs with errors",
                 name, node->score, tested, node->faults, node->warnings, node->jobs);
}

int certify_idle(struct certify *certify, struct error *err)
{
    const struct cluster *cluster = &certify->cluster;
    size_t most = cap_nodes(cluster, certify->conf.idle_cap_percent, IDLE_NODES_LEAST);
    struct hostlist names = {0}, chosen = {0}, others = {0};
    struct facts facts = {cluster, calloc(cluster->node_count + 1, sizeof *facts.nodes)};
    int rv = facts_read(certify, &facts, err);

    if (rv == 0)
        rv = unwanted_find(certify, &names, err);
    for (size_t i = 0; i < names.count; i++)
        facts_of(&facts, names.names[i])->is_free = true;
    if (rv == 0)
        idle_choose(facts.nodes, cluster->node_count, (double)time(NULL),
                    (double)certify->conf.certificate_valid_s, most);
    for (size_t i = 0; rv == 0 && i < names.count; i++) {
        const struct idle_node *node = facts_of(&facts, names.names[i]);

        if (node->is_chosen)
            chosen_note(certify, node, names.names[i]);
        hostlist_append(node->is_chosen ? &chosen : &others, names.names[i]);
    }
    if (rv == 0)
        certify_restrict_to(certify, NULL, &others, &chosen);
    hostlist_clear(&names);
    hostlist_clear(&chosen);
    hostlist_clear(&others);
    free(facts.nodes);
    return rv;
}
