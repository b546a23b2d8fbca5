/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fabric/islands.h"
#include "lib/base/deferred_error.h"
#include "lib/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends "name=InfiniBand:n[1-2]". Returns 0, or -1 after it has emptied a list that does not fit:
 * a part of it would be taken for the whole. */
static int list_add(struct islands *islands, const struct island *island,
                    const struct hostlist *nodes)
{
    char *folded = hostlist_fold_for_slurm(nodes);
    int rv = -1;

    if (folded != NULL)
        rv = text_join(islands->list, sizeof islands->list, ";", "%s=%s:%s", island->name,
                       fabric_class_word(island->fabric), folded);
    free(folded);
    if (rv != 0)
        islands->list[0] = '\0';
    return rv;
}

/* Lists the islands of the step's nodes. Returns their number. *last is the last of them,
 * *in_islands the number of nodes in islands. */
static size_t count_islands(const struct conf *conf, const struct name_index *step_nodes,
                            const struct island **last, size_t *in_islands, struct islands *islands)
{
    bool fits = true;
    size_t count = 0;

    *in_islands = 0;
    for (size_t i = 0; i < conf->island_count; i++) {
        const struct island *island = &conf->islands[i];
        struct hostlist members = {0};

        for (size_t j = 0; j < island->nodes.count; j++)
            if (name_index_has(step_nodes, island->nodes.names[j]) &&
                hostlist_append(&members, island->nodes.names[j]) != 0)
                fits = false;
        if (members.count > 0) {
            *last = island;
            *in_islands += members.count;
            count++;
            fits = fits && list_add(islands, island, &members) == 0;
        }
        hostlist_clear(&members);
    }
    if (!fits)
        islands->list[0] = '\0';
    return count;
}

static void set_shared(const struct conf *conf, const struct hostlist *nodes,
                       struct islands *islands)
{
    const struct island *last = NULL;
    struct name_index set;
    size_t count, in_islands;

    if (hostlist_index(nodes, &set) != 0) {
        deferred_error_note();
        snprintf(islands->fact, sizeof islands->fact, "out of memory");
        return;
    }
    count = count_islands(conf, &set, &last, &in_islands, islands);
    if (count == 0) {
        snprintf(islands->fact, sizeof islands->fact,
                 "none of the step's %zu nodes is in an island", set.count);
    } else if (count == 1 && in_islands == set.count) {
        islands->shared = last->fabric;
        snprintf(islands->fact, sizeof islands->fact,
                 "all of the step's nodes are in island %s, %s", last->name,
                 fabric_class_name(last->fabric));
    } else {
        islands->is_crossing = true;
        islands->shared = FABRIC_ETHERNET;
        snprintf(islands->fact, sizeof islands->fact,
                 "the step's %zu nodes are in %zu island%s%s, connected by TCP only", set.count,
                 count, text_plural(count), in_islands < set.count ? " and in none" : "");
    }
    name_index_clear(&set);
}

void islands_of_step(const struct conf *conf, const char *node, const char *step_nodes,
                     struct islands *islands)
{
    struct hostlist nodes;

    memset(islands, 0, sizeof *islands);
    if (conf->island_count == 0) {
        snprintf(islands->fact, sizeof islands->fact, "no islands in %s",
                 *conf->file != '\0' ? conf->file : "the configuration");
        return;
    }
    for (size_t i = 0; i < conf->island_count && node != NULL && islands->own == NULL; i++)
        if (hostlist_contains(&conf->islands[i].nodes, node))
            islands->own = &conf->islands[i];
    if (step_nodes != NULL && hostlist_expand(step_nodes, &nodes, NULL) == 0) {
        if (nodes.count > 0) {
            set_shared(conf, &nodes, islands);
            hostlist_clear(&nodes);
            return;
        }
        hostlist_clear(&nodes);
    }
    islands->shared = islands->own != NULL ? islands->own->fabric : FABRIC_NONE;
    snprintf(islands->fact, sizeof islands->fact,
             "Slurm does not report the step's nodes; this one is in %s%s",
             islands->own != NULL ? "island " : "no island",
             islands->own != NULL ? islands->own->name : "");
}
