/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/subnet/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The switch where the node's first rail belongs, and its free port: "; leaf1 (0x...) is its
 * switch, its port 7 is empty". "" when no rail has one. */
static const char *describe_home(const struct subnet *subnet, const struct subnet_group *group,
                                 char *text, size_t size)
{
    char device[400], port[96];

    text[0] = '\0';
    for (size_t i = 0; i < subnet->rails.count; i++) {
        if (group->leaves[i] < 0)
            continue;
        snprintf(text, size, "; it belongs on %s%s",
                 subnet_device_text(subnet, group->leaves[i], device, sizeof device),
                 subnet_free_port(subnet, group->leaves[i], port, sizeof port));
        break;
    }
    return text;
}

static void judge_absent(const struct subnet *subnet, const struct topology_conf *conf,
                         const struct subnet_group *group, struct subnet_findings *findings)
{
    const struct topology_leaf *leaf = group->leaf;
    struct subnet_finding *finding;
    struct hostlist absent = {0};
    char *folded, home[560], place[300];

    topology_conf_place(conf, leaf, place, sizeof place);
    for (size_t i = 0; i < leaf->nodes.count; i++)
        if (subnet_node(subnet, leaf->nodes.names[i]) < 0 &&
            hostlist_append(&absent, leaf->nodes.names[i]) != 0)
            findings->is_out_of_memory = true;
    if (absent.count > 1 && absent.count == leaf->nodes.count) {
        folded = hostlist_fold(&absent);
        finding = subnet_finding_add(
            findings, SUBNET_MISSING, VERDICT_FAIL,
            "%s: none of its %zu nodes (%.200s) is in the subnet: see whether the switch is "
            "powered and its uplinks are in (%s)",
            leaf->name, absent.count, folded ? folded : "?", place);
        snprintf(finding->part, sizeof finding->part, "%s", leaf->name);
        finding->value = (double)absent.count;
        finding->unit = "count";
        free(folded);
    } else {
        describe_home(subnet, group, home, sizeof home);
        for (size_t i = 0; i < absent.count; i++) {
            finding = subnet_finding_add(
                findings, SUBNET_MISSING, VERDICT_FAIL,
                "%s is not in the %s (%s expects it under %s): see whether it is powered, its "
                "%s and its cable plugged in%s",
                absent.names[i], subnet->is_ethernet ? "network that LLDP shows" : "subnet", place,
                leaf->name, subnet->is_ethernet ? "lldpd running" : "driver loaded", home);
            snprintf(finding->node, sizeof finding->node, "%s", absent.names[i]);
        }
    }
    hostlist_clear(&absent);
}

/* How many rails at least half of the group's nodes have. */
static int usual_rails(const struct subnet *subnet, const struct subnet_group *group)
{
    int count = 0;

    for (size_t i = 0; i < subnet->rails.count; i++)
        count += group->counts[i] > 0 && 2 * group->counts[i] >= group->node_count;
    return count;
}

/* The rails that at least half of all groups have, which is what another can lack. */
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

static void judge_group_rails(const struct subnet *subnet, const struct subnet_group *group,
                              const char *name, const bool *is_common, int common_count,
                              struct subnet_findings *findings)
{
    int usual = usual_rails(subnet, group);
    struct subnet_finding *finding;

    if (group->node_count < 2 || 2 * usual < common_count)
        return;
    for (size_t i = 0; i < subnet->rails.count; i++) {
        if (!is_common[i] || group->counts[i] > 0)
            continue;
        finding = subnet_finding_add(
            findings, SUBNET_MISSING, VERDICT_FAIL,
            "%s: none of its %d nodes has its rail %s in the subnet: see whether the switch of "
            "that rail is powered and its uplinks are in",
            name, group->node_count, subnet->rails.names[i]);
        snprintf(finding->part, sizeof finding->part, "%s", subnet->rails.names[i]);
        finding->value = group->node_count;
        finding->unit = "count";
    }
}

/* A node without a rail that at least half of its group have; nodes that have less than half of
 * these are of another kind, but where topology.conf wants them and they have none. */
static void judge_node_rails(const struct subnet *subnet, const struct subnet_group *group,
                             int node, struct subnet_findings *findings)
{
    int usual = usual_rails(subnet, group), lacking = 0, first = -1;
    bool has_any = false;
    size_t length = 0;
    char rails[200] = "", device[400], port[96];
    struct subnet_finding *finding;

    for (size_t i = 0; i < subnet->rails.count; i++) {
        has_any = has_any || subnet_attachment(subnet, node, (int)i);
        if (group->counts[i] == 0 || 2 * group->counts[i] < group->node_count ||
            subnet_attachment(subnet, node, (int)i))
            continue;
        first = lacking++ ? first : (int)i;
        if (length < sizeof rails)
            length += (size_t)snprintf(rails + length, sizeof rails - length, "%s%s",
                                       length ? ", " : "", subnet->rails.names[i]);
    }
    if (lacking == 0 || (2 * lacking > usual && (has_any || !group->leaf)))
        return;
    finding = subnet_finding_add(
        findings, SUBNET_MISSING, VERDICT_FAIL,
        "%s %s has no link, %d of its %d neighbours have: check cable and adapter",
        subnet->nodes.names[node], rails, group->counts[first], group->node_count - 1);
    if (group->leaves[first] >= 0) {
        length = strlen(finding->text);
        snprintf(finding->text + length, sizeof finding->text - length, "; it belongs on %s%s",
                 subnet_device_text(subnet, group->leaves[first], device, sizeof device),
                 subnet_free_port(subnet, group->leaves[first], port, sizeof port));
    }
    snprintf(finding->node, sizeof finding->node, "%s", subnet->nodes.names[node]);
    snprintf(finding->part, sizeof finding->part, "%.*s", 95, rails);
}

int subnet_judge_presence(const struct subnet *subnet, const struct topology_conf *conf,
                          const struct subnet_groups *groups, struct subnet_findings *findings)
{
    bool *is_common = calloc(subnet->rails.count + 1, sizeof *is_common);
    int common_count;

    if (!is_common)
        return -1;
    common_count = common_rails(subnet, groups, is_common);
    for (size_t i = 0; conf && i < groups->count; i++)
        judge_absent(subnet, conf, &groups->groups[i], findings);
    for (size_t i = 0; i < groups->count; i++)
        if (groups->groups[i].leaf)
            judge_group_rails(subnet, &groups->groups[i], groups->groups[i].leaf->name, is_common,
                              common_count, findings);
    for (size_t i = 0; i < subnet->nodes.count; i++)
        if (groups->group_of[i] >= 0)
            judge_node_rails(subnet, &groups->groups[groups->group_of[i]], (int)i, findings);
    free(is_common);
    return 0;
}
