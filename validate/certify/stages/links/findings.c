/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validate/act/strikes.h"
#include "validate/certify/stages/links/links_stage.h"
#include "validate/certify/state/rails.h"
#include "validate/judge/links/trial/trial.h"

/* What the trial of the links found, as verdicts about nodes, notes and lines of certificates. */

/* What is wrong by that finding. */
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
        [FINDING_LIAR] = FAULT_REPORT_INCONSISTENT,
        [FINDING_MISPLACED] = FAULT_NODE_MISPLACED,
        [FINDING_AMBIGUOUS] = FAULT_RAIL_OR_PATH_SLOW,
        [FINDING_MISSING] = FAULT_RAIL_NOT_MEASURED,
    };
    bool is_latency = catalog_is_metric(finding->metric, METRIC_LATENCY);

    return is_latency ? FAULT_LATENCY_HIGH : codes[finding->kind];
}

/* What that rail failed by; FAULT_NONE: it did not. */
static enum fault_code rail_fault(const struct trial *trial, int node, int rail)
{
    for (size_t i = 0; i < trial->count; i++) {
        const struct finding *finding = &trial->findings[i];

        if ((finding->kind == FINDING_RAIL || finding->kind == FINDING_NODE) &&
            finding->verdict == VERDICT_FAIL && finding->node == node &&
            (finding->rail < 0 || finding->rail == rail))
            return code_of(finding);
    }
    return FAULT_NONE;
}

/* Whether the node's failed rails are few enough for AllowFailedRails: another one was measured and
 * did not fail. */
static bool is_allowed(const struct certify *certify, const struct trial *trial, int node)
{
    const struct subject *subject = certify_subject(certify, trial->links.nodes[node]);
    int failed = certify_rails_left_out(certify, subject), good = 0;

    for (size_t k = 0; k < trial->links.rail_count; k++) {
        if (rail_fault(trial, node, (int)k) != FAULT_NONE)
            failed++;
        else
            good += !isnan(trial->figures[(size_t)node * trial->links.rail_count + k]);
    }
    return failed > 0 && failed <= certify->conf.allow_failed_rails && good > 0;
}

/* None of the nodes on a slow leaf is certified. */
static void leaf_doubt(struct certify *certify, const struct trial *trial,
                       const struct finding *finding)
{
    const struct links *links = &trial->links;

    for (size_t i = 0; i < links->node_count && links->blocks; i++) {
        struct subject *subject = certify_subject(certify, links->nodes[i]);

        if (links->blocks[i] == finding->block && finding->verdict >= VERDICT_UNKNOWN)
            outcome_note(&subject->outcome, STAGE_LINKS, VERDICT_UNKNOWN, code_of(finding), "links",
                         finding->part, finding->message);
    }
}

/* Well by what this run has measured, but not what it was or what others have. */
static bool is_hint(const struct finding *finding)
{
    return catalog_is_limit(finding->limit_source, LIMIT_HISTORY) ||
           catalog_is_limit(finding->limit_source, LIMIT_REFERENCE);
}

/* A path that is slow for what the rail at one of its ends loses. */
static bool is_by_loss(const struct certify *certify, const struct trial *trial,
                       const struct finding *finding)
{
    const struct links *links = &trial->links;
    const int ends[] = {finding->node, finding->peer};
    bool is_lossy = false;

    if ((finding->kind != FINDING_PAIR && finding->kind != FINDING_AMBIGUOUS) || finding->rail < 0)
        return false;
    for (int i = 0; i < 2; i++)
        is_lossy |= ends[i] >= 0 &&
                    certify_is_lossy(certify, links->nodes[ends[i]], links->rails[finding->rail]);
    return is_lossy;
}

static void finding_take(struct certify *certify, const struct trial *trial,
                         const struct finding *finding)
{
    const struct links *links = &trial->links;
    struct subject *subject =
        finding->node >= 0 ? certify_subject(certify, links->nodes[finding->node]) : NULL;
    char text[256];
    struct record record = trial_record(trial, finding);
    enum verdict verdict = finding->verdict;

    if (finding->kind == FINDING_RAIL && verdict == VERDICT_FAIL &&
        is_allowed(certify, trial, finding->node))
        verdict = record.verdict = VERDICT_WARN;
    record.suite = "certify";
    record.code = code_of(finding);
    certify_record(certify, &record);
    switch (finding->kind) {
    case FINDING_NODE:
    case FINDING_RAIL:
    case FINDING_HOST:
    case FINDING_LIAR:
    case FINDING_AMBIGUOUS:
    case FINDING_MISSING:
        trial_short_message(finding, text, sizeof text);
        if (subject && verdict != finding->verdict)
            certify_note(certify, "%s: %s, left out by AllowFailedRails", subject->name, text);
        if (subject)
            verdict = certify_rails_verdict(certify, subject, finding->part, verdict);
        if (subject && verdict == VERDICT_FAIL &&
            strikes_is_near(finding->limit_source, finding->value, finding->limit))
            outcome_note_near(&subject->outcome, STAGE_LINKS, record.code, "links", finding->part,
                              text);
        else if (subject)
            outcome_note(&subject->outcome, STAGE_LINKS, verdict, record.code, "links",
                         finding->part, text);
        if (subject && is_hint(finding))
            certify_note(certify, "%s: %s", subject->name, text);
        break;
    case FINDING_FABRIC: /* slow everywhere alike: no node's, but none is what it should be */
        certify_note(certify, "%s", finding->message);
        certify->has_fault |= finding->verdict == VERDICT_FAIL;
        if (finding->verdict >= VERDICT_UNKNOWN)
            certify_all(certify,
                        &(struct hostlist){(char **)(size_t)links->nodes, links->node_count},
                        STAGE_LINKS, VERDICT_UNKNOWN, "links", finding->message);
        break;
    case FINDING_LEAF: /* no node's fault, but none of its nodes could show what it can do */
        leaf_doubt(certify, trial, finding);
        /* fall through */
    default: /* a path is no node's fault */
        certify_note(
            certify, "%s%s%s",
            strncmp(finding->message, finding->part, strlen(finding->part)) == 0 ? ""
                                                                                 : finding->part,
            strncmp(finding->message, finding->part, strlen(finding->part)) == 0 ? "" : ": ",
            finding->message);
        certify->has_fault |= finding->verdict == VERDICT_FAIL;
    }
}

/* What the links say of topology.conf as a whole; nodes that are elsewhere have findings of their
 * own. */
static void topology_take(struct certify *certify, const struct trial *trial)
{
    const struct links *links = &trial->links;
    struct record record = RECORD_INIT;
    bool is_several = false;

    for (size_t i = 0; i < links->node_count && links->blocks; i++)
        is_several |= links->blocks[i] != links->blocks[0];
    for (size_t i = 0; i < trial->count; i++)
        is_several = is_several && trial->findings[i].kind != FINDING_MISPLACED;
    if (!is_several)
        return;
    record.suite = "certify";
    record.test = "net.topology";
    record.verdict = trial_shows_leaves(trial) ? VERDICT_PASS : VERDICT_SKIP;
    record.message = record.verdict == VERDICT_PASS
                         ? "by their links all nodes are on the leaf switches of topology.conf"
                         : "uplinks are as fast as the leaves: the links do not show which leaf "
                           "switch a node is on";
    certify_record(certify, &record);
}

/* A line of the node's certificate: "links eth1: 196 Mb/s", of a failed rail with its code. */
static bool rail_line_add(struct subject *subject, const char *rail, const char *what)
{
    char line[128];

    snprintf(line, sizeof line, "links %s: %s", rail, what);
    return hostlist_append(&subject->rails, line) == 0;
}

/* The lines of what was measured, and of what is left out. False when memory is out: jobs would
 * take a failed rail for a good one. */
static bool rail_lines_add(const struct certify *certify, const struct trial *trial, size_t node,
                           struct subject *subject)
{
    const struct links *links = &trial->links;
    bool is_done = true;
    char what[64];

    for (size_t k = 0; k < links->rail_count; k++) {
        double mbps = trial->figures[node * links->rail_count + k];
        enum fault_code code;

        if (isnan(mbps))
            continue;
        subject->rail_mbps = fmin(subject->rail_mbps, mbps); /* of NAN and a number the number */
        code = rail_fault(trial, (int)node, (int)k);
        snprintf(what, sizeof what, "%.0f Mb/s%s%s", mbps, code != FAULT_NONE ? " " : "",
                 catalog_fault(code)->name);
        is_done &= rail_line_add(subject, links->rails[k], what);
    }
    snprintf(what, sizeof what, "unusable %s", catalog_fault(FAULT_RAIL_FAULT)->name);
    for (int k = 0; k < certify_rails_left_out(certify, subject); k++)
        is_done &= rail_line_add(subject, subject->unusable.names[k], what);
    return is_done;
}

/* The table's cell and the certificate's lines. */
static void figures_take(struct certify *certify, const struct trial *trial)
{
    const struct links *links = &trial->links;

    for (size_t i = 0; i < links->node_count; i++) {
        struct subject *subject = certify_subject(certify, links->nodes[i]);

        if (!rail_lines_add(certify, trial, i, subject))
            certify_verdict(certify, subject, STAGE_LINKS, VERDICT_UNKNOWN, "links", "",
                            "no memory for its rails");
        if (isnan(subject->rail_mbps))
            certify_verdict(certify, subject, STAGE_LINKS, VERDICT_UNKNOWN, "links", "",
                            "no link of it was measured");
        else
            snprintf(subject->outcome.cells[STAGE_LINKS],
                     sizeof subject->outcome.cells[STAGE_LINKS], "%.0f Mb/s", subject->rail_mbps);
    }
}

void certify_link_findings(struct certify *certify, const struct trial *trial, size_t first)
{
    for (size_t i = 0; i < trial->count; i++)
        if (!is_by_loss(certify, trial, &trial->findings[i]))
            finding_take(certify, trial, &trial->findings[i]);
    topology_take(certify, trial);
    certify_sums(certify, first, trial->figures, trial->links.node_count * trial->links.rail_count);
    figures_take(certify, trial);
}
