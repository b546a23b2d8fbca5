/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validate/preflight/preflight.h"

struct member *preflight_member(const struct preflight *preflight, const char *name)
{
    long index = name_index_find(&preflight->by_name, name);

    return index >= 0 ? &preflight->members[index] : NULL;
}

size_t preflight_good(const struct preflight *preflight, struct hostlist *names)
{
    *names = (struct hostlist){0};
    for (size_t i = 0; i < preflight->names.count; i++)
        if (!preflight->members[i].is_silent && preflight->members[i].verdict != VERDICT_FAIL)
            hostlist_append(names, preflight->members[i].name);
    return names->count;
}

long *preflight_groups(const struct preflight *preflight, const struct hostlist *names)
{
    long *groups = malloc((names->count + 1) * sizeof *groups);

    for (size_t i = 0; groups && i < names->count; i++) {
        const struct member *member = preflight_member(preflight, names->names[i]);

        if (!member || member->group < 0) {
            free(groups);
            return NULL;
        }
        groups[i] = member->group;
    }
    return groups;
}

/* Sets the group of each member to that of its component, the first one of several, and its gpus to
 * those of the job there. */
static void set_components(const struct preflight *preflight,
                           const struct cluster_component *components, int count)
{
    for (int i = count - 1; i >= 0; i--)
        for (size_t k = components[i].nodes.count; k-- > 0;) {
            struct member *member = preflight_member(preflight, components[i].nodes.names[k]);

            if (!member)
                continue;
            member->group = components[i].group;
            member->gpus = components[i].gpus[k];
        }
}

/* Finds all nodes of the step or job, or those that were named. count: of components. */
static int names_find(struct preflight *preflight, const struct cluster_component *components,
                      int count, struct error *err)
{
    if (preflight->options.nodes)
        return hostlist_expand(preflight->options.nodes, &preflight->names, err);
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < components[i].nodes.count; k++)
            if (!hostlist_contains(&preflight->names, components[i].nodes.names[k]) &&
                hostlist_append(&preflight->names, components[i].nodes.names[k]) != 0)
                return error_set(err, "out of memory for the nodes of job %u",
                                 preflight->options.job_id);
    return 0;
}

int preflight_members_find(struct preflight *preflight, struct error *err)
{
    struct preflight_options *options = &preflight->options;
    struct cluster_component *components;
    int count, rv;

    if (cluster_open(err) != 0)
        return -1;
    count = cluster_job_components(options->job_id, options->has_step ? &options->step_id : NULL,
                                   &options->job_id, &components, err);
    if (count < 0)
        return -1;
    rv = names_find(preflight, components, count, err);
    if (rv == 0) {
        preflight->members = calloc(preflight->names.count + 1, sizeof *preflight->members);
        if (!preflight->members || hostlist_index(&preflight->names, &preflight->by_name) != 0)
            rv = error_set(err, "out of memory for %zu nodes", preflight->names.count);
    }
    for (int i = 0; i < count; i++)
        preflight->has_components |= count > 1 || components[i].steps > 1;
    for (size_t i = 0; rv == 0 && i < preflight->names.count; i++)
        preflight->members[i] = (struct member){
            .name = preflight->names.names[i], .group = -1, .share = NAN, .latency_us = NAN};
    if (rv == 0)
        set_components(preflight, components, count);
    for (size_t i = 0; rv == 0 && i < preflight->names.count; i++)
        if (options->no_gpus || !preflight->conf.preflight_gpus)
            preflight->members[i].gpus = 0;
    cluster_components_free(components, count);
    return rv;
}

int preflight_members_load(struct preflight *preflight, struct error *err)
{
    if (cluster_load_topology(&preflight->cluster, err) != 0)
        return -1;
    for (size_t i = 0; i < preflight->names.count; i++)
        preflight->members[i].slurm = cluster_node(&preflight->cluster, preflight->members[i].name);
    return 0;
}
