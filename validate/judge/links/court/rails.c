/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of each rail by itself: its figure, its own history, its latency, and whether
 * anybody can vouch for it. */
#include "lib/constants/judge_constants.h"
#include "validate/judge/links/court/court.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/statistics.h"

/* Of NAN and a number the number counts. */
static void rise(double *best, double mbps)
{
    if (mbps > *best || isnan(*best))
        *best = mbps;
}

static void fall(double *best, double latency_us)
{
    if (latency_us < *best || isnan(*best))
        *best = latency_us;
}

void links_figures(const struct links *links, double *figures)
{
    size_t ends = links->node_count * links->rail_count;
    double *receives = malloc((ends + 1) * sizeof *receives);

    for (size_t end = 0; end < ends; end++) {
        figures[end] = NAN;
        if (receives)
            receives[end] = NAN;
    }
    for (size_t i = 0; i < links->sample_count && receives; i++) {
        const struct link_sample *sample = &links->samples[i];
        size_t rail = (size_t)sample->rail;

        if (sample->from == sample->to)
            continue;
        rise(&figures[(size_t)sample->from * links->rail_count + rail], sample->mbps);
        rise(&receives[(size_t)sample->to * links->rail_count + rail], sample->mbps);
    }
    for (size_t end = 0; end < ends && receives; end++)
        figures[end] = fmin(figures[end], receives[end]);
    free(receives);
}

double links_figure(const struct links *links, int node, int rail)
{
    double best[2] = {NAN, NAN};

    for (size_t i = 0; i < links->sample_count; i++) {
        const struct link_sample *sample = &links->samples[i];

        if (sample->rail != rail || sample->from == sample->to)
            continue;
        if (sample->from == node)
            rise(&best[0], sample->mbps);
        if (sample->to == node)
            rise(&best[1], sample->mbps);
    }
    return fmin(best[0], best[1]);
}

/* A hint about a rail that is well by what this run has measured. */
static struct finding *hint(struct court *court, size_t end, double mbps, double limit,
                            const char *source)
{
    int rail = (int)(end % court->links->rail_count);
    struct finding *finding = findings_add(&court->findings, FINDING_RAIL, VERDICT_WARN);

    finding->node = (int)(end / court->links->rail_count);
    finding->rail = rail;
    finding->direction = "both ways";
    finding->value = mbps;
    finding->limit = finding->reference = limit;
    finding->limit_source = source;
    snprintf(finding->part, sizeof finding->part, "%.90s", court->links->rails[rail]);
    return finding;
}

static void judge_history(struct court *court, size_t end, double mbps)
{
    const struct history_figure *history = &court->links->history[end];
    double limit = history_figure_floor(history);
    struct finding *finding;

    if (!(mbps < limit))
        return;
    finding = hint(court, end, mbps, limit, "history");
    finding->reference = history->median;
    snprintf(finding->message, sizeof finding->message,
             "%s runs at %.0f Mb/s, in its last %u good runs at %.0f: what changed?", finding->part,
             mbps, history->count, history->median);
}

static void judge_reference(struct court *court, size_t end, double mbps)
{
    const struct reference_figure *reference = &court->links->references[end];
    struct finding *finding;

    if (!(mbps < reference->mbps))
        return;
    finding = hint(court, end, mbps, reference->mbps, "reference");
    snprintf(finding->message, sizeof finding->message,
             "%.40s runs at %.0f Mb/s, others take %.0f for the least (%.140s)", finding->part,
             mbps, reference->mbps, reference->source);
}

void court_history(struct court *court)
{
    const struct links *links = court->links;
    double *figures;

    if (!links->history && !links->references)
        return;
    figures = malloc((links->node_count * links->rail_count + 1) * sizeof *figures);
    if (!figures) {
        court->findings.is_out_of_memory = true;
        return;
    }
    links_figures(links, figures);
    for (size_t end = 0; end < links->node_count * links->rail_count; end++) {
        if (links->history && !court->is_accused[end])
            judge_history(court, end, figures[end]);
        if (links->references && !court->is_accused[end])
            judge_reference(court, end, figures[end]);
    }
    free(figures);
}

/* A long way makes a rail slow: what fails for it names both. */
static void name_latency(struct court *court, int node, int rail, double latency_us,
                         double median_us)
{
    for (size_t i = 0; i < court->findings.count; i++) {
        struct finding *finding = &court->findings.items[i];
        size_t length = strlen(finding->message);

        if (finding->kind != FINDING_RAIL || finding->verdict != VERDICT_FAIL ||
            finding->node != node || finding->rail != rail)
            continue;
        finding->latency_us = latency_us;
        finding->latency_peers_us = median_us;
        snprintf(finding->message + length, sizeof finding->message - length,
                 "; its latency is %.0f us, its peers' %.0f: check its path first", latency_us,
                 median_us);
    }
}

static void warn_of_latency(struct court *court, int node, int rail, double latency_us,
                            double median_us)
{
    struct finding *finding = findings_add(&court->findings, FINDING_RAIL, VERDICT_WARN);

    finding->metric = "latency";
    finding->node = node;
    finding->rail = rail;
    finding->value = latency_us;
    finding->reference = median_us;
    finding->limit = median_us * court->limits.latency_peers_ratio;
    finding->limit_source = "peers";
    snprintf(finding->part, sizeof finding->part, "%.90s", court->links->rails[rail]);
    snprintf(
        finding->message, sizeof finding->message,
        "%s has a latency of %.0f us, its peers %.0f us (median); check its path, power saving "
        "and busy cores",
        court->links->rails[rail], latency_us, median_us);
}

int court_latency(struct court *court)
{
    const struct links *links = court->links;
    size_t nodes = links->node_count, rails = links->rail_count;
    double *best = malloc((nodes * rails + 1) * sizeof *best);

    if (!best)
        return -1;
    for (size_t end = 0; end < nodes * rails; end++)
        best[end] = NAN;
    for (size_t i = 0; i < links->sample_count; i++) {
        const struct link_sample *sample = &links->samples[i];
        size_t rail = (size_t)sample->rail;

        /* [rail][node], so that a rail's are one row */
        fall(&best[rail * nodes + (size_t)sample->from], sample->latency_us);
        fall(&best[rail * nodes + (size_t)sample->to], sample->latency_us);
    }
    for (size_t rail = 0; rail < rails && nodes > 2; rail++) {
        double median = statistics_median(&best[rail * nodes], nodes);

        for (size_t node = 0; node < nodes; node++) {
            double latency_us = best[rail * nodes + node];

            if (latency_us > median * court->limits.latency_peers_ratio &&
                latency_us >= median + LATENCY_ALIKE_US) {
                name_latency(court, (int)node, (int)rail, latency_us, median);
                warn_of_latency(court, (int)node, (int)rail, latency_us, median);
            }
        }
    }
    free(best);
    return 0;
}

/* The best of what the end sent, or received; NULL: nothing of that was measured. */
static const struct cell *best_cell(const struct cells *cells, size_t end, int receives)
{
    const size_t *begin = receives ? cells->in_begin : cells->out_begin;
    const struct cell *best = NULL;

    for (size_t i = begin[end]; i < begin[end + 1]; i++) {
        const struct cell *cell = &cells->cells[receives ? cells->incoming[i].cell : i];

        if (!best || cell->y > best->y)
            best = cell;
    }
    return best;
}

/* Whether a finding about the leaf of the node speaks for it: only where who is on the leaf is
 * stated does the caller know whom it is about. */
static bool is_in_slow_leaf(const struct court *court, const struct pursuit *pursuit, int node,
                            int rail)
{
    const int *stated = court->links->blocks;

    if (!stated || stated[node] != court->cells.blocks[node])
        return false;
    for (size_t i = 0; i < pursuit->count; i++) {
        const struct accused *accused = &pursuit->accused[i];

        if ((accused->kind == PART_LEAF || accused->kind == PART_LEAF_ALL) &&
            accused->block == court->cells.blocks[node] &&
            (accused->rail < 0 || accused->rail == rail))
            return true;
    }
    return false;
}

static void tell_missing(struct court *court, int node, int rail, const char *what)
{
    struct finding *finding = findings_add(&court->findings, FINDING_MISSING, VERDICT_UNKNOWN);
    const char *name = court->links->rails[rail];

    finding->node = node;
    finding->rail = rail;
    snprintf(finding->part, sizeof finding->part, "%.90s", name);
    snprintf(finding->message, sizeof finding->message, "%.90s was not measured%s", name, what);
}

/* best: of a direction of which nothing was well. */
static void tell_unproved(struct court *court, int node, int rail, const struct cell *best)
{
    const struct cells *cells = &court->cells;
    double base = cells_base(cells, best);
    struct finding *finding = findings_add(&court->findings, FINDING_AMBIGUOUS, VERDICT_UNKNOWN);

    finding->node = node;
    finding->rail = rail;
    finding->direction = "both ways";
    finding->value = best->y < -20 ? 0 : base * exp(best->y);
    finding->limit = base * exp(best->first_limit);
    finding->reference = base * exp(cells->typical[rail]);
    finding->limit_source = "peers";
    snprintf(finding->part, sizeof finding->part, "%.90s", court->links->rails[rail]);
    snprintf(finding->message, sizeof finding->message,
             "%s reached %.0f of %.0f Mb/s at best: what is wrong elsewhere explains it, but "
             "nobody vouches for it; certify it again",
             court->links->rails[rail], finding->value, finding->reference);
}

void court_unproved(struct court *court, const struct pursuit *pursuit)
{
    const struct links *links = court->links;

    for (size_t end = 0; end < links->node_count * links->rail_count; end++) {
        int node = (int)(end / links->rail_count), rail = (int)(end % links->rail_count);
        const struct cell *best[2];
        int unproved = -1;

        if (court->is_accused[end] || is_in_slow_leaf(court, pursuit, node, rail))
            continue;
        for (int receives = 0; receives < 2; receives++) {
            best[receives] = best_cell(&court->cells, end, receives);
            if (best[receives] && court->good[receives][end] == 0 &&
                (unproved < 0 || best[receives]->y > best[unproved]->y))
                unproved = receives;
        }
        if (unproved >= 0)
            tell_unproved(court, node, rail, best[unproved]);
        else if (!best[0] || !best[1])
            tell_missing(court, node, rail,
                         best[0]   ? ": nothing that it receives"
                         : best[1] ? ": nothing that it sends"
                                   : "");
    }
}
