/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/job/pending.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "validate/slurm/cluster.h"
#include "validate/slurm/release.h"

bool pending_needs_nodes(uint32_t state, uint32_t reason, bool *is_refused)
{
    bool is_pending = (state & JOB_STATE_BASE) == JOB_PENDING && !(state & JOB_COMPLETING);

    /* Slurm reports reserved nodes as not available */
    *is_refused = reason == WAIT_RESOURCES || reason == WAIT_NODE_NOT_AVAIL;
    return is_pending && (*is_refused || reason == WAIT_PRIORITY || reason == WAIT_NO_REASON);
}

/* Whether the name is in a list with commas. */
static bool is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = list; (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == '\0' || at[length] == ','))
            return true;
    return false;
}

/* Returns whether the constraint is one feature, or none: only Slurm can evaluate a longer one. */
static bool is_plain(const char *features)
{
    while (isalnum((unsigned char)*features) || (*features && strchr("_-.", *features)))
        features++;
    return *features == '\0';
}

static bool is_usable(const struct cluster_node *node)
{
    return !node->is_down && !node->is_drained && !node->is_absent && !node->is_reserved &&
           !node->is_completing && node->is_responding;
}

/* The node lists of a job. */
struct lists {
    struct hostlist required, excluded;
    struct name_index is_required, is_excluded;
};

static int lists_make(const struct pending_job *job, struct lists *lists)
{
    struct error err;

    *lists = (struct lists){0};
    return hostlist_expand(job->required, &lists->required, &err) == 0 &&
                   hostlist_expand(job->excluded, &lists->excluded, &err) == 0 &&
                   hostlist_index(&lists->required, &lists->is_required) == 0 &&
                   hostlist_index(&lists->excluded, &lists->is_excluded) == 0
               ? 0
               : -1;
}

static void lists_clear(struct lists *lists)
{
    name_index_clear(&lists->is_required);
    name_index_clear(&lists->is_excluded);
    hostlist_clear(&lists->required);
    hostlist_clear(&lists->excluded);
}

/* Returns whether the job can use the node. */
static bool may_use(const struct pending_job *job, const struct lists *lists,
                    const struct cluster_node *node)
{
    bool is_all = lists->required.count >= job->nodes; /* the job needs only the required nodes */

    return !name_index_has(&lists->is_excluded, node->name) &&
           (!is_all || name_index_has(&lists->is_required, node->name)) &&
           (!*job->features || !is_plain(job->features) ||
            is_listed(node->features, job->features));
}

/* A node of a partition and its availability. */
struct candidate {
    const struct cluster_node *node;
    bool is_given;       /* one of the given nodes */
    bool is_idle;        /* another node, idle */
    bool is_partly_free; /* another node, at least partly free */
};

/* The nodes of a partition; filled when a job first requests it. */
struct pool {
    struct candidate *candidates;
    size_t count;
    size_t given, idle, partly_free;
};

static void candidate_count(struct pool *pool, const struct candidate *candidate)
{
    pool->given += candidate->is_given;
    pool->idle += candidate->is_idle;
    pool->partly_free += candidate->is_partly_free;
}

static int pool_make(const struct cluster *cluster, const struct cluster_partition *partition,
                     const struct cluster *now, const struct name_index *given, struct pool *pool)
{
    pool->candidates = calloc(partition->nodes.count + 1, sizeof *pool->candidates);
    if (!pool->candidates)
        return -1;
    for (size_t i = 0; i < partition->nodes.count; i++) {
        const char *name = partition->nodes.names[i];
        const struct cluster_node *current = cluster_node(now, name);
        struct candidate *candidate = &pool->candidates[pool->count];

        candidate->node = cluster_node(cluster, name);
        if (!candidate->node || !current)
            continue;
        candidate->is_given = name_index_has(given, name);
        candidate->is_idle = !candidate->is_given && is_usable(current) && current->is_idle &&
                             !current->is_allocated;
        candidate->is_partly_free = !candidate->is_given && is_usable(current) && !current->is_full;
        candidate_count(pool, candidate);
        pool->count++;
    }
    return 0;
}

/* Returns whether the job needs the given nodes and has enough nodes with them. A job that the
 * scheduler has not refused yet may start on idle nodes. */
static bool has_enough_nodes(const struct pending_job *job, const struct pool *pool)
{
    return pool->given > 0 && job->nodes <= pool->given + pool->partly_free &&
           (job->is_refused || job->nodes > pool->idle);
}

/* As has_enough_nodes(), but counts only nodes that the job can use. */
static bool could_start(const struct pending_job *job, const struct pool *pool)
{
    struct pool usable = {0};
    struct lists lists;
    bool is_unknown;

    if (pool->given == 0 || job->nodes > pool->given + pool->partly_free)
        return false;
    is_unknown = lists_make(job, &lists) != 0;
    for (size_t i = 0; !is_unknown && i < pool->count; i++)
        if (may_use(job, &lists, pool->candidates[i].node))
            candidate_count(&usable, &pool->candidates[i]);
    lists_clear(&lists);
    return is_unknown || has_enough_nodes(job, &usable);
}

const struct pending_job *pending_job_for_nodes(const struct pending_job *jobs, int count,
                                                const struct cluster *cluster,
                                                const struct cluster *now,
                                                const struct hostlist *nodes)
{
    struct pool *pools = calloc(cluster->partition_count + 1, sizeof *pools);
    const struct pending_job *found = NULL;
    struct name_index given = {0};

    if (!pools || hostlist_index(nodes, &given) != 0)
        found = count > 0 ? jobs : NULL;
    for (int i = 0; i < count && !found && nodes->count > 0; i++)
        for (size_t k = 0; k < cluster->partition_count && !found; k++) {
            const struct cluster_partition *partition = &cluster->partitions[k];

            if (!partition->is_up || !is_listed(jobs[i].partitions, partition->name))
                continue;
            if ((!pools[k].candidates &&
                 pool_make(cluster, partition, now, &given, &pools[k]) != 0) ||
                could_start(&jobs[i], &pools[k]))
                found = &jobs[i];
        }
    for (size_t k = 0; pools && k < cluster->partition_count; k++)
        free(pools[k].candidates);
    free(pools);
    name_index_clear(&given);
    return found;
}

int pending_nodes_remove(const struct pending_job *job, const struct cluster *cluster,
                         struct hostlist *nodes)
{
    struct hostlist kept = {0}, excluded = {0};
    int rv = 0;

    for (size_t k = 0; k < cluster->partition_count; k++)
        for (size_t i = 0; i < cluster->partitions[k].nodes.count && rv == 0 &&
                           is_listed(job->partitions, cluster->partitions[k].name);
             i++)
            rv = hostlist_append(&excluded, cluster->partitions[k].nodes.names[i]);
    if (rv == 0)
        rv = hostlist_split(nodes, &excluded, NULL, &kept);
    hostlist_clear(&excluded);
    hostlist_clear(nodes);
    if (rv != 0)
        hostlist_clear(&kept);
    *nodes = kept;
    return rv;
}
