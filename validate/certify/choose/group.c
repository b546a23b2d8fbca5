/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/certify/choose/group.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/name_index.h"
#include "lib/constants/certify_constants.h"
#include "validate/policy/plan.h"

enum availability { AVAILABILITY_READY, AVAILABILITY_BUSY, AVAILABILITY_AWAY };

/* Returns whether a node that is left in the campaign can be tested now, later or not. */
static enum availability availability_of(const struct cluster_node *node, enum plan_role role)
{
    if (role != ROLE_SKIP)
        return AVAILABILITY_READY;
    return node->is_absent || node->is_down || node->is_drained || node->is_invalid ||
                   strlen(node->name) > CLUSTER_NODE_NAME_MOST
               ? AVAILABILITY_AWAY
               : AVAILABILITY_BUSY;
}

/* A node of the cluster: its role, and whether the campaign still has to test it or has certified
 * it. */
struct role {
    enum plan_role role;
    bool is_left, is_certified;
    bool has_partition;   /* one that a run may use */
    bool is_of_partition; /* in the group's partition */
    bool is_waiting;      /* for one more free node: links needs two */
};

struct role_table {
    struct role *nodes;
    const char **ready; /* names */
};

static int role_table_make(const struct cluster *cluster, const struct campaign *campaign,
                           struct role_table *table)
{
    struct name_index index;

    table->nodes = calloc(cluster->node_count + 1, sizeof *table->nodes);
    table->ready = calloc(cluster->node_count + 1, sizeof *table->ready);
    if (!table->nodes || !table->ready || hostlist_index(&campaign->nodes, &index) != 0)
        return -1;
    for (size_t i = 0; i < cluster->node_count; i++) {
        long place = name_index_find(&index, cluster->nodes[i].name);
        struct plan plan;

        plan_node(&cluster->nodes[i], false, false, &plan);
        table->nodes[i] = (struct role){
            .role = plan.role,
            .is_left = place >= 0 && campaign->states[place] == CAMPAIGN_LEFT,
            .is_certified = place >= 0 && campaign->states[place] == CAMPAIGN_CERTIFIED};
    }
    name_index_clear(&index);
    return 0;
}

/* Sets is_of_partition of all nodes, for that partition. */
static int partition_mark(const struct cluster *cluster, const struct cluster_partition *partition,
                          struct role_table *table)
{
    struct name_index members;

    if (hostlist_index(&partition->nodes, &members) != 0)
        return -1;
    for (size_t i = 0; i < cluster->node_count; i++)
        table->nodes[i].is_of_partition = name_index_has(&members, cluster->nodes[i].name);
    name_index_clear(&members);
    return 0;
}

/* Returns whether a run may use the partition. */
static bool is_usable(const struct cluster_partition *partition, const char *wanted)
{
    return wanted ? strcmp(partition->name, wanted) == 0
                  : partition->is_up && !partition->is_closed;
}

/* Marks the nodes of the partitions that a run may use. */
static int role_table_partition(const struct cluster *cluster, const char *wanted,
                                struct role_table *table)
{
    for (size_t i = 0; i < cluster->partition_count; i++) {
        if (!is_usable(&cluster->partitions[i], wanted))
            continue;
        if (partition_mark(cluster, &cluster->partitions[i], table) != 0)
            return -1;
        for (size_t k = 0; k < cluster->node_count; k++)
            table->nodes[k].has_partition |= table->nodes[k].is_of_partition;
    }
    return 0;
}

static enum availability availability_in(const struct cluster *cluster,
                                         const struct role_table *table, size_t node)
{
    const struct role *role = &table->nodes[node];
    enum availability availability = availability_of(&cluster->nodes[node], role->role);

    return !role->has_partition                                     ? AVAILABILITY_AWAY
           : availability == AVAILABILITY_READY && role->is_waiting ? AVAILABILITY_BUSY
                                                                    : availability;
}

/* Counts the nodes that are left, and finds the partition that has most of the ready ones. */
static void role_table_sort(const struct cluster *cluster, const char *wanted,
                            struct role_table *table, struct group *group)
{
    group->ready = group->busy = group->away = 0;
    for (size_t i = 0; i < cluster->node_count; i++) {
        if (!table->nodes[i].is_left)
            continue;
        switch (availability_in(cluster, table, i)) {
        case AVAILABILITY_READY:
            table->ready[group->ready++] = cluster->nodes[i].name;
            break;
        case AVAILABILITY_BUSY:
            group->busy++;
            break;
        case AVAILABILITY_AWAY:
            group->away++;
        }
    }
    group->partition = plan_partition(cluster, wanted, table->ready, group->ready);
    if (!group->partition) {
        group->away += group->ready;
        group->ready = 0;
    }
}

/* Adds as partners the nodes that the campaign has certified, as their results are known. If only
 * one node is to be tested and these are too few, adds any free node. */
static int partners_add(const struct cluster *cluster, const struct role_table *table,
                        const struct name_index *wanted, bool is_alone, struct hostlist *partners)
{
    for (int is_any = 0; is_any <= (is_alone && partners->count < CERTIFY_PARTNERS); is_any++)
        for (size_t i = 0; i < cluster->node_count; i++) {
            const struct cluster_node *node = &cluster->nodes[i];
            const struct role *role = &table->nodes[i];

            if (role->role == ROLE_TEST && role->is_of_partition && node->is_responding &&
                role->is_certified == !is_any && !name_index_has(wanted, node->name) &&
                hostlist_append(partners, node->name) != 0)
                return -1;
        }
    return 0;
}

/* Returns how many nodes a run may test in the partition: MaxNodes limits the nodes of its job,
 * which include partners. most: the campaign's limit; 0: none. */
static size_t most_in(const struct cluster_partition *partition, size_t most)
{
    size_t room = partition->max_nodes > CERTIFY_PARTNERS ? partition->max_nodes - CERTIFY_PARTNERS
                                                          : partition->max_nodes;

    return room > 0 && (most == 0 || most > room) ? room : most;
}

/* Fills the group with the ready nodes of its partition, and partners. *alone: the testable node if
 * it is the only one and has no partner; else -1. Returns 0, or -1 if memory is out. */
static int group_fill(const struct cluster *cluster, struct role_table *table, size_t most,
                      struct group *group, long *alone)
{
    struct name_index wanted = {0};
    size_t testable = 0;
    int rv = 0;

    hostlist_clear(&group->wanted);
    hostlist_clear(&group->partners);
    *alone = -1;
    if (!group->partition)
        return 0;
    most = most_in(group->partition, most);
    rv = partition_mark(cluster, group->partition, table);
    for (size_t i = 0; rv == 0 && i < cluster->node_count; i++) {
        if (!table->nodes[i].is_left || !table->nodes[i].is_of_partition ||
            availability_in(cluster, table, i) != AVAILABILITY_READY ||
            (most > 0 && group->wanted.count == most))
            continue;
        rv = hostlist_append(&group->wanted, cluster->nodes[i].name);
        if (!role_is_testable(table->nodes[i].role))
            continue;
        testable++;
        *alone = (long)i;
    }
    if (rv == 0 && testable > 0)
        rv = hostlist_index(&group->wanted, &wanted);
    if (rv == 0 && testable > 0)
        rv = partners_add(cluster, table, &wanted, testable == 1, &group->partners);
    name_index_clear(&wanted);
    if (testable != 1 || group->partners.count > 0)
        *alone = -1;
    return rv;
}

/* Returns whether another node of the group's partition will be free. */
static bool is_one_busy(const struct cluster *cluster, const struct role_table *table, long alone)
{
    for (size_t i = 0; i < cluster->node_count; i++)
        if (table->nodes[i].is_of_partition && i != (size_t)alone &&
            availability_of(&cluster->nodes[i], table->nodes[i].role) == AVAILABILITY_BUSY)
            return true;
    return false;
}

/* Handles a node that is alone in the group's partition: it may have a partner in another of its
 * partitions, or get one later, for which it waits. Returns 1 if the group must be chosen again, 0,
 * or -1 if memory is out. */
static int alone_place(const struct cluster *cluster, const char *wanted, size_t most, long alone,
                       struct role_table *table, struct group *group)
{
    const struct cluster_partition *first = group->partition;
    const char *name = cluster->nodes[alone].name;
    bool is_any_busy = is_one_busy(cluster, table, alone);
    long still = alone;

    for (size_t i = 0; i < cluster->partition_count && still >= 0; i++) {
        const struct cluster_partition *partition = &cluster->partitions[i];

        if (partition == first || !is_usable(partition, wanted) ||
            !hostlist_contains(&partition->nodes, name))
            continue;
        group->partition = partition;
        if (group_fill(cluster, table, most, group, &still) != 0)
            return -1;
        is_any_busy |= is_one_busy(cluster, table, alone);
    }
    if (still < 0)
        return 0;
    table->nodes[alone].is_waiting = is_any_busy;
    group->partition = first;
    return is_any_busy ? 1 : group_fill(cluster, table, most, group, &still);
}

int group_choose(const struct cluster *cluster, const struct campaign *campaign,
                 const char *partition, size_t most, struct group *group, struct error *err)
{
    struct role_table table;
    long alone;
    int rv;

    *group = (struct group){0};
    rv = role_table_make(cluster, campaign, &table);
    if (rv == 0)
        rv = role_table_partition(cluster, partition, &table);
    for (bool is_again = rv == 0; is_again; is_again = rv == 1) {
        role_table_sort(cluster, partition, &table, group);
        rv = group_fill(cluster, &table, most, group, &alone);
        if (rv == 0 && alone >= 0)
            rv = alone_place(cluster, partition, most, alone, &table, group);
    }
    free(table.nodes);
    free(table.ready);
    if (rv == 0)
        return 0;
    group_clear(group);
    return error_set(err, "out of memory for %zu nodes", cluster->node_count);
}

void group_clear(struct group *group)
{
    hostlist_clear(&group->wanted);
    hostlist_clear(&group->partners);
    *group = (struct group){0};
}
