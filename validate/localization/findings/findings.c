/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/localization/findings/builder.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/constants/links_constants.h"
#include "validate/localization/localization.h"

struct finding *builder_add(struct findings_builder *builder, enum finding_kind kind,
                            enum verdict verdict)
{
    struct findings *findings = builder->findings;
    struct finding *finding = &builder->scratch;

    if (GROW(findings->items, findings->count))
        finding = &findings->items[findings->count++];
    else
        builder->is_out_of_memory = true;
    *finding = (struct finding){.kind = kind,
                                .verdict = verdict,
                                .node = -1,
                                .peer = -1,
                                .rail = -1,
                                .leaf = -1,
                                .peer_leaf = -1,
                                .metric = "bandwidth",
                                .value = NAN,
                                .limit = NAN,
                                .reference = NAN,
                                .limit_source = "",
                                .confidence = NAN};
    return finding;
}

/* Makes the finding UNKNOWN and adds why to its message. */
static void doubt(struct finding *finding, const char *why)
{
    finding->verdict = VERDICT_UNKNOWN;
    text_join(finding->message, sizeof finding->message, "; ", "%s", why);
}

/* Whether there is a finding about the rail already, or about any rail of the node if rail is
 * -1. */
static bool is_reported(const struct findings_builder *builder, int node, int rail)
{
    bool is_any = false;

    for (size_t k = 0; k < builder->evidence->links->rail_count && !is_any; k++)
        is_any = (rail < 0 || (int)k == rail) &&
                 builder->is_reported[(size_t)node * builder->evidence->links->rail_count + k];
    return is_any;
}

static void mark_reported(struct findings_builder *builder, int node, int rail)
{
    for (size_t k = 0; k < builder->evidence->links->rail_count; k++)
        if (rail < 0 || (int)k == rail)
            builder->is_reported[(size_t)node * builder->evidence->links->rail_count + k] = true;
}

static void mark_suspects(struct findings_builder *builder)
{
    const struct evidence *evidence = builder->evidence;
    const struct diagnosis *diagnosis = &evidence->diagnosis;

    for (size_t i = 0; i < evidence->lossy_count; i++)
        builder->shared[builder->shared_count++] = &evidence->lossy[i];
    for (size_t i = 0; i < diagnosis->count; i++) {
        const struct suspicion *item = &diagnosis->items[i];

        if (part_is_of_node(&item->part))
            builder->is_suspect[item->part.index] |= item->probability > MODEL_CLEARED;
        else if (suspicion_is_sure(item) && item->part.type != DIAGNOSE_LEAF)
            builder->shared[builder->shared_count++] = &item->part;
    }
    for (size_t i = 0; i < diagnosis->count; i++) {
        const struct suspicion *item = &diagnosis->items[i];
        bool is_cleared = false;

        if (item->part.type == DIAGNOSE_LEAF && suspicion_is_sure(item) &&
            evidence_is_of_leaf(builder, &item->part, &is_cleared))
            builder->shared[builder->shared_count++] = &item->part;
    }
}

/* Returns whether the part between nodes is surely at fault. */
static bool is_surely_at_fault(const struct findings_builder *builder, const struct part *part)
{
    for (size_t i = 0; i < builder->shared_count; i++)
        if (part_is_same(builder->shared[i], part))
            return true;
    return false;
}

/* Returns the suspicion, with the other leaf as peer if there are two only: both have the same
 * uplinks. */
static struct suspicion with_peer(const struct findings_builder *builder,
                                  const struct suspicion *item)
{
    struct suspicion named = *item;

    if (named.part.type == DIAGNOSE_UPLINK && builder->evidence->network.leaf_count == 2)
        named.part.peer = 1 - named.part.index;
    return named;
}

static void report_suspicion(struct findings_builder *builder, const struct suspicion *item)
{
    static const enum finding_kind kinds[] = {
        [DIAGNOSE_RAIL] = FINDING_RAIL,     [DIAGNOSE_NODE] = FINDING_NODE,
        [DIAGNOSE_HOST] = FINDING_HOST,     [DIAGNOSE_PATH] = FINDING_PAIR,
        [DIAGNOSE_LEAF] = FINDING_LEAF,     [DIAGNOSE_UPLINK] = FINDING_UPLINK,
        [DIAGNOSE_FABRIC] = FINDING_FABRIC,
    };
    const struct part *part = &item->part;
    bool is_node = part_is_of_node(part), is_cleared = false, is_sure = suspicion_is_sure(item);
    /* else no part fails */
    bool is_retested = builder->evidence->localization->retests != SIZE_MAX, is_confirmed = true;
    double peers = evidence_peers_mbps(builder, part->rail);
    struct finding *finding;
    char why[256] = "it could not be measured again";

    if (item->probability <= (is_retested || !is_node ? MODEL_CLEARED : MODEL_ASKED) ||
        (is_node && item->probability < MODEL_SURE &&
         is_reported(builder, part->index, part->rail)))
        return;
    /* of the cables of an uplink, the retest may have met the good ones */
    if (is_retested && part->type != DIAGNOSE_UPLINK)
        is_confirmed = evidence_confirms(builder, item, &is_cleared, why, sizeof why);
    if (is_node || part->type == DIAGNOSE_PATH)
        is_sure &= is_confirmed;
    if (part->type == DIAGNOSE_LEAF && !is_surely_at_fault(builder, part)) {
        evidence_is_of_leaf(builder, part, &is_cleared);
        if (is_sure)
            snprintf(why, sizeof why,
                     "but some of its nodes are good: others may be at fault instead");
        is_sure = false;
    }
    if (is_cleared)
        return;
    if (is_retested && !suspicion_is_sure(item))
        message_rival(builder, item, why, sizeof why);
    finding = builder_add(builder, kinds[part->type], VERDICT_FAIL);
    finding->rail = part->rail;
    finding->node = is_node || part->type == DIAGNOSE_PATH ? part->index : -1;
    finding->peer = part->type == DIAGNOSE_PATH ? part->peer : -1;
    finding->leaf = part->type == DIAGNOSE_LEAF || part->type == DIAGNOSE_UPLINK ? part->index : -1;
    finding->peer_leaf = part->type == DIAGNOSE_UPLINK ? part->peer : -1;
    /* the fault may be one that the model does not have, most of all if it slows many nodes */
    finding->confidence = fmin(suspicion_probability(item),
                               part_is_large(part) ? MODEL_SURE_SHARED : MODEL_SURE_MOST);
    finding->ways = part->ways;
    finding->is_intermittent = part->duty > 0;
    message_part(builder, part, finding->part, sizeof finding->part);
    evidence_value(builder, item, finding);
    evidence_set_limit(builder, item, peers, finding);
    message_write(builder, item, peers, finding);
    if (is_node)
        mark_reported(builder, part->index, part->rail);
    if (!is_sure || !is_retested)
        doubt(finding, why);
    if (is_node && !suspicion_is_sure(item))
        finding->kind = FINDING_AMBIGUOUS;
}

static bool is_uplink(const struct finding *finding, int rail)
{
    return finding->kind == FINDING_UPLINK && finding->rail == rail;
}

/* Replaces the findings about uplinks by one warning if the uplinks of all leaves are slow alike:
 * they were built so, or it is the spine. Uplinks that carry less than half of what the best ones
 * do keep their finding, if the others are three or more, and most: of two it is not known which
 * one is slow. Leaves of different size may differ by less. */
static void fold_uplinks(struct findings_builder *builder, int rail)
{
    struct findings *findings = builder->findings;
    double *carried = malloc((findings->count + 1) * sizeof *carried); /* of a leaf; else NAN */
    double greatest = NAN, least = NAN, reference = NAN;
    size_t leaves = 0, alike = 0, left = 0;
    const char *other;
    struct finding *all;

    builder->is_out_of_memory |= !carried;
    for (size_t i = 0; i < findings->count && carried; i++) {
        const struct finding *finding = &findings->items[i];
        bool is_leaf = is_uplink(finding, rail) && finding->peer_leaf < 0;

        /* the quartile would hide a fault that comes and goes, or one cable of several */
        carried[i] = !is_leaf                   ? NAN
                     : finding->is_intermittent ? finding->value
                                                : evidence_uplink_mbps(builder, finding);
        leaves += is_leaf;
        greatest = fmax(greatest, carried[i]);
    }
    for (size_t i = 0; i < findings->count && carried; i++) {
        if (!(carried[i] >= greatest * UPLINKS_ALIKE_SHARE))
            continue;
        alike++;
        least = fmin(least, carried[i]);
        reference = findings->items[i].reference;
    }
    if (leaves < 2 || leaves < builder->evidence->links->leaf_count ||
        (alike < leaves && (alike < 3 || 2 * alike <= leaves)))
        goto done;
    for (size_t i = 0; i < findings->count; i++)
        if (!is_uplink(&findings->items[i], rail) || carried[i] < greatest * UPLINKS_ALIKE_SHARE)
            findings->items[left++] = findings->items[i];
    findings->count = left;
    other = alike < leaves ? "other " : "";
    all = builder_add(builder, FINDING_FABRIC, VERDICT_WARN);
    all->rail = rail;
    all->ways = DIAGNOSE_BOTH;
    all->value = least;
    all->reference = reference;
    snprintf(all->part, sizeof all->part, "all %suplinks%s%.80s", other, rail >= 0 ? " " : "",
             rail >= 0 ? builder->evidence->links->rails[rail] : "");
    snprintf(
        all->message, sizeof all->message,
        "every %suplink carries %.0f of %.0f Mb/s per pair: the spine, its routing, or the design",
        other, all->value, all->reference);
done:
    free(carried);
}

static void report_inconsistent(struct findings_builder *builder,
                                const struct inconsistent_node *inconsistent)
{
    struct finding *finding = builder_add(builder, FINDING_INCONSISTENT, VERDICT_FAIL);

    finding->node = inconsistent->node;
    snprintf(finding->part, sizeof finding->part, "records");
    snprintf(finding->message, sizeof finding->message,
             "its figures contradict its partners' in %d of %d transfers; trusting the partners",
             inconsistent->contradicted, inconsistent->transfers);
}

static void report_misplaced(struct findings_builder *builder, const struct misplaced *misplaced)
{
    const struct links *links = builder->evidence->links;
    bool is_sure = misplaced->is_certain && misplaced->probability >= MODEL_SURE;
    struct finding *finding =
        builder_add(builder, FINDING_MISPLACED, is_sure ? VERDICT_FAIL : VERDICT_WARN);

    finding->node = misplaced->node;
    finding->leaf = links->leaves[misplaced->node];
    finding->peer_leaf = misplaced->leaf;
    finding->confidence = misplaced->probability;
    snprintf(finding->part, sizeof finding->part, "%.90s", message_leaf(builder, finding->leaf));
    snprintf(finding->message, sizeof finding->message,
             "topology.conf has it on %.60s, but measurements place it on %.60s",
             message_leaf(builder, finding->leaf), message_leaf(builder, finding->peer_leaf));
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
    if (a->leaf != b->leaf)
        return a->leaf - b->leaf;
    return a->rail - b->rail;
}

int findings_make(const struct evidence *evidence, struct findings *findings)
{
    const struct links *links = evidence->links;
    struct findings_builder builder = {.evidence = evidence, .findings = findings};

    *findings = (struct findings){0};
    builder.is_reported =
        calloc(links->node_count * links->rail_count + 1, sizeof *builder.is_reported);
    builder.is_suspect = calloc(links->node_count + 1, sizeof *builder.is_suspect);
    builder.shared =
        malloc((evidence->lossy_count + evidence->diagnosis.count + 1) * sizeof *builder.shared);
    builder.peers_mbps = malloc((links->rail_count + 1) * sizeof *builder.peers_mbps);
    builder.is_out_of_memory = evidence_index(&builder) != 0 || !builder.is_reported ||
                               !builder.is_suspect || !builder.shared || !builder.peers_mbps;
    for (size_t i = 0; i <= links->rail_count && builder.peers_mbps; i++)
        builder.peers_mbps[i] = NAN;
    if (!builder.is_out_of_memory) {
        mark_suspects(&builder);
        for (long i = 0; i < evidence->inconsistent_count; i++)
            report_inconsistent(&builder, &evidence->inconsistent[i]);
        for (long i = 0; i < evidence->misplaced_count; i++)
            report_misplaced(&builder, &evidence->misplaced[i]);
        for (size_t i = 0; i < evidence->diagnosis.count; i++) {
            struct suspicion item = with_peer(&builder, &evidence->diagnosis.items[i]);

            report_suspicion(&builder, &item);
        }
        for (int rail = -1; rail < (int)links->rail_count; rail++)
            fold_uplinks(&builder, rail);
        rails_report(&builder);
    }
    free(builder.is_reported);
    free(builder.is_suspect);
    free(builder.shared);
    free(builder.peers_mbps);
    evidence_index_clear(&builder);
    if (findings->count > 0)
        qsort(findings->items, findings->count, sizeof *findings->items, worst_first);
    return builder.is_out_of_memory ? -1 : 0;
}
