/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/cells.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No connection at all, as a logarithm that is lower than any speed and still a number. */
static const float no_connection = -30;

/* An end that reaches this below the median of its peers is unsuspicious: log 0.85. */
static const float good_margin = -0.1625F;

/* How far the peers' gate keeps from the median: four times the spread that noise makes, which is
 * not believed to be less than 1 %, nor more than 10 % where half of the samples are bad. */
static const float sigmas = 4, sigma_floor = 0.01F, sigma_ceiling = 0.1F;

enum { LOADS = 16 }; /* pairs that share an uplink, by powers of two */

/* Hoare 1961, algorithm 65. */
float cells_rank(float *values, size_t count, size_t rank)
{
    long low = 0, high = (long)count - 1, wanted = (long)rank;

    while (low < high) {
        float pivot = values[wanted];
        long i = low, j = high;

        do {
            while (values[i] < pivot)
                i++;
            while (pivot < values[j])
                j--;
            if (i <= j) {
                float keep = values[i];

                values[i++] = values[j];
                values[j--] = keep;
            }
        } while (i <= j);
        if (j < wanted)
            low = i;
        if (wanted < i)
            high = j;
    }
    return values[wanted];
}

float cells_median(float *values, size_t count)
{
    return cells_rank(values, count, count / 2);
}

void cells_clear(struct cells *cells)
{
    free(cells->cells);
    free(cells->out_begin);
    free(cells->in_begin);
    free(cells->in_cells);
    free(cells->blocks);
    free(cells->block_size);
    free(cells->members);
    free(cells->members_begin);
    free(cells->typical);
    free(cells->sigma);
    free(cells->across);
    free(cells->has_nominal);
    free(cells->is_fabric);
    free(cells->is_uplinks);
    *cells = (struct cells){0};
}

static double nominal(const struct links *links, int node, int rail)
{
    double mbps = links->nominal_mbps
                      ? links->nominal_mbps[(size_t)node * links->rail_count + (size_t)rail]
                      : NAN;

    return mbps > 0 ? mbps : NAN;
}

double cells_base(const struct cells *cells, const struct cell *cell)
{
    return cells->has_nominal[cell->rail] ? fmin(nominal(cells->links, cell->from, cell->rail),
                                                 nominal(cells->links, cell->to, cell->rail))
                                          : 1;
}

struct cell *cells_find(const struct cells *cells, int from, int to, int rail)
{
    size_t end = (size_t)from * cells->rails + (size_t)rail;

    for (size_t i = cells->out_begin[end]; i < cells->out_begin[end + 1]; i++)
        if (cells->cells[i].to == to)
            return &cells->cells[i];
    return NULL;
}

static int allocate(struct cells *cells, size_t samples)
{
    size_t ends = cells->nodes * cells->rails;

    cells->cells = malloc((samples + 1) * sizeof *cells->cells);
    cells->out_begin = calloc(ends + 2, sizeof *cells->out_begin);
    cells->in_begin = calloc(ends + 2, sizeof *cells->in_begin);
    cells->in_cells = malloc((samples + 1) * sizeof *cells->in_cells);
    cells->blocks = calloc(cells->nodes + 1, sizeof *cells->blocks);
    cells->block_size = calloc(cells->block_count + 1, sizeof *cells->block_size);
    cells->members = calloc(cells->nodes + 1, sizeof *cells->members);
    cells->members_begin = calloc(cells->block_count + 2, sizeof *cells->members_begin);
    cells->typical = calloc(cells->rails + 1, sizeof *cells->typical);
    cells->sigma = calloc(cells->rails * CELL_REGIONS + 1, sizeof *cells->sigma);
    cells->across = calloc(cells->rails + 1, sizeof *cells->across);
    cells->has_nominal = calloc(cells->rails + 1, sizeof *cells->has_nominal);
    cells->is_fabric = calloc(cells->rails + 1, sizeof *cells->is_fabric);
    cells->is_uplinks = calloc(cells->rails + 1, sizeof *cells->is_uplinks);
    return cells->cells && cells->out_begin && cells->in_begin && cells->in_cells &&
                   cells->blocks && cells->block_size && cells->members && cells->members_begin &&
                   cells->typical && cells->sigma && cells->across && cells->has_nominal &&
                   cells->is_fabric && cells->is_uplinks
               ? 0
               : -1;
}

static bool is_measured(const struct link_sample *sample)
{
    return sample->from != sample->to && !isnan(sample->mbps);
}

/* Sorts the samples by sender and rail; the last one of a cell counts. */
static int sort_samples(struct cells *cells, const struct link_sample *samples, size_t count,
                        size_t **sorted_samples)
{
    size_t ends = cells->nodes * cells->rails, kept = 0;
    size_t *sorted = malloc((count + 1) * sizeof *sorted);
    size_t *next = calloc(ends + 2, sizeof *next), *seen = calloc(cells->nodes + 1, sizeof *seen);

    for (size_t i = 0; i < count && next; i++)
        if (is_measured(&samples[i]))
            next[(size_t)samples[i].from * cells->rails + (size_t)samples[i].rail + 1]++;
    for (size_t end = 0; end < ends && next; end++)
        next[end + 1] += next[end];
    for (size_t i = 0; i < count && sorted && next; i++)
        if (is_measured(&samples[i]))
            sorted[next[(size_t)samples[i].from * cells->rails + (size_t)samples[i].rail]++] = i;
    /* next[end] is now where the end's samples end; from the last one back, in place */
    for (size_t end = 0, begin = 0; end < ends && sorted && next && seen; end++) {
        size_t first = kept;

        for (size_t i = begin; i < next[end]; i++) {
            size_t *place = &seen[samples[sorted[i]].to];

            if (*place > first && *place <= kept &&
                samples[sorted[*place - 1]].to == samples[sorted[i]].to) {
                sorted[*place - 1] = sorted[i];
            } else {
                sorted[kept++] = sorted[i];
                *place = kept;
            }
        }
        begin = next[end];
        cells->out_begin[end + 1] = kept;
    }
    cells->count = kept;
    free(next);
    free(seen);
    *sorted_samples = sorted;
    return sorted && next && seen ? 0 : -1;
}

static void find_nominals(struct cells *cells, const struct link_sample *samples,
                          const size_t *sorted)
{
    for (size_t rail = 0; rail < cells->rails; rail++)
        cells->has_nominal[rail] = true;
    for (size_t i = 0; i < cells->count; i++) {
        const struct link_sample *sample = &samples[sorted[i]];

        if (isnan(nominal(cells->links, sample->from, sample->rail)) ||
            isnan(nominal(cells->links, sample->to, sample->rail)))
            cells->has_nominal[sample->rail] = false;
    }
}

static float logarithm(double mbps, float base)
{
    float y = mbps > 0 ? logf((float)mbps) - base : no_connection;

    return y > no_connection ? y : no_connection;
}

float cells_y(const struct cells *cells, const struct cell *cell, double mbps)
{
    return logarithm(mbps, logf((float)cells_base(cells, cell)));
}

/* Pairs that shared an uplink, by powers of two: 2 is 1, 3 and 4 are 2. */
static unsigned char load_class(int load)
{
    int bits = load > 1 ? 32 - __builtin_clz((unsigned)load - 1) : 0;

    return (unsigned char)(bits < LOADS ? bits : LOADS - 1);
}

/* [node x rail] logarithm of what is nominal; 0 where it is no gate. */
static void fill_bases(const struct cells *cells, float *bases)
{
    for (size_t end = 0; end < cells->nodes * cells->rails; end++) {
        size_t rail = end % cells->rails;
        double mbps = nominal(cells->links, (int)(end / cells->rails), (int)rail);

        bases[end] = cells->has_nominal[rail] && mbps > 0 ? logf((float)mbps) : 0;
    }
}

static void fill(struct cells *cells, const struct link_sample *samples, const size_t *sorted,
                 const float *bases)
{
    for (size_t i = 0; i < cells->count; i++) {
        const struct link_sample *sample = &samples[sorted[i]];
        struct cell *cell = &cells->cells[i];
        float from = bases[(size_t)sample->from * cells->rails + (size_t)sample->rail];
        float to = bases[(size_t)sample->to * cells->rails + (size_t)sample->rail];
        float base = from < to ? from : to;

        *cell = (struct cell){.from = sample->from,
                              .to = sample->to,
                              .rail = (short)sample->rail,
                              .again = (unsigned char)(sample->again < 200 ? sample->again : 200),
                              .is_open = true};
        cell->y = logarithm(sample->mbps, base);
        cell->first_y = sample->first_mbps > 0 ? logarithm(sample->first_mbps, base) : cell->y;
        cell->spot = sample->low_mbps > 0 ? logarithm(sample->low_mbps, base) : cell->y;
        cell->region =
            cells->blocks[sample->from] != cells->blocks[sample->to] ? CELL_ACROSS : CELL_INSIDE;
        cell->is_first_quiet = sample->first_stalled < LINKS_QUIET;
        cell->is_sole = sample->load == 1 || sample->again > 0;
        if (cell->region == CELL_ACROSS && sample->load > 1 && sample->again == 0)
            cell->load = load_class(sample->load);
        cells->in_begin[(size_t)cell->to * cells->rails + (size_t)cell->rail + 1]++;
    }
    for (size_t end = 0; end < cells->nodes * cells->rails; end++)
        cells->in_begin[end + 1] += cells->in_begin[end];
    for (size_t i = cells->count; i-- > 0;) {
        const struct cell *cell = &cells->cells[i];
        size_t end = (size_t)cell->to * cells->rails + (size_t)cell->rail;

        /* filled from behind: in_begin moves down to where it belongs */
        cells->in_cells[--cells->in_begin[end + 1]] = (unsigned)i;
    }
    memmove(cells->in_begin, cells->in_begin + 1,
            cells->nodes * cells->rails * sizeof *cells->in_begin);
    cells->in_begin[cells->nodes * cells->rails] = cells->count;
}

static void gather_blocks(struct cells *cells, const int *blocks)
{
    for (size_t node = 0; node < cells->nodes; node++) {
        cells->blocks[node] = blocks ? blocks[node] : 0;
        cells->members_begin[cells->blocks[node] + 1]++;
    }
    for (size_t b = 0; b < cells->block_count; b++)
        cells->members_begin[b + 1] += cells->members_begin[b];
    for (size_t node = cells->nodes; node-- > 0;)
        cells->members[--cells->members_begin[cells->blocks[node] + 1]] = (int)node;
    memmove(cells->members_begin, cells->members_begin + 1,
            cells->block_count * sizeof *cells->members_begin);
    cells->members_begin[cells->block_count] = (int)cells->nodes;
}

static void count_measured(struct cells *cells)
{
    for (size_t node = 0; node < cells->nodes; node++) {
        size_t end = node * cells->rails;
        bool is_there = cells->out_begin[end] < cells->out_begin[end + cells->rails] ||
                        cells->in_begin[end] < cells->in_begin[end + cells->rails];

        cells->block_size[cells->blocks[node]] += is_there;
    }
}

/* The figure of one end: of each region the best one of eight samples, the better region. */
static float end_figure(const struct cells *cells, size_t end, bool sends, float *values)
{
    size_t begin = sends ? cells->out_begin[end] : cells->in_begin[end];
    size_t stop = sends ? cells->out_begin[end + 1] : cells->in_begin[end + 1];
    float figure = NAN;

    for (int region = 0; region < CELL_REGIONS; region++) {
        size_t count = 0;

        for (size_t i = begin; i < stop; i++) {
            const struct cell *cell = &cells->cells[sends ? i : cells->in_cells[i]];

            if (cell->region == region)
                values[count++] = cell->y;
        }
        if (count > 0)
            figure = fmaxf(figure, cells_rank(values, count, count - 1 - count / 8));
    }
    return figure;
}

/* What the fit of a rail works on. */
struct fit {
    float *values;   /* [the most samples of a rail] */
    float *figures;  /* [2 x nodes]: sends, receives; NAN: not measured */
    bool *is_good;   /* [2 x nodes] */
    size_t measured; /* ends */
};

static float fit_figures(struct cells *cells, size_t rail, struct fit *fit)
{
    float top;

    fit->measured = 0;
    for (size_t node = 0; node < cells->nodes; node++)
        for (int receives = 0; receives < 2; receives++) {
            float figure = end_figure(cells, node * cells->rails + rail, !receives, fit->values);

            fit->figures[2 * node + (size_t)receives] = figure;
        }
    for (size_t i = 0; i < 2 * cells->nodes; i++)
        if (!isnan(fit->figures[i]))
            fit->values[fit->measured++] = fit->figures[i];
    top = fit->measured > 0 ? cells_median(fit->values, fit->measured) : 0;
    for (size_t i = 0; i < 2 * cells->nodes; i++)
        fit->is_good[i] = fit->figures[i] >= top + good_margin;
    return top;
}

/* Gathers what pairs of good ends reach: of the region, with that load, from that block (-1: any).
 * Returns how many. */
static size_t good_values(const struct cells *cells, size_t rail, const struct fit *fit, int region,
                          int load, int block)
{
    int begin = block < 0 ? 0 : cells->members_begin[block];
    int stop = block < 0 ? (int)cells->nodes : cells->members_begin[block + 1];
    size_t count = 0;

    for (int k = begin; k < stop; k++) {
        size_t node = (size_t)cells->members[k], end = node * cells->rails + rail;

        if (!fit->is_good[2 * node])
            continue;
        for (size_t i = cells->out_begin[end]; i < cells->out_begin[end + 1]; i++) {
            const struct cell *cell = &cells->cells[i];

            if (cell->region == region && cell->load == load && cell->again == 0 &&
                fit->is_good[2 * cell->to + 1])
                fit->values[count++] = cell->y;
        }
    }
    return count;
}

static float spread(float *values, size_t count, float median)
{
    if (count == 0)
        return sigma_floor;
    for (size_t i = 0; i < count; i++)
        values[i] = fabsf(values[i] - median);
    return fminf(fmaxf(1.4826F * cells_median(values, count), sigma_floor), sigma_ceiling);
}

/* The median over the blocks of the median of their paths with that load; NAN: not of most blocks.
 */
static float across_typical(const struct cells *cells, size_t rail, const struct fit *fit,
                            float *medians, int load)
{
    size_t blocks = 0;

    for (size_t block = 0; block < cells->block_count; block++) {
        size_t count = good_values(cells, rail, fit, CELL_ACROSS, load, (int)block);

        if (count > 0)
            medians[blocks++] = cells_median(fit->values, count);
    }
    return 2 * blocks > cells->block_count ? cells_median(medians, blocks) : NAN;
}

/* Whether that many pairs shared an uplink anywhere on the rail. */
static unsigned loads_of(const struct cells *cells, size_t rail)
{
    unsigned loads = 0;

    for (size_t node = 0; node < cells->nodes; node++) {
        size_t end = node * cells->rails + rail;

        for (size_t i = cells->out_begin[end]; i < cells->out_begin[end + 1]; i++)
            if (cells->cells[i].region == CELL_ACROSS)
                loads |= 1U << cells->cells[i].load;
    }
    return loads;
}

/* What is expected of the paths across, by load: as much as inside, unless several blocks can be
 * compared and share their uplinks. */
static void fit_across(struct cells *cells, size_t rail, struct fit *fit, float *medians,
                       float *expected)
{
    unsigned loads = loads_of(cells, rail);
    double limit = log(cells->limits->peers_percent / 100);
    float typical = cells->typical[rail], alone;

    for (int load = 0; load < LOADS; load++)
        expected[load] = typical;
    if (cells->block_count < 3)
        return;
    alone = across_typical(cells, rail, fit, medians, 0);
    cells->across[rail] = alone;
    if (alone < typical + limit) {
        cells->is_uplinks[rail] = true;
        expected[0] = alone;
    }
    for (int load = 1; load < LOADS; load++)
        if (loads & 1U << load)
            expected[load] = fminf(typical, across_typical(cells, rail, fit, medians, load));
}

static void fit_rail(struct cells *cells, size_t rail, struct fit *fit, float *medians,
                     bool by_nominal)
{
    float top = fit_figures(cells, rail, fit), expected[LOADS], *sigma;
    size_t inside = good_values(cells, rail, fit, CELL_INSIDE, 0, -1), across;
    double peers = log(cells->limits->peers_percent / 100);
    double floor = log(cells->limits->nominal_percent / 100);

    sigma = &cells->sigma[rail * CELL_REGIONS];
    cells->across[rail] = NAN;
    if (inside > 0) {
        cells->typical[rail] = cells_median(fit->values, inside);
        /* most pairs are slow although most ends are not: there are blocks that nobody stated */
        if (cells->typical[rail] < top + good_margin)
            cells->typical[rail] = top;
        sigma[CELL_INSIDE] = spread(fit->values, inside, cells->typical[rail]);
        fit_across(cells, rail, fit, medians, expected);
        across = good_values(cells, rail, fit, CELL_ACROSS, 0, -1);
        sigma[CELL_ACROSS] = fmaxf(sigma[CELL_INSIDE], spread(fit->values, across, expected[0]));
    } else {
        across = good_values(cells, rail, fit, CELL_ACROSS, 0, -1);
        cells->typical[rail] = across > 0 ? cells_median(fit->values, across) : top;
        sigma[CELL_INSIDE] = sigma[CELL_ACROSS] = spread(fit->values, across, cells->typical[rail]);
        for (int load = 0; load < LOADS; load++)
            expected[load] = cells->typical[rail];
    }
    by_nominal = by_nominal && cells->has_nominal[rail];
    cells->is_fabric[rail] = by_nominal && fit->measured > 4 && cells->typical[rail] < floor;
    for (size_t node = 0; node < cells->nodes; node++) {
        size_t end = node * cells->rails + rail;

        for (size_t i = cells->out_begin[end]; i < cells->out_begin[end + 1]; i++) {
            struct cell *cell = &cells->cells[i];

            cell->expected =
                cell->region == CELL_INSIDE ? cells->typical[rail] : expected[cell->load];
            cell->limit = cell->expected + fminf((float)peers, -sigmas * sigma[cell->region]);
            if (by_nominal && !cells->is_fabric[rail] && cell->load == 0 &&
                (cell->region == CELL_INSIDE || !cells->is_uplinks[rail]))
                cell->limit = fmaxf(cell->limit, (float)floor);
            cell->first_limit = cell->limit;
            cell->is_low = cell->y < cell->limit;
            cell->was_low = cell->first_y < cell->limit;
        }
    }
}

int cells_fit(const struct links *links, const struct links_limits *limits,
              const struct link_sample *samples, size_t count, const int *blocks, bool by_nominal,
              struct cells *cells)
{
    size_t *sorted = NULL;
    float *medians, *bases = malloc((links->node_count * links->rail_count + 1) * sizeof *bases);
    struct fit fit = {0};
    int rv;

    *cells = (struct cells){.links = links,
                            .limits = limits,
                            .nodes = links->node_count,
                            .rails = links->rail_count,
                            .block_count = 1};
    for (size_t i = 0; blocks && i < links->node_count; i++)
        if ((size_t)blocks[i] >= cells->block_count)
            cells->block_count = (size_t)blocks[i] + 1;
    if (!bases || allocate(cells, count) != 0 ||
        sort_samples(cells, samples, count, &sorted) != 0) {
        free(sorted);
        free(bases);
        return -1;
    }
    gather_blocks(cells, blocks);
    find_nominals(cells, samples, sorted);
    fill_bases(cells, bases);
    fill(cells, samples, sorted, bases);
    free(sorted);
    free(bases);
    count_measured(cells);
    fit.values = malloc((cells->count + 2 * cells->nodes + 1) * sizeof *fit.values);
    fit.figures = malloc((2 * cells->nodes + 1) * sizeof *fit.figures);
    fit.is_good = malloc((2 * cells->nodes + 1) * sizeof *fit.is_good);
    medians = malloc((cells->block_count + 1) * sizeof *medians);
    rv = fit.values && fit.figures && fit.is_good && medians ? 0 : -1;
    for (size_t rail = 0; rail < cells->rails && rv == 0; rail++)
        fit_rail(cells, rail, &fit, medians, by_nominal);
    free(fit.values);
    free(fit.figures);
    free(fit.is_good);
    free(medians);
    return rv;
}

void cells_count_alone(struct cells *cells)
{
    for (size_t i = 0; i < cells->links->alone_count; i++) {
        const struct link_sample *sample = &cells->links->alone[i];
        struct cell *cell = cells_find(cells, sample->from, sample->to, sample->rail);

        if (!cell || cell->quiet == UCHAR_MAX)
            continue;
        cell->quiet++;
        if (cells_y(cells, cell, sample->mbps) < cell->limit)
            cell->quiet_low++;
    }
}
