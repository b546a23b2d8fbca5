/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/text.h"
#include "validate/battery/verbs/measure.h"
#include "validate/battery/verbs/verbs_pair.h"

/* The ports of the node by themselves. A write needs no process at the other end, so one is
 * enough. Ports are named by the index of their rail. */

struct local {
    struct program *program;
    const struct rails *rails;
    const struct path_plan *plan;
    const struct verbs_settings *settings;
    struct link_results *results;
};

static struct link_result *add_result(const struct local *local, int from, int to)
{
    const struct rail_info *infos = local->rails->own.rails;

    return verbs_result_add(local->results, local->program->node, local->program->node,
                            &infos[from], &infos[to], VERB_WRITE,
                            from == to ? VERB_LOOPBACK : VERB_LOCAL);
}

static int measure(const struct local *local, struct verbs_port *from, struct verbs_port *to,
                   struct path_result *path, int *mtu_bytes, struct error *err)
{
    const struct verbs_settings *settings = local->settings;
    const char *node = local->program->node_name[local->program->node];
    size_t bytes = (size_t)settings->message_bytes;
    struct verbs_link *source = NULL, *target = NULL;
    int rv = -1;

    if (verbs_link_open(from, VERB_WRITE, settings, bytes, NULL, &source, err) == 0 &&
        verbs_link_open(to, VERB_WRITE, settings, bytes, NULL, &target, err) == 0) {
        verbs_write_pattern(source, 1);
        rv =
            verbs_measure_within(source, target, node, settings->mtu_bytes, local->plan, path, err);
        *mtu_bytes = source->mtu_bytes;
        path->damaged = rv == 0 ? verbs_damaged(target, 1) : 0;
    }
    verbs_link_close(source);
    verbs_link_close(target);
    return rv;
}

static void measure_ports(const struct local *local, int from, int to, struct verbs_port *from_port,
                          struct verbs_port *to_port)
{
    const struct rail *rail = local->rails->rails[from];
    struct link_result *result = add_result(local, from, to);
    struct path_result *path = watch_allocate(1, sizeof *path);
    struct counters before, after;
    struct error err = {""};
    bool could_count, can_count;
    int mtu_bytes = 0;

    program_step(local->program);
    errors_read(rail, &before, &could_count);
    if (measure(local, from_port, to_port, path, &mtu_bytes, &err) != 0)
        snprintf(result->failure, sizeof result->failure, "%.255s", err.text);
    errors_read(rail, &after, &can_count);
    pair_run_summarize(path, result);
    errors_between(&before, &after, &result->errors);
    result->packet_bytes = mtu_bytes;
    snprintf(result->transport, sizeof result->transport, "to %.64s, %d queue pair%s, MTU %d",
             from == to ? "itself" : result->peer_rail, local->settings->queue_pairs,
             text_plural(local->settings->queue_pairs), mtu_bytes);
    free(path);
}

static void report_gpu_memory(const struct local *local, int rail, struct verbs_port *port)
{
    int node = local->program->node;
    struct link_result *result =
        results_add(local->results, node, node, local->rails->own.rails[rail].name);

    result->is_verbs = 1;
    result->is_gpu_memory = 1;
    result->has_gpu = local->program->inventory->gpu_count > 0;
    result->has_gpu_memory =
        verbs_probe_gpu_memory(port, "", result->failure, sizeof result->failure);
}

static int open_port(const struct local *local, int index, struct verbs_port **port,
                     struct error *err)
{
    const struct rail *rail = local->rails->rails[index];
    int wanted = local->settings->gid_index;

    return verbs_port_open(rail->port, wanted >= 0 ? wanted : rail->gid_index, port, err);
}

/* Measures one port to another, or to itself; then it reports its GPU memory too, or why the port
 * cannot be opened. */
static void measure_rails(const struct local *local, int from, int to)
{
    struct verbs_port *from_port = NULL, *to_port = NULL;
    struct error err = {""};
    bool is_open = open_port(local, from, &from_port, &err) == 0 &&
                   (from == to || open_port(local, to, &to_port, &err) == 0);

    if (is_open && from == to)
        report_gpu_memory(local, from, from_port);
    if (is_open) {
        measure_ports(local, from, to, from_port, from == to ? from_port : to_port);
    } else if (from == to) {
        struct link_result *result = add_result(local, from, to);

        result->is_state = 1;
        snprintf(result->failure, sizeof result->failure, "%.255s", err.text);
    }
    verbs_port_close(from_port);
    verbs_port_close(to_port);
}

/* Whether the rail is measured. rails_open() has reported rails that are down. */
static bool is_measured(const struct rail *rail)
{
    return fabric_class_is_rdma(rail->class) && rail_is_up(rail);
}

void verbs_local_run(struct program *program, const struct rails *rails, int round,
                     const struct path_plan *plan, const struct verbs_settings *settings,
                     struct link_results *results)
{
    const struct local local = {program, rails, plan, settings, results};
    int count = rails->own.count;

    for (int i = 0; i < count && round < count; i++) {
        int to = (i + round) % count;

        if (is_measured(rails->rails[i]) && is_measured(rails->rails[to]))
            measure_rails(&local, i, to);
    }
}
