/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/compare.h"

#include <stdlib.h>
#include <string.h>

#include "validate/certify/report/run_records.h"
#include "validate/certify/state/rails.h"
#include "validate/compare/comparison.h"

/* host.config: compares the facts that muster check reported over the nodes. */

static bool is_selected(const void *context, const char *node)
{
    const struct node_run *node_run = certify_node_run(context, node);

    return node_run && node_run->is_selected;
}

static void deviation_report(struct certify *certify, const struct deviation *deviation)
{
    struct node_run *node_run = certify_node_run(certify, deviation->node);
    char text[512];

    deviation_message(deviation, text, sizeof text);
    if (node_run) {
        certify_fault(certify, node_run, STAGE_CHECK,
                      certify_rails_verdict(certify, node_run, deviation->part, deviation->verdict),
                      deviation->code, "host.config",
                      *deviation->part ? deviation->part : deviation->name, text);
        return;
    }
    certify_record(certify,
                   RECORD(.suite = "certify", .test = "host.config",
                          .part = *deviation->part ? deviation->part : deviation->name,
                          .verdict = deviation->verdict, .code = deviation->code, .message = text));
    certify_note(certify, "%s", text);
}

/* Records the nodes that are the only one of their kind. */
static void lone_nodes_report(struct certify *certify, const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->groups.count; i++) {
        const struct group *group = &comparison->groups.groups[i];
        char text[512];

        if (group->count != 1 || comparison->groups.count == 1)
            continue;
        snprintf(text, sizeof text, "the only node of its kind (%.400s): not compared",
                 group->label);
        certify_record(certify, RECORD(.suite = "certify", .test = "host.config",
                                       .node = comparison->table.nodes[group->nodes[0]],
                                       .verdict = VERDICT_SKIP, .message = text));
    }
}

/* ---------------------------------------------------------------- what two nodes have */

static void duplicate_report(struct certify *certify, const struct duplicate *duplicate)
{
    char text[512];

    if (duplicate->is_common) {
        duplicate_message(duplicate, 0, text, sizeof text);
        certify_note(certify, "%s: %s; most nodes have it, so it is assumed to be intended",
                     duplicate->identities[0].node, text);
        return;
    }
    for (size_t i = 0; i < duplicate->count; i++) {
        struct node_run *node_run = certify_node_run(certify, duplicate->identities[i].node);

        duplicate_message(duplicate, i, text, sizeof text);
        if (node_run)
            certify_verdict(certify, node_run, STAGE_CHECK, VERDICT_UNKNOWN, "net.addresses",
                            duplicate->identities[i].part, text);
    }
}

static void host_note(const char *text, void *context)
{
    struct certify *certify = context;

    certify_record(certify,
                   RECORD(.suite = "certify", .test = "net.addresses", .verdict = VERDICT_WARN,
                          .code = FAULT_HOSTS_DIFFER, .message = text));
    hostlist_append(&certify->headlines, text);
}

void certify_duplicates(struct certify *certify, size_t first)
{
    struct identity *identities = NULL;
    struct duplicate *duplicates = NULL;
    size_t count = 0, nodes = 0;
    int found = -1;

    if (identities_take(&certify->records, first, is_selected, certify, &identities, &count,
                        &nodes) == 0)
        found = duplicates_find(identities, count, nodes, &duplicates);
    if (found >= 0 && hosts_differ(identities, count, host_note, certify) < 0)
        found = -1;
    if (found < 0) {
        certify_note(certify, "out of memory, cannot compare the nodes' addresses");
        certify->has_fault = true;
    }
    /* reports add records, whose list may move; the facts' strings stay where they are */
    for (int i = 0; i < found; i++)
        duplicate_report(certify, &duplicates[i]);
    free(duplicates);
    free(identities);
}

void certify_compare(struct certify *certify, size_t first)
{
    struct comparison comparison = {0};
    struct error err;

    if (comparison_golden(&comparison, certify->conf.golden_path, &err) != 0) {
        certify_note(certify, "%s; nodes are compared with their majority", err.text);
        certify->has_fault = true;
    }
    if (comparison_make(&comparison, &certify->records, first, is_selected, certify,
                        &certify->cluster, certify->conf.compare_by, &err) != 0) {
        certify_note(certify, "host.config: %s", err.text);
        certify->has_fault = true;
    }
    /* reports add records, whose list may move; the facts' strings stay where they are */
    for (size_t i = 0; i < comparison.count; i++)
        deviation_report(certify, &comparison.deviations[i]);
    lone_nodes_report(certify, &comparison);
    comparison_clear(&comparison);
}
