/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/node_query.h"

#include <stdlib.h>

#include "lib/constants/command_constants.h"
#include "validate/policy/plan.h"
#include "validate/slurm/step/node_lines.h"
#include "validate/slurm/step/step.h"

/* The nodes of a partition. */
struct group {
    const struct node_query *query;
    const char *partition;
    const char **names;
    bool *has_said_all; /* by task of the running job */
    bool has_line;      /* a node of the running job has printed a line */
};

static void line_take(size_t task, const char *node, const char *line, void *context)
{
    struct group *group = context;

    group->has_line = true;
    group->has_said_all[task] |= group->query->take(node, line, group->query->context);
}

static bool is_stopped(const struct node_query *query)
{
    return query->stop && *query->stop;
}

/* Moves the nodes whose lines are incomplete to the front of names. Returns their number: all, if
 * no job was started. */
static size_t silent_find(const struct group *group, const struct hostlist *tasks,
                          const char **names, size_t count)
{
    size_t silent = 0;

    if (tasks->count < count)
        return count;
    for (size_t i = 0; i < count; i++)
        if (!group->has_said_all[i])
            names[silent++] = cluster_node(group->query->cluster, tasks->names[i])->name;
    return silent;
}

static size_t group_query(size_t first, size_t count, bool is_last, void *context)
{
    struct group *group = context;
    const struct node_query *query = group->query;
    const char **names = group->names + first;
    struct process_result result = {0};
    struct node_lines lines = {0};
    struct hostlist nodes = {0};
    struct error err = {"no memory"};
    bool is_over;
    size_t silent;
    int rv;

    if (is_stopped(query))
        return 0;
    rv = hostlist_append_all(&nodes, names, count);
    group->has_line = false;
    group->has_said_all = calloc(count + 1, sizeof *group->has_said_all);
    if (!group->has_said_all)
        rv = -1;
    if (rv == 0)
        rv = node_lines_begin(query->cluster, &nodes, line_take, group, &lines);
    if (rv == 0)
        rv = step_run_on(&nodes, group->partition, STEP_WAIT_S, query->program,
                         &(struct process){.deadline_s = query->deadline_s,
                                           .grace_s = STEP_GRACE_S,
                                           .on_line = node_lines_read,
                                           .context = &lines,
                                           .stop = query->stop},
                         &result, &err);
    silent = silent_find(group, &lines.nodes, names, count);
    is_over = query->is_at_once || is_stopped(query) || (group->has_line && !query->retries_silent);
    for (size_t i = 0; (is_last || is_over) && i < silent; i++)
        query->on_silence(names[i], rv != 0 ? err.text : lines.error_line.text, query->context);
    node_lines_end(&lines);
    hostlist_clear(&nodes);
    free(group->has_said_all);
    return is_over ? 0 : silent;
}

void node_query_in(const struct node_query *query, const char *partition,
                   const struct hostlist *nodes)
{
    struct group group = {.query = query, .partition = partition};

    group.names = calloc(nodes->count + 1, sizeof *group.names);
    for (size_t i = 0; i < nodes->count; i++)
        if (group.names)
            group.names[i] = nodes->names[i];
        else
            query->on_silence(nodes->names[i], "no memory", query->context);
    if (group.names)
        step_query_by_halves(nodes->count, group_query, &group);
    free(group.names);
}

static void partition_query(const struct cluster_partition *partition, const struct hostlist *nodes,
                            void *context)
{
    const struct node_query *query = context;

    if (is_stopped(query))
        return;
    if (partition)
        node_query_in(query, partition->name, nodes);
    for (size_t i = 0; !partition && i < nodes->count; i++)
        query->on_silence(nodes->names[i], "it is in no partition that is up", query->context);
}

int node_query_run(const struct node_query *query, const struct hostlist *nodes)
{
    return plan_report_partitions(query->cluster, nodes, partition_query, (void *)query);
}
