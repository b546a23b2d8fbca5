/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/plan/sbatch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/base/memory_stream.h"

/* Returns how many nodes of an island the layout may have; spares_elsewhere() is beside them. */
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

/* Returns how many spares are beside the nodes of wanted_of(): for a pipeline all, from its islands
 * that have nodes left; else as many as the island itself has no node for, from any other. */
static long spares_elsewhere(const struct plan_figures *figures, const struct plan_layout *layout)
{
    long own = (long)figures->cluster.islands[layout->islands[0]].nodes;

    if (layout->stages > 1 || layout->is_across)
        return layout->failures.spares;
    return (long)layout->nodes + layout->failures.spares - own;
}

static int exclude(const struct plan_figures *figures, const struct plan_layout *layout,
                   struct hostlist *names)
{
    size_t taken[PLAN_ISLANDS_MOST] = {0};
    long spares = spares_elsewhere(figures, layout);
    bool is_pipeline = layout->stages > 1;

    for (size_t i = 0; i < figures->count; i++) {
        const struct plan_node *node = &figures->nodes[i];

        if (node->island >= 0) {
            size_t wanted = wanted_of(figures, layout, node->island);

            if (taken[node->island]++ < wanted)
                continue;
            if ((wanted > 0 || !is_pipeline) && spares-- > 0)
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

static int compare_nodes(const void *a, const void *b)
{
    const struct leaf *first = a, *second = b;

    return (first->nodes < second->nodes) - (first->nodes > second->nodes);
}

/* Returns the fewest leaf switches that have so many of the island's nodes; 0 if one is not known,
 * or all are needed; -1 if memory is out. */
static int switches(const struct plan_figures *figures, int island, size_t nodes)
{
    struct leaf *leaves = calloc(figures->count + 1, sizeof *leaves);
    size_t count = 0, sum = 0, at;
    bool are_known = true;
    int needed = 0;

    if (!leaves)
        return -1;
    for (size_t i = 0; i < figures->count; i++) {
        const struct plan_node *node = &figures->nodes[i];

        if (node->island != island)
            continue;
        are_known = are_known && *node->leaf;
        for (at = 0; at < count && strcmp(leaves[at].name, node->leaf) != 0;)
            at++;
        count += at == count;
        leaves[at].name = node->leaf;
        leaves[at].nodes++;
    }
    qsort(leaves, count, sizeof *leaves, compare_nodes);
    while (needed < (int)count && sum < nodes)
        sum += leaves[needed++].nodes;
    free(leaves);
    return are_known && sum >= nodes && needed < (int)count ? needed : 0;
}

static void lines_print(FILE *stream, const struct plan_figures *figures,
                        const struct plan_layout *layout, size_t segment, int leaves,
                        const char *excluded)
{
    int devices = figures->cluster.devices, spares = layout->failures.spares;
    bool has_gpus = devices > 1;

    for (size_t i = 0; i < figures->count; i++)
        has_gpus |= figures->nodes[i].gpus > 0;
    fprintf(stream, "--nodes=%zu\n--ntasks-per-node=%d\n", layout->nodes + (size_t)spares,
            has_gpus ? layout->devices : 1);
    if (has_gpus)
        fprintf(stream, "--gres=gpu:%d\n", layout->devices);
    if (layout->nodes > 1 || layout->devices == devices)
        fputs("--exclusive\n", stream);
    if (spares > 0)
        fputs("--no-kill\n--requeue\n", stream); /* for muster run */
    if (segment > 0)
        fprintf(stream, "--segment=%zu\n", segment);
    else if (leaves > 0)
        fprintf(stream, "--switches=%d@01:00:00\n", leaves);
    if (*excluded)
        fprintf(stream, "--exclude=%s\n", excluded);
}

char *plan_sbatch_text(const struct plan_figures *figures, const struct plan_layout *layout,
                       size_t block, bool has_extra)
{
    size_t nodes = layout->nodes + (size_t)layout->failures.spares, segment = 0, size;
    struct hostlist names = {NULL, 0};
    char *text = NULL, *excluded = NULL;
    FILE *stream = memory_stream(&text, &size);
    int leaves = 0;

    if (layout->stages == 1 && !layout->is_across && layout->nodes > 1)
        leaves = switches(figures, layout->islands[0], nodes);
    for (size_t i = 2; i <= block && i <= nodes; i++)
        if (nodes % i == 0)
            segment = i;
    if (leaves >= 0 && exclude(figures, layout, &names) == 0)
        excluded = hostlist_fold_for_slurm(&names);
    if (stream && excluded)
        lines_print(stream, figures, layout, segment, leaves, excluded);
    if (stream && has_extra)
        fputs("--extra='muster_level>=2'\n", stream);
    if ((stream && fclose(stream) != 0) || !excluded) {
        free(text);
        text = NULL;
    }
    free(excluded);
    hostlist_clear(&names);
    return text;
}
