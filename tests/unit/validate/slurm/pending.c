/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/job/pending.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/tap.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/release.h"

/* Whether a pending job waits for given nodes. The cluster has n1 to n6 in partition a, of which
 * n5 and n6 are also in partition b. The nodes asked about are n1 and n2. */

enum { NODES = 6 };

static char text[64];
static char names[NODES][4], h100[] = "h100,rack1", plain[] = "rack1", a[] = "a", b[] = "b";
static struct cluster_node nodes[NODES], *by_name[NODES];
static struct cluster_partition partitions[2];
static struct cluster cluster = {.nodes = nodes,
                                 .node_count = NODES,
                                 .by_name = by_name,
                                 .partitions = partitions,
                                 .partition_count = 2};
static struct hostlist wanted_nodes;

/* All nodes are full. */
static void cluster_make(void)
{
    for (int i = 0; i < NODES; i++) {
        snprintf(names[i], sizeof names[i], "n%d", i + 1);
        nodes[i] = (struct cluster_node){.name = names[i],
                                         .features = i == 0 ? h100 : plain,
                                         .is_responding = true,
                                         .is_allocated = true,
                                         .is_full = true};
        by_name[i] = &nodes[i];
    }
    partitions[0] = (struct cluster_partition){.name = a, .is_up = true};
    partitions[1] = (struct cluster_partition){.name = b, .is_up = true};
    hostlist_expand("n[1-6]", &partitions[0].nodes, NULL);
    hostlist_expand("n[5-6]", &partitions[1].nodes, NULL);
    hostlist_expand("n[1-2]", &wanted_nodes, NULL);
}

static void free_node(int node)
{
    nodes[node - 1].is_allocated = nodes[node - 1].is_full = false;
    nodes[node - 1].is_idle = true;
}

static void fill_node(int node)
{
    nodes[node - 1].is_idle = false;
    nodes[node - 1].is_allocated = nodes[node - 1].is_full = true;
}

static struct pending_job job_of(uint32_t count, bool is_refused)
{
    static char none[] = "";

    return (struct pending_job){.id = 7,
                                .nodes = count,
                                .is_refused = is_refused,
                                .partitions = a,
                                .required = none,
                                .excluded = none,
                                .features = none};
}

static bool waits_for_nodes(struct pending_job job)
{
    return pending_job_for_nodes(&job, 1, &cluster, &cluster, &wanted_nodes) != NULL;
}

static char *set_text(const char *list)
{
    snprintf(text, sizeof text, "%s", list);
    return text;
}

static void test_counts(void)
{
    ok(waits_for_nodes(job_of(1, true)) && waits_for_nodes(job_of(2, true)),
       "a job waits for nodes that would suffice");
    ok(!waits_for_nodes(job_of(3, true)), "... not if they are too few");
    ok(waits_for_nodes(job_of(2, false)),
       "a job that was not refused yet, or waits behind others, waits, too");
    free_node(3);
    ok(waits_for_nodes(job_of(3, true)), "with another free node they would suffice");
    ok(waits_for_nodes(job_of(1, true)),
       "a job that the scheduler refused does not fit the free node");
    ok(!waits_for_nodes(job_of(1, false)), "... one that was not refused starts there");
    ok(waits_for_nodes(job_of(2, false)), "... unless it needs more nodes");
    nodes[2].is_drained = true;
    ok(!waits_for_nodes(job_of(3, true)) && waits_for_nodes(job_of(1, false)),
       "a drained node does not count as free");
    nodes[2].is_drained = false;
    fill_node(3);
    nodes[2].is_full = false; /* partly allocated */
    ok(waits_for_nodes(job_of(3, true)), "a part of another node may suffice");
    ok(waits_for_nodes(job_of(1, false)), "... or may not");
    nodes[2].is_full = true;
}

static void test_lists(void)
{
    struct pending_job job = job_of(1, true);

    job.partitions = b;
    ok(!waits_for_nodes(job), "a job of another partition does not wait for them");
    job.partitions = set_text("b,a");
    ok(waits_for_nodes(job), "a job with several partitions does");
    job.partitions = set_text("aa,ab");
    ok(!waits_for_nodes(job), "a partition's name is a whole word");
    job = job_of(1, true);
    job.excluded = set_text("n1");
    ok(waits_for_nodes(job), "a job that excludes one node waits for the other");
    job.excluded = set_text("n[1-2]");
    ok(!waits_for_nodes(job), "... that excludes both does not wait");
    job = job_of(1, true);
    job.required = set_text("n4");
    ok(!waits_for_nodes(job), "a job that requires another node does not wait for them");
    job.required = set_text("n2");
    ok(waits_for_nodes(job), "... a job that requires one of them does");
    job = job_of(1, true);
    job.features = set_text("h100");
    ok(waits_for_nodes(job), "one of the nodes has the feature");
    job.features = set_text("h200");
    ok(!waits_for_nodes(job), "none has the feature");
    job.features = set_text("h10");
    ok(!waits_for_nodes(job), "a feature's name is a whole word");
    job.features = set_text("h100&rack9");
    ok(waits_for_nodes(job), "several features are left to Slurm: it may wait");
    job.required = set_text("n[");
    ok(waits_for_nodes(job), "... and so is a list that cannot be parsed");
    partitions[0].is_up = false;
    ok(!waits_for_nodes(job_of(1, true)), "in a partition that is down no job starts");
    partitions[0].is_up = true;
}

static void test_removal(void)
{
    struct hostlist list;
    struct pending_job job = job_of(1, true);
    char *folded;

    ok(pending_job_for_nodes(&job, 0, &cluster, &cluster, &wanted_nodes) == NULL,
       "without jobs no job waits");
    hostlist_expand("n[4-6]", &list, NULL);
    job.partitions = b;
    is_int(pending_nodes_remove(&job, &cluster, &list), 0,
           "nodes that a job waits for are removed");
    folded = hostlist_fold(&list);
    is_str(folded, "n4", "... those of its partition");
    ok(pending_job_for_nodes(&job, 1, &cluster, &cluster, &list) == NULL,
       "... after which it does not wait for the rest");
    free(folded);
    hostlist_clear(&list);
}

static void test_reasons(void)
{
    static const struct {
        const char *name;
        uint32_t state, reason;
        bool is_one, is_refused;
    } cases[] = {
        {"a job that the scheduler has not considered", JOB_PENDING, WAIT_NO_REASON, true, false},
        {"Priority", JOB_PENDING, WAIT_PRIORITY, true, false},
        {"Resources", JOB_PENDING, WAIT_RESOURCES, true, true},
        {"ReqNodeNotAvail, as for a reserved node", JOB_PENDING, WAIT_NODE_NOT_AVAIL, true, true},
        {"a running job", JOB_RUNNING, WAIT_NO_REASON, false, false},
        {"a requeued job that is still completing", JOB_PENDING | JOB_COMPLETING, WAIT_RESOURCES,
         false, true},
        {"Dependency", JOB_PENDING, WAIT_DEPENDENCY, false, false},
        {"BeginTime", JOB_PENDING, WAIT_TIME, false, false},
        {"JobHeldUser", JOB_PENDING, WAIT_HELD_USER, false, false},
        {"a limit", JOB_PENDING, WAIT_QOS_MAX_JOB_PER_USER, false, false},
        {"Reservation", JOB_PENDING, WAIT_RESERVATION, false, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool is_refused;
        bool is_one = pending_needs_nodes(cases[i].state, cases[i].reason, &is_refused);

        ok(is_one == cases[i].is_one && is_refused == cases[i].is_refused, "%s: %s", cases[i].name,
           is_one ? "it waits for nodes" : "it does not wait for nodes");
    }
}

int main(void)
{
    test_reasons();
    cluster_make();
    test_counts();
    test_lists();
    test_removal();
    hostlist_clear(&partitions[0].nodes);
    hostlist_clear(&partitions[1].nodes);
    hostlist_clear(&wanted_nodes);
    return tap_done();
}
