/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/modelrun.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/fabric.h"
#include "validate/diagnose/believe.h"
#include "validate/diagnose/diagnose.h"
#include "validate/diagnose/places.h"

enum { LOOKS = 6, PAIRS = 32 };

static int number_of(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);

    return name && strncmp(name, prefix, length) == 0 ? atoi(name + length) - 1 : -1;
}

struct held {
    struct diagnose_sample sample;
    size_t order;
    unsigned pair; /* of the nodes */
};

static int by_pair(const void *left, const void *right)
{
    const struct held *a = left, *b = right;

    if (a->pair != b->pair)
        return (a->pair > b->pair) - (a->pair < b->pair);
    return (a->order > b->order) - (a->order < b->order);
}

/* The bandwidths among the records, in pair runs: one ends where a cell comes again. */
static struct diagnose_sample *samples_of(const struct records *records, int nodes, int rails,
                                          double nominal_mbps, size_t *count)
{
    struct held *held = sim_allocate(records->count + 1, sizeof *held);
    struct diagnose_sample *samples = sim_allocate(records->count + 1, sizeof *samples);
    unsigned long long seen = 0;
    double received = 0;
    unsigned run = 0;

    *count = 0;
    for (size_t i = 0; i < records->count; i++) {
        const struct record *record = &records->items[i];
        bool is_together = strcmp(record->metric, "bandwidth_together") == 0;
        struct held *one = &held[*count];

        /* it comes before what the sender says */
        if (strcmp(record->metric, "bandwidth_received") == 0)
            received = record->value / nominal_mbps;
        if (!is_together && strcmp(record->metric, "bandwidth") != 0)
            continue;
        one->sample = (struct diagnose_sample){
            .from = number_of(record->node, "n"),
            .to = number_of(record->peer, "n"),
            .rail = number_of(record->part, "eth"),
            .rate = record->value / nominal_mbps,
            .low = record->low / nominal_mbps,
            .high = record->high / nominal_mbps,
            .received = is_together ? 0 : received,
            .stalled = record->stalled,
            .is_together = is_together,
            .shared = record->shared,
        };
        one->order = i;
        received = is_together ? received : 0;
        one->pair = one->sample.from < one->sample.to
                        ? (unsigned)(one->sample.from * nodes + one->sample.to)
                        : (unsigned)(one->sample.to * nodes + one->sample.from);
        ++*count;
    }
    qsort(held, *count, sizeof *held, by_pair);
    for (size_t i = 0; i < *count; i++) {
        const struct diagnose_sample *sample = &held[i].sample;
        int cell = (sample->is_together * rails + sample->rail) * 2 + (sample->from < sample->to);
        /* the rounds measure rails alone, then together; suspects together first */
        bool is_new = i == 0 || held[i].pair != held[i - 1].pair || (seen & (1ULL << cell)) ||
                      (sample->is_together && !held[i - 1].sample.is_together);

        if (is_new) {
            seen = 0;
            run++;
        }
        seen |= 1ULL << cell;
        samples[i] = *sample;
        samples[i].pair_run = run;
    }
    free(held);
    return samples;
}

static const char *direction_of(const struct part *part)
{
    if (part->type == DIAGNOSE_PATH)
        return part->ways == DIAGNOSE_BOTH    ? "both ways"
               : part->ways == DIAGNOSE_SENDS ? "forth"
                                              : "back";
    return part->ways == DIAGNOSE_BOTH    ? "both ways"
           : part->ways == DIAGNOSE_SENDS ? "sends"
                                          : "receives";
}

static struct finding finding_of(const struct suspicion *item)
{
    static const enum finding_kind kinds[] = {
        [DIAGNOSE_RAIL] = FINDING_RAIL,     [DIAGNOSE_NODE] = FINDING_NODE,
        [DIAGNOSE_HOST] = FINDING_HOST,     [DIAGNOSE_PATH] = FINDING_PAIR,
        [DIAGNOSE_LEAF] = FINDING_LEAF,     [DIAGNOSE_UPLINK] = FINDING_UPLINK,
        [DIAGNOSE_FABRIC] = FINDING_FABRIC,
    };
    const struct part *part = &item->part;
    bool is_block = part->type == DIAGNOSE_LEAF || part->type == DIAGNOSE_UPLINK;
    struct finding finding = {
        .kind = kinds[part->type],
        .verdict = item->probability >= model_value(MODEL_SURE) ? VERDICT_FAIL : VERDICT_UNKNOWN,
        .node = is_block ? -1 : part->place,
        .peer = part->type == DIAGNOSE_PATH ? part->peer : -1,
        .rail = part->rail,
        .block = is_block ? part->place : -1,
        .peer_block = is_block ? part->peer : -1,
        .metric = "bandwidth",
        .direction = direction_of(part),
        .value = exp(model_depth(part->depth)),
        .confidence = item->probability,
        .is_intermittent = part->duty > 0,
    };
    const struct rival *rival = item->rival_count ? &item->rivals[0] : NULL;

    snprintf(finding.part, sizeof finding.part, "%d %d/%d eth%d %s", part->type, part->place + 1,
             part->peer + 1, part->rail + 1, finding.direction);
    snprintf(finding.message, sizeof finding.message,
             "%u of %u low, depth %.2f duty %.2f; else %.2g: %d parts, %d %d/%d eth%d", item->low,
             item->all, exp(model_depth(part->depth)), part_duty(part),
             rival ? rival->probability : 0, rival ? rival->count : -1,
             rival && rival->count ? (int)rival->parts[0].type : -1,
             rival && rival->count ? rival->parts[0].place + 1 : 0,
             rival && rival->count ? rival->parts[0].peer + 1 : 0,
             rival && rival->count ? rival->parts[0].rail + 1 : 0);
    return finding;
}

/* What is told beside the parts at fault. Moves nodes that certainly are elsewhere. */
static void tell_beside(struct localization *localization, const struct diagnose_network *network,
                        int *leaves, struct diagnose_sample *samples, size_t count)
{
    struct liar *liars = NULL;
    struct misplaced *misplaced = NULL;
    long liar_count = diagnose_believe(network, samples, count, &liars);
    long misplaced_count = diagnose_places(network, samples, count, &misplaced);

    if (liar_count < 0 || misplaced_count < 0)
        exit(3);
    free(localization->findings);
    localization->findings =
        sim_allocate((size_t)(liar_count + misplaced_count) + 1, sizeof *localization->findings);
    localization->count = 0;
    for (long i = 0; i < liar_count; i++)
        localization->findings[localization->count++] = (struct finding){.kind = FINDING_LIAR,
                                                                         .verdict = VERDICT_FAIL,
                                                                         .node = liars[i].node,
                                                                         .peer = -1,
                                                                         .rail = -1,
                                                                         .block = -1,
                                                                         .peer_block = -1,
                                                                         .confidence = NAN};
    for (long i = 0; i < misplaced_count; i++) {
        localization->findings[localization->count++] =
            (struct finding){.kind = FINDING_MISPLACED,
                             .verdict = misplaced[i].is_certain &&
                                                misplaced[i].probability >= model_value(MODEL_SURE)
                                            ? VERDICT_FAIL
                                            : VERDICT_WARN,
                             .node = misplaced[i].node,
                             .peer = -1,
                             .rail = -1,
                             .block = leaves[misplaced[i].node],
                             .peer_block = misplaced[i].leaf,
                             .confidence = misplaced[i].probability};
        if (misplaced[i].is_certain)
            leaves[misplaced[i].node] = misplaced[i].leaf;
    }
    free(liars);
    free(misplaced);
}

void model_hold(struct localization *localization, int nodes, int rails)
{
    const struct conf *conf = localization->source.conf;
    struct diagnose_network network = {.node_count = (size_t)nodes,
                                       .rail_count = (size_t)rails,
                                       .fault_share = conf->link_peers_percent / 100,
                                       .fault_share_at_times = conf->link_nominal_percent / 100};
    struct diagnosis diagnosis = {0}, before = {0};
    double nominal_mbps = 1;
    int leaves = 0, *placed = sim_allocate((size_t)nodes + 1, sizeof *placed);

    for (int i = 0; i < nodes; i++)
        leaves =
            localization->source.leaves[i] >= leaves ? localization->source.leaves[i] + 1 : leaves;
    network.leaves = placed;
    network.leaf_count = (size_t)leaves;
    for (size_t i = 0; i < localization->source.records->count; i++)
        if (strcmp(localization->source.records->items[i].metric, "speed") == 0)
            nominal_mbps = localization->source.records->items[i].value;
    for (int look = 0; look <= LOOKS; look++) {
        struct node_pair pairs[PAIRS];
        char text[PAIRS * 32] = "";
        size_t count, first, used = 0, asked;
        struct diagnose_sample *samples =
            samples_of(localization->source.records, nodes, rails, nominal_mbps, &count);

        memcpy(placed, localization->source.leaves, (size_t)nodes * sizeof *placed);
        tell_beside(localization, &network, placed, samples, count);
        diagnosis_clear(&before);
        before = diagnosis;
        if (diagnose(&network, samples, count, &diagnosis) != 0)
            exit(3);
        free(samples);
        asked = diagnose_next(&network, &diagnosis, look > 0 ? &before : NULL, pairs, PAIRS);
        if (asked == 0 || look == LOOKS)
            break;
        for (size_t i = 0; i < asked; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%sn%d:n%d", i ? "," : "",
                                     pairs[i].low + 1, pairs[i].high + 1);
        localization->measure(localization->context, localization->source.names, text, true,
                              &first);
    }
    localization->findings =
        realloc(localization->findings,
                (localization->count + diagnosis.count + 1) * sizeof *localization->findings);
    if (!localization->findings)
        exit(3);
    for (size_t i = 0; i < diagnosis.count; i++)
        if (diagnosis.items[i].probability > model_value(MODEL_CLEARED))
            localization->findings[localization->count++] = finding_of(&diagnosis.items[i]);
    diagnosis_clear(&diagnosis);
    diagnosis_clear(&before);
    free(placed);
}
