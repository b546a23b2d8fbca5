/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "validate/battery/verbs/verbs_pair.h"
#include "lib/base/text.h"
#include "validate/battery/verbs/measure.h"

/* The ports of the node by themselves. A write needs no process at the other end, so one is
 * enough. */

static struct link_result *add_result(struct program *program, const struct rail *from,
                                      const struct rail *to, struct link_results *results)
{
    struct link_result *result = results_add(results, program->node, program->node, from->name);

    result->is_verbs = 1;
    result->verb = VERB_WRITE;
    result->scope = from == to ? VERB_LOOPBACK : VERB_LOCAL;
    result->path_mtu_bytes = -1;
    result->nominal_mbps =
        from->nominal_mbps < to->nominal_mbps ? from->nominal_mbps : to->nominal_mbps;
    snprintf(result->peer_rail, sizeof result->peer_rail, "%s", to->name);
    return result;
}

static int measure(struct verbs_port *from, struct verbs_port *to, const char *node,
                   const struct path_plan *plan, const struct verbs_settings *settings,
                   struct path_result *path, int *mtu_bytes, struct error *err)
{
    size_t bytes = (size_t)settings->message_bytes;
    struct verbs_link *source = NULL, *target = NULL;
    int rv = -1;

    if (verbs_link_open(from, VERB_WRITE, settings, bytes, NULL, &source, err) == 0 &&
        verbs_link_open(to, VERB_WRITE, settings, bytes, NULL, &target, err) == 0) {
        verbs_write_pattern(source, 1);
        rv = verbs_measure_within(source, target, node, settings->mtu_bytes, plan, path, err);
        *mtu_bytes = source->mtu_bytes;
        path->damaged = rv == 0 ? verbs_damaged(target, 1) : 0;
    }
    verbs_link_close(source);
    verbs_link_close(target);
    return rv;
}

static void measure_ports(struct program *program, const struct rail *from, const struct rail *to,
                          struct verbs_port *from_port, struct verbs_port *to_port,
                          const struct path_plan *plan, const struct verbs_settings *settings,
                          struct link_results *results)
{
    struct link_result *result = add_result(program, from, to, results);
    struct path_result *path = watch_allocate(1, sizeof *path);
    struct counters before, after;
    struct error err = {""};
    bool could_count, can_count;
    int mtu_bytes = 0;

    program_step(program);
    errors_read(from, &before, &could_count);
    if (measure(from_port, to_port, program->node_name[program->node], plan, settings, path,
                &mtu_bytes, &err) != 0)
        snprintf(result->failure, sizeof result->failure, "%.255s", err.text);
    errors_read(from, &after, &can_count);
    pair_run_summarize(path, result);
    errors_between(&before, &after, &result->errors);
    result->packet_bytes = mtu_bytes;
    snprintf(result->transport, sizeof result->transport, "to %.64s, %d queue pair%s, MTU %d",
             from == to ? "itself" : to->name, settings->queue_pairs,
             text_plural(settings->queue_pairs), mtu_bytes);
    free(path);
}

static void report_gpu_memory(struct program *program, const struct rail *rail,
                              struct verbs_port *port, struct link_results *results)
{
    struct link_result *result = results_add(results, program->node, program->node, rail->name);

    result->is_verbs = 1;
    result->is_gpu_memory = 1;
    result->has_gpu = program->inventory->gpu_count > 0;
    result->has_gpu_memory =
        verbs_probe_gpu_memory(port, "", result->failure, sizeof result->failure);
}

static int open_port(const struct rail *rail, const struct verbs_settings *settings,
                     struct verbs_port **port, struct error *err)
{
    return verbs_port_open(
        rail->port, settings->gid_index >= 0 ? settings->gid_index : rail->gid_index, port, err);
}

/* Measures a port to itself, and reports its GPU memory, or why the port cannot be opened. */
static void measure_loopback(struct program *program, const struct rail *rail,
                             const struct path_plan *plan, const struct verbs_settings *settings,
                             struct link_results *results)
{
    struct verbs_port *port = NULL;
    struct error err = {""};

    if (open_port(rail, settings, &port, &err) == 0) {
        report_gpu_memory(program, rail, port, results);
        measure_ports(program, rail, rail, port, port, plan, settings, results);
    } else {
        struct link_result *result = add_result(program, rail, rail, results);

        result->is_state = 1;
        snprintf(result->failure, sizeof result->failure, "%.255s", err.text);
    }
    verbs_port_close(port);
}

/* Measures one port to another. measure_loopback() has reported ports that cannot be opened. */
static void measure_between(struct program *program, const struct rail *from, const struct rail *to,
                            const struct path_plan *plan, const struct verbs_settings *settings,
                            struct link_results *results)
{
    struct verbs_port *from_port = NULL, *to_port = NULL;
    struct error err = {""};

    if (open_port(from, settings, &from_port, &err) == 0 &&
        open_port(to, settings, &to_port, &err) == 0)
        measure_ports(program, from, to, from_port, to_port, plan, settings, results);
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
    int count = rails->own.count;

    for (int i = 0; i < count && round < count; i++) {
        const struct rail *from = rails->rails[i], *to = rails->rails[(i + round) % count];

        if (!is_measured(from) || !is_measured(to))
            continue;
        if (from == to)
            measure_loopback(program, from, plan, settings, results);
        else
            measure_between(program, from, to, plan, settings, results);
    }
}
