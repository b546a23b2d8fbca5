/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/subnet/findings/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

bool subnet_is_double(const struct subnet *subnet, size_t i)
{
    const struct subnet_rail *all = subnet->attachments;

    return (i > 0 && all[i - 1].node == all[i].node && all[i - 1].rail == all[i].rail) ||
           (i + 1 < subnet->attachment_count && all[i + 1].node == all[i].node &&
            all[i + 1].rail == all[i].rail);
}

/* Whether the adapter at the other end of the port may belong to any node: it has no node's name,
 * or a name that another adapter has too. */
static bool is_anybodys(const struct subnet *subnet, const struct subnet_port *port)
{
    const struct subnet_device *device =
        port->peer < 0 ? NULL : &subnet->devices[subnet->ports[port->peer].device];

    if (!device || device->kind != SUBNET_ADAPTER || device->is_service)
        return false;
    for (size_t i = 0; device->name[0] && i < subnet->attachment_count; i++)
        if (subnet->attachments[i].port == port->peer)
            return subnet_is_double(subnet, i);
    return !device->name[0];
}

/* Formats the switch where a rail belongs, with its empty port: "; it belongs on leaf1 (0x...), its
 * port 7 is empty", or with the ports of adapters there that could be it. Returns whether there are
 * such adapters. "" and false if leaf is -1. */
static bool describe_home(const struct subnet *subnet, int leaf, char *text, size_t size)
{
    char unnamed[120] = "";

    text[0] = '\0';
    if (leaf < 0)
        return false;
    for (int number = 1; number <= subnet->devices[leaf].port_count; number++) {
        const struct subnet_port *at = subnet_port(subnet, leaf, number);

        if (is_anybodys(subnet, at))
            text_join(unnamed, sizeof unnamed, ", ", "%s", subnet_port_label(at).text);
    }
    snprintf(text, size, "; it belongs on %s%s%s%s%s", subnet_device_text(subnet, leaf).text,
             *unnamed ? ", where adapters without a node's name of their own are (" : "", unnamed,
             *unnamed ? ")" : "", *unnamed ? "" : subnet_free_port(subnet, leaf).text);
    return *unnamed;
}

/* Returns the switch where the first rail of the group belongs, or -1. */
static int first_leaf(const struct subnet *subnet, const struct subnet_group *group)
{
    int leaf = -1;

    for (size_t i = 0; leaf < 0 && i < subnet->rails.count; i++)
        leaf = group->leaves[i];
    return leaf;
}

/* Reports several adapters that are named as the same rail of the same node. */
static void judge_doubles(const struct subnet *subnet, struct subnet_findings *findings)
{
    for (size_t i = 0, end; i < subnet->attachment_count; i = end) {
        const struct subnet_rail *at = &subnet->attachments[i];
        char places[300] = "";

        for (end = i + 1; end < subnet->attachment_count &&
                          subnet->attachments[end].node == at->node &&
                          subnet->attachments[end].rail == at->rail;)
            end++;
        if (end - i == 1)
            continue;
        for (size_t k = i; k < end; k++)
            text_join(places, sizeof places, k + 1 == end ? " and " : ", ", "%.100s",
                      subnet_port_text(subnet, subnet->attachments[k].switch_port).text);
        subnet_finding_add(
            findings, SUBNET_NAMES, VERDICT_WARN, subnet->nodes.names[at->node],
            subnet->rails.names[at->rail],
            "%zu adapters identify themselves as %s %s, on %s: set the node description of those "
            "that are not (rdma-ndd does)",
            end - i, subnet->nodes.names[at->node], subnet->rails.names[at->rail], places);
    }
}

/* Returns whether the subnet has none of topology.conf's nodes. If so, reports once that the names
 * are wrong, or that it is another network. */
static bool judge_unnamed(const struct subnet *subnet, const struct topology_conf *conf,
                          struct subnet_findings *findings)
{
    size_t count = 0;
    int nameless = 0;
    struct subnet_finding *finding;

    for (size_t i = 0; i < conf->count; i++)
        for (size_t k = 0; k < conf->leaves[i].below.count; k++, count++)
            if (subnet_node(subnet, conf->leaves[i].below.names[k]) >= 0)
                return false;
    for (size_t i = 0; i < subnet->device_count; i++)
        nameless += subnet->devices[i].kind == SUBNET_ADAPTER && !subnet->devices[i].is_service &&
                    !subnet->devices[i].name[0];
    if (count < 2 || (nameless == 0 && subnet->nodes.count == 0))
        return false;
    if (nameless > 0)
        finding = subnet_finding_add(
            findings, SUBNET_MISSING, VERDICT_FAIL, "", "",
            "none of the %zu nodes of %s is known in the subnet: %d adapter%s there without a "
            "node's name; set the node descriptions (rdma-ndd does), or name them with --names",
            count, conf->path, nameless, nameless == 1 ? " is" : "s are");
    else
        finding = subnet_finding_add(
            findings, SUBNET_MISSING, VERDICT_FAIL, "", "",
            "none of the %zu nodes of %s is known in the %s, whose nodes are named %s%s: "
            "correct the names, or it is another cluster's network",
            count, conf->path, subnet->is_ethernet ? "network that LLDP shows" : "subnet",
            subnet->nodes.names[0], subnet->nodes.count > 1 ? " and so on" : "");
    finding->value = (double)count;
    return true;
}

static void judge_absent(const struct subnet *subnet, const struct topology_conf *conf,
                         const struct subnet_group *group, struct subnet_findings *findings)
{
    const struct topology_switch *leaf = group->leaf;
    struct hostlist absent = {0};
    struct text_line place = topology_conf_place(conf, &leaf->at);
    char home[560];

    for (size_t i = 0; i < leaf->below.count; i++)
        if (subnet_node(subnet, leaf->below.names[i]) < 0 &&
            hostlist_append(&absent, leaf->below.names[i]) != 0)
            findings->is_out_of_memory = true;
    if (absent.count > 1 && absent.count == leaf->below.count) {
        subnet_finding_add(
            findings, SUBNET_MISSING, VERDICT_FAIL, "", leaf->name,
            "%s: none of its %zu nodes (%.200s) is in the subnet: see whether the switch is "
            "powered and its uplinks are in (%s)",
            leaf->name, absent.count, hostlist_text(&absent).text, place.text)
            ->value = (double)absent.count;
    } else {
        bool is_nameless = describe_home(subnet, first_leaf(subnet, group), home, sizeof home);

        for (size_t i = 0; i < absent.count; i++)
            subnet_finding_add(
                findings, SUBNET_MISSING, is_nameless ? VERDICT_WARN : VERDICT_FAIL,
                absent.names[i], "",
                "%s is not in the %s%s (%s expects it under %s): see whether it is powered, its "
                "%s and its cable plugged in%s",
                absent.names[i], subnet->is_ethernet ? "network that LLDP shows" : "subnet",
                is_nameless ? ", or without its name" : "", place.text, leaf->name,
                subnet->is_ethernet ? "lldpd running" : "driver loaded", home);
    }
    hostlist_clear(&absent);
}

/* Whether most of the group's nodes have the rail; two nodes are no majority. */
static bool is_usual(const struct subnet_group *group, size_t rail)
{
    return group->node_count >= 3 && 2 * group->counts[rail] > group->node_count;
}

/* Returns the number of rails that most of the group's nodes have. */
static int usual_rails(const struct subnet *subnet, const struct subnet_group *group)
{
    int count = 0;

    for (size_t i = 0; i < subnet->rails.count; i++)
        count += is_usual(group, i);
    return count;
}

/* Finds the rails that at least half of all groups have; another group can lack them. Returns their
 * number. */
static int common_rails(const struct subnet *subnet, const struct subnet_groups *groups,
                        bool *is_common)
{
    int count = 0;

    for (size_t k = 0; k < subnet->rails.count; k++) {
        int having = 0, all = 0;

        for (size_t i = 0; i < groups->count; i++) {
            having += groups->groups[i].counts[k] > 0;
            all += groups->groups[i].node_count > 0;
        }
        is_common[k] = having > 0 && 2 * having >= all;
        count += is_common[k];
    }
    return count;
}

/* Returns the group's name in topology.conf, else its nodes; malloc'd, NULL if memory is out. */
static char *group_name(const struct subnet *subnet, const struct subnet_groups *groups,
                        size_t which)
{
    struct hostlist nodes = {0};
    char *name;

    if (groups->groups[which].leaf)
        return strdup(groups->groups[which].leaf->name);
    for (size_t i = 0; i < subnet->nodes.count; i++)
        if (groups->group_of[i] == (int)which)
            (void)hostlist_append(&nodes, subnet->nodes.names[i]);
    name = hostlist_fold(&nodes);
    hostlist_clear(&nodes);
    return name;
}

static void judge_group_rails(const struct subnet *subnet, const struct subnet_group *group,
                              const char *name, const bool *is_common, int common_count,
                              struct subnet_findings *findings)
{
    int held = 0; /* rails that at least half of the nodes have */

    for (size_t i = 0; i < subnet->rails.count; i++)
        held += group->counts[i] > 0 && 2 * group->counts[i] >= group->node_count;
    if (group->node_count < 2 || 2 * held < common_count)
        return;
    for (size_t i = 0; i < subnet->rails.count; i++) {
        if (!is_common[i] || group->counts[i] > 0)
            continue;
        subnet_finding_add(
            findings, SUBNET_MISSING, VERDICT_FAIL, "", subnet->rails.names[i],
            "%.200s: none of its %d nodes has its rail %s in the subnet: see whether the switch of "
            "that rail is powered and its uplinks are in",
            name, group->node_count, subnet->rails.names[i])
            ->value = group->node_count;
    }
}

/* Reports a node that lacks rails of most of its group. A node with less than half of these rails
 * is of another kind, unless topology.conf has it and it has no rail at all. */
static void judge_node_rails(const struct subnet *subnet, const struct subnet_group *group,
                             int node, struct subnet_findings *findings)
{
    int usual = usual_rails(subnet, group), lacking = 0, first = -1;
    bool has_any = false, is_nameless;
    char rails[200] = "", home[560];

    for (size_t i = 0; i < subnet->rails.count; i++) {
        has_any = has_any || subnet_attachment(subnet, node, (int)i);
        if (!is_usual(group, i) || subnet_attachment(subnet, node, (int)i))
            continue;
        first = lacking++ ? first : (int)i;
        text_join(rails, sizeof rails, ", ", "%s", subnet->rails.names[i]);
    }
    if (lacking == 0 || (2 * lacking > usual && (has_any || !group->leaf)))
        return;
    is_nameless = describe_home(subnet, group->leaves[first], home, sizeof home);
    subnet_finding_add(
        findings, SUBNET_MISSING, is_nameless ? VERDICT_WARN : VERDICT_FAIL,
        subnet->nodes.names[node], rails,
        "%s %s has no link%s, %d of its %d neighbors have: check cable and adapter%s",
        subnet->nodes.names[node], rails, is_nameless ? " or no name" : "", group->counts[first],
        group->node_count - 1, home);
}

/* Reports nodes whose LLDP shows no switch while others have one: their cables were not checked. */
static void judge_mute(const struct subnet *subnet, struct subnet_findings *findings)
{
    struct hostlist mute = {0};

    for (size_t i = 0, at = 0; subnet->is_ethernet && i < subnet->nodes.count; i++) {
        bool is_named = false;

        while (at < subnet->attachment_count && subnet->attachments[at].node < (int)i)
            at++;
        if (at < subnet->attachment_count && subnet->attachments[at].node == (int)i)
            continue;
        for (size_t k = 0; !is_named && k < findings->count; k++)
            is_named = strcmp(findings->items[k].node, subnet->nodes.names[i]) == 0;
        if (!is_named && hostlist_append(&mute, subnet->nodes.names[i]) != 0)
            findings->is_out_of_memory = true;
    }
    if (mute.count > 0 && mute.count < subnet->nodes.count)
        subnet_finding_add(
            findings, SUBNET_MISSING, VERDICT_WARN, mute.count == 1 ? mute.names[0] : "", "",
            "%.200s: no switch found by LLDP, though %zu of %zu nodes found theirs: check that the "
            "ports are up and that the switch sends LLDP (every 30 s)",
            hostlist_text(&mute).text, subnet->nodes.count - mute.count, subnet->nodes.count)
            ->value = (double)mute.count;
    hostlist_clear(&mute);
}

void subnet_judge_presence(const struct subnet *subnet, const struct topology_conf *conf,
                           const struct subnet_groups *groups, struct subnet_findings *findings)
{
    bool *is_common = calloc(subnet->rails.count + 1, sizeof *is_common);
    bool is_strange = conf && judge_unnamed(subnet, conf, findings);
    int common_count = is_common ? common_rails(subnet, groups, is_common) : 0;

    findings->is_out_of_memory |= !is_common;
    judge_doubles(subnet, findings);
    for (size_t i = 0; conf && !is_strange && i < groups->count; i++)
        judge_absent(subnet, conf, &groups->groups[i], findings);
    for (size_t i = 0; is_common && i < groups->count; i++) {
        char *name = group_name(subnet, groups, i);

        judge_group_rails(subnet, &groups->groups[i], name ? name : "?", is_common, common_count,
                          findings);
        free(name);
    }
    for (size_t i = 0; i < subnet->nodes.count; i++)
        if (groups->group_of[i] >= 0)
            judge_node_rails(subnet, &groups->groups[groups->group_of[i]], (int)i, findings);
    judge_mute(subnet, findings);
    free(is_common);
}
