/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validate/certify/report/run_records.h"
#include "validate/certify/stages/links/links_stage.h"
#include "validate/certify/state/rails.h"
#include "validate/localization/localization.h"
#include "validate/policy/strikes.h"

/* What the localization of the links found, as verdicts about nodes, notes and lines of
 * certificates. */

/* Returns the fault code of the finding. */
static enum fault_code code_of(const struct finding *finding)
{
    static const enum fault_code codes[] = {
        [FINDING_NODE] = FAULT_NODE_SLOW,
        [FINDING_RAIL] = FAULT_RAIL_SLOW,
        [FINDING_HOST] = FAULT_HOST_SLOW,
        [FINDING_PAIR] = FAULT_PATH_SLOW,
        [FINDING_LEAF] = FAULT_LEAF_SLOW,
        [FINDING_UPLINK] = FAULT_UPLINK_SLOW,
        [FINDING_FABRIC] = FAULT_NETWORK_SLOW,
        [FINDING_INCONSISTENT] = FAULT_REPORT_INCONSISTENT,
        [FINDING_MISPLACED] = FAULT_NODE_MISPLACED,
        [FINDING_AMBIGUOUS] = FAULT_RAIL_OR_PATH_SLOW,
        [FINDING_MISSING] = FAULT_RAIL_NOT_MEASURED,
    };
    bool is_latency = catalog_is_metric(finding->metric, METRIC_LATENCY);

    return is_latency                ? FAULT_LATENCY_HIGH
           : finding->lost_bytes > 0 ? FAULT_PATH_MTU_LOW
                                     : codes[finding->kind];
}

/* Returns the fault code of each rail of each node, [node * rails + rail]; FAULT_NONE: it did not
 * fail. malloc'd; NULL if memory is out. */
static enum fault_code *rail_faults(const struct localization *localization)
{
    const struct links *links = &localization->links;
    enum fault_code *faults = calloc(links->node_count * links->rail_count + 1, sizeof *faults);

    for (size_t i = 0; faults && i < localization->findings.count; i++) {
        const struct finding *finding = &localization->findings.items[i];

        if ((finding->kind != FINDING_RAIL && finding->kind != FINDING_NODE) ||
            finding->verdict != VERDICT_FAIL || finding->node < 0)
            continue;
        for (size_t k = 0; k < links->rail_count; k++) {
            enum fault_code *fault = &faults[(size_t)finding->node * links->rail_count + k];

            if (*fault == FAULT_NONE && (finding->rail < 0 || finding->rail == (int)k))
                *fault = code_of(finding);
        }
    }
    return faults;
}

/* Returns whether AllowFailedRails permits the node's failed rails: they are few enough, and
 * another one was measured and did not fail. */
static bool is_allowed(const struct certify *certify, const struct localization *localization,
                       const enum fault_code *faults, int node)
{
    const struct node_run *node_run = certify_node_run(certify, localization->links.nodes[node]);
    int failed = certify_rails_left_out(certify, node_run), good = 0;

    for (size_t k = 0; k < localization->links.rail_count; k++) {
        size_t rail = (size_t)node * localization->links.rail_count + k;

        if (faults[rail] != FAULT_NONE)
            failed++;
        else
            good += !isnan(localization->links.figures_mbps[rail]);
    }
    return failed > 0 && failed <= certify->conf.allow_failed_rails && good > 0;
}

void certify_leaf_doubt(struct certify *certify, const struct links *links, const int *leaves,
                        int leaf, const struct record *record)
{
    for (size_t i = 0; i < links->node_count; i++)
        if (leaves[i] == leaf)
            outcome_note(&certify_node_run(certify, links->nodes[i])->outcome, STAGE_LINKS,
                         VERDICT_UNKNOWN, record->code, "links", record->part, record->message);
}

/* Returns whether the rail is good by what this run measured, but below its own history or a
 * reference. */
static bool is_hint(const struct finding *finding)
{
    return catalog_is_limit(finding->limit_source, LIMIT_HISTORY) ||
           catalog_is_limit(finding->limit_source, LIMIT_REFERENCE);
}

/* Returns whether the finding is a path that is slow because of packet loss, on it, on an uplink
 * that it passes or on the rail at one of its ends. */
static bool is_by_loss(const struct localization *localization, const struct finding *finding)
{
    const struct diagnose_network network = {.leaves = localization->source.leaves};
    int peer = finding->peer < 0 ? finding->node : finding->peer;

    if ((finding->kind != FINDING_PAIR && finding->kind != FINDING_AMBIGUOUS) || finding->rail < 0)
        return false;
    for (size_t i = 0; i < localization->losses.count; i++) {
        const struct loss_finding *loss = &localization->losses.findings[i];
        const struct part *part = &loss->part;

        if (part->type != DIAGNOSE_LEAF && part->type != DIAGNOSE_FABRIC &&
            part->rail == finding->rail && losses_verdict(loss) == VERDICT_FAIL &&
            part_touches(&network, part, finding->node, peer))
            return true;
    }
    return false;
}

static void finding_apply(struct certify *certify, const struct localization *localization,
                          const enum fault_code *faults, const struct finding *finding)
{
    const struct links *links = &localization->links;
    struct node_run *node_run =
        finding->node >= 0 ? certify_node_run(certify, links->nodes[finding->node]) : NULL;
    char text[256];
    struct record record = localization_record(localization, finding);
    enum verdict verdict = finding->verdict;
    bool is_named = strncmp(finding->message, finding->part, strlen(finding->part)) == 0;

    if (finding->kind == FINDING_RAIL && verdict == VERDICT_FAIL &&
        is_allowed(certify, localization, faults, finding->node))
        verdict = record.verdict = VERDICT_WARN;
    record.suite = "certify";
    record.code = code_of(finding);
    certify_record(certify, record);
    switch (finding->kind) {
    case FINDING_NODE:
    case FINDING_RAIL:
    case FINDING_HOST:
    case FINDING_INCONSISTENT:
    case FINDING_AMBIGUOUS:
    case FINDING_MISSING:
        localization_short_message(finding, text, sizeof text);
        if (node_run && verdict != finding->verdict)
            certify_note(certify, "%s: %s, left out by AllowFailedRails", node_run->name, text);
        if (node_run)
            verdict = certify_rails_verdict(certify, node_run, finding->part, verdict);
        if (node_run && verdict == VERDICT_FAIL &&
            strikes_is_near(finding->limit_source, finding->value, finding->limit))
            outcome_note_near(&node_run->outcome, STAGE_LINKS, record.code, "links", finding->part,
                              text);
        else if (node_run)
            outcome_note(&node_run->outcome, STAGE_LINKS, verdict, record.code, "links",
                         finding->part, text);
        if (node_run && is_hint(finding))
            certify_note(certify, "%s: %s", node_run->name, text);
        break;
    case FINDING_FABRIC: /* slow everywhere: no node's fault, but no node is as it should be */
        certify_note(certify, "%s", finding->message);
        certify->has_fault |= finding->verdict == VERDICT_FAIL;
        if (finding->verdict >= VERDICT_UNKNOWN)
            certify_all(certify,
                        &(struct hostlist){(char **)(size_t)links->nodes, links->node_count},
                        STAGE_LINKS, VERDICT_UNKNOWN, FAULT_NONE, "links", finding->message);
        break;
    case FINDING_LEAF: /* no node's fault, but none of its nodes could show what it can do */
        if (finding->verdict >= VERDICT_UNKNOWN && links->leaf_count > 1)
            certify_leaf_doubt(certify, links, links->leaves, finding->leaf, &record);
        /* fall through */
    default: /* a path is no node's fault */
        certify_note(certify, "%s%s%s", is_named ? "" : finding->part, is_named ? "" : ": ",
                     finding->message);
        certify->has_fault |= finding->verdict == VERDICT_FAIL;
    }
}

/* Records whether the links agree with topology.conf as a whole; nodes that are elsewhere have
 * findings of their own. */
static void topology_record(struct certify *certify, const struct localization *localization)
{
    const struct links *links = &localization->links;
    bool is_several = false, is_shown;

    for (size_t i = 0; i < links->node_count && links->leaf_count > 1; i++)
        is_several |= links->leaves[i] != links->leaves[0];
    for (size_t i = 0; i < localization->findings.count; i++)
        is_several = is_several && localization->findings.items[i].kind != FINDING_MISPLACED;
    if (!is_several)
        return;
    is_shown = links_show_leaves(links);
    certify_record(
        certify,
        RECORD(.suite = "certify", .test = "net.topology",
               .verdict = is_shown ? VERDICT_PASS : VERDICT_SKIP,
               .message = is_shown
                              ? "the measured links agree with the leaf switches of topology.conf"
                              : "uplinks are as fast as node links: measurements cannot identify "
                                "the leaf switch of a node"));
}

/* Adds a line to the node's certificate: "links eth1: 196 Mb/s"; for a failed rail with its code.
 */
static bool rail_line_add(struct node_run *node_run, const char *rail, const char *what)
{
    char line[128];

    snprintf(line, sizeof line, "links %s: %s", rail, what);
    return hostlist_append(&node_run->rails, line) == 0;
}

/* Adds the lines of the rails that were measured and of those that are left out. Returns false if
 * memory is out: jobs would take a failed rail for a good one. */
static bool rail_lines_add(const struct certify *certify, const struct localization *localization,
                           const enum fault_code *faults, size_t node, struct node_run *node_run)
{
    const struct links *links = &localization->links;
    bool is_done = true;
    char what[64];

    for (size_t k = 0; k < links->rail_count; k++) {
        double mbps = links->figures_mbps[node * links->rail_count + k];
        enum fault_code code;

        if (isnan(mbps))
            continue;
        /* the number, if one of both is NAN */
        node_run->rail_mbps = fmin(node_run->rail_mbps, mbps);
        code = faults[node * links->rail_count + k];
        snprintf(what, sizeof what, "%.0f Mb/s%s%s", mbps, code != FAULT_NONE ? " " : "",
                 catalog_fault(code)->name);
        is_done &= rail_line_add(node_run, links->rails[k], what);
    }
    snprintf(what, sizeof what, "unusable %s", catalog_fault(FAULT_RAIL_FAULT)->name);
    for (int k = 0; k < certify_rails_left_out(certify, node_run); k++)
        is_done &= rail_line_add(node_run, node_run->unusable.names[k], what);
    return is_done;
}

/* Sets the nodes' cells of the table, and adds the lines of their certificates. */
static void figures_set(struct certify *certify, const struct localization *localization,
                        const enum fault_code *faults)
{
    const struct links *links = &localization->links;

    for (size_t i = 0; i < links->node_count; i++) {
        struct node_run *node_run = certify_node_run(certify, links->nodes[i]);

        if (!rail_lines_add(certify, localization, faults, i, node_run))
            certify_verdict(certify, node_run, STAGE_LINKS, VERDICT_UNKNOWN, "links", "",
                            "out of memory for its rails");
        if (isnan(node_run->rail_mbps))
            certify_verdict(certify, node_run, STAGE_LINKS, VERDICT_UNKNOWN, "links", "",
                            "none of its links was measured");
        else
            snprintf(node_run->outcome.cells[STAGE_LINKS],
                     sizeof node_run->outcome.cells[STAGE_LINKS], "%.0f Mb/s", node_run->rail_mbps);
    }
}

void certify_link_findings(struct certify *certify, const struct localization *localization,
                           size_t first)
{
    const struct links *links = &localization->links;
    enum fault_code *faults = rail_faults(localization);

    if (!faults) {
        certify_all(certify, &(struct hostlist){(char **)(size_t)links->nodes, links->node_count},
                    STAGE_LINKS, VERDICT_UNKNOWN, FAULT_NONE, "links",
                    "out of memory for its rails");
        return;
    }
    for (size_t i = 0; i < localization->findings.count; i++)
        if (!is_by_loss(localization, &localization->findings.items[i]))
            finding_apply(certify, localization, faults, &localization->findings.items[i]);
    topology_record(certify, localization);
    certify_sums(certify, first, links->figures_mbps, links->node_count * links->rail_count);
    figures_set(certify, localization, faults);
    free(faults);
}
