/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/statistics.h"
#include "lib/base/text.h"
#include "lib/constants/links_constants.h"
#include "validate/localization/findings/builder.h"
#include "validate/localization/localization.h"

static struct finding *add(struct findings_builder *builder, size_t end, enum finding_kind kind,
                           enum verdict verdict)
{
    const struct links *links = builder->evidence->links;
    struct finding *finding = builder_add(builder, kind, verdict);

    finding->node = (int)(end / links->rail_count);
    finding->rail = (int)(end % links->rail_count);
    finding->ways = DIAGNOSE_BOTH;
    snprintf(finding->part, sizeof finding->part, "%.90s", links->rails[finding->rail]);
    return finding;
}

/* ---------------------------------------------------------------- rails that no sample clears */

/* The best sample of a rail of a node in one direction: its rate over what the rail should have. */
struct best {
    double rate, expected_mbps; /* rate NAN: nothing was measured */
};

static struct best *find_best(const struct links *links)
{
    size_t ends = links->node_count * links->rail_count;
    struct best *best = malloc((2 * ends + 1) * sizeof *best);

    for (size_t i = 0; i < 2 * ends && best; i++)
        best[i].rate = NAN;
    for (size_t i = 0; i < links->sample_count && best; i++) {
        const struct diagnose_sample *sample = &links->samples[i];
        int nodes[] = {sample->from, sample->to};

        for (int way = 0; way < 2 && !sample->is_together; way++) {
            struct best *of =
                &best[2 * ((size_t)nodes[way] * links->rail_count + (size_t)sample->rail) +
                      (size_t)way];

            if (isnan(of->rate) || sample->rate > of->rate)
                *of = (struct best){sample->rate, links->measured[i].expected_mbps};
        }
    }
    return best;
}

/* Whether a finding about the leaf of the node, or about the fabric, holds for the rail as well. */
static bool is_in_larger(const struct findings_builder *builder, size_t end)
{
    const struct links *links = builder->evidence->links;
    int node = (int)(end / links->rail_count), rail = (int)(end % links->rail_count);

    for (size_t i = 0; i < builder->findings->count; i++) {
        const struct finding *finding = &builder->findings->items[i];
        bool is_leaf = finding->kind == FINDING_LEAF && !links->has_found_leaves &&
                       links->leaves[node] == finding->leaf;

        if ((is_leaf || (finding->kind == FINDING_FABRIC && finding->verdict >= VERDICT_UNKNOWN)) &&
            (finding->rail < 0 || finding->rail == rail))
            return true;
    }
    return false;
}

static void add_missing(struct findings_builder *builder, size_t end, const char *what)
{
    struct finding *finding = add(builder, end, FINDING_MISSING, VERDICT_UNKNOWN);

    snprintf(finding->message, sizeof finding->message, "%.90s was not measured%s", finding->part,
             what);
}

/* best: of a direction in which no sample was good. */
static void add_uncleared(struct findings_builder *builder, size_t end, const struct best *best)
{
    const struct links *links = builder->evidence->links;
    double least = builder->evidence->conf->link_nominal_percent / 100;
    struct finding *finding = add(builder, end, FINDING_AMBIGUOUS, VERDICT_UNKNOWN);

    finding->value = best->rate * best->expected_mbps;
    finding->reference = best->expected_mbps;
    finding->limit = best->expected_mbps * least;
    finding->limit_source = links->nominal_mbps[end] > 0 ? "nominal" : "peers";
    snprintf(finding->message, sizeof finding->message,
             "%s reached %.0f of %.0f Mb/s at best: faults elsewhere explain it, but no "
             "measurement clears it; certify it again",
             finding->part, finding->value, finding->reference);
}

static void find_uncleared(struct findings_builder *builder)
{
    const struct links *links = builder->evidence->links;
    double least = builder->evidence->conf->link_nominal_percent / 100;
    struct best *best = find_best(links);

    builder->is_out_of_memory |= !best;
    for (size_t end = 0; end < links->node_count * links->rail_count && best; end++) {
        const struct best *ways = &best[2 * end];
        int worse = ways[1].rate < ways[0].rate;

        if (builder->is_reported[end] || is_in_larger(builder, end))
            continue;
        if (isnan(ways[0].rate) || isnan(ways[1].rate))
            add_missing(builder, end,
                        !isnan(ways[0].rate)   ? ": nothing that it receives"
                        : !isnan(ways[1].rate) ? ": nothing that it sends"
                                               : "");
        else if (ways[worse].rate < least)
            add_uncleared(builder, end, &ways[worse]);
    }
    free(best);
}

/* ---------------------------------------------------------------- latency */

/* Adds the latency to findings that fail the rail for its bandwidth: a long path makes a rail
 * slow. */
static void name_latency(struct findings_builder *builder, size_t end, double latency_us,
                         double median_us)
{
    size_t rails = builder->evidence->links->rail_count;

    for (size_t i = 0; i < builder->findings->count; i++) {
        struct finding *finding = &builder->findings->items[i];

        if (finding->kind != FINDING_RAIL || finding->verdict != VERDICT_FAIL ||
            (size_t)finding->node * rails + (size_t)finding->rail != end ||
            !catalog_is_metric(finding->metric, METRIC_BANDWIDTH))
            continue;
        finding->latency_us = latency_us;
        finding->latency_peers_us = median_us;
        text_join(finding->message, sizeof finding->message, "; ",
                  "its latency is %.0f us, its peers' %.0f: check its path first", latency_us,
                  median_us);
    }
}

static void find_latency(struct findings_builder *builder)
{
    const struct links *links = builder->evidence->links;
    double ratio = builder->evidence->conf->latency_peers_ratio;
    double *of_rail = malloc((links->node_count + 1) * sizeof *of_rail);

    builder->is_out_of_memory |= !of_rail;
    for (size_t rail = 0; rail < links->rail_count && links->node_count > 2 && of_rail; rail++) {
        double median;

        for (size_t node = 0; node < links->node_count; node++)
            of_rail[node] = links->latencies_us[node * links->rail_count + rail];
        median = statistics_median(of_rail, links->node_count);
        for (size_t node = 0; node < links->node_count; node++) {
            size_t end = node * links->rail_count + rail;
            double delay_us = links->delays_us[end];
            struct finding *finding;

            if (!(delay_us > median * ratio && delay_us >= median + LATENCY_ALIKE_US))
                continue;
            name_latency(builder, end, delay_us, median);
            finding = add(builder, end, FINDING_RAIL, VERDICT_WARN);
            finding->metric = "latency";
            finding->value = delay_us;
            finding->reference = median;
            finding->limit = median * ratio;
            finding->limit_source = "peers";
            snprintf(finding->message, sizeof finding->message,
                     "%s has a latency of %.0f us, its peers %.0f us (median); check its path, "
                     "power saving and busy cores",
                     finding->part, delay_us, median);
        }
    }
    free(of_rail);
}

/* ---------------------------------------------------------------- hints */

/* Adds a warning about a rail that is good by the measurements of this run. */
static struct finding *hint(struct findings_builder *builder, size_t end, double limit,
                            const char *source)
{
    struct finding *finding = add(builder, end, FINDING_RAIL, VERDICT_WARN);

    finding->value = builder->evidence->links->figures_mbps[end];
    finding->limit = finding->reference = limit;
    finding->limit_source = source;
    return finding;
}

static void add_hints(struct findings_builder *builder, size_t end)
{
    const struct localization *localization = builder->evidence->localization;
    const struct links *links = &localization->links;
    const char *node = links->nodes[end / links->rail_count];
    const char *rail = links->rails[end % links->rail_count];
    struct history_figure history = {0};
    struct reference_figure reference = {0};
    double mbps = links->figures_mbps[end];
    struct finding *finding;

    if (localization->get_history)
        localization->get_history(localization->context, node, rail, &history);
    if (localization->get_reference)
        localization->get_reference(localization->context, node, rail, &reference);
    if (mbps < history_figure_floor(&history)) {
        finding = hint(builder, end, history_figure_floor(&history), "history");
        finding->reference = history.median;
        snprintf(finding->message, sizeof finding->message,
                 "%s runs at %.0f Mb/s, in its last %u good runs at %.0f: what changed?",
                 finding->part, mbps, history.count, history.median);
    }
    if (mbps < reference.mbps) {
        finding = hint(builder, end, reference.mbps, "reference");
        snprintf(finding->message, sizeof finding->message,
                 "%.40s runs at %.0f Mb/s, the reference minimum is %.0f (%.140s)", finding->part,
                 mbps, reference.mbps, reference.source);
    }
}

void rails_report(struct findings_builder *builder)
{
    const struct links *links = builder->evidence->links;

    find_uncleared(builder);
    find_latency(builder);
    for (size_t end = 0; end < links->node_count * links->rail_count; end++)
        if (!builder->is_reported[end])
            add_hints(builder, end);
}
