/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/cluster.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/constants/slurm_constants.h"

/* The cluster's nodes and reservations once they are loaded: nothing here needs libslurm. */

static int compare_names(const void *a, const void *b)
{
    const struct cluster_node *const *one = a, *const *other = b;

    return strcmp((*one)->name, (*other)->name);
}

int cluster_index(struct cluster *cluster, struct error *err)
{
    cluster->by_name = calloc(cluster->node_count + 1, sizeof *cluster->by_name);
    if (!cluster->by_name)
        return error_set(err, "out of memory for the cluster's nodes");
    for (size_t i = 0; i < cluster->node_count; i++)
        cluster->by_name[i] = &cluster->nodes[i];
    qsort(cluster->by_name, cluster->node_count, sizeof *cluster->by_name, compare_names);
    return 0;
}

static int compare_name(const void *name, const void *node)
{
    return strcmp(name, (*(const struct cluster_node *const *)node)->name);
}

struct cluster_node *cluster_node(const struct cluster *cluster, const char *name)
{
    struct cluster_node **found = cluster->by_name
                                      ? bsearch(name, cluster->by_name, cluster->node_count,
                                                sizeof *cluster->by_name, compare_name)
                                      : NULL;

    return found ? *found : NULL;
}

static int compare_table_order(const void *a, const void *b)
{
    const struct cluster_node *const *one = a, *const *other = b;

    return *one < *other ? -1 : *one > *other;
}

int cluster_task_nodes(const struct cluster *cluster, const struct hostlist *nodes,
                       struct hostlist *tasks)
{
    const struct cluster_node **ordered = calloc(nodes->count + 1, sizeof *ordered);
    int rv = ordered ? 0 : -1;

    for (size_t i = 0; rv == 0 && i < nodes->count; i++)
        if (!(ordered[i] = cluster_node(cluster, nodes->names[i])))
            rv = -1;
    if (rv == 0)
        qsort(ordered, nodes->count, sizeof *ordered, compare_table_order);
    for (size_t i = 0; rv == 0 && i < nodes->count; i++)
        rv = hostlist_append(tasks, ordered[i]->name);
    free(ordered);
    return rv;
}

const char *cluster_unknown_node(const struct cluster *cluster, const struct hostlist *names,
                                 struct error *err)
{
    for (size_t i = 0; i < names->count; i++)
        if (!cluster_node(cluster, names->names[i])) {
            error_set(err, "no node %s in this cluster%s", names->names[i],
                      cluster->hides_cloud ? "; without PrivateData=cloud in slurm.conf Slurm does "
                                             "not list cloud nodes that are powered down"
                                           : "");
            return names->names[i];
        }
    return NULL;
}

const char *cluster_run_name(const char *reservation)
{
    static const char form[] = "dddddddd-dddddd-xxxx"; /* digits, hexadecimal digits */
    const char *name;

    if (!reservation || strncmp(reservation, CLUSTER_RUN, strlen(CLUSTER_RUN)) != 0)
        return NULL;
    name = reservation + strlen(CLUSTER_RUN);
    if (strlen(name) != strlen(form))
        return NULL;
    for (size_t i = 0; form[i]; i++)
        if (form[i] == '-'
                ? name[i] != '-'
                : !strchr("0123456789abcdef", name[i]) || (form[i] == 'd' && name[i] > '9'))
            return NULL;
    return name;
}

bool cluster_reservation_has_end(time_t begin, time_t end)
{
    return end - begin < RESERVATION_ENDLESS_S;
}

int cluster_mark_waiting(struct cluster *cluster, const struct hostlist *waiting,
                         const struct hostlist *others, struct error *err)
{
    struct name_index reserved;

    if (waiting->count == 0)
        return 0;
    if (hostlist_index(others, &reserved) != 0)
        return error_set(err, "out of memory for the cluster's reservations");
    for (size_t i = 0; i < waiting->count; i++) {
        struct cluster_node *node = cluster_node(cluster, waiting->names[i]);

        if (!node)
            continue;
        node->is_waiting = true;
        if (!name_index_has(&reserved, node->name))
            node->is_reserved = false;
    }
    name_index_clear(&reserved);
    return 0;
}

int cluster_check_selected(const char *clusters, const char *name, struct error *err)
{
    size_t length = strlen(name);

    for (const char *at = clusters; at && *at; at += strspn(at, ", ")) {
        size_t named = strcspn(at, ", ");

        if ((named == length && strncasecmp(at, name, length) == 0) ||
            (named == 3 && strncasecmp(at, "all", 3) == 0))
            return 0;
        at += named;
    }
    if (!clusters || !*clusters)
        return 0;
    return error_set(err,
                     "SLURM_CLUSTERS is '%s', but the cluster of this host is %s; next: run this "
                     "on a host of that cluster, or unset SLURM_CLUSTERS",
                     clusters, name);
}

void cluster_uplink_pairs(const struct cluster *cluster, const struct hostlist *run, int *pairs)
{
    struct leaf {
        int nodes;
        bool is_run, has_jobs; /* has_jobs: others' */
    } *leaves = calloc(cluster->leaf_count + 1, sizeof *leaves);
    struct name_index names = {0};
    bool is_known = leaves && hostlist_index(run, &names) == 0;

    for (size_t i = 0; is_known && i < cluster->node_count; i++) {
        const struct cluster_node *node = &cluster->nodes[i];

        if (node->leaf < 0)
            continue;
        leaves[node->leaf].nodes++;
        if (name_index_has(&names, node->name))
            leaves[node->leaf].is_run = true;
        else if (node->is_allocated)
            leaves[node->leaf].has_jobs = true;
    }
    for (size_t i = 0; i < cluster->leaf_count; i++) {
        /* if unknown, assume that other jobs use the uplinks */
        int share = is_known ? leaves[i].nodes / UPLINK_NODES_PER_PAIR : 0;
        bool is_shared = !is_known || (leaves[i].is_run && leaves[i].has_jobs);

        pairs[i] = !is_shared ? 0 : share > 1 ? share : 1;
    }
    name_index_clear(&names);
    free(leaves);
}
