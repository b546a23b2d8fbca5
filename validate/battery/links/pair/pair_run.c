/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/pair/pair_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/grow.h"
#include "lib/base/statistics.h"
#include "lib/constants/battery_constants.h"
#include "validate/battery/links/path/samples.h"
#include "validate/battery/links/path/transport.h"

struct link_result *results_add(struct link_results *results, int from, int to, const char *rail)
{
    struct link_result *result;

    if (!GROW(results->items, (size_t)results->count))
        watch_fault("out of memory");
    result = &results->items[results->count++];
    memset(result, 0, sizeof *result);
    result->from = from;
    result->to = to;
    result->counted_bytes = -1;
    snprintf(result->rail, sizeof result->rail, "%s", rail);
    return result;
}

void rails_open(struct program *program, struct rails *rails, struct link_results *results)
{
    const struct fabric *fabric = program->fabric;

    memset(rails, 0, sizeof *rails);
    if (program->inventory) {
        snprintf(rails->own.boot_id, sizeof rails->own.boot_id, "%s", program->inventory->boot_id);
        rails->own.processors = program->inventory->cpu_count;
    }
    if (fabric->rail_count == 0)
        snprintf(results_add(results, program->node, -1, "")->failure, sizeof(char[256]),
                 "no rail: %.200s", fabric->reason);
    if (fabric->rail_count > PAIR_RAILS)
        snprintf(
            results_add(results, program->node, -1, "")->failure, sizeof(char[256]),
            "%zu of its %zu rails not measured, at most %d are; select rails with FabricInterfaces",
            fabric->rail_count - PAIR_RAILS, fabric->rail_count, PAIR_RAILS);
    for (size_t i = 0; i < fabric->rail_count && rails->own.count < PAIR_RAILS; i++) {
        const struct rail *rail = &fabric->rails[i];
        int index = rails->own.count++;
        struct rail_info *rail_info = &rails->own.rails[index];
        struct error err = {""};
        char why[256];
        const void *address;
        size_t size;

        watch_step();
        rails->rails[index] = rail;
        snprintf(rail_info->name, sizeof rail_info->name, "%s", rail->name);
        rail_info->nominal_mbps = rail->nominal_mbps;
        rail_info->class = (int)rail->class;
        rails->probes[index] = probe_open(program->inventory, rail, &rail_info->probe);
        if (!rail_is_up(rail) && rail->port) {
            rail_why_down(rail, why, sizeof why);
            error_set(&err, "%s", why);
        } else if (!rail_is_up(rail))
            error_set(&err, "rail %s is down", rail->name);
        else if (channel_open(rail, &rails->channels[index], &err) == 0) {
            address = channel_address(rails->channels[index], &size);
            if (size <= sizeof rail_info->address) {
                memcpy(rail_info->address, address, size);
                rail_info->is_open = 1;
                continue;
            }
            error_set(&err, "UCX on %s: found an address of %zu bytes, expected at most %d",
                      rail->name, size, PAIR_ADDRESS_BYTES);
        }
        snprintf(results_add(results, program->node, -1, rail->name)->failure, sizeof(char[256]),
                 "%.255s", err.text);
    }
    /* each node does as many steps: one that did fewer would seem to be behind */
    for (int i = rails->own.count; i < PAIR_RAILS; i++)
        watch_step();
}

void rails_close(struct rails *rails)
{
    for (int i = 0; i < rails->own.count; i++) {
        channel_close(rails->channels[i]);
        probe_close(rails->probes[i]);
    }
}

static int find_name(const struct rail_infos *rail_infos, const char *name)
{
    for (int i = 0; i < rail_infos->count; i++)
        if (strcmp(rail_infos->rails[i].name, name) == 0)
            return i;
    return -1;
}

int rail_infos_match(const struct rail_infos *first, int index, const struct rail_infos *second)
{
    int found = find_name(second, first->rails[index].name);

    if (found >= 0)
        return found;
    if (index < second->count && find_name(first, second->rails[index].name) < 0)
        return index;
    return -1;
}

uint64_t pair_run_session(const struct pair_run *pair_run, int rail, int direction)
{
    return ((uint64_t)pair_run->session * PAIR_RAILS + (uint64_t)rail) * 2 + (uint64_t)direction +
           1;
}

void pair_run_summarize(const struct path_result *path, struct link_result *result)
{
    double least = INFINITY, greatest = -INFINITY, shown_us[PATH_PINGS];

    for (int i = 0; i < path->latency_count; i++) {
        least = fmin(least, path->latency_us[i]);
        greatest = fmax(greatest, path->latency_us[i]);
        shown_us[i] = path->latency_us[i] - path->late_us[i];
    }
    result->latency_stalled =
        fmax(1 - statistics_median(shown_us, (size_t)path->latency_count) / least, 0);
    result->latency_us = statistics_median(path->latency_us, (size_t)path->latency_count);
    result->latency_low_us = least;
    result->latency_high_us = greatest;
    result->latency_count = path->latency_count;
    result->latency_outliers = samples_outliers(path->latency_us, path->latency_count);
    result->latency_stop = path->latency_stop;
    result->bandwidth_mbps = path->bandwidth_mbps;
    samples_interval(path->samples_mbps, path->sample_count, path->bandwidth_mbps,
                     &result->bandwidth_low_mbps, &result->bandwidth_high_mbps);
    result->bandwidth_lowest_mbps = samples_lowest(path->samples_mbps, path->sample_count);
    result->bandwidth_outliers = samples_outliers(path->samples_mbps, path->sample_count);
    result->bandwidth_stop = path->bandwidth_stop;
    result->bandwidth_count = path->sample_count;
    result->stalled = path->stalled;
    result->sent_bytes = path->sent_bytes;
    result->damaged = path->damaged;
    result->pings = path->pings;
    result->stream = path->stream;
    memcpy(result->marks_s, path->marks_s, sizeof result->marks_s);
    result->mark_bytes = path->mark_bytes;
    result->mark_count = path->mark_count;
    snprintf(result->transport, sizeof result->transport, "%s", path->transport);
}

void pair_run_set_bandwidth(struct link_result *result, double mbps)
{
    result->bandwidth_mbps = mbps;
    result->bandwidth_low_mbps = fmin(result->bandwidth_low_mbps, mbps);
    result->bandwidth_high_mbps = fmax(result->bandwidth_high_mbps, mbps);
}

static void fill_report(int failed, const struct error *err, const struct counters *before,
                        const struct counters *after, struct report *report)
{
    report->failed = failed;
    snprintf(report->text, sizeof report->text, "%.199s", failed ? err->text : "");
    errors_between(before, after, &report->errors);
}

/* Returns the bytes counted between two readings, or -1 if a counter went backwards, as it was
 * reset. */
static double counted_bytes(const struct counters *before, const struct counters *after)
{
    if (after->tx_bytes < before->tx_bytes || after->rdma_tx_bytes < before->rdma_tx_bytes)
        return -1;
    return (double)(after->tx_bytes - before->tx_bytes + after->rdma_tx_bytes -
                    before->rdma_tx_bytes);
}

/* Reads the counters after a stream. Some drivers ask their NIC for its counts once a second
 * (bnxt_en: stats-block-usecs), so they get PAIR_LATE_S until what was sent is among them. */
static void read_late(const struct rail *rail, const struct counters *before, double sent_bytes,
                      struct counters *after, bool *can_count)
{
    double end_s = clock_s() + PAIR_LATE_S;

    errors_read(rail, after, can_count);
    while (*can_count && counted_bytes(before, after) < sent_bytes && clock_s() < end_s) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        errors_read(rail, after, can_count);
    }
}

int pair_run_drive(struct channel *channel, const struct rail *rail, const struct path_plan *plan,
                   struct link_result *result, struct path_result *path, struct report *report)
{
    struct counters before, after;
    bool can_count, could_count;
    struct error err = {""};
    struct path_plan counting = *plan;
    int failed;

    counting.netdev = rail->nic ? rail->nic->name : NULL;
    errors_read(rail, &before, &could_count);
    failed = path_drive(channel, &counting, path, &err);
    read_late(rail, &before, failed || !could_count ? 0 : path->sent_bytes, &after, &can_count);
    pair_run_summarize(path, result);
    result->is_wrong_transport =
        !transport_is_on(path->transport, channel_device(rail), channel_is_rdma(rail));
    if (could_count && can_count)
        result->counted_bytes = counted_bytes(&before, &after);
    fill_report(failed, &err, &before, &after, report);
    result->errors = report->errors;
    return failed;
}

int pair_run_serve(struct channel *channel, const struct rail *rail, const struct path_plan *plan,
                   struct report *report)
{
    struct counters before, after;
    struct error err = {""};
    struct path_plan counting = *plan;
    bool can_count;
    int failed;

    counting.arrived = errors_arrived_bytes;
    counting.rail = rail;
    errors_read(rail, &before, &can_count);
    failed = path_serve(channel, &counting, &report->received, &err);
    errors_read(rail, &after, &can_count);
    fill_report(failed, &err, &before, &after, report);
    return failed;
}

static int progress(void *channel, struct pollfd *polled)
{
    *polled = (struct pollfd){.fd = channel_arm(channel), .events = POLLIN};
    return polled->fd < 0 ? -1 : 1;
}

/* For --inject=lie: reports half as much again as it sent. */
static void lie(struct link_result *result)
{
    result->bandwidth_mbps *= 1.5;
    result->bandwidth_low_mbps *= 1.5;
    result->bandwidth_high_mbps *= 1.5;
    result->bandwidth_lowest_mbps *= 1.5;
}

void pair_run_conclude(const struct rail_info *own, const struct rail_info *theirs,
                       const struct report *mine, const struct report *other, bool is_skipped,
                       struct link_result *result)
{
    const char *failure = mine->failed    ? mine->text
                          : !other        ? "the partner ended"
                          : other->failed ? other->text
                          : is_skipped    ? "not measured"
                                          : "";

    snprintf(result->peer_rail, sizeof result->peer_rail, "%s", theirs->name);
    snprintf(result->failure, sizeof result->failure, "%s", failure);
    result->nominal_mbps = fmin(own->nominal_mbps, theirs->nominal_mbps);
    result->mtu_bytes = own->probe.mtu_bytes;
    if (!other)
        return;
    result->peer_errors = other->errors;
    result->received_mbps = other->received.mbps;
    result->arrived_mbps = other->received.best_mbps;
    result->stalled = fmin(result->stalled + other->received.stalled, 1);
}

/* Measures one rail. A connection that cannot be made one way is not tried the other way. Returns
 * 0, or -1 if the partner was lost. */
static int measure_rail(struct pair_run *pair_run, int own, const struct rail_info *theirs,
                        int index)
{
    const struct rails *rails = pair_run->rails;
    struct channel *channel = rails->channels[own];
    struct control_idle idle = {progress, channel};
    struct report mine = {0}, other = {0};
    struct path_plan plan = *pair_run->plan;
    struct path_result path;
    struct error err = {""};
    int rv = 0;

    if (channel_connect(channel, theirs->address, &err) != 0)
        fill_report(1, &err, &(struct counters){0}, &(struct counters){0}, &mine);
    for (int direction = 0; direction < 2 && rv == 0; direction++) {
        bool drives = pair_run->is_first == (direction == 0), is_skipped;
        int path_mtu_bytes = -1;
        struct link_result *result = NULL;

        program_step(pair_run->program);
        plan.session = pair_run_session(pair_run, index, direction);
        if (drives)
            result = results_add(pair_run->results, pair_run->program->node, pair_run->partner,
                                 rails->own.rails[own].name);
        is_skipped = pair_run_probe(pair_run, own, theirs, plan.session, drives, &idle,
                                    &path_mtu_bytes) != 0;
        mine.errors = (struct errors){0};
        if (!mine.failed && !other.failed && !is_skipped) {
            if (drives)
                pair_run_drive(channel, rails->rails[own], &plan, result, &path, &mine);
            else
                pair_run_serve(channel, rails->rails[own], &plan, &mine);
        }
        rv = control_exchange(pair_run->control, &mine, &other, sizeof mine, &idle);
        if (result) {
            result->path_mtu_bytes = path_mtu_bytes;
            pair_run_conclude(&rails->own.rails[own], theirs, &mine, rv == 0 ? &other : NULL,
                              is_skipped, result);
        }
        if (result && program_injects_lie(pair_run->program))
            lie(result);
    }
    channel_disconnect(channel);
    return rv;
}

/* Adds a result for a pair that is not measured, on the node that was to send first. */
static void report_unconnected(struct pair_run *pair_run, bool is_connected)
{
    const struct program *program = pair_run->program;
    const char *own = program->node_name[program->node];
    const char *partner = program->node_name[pair_run->partner];
    struct link_result *result;

    if (!pair_run->is_first)
        return;
    result = results_add(pair_run->results, program->node, pair_run->partner, "");
    result->is_state = 1;
    if (is_connected)
        snprintf(result->failure, sizeof result->failure,
                 "the connection between %.63s and %.63s broke before the measurement", own,
                 partner);
    else
        snprintf(result->failure, sizeof result->failure,
                 "%.63s and %.63s cannot reach each other by TCP at any address: no rail measured "
                 "between them; check routes and firewalls",
                 own, partner);
}

struct rail_infos *pair_run_open(struct pair_run *pair_run)
{
    struct rail_infos *theirs = watch_allocate(1, sizeof *theirs);
    bool is_connected = control_connect(pair_run->control, pair_run->partner) == 0;

    if (is_connected && control_exchange(pair_run->control, &pair_run->rails->own, theirs,
                                         sizeof *theirs, NULL) == 0)
        return theirs;
    report_unconnected(pair_run, is_connected);
    free(theirs);
    control_disconnect(pair_run->control);
    return NULL;
}

bool pair_run_match(const struct pair_run *pair_run, const struct rail_infos *theirs, int i,
                    int *own, int *other)
{
    const struct rail_infos *first = pair_run->is_first ? &pair_run->rails->own : theirs;
    const struct rail_infos *second = pair_run->is_first ? theirs : &pair_run->rails->own;
    int j = i < first->count ? rail_infos_match(first, i, second) : -1;

    *own = pair_run->is_first ? i : j;
    *other = pair_run->is_first ? j : i;
    return j >= 0;
}

bool pair_run_rails(const struct pair_run *pair_run, const struct rail_infos *theirs, int i,
                    int *own, int *other)
{
    return pair_run_match(pair_run, theirs, i, own, other) &&
           pair_run->rails->own.rails[*own].is_open && theirs->rails[*other].is_open;
}

int pair_run_execute(struct pair_run *pair_run)
{
    struct rail_infos *theirs = pair_run_open(pair_run);
    int rv = theirs ? 0 : -1, own, other;

    for (int i = 0; i < PAIR_RAILS && rv == 0; i++)
        if (pair_run_rails(pair_run, theirs, i, &own, &other))
            rv = measure_rail(pair_run, own, &theirs->rails[other], i);
    control_disconnect(pair_run->control);
    free(theirs);
    return rv;
}
