/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/subnet/findings/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

/* A rail on another switch than the one where it belongs; or with rail -1 a node whose rails are
 * all on the switches of another group. */
struct misplaced_rail {
    int node, rail, port; /* port: of the switch */
    int home, found;      /* switches; groups if rail is -1 */
    bool is_reported;
};

struct misplaced_rails {
    struct misplaced_rail *items;
    size_t count;
};

struct places_check {
    const struct subnet *subnet;
    const struct topology_conf *conf;
    const struct subnet_groups *groups;
    struct subnet_findings *findings;
    struct misplaced_rails misplaced;
};

static const struct subnet_group *group_of(const struct places_check *check, int node)
{
    int group = check->groups->group_of[node];

    return group < 0 ? NULL : &check->groups->groups[group];
}

static const char *node_name(const struct places_check *check,
                             const struct misplaced_rail *misplaced)
{
    return check->subnet->nodes.names[misplaced->node];
}

static const char *rail_name(const struct places_check *check,
                             const struct misplaced_rail *misplaced)
{
    return misplaced->rail < 0 ? "" : check->subnet->rails.names[misplaced->rail];
}

/* Returns "topology.conf line 3 has n6 under leaf1". */
static struct text_line describe_reason(const struct places_check *check,
                                        const struct misplaced_rail *misplaced)
{
    const struct subnet_group *group = group_of(check, misplaced->node);

    if (!group->leaf)
        return text_line("the other %d nodes of its group have it there", group->node_count - 1);
    return text_line("%s has %s under %s", topology_conf_place(check->conf, &group->leaf->at).text,
                     node_name(check, misplaced), group->leaf->name);
}

static struct subnet_finding *add(struct places_check *check, struct misplaced_rail *misplaced,
                                  const char *text)
{
    misplaced->is_reported = true;
    return subnet_finding_add(check->findings, SUBNET_PLACE, VERDICT_FAIL,
                              node_name(check, misplaced), rail_name(check, misplaced), "%s", text);
}

/* rails: all of one node. Whether they are on the expected switches in another order. */
static bool is_permutation(const struct misplaced_rail *rails, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int balance = 0;

        for (size_t k = 0; k < count; k++)
            balance += (rails[k].home == rails[i].home) - (rails[k].found == rails[i].home);
        if (balance != 0)
            return false;
    }
    return count > 1;
}

static void report_crossed(struct places_check *check, struct misplaced_rail *rails, size_t count)
{
    char places[480] = "";

    for (size_t i = 0; i < count; i++) {
        text_join(places, sizeof places, i + 1 == count ? " and " : ", ", "%s is on %s",
                  rail_name(check, &rails[i]), subnet_port_text(check->subnet, rails[i].port).text);
        rails[i].is_reported = true;
    }
    subnet_finding_add(check->findings, SUBNET_CROSSED, VERDICT_FAIL, node_name(check, rails), "",
                       "%s has its rails crossed: %s%s", node_name(check, rails), places,
                       count == 2 ? ", each where the other belongs: swap the two cables"
                                  : ": put each where its neighbors have it");
}

/* Returns the group on whose switches all the node's rails are, or -1. */
static int find_host_group(const struct places_check *check, const struct misplaced_rail *rails,
                           size_t count)
{
    for (size_t i = 0; i < check->groups->count; i++) {
        size_t same = 0;

        for (size_t k = 0; k < count; k++)
            same += check->groups->groups[i].leaves[rails[k].rail] == rails[k].found;
        if (same == count)
            return (int)i;
    }
    return -1;
}

static size_t rails_of(const struct subnet *subnet, int node)
{
    size_t count = 0;

    for (size_t i = 0; i < subnet->rails.count; i++)
        count += subnet_attachment(subnet, node, (int)i) != NULL;
    return count;
}

/* Reports one node's rails as swapped rails, or merges them if the whole node is misplaced. */
static void sum_up_node(struct places_check *check, struct misplaced_rail *rails, size_t count)
{
    int group;

    if (is_permutation(rails, count)) {
        report_crossed(check, rails, count);
        return;
    }
    group = count > 1 && count == rails_of(check->subnet, rails->node)
                ? find_host_group(check, rails, count)
                : -1;
    if (group < 0)
        return;
    /* the first rail stands for the whole node */
    for (size_t i = 1; i < count; i++)
        rails[i].is_reported = true;
    rails->home = check->groups->group_of[rails->node];
    rails->found = group;
    rails->rail = -1;
}

/* Returns the rail that is where this one belongs, and belongs where this one is; of several,
 * that of the same rail. The partner of a whole node is a whole node. */
static struct misplaced_rail *find_partner(const struct places_check *check,
                                           const struct misplaced_rail *misplaced)
{
    struct misplaced_rail *partner = NULL;

    for (size_t i = 0; i < check->misplaced.count; i++) {
        struct misplaced_rail *other = &check->misplaced.items[i];

        if (other->is_reported || other == misplaced || other->node == misplaced->node ||
            (other->rail < 0) != (misplaced->rail < 0) || other->home != misplaced->found ||
            other->found != misplaced->home)
            continue;
        if (other->rail == misplaced->rail)
            return other;
        partner = partner ? partner : other;
    }
    return partner;
}

static void report_swapped(struct places_check *check, struct misplaced_rail *one,
                           struct misplaced_rail *other)
{
    struct text_line reason = describe_reason(check, one);
    char text[600];

    if (one->rail < 0)
        snprintf(text, sizeof text,
                 "%s and %s are in each other's place with all their rails (%s): swap their "
                 "cables, or their names",
                 node_name(check, one), node_name(check, other), reason.text);
    else
        snprintf(text, sizeof text,
                 "%s %s and %s %s are in each other's place, on %.120s and %.120s (%s): swap the "
                 "two cables%s",
                 node_name(check, one), rail_name(check, one), node_name(check, other),
                 rail_name(check, other), subnet_port_text(check->subnet, one->port).text,
                 subnet_port_text(check->subnet, other->port).text, reason.text,
                 check->conf ? ", or correct topology.conf" : "");
    snprintf(add(check, one, text)->peer, sizeof check->findings->items->peer, "%s",
             node_name(check, other));
    other->is_reported = true;
}

static void report_whole_node(struct places_check *check, struct misplaced_rail *misplaced)
{
    const struct subnet_group *home = &check->groups->groups[misplaced->home],
                              *found = &check->groups->groups[misplaced->found];
    char text[600];

    if (home->leaf && found->leaf)
        snprintf(text, sizeof text,
                 "%s is under %s with all its rails, it belongs under %s (%s): move its cables, or "
                 "correct topology.conf",
                 node_name(check, misplaced), found->leaf->name, home->leaf->name,
                 describe_reason(check, misplaced).text);
    else
        snprintf(text, sizeof text, "%s is on the switches of another group with all its rails",
                 node_name(check, misplaced));
    add(check, misplaced, text);
}

static void report_misplaced(struct places_check *check, struct misplaced_rail *misplaced)
{
    const struct subnet_device *device = &check->subnet->devices[misplaced->found];
    struct text_line place = subnet_port_text(check->subnet, misplaced->port);
    char text[600];

    if (misplaced->home < 0)
        snprintf(text, sizeof text,
                 "%s %s is on %s, a switch that joins leaves: move its cable to a leaf",
                 node_name(check, misplaced), rail_name(check, misplaced), place.text);
    else
        snprintf(text, sizeof text,
                 "%s %s is on %.130s%s, it belongs on %.130s (%s): move its cable there%s%s",
                 node_name(check, misplaced), rail_name(check, misplaced), place.text,
                 device->level > 0 ? ", a switch that joins leaves" : "",
                 subnet_device_text(check->subnet, misplaced->home).text,
                 describe_reason(check, misplaced).text,
                 subnet_free_port(check->subnet, misplaced->home).text,
                 check->conf ? ", or correct topology.conf" : "");
    add(check, misplaced, text);
}

/* Finds every rail that is not on the switch of its group, or on a switch above the leaves. */
static void find_misplaced(struct places_check *check)
{
    const struct subnet *subnet = check->subnet;

    check->misplaced.items =
        malloc((subnet->attachment_count + 1) * sizeof *check->misplaced.items);
    check->findings->is_out_of_memory |= !check->misplaced.items;
    for (size_t i = 0; check->misplaced.items && i < subnet->attachment_count; i++) {
        const struct subnet_rail *at = &subnet->attachments[i];
        const struct subnet_group *group = group_of(check, at->node);
        int home = group ? group->leaves[at->rail] : -1;

        /* a node without a group may be a management host, which may be on any switch */
        if (!group || subnet_is_double(subnet, i) || home == at->leaf ||
            (home < 0 && subnet->devices[at->leaf].level == 0))
            continue;
        if (!check->conf && home < 0)
            continue;
        check->misplaced.items[check->misplaced.count++] =
            (struct misplaced_rail){.node = at->node,
                                    .rail = at->rail,
                                    .port = at->switch_port,
                                    .home = home,
                                    .found = at->leaf};
    }
}

/* A leaf whose nodes are half on one switch and half on another, and no name decides. */
struct split {
    const struct subnet_group *group;
    int rail, first, second; /* switches; first has more nodes */
    int first_count, second_count;
};

/* tally: [device], all zero before and after. */
static struct split find_split(const struct places_check *check, const struct subnet_group *group,
                               int rail, int *tally)
{
    const struct subnet *subnet = check->subnet;
    struct split split = {.group = group, .rail = rail, .first = -1, .second = -1};

    for (size_t i = 0; i < subnet->attachment_count; i++) {
        const struct subnet_rail *at = &subnet->attachments[i];

        if (at->rail == rail && group_of(check, at->node) == group)
            tally[at->leaf]++;
    }
    for (size_t i = 0; i < subnet->device_count; i++) {
        if (tally[i] > split.first_count) {
            split.second = split.first;
            split.second_count = split.first_count;
            split.first = (int)i;
            split.first_count = tally[i];
        } else if (tally[i] > split.second_count) {
            split.second = (int)i;
            split.second_count = tally[i];
        }
    }
    memset(tally, 0, subnet->device_count * sizeof *tally);
    return split;
}

/* Returns the name of the node if count is 1, as "n3", else the count, as "8". */
static struct text_line split_nodes(const struct places_check *check, const struct split *split,
                                    int leaf, int count)
{
    const struct subnet *subnet = check->subnet;

    for (size_t i = 0; count == 1 && i < subnet->attachment_count; i++) {
        const struct subnet_rail *at = &subnet->attachments[i];

        if (at->rail == split->rail && at->leaf == leaf &&
            group_of(check, at->node) == split->group)
            return text_line("%s", subnet->nodes.names[at->node]);
    }
    return text_line("%d", count);
}

static void report_split(struct places_check *check, const struct split *split)
{
    const struct topology_switch *leaf = split->group->leaf;

    subnet_finding_add(
        check->findings, SUBNET_CONF, VERDICT_WARN, "", leaf->name,
        "%s puts %d nodes under %s, but %s of %s is on %.120s and of %s on %.120s: correct "
        "topology.conf, or the cables",
        topology_conf_place(check->conf, &leaf->at).text, split->group->node_count, leaf->name,
        check->subnet->rails.names[split->rail],
        split_nodes(check, split, split->first, split->first_count).text,
        subnet_device_text(check->subnet, split->first).text,
        split_nodes(check, split, split->second, split->second_count).text,
        subnet_device_text(check->subnet, split->second).text);
}

/* Reports every split leaf once, for any number of rails. Of two leaves split over the same
 * switches, since cables are swapped, reports the first. */
static void judge_conf(struct places_check *check)
{
    const struct subnet *subnet = check->subnet;
    int *tally = calloc(subnet->device_count + 1, sizeof *tally);
    struct split *splits = calloc(check->groups->count + 1, sizeof *splits);
    size_t count = 0;

    for (size_t i = 0; tally && splits && i < check->groups->count; i++) {
        const struct subnet_group *group = &check->groups->groups[i];
        bool is_same = false;
        size_t rail = 0;

        while (rail < subnet->rails.count && (group->counts[rail] < 2 || group->leaves[rail] >= 0))
            rail++;
        if (rail == subnet->rails.count)
            continue;
        splits[count] = find_split(check, group, (int)rail, tally);
        if (splits[count].second < 0)
            continue;
        for (size_t k = 0; k < count; k++)
            is_same = is_same || (splits[k].first == splits[count].first &&
                                  splits[k].second == splits[count].second);
        if (is_same)
            continue;
        report_split(check, &splits[count++]);
    }
    check->findings->is_out_of_memory |= !tally || !splits;
    free(tally);
    free(splits);
}

void subnet_judge_places(const struct subnet *subnet, const struct topology_conf *conf,
                         const struct subnet_groups *groups, struct subnet_findings *findings)
{
    struct places_check check = {
        .subnet = subnet, .conf = conf, .groups = groups, .findings = findings};
    struct misplaced_rails *all = &check.misplaced;

    find_misplaced(&check);
    if (conf)
        judge_conf(&check);
    for (size_t i = 0, end; i < all->count; i = end) {
        for (end = i + 1; end < all->count && all->items[end].node == all->items[i].node;)
            end++;
        sum_up_node(&check, &all->items[i], end - i);
    }
    for (size_t i = 0; i < all->count; i++) {
        struct misplaced_rail *misplaced = &all->items[i], *partner;

        if (misplaced->is_reported)
            continue;
        partner = find_partner(&check, misplaced);
        if (partner)
            report_swapped(&check, misplaced, partner);
        else if (misplaced->rail < 0)
            report_whole_node(&check, misplaced);
        else
            report_misplaced(&check, misplaced);
    }
    free(all->items);
}
