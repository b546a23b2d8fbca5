/* SPDX-License-Identifier: Apache-2.0 */
/* What is expected of each cell, and below what it is low. */
#include "lib/constants/judge_constants.h"
#include "validate/judge/links/cells/cells.h"

#include <math.h>
#include <stdlib.h>

/* What the fit of a rail works on. */
struct fit {
    float *values;         /* [the most samples of a rail] */
    const float *received; /* [samples] y, as cells.incoming has them */
    float *figures;        /* [2 x nodes]: sends, receives; NAN: not measured */
    bool *is_good;         /* [2 x nodes] */
    float *medians;        /* [blocks] */
    size_t measured;       /* ends */
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
        fit->is_good[i] = fit->figures[i] >= top + (float)FIT_GOOD_MARGIN;
    return top;
}

/* Gathers what pairs of good ends reach: of the region, with that load, from that block (-1: any),
 * among others or all of them. Returns how many. */
static size_t values_of(const struct cells *cells, size_t rail, const struct fit *fit, int region,
                        int load, int block, bool is_alone_too)
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

            if (cell->region == region && cell->load == load &&
                (is_alone_too || cell->again == 0) && fit->is_good[2 * cell->to + 1])
                fit->values[count++] = cell->y;
        }
    }
    return count;
}

static size_t good_values(const struct cells *cells, size_t rail, const struct fit *fit, int region,
                          int load, int block)
{
    return values_of(cells, rail, fit, region, load, block, false);
}

static float spread(float *values, size_t count, float median)
{
    if (count == 0)
        return (float)FIT_SIGMA_LEAST;
    for (size_t i = 0; i < count; i++)
        values[i] = fabsf(values[i] - median);
    return fminf(fmaxf(1.4826F * cells_median(values, count), (float)FIT_SIGMA_LEAST),
                 (float)FIT_SIGMA_MOST);
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

    for (int load = 0; load < CELL_LOADS; load++)
        expected[load] = typical;
    if (cells->block_count < 3)
        return;
    alone = across_typical(cells, rail, fit, 0);
    cells->across[rail] = alone;
    if (alone < typical + limit) {
        cells->is_uplinks[rail] = true;
        expected[0] = alone;
    }
    for (int load = 1; load < CELL_LOADS; load++)
        if (loads & 1U << load)
            expected[load] = fminf(typical, across_typical(cells, rail, fit, load));
}

static void fit_rail(struct cells *cells, size_t rail, struct fit *fit, bool by_nominal)
{
    float top = fit_figures(cells, rail, fit), expected[CELL_LOADS], *sigma;
    size_t inside = good_values(cells, rail, fit, CELL_INSIDE, 0, -1), across;
    double peers = log(cells->limits->peers_percent / 100);
    double floor = log(cells->limits->nominal_percent / 100);

    if (inside == 0) /* all of these were asked again */
        inside = values_of(cells, rail, fit, CELL_INSIDE, 0, -1, true);
    sigma = &cells->sigma[rail * CELL_REGIONS];
    cells->across[rail] = NAN;
    if (inside > 0) {
        cells->typical[rail] = cells_median(fit->values, inside);
        /* most pairs are slow although most ends are not: there are blocks that nobody stated */
        if (cells->typical[rail] < top + (float)FIT_GOOD_MARGIN)
            cells->typical[rail] = top;
        sigma[CELL_INSIDE] = spread(fit->values, inside, cells->typical[rail]);
        fit_across(cells, rail, fit, expected);
        across = good_values(cells, rail, fit, CELL_ACROSS, 0, -1);
        sigma[CELL_ACROSS] = fmaxf(sigma[CELL_INSIDE], spread(fit->values, across, expected[0]));
    } else {
        across = good_values(cells, rail, fit, CELL_ACROSS, 0, -1);
        cells->typical[rail] = across > 0 ? cells_median(fit->values, across) : top;
        sigma[CELL_INSIDE] = sigma[CELL_ACROSS] = spread(fit->values, across, cells->typical[rail]);
        for (int load = 0; load < CELL_LOADS; load++)
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
            cell->limit =
                cell->expected + fminf((float)peers, -(float)FIT_SIGMAS * sigma[cell->region]);
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
    free(fit->figures);
    free(fit->is_good);
    free(fit->medians);
}

static int fit_make(const struct cells *cells, size_t samples, struct fit *fit)
{
    size_t nodes = cells->nodes;

    fit->values = malloc((samples + 2 * nodes + 1) * sizeof *fit->values);
    fit->figures = malloc((2 * nodes + 1) * sizeof *fit->figures);
    fit->is_good = malloc((2 * nodes + 1) * sizeof *fit->is_good);
    fit->medians = malloc((cells->block_count + 1) * sizeof *fit->medians);
    return fit->values && fit->figures && fit->is_good && fit->medians ? 0 : -1;
}

int cells_fit(const struct links *links, const struct links_limits *limits,
              const struct link_sample *samples, size_t count, const int *blocks, bool by_nominal,
              struct cells *cells)
{
    float *received = malloc((count + 1) * sizeof *received);
    struct fit fit = {.received = received};
    int rv = -1;

    *cells = (struct cells){0};
    if (received)
        rv = cells_build(links, limits, samples, count, blocks, cells, received);
    if (rv == 0)
        rv = fit_make(cells, count, &fit);
    for (size_t rail = 0; rv == 0 && rail < cells->rails; rail++)
        fit_rail(cells, rail, &fit, by_nominal);
    fit_clear(&fit);
    free(received);
    return rv;
}
