/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/cells/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/constants/judge_constants.h"

static int root_of(int *parents, int node)
{
    while (parents[node] != node) {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    return node;
}

static void join(int *parents, const struct cells *cells, size_t rail)
{
    for (size_t node = 0; node < cells->nodes; node++)
        parents[node] = (int)node;
    for (size_t i = 0; i < cells->count; i++) {
        const struct cell *cell = &cells->cells[i];

        if (!cell->is_low && (size_t)cell->rail == rail)
            parents[root_of(parents, cell->from)] = root_of(parents, cell->to);
    }
}

/* Numbers the groups of two and more; the others get the largest one's. */
static int number_groups(const struct cells *cells, int *parents, int *sizes, int *blocks)
{
    int groups = 0, largest = -1, size = 0;

    memset(sizes, 0, cells->nodes * sizeof *sizes);
    for (size_t node = 0; node < cells->nodes; node++) {
        sizes[root_of(parents, (int)node)]++;
        blocks[node] = -1;
    }
    for (size_t node = 0; node < cells->nodes; node++) {
        int root = root_of(parents, (int)node);

        if (sizes[root] < 2)
            continue;
        if (blocks[root] < 0) {
            blocks[root] = groups++;
            if (sizes[root] > size) {
                size = sizes[root];
                largest = blocks[root];
            }
        }
        blocks[node] = blocks[root];
    }
    for (size_t node = 0; node < cells->nodes; node++)
        if (blocks[node] < 0)
            blocks[node] = largest;
    return groups;
}

/* Whether two nodes in groups were seen to be slow with each other: nodes that were never paired
 * are in different groups without having shown anything. */
static bool are_apart(const struct cells *cells, size_t rail, const int *sizes, int *parents)
{
    size_t apart = 0;

    for (size_t i = 0; i < cells->count; i++) {
        const struct cell *cell = &cells->cells[i];

        if ((size_t)cell->rail == rail) {
            int from = root_of(parents, cell->from), to = root_of(parents, cell->to);

            apart += from != to && sizes[from] > 1 && sizes[to] > 1;
        }
    }
    return apart >= 4;
}

int blocks_find(const struct cells *cells, int *blocks)
{
    int *parents = malloc((cells->nodes + 1) * sizeof *parents);
    int *sizes = malloc((cells->nodes + 1) * sizeof *sizes);
    int groups = parents && sizes ? 0 : -1;

    for (size_t rail = 0; rail < cells->rails && groups >= 0; rail++) {
        join(parents, cells, rail);
        groups = number_groups(cells, parents, sizes, blocks);
        if (groups > 1 && are_apart(cells, rail, sizes, parents))
            break;
        groups = 0;
    }
    free(parents);
    free(sizes);
    return groups;
}

/* [rail] what lies between inside and across; NAN where they cannot be told apart. */
static void find_middles(const struct cells *cells, float *values, float *middles)
{
    for (size_t rail = 0; rail < cells->rails; rail++) {
        float inside = cells->typical[rail], across;
        size_t count = 0, below = 0, inside_count = 0;

        middles[rail] = NAN;
        for (size_t i = 0; i < cells->count; i++) {
            if ((size_t)cells->cells[i].rail != rail)
                continue;
            if (cells->cells[i].region == CELL_ACROSS)
                values[count++] = cells->cells[i].y;
            else
                inside_count++;
        }
        if (count == 0 || inside_count == 0)
            continue;
        across = cells_median(values, count);
        for (size_t i = 0; i < count; i++)
            below += values[i] < (inside + across) / 2;
        if (across < inside - (float)BLOCKS_MEASURABLE &&
            (double)below > BLOCKS_MOST_ACROSS * (double)count)
            middles[rail] = (inside + across) / 2;
    }
}

struct counts {
    int all, good;
};

static void count_cell(const struct cell *cell, const float *middles, struct counts *counts)
{
    if (isnan(middles[cell->rail]))
        return;
    counts->all++;
    counts->good += cell->y > middles[cell->rail];
}

/* The pairs of the node with each block. */
static void count_pairs(const struct cells *cells, size_t node, const float *middles,
                        struct counts *counts)
{
    size_t end = node * cells->rails;

    memset(counts, 0, cells->block_count * sizeof *counts);
    for (size_t i = cells->out_begin[end]; i < cells->out_begin[end + cells->rails]; i++)
        count_cell(&cells->cells[i], middles, &counts[cells->blocks[cells->cells[i].to]]);
    for (size_t i = cells->in_begin[end]; i < cells->in_begin[end + cells->rails]; i++) {
        const struct cell *cell = &cells->cells[cells->incoming[i].cell];

        count_cell(cell, middles, &counts[cells->blocks[cell->from]]);
    }
}

static double share_of(struct counts counts)
{
    return counts.all > 0 ? (double)counts.good / counts.all : 0;
}

/* All pairs across. */
static struct counts count_across(const struct cells *cells, const float *middles)
{
    struct counts counts = {0, 0};

    for (size_t i = 0; i < cells->count; i++)
        if (cells->cells[i].region == CELL_ACROSS)
            count_cell(&cells->cells[i], middles, &counts);
    return counts;
}

/* How often any node would be as well with any other block by chance: each of its partners there is
 * one throw, whatever the rails and directions, and as lucky as pairs of other nodes across are. */
static double chance_of(const struct cells *cells, const float *middles, struct counts everywhere,
                        const struct counts *counts, int node, int best)
{
    double share, throws = 0;

    for (int block = 0; block < (int)cells->block_count; block++)
        if (block != cells->blocks[node]) {
            everywhere.all -= counts[block].all;
            everywhere.good -= counts[block].good;
        }
    for (size_t rail = 0; rail < cells->rails; rail++)
        throws += isnan(middles[rail]) ? 0 : 2;
    share = (everywhere.good + 1.0) / (everywhere.all + 2.0);
    return (double)cells->nodes * (double)cells->block_count *
           pow(share, counts[best].good / throws);
}

int blocks_check(const struct cells *cells, struct misplaced *misplaced, bool *is_known)
{
    float *values = malloc((cells->count + 1) * sizeof *values);
    float *middles = malloc((cells->rails + 1) * sizeof *middles);
    struct counts *counts = calloc(cells->block_count + 1, sizeof *counts);
    struct counts everywhere = {0, 0};
    int count = values && middles && counts ? 0 : -1;

    *is_known = false;
    if (count == 0 && cells->block_count > 1) {
        find_middles(cells, values, middles);
        for (size_t rail = 0; rail < cells->rails; rail++)
            *is_known = *is_known || !isnan(middles[rail]);
        everywhere = count_across(cells, middles);
    }
    for (size_t node = 0; node < cells->nodes && *is_known; node++) {
        int own = cells->blocks[node], best = -1, elsewhere_all = 0, elsewhere_good = 0;

        count_pairs(cells, node, middles, counts);
        for (int block = 0; block < (int)cells->block_count; block++)
            if (block != own && counts[block].all >= 4 && cells->block_size[block] > 1 &&
                (best < 0 || share_of(counts[block]) > share_of(counts[best])))
                best = block;
        if (best < 0 || share_of(counts[best]) < BLOCKS_INSIDE_LEAST ||
            chance_of(cells, middles, everywhere, counts, (int)node, best) > BLOCKS_CHANCE_MOST)
            continue;
        for (int block = 0; block < (int)cells->block_count; block++)
            if (block != own && block != best) {
                elsewhere_all += counts[block].all;
                elsewhere_good += counts[block].good;
            }
        /* one that is well with everybody only has a better way than others */
        if (elsewhere_all > 0 && elsewhere_good > BLOCKS_ELSEWHERE_LEAST * elsewhere_all)
            continue;
        if (elsewhere_all == 0 && share_of(counts[own]) > BLOCKS_OUTSIDE_MOST)
            continue;
        misplaced[count++] = (struct misplaced){
            .node = (int)node,
            .block = best,
            .share = share_of(counts[best]),
            .sample_count = counts[best].all,
            .is_certain = counts[own].all > 0 && share_of(counts[own]) <= BLOCKS_OUTSIDE_MOST};
    }
    free(values);
    free(middles);
    free(counts);
    return count;
}
