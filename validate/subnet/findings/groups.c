/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/subnet/findings/findings.h"

#include <stdlib.h>
#include <string.h>

/* A group this many times smaller than a group that it resembles is part of it. */
enum { SMALLER = 3 };

void subnet_groups_clear(struct subnet_groups *groups)
{
    if (!groups)
        return;
    for (size_t i = 0; i < groups->count; i++)
        free(groups->groups[i].leaves);
    free(groups->groups);
    free(groups->group_of);
    *groups = (struct subnet_groups){0};
}

/* Allocates the groups, with their tables for every rail. */
static int groups_allocate(const struct subnet *subnet, struct subnet_groups *groups, size_t count)
{
    size_t rails = subnet->rails.count;

    groups->groups = calloc(count + 1, sizeof *groups->groups);
    for (size_t i = 0; groups->groups && i < count; i++) {
        struct subnet_group *group = &groups->groups[i];

        group->leaves = calloc(2 * rails + 1, sizeof *group->leaves);
        if (!group->leaves)
            return -1;
        group->counts = group->leaves + rails;
        for (size_t k = 0; k < rails; k++)
            group->leaves[k] = -1;
        groups->count++;
    }
    return groups->groups ? 0 : -1;
}

static void groups_from_conf(const struct subnet *subnet, const struct topology_conf *conf,
                             struct subnet_groups *groups)
{
    for (size_t i = 0; i < conf->count; i++) {
        const struct hostlist *names = &conf->leaves[i].below;

        groups->groups[i].leaf = &conf->leaves[i];
        for (size_t k = 0; k < names->count; k++) {
            int node = subnet_node(subnet, names->names[k]);

            if (node >= 0 && groups->group_of[node] < 0)
                groups->group_of[node] = (int)i;
        }
    }
}

/* Compares the attachments of two nodes: runs from a and from b, in the order of rails. */
static int runs_compare(const struct subnet *subnet, size_t a, size_t b)
{
    const struct subnet_rail *all = subnet->attachments;
    int one = all[a].node, other = all[b].node;

    for (;; a++, b++) {
        bool ends = a == subnet->attachment_count || all[a].node != one;
        bool other_ends = b == subnet->attachment_count || all[b].node != other;

        if (ends || other_ends)
            return (int)other_ends - (int)ends;
        if (all[a].rail != all[b].rail)
            return all[a].rail - all[b].rail;
        if (all[a].leaf != all[b].leaf)
            return all[a].leaf - all[b].leaf;
    }
}

static int run_compare(const void *a, const void *b, void *context)
{
    int order = runs_compare(context, *(const size_t *)a, *(const size_t *)b);

    return order ? order : (*(const size_t *)a > *(const size_t *)b) ? 1 : -1;
}

/* Counts the rails that two runs have in common, and those of them on the same switch. */
static void runs_resemble(const struct subnet *subnet, size_t a, size_t b, int *common, int *same)
{
    const struct subnet_rail *all = subnet->attachments;
    int one = all[a].node, other = all[b].node;

    *common = *same = 0;
    while (a < subnet->attachment_count && all[a].node == one && b < subnet->attachment_count &&
           all[b].node == other) {
        if (all[a].rail == all[b].rail) {
            *common += 1;
            *same += all[a].leaf == all[b].leaf;
            a++;
            b++;
        } else if (all[a].rail < all[b].rail) {
            a++;
        } else {
            b++;
        }
    }
}

/* Whether two runs have their rails on the same switches in any order: a node with crossed cables
 * belongs to the group of its neighbors. */
static bool runs_are_crossed(const struct subnet *subnet, size_t a, size_t b)
{
    const struct subnet_rail *all = subnet->attachments;
    size_t ends[2] = {a, b};

    for (int k = 0; k < 2; k++)
        while (ends[k] < subnet->attachment_count && all[ends[k]].node == all[k ? b : a].node)
            ends[k]++;
    if (ends[0] - a != ends[1] - b)
        return false;
    for (size_t i = a; i < ends[0]; i++) {
        int balance = 0;

        for (size_t k = 0; k < ends[0] - a; k++)
            balance += (all[a + k].leaf == all[i].leaf) - (all[b + k].leaf == all[i].leaf);
        if (balance != 0)
            return false;
    }
    return true;
}

struct run_group {
    size_t first; /* index of its first run among the sorted runs */
    size_t count;
    int joined; /* the group it is part of, or itself */
};

/* Whether an empty port is between those of the switch's nodes. */
static bool has_gap(const struct subnet *subnet, int device)
{
    int last = 0;

    for (int number = 1; number <= subnet->devices[device].port_count; number++) {
        int other = subnet_peer_device(subnet, subnet_port(subnet, device, number));

        if (other < 0 || subnet->devices[other].kind != SUBNET_ADAPTER)
            continue;
        if (last > 0 && number > last + 1)
            return true;
        last = number;
    }
    return false;
}

/* How the switches of a home (a group) compare with those of a node. */
struct likeness {
    bool has_gap; /* a switch that lacks the node has an empty port */
    int shared;   /* the first rail for which both have the same switch */
};

static struct likeness compare_home(const struct subnet *subnet, size_t home, size_t run)
{
    const struct subnet_rail *all = subnet->attachments;
    struct likeness likeness = {false, -1};
    int node = all[home].node;

    for (; home < subnet->attachment_count && all[home].node == node; home++) {
        const struct subnet_rail *own = subnet_attachment(subnet, all[run].node, all[home].rail);

        if (own && own->leaf != all[home].leaf)
            likeness.has_gap |= has_gap(subnet, all[home].leaf);
        else if (own && likeness.shared < 0)
            likeness.shared = own->rail;
    }
    return likeness;
}

/* Whether home is likelier than other, if a node has as many rails on the switches of both: a home
 * with an empty port where the node is missing; else one with fewer nodes, as it has lost one; else
 * the one of the node's first rail, so that two nodes with swapped cables get different homes. */
static bool is_likelier(const struct subnet *subnet, const size_t *runs,
                        const struct run_group *home, const struct run_group *other, size_t run)
{
    struct likeness a = compare_home(subnet, runs[home->first], run);
    struct likeness b = compare_home(subnet, runs[other->first], run);

    if (a.has_gap != b.has_gap)
        return a.has_gap;
    if (home->count != other->count)
        return home->count < other->count;
    return a.shared < b.shared;
}

/* Returns the group to which a small group belongs: the one that it resembles most, on at least
 * half of their common rails or on all in another order; else the group itself. */
static int find_like(const struct subnet *subnet, const size_t *runs, const struct run_group *all,
                     size_t count, size_t which)
{
    int best = (int)which, best_same = 0, common, same;

    for (size_t i = 0; i < count; i++) {
        if (i == which || all[i].count < SMALLER * all[which].count)
            continue;
        runs_resemble(subnet, runs[all[i].first], runs[all[which].first], &common, &same);
        if (2 * same < common &&
            runs_are_crossed(subnet, runs[all[i].first], runs[all[which].first]))
            same = common;
        if (same == 0 || 2 * same < common || same < best_same)
            continue;
        if (same > best_same ||
            is_likelier(subnet, runs, &all[i], &all[best], runs[all[which].first])) {
            best = (int)i;
            best_same = same;
        }
    }
    return best;
}

/* Sorts the runs into groups of nodes with the same switches. runs, all: room for every node. */
static size_t split_runs(const struct subnet *subnet, size_t *runs, struct run_group *all)
{
    size_t run_count = 0, count = 0;

    for (size_t i = 0; i < subnet->attachment_count; i++)
        if (i == 0 || subnet->attachments[i].node != subnet->attachments[i - 1].node)
            runs[run_count++] = i;
    qsort_r(runs, run_count, sizeof *runs, run_compare, (void *)subnet);
    for (size_t i = 0; i < run_count; i++) {
        if (i == 0 || runs_compare(subnet, runs[i - 1], runs[i]) != 0)
            all[count++] = (struct run_group){.first = i};
        all[count - 1].count++;
    }
    for (size_t i = 0; i < count; i++)
        all[i].joined = find_like(subnet, runs, all, count, i);
    return count;
}

static int groups_from_subnet(const struct subnet *subnet, struct subnet_groups *groups)
{
    size_t *runs = malloc((subnet->nodes.count + 1) * sizeof *runs), count = 0;
    struct run_group *all = malloc((subnet->nodes.count + 1) * sizeof *all);
    int rv = -1;

    if (runs && all) {
        count = split_runs(subnet, runs, all);
        rv = groups_allocate(subnet, groups, count);
    }
    for (size_t i = 0; rv == 0 && i < count; i++) {
        int joined = (int)i;

        /* ends: each step leads to a larger group */
        while (all[joined].joined != joined)
            joined = all[joined].joined;
        for (size_t k = 0; k < all[i].count; k++)
            groups->group_of[subnet->attachments[runs[all[i].first + k]].node] = joined;
    }
    free(runs);
    free(all);
    return rv;
}

static int device_named(const struct subnet *subnet, const char *name)
{
    for (size_t i = 0; i < subnet->device_count; i++)
        if (subnet->devices[i].kind == SUBNET_SWITCH && strcmp(subnet->devices[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* Finds the switch of one rail of a group. tally: [device], all zero before and after. */
static void settle_rail(const struct subnet *subnet, const struct subnet_groups *groups,
                        size_t which, int rail, const int *members, int *tally)
{
    struct subnet_group *group = &groups->groups[which];
    int best = -1, named;

    for (int i = 0; i < group->node_count; i++) {
        const struct subnet_rail *at = subnet_attachment(subnet, members[i], rail);

        if (!at)
            continue;
        group->counts[rail]++;
        tally[at->leaf]++;
        if (best < 0 || tally[at->leaf] > tally[best])
            best = at->leaf;
    }
    if (best >= 0 && 2 * tally[best] > group->counts[rail])
        group->leaves[rail] = best;
    named = group->leaf && group->node_count > 0 ? device_named(subnet, group->leaf->name) : -1;
    /* with one rail, one or two nodes are no majority against a switch with the leaf's name */
    if (named >= 0 && subnet->rails.count == 1 &&
        (group->leaves[rail] < 0 || group->counts[rail] < 3))
        group->leaves[rail] = named;
    else if (named >= 0 && group->leaves[rail] < 0 && tally[named] > 0)
        group->leaves[rail] = named;
    for (int i = 0; i < group->node_count; i++) {
        const struct subnet_rail *at = subnet_attachment(subnet, members[i], rail);

        if (at)
            tally[at->leaf] = 0;
    }
}

/* For rails that counts and names did not decide: the only leaf with the rail of the group that
 * belongs to no other group. owners: [device], how many groups have the rail there; zero before and
 * after. */
static void settle_open(const struct subnet *subnet, struct subnet_groups *groups, int rail,
                        int *owners)
{
    for (size_t i = 0; i < groups->count; i++)
        if (groups->groups[i].leaves[rail] >= 0)
            owners[groups->groups[i].leaves[rail]]++;
    for (size_t i = 0; i < groups->count; i++) {
        struct subnet_group *group = &groups->groups[i];
        int only = -1, count = 0;

        for (size_t k = 0;
             group->leaves[rail] < 0 && group->counts[rail] > 0 && k < subnet->attachment_count;
             k++) {
            const struct subnet_rail *at = &subnet->attachments[k];

            if (at->rail != rail || groups->group_of[at->node] != (int)i || at->leaf == only ||
                owners[at->leaf] > 0 || subnet->devices[at->leaf].level != 0)
                continue;
            only = at->leaf;
            count++;
        }
        if (count == 1)
            group->leaves[rail] = only;
    }
    for (size_t i = 0; i < groups->count; i++)
        if (groups->groups[i].leaves[rail] >= 0)
            owners[groups->groups[i].leaves[rail]] = 0;
}

static int settle(const struct subnet *subnet, struct subnet_groups *groups)
{
    int *tally = calloc(subnet->device_count + 1, sizeof *tally);
    int *members = calloc(subnet->nodes.count + 1, sizeof *members);

    for (size_t i = 0; tally && members && i < groups->count; i++) {
        struct subnet_group *group = &groups->groups[i];

        for (size_t k = 0; k < subnet->nodes.count; k++)
            if (groups->group_of[k] == (int)i)
                members[group->node_count++] = (int)k;
        for (size_t k = 0; k < subnet->rails.count; k++)
            settle_rail(subnet, groups, i, (int)k, members, tally);
    }
    for (size_t k = 0; tally && members && k < subnet->rails.count; k++)
        settle_open(subnet, groups, (int)k, tally);
    free(members);
    free(tally);
    return tally && members ? 0 : -1;
}

int subnet_groups_make(const struct subnet *subnet, const struct topology_conf *conf,
                       struct subnet_groups *groups)
{
    int rv;

    *groups = (struct subnet_groups){0};
    groups->group_of = malloc((subnet->nodes.count + 1) * sizeof *groups->group_of);
    if (!groups->group_of)
        return -1;
    for (size_t i = 0; i < subnet->nodes.count; i++)
        groups->group_of[i] = -1;
    if (conf) {
        rv = groups_allocate(subnet, groups, conf->count);
        if (rv == 0)
            groups_from_conf(subnet, conf, groups);
    } else {
        rv = groups_from_subnet(subnet, groups);
    }
    if (rv == 0)
        rv = settle(subnet, groups);
    if (rv != 0)
        subnet_groups_clear(groups);
    return rv;
}
