/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/cells/cells.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No connection at all, as a logarithm that is lower than any speed and still a number. */
static const float no_connection = -30;

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

    return (unsigned char)(bits < CELL_LOADS ? bits : CELL_LOADS - 1);
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
                        .first_stalled = sample->first_stalled,
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

int cells_build(const struct links *links, const struct links_limits *limits,
                const struct link_sample *samples, size_t count, const int *blocks,
                struct cells *cells, float *received)
{
    size_t ends = links->node_count * links->rail_count;
    float *bases = malloc((ends + 1) * sizeof *bases);
    size_t *places =
        calloc((ends > links->node_count ? ends : links->node_count) + 1, sizeof *places);
    int rv = -1;

    *cells = (struct cells){.links = links,
                            .limits = limits,
                            .nodes = links->node_count,
                            .rails = links->rail_count,
                            .block_count = 1};
    for (size_t i = 0; blocks && i < links->node_count; i++)
        if ((size_t)blocks[i] >= cells->block_count)
            cells->block_count = (size_t)blocks[i] + 1;
    if (bases && places && allocate(cells, count) == 0) {
        gather_blocks(cells, blocks);
        count_samples(cells, samples, count);
        fill_bases(cells, bases);
        fill(cells, samples, count, bases, places);
        memset(places, 0, cells->nodes * sizeof *places);
        drop_earlier(cells, places);
        fill_incoming(cells, received);
        count_measured(cells);
        rv = 0;
    }
    free(bases);
    free(places);
    return rv;
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
