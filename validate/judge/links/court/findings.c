/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/court/findings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"

struct finding *findings_add(struct findings *findings, enum finding_kind kind,
                             enum verdict verdict)
{
    static struct finding scratch;
    struct finding *finding = &scratch;

    if (GROW(findings->items, findings->count))
        finding = &findings->items[findings->count++];
    else
        findings->is_out_of_memory = true;
    *finding = (struct finding){.kind = kind,
                                .verdict = verdict,
                                .node = -1,
                                .peer = -1,
                                .rail = -1,
                                .block = -1,
                                .peer_block = -1,
                                .metric = "bandwidth",
                                .direction = "",
                                .value = NAN,
                                .limit = NAN,
                                .reference = NAN,
                                .limit_source = "",
                                .confidence = NAN,
                                .share = NAN};
    return finding;
}

const char *findings_block(const struct findings *findings, int block)
{
    if (findings->block_parts && (size_t)block < findings->block_part_count &&
        findings->block_parts[block])
        return findings->block_parts[block];
    return findings->links->block_names ? findings->links->block_names[block] : "?";
}

static const char *direction_of(enum part_kind kind)
{
    switch (kind) {
    case PART_SENDS:
        return "sends";
    case PART_RECEIVES:
        return "receives";
    case PART_PATH:
    case PART_UPLINK_OUT:
        return "forth";
    case PART_UPLINK_IN:
        return "back";
    default:
        return "both ways";
    }
}

static const char *verb_of(const struct finding *finding)
{
    return strcmp(finding->direction, "both ways") == 0 ? "sends and receives" : finding->direction;
}

/* " (5 of 12 samples low)" for what comes and goes. */
static void how_often(const struct finding *finding, char *text, size_t size)
{
    text[0] = '\0';
    if (finding->is_intermittent)
        snprintf(text, size, " at times, in %.0f %% of %d samples", 100 * finding->share,
                 finding->sample_count);
}

static void name_part(const struct findings *findings, struct finding *finding)
{
    const char *const *rails = findings->links->rails;
    const char *space = finding->rail >= 0 ? " " : "";
    const char *rail = finding->rail >= 0 ? rails[finding->rail] : "";
    char *part = finding->part;
    size_t size = sizeof finding->part;

    switch (finding->kind) {
    case FINDING_UPLINK:
        if (finding->peer_block < 0)
            snprintf(part, size, "uplink %.63s%s%.20s", findings_block(findings, finding->block),
                     space, rail);
        else
            snprintf(part, size, "uplink %.63s-%.63s%s%.20s",
                     findings_block(findings, finding->block),
                     findings_block(findings, finding->peer_block), space, rail);
        break;
    case FINDING_LEAF:
        snprintf(part, size, "leaf %.63s%s%.20s", findings_block(findings, finding->block), space,
                 rail);
        break;
    case FINDING_HOST:
        if (finding->rail >= 0)
            snprintf(part, size, "host %.60s", rail);
        else
            snprintf(part, size, "host");
        break;
    default:
        if (finding->rail >= 0)
            snprintf(part, size, "%.90s", rail);
        else
            snprintf(part, size, "all rails");
    }
}

void findings_name_path(const struct findings *findings, struct finding *finding)
{
    const char *const *nodes = findings->links->nodes;
    bool is_forth = finding->node < finding->peer;

    snprintf(finding->part, sizeof finding->part, "path %.63s-%.63s %.20s",
             nodes[is_forth ? finding->node : finding->peer],
             nodes[is_forth ? finding->peer : finding->node],
             findings->links->rails[finding->rail]);
}

static void describe_end(const struct findings *findings, struct finding *finding,
                         double peers_mbps)
{
    const char *verb = verb_of(finding);
    char often[64];

    (void)findings;
    how_often(finding, often, sizeof often);
    if (finding->kind == FINDING_AMBIGUOUS)
        snprintf(finding->message, sizeof finding->message,
                 "%s %s %.0f of %.0f Mb/s (%s) at best: the node, or the path to its partners; "
                 "certify it with more partners",
                 finding->part, verb, finding->value, finding->reference, finding->limit_source);
    else if (finding->value <= 0)
        snprintf(finding->message, sizeof finding->message,
                 "%s has no connection with any partner%s; check cable, switch port and address",
                 finding->part, often);
    else if (strcmp(finding->limit_source, "nominal") == 0)
        snprintf(finding->message, sizeof finding->message,
                 "%s %s %.0f of %.0f Mb/s (nominal), its peers %.0f%s; check %s", finding->part,
                 verb, finding->value, finding->reference, peers_mbps, often,
                 finding->kind == FINDING_NODE ? "the node: PCIe, memory, load"
                                               : "cable or switch port");
    else
        snprintf(finding->message, sizeof finding->message,
                 "%s %s %.0f Mb/s, its peers %.0f%s; check %s", finding->part, verb, finding->value,
                 finding->reference, often,
                 finding->kind == FINDING_NODE ? "the node: PCIe, memory, load"
                                               : "cable or switch port");
}

static void describe_block(const struct findings *findings, struct finding *finding,
                           const struct accused *accused)
{
    const char *found = findings->block_parts ? " (blocks found from the measurements)" : "";

    if (finding->kind == FINDING_LEAF)
        snprintf(finding->message, sizeof finding->message,
                 "%s carries %.0f of %.0f Mb/s a pair, inside and out; all of its nodes alike: "
                 "check the switch%s",
                 finding->part, finding->value, finding->reference, found);
    else if (finding->is_intermittent)
        snprintf(
            finding->message, sizeof finding->message,
            "%s carries %.0f of %.0f Mb/s on %.0f %% of its paths, the others are well: one of "
            "several cables, or it comes and goes%s",
            finding->part, finding->value, finding->reference, 100 * finding->share, found);
    else
        snprintf(finding->message, sizeof finding->message,
                 "%s carries %.0f of %.0f Mb/s a pair %s%s; inside the leaves all is well%s",
                 finding->part, finding->value, finding->reference, finding->direction,
                 accused->is_shared ? " when pairs share it" : "", found);
}

void findings_describe(const struct findings *findings, struct finding *finding,
                       const struct accused *accused, const struct links_limits *limits)
{
    finding->direction = direction_of(accused->kind);
    finding->value = accused->value_mbps;
    finding->confidence = accused->confidence;
    finding->share = accused->share;
    finding->again = accused->again;
    finding->sample_count = (int)(accused->all[0] + accused->all[1]);
    finding->is_intermittent = accused->is_partial;
    finding->example_count = accused->example_count;
    memcpy(finding->examples, accused->examples, sizeof finding->examples);
    finding->reference = accused->expected_mbps;
    finding->limit = finding->reference * limits->peers_percent / 100;
    finding->limit_source = "peers";
    if (accused->is_by_nominal && finding->node >= 0) {
        finding->reference = accused->value_mbps / exp(accused->level);
        if (accused->value_mbps <= 0)
            finding->reference = accused->expected_mbps / exp(accused->expected);
        finding->limit = finding->reference * limits->nominal_percent / 100;
        finding->limit_source = "nominal";
    }
    name_part(findings, finding);
    if (finding->kind == FINDING_LEAF || finding->kind == FINDING_UPLINK)
        describe_block(findings, finding, accused);
    else
        describe_end(findings, finding, accused->expected_mbps);
}

static int worst_first(const void *left, const void *right)
{
    const struct finding *a = left, *b = right;

    if (a->verdict != b->verdict)
        return (int)b->verdict - (int)a->verdict;
    if (a->kind != b->kind)
        return (int)a->kind - (int)b->kind;
    if (a->node != b->node)
        return a->node - b->node;
    if (a->peer != b->peer)
        return a->peer - b->peer;
    if (a->block != b->block)
        return a->block - b->block;
    return a->rail - b->rail;
}

void findings_sort(struct findings *findings)
{
    if (findings->count > 0)
        qsort(findings->items, findings->count, sizeof *findings->items, worst_first);
}
