/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/node/self_drain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/constants/checks_constants.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"
#include "validate/health/spared.h"
#include "validate/health/unreviewed.h"
#include "validate/slurm/cluster.h"

/* A node that drains itself: what it asks of the controller, and what it makes of an answer that
 * does not come. */

enum { NODES = 40 };

static const char fault[] = "muster: link_down eth1 has no carrier 2026-11-20";
static char names[NODES][8], reasons[NODES][128];
static struct cluster_node nodes[NODES];
static char done[400];
static int loads, fails_at; /* of all nodes: so far, and which does not succeed */
static int singles;
static size_t peers = NODES; /* in the partition, the nodes again and again */
static bool lacks_topology;
static char extras[NODES][200];

static int note(const char *what, const char *name)
{
    size_t length = strlen(done);

    snprintf(done + length, sizeof done - length, "%s %s;", what, name);
    return 0;
}

static int nodes_take(struct cluster *cluster, size_t first, size_t count, struct error *err)
{
    *cluster = (struct cluster){.nodes = nodes + first, .node_count = count};
    return cluster_index(cluster, err);
}

int cluster_open(struct error *err)
{
    (void)err;
    return 0;
}

int cluster_load_node(const char *name, struct cluster *cluster, struct error *err)
{
    singles++;
    for (size_t i = 0; i < NODES; i++)
        if (strcmp(names[i], name) == 0)
            return nodes_take(cluster, i, 1, err);
    return nodes_take(cluster, 0, 0, err);
}

int cluster_load(struct cluster *cluster, struct error *err)
{
    if (++loads == fails_at)
        return error_set(err, "no answer");
    if (nodes_take(cluster, 0, NODES, err) != 0)
        return -1;
    if (lacks_topology)
        error_set(&cluster->topology_err, "cannot start scontrol: No such file or directory");
    return 0;
}

int cluster_load_partitions(struct cluster *cluster, struct error *err)
{
    static struct cluster_partition partition;

    (void)err;
    partition = (struct cluster_partition){0};
    for (size_t i = 0; i < peers; i++)
        hostlist_append(&partition.nodes, names[i % NODES]);
    *cluster = (struct cluster){.partitions = &partition, .partition_count = 1};
    return 0;
}

int cluster_set_extra(const char *name, const char *extra, struct error *err)
{
    (void)err;
    for (size_t i = 0; i < NODES; i++)
        if (strcmp(names[i], name) == 0)
            snprintf(extras[i], sizeof extras[i], "%s", extra);
    return 0;
}

void cluster_clear(struct cluster *cluster)
{
    for (size_t i = 0; i < cluster->partition_count; i++)
        hostlist_clear(&cluster->partitions[i].nodes);
    free(cluster->by_name);
    *cluster = (struct cluster){0};
}

static void put(size_t i, const char *reason, time_t when)
{
    snprintf(reasons[i], sizeof reasons[i], "%s", reason);
    nodes[i].is_drained = *reason;
    nodes[i].is_idle = !*reason;
    nodes[i].reason_time = when;
}

int cluster_drain(const char *name, const char *reason, struct error *err)
{
    (void)err;
    put(0, reason, time(NULL));
    return note("drain", name);
}

int cluster_resume(const char *name, struct error *err)
{
    (void)err;
    put(0, "", 0);
    return note("resume", name);
}

unsigned int __wrap_sleep(unsigned int seconds);
unsigned int __wrap_sleep(unsigned int seconds)
{
    (void)seconds;
    return 0;
}

ssize_t __wrap_getrandom(void *bytes, size_t size, unsigned int flags);
ssize_t __wrap_getrandom(void *bytes, size_t size, unsigned int flags)
{
    (void)flags;
    memset(bytes, 7, size);
    return (ssize_t)size;
}

static void begin(int fails)
{
    done[0] = '\0';
    loads = singles = 0;
    fails_at = fails;
}

static bool check(const char *path, const char *reason, char text[400])
{
    static struct conf conf = {.drain_cap_percent = 5}; /* 2 nodes */

    return self_drain("n1", reason, time(NULL), &conf, path, text, 400);
}

static void note_put(size_t i, const char *note)
{
    snprintf(extras[i], sizeof extras[i], "{\"muster_fault\":\"%lld %s\"}", (long long)time(NULL),
             note);
}

/* As the first of two checks leaves it. */
static void spared_write_first(const char *path)
{
    struct spared spared = {.when = time(NULL)};
    char spared_path[520];

    snprintf(spared_path, sizeof spared_path, "%s.spared", path);
    snprintf(spared.reason, sizeof spared.reason, "%s", fault);
    spared_write(spared_path, &spared);
}

/* In a partition of thousands a node publishes its fault, and reads a few others before all. */
static void many(const char *path)
{
    char text[400];

    peers = 2000;
    for (size_t i = 0; i < NODES; i++) {
        put(i, "", 0);
        extras[i][0] = '\0';
    }
    begin(0);
    check(path, "", text);
    is_int(singles, 1, "a fault that has gone is withdrawn");
    begin(0);
    check(path, "", text);
    is_int(singles, 0, "... once");

    begin(0);
    ok(check(path, fault, text), "a node that is alone with its fault drains itself");
    is_int(loads, 2, "... after a look at all others");
    ok(singles > HEALTH_SAMPLE_NODES / 2, "... and before it at some of them");
    has_str(extras[0], fault, "... and has published it");
    put(0, "", 0);
    begin(0);
    check(path, "", text);
    is_str(extras[0], "", "what it published goes with the fault");

    for (size_t i = 1; i < NODES; i++)
        note_put(i, fault);
    begin(0);
    ok(!check(path, fault, text), "where others have published it the node waits for one check");
    is_int(loads, 0, "... without a look at all");
    has_str(text, "not drained yet: other nodes have the same fault", "... and says so");
    begin(0);
    ok(!check(path, fault, text), "... and is not drained at the next one");
    is_int(loads, 0, "... which needs none either");
    has_str(text, "not drained: many nodes have the same fault", "... and says why");
    begin(0);
    check(path, fault, text);
    is_int(singles, 1, "... nor does it look at others again at once");
    check(path, "", text);

    note_put(2, "muster: link_down eth2 has no carrier 2026-11-20");
    for (size_t i = 1; i < NODES; i++)
        if (i != 2)
            extras[i][0] = '\0';
    begin(0);
    ok(check(path, fault, text), "another fault of others is none of them");
    put(0, "", 0);
    check(path, "", text);

    /* below the share of a common fault the rule for all decides, at the second check */
    extras[2][0] = '\0';
    note_put(1, fault);
    spared_write_first(path);
    begin(0);
    ok(check(path, fault, text), "one of 40 others is no common fault");
    is_int(loads, 2, "... as all of them say");
    put(0, "", 0);
    check(path, "", text);
    for (size_t i = 1; i < NODES; i++)
        extras[i][0] = '\0';
    peers = NODES;
}

int main(void)
{
    char *root = tree_unpack(""), path[512], spared[520], text[400];

    snprintf(path, sizeof path, "%s/state/unreviewed", root);
    for (int i = 0; i < NODES; i++) {
        snprintf(names[i], sizeof names[i], "n%d", i + 1);
        nodes[i] = (struct cluster_node){
            .name = names[i], .reason = reasons[i], .extra = extras[i], .leaf = -1};
        put((size_t)i, "", 0);
    }

    /* all of a leaf switch that fails would drain themselves: who shares it must be known */
    lacks_topology = true;
    begin(0);
    ok(!check(path, fault, text), "without the topology no node drains itself");
    is_str(done, "", "... nor is anything asked for");
    is_str(text,
           "not drained: the nodes of its leaf switch are unknown: cannot start scontrol: No such "
           "file or directory",
           "... and it is said why");
    lacks_topology = false;

    begin(0);
    ok(check(path, fault, text), "a node with a fault drains itself");
    is_str(done, "drain n1;", "... once");
    has_str(text, "drained: muster: link_down eth1", "... and says so");
    is_int(loads, 2, "... after a look at the others, and before another");
    begin(0);
    ok(check(path, fault, text), "at the next check it is drained");
    is_int(loads, 0, "... which its own state says");
    is_str(text, "", "... and nothing is said");

    put(0, "muster: rail_slow eth2 9 of 98 Mb/s 2026-11-19", 100);
    begin(0);
    ok(!check(path, fault, text), "one that is drained for something else is not drained for it");
    is_str(done, "", "... nor again");

    put(0, "replace PSU", 100);
    begin(0);
    ok(!check(path, fault, text), "a drain of others is theirs");
    is_int(loads, 0, "... which its own state says too");

    /* all drain at once, and the controller does not say so */
    put(0, "", 0);
    begin(2);
    ok(check(path, fault, text), "a drain that cannot be reviewed stays");
    for (size_t i = 1; i < 4; i++)
        put(i, fault, time(NULL) - 1);
    begin(1);
    ok(check(path, fault, text), "... at the next check too");
    is_str(done, "", "... while the controller is silent");
    begin(0);
    ok(!check(path, "", text), "once it answers the drain is reviewed, as one too many");
    is_str(done, "resume n1;", "... and taken back");
    has_str(text, "not drained: muster has drained 2 nodes", "... which is said");
    begin(0);
    ok(!check(path, "", text) && loads == 0, "then there is nothing to review");

    /* each of those that are not drained would look at all others at each of its checks */
    begin(0);
    ok(!check(path, fault, text) && loads == 1, "one too many is not drained");
    is_str(done, "", "... as the others say");
    begin(0);
    ok(!check(path, fault, text), "... nor at the next check");
    is_int(loads, 0, "... which does not look at them again at once");
    has_str(text, "not drained: muster has drained 2 nodes", "... and says the same");
    begin(0);
    check(path, "muster: gpu_missing gpu3 has gone 2026-11-20", text);
    is_int(loads, 1, "... but for another fault");
    snprintf(spared, sizeof spared, "%s.spared", path);
    spared_write(spared, &(struct spared){.when = time(NULL) - NODES / HEALTH_LOOKS_PER_S,
                                          .wait_s = NODES / HEALTH_LOOKS_PER_S,
                                          .reason = "muster: link_down eth1 has no carrier "
                                                    "2026-11-20",
                                          .text = "not drained"});
    begin(0);
    check(path, fault, text);
    is_int(loads, 1, "... and later, the later the more nodes there are");

    /* somebody else's drain for the same is not reviewed */
    put(0, fault, time(NULL) + 4000);
    unreviewed_write(path, &(struct unreviewed){.drained = time(NULL),
                                                .since = time(NULL),
                                                .reason = "muster: link_down eth1 has no carrier "
                                                          "2026-11-20"});
    begin(0);
    ok(check(path, fault, text) && loads == 0, "a later drain is not the one to be reviewed");
    is_str(done, "", "... and stays");

    many(path);
    tree_remove(root);
    return tap_done();
}
