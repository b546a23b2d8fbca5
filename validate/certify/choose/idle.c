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

/* The scores' facts, in the order of the node runs. */
struct facts {
    struct name_index index;
    struct idle_node *nodes;
};

static void tests_take(const struct node_tests *tests, void *context)
{
    struct facts *facts = context;
    long place = name_index_find(&facts->index, tests->node);

    if (place < 0)
        return;
    facts->nodes[place].tested = tests->tested;
    facts->nodes[place].tried = tests->tried;
    facts->nodes[place].warnings = tests->warnings;
    facts->nodes[place].jobs = tests->jobs;
}

static int offenders_take(struct facts *facts, const struct certify *certify, double since,
                          struct error *err)
{
    struct offenders offenders;

    if (offenders_read(certify->conf.history_path, certify->cluster.name, since, &offenders, err) !=
        0)
        return -1;
    for (size_t i = 0; i < offenders.count; i++) {
        long place = name_index_find(&facts->index, offenders.items[i].node);

        if (place >= 0)
            facts->nodes[place].faults += offender_score(&offenders.items[i]);
    }
    offenders_clear(&offenders);
    return 0;
}

static void facts_clear(struct facts *facts)
{
    name_index_clear(&facts->index);
    free(facts->nodes);
}

static int facts_read(const struct certify *certify, struct facts *facts, struct error *err)
{
    double since = (double)time(NULL) - (double)IDLE_RISK_S;
    const char **names = calloc(certify->count + 1, sizeof *names);
    int rv = -1;

    *facts = (struct facts){.nodes = calloc(certify->count + 1, sizeof *facts->nodes)};
    for (size_t i = 0; names && i < certify->count; i++)
        names[i] = certify->node_runs[i].name;
    if (!names || !facts->nodes || name_index_build(names, certify->count, &facts->index) != 0)
        error_set(err, "out of memory for %zu nodes", certify->count);
    else if (node_status_tests(certify->conf.history_path, certify->cluster.name, since, tests_take,
                               facts, err) >= 0)
        rv = offenders_take(facts, certify, since, err);
    free(names);
    if (rv != 0)
        facts_clear(facts);
    return rv;
}

/* Of the nodes of the run those that are idle and no job waits for. Returns 0, or -1 with err. */
static int unwanted_find(struct certify *certify, struct hostlist *names, struct error *err)
{
    const struct pending_job *job;
    struct pending_job *jobs = NULL;
    bool is_slow;
    int rv = 0, count = certify_pending_jobs(certify, &jobs, &is_slow, err);

    for (size_t i = 0; i < certify->count && count >= 0; i++)
        if (certify->node_runs[i].plan.role == ROLE_TEST && certify->node_runs[i].slurm->is_idle)
            hostlist_append(names, certify->node_runs[i].name);
    while (rv == 0 && count > 0 &&
           (job = pending_for(jobs, count, &certify->cluster, &certify->cluster, names))) {
        certify_note(certify, "left alone: idle nodes of partition %s: job %u waits for nodes",
                     job->partitions, job->id);
        rv = pending_leave(job, &certify->cluster, names);
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
    size_t most =
        cap_nodes(cap_base(&certify->cluster), certify->conf.idle_cap_percent, IDLE_NODES_LEAST);
    struct hostlist names = {0}, chosen = {0}, others = {0};
    struct name_index is_free = {0};
    struct facts facts;
    int rv;

    if (facts_read(certify, &facts, err) != 0)
        return -1;
    rv = unwanted_find(certify, &names, err);
    if (rv == 0 && hostlist_index(&names, &is_free) != 0)
        rv = error_set(err, "out of memory for %zu nodes", names.count);
    for (size_t i = 0; rv == 0 && i < certify->count; i++)
        facts.nodes[i].is_free = name_index_has(&is_free, certify->node_runs[i].name);
    if (rv == 0)
        idle_choose(facts.nodes, certify->count, (double)time(NULL),
                    (double)certify->conf.certificate_valid_s, most);
    for (size_t i = 0; rv == 0 && i < certify->count; i++) {
        if (facts.nodes[i].is_chosen)
            chosen_note(certify, &facts.nodes[i], certify->node_runs[i].name);
        if (facts.nodes[i].is_free)
            hostlist_append(facts.nodes[i].is_chosen ? &chosen : &others,
                            certify->node_runs[i].name);
    }
    if (rv == 0)
        certify_keep(certify, NULL, &others, &chosen);
    name_index_clear(&is_free);
    hostlist_clear(&names);
    hostlist_clear(&chosen);
    hostlist_clear(&others);
    facts_clear(&facts);
    return rv;
}
