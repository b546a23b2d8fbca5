/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/certify/choose/group.h"

#include <stdlib.h>
#include <string.h>

#include "validate/act/plan.h"
#include "validate/judge/index.h"

enum standing { STANDING_READY, STANDING_BUSY, STANDING_AWAY };

/* What a node that is left is good for now. */
static enum standing standing_of(const struct cluster_node *node, enum plan_role role)
{
    if (role != ROLE_LEAVE)
        return STANDING_READY;
    return node->is_absent || node->is_down || node->is_drained || node->is_invalid ? STANDING_AWAY
                                                                                    : STANDING_BUSY;
}

static bool is_testable(enum plan_role role)
{
    return role == ROLE_TEST || role == ROLE_RETEST;
}

/* What the choice looks at: of each node of the cluster its role, and whether it is left in the
 * campaign, or certified by it. */
struct look {
    enum plan_role *roles;
    bool *is_left, *is_certified, *is_of_partition;
    const char **ready; /* names */
};

static int look_make(const struct cluster *cluster, const struct campaign *campaign,
                     struct look *look)
{
    size_t count = cluster->node_count + 1;
    struct name_index index;

    *look = (struct look){.roles = calloc(count, sizeof *look->roles),
                          .is_left = calloc(count, sizeof *look->is_left),
                          .is_certified = calloc(count, sizeof *look->is_certified),
                          .is_of_partition = calloc(count, sizeof *look->is_of_partition),
                          .ready = calloc(count, sizeof *look->ready)};
    if (!look->roles || !look->is_left || !look->is_certified || !look->is_of_partition ||
        !look->ready ||
        name_index_build((const char *const *)campaign->nodes.names, campaign->nodes.count,
                         &index) != 0)
        return -1;
    for (size_t i = 0; i < cluster->node_count; i++) {
        long place = name_index_find(&index, cluster->nodes[i].name);
        struct plan plan;

        plan_node(&cluster->nodes[i], false, false, &plan);
        look->roles[i] = plan.role;
        look->is_left[i] = place >= 0 && campaign->states[place] == CAMPAIGN_LEFT;
        look->is_certified[i] = place >= 0 && campaign->states[place] == CAMPAIGN_CERTIFIED;
    }
    name_index_clear(&index);
    return 0;
}

static void look_clear(struct look *look)
{
    free(look->roles);
    free(look->is_left);
    free(look->is_certified);
    free(look->is_of_partition);
    free(look->ready);
}

/* Counts what is left, and finds the partition that has most of what is ready. */
static int look_sort(const struct cluster *cluster, const char *wanted, struct look *look,
                     struct group *group)
{
    const struct cluster_partition *partition;
    struct hostlist_set members = {0};

    for (size_t i = 0; i < cluster->node_count; i++) {
        if (!look->is_left[i])
            continue;
        switch (standing_of(&cluster->nodes[i], look->roles[i])) {
        case STANDING_READY:
            look->ready[group->ready++] = cluster->nodes[i].name;
            break;
        case STANDING_BUSY:
            group->busy++;
            break;
        case STANDING_AWAY:
            group->away++;
        }
    }
    partition = plan_partition(cluster, wanted, look->ready, group->ready);
    if (partition && hostlist_set_make(&partition->nodes, &members) != 0)
        return -1;
    for (size_t i = 0; i < cluster->node_count; i++)
        look->is_of_partition[i] =
            partition && hostlist_set_contains(&members, cluster->nodes[i].name);
    hostlist_set_clear(&members);
    if (!partition) {
        group->away += group->ready;
        group->ready = 0;
    }
    return 0;
}

enum { PARTNERS_ENOUGH = 2 };

/* Those that the campaign has certified: what they showed then is known. For a node that is alone
 * any free one, where there are not enough of these. */
static int partners_add(const struct cluster *cluster, const struct look *look,
                        const struct hostlist_set *wanted, bool is_alone, struct hostlist *partners)
{
    for (int is_any = 0; is_any <= (is_alone && partners->count < PARTNERS_ENOUGH); is_any++)
        for (size_t i = 0; i < cluster->node_count; i++) {
            const struct cluster_node *node = &cluster->nodes[i];

            if (look->roles[i] == ROLE_TEST && look->is_of_partition[i] && node->is_responding &&
                look->is_certified[i] == !is_any && !hostlist_set_contains(wanted, node->name) &&
                hostlist_append(partners, node->name) != 0)
                return -1;
        }
    return 0;
}

int group_choose(const struct cluster *cluster, const struct campaign *campaign,
                 const char *partition, size_t most, struct group *group, struct error *err)
{
    struct hostlist_set wanted = {0};
    struct look look;
    size_t testable = 0;
    int rv;

    *group = (struct group){0};
    rv = look_make(cluster, campaign, &look);
    if (rv == 0)
        rv = look_sort(cluster, partition, &look, group);
    for (size_t i = 0; rv == 0 && i < cluster->node_count; i++) {
        if (!look.is_left[i] || !look.is_of_partition[i] ||
            standing_of(&cluster->nodes[i], look.roles[i]) != STANDING_READY ||
            (most > 0 && group->wanted.count == most))
            continue;
        testable += is_testable(look.roles[i]);
        rv = hostlist_append(&group->wanted, cluster->nodes[i].name);
    }
    if (rv == 0 && testable > 0)
        rv = hostlist_set_make(&group->wanted, &wanted);
    if (rv == 0 && testable > 0)
        rv = partners_add(cluster, &look, &wanted, testable == 1, &group->partners);
    hostlist_set_clear(&wanted);
    look_clear(&look);
    if (rv == 0)
        return 0;
    group_clear(group);
    return error_set(err, "no memory for %zu nodes", cluster->node_count);
}

void group_clear(struct group *group)
{
    hostlist_clear(&group->wanted);
    hostlist_clear(&group->partners);
    *group = (struct group){0};
}
