/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/localization/localization.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/catalog/catalog.h"
#include "lib/constants/links_constants.h"
#include "validate/diagnose/model.h"

static void evidence_clear(struct evidence *evidence)
{
    diagnosis_clear(&evidence->diagnosis);
    free(evidence->leaves);
    free(evidence->inconsistent);
    free(evidence->misplaced);
    free(evidence->lossy);
    *evidence = (struct evidence){0};
}

/* Sets the rates of inconsistent nodes to those of their partners, and the leaves of misplaced
 * nodes. Returns 0, or -1 if memory is out. */
static int prepare(struct links *links, struct evidence *evidence)
{
    evidence->inconsistent_count = inconsistent_find(&evidence->network, links->samples,
                                                     links->sample_count, &evidence->inconsistent);
    if (evidence->inconsistent_count < 0)
        return -1;
    if (!links->leaves || links->has_found_leaves)
        return 0;
    evidence->misplaced_count = misplaced_find(&evidence->network, links->samples,
                                               links->sample_count, &evidence->misplaced);
    for (long i = 0; i < evidence->misplaced_count; i++)
        if (evidence->misplaced[i].is_certain)
            evidence->leaves[evidence->misplaced[i].node] = evidence->misplaced[i].leaf;
    return evidence->misplaced_count < 0 ? -1 : 0;
}

/* Whether both have the nodes on the same leaf switches, which may be found from the
 * measurements. */
static bool is_same_network(const struct evidence *before, const struct evidence *evidence)
{
    return before->leaves && before->network.leaf_count == evidence->network.leaf_count &&
           memcmp(before->leaves, evidence->leaves,
                  evidence->network.node_count * sizeof *evidence->leaves) == 0;
}

/* Diagnoses all records. Sets the samples of localization->links to the figures that are believed.
 * before: the previous evidence, all zeros if there is none. Returns 0, or -1 if memory is out. */
static int evidence_collect(struct localization *localization, const struct evidence *before,
                            struct evidence *evidence)
{
    static const struct diagnosis none;
    const struct conf *conf = localization->source.conf;
    struct links *links = &localization->links;
    double peers_share = conf->link_peers_percent / 100;

    *evidence = (struct evidence){.links = links, .conf = conf, .localization = localization};
    if (links_read(&localization->source, localization->first, localization->retests, peers_share,
                   links) != 0)
        return -1;
    evidence->leaves = malloc((links->node_count + 1) * sizeof *evidence->leaves);
    if (!evidence->leaves)
        return -1;
    for (size_t i = 0; i < links->node_count; i++)
        evidence->leaves[i] = links->leaves ? links->leaves[i] : 0;
    evidence->network = (struct diagnose_network){
        .node_count = links->node_count,
        .rail_count = links->rail_count,
        .leaf_count = links->leaf_count > 1 ? links->leaf_count : 0,
        .fault_share = peers_share,
        .fault_share_at_times = conf->link_nominal_percent / 100,
        .leaves = links->leaves ? evidence->leaves : NULL,
    };
    if (prepare(links, evidence) != 0)
        return -1;
    return diagnose(&evidence->network, links->samples, links->sample_count,
                    is_same_network(before, evidence) ? &before->diagnosis : &none,
                    &evidence->diagnosis);
}

/* Returns the index among the links' leaves of a leaf of the source; -1: not known. */
static int leaf_of(const struct localization *localization, int leaf)
{
    const struct links *links = &localization->links;

    for (size_t i = 0; i < links->node_count && links->leaves && !links->has_found_leaves; i++)
        if (localization->source.leaves[i] == leaf)
            return links->leaves[i];
    return -1;
}

/* Sets the parts between nodes that surely lose packets, without the fabric, which all samples
 * pass: it would explain every fault. What a lossy part leaves of the rate depends on chance: it
 * may be anything. Returns 0, or -1 if memory is out. */
static int lossy_find(const struct localization *localization, struct evidence *evidence)
{
    const struct losses *losses = &localization->losses;

    evidence->lossy = malloc((losses->count + 1) * sizeof *evidence->lossy);
    for (size_t i = 0; i < losses->count && evidence->lossy; i++) {
        const struct loss_finding *finding = &losses->findings[i];
        struct part part = finding->part;

        if (part_is_of_node(&part) || part.type == DIAGNOSE_FABRIC ||
            losses_verdict(finding) != VERDICT_FAIL)
            continue;
        if (part.type == DIAGNOSE_LEAF || part.type == DIAGNOSE_UPLINK)
            part.index = leaf_of(localization, part.index);
        if (part.type == DIAGNOSE_UPLINK)
            part.peer = leaf_of(localization, part.peer);
        part.depth = MODEL_DEPTHS - 1;
        if (part.index >= 0)
            evidence->lossy[evidence->lossy_count++] = part;
    }
    return evidence->lossy ? 0 : -1;
}

/* Returns what to measure again: also all rails of a pair at once, if a host is suspected. */
static enum retest_passes passes_of(const struct diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->count; i++)
        if (diagnosis->items[i].part.type == DIAGNOSE_HOST)
            return PASSES_TOGETHER;
    return PASSES_PAIRS;
}

/* Returns how many rounds were measured. A round has each node in one pair. */
static size_t rounds_of(const struct links *links)
{
    size_t runs = links->sample_count > 0 ? links->samples[links->sample_count - 1].pair_run : 0;

    return links->node_count > 1 ? 2 * runs / links->node_count : 0;
}

/* Measures the most informative pairs again. The screen may have all of them the first time, later
 * one for each RETEST_ROUNDS_FOR_ONE rounds and one for each RETEST_PAIRS_MOST nodes. Returns
 * whether there were any pairs and that succeeded. */
static bool retest(struct localization *localization, const struct evidence *evidence,
                   const struct evidence *before)
{
    const struct links *links = &localization->links;
    size_t most = RETEST_PAIRS_MOST * (1 + links->node_count / RETEST_NODES), first;
    size_t screened =
        rounds_of(links) / RETEST_ROUNDS_FOR_ONE + links->node_count / RETEST_PAIRS_MOST;

    if (most > links->node_count)
        most = links->node_count;
    if (!localization_measure_next(localization, &evidence->network, &evidence->diagnosis,
                                   before ? &before->diagnosis : NULL, most,
                                   before ? screened : most, passes_of(&evidence->diagnosis),
                                   &first))
        return false;
    if (localization->retests == SIZE_MAX)
        localization->retests = first;
    return true;
}

int localization_times(size_t nodes, bool is_quick)
{
    if (nodes <= LINKS_FEW / 2)
        return is_quick ? 3 : 4;
    return nodes <= LINKS_FEW ? 2 : 1;
}

int localization_run(struct localization *localization)
{
    struct evidence evidence = {0}, before = {0};
    int status;

    localization->retests = SIZE_MAX;
    status = evidence_collect(localization, &before, &evidence);
    for (int i = 0; status == 0 && i < localization->tries; i++) {
        status = diagnose_screen(&evidence.network, localization->links.samples,
                                 localization->links.sample_count, &evidence.diagnosis);
        if (status != 0 || !retest(localization, &evidence, i > 0 ? &before : NULL))
            break;
        evidence_clear(&before);
        before = evidence;
        status = evidence_collect(localization, &before, &evidence);
    }
    if (status == 0)
        status = losses_read(localization);
    if (status == 0)
        status = lossy_find(localization, &evidence);
    if (status == 0)
        status = findings_make(&evidence, &localization->findings);
    evidence_clear(&evidence);
    evidence_clear(&before);
    return status;
}

void localization_clear(struct localization *localization)
{
    free(localization->findings.items);
    localization->findings = (struct findings){0};
    losses_clear(&localization->losses);
    links_clear(&localization->links);
}

struct record localization_record(const struct localization *localization,
                                  const struct finding *finding)
{
    const char *const *nodes = localization->links.nodes;
    struct record record =
        RECORD(.test = finding->kind == FINDING_MISPLACED ? "net.topology" : "links",
               .message = finding->message, .verdict = finding->verdict,
               .confidence = finding->confidence,
               .node = finding->node >= 0 ? nodes[finding->node] : NULL,
               .peer = finding->peer >= 0 ? nodes[finding->peer] : NULL, .part = finding->part);

    if (finding->kind == FINDING_MISPLACED || finding->kind == FINDING_INCONSISTENT)
        return record;
    record.metric = finding->metric;
    record.value = finding->value;
    record.limit = finding->limit;
    record.unit = catalog_is_metric(finding->metric, METRIC_LATENCY) ? "us" : "Mb/s";
    record.limit_source = finding->limit_source;
    return record;
}

void localization_short_message(const struct finding *finding, char *text, size_t size)
{
    bool is_speed = !catalog_is_metric(finding->metric, METRIC_LATENCY);
    static const char *const verbs[] = {"", "sends ", "receives ", ""}; /* of finding.ways */
    char latency[64] = "";

    if (finding->latency_us > 0)
        snprintf(latency, sizeof latency, ", latency %.0f us, peers %.0f us", finding->latency_us,
                 finding->latency_peers_us);
    if ((finding->kind != FINDING_RAIL && finding->kind != FINDING_NODE &&
         finding->kind != FINDING_HOST) ||
        finding->verdict != VERDICT_FAIL || isnan(finding->value) || finding->lost_bytes > 0)
        snprintf(text, size, "%s", finding->message);
    else if (is_speed)
        snprintf(text, size, "%.60s %s%.0f of %.0f Mb/s%s", finding->part, verbs[finding->ways],
                 finding->value, finding->reference, latency);
    else
        snprintf(text, size, "%.60s latency %.1f us, peers %.1f us", finding->part, finding->value,
                 finding->reference);
}
