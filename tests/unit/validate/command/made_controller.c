/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/validate/command/made_controller.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "lib/base/text.h"
#include "lib/constants/checks_constants.h"
#include "tests/unit/tap.h"

struct controller controller;

void controller_put(size_t node, const char *reason, time_t when)
{
    snprintf(controller.nodes[node].reason, CONTROLLER_TEXT, "%s", reason);
    controller.nodes[node].is_drained = *reason;
    controller.nodes[node].is_idle = !*reason;
    controller.nodes[node].reason_time = when;
}

void controller_make(size_t node_count)
{
    static char names[CONTROLLER_NODES][8], reasons[CONTROLLER_NODES][CONTROLLER_TEXT],
        extras[CONTROLLER_NODES][CONTROLLER_TEXT], none[] = "";

    controller.node_count = controller.peers = node_count;
    for (size_t i = 0; i < node_count; i++) {
        snprintf(names[i], sizeof names[i], "n%zu", i + 1);
        controller.nodes[i] = (struct cluster_node){.name = names[i],
                                                    .reason = reasons[i],
                                                    .extra = extras[i],
                                                    .comment = none,
                                                    .leaf = -1};
        *extras[i] = '\0';
        controller_put(i, "", 0);
    }
}

static size_t index_of(const char *name)
{
    return (size_t)atoi(name + 1) - 1;
}

static int add_done(const char *what, const char *name)
{
    text_join(controller.done, sizeof controller.done, "", "%s %s;", what, name);
    return 0;
}

static int nodes_load(struct cluster *cluster, size_t first, size_t count, struct error *err)
{
    *cluster = (struct cluster){.nodes = controller.nodes + first, .node_count = count};
    return cluster_index(cluster, err);
}

int cluster_open(struct error *err)
{
    return 0;
}

int cluster_load_node(const char *name, struct cluster *cluster, struct error *err)
{
    controller.singles++;
    if (controller.is_slow)
        usleep((useconds_t)(1e6 * HEALTH_ANSWER_S) + 100000);
    if (controller.is_silent)
        return error_set(err, "no answer");
    return nodes_load(cluster, index_of(name), 1, err);
}

int cluster_load_nodes(struct cluster *cluster, struct error *err)
{
    if (++controller.loads == controller.fails_at)
        return error_set(err, "no answer");
    return nodes_load(cluster, 0, controller.node_count, err);
}

int cluster_load(struct cluster *cluster, struct error *err)
{
    int rv = cluster_load_nodes(cluster, err);

    if (rv == 0 && controller.lacks_topology)
        error_set(&cluster->topology_err, "cannot start scontrol: No such file or directory");
    return rv;
}

int cluster_load_partitions(struct cluster *cluster, struct error *err)
{
    static struct cluster_partition partition;
    static char *names[CONTROLLER_NODES]; /* a sample reorders them */

    for (size_t i = 0; i < controller.peers; i++)
        names[i] = controller.nodes[i % controller.node_count].name;
    partition.nodes = (struct hostlist){names, controller.peers};
    *cluster = (struct cluster){.partitions = &partition, .partition_count = 1};
    return 0;
}

void cluster_clear(struct cluster *cluster)
{
    free(cluster->by_name);
    *cluster = (struct cluster){0};
}

int cluster_drain(const char *name, const char *reason, struct error *err)
{
    controller_put(index_of(name), reason, time(NULL));
    return add_done("drain", name);
}

int cluster_resume(const char *name, struct error *err)
{
    controller_put(index_of(name), "", 0);
    return add_done("resume", name);
}

int cluster_set_extra(const char *name, const char *extra, struct error *err)
{
    snprintf(controller.nodes[index_of(name)].extra, CONTROLLER_TEXT, "%s", extra);
    return 0;
}

int cluster_set_comment(const char *nodes, const char *comment, struct error *err)
{
    return 0;
}

ssize_t __wrap_getrandom(void *bytes, size_t size, unsigned int flags)
{
    static unsigned char next;

    memset(bytes, next++, size);
    return (ssize_t)size;
}
