/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/pursuit/ranking.h"

#include <math.h>
#include <stdlib.h>

#include "lib/constants/judge_constants.h"

const double ranking_partial_excess = 0.1;
const double ranking_slow_share = 0.5;

double ranking_cable_excess(const struct ranking *ranking)
{
    return ranking->rate[CELL_ACROSS] <= PART_RATE_LEAST ? 0.01 : 0.03;
}

/* Adds the cell, or takes it out. */
static void tally_cell(struct ranking *ranking, const struct cell *cell, float sign)
{
    unsigned candidates[CANDIDATES_OF_CELL];
    int count = candidates_of(&ranking->candidates, cell, candidates);
    float weight = sign * (float)(1 + cell->again);

    for (int i = 0; i < count; i++) {
        struct tally *tally = &ranking->tallies[candidates[i]];

        tally->all[cell->region] += weight;
        if (cell->is_low)
            tally->low[cell->region] += weight;
    }
}

void ranking_drop(struct ranking *ranking, const struct cell *cell)
{
    tally_cell(ranking, cell, -1);
}

double ranking_likelihood(double low, double all, double rate)
{
    double share = all > 0 ? low / all : 0;

    if (share <= rate)
        return 0;
    return low * log(share / rate) + (share < 1 ? (all - low) * log((1 - share) / (1 - rate)) : 0);
}

static double score_of(const struct ranking *ranking, size_t candidate)
{
    const struct tally *tally = &ranking->tallies[candidate];
    double score = 0;

    for (int region = 0; region < CELL_REGIONS; region++)
        score += ranking_likelihood(tally->low[region], tally->all[region], ranking->rate[region]);
    return score;
}

/* Higher score first, then the kind that comes first. */
static bool is_before(struct ranking_entry a, struct ranking_entry b)
{
    if (fabsf(a.score - b.score) > 1e-4F * fmaxf(a.score, b.score))
        return a.score > b.score;
    return a.candidate < b.candidate;
}

static void sift_down(struct ranking *ranking, size_t place)
{
    struct ranking_entry *heap = ranking->entries, entry = heap[place];

    for (;;) {
        size_t child = 2 * place + 1;

        if (child >= ranking->entry_count)
            break;
        if (child + 1 < ranking->entry_count && is_before(heap[child + 1], heap[child]))
            child++;
        if (!is_before(heap[child], entry))
            break;
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = entry;
}

/* Low cells more than elsewhere, as a share of all. */
static double excess_of(const struct ranking *ranking, const struct tally *tally)
{
    double all = tally->all[0] + tally->all[1], excess = 0;

    for (int region = 0; region < CELL_REGIONS; region++)
        excess += tally->low[region] - ranking->rate[region] * tally->all[region];
    return all > 0 ? excess / all : 0;
}

/* Whether too few of its cells are low for any case, so that it need not be looked at closely:
 * neither so many that it is slow, where what is barely not low is no evidence against, nor so many
 * more than elsewhere that a node or a cable of an uplink is slow at times. */
static bool is_hopeless(const struct ranking *ranking, size_t candidate)
{
    const struct tally *tally = &ranking->tallies[candidate];
    enum part_kind kind = candidates_kind(&ranking->candidates, candidate);
    double low = tally->low[0] + tally->low[1], all = tally->all[0] + tally->all[1];

    if (low >= 0.6 * ranking_slow_share * all)
        return false;
    if (candidates_is_node(kind))
        return excess_of(ranking, tally) < ranking_partial_excess;
    return !candidates_is_uplink(kind) || excess_of(ranking, tally) < ranking_cable_excess(ranking);
}

static void pop(struct ranking *ranking)
{
    ranking->entries[0] = ranking->entries[--ranking->entry_count];
    sift_down(ranking, 0);
}

/* A score only ever falls, so that one which is still what it was when it comes to the top is the
 * best. */
bool ranking_next(struct ranking *ranking, unsigned *candidate)
{
    while (ranking->entry_count > 0) {
        struct ranking_entry top = ranking->entries[0];
        float score = (float)score_of(ranking, top.candidate);

        if (score >= top.score * 0.9999F) {
            pop(ranking);
            if (is_hopeless(ranking, top.candidate))
                continue;
            *candidate = top.candidate;
            return true;
        }
        ranking->entries[0].score = score;
        if (score <= 0)
            pop(ranking);
        else
            sift_down(ranking, 0);
    }
    return false;
}

/* The median node's share of low cells, which a few bad parts do not raise. Returns 0, or -1 when
 * memory is out. */
static int guess_rates(struct ranking *ranking)
{
    const struct cells *cells = ranking->candidates.cells;
    struct tally *nodes = calloc(cells->nodes + 1, sizeof *nodes);
    float *shares = malloc((cells->nodes + 1) * sizeof *shares);

    for (size_t i = 0; i < cells->count && nodes && shares; i++) {
        const struct cell *cell = &cells->cells[i];

        if (!cell->is_open)
            continue;
        for (int k = 0; k < 2; k++) {
            struct tally *tally = &nodes[k ? cell->to : cell->from];

            tally->all[cell->region] += (float)(1 + cell->again);
            tally->low[cell->region] += cell->is_low ? (float)(1 + cell->again) : 0;
        }
    }
    for (int region = 0; region < CELL_REGIONS && nodes && shares; region++) {
        size_t count = 0;

        for (size_t node = 0; node < cells->nodes; node++)
            if (nodes[node].all[region] > 0)
                shares[count++] = nodes[node].low[region] / nodes[node].all[region];
        ranking->rate[region] = count > 0 ? cells_median(shares, count) : 0;
        ranking->rate[region] = fmin(fmax(ranking->rate[region], PART_RATE_LEAST), PART_RATE_MOST);
    }
    free(shares);
    free(nodes);
    return nodes && shares ? 0 : -1;
}

int ranking_make(const struct cells *cells, enum part_kind first_kind, enum part_kind last_kind,
                 struct ranking *ranking)
{
    size_t count;

    *ranking = (struct ranking){.candidates = candidates_make(cells, first_kind, last_kind)};
    count = ranking->candidates.begin[PART_KINDS];
    ranking->tallies = calloc(count + 1, sizeof *ranking->tallies);
    ranking->entries = malloc((count + 1) * sizeof *ranking->entries);
    if (!ranking->tallies || !ranking->entries || guess_rates(ranking) != 0)
        return -1;
    for (size_t i = 0; i < cells->count; i++)
        if (cells->cells[i].is_open)
            tally_cell(ranking, &cells->cells[i], 1);
    for (size_t i = 0; i < count; i++) {
        const struct tally *tally = &ranking->tallies[i];

        if (tally->low[0] + tally->low[1] >= 2 && !is_hopeless(ranking, i))
            ranking->entries[ranking->entry_count++] =
                (struct ranking_entry){(float)score_of(ranking, i), (unsigned)i};
    }
    for (size_t i = ranking->entry_count / 2; i-- > 0;)
        sift_down(ranking, i);
    return 0;
}

void ranking_clear(struct ranking *ranking)
{
    free(ranking->tallies);
    free(ranking->entries);
    *ranking = (struct ranking){0};
}
