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
    free(cells->incoming);
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
    cells->incoming = malloc((samples + 1) * sizeof *cells->incoming);
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
    return cells->cells && cells->out_begin && cells->in_begin && cells->incoming &&
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

/* Counts the samples of each sender's rail into out_begin, an end further on, and finds which rails
 * have nominal speeds throughout. */
static void count_samples(struct cells *cells, const struct link_sample *samples, size_t count)
{
    for (size_t rail = 0; rail < cells->rails; rail++)
        cells->has_nominal[rail] = true;
    for (size_t i = 0; i < count; i++) {
        const struct link_sample *sample = &samples[i];

        if (!is_measured(sample))
            continue;
        cells->out_begin[(size_t)sample->from * cells->rails + (size_t)sample->rail + 1]++;
        if (isnan(nominal(cells->links, sample->from, sample->rail)) ||
            isnan(nominal(cells->links, sample->to, sample->rail)))
            cells->has_nominal[sample->rail] = false;
    }
    for (size_t end = 0; end < cells->nodes * cells->rails; end++)
        cells->out_begin[end + 1] += cells->out_begin[end];
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

static struct cell make_cell(const struct cells *cells, const struct link_sample *sample,
                             const float *bases)
{
    float from = bases[(size_t)sample->from * cells->rails + (size_t)sample->rail];
    float to = bases[(size_t)sample->to * cells->rails + (size_t)sample->rail];
    float base = from < to ? from : to;
    struct cell cell = {.from = sample->from,
                        .to = sample->to,
                        .rail = (short)sample->rail,
                        .again = (unsigned char)(sample->again < 200 ? sample->again : 200),
                        .is_first_quiet = sample->first_stalled < LINKS_QUIET,
                        .is_sole = sample->load == 1 || sample->again > 0,
                        .is_open = true};

    cell.y = logarithm(sample->mbps, base);
    cell.first_y = sample->first_mbps > 0 ? logarithm(sample->first_mbps, base) : cell.y;
    cell.spot = sample->low_mbps > 0 ? logarithm(sample->low_mbps, base) : cell.y;
    cell.region =
        cells->blocks[sample->from] != cells->blocks[sample->to] ? CELL_ACROSS : CELL_INSIDE;
    if (cell.region == CELL_ACROSS && sample->load > 1 && sample->again == 0)
        cell.load = load_class(sample->load);
    return cell;
}

/* Puts each sample into its sender's row. next: [ends], where the row's next cell goes. */
static void fill(struct cells *cells, const struct link_sample *samples, size_t count,
                 const float *bases, size_t *next)
{
    memcpy(next, cells->out_begin, cells->nodes * cells->rails * sizeof *next);
    for (size_t i = 0; i < count; i++)
        if (is_measured(&samples[i]))
            cells->cells[next[(size_t)samples[i].from * cells->rails + (size_t)samples[i].rail]++] =
                make_cell(cells, &samples[i], bases);
}

/* Of several samples of a cell the last one counts, at the place of the first. seen: [nodes] place
 * of the cell with that receiver + 1, zeros. */
static void drop_earlier(struct cells *cells, size_t *seen)
{
    size_t kept = 0, begin = 0;

    for (size_t end = 0; end < cells->nodes * cells->rails; end++) {
        size_t first = kept, stop = cells->out_begin[end + 1];

        for (size_t i = begin; i < stop; i++) {
            size_t *place = &seen[cells->cells[i].to];

            if (*place <= first) /* that of another row */
                *place = ++kept;
            if (*place - 1 != i)
                cells->cells[*place - 1] = cells->cells[i];
        }
        begin = stop;
        cells->out_begin[end + 1] = kept;
    }
    cells->count = kept;
}

/* received: room for all y in the order of incoming. */
static void fill_incoming(struct cells *cells, float *received)
{
    for (size_t i = 0; i < cells->count; i++)
        cells->in_begin[(size_t)cells->cells[i].to * cells->rails + (size_t)cells->cells[i].rail +
                        1]++;
    for (size_t end = 0; end < cells->nodes * cells->rails; end++)
        cells->in_begin[end + 1] += cells->in_begin[end];
    for (size_t i = cells->count; i-- > 0;) {
        const struct cell *cell = &cells->cells[i];
        size_t end = (size_t)cell->to * cells->rails + (size_t)cell->rail;
        size_t place = --cells->in_begin[end + 1]; /* from behind: it moves down to its begin */

        cells->incoming[place] = (struct incoming){(unsigned)i, cell->from};
        received[place] = cell->y;
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

/* What the fit of a rail works on. */
struct fit {
    float *values;   /* [the most samples of a rail] */
    float *received; /* [samples] y, as cells.incoming has them */
    float *figures;  /* [2 x nodes]: sends, receives; NAN: not measured */
    bool *is_good;   /* [2 x nodes] */
    float *medians;  /* [blocks] */
    float *bases;    /* [nodes x rails] fill_bases() */
    size_t *places;  /* [nodes x rails, nodes at least] */
    size_t measured; /* ends */
};

/* The figure of one end: of each region the best one of eight samples, the better region. */
static float sends_figure(const struct cells *cells, size_t end, float *values)
{
    float figure = NAN;

    for (int region = 0; region < CELL_REGIONS; region++) {
        size_t count = 0;

        for (size_t i = cells->out_begin[end]; i < cells->out_begin[end + 1]; i++)
            if (cells->cells[i].region == region)
                values[count++] = cells->cells[i].y;
        if (count > 0)
            figure = fmaxf(figure, cells_rank(values, count, count - 1 - count / 8));
    }
    return figure;
}

static float receives_figure(const struct cells *cells, size_t end, const struct fit *fit)
{
    int block = cells->blocks[end / cells->rails];
    float figure = NAN;

    for (int region = 0; region < CELL_REGIONS; region++) {
        size_t count = 0;

        for (size_t i = cells->in_begin[end]; i < cells->in_begin[end + 1]; i++)
            if ((cells->blocks[cells->incoming[i].from] != block) == (region == CELL_ACROSS))
                fit->values[count++] = fit->received[i];
        if (count > 0)
            figure = fmaxf(figure, cells_rank(fit->values, count, count - 1 - count / 8));
    }
    return figure;
}

static float fit_figures(struct cells *cells, size_t rail, struct fit *fit)
{
    float top;

    fit->measured = 0;
    for (size_t node = 0; node < cells->nodes; node++) {
        size_t end = node * cells->rails + rail;

        fit->figures[2 * node] = sends_figure(cells, end, fit->values);
        fit->figures[2 * node + 1] = receives_figure(cells, end, fit);
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
static float across_typical(const struct cells *cells, size_t rail, const struct fit *fit, int load)
{
    size_t blocks = 0;

    for (size_t block = 0; block < cells->block_count; block++) {
        size_t count = good_values(cells, rail, fit, CELL_ACROSS, load, (int)block);

        if (count > 0)
            fit->medians[blocks++] = cells_median(fit->values, count);
    }
    return 2 * blocks > cells->block_count ? cells_median(fit->medians, blocks) : NAN;
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
static void fit_across(struct cells *cells, size_t rail, struct fit *fit, float *expected)
{
    unsigned loads = loads_of(cells, rail);
    double limit = log(cells->limits->peers_percent / 100);
    float typical = cells->typical[rail], alone;

    for (int load = 0; load < LOADS; load++)
        expected[load] = typical;
    if (cells->block_count < 3)
        return;
    alone = across_typical(cells, rail, fit, 0);
    cells->across[rail] = alone;
    if (alone < typical + limit) {
        cells->is_uplinks[rail] = true;
        expected[0] = alone;
    }
    for (int load = 1; load < LOADS; load++)
        if (loads & 1U << load)
            expected[load] = fminf(typical, across_typical(cells, rail, fit, load));
}

static void fit_rail(struct cells *cells, size_t rail, struct fit *fit, bool by_nominal)
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
        fit_across(cells, rail, fit, expected);
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

static void fit_clear(struct fit *fit)
{
    free(fit->values);
    free(fit->received);
    free(fit->figures);
    free(fit->is_good);
    free(fit->medians);
    free(fit->bases);
    free(fit->places);
}

static int fit_make(const struct cells *cells, size_t samples, struct fit *fit)
{
    size_t nodes = cells->nodes, ends = nodes * cells->rails;

    fit->values = malloc((samples + 2 * nodes + 1) * sizeof *fit->values);
    fit->received = malloc((samples + 1) * sizeof *fit->received);
    fit->figures = malloc((2 * nodes + 1) * sizeof *fit->figures);
    fit->is_good = malloc((2 * nodes + 1) * sizeof *fit->is_good);
    fit->medians = malloc((cells->block_count + 1) * sizeof *fit->medians);
    fit->bases = malloc((ends + 1) * sizeof *fit->bases);
    fit->places = calloc((ends > nodes ? ends : nodes) + 1, sizeof *fit->places);
    return fit->values && fit->received && fit->figures && fit->is_good && fit->medians &&
                   fit->bases && fit->places
               ? 0
               : -1;
}

int cells_fit(const struct links *links, const struct links_limits *limits,
              const struct link_sample *samples, size_t count, const int *blocks, bool by_nominal,
              struct cells *cells)
{
    struct fit fit = {0};

    *cells = (struct cells){.links = links,
                            .limits = limits,
                            .nodes = links->node_count,
                            .rails = links->rail_count,
                            .block_count = 1};
    for (size_t i = 0; blocks && i < links->node_count; i++)
        if ((size_t)blocks[i] >= cells->block_count)
            cells->block_count = (size_t)blocks[i] + 1;
    if (allocate(cells, count) != 0 || fit_make(cells, count, &fit) != 0) {
        fit_clear(&fit);
        return -1;
    }
    gather_blocks(cells, blocks);
    count_samples(cells, samples, count);
    fill_bases(cells, fit.bases);
    fill(cells, samples, count, fit.bases, fit.places);
    memset(fit.places, 0, cells->nodes * sizeof *fit.places);
    drop_earlier(cells, fit.places);
    fill_incoming(cells, fit.received);
    count_measured(cells);
    for (size_t rail = 0; rail < cells->rails; rail++)
        fit_rail(cells, rail, &fit, by_nominal);
    fit_clear(&fit);
    return 0;
}

void cells_count_alone(struct cells *cells)
{
    for (size_t i = 0; i < cells->links->moment_count; i++) {
        const struct link_sample *sample = &cells->links->moments[i];
        struct cell *cell = cells_find(cells, sample->from, sample->to, sample->rail);

        if (!cell || sample->again == 0 || cell->quiet == UCHAR_MAX)
            continue;
        cell->quiet++;
        if (cells_y(cells, cell, sample->mbps) < cell->limit)
            cell->quiet_low++;
    }
}
