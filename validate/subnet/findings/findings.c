/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/subnet/findings/findings.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/base/grow.h"
#include "lib/base/text.h"

static const struct {
    const char *metric;
    enum fault_code code;
} kinds[SUBNET_FINDING_KINDS] = {
    [SUBNET_MISSING] = {"missing", FAULT_NOT_IN_NETWORK},
    [SUBNET_PLACE] = {"place", FAULT_NODE_MISPLACED},
    [SUBNET_CROSSED] = {"crossed", FAULT_RAILS_CROSSED},
    [SUBNET_UPLINKS] = {"uplinks", FAULT_UPLINKS_MISSING},
    [SUBNET_RATE] = {"rate", FAULT_LINK_DEGRADED},
    [SUBNET_ERRORS] = {"errors", FAULT_LINK_ERRORS},
    [SUBNET_CONF] = {"topology.conf", FAULT_TOPOLOGY_CONF_WRONG},
    [SUBNET_NAMES] = {"names", FAULT_NAMES_ALIKE},
};

struct record subnet_finding_record(const struct subnet_finding *finding)
{
    return RECORD(.test = "net.topology", .metric = kinds[finding->kind].metric,
                  .node = finding->node, .peer = finding->peer, .part = finding->part,
                  .value = finding->value, .limit = finding->limit,
                  .limit_source = __builtin_isnan(finding->limit) ? NULL : "peers",
                  .unit = __builtin_isnan(finding->value) ? NULL
                          : finding->kind == SUBNET_RATE  ? "Mb/s"
                                                          : "count",
                  .verdict = finding->verdict, .code = kinds[finding->kind].code,
                  .message = finding->text);
}

struct subnet_finding *subnet_finding_add(struct subnet_findings *findings,
                                          enum subnet_finding_kind kind, enum verdict verdict,
                                          const char *node, const char *part, const char *format,
                                          ...)
{
    static struct subnet_finding nobodys;
    struct subnet_finding *finding = &nobodys;

    if (GROW(findings->items, findings->count))
        finding = &findings->items[findings->count++];
    else
        findings->is_out_of_memory = true;
    *finding = (struct subnet_finding){
        .kind = kind, .verdict = verdict, .value = __builtin_nan(""), .limit = __builtin_nan("")};
    snprintf(finding->node, sizeof finding->node, "%s", node);
    snprintf(finding->part, sizeof finding->part, "%s", part);
    TEXT_FORMAT(finding->text, sizeof finding->text, format);
    return finding;
}

void subnet_findings_clear(struct subnet_findings *findings)
{
    if (!findings)
        return;
    free(findings->items);
    *findings = (struct subnet_findings){0};
}

int subnet_judge(const struct subnet *subnet, const struct topology_conf *conf,
                 struct subnet_findings *findings)
{
    struct subnet_groups groups;

    *findings = (struct subnet_findings){0};
    if (subnet_groups_make(subnet, conf, &groups) != 0)
        return -1;
    subnet_judge_presence(subnet, conf, &groups, findings);
    subnet_judge_places(subnet, conf, &groups, findings);
    subnet_judge_conf(subnet, conf, &groups, findings);
    subnet_judge_upper(subnet, conf, &groups, findings);
    subnet_judge_uplinks(subnet, findings);
    subnet_judge_rates(subnet, findings);
    subnet_groups_clear(&groups);
    if (!findings->is_out_of_memory)
        return 0;
    subnet_findings_clear(findings);
    return -1;
}

struct text_line subnet_free_port(const struct subnet *subnet, int leaf)
{
    const struct subnet_device *device = &subnet->devices[leaf];
    int first = 0, last = 0, end, free_port = 0, free_count = 0;

    for (int number = 1; number <= device->port_count; number++) {
        int other = subnet_peer_device(subnet, subnet_port(subnet, leaf, number));

        if (other >= 0 && subnet->devices[other].kind == SUBNET_ADAPTER) {
            first = first ? first : number;
            last = number;
        }
    }
    /* the port before the first and the one after the last belong to the same row, from port 1 */
    end = first == 2 ? last : last + 1;
    for (int number = first > 1 ? first - 1 : 1;
         first && number <= end && number <= device->port_count; number++)
        if (subnet_port(subnet, leaf, number)->peer < 0) {
            free_port = number;
            free_count += number > first && number < last ? 1 : 0;
            if (number > first && number < last)
                break;
        }
    if (!free_port || free_count > 1)
        return (struct text_line){""};
    return text_line(", its %s is empty",
                     subnet_port_label(subnet_port(subnet, leaf, free_port)).text);
}
