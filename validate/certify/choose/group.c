/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/certify/choose/group.h"

#include <stdlib.h>
#include <string.h>

#include "lib/constants/certify_constants.h"
#include "lib/base/name_index.h"
#include "validate/policy/plan.h"

enum availability { AVAILABILITY_READY, AVAILABILITY_BUSY, AVAILABILITY_AWAY };

/* What a node that is left is good for now. */
static enum availability availability_of(const struct cluster_node *node, enum plan_role role)
{
    if (role != ROLE_LEAVE)
        return AVAILABILITY_READY;
    return node->is_absent || node->is_down || node->is_drained || node->is_invalid ||
                   strlen(node->name) > CLUSTER_NODE_NAME_MOST
               ? AVAILABILITY_AWAY
               : AVAILABILITY_BUSY;
}

/* What the choice looks at: of each node of the cluster its role, and whether it is left in the
 * campaign, or certified by it. */
struct role_table {
    enum plan_role *roles;
    bool *is_left, *is_certified;
    bool *has_partition;   /* one that a run may be in */
    bool *is_of_partition; /* of the group's */
    const char **ready;    /* names */
};

static int role_table_make(const struct cluster *cluster, const struct campaign *campaign,
                           struct role_table *table)
{
    size_t count = cluster->node_count + 1;
    struct name_index index;

    *table = (struct role_table){.roles = calloc(count, sizeof *table->roles),
                                 .is_left = calloc(count, sizeof *table->is_left),
                                 .is_certified = calloc(count, sizeof *table->is_certified),
                                 .has_partition = calloc(count, sizeof *table->has_partition),
                                 .is_of_partition = calloc(count, sizeof *table->is_of_partition),
                                 .ready = calloc(count, sizeof *table->ready)};
    if (!table->roles || !table->is_left || !table->is_certified || !table->has_partition ||
        !table->is_of_partition || !table->ready ||
        name_index_build((const char *const *)campaign->nodes.names, campaign->nodes.count,
                         &index) != 0)
        return -1;
    for (size_t i = 0; i < cluster->node_count; i++) {
        long place = name_index_find(&index, cluster->nodes[i].name);
        struct plan plan;

        plan_node(&cluster->nodes[i], false, false, &plan);
        table->roles[i] = plan.role;
        table->is_left[i] = place >= 0 && campaign->states[place] == CAMPAIGN_LEFT;
        table->is_certified[i] = place >= 0 && campaign->states[place] == CAMPAIGN_CERTIFIED;
    }
    name_index_clear(&index);
    return 0;
}

static void role_table_clear(struct role_table *table)
{
    free(table->roles);
    free(table->is_left);
    free(table->is_certified);
    free(table->has_partition);
    free(table->is_of_partition);
    free(table->ready);
}

/* Sets the flags of the cluster's nodes that are in the partition. */
static int partition_mark(const struct cluster *cluster, const struct cluster_partition *partition,
                          bool *is_member)
{
    struct hostlist_set members;

    if (hostlist_set_make(&partition->nodes, &members) != 0)
        return -1;
    for (size_t i = 0; i < cluster->node_count; i++)
        is_member[i] |= hostlist_set_contains(&members, cluster->nodes[i].name);
    hostlist_set_clear(&members);
    return 0;
}

/* Finds the nodes of the partitions that are up, or of the wanted one. */
static int role_table_partition(const struct cluster *cluster, const char *wanted,
                                struct role_table *table)
{
    for (size_t i = 0; i < cluster->partition_count; i++) {
        const struct cluster_partition *partition = &cluster->partitions[i];

        if ((wanted ? strcmp(partition->name, wanted) == 0 : partition->is_up) &&
            partition_mark(cluster, partition, table->has_partition) != 0)
            return -1;
    }
    return 0;
}

/* Counts what is left, and finds the partition that has most of what is ready. */
static int role_table_sort(const struct cluster *cluster, const char *wanted,
                           struct role_table *table, struct group *group)
{
    const struct cluster_partition *partition;

    for (size_t i = 0; i < cluster->node_count; i++) {
        if (!table->is_left[i])
            continue;
        switch (table->has_partition[i] ? availability_of(&cluster->nodes[i], table->roles[i])
                                        : AVAILABILITY_AWAY) {
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
    group->partition = partition = plan_partition(cluster, wanted, table->ready, group->ready);
    if (partition && partition_mark(cluster, partition, table->is_of_partition) != 0)
        return -1;
    if (!partition) {
        group->away += group->ready;
        group->ready = 0;
    }
    return 0;
}

/* Those that the campaign has certified: what they showed then is known. For a node that is alone
 * any free one, where there are not enough of these. */
static int partners_add(const struct cluster *cluster, const struct role_table *table,
                        const struct hostlist_set *wanted, bool is_alone, struct hostlist *partners)
{
    for (int is_any = 0; is_any <= (is_alone && partners->count < CERTIFY_PARTNERS); is_any++)
        for (size_t i = 0; i < cluster->node_count; i++) {
            const struct cluster_node *node = &cluster->nodes[i];

            if (table->roles[i] == ROLE_TEST && table->is_of_partition[i] && node->is_responding &&
                table->is_certified[i] == !is_any && !hostlist_set_contains(wanted, node->name) &&
                hostlist_append(partners, node->name) != 0)
                return -1;
        }
    return 0;
}

int group_choose(const struct cluster *cluster, const struct campaign *campaign,
                 const char *partition, size_t most, struct group *group, struct error *err)
{
    struct hostlist_set wanted = {0};
    struct role_table table;
    size_t testable = 0;
    int rv;

    *group = (struct group){0};
    rv = role_table_make(cluster, campaign, &table);
    if (rv == 0)
        rv = role_table_partition(cluster, partition, &table);
    if (rv == 0)
        rv = role_table_sort(cluster, partition, &table, group);
    for (size_t i = 0; rv == 0 && i < cluster->node_count; i++) {
        if (!table.is_left[i] || !table.is_of_partition[i] ||
            availability_of(&cluster->nodes[i], table.roles[i]) != AVAILABILITY_READY ||
            (most > 0 && group->wanted.count == most))
            continue;
        testable += role_is_testable(table.roles[i]);
        rv = hostlist_append(&group->wanted, cluster->nodes[i].name);
    }
    if (rv == 0 && testable > 0)
        rv = hostlist_set_make(&group->wanted, &wanted);
    if (rv == 0 && testable > 0)
        rv = partners_add(cluster, &table, &wanted, testable == 1, &group->partners);
    hostlist_set_clear(&wanted);
    role_table_clear(&table);
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
