/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/plan/sbatch.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"

/* Nodes that the layout, with spares, may have of an island. */
static size_t wanted_of(const struct plan_figures *figures, const struct plan_layout *layout,
                        int island)
{
    size_t nodes = 0;

    if (layout->is_across || (layout->stages == 1 && layout->islands[0] == island))
        return figures->count; /* Slurm chooses among them */
    for (int i = 0; i < layout->stages; i++)
        nodes += layout->islands[i] == island ? layout->stage_nodes : 0;
    return nodes;
}

/* A pipeline's spares come from the islands that have nodes left, so each keeps what it has. */
static int exclude(const struct plan_figures *figures, const struct plan_layout *layout,
                   struct hostlist *names)
{
    size_t taken[PLAN_ISLANDS_MOST] = {0};
    int spares = layout->failures.spares;

    for (size_t i = 0; i < figures->count; i++) {
        const struct plan_node *node = &figures->nodes[i];

        if (node->island >= 0) {
            size_t wanted = wanted_of(figures, layout, node->island);

            if (taken[node->island]++ < wanted)
                continue;
            if (wanted > 0 && spares-- > 0)
                continue;
        }
        if (hostlist_append(names, node->name) != 0)
            return -1;
    }
    return 0;
}

struct leaf {
    const char *name;
    size_t nodes;
};

static int compare_leaf(const void *a, const void *b)
{
    return strcmp(((const struct leaf *)a)->name, ((const struct leaf *)b)->name);
}

static int compare_nodes(const void *a, const void *b)
{
    const struct leaf *first = a, *second = b;

    return (first->nodes < second->nodes) - (first->nodes > second->nodes);
}

/* The fewest leaf switches that have so many of the island's nodes; 0 where one is not known, or
 * all are needed. -1: no memory. */
static int switches(const struct plan_figures *figures, int island, size_t nodes)
{
    struct leaf *leaves = calloc(figures->count + 1, sizeof *leaves);
    size_t count = 0, folded = 0, sum = 0;
    bool are_known = true;
    int needed = 0;

    if (!leaves)
        return -1;
    for (size_t i = 0; i < figures->count; i++) {
        if (figures->nodes[i].island != island)
            continue;
        are_known = are_known && *figures->nodes[i].leaf;
        leaves[count++] = (struct leaf){figures->nodes[i].leaf, 1};
    }
    qsort(leaves, count, sizeof *leaves, compare_leaf);
    for (size_t i = 0; i < count; i++) {
        if (folded > 0 && strcmp(leaves[folded - 1].name, leaves[i].name) == 0)
            leaves[folded - 1].nodes++;
        else
            leaves[folded++] = leaves[i];
    }
    qsort(leaves, folded, sizeof *leaves, compare_nodes);
    while (needed < (int)folded && sum < nodes)
        sum += leaves[needed++].nodes;
    free(leaves);
    return are_known && sum >= nodes && needed < (int)folded ? needed : 0;
}

int plan_sbatch_make(const struct plan_figures *figures, const struct plan_layout *layout,
                     size_t block, bool has_extra, struct plan_sbatch *sbatch)
{
    struct hostlist names = {NULL, 0};
    double gpus = 0;

    for (size_t i = 0; i < figures->count; i++)
        if (figures->nodes[i].gpus > gpus)
            gpus = figures->nodes[i].gpus;
    *sbatch = (struct plan_sbatch){
        .nodes = layout->nodes + (size_t)layout->failures.spares,
        .gpus = gpus > 0 || figures->cluster.devices > 1 ? layout->devices : 0,
        .is_whole = layout->nodes > 1 || layout->devices == figures->cluster.devices,
        .has_spares = layout->failures.spares > 0,
        .has_extra = has_extra,
    };
    if (layout->stages == 1 && !layout->is_across && layout->nodes > 1)
        sbatch->switches = switches(figures, layout->islands[0], sbatch->nodes);
    for (size_t i = 2; i <= block && i <= sbatch->nodes; i++)
        if (sbatch->nodes % i == 0)
            sbatch->segment = i;
    if (sbatch->switches >= 0 && exclude(figures, layout, &names) == 0)
        sbatch->exclude = hostlist_fold_for_slurm(&names);
    hostlist_clear(&names);
    return sbatch->exclude ? 0 : -1;
}

void plan_sbatch_clear(struct plan_sbatch *sbatch)
{
    free(sbatch->exclude);
    sbatch->exclude = NULL;
}

struct lines {
    void (*each)(const char *line, void *context);
    void *context;
};

static void add(const struct lines *lines, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(const struct lines *lines, const char *format, ...)
{
    char *line = NULL;
    va_list values;

    va_start(values, format);
    if (vasprintf(&line, format, values) >= 0)
        lines->each(line, lines->context);
    va_end(values);
    free(line);
}

void plan_sbatch_lines(const struct plan_sbatch *sbatch,
                       void (*each)(const char *line, void *context), void *context)
{
    const struct lines lines = {each, context};

    add(&lines, "--nodes=%zu", sbatch->nodes);
    add(&lines, "--ntasks-per-node=%d", sbatch->gpus > 0 ? sbatch->gpus : 1);
    if (sbatch->gpus > 0)
        add(&lines, "--gres=gpu:%d", sbatch->gpus);
    if (sbatch->is_whole)
        add(&lines, "--exclusive");
    if (sbatch->has_spares) {
        add(&lines, "--no-kill");
        add(&lines, "--requeue");
    }
    if (sbatch->segment > 0)
        add(&lines, "--segment=%zu", sbatch->segment);
    else if (sbatch->switches > 0)
        add(&lines, "--switches=%d@01:00:00", sbatch->switches);
    if (*sbatch->exclude)
        add(&lines, "--exclude=%s", sbatch->exclude);
    if (sbatch->has_extra)
        add(&lines, "--extra='muster_level>=2'");
}
