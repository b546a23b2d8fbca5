/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/step/node_lines.h"

int node_lines_begin(const struct cluster *cluster, const struct hostlist *nodes,
                     node_lines_fn *on_line, void *context, struct node_lines *lines)
{
    *lines = (struct node_lines){.on_line = on_line, .context = context};
    return cluster_task_nodes(cluster, nodes, &lines->nodes) == 0
               ? labels_make(&lines->nodes, &lines->labels)
               : -1;
}

void node_lines_end(struct node_lines *lines)
{
    labels_clear(&lines->labels);
    hostlist_clear(&lines->nodes);
}

void node_lines_read(const char *line, bool is_error, void *context)
{
    struct node_lines *lines = context;
    node_lines_fn *on_line = is_error ? lines->on_error_line : lines->on_line;
    const char *text;
    long task = is_error ? labels_split(&lines->labels, line, &text)
                         : labels_parse(&lines->labels, line, &text);

    if (task >= 0 && on_line)
        on_line((size_t)task, lines->nodes.names[task], text, lines->context);
    else if (is_error)
        error_line_add(&lines->error_line, text);
}
