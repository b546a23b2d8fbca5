/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/subnet/findings/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

/* A rail on another switch than the one where it belongs; or with rail -1 a node whose rails are
 * all on the switches of another group. */
struct stray {
    int node, rail, port; /* port: of the switch */
    int home, found;      /* switches; groups if rail is -1 */
    bool is_told;
};

struct strays {
    struct stray *items;
    size_t count;
};

struct hunt {
    const struct subnet *subnet;
    const struct topology_conf *conf;
    const struct subnet_groups *groups;
    struct subnet_findings *findings;
    struct strays strays;
};

static const struct subnet_group *group_of(const struct hunt *hunt, int node)
{
    int group = hunt->groups->group_of[node];

    return group < 0 ? NULL : &hunt->groups->groups[group];
}

static const char *node_name(const struct hunt *hunt, const struct stray *stray)
{
    return hunt->subnet->nodes.names[stray->node];
}

static const char *rail_name(const struct hunt *hunt, const struct stray *stray)
{
    return stray->rail < 0 ? "" : hunt->subnet->rails.names[stray->rail];
}

/* Returns "topology.conf line 3 has n6 under leaf1". */
static struct text_line describe_reason(const struct hunt *hunt, const struct stray *stray)
{
    const struct subnet_group *group = group_of(hunt, stray->node);

    if (!group->leaf)
        return text_line("the other %d nodes of its group have it there", group->node_count - 1);
    return text_line("%s has %s under %s", topology_conf_place(hunt->conf, &group->leaf->at).text,
                     node_name(hunt, stray), group->leaf->name);
}

static struct subnet_finding *add(struct hunt *hunt, struct stray *stray, const char *text)
{
    stray->is_told = true;
    return subnet_finding_add(hunt->findings, SUBNET_PLACE, VERDICT_FAIL, node_name(hunt, stray),
                              rail_name(hunt, stray), "%s", text);
}

/* strays: all of one node. Whether they are on the expected switches in another order. */
static bool is_permutation(const struct stray *strays, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int balance = 0;

        for (size_t k = 0; k < count; k++)
            balance += (strays[k].home == strays[i].home) - (strays[k].found == strays[i].home);
        if (balance != 0)
            return false;
    }
    return count > 1;
}

static void report_crossed(struct hunt *hunt, struct stray *strays, size_t count)
{
    char places[480] = "";

    for (size_t i = 0; i < count; i++) {
        text_join(places, sizeof places, i + 1 == count ? " and " : ", ", "%s is on %s",
                  rail_name(hunt, &strays[i]), subnet_port_text(hunt->subnet, strays[i].port).text);
        strays[i].is_told = true;
    }
    subnet_finding_add(hunt->findings, SUBNET_CROSSED, VERDICT_FAIL, node_name(hunt, strays), "",
                       "%s has its rails crossed: %s%s", node_name(hunt, strays), places,
                       count == 2 ? ", each where the other belongs: swap the two cables"
                                  : ": put each where its neighbors have it");
}

/* Returns the group on whose switches all the node's rails are, or -1. */
static int find_host_group(const struct hunt *hunt, const struct stray *strays, size_t count)
{
    for (size_t i = 0; i < hunt->groups->count; i++) {
        size_t same = 0;

        for (size_t k = 0; k < count; k++)
            same += hunt->groups->groups[i].leaves[strays[k].rail] == strays[k].found;
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

/* Reports one node's strays as swapped rails, or merges them if the whole node is misplaced. */
static void sum_up_node(struct hunt *hunt, struct stray *strays, size_t count)
{
    int group;

    if (is_permutation(strays, count)) {
        report_crossed(hunt, strays, count);
        return;
    }
    group = count > 1 && count == rails_of(hunt->subnet, strays->node)
                ? find_host_group(hunt, strays, count)
                : -1;
    if (group < 0)
        return;
    /* the first stray stands for the whole node */
    for (size_t i = 1; i < count; i++)
        strays[i].is_told = true;
    strays->home = hunt->groups->group_of[strays->node];
    strays->found = group;
    strays->rail = -1;
}

/* Returns the stray that is where this one belongs, and belongs where this one is; of several, that
 * of the same rail. The partner of a whole node is a whole node. */
static struct stray *find_partner(const struct hunt *hunt, const struct stray *stray)
{
    struct stray *partner = NULL;

    for (size_t i = 0; i < hunt->strays.count; i++) {
        struct stray *other = &hunt->strays.items[i];

        if (other->is_told || other == stray || other->node == stray->node ||
            (other->rail < 0) != (stray->rail < 0) || other->home != stray->found ||
            other->found != stray->home)
            continue;
        if (other->rail == stray->rail)
            return other;
        partner = partner ? partner : other;
    }
    return partner;
}

static void report_swapped(struct hunt *hunt, struct stray *one, struct stray *other)
{
    struct text_line reason = describe_reason(hunt, one);
    char text[600];

    if (one->rail < 0)
        snprintf(text, sizeof text,
                 "%s and %s are in each other's place with all their rails (%s): swap their "
                 "cables, or their names",
                 node_name(hunt, one), node_name(hunt, other), reason.text);
    else
        snprintf(text, sizeof text,
                 "%s %s and %s %s are in each other's place, on %.120s and %.120s (%s): swap the "
                 "two cables%s",
                 node_name(hunt, one), rail_name(hunt, one), node_name(hunt, other),
                 rail_name(hunt, other), subnet_port_text(hunt->subnet, one->port).text,
                 subnet_port_text(hunt->subnet, other->port).text, reason.text,
                 hunt->conf ? ", or correct topology.conf" : "");
    snprintf(add(hunt, one, text)->peer, sizeof hunt->findings->items->peer, "%s",
             node_name(hunt, other));
    other->is_told = true;
}

static void report_whole_node(struct hunt *hunt, struct stray *stray)
{
    const struct subnet_group *home = &hunt->groups->groups[stray->home],
                              *found = &hunt->groups->groups[stray->found];
    char text[600];

    if (home->leaf && found->leaf)
        snprintf(text, sizeof text,
                 "%s is under %s with all its rails, it belongs under %s (%s): move its cables, or "
                 "correct topology.conf",
                 node_name(hunt, stray), found->leaf->name, home->leaf->name,
                 describe_reason(hunt, stray).text);
    else
        snprintf(text, sizeof text, "%s is on the switches of another group with all its rails",
                 node_name(hunt, stray));
    add(hunt, stray, text);
}

static void report_misplaced(struct hunt *hunt, struct stray *stray)
{
    const struct subnet_device *device = &hunt->subnet->devices[stray->found];
    struct text_line place = subnet_port_text(hunt->subnet, stray->port);
    char text[600];

    if (stray->home < 0)
        snprintf(text, sizeof text,
                 "%s %s is on %s, a switch that joins leaves: move its cable to a leaf",
                 node_name(hunt, stray), rail_name(hunt, stray), place.text);
    else
        snprintf(text, sizeof text,
                 "%s %s is on %.130s%s, it belongs on %.130s (%s): move its cable there%s%s",
                 node_name(hunt, stray), rail_name(hunt, stray), place.text,
                 device->level > 0 ? ", a switch that joins leaves" : "",
                 subnet_device_text(hunt->subnet, stray->home).text,
                 describe_reason(hunt, stray).text,
                 subnet_free_port(hunt->subnet, stray->home).text,
                 hunt->conf ? ", or correct topology.conf" : "");
    add(hunt, stray, text);
}

/* Finds every rail that is not on the switch of its group, or on a switch above the leaves. */
static void find_strays(struct hunt *hunt)
{
    const struct subnet *subnet = hunt->subnet;

    hunt->strays.items = malloc((subnet->attachment_count + 1) * sizeof *hunt->strays.items);
    hunt->findings->is_out_of_memory |= !hunt->strays.items;
    for (size_t i = 0; hunt->strays.items && i < subnet->attachment_count; i++) {
        const struct subnet_rail *at = &subnet->attachments[i];
        const struct subnet_group *group = group_of(hunt, at->node);
        int home = group ? group->leaves[at->rail] : -1;

        /* a node without a group may be a management host, which may be on any switch */
        if (!group || subnet_is_double(subnet, i) || home == at->leaf ||
            (home < 0 && subnet->devices[at->leaf].level == 0))
            continue;
        if (!hunt->conf && home < 0)
            continue;
        hunt->strays.items[hunt->strays.count++] = (struct stray){.node = at->node,
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
static struct split find_split(const struct hunt *hunt, const struct subnet_group *group, int rail,
                               int *tally)
{
    const struct subnet *subnet = hunt->subnet;
    struct split split = {.group = group, .rail = rail, .first = -1, .second = -1};

    for (size_t i = 0; i < subnet->attachment_count; i++) {
        const struct subnet_rail *at = &subnet->attachments[i];

        if (at->rail == rail && group_of(hunt, at->node) == group)
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
static struct text_line split_nodes(const struct hunt *hunt, const struct split *split, int leaf,
                                    int count)
{
    const struct subnet *subnet = hunt->subnet;

    for (size_t i = 0; count == 1 && i < subnet->attachment_count; i++) {
        const struct subnet_rail *at = &subnet->attachments[i];

        if (at->rail == split->rail && at->leaf == leaf && group_of(hunt, at->node) == split->group)
            return text_line("%s", subnet->nodes.names[at->node]);
    }
    return text_line("%d", count);
}

static void report_split(struct hunt *hunt, const struct split *split)
{
    const struct topology_switch *leaf = split->group->leaf;

    subnet_finding_add(
        hunt->findings, SUBNET_CONF, VERDICT_WARN, "", leaf->name,
        "%s puts %d nodes under %s, but %s of %s is on %.120s and of %s on %.120s: correct "
        "topology.conf, or the cables",
        topology_conf_place(hunt->conf, &leaf->at).text, split->group->node_count, leaf->name,
        hunt->subnet->rails.names[split->rail],
        split_nodes(hunt, split, split->first, split->first_count).text,
        subnet_device_text(hunt->subnet, split->first).text,
        split_nodes(hunt, split, split->second, split->second_count).text,
        subnet_device_text(hunt->subnet, split->second).text);
}

/* Reports every split leaf once, for any number of rails. Of two leaves split over the same
 * switches, since cables are swapped, reports the first. */
static void judge_conf(struct hunt *hunt)
{
    const struct subnet *subnet = hunt->subnet;
    int *tally = calloc(subnet->device_count + 1, sizeof *tally);
    struct split *splits = calloc(hunt->groups->count + 1, sizeof *splits);
    size_t count = 0;

    for (size_t i = 0; tally && splits && i < hunt->groups->count; i++) {
        const struct subnet_group *group = &hunt->groups->groups[i];
        bool is_same = false;
        size_t rail = 0;

        while (rail < subnet->rails.count && (group->counts[rail] < 2 || group->leaves[rail] >= 0))
            rail++;
        if (rail == subnet->rails.count)
            continue;
        splits[count] = find_split(hunt, group, (int)rail, tally);
        if (splits[count].second < 0)
            continue;
        for (size_t k = 0; k < count; k++)
            is_same = is_same || (splits[k].first == splits[count].first &&
                                  splits[k].second == splits[count].second);
        if (is_same)
            continue;
        report_split(hunt, &splits[count++]);
    }
    hunt->findings->is_out_of_memory |= !tally || !splits;
    free(tally);
    free(splits);
}

void subnet_judge_places(const struct subnet *subnet, const struct topology_conf *conf,
                         const struct subnet_groups *groups, struct subnet_findings *findings)
{
    struct hunt hunt = {.subnet = subnet, .conf = conf, .groups = groups, .findings = findings};
    struct strays *strays = &hunt.strays;

    find_strays(&hunt);
    if (conf)
        judge_conf(&hunt);
    for (size_t i = 0, end; i < strays->count; i = end) {
        for (end = i + 1; end < strays->count && strays->items[end].node == strays->items[i].node;)
            end++;
        sum_up_node(&hunt, &strays->items[i], end - i);
    }
    for (size_t i = 0; i < strays->count; i++) {
        struct stray *stray = &strays->items[i], *partner;

        if (stray->is_told)
            continue;
        partner = find_partner(&hunt, stray);
        if (partner)
            report_swapped(&hunt, stray, partner);
        else if (stray->rail < 0)
            report_whole_node(&hunt, stray);
        else
            report_misplaced(&hunt, stray);
    }
    free(strays->items);
}
