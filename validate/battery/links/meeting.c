/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/links/meeting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/node/counters.h"
#include "lib/base/statistics.h"

enum { TAG_OFFERS = 200, TAG_REPORT };

/* What one end tells the other when a direction is over. */
struct report {
    int failed;
    char text[200];
};

static struct link_result *add_result(struct link_results *results, int from, int to,
                                      const char *rail)
{
    struct link_result *result;

    if (results->count == results->size) {
        int size = 2 * results->size + MEETING_RAILS;
        struct link_result *grown = realloc(results->items, (size_t)size * sizeof *grown);

        if (!grown)
            watch_fault("out of memory");
        results->items = grown;
        results->size = size;
    }
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
    if (fabric->rail_count == 0)
        snprintf(add_result(results, program->node, -1, "")->failure, sizeof(char[256]),
                 "no rail: %.200s", fabric->reason);
    for (size_t i = 0; i < fabric->rail_count && rails->own.count < MEETING_RAILS; i++) {
        const struct rail *rail = &fabric->rails[i];
        int index = rails->own.count++;
        struct offer *offer = &rails->own.rails[index];
        struct error err = {""};
        const void *address;
        size_t size;

        rails->rails[index] = rail;
        snprintf(offer->name, sizeof offer->name, "%s", rail->name);
        offer->nominal_mbps = rail->nominal_mbps;
        if (!rail_is_up(rail))
            error_set(&err, "rail %s is down", rail->name);
        else if (channel_open(rail, &rails->channels[index], &err) == 0) {
            address = channel_address(rails->channels[index], &size);
            if (size <= sizeof offer->address) {
                memcpy(offer->address, address, size);
                offer->address_bytes = (uint32_t)size;
                offer->is_open = 1;
                continue;
            }
            error_set(&err, "UCX on %s: its address has %zu bytes, at most %d expected", rail->name,
                      size, MEETING_ADDRESS_BYTES);
        }
        snprintf(add_result(results, program->node, -1, rail->name)->failure, sizeof(char[256]),
                 "%.255s", err.text);
    }
}

void rails_close(struct rails *rails)
{
    for (int i = 0; i < rails->own.count; i++)
        channel_close(rails->channels[i]);
}

static int find_name(const struct offers *offers, const char *name)
{
    for (int i = 0; i < offers->count; i++)
        if (strcmp(offers->rails[i].name, name) == 0)
            return i;
    return -1;
}

int offers_match(const struct offers *first, int index, const struct offers *second)
{
    int found = find_name(second, first->rails[index].name);

    if (found >= 0)
        return found;
    if (index < second->count && find_name(first, second->rails[index].name) < 0)
        return index;
    return -1;
}

/* Exchanges a message with the partner's leader while UCX goes on working. */
static void swap(struct program *program, int partner, int tag, const void *out, void *in,
                 size_t size, struct channel *channel)
{
    int rank = program->leader_of_node[partner], is_done = 0;
    MPI_Request requests[2];

    MPI_Irecv(in, (int)size, MPI_BYTE, rank, tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, (int)size, MPI_BYTE, rank, tag, MPI_COMM_WORLD, &requests[1]);
    watch_waits_for(rank);
    for (int tries = 0; !is_done; tries++) {
        if (channel)
            channel_progress(channel);
        MPI_Testall(2, requests, &is_done, MPI_STATUSES_IGNORE);
        if (!is_done && tries > 20)
            usleep(tries < 200 ? 50 : 500);
    }
    watch_works();
}

/* What the NIC has sent so far; -1 when it does not count. */
static double counted_bytes(const struct rail *rail)
{
    struct counters counters;
    const char *netdev = rail->nic ? rail->nic->name : "";
    const char *device = rail->port ? rail->port->device : "";

    if (counters_read("", netdev, device, rail->port ? rail->port->port : 0, &counters) != 0)
        return -1;
    return (double)counters.tx_bytes + (double)counters.rdma_tx_bytes;
}

static void summarize(const struct path_result *path, struct link_result *result)
{
    double least = INFINITY, greatest = -INFINITY;

    for (int i = 0; i < path->latency_count; i++) {
        least = fmin(least, path->latency_us[i]);
        greatest = fmax(greatest, path->latency_us[i]);
    }
    result->latency_us = statistics_median(path->latency_us, (size_t)path->latency_count);
    result->latency_low_us = least;
    result->latency_high_us = greatest;
    result->latency_count = path->latency_count;
    result->bandwidth_mbps = path->bandwidth_mbps;
    statistics_interval(path->samples_mbps, (size_t)path->sample_count, &result->bandwidth_low_mbps,
                        &result->bandwidth_high_mbps);
    result->bandwidth_count = path->sample_count;
    result->sent_bytes = path->sent_bytes;
    result->damaged = path->damaged;
    snprintf(result->transport, sizeof result->transport, "%s", path->transport);
}

static int drive(struct channel *channel, const struct rail *rail, const struct path_plan *plan,
                 struct link_result *result, struct error *err)
{
    struct path_result path;
    double before = counted_bytes(rail), after;
    int failed = path_drive(channel, plan, &path, err);

    after = counted_bytes(rail);
    summarize(&path, result);
    if (before >= 0 && after >= 0)
        result->counted_bytes = after - before;
    return failed;
}

/* One rail, the lower node first as driver. A connection that cannot be made one way is not tried
 * the other way. */
static void meet_on_rail(struct program *program, struct rails *rails, int index, int partner,
                         const struct offer *theirs, struct path_plan plan,
                         struct link_results *results)
{
    struct channel *channel = rails->channels[index];
    double nominal = fmin(rails->own.rails[index].nominal_mbps, theirs->nominal_mbps);
    struct report mine = {0}, other = {0};
    uint64_t session = plan.session;
    struct error err = {""};

    if (channel_connect(channel, theirs->address, &err) != 0)
        mine.failed = 1;
    for (int direction = 0; direction < 2; direction++) {
        bool drives = (program->node < partner) == (direction == 0);
        struct link_result *result = NULL;

        program_step(program);
        plan.session = session + (uint64_t)direction;
        if (drives) {
            result = add_result(results, program->node, partner, rails->own.rails[index].name);
            snprintf(result->peer_rail, sizeof result->peer_rail, "%s", theirs->name);
            result->nominal_mbps = nominal;
        }
        if (!mine.failed && !other.failed) {
            if (drives)
                mine.failed = drive(channel, rails->rails[index], &plan, result, &err);
            else
                mine.failed = path_serve(channel, &plan, &err);
            snprintf(mine.text, sizeof mine.text, "%.199s", mine.failed ? err.text : "");
        }
        swap(program, partner, TAG_REPORT, &mine, &other, sizeof mine, channel);
        if (result && (mine.failed || other.failed))
            snprintf(result->failure, sizeof result->failure, "%s",
                     mine.failed ? mine.text : other.text);
    }
    channel_disconnect(channel);
}

void meeting_hold(struct program *program, struct rails *rails, int partner,
                  const struct path_plan *plan, uint64_t *session, struct link_results *results)
{
    bool is_first = program->node < partner;
    struct offers *theirs = malloc(sizeof *theirs);
    const struct offers *first, *second;

    if (!theirs)
        watch_fault("out of memory");
    swap(program, partner, TAG_OFFERS, &rails->own, theirs, sizeof *theirs, NULL);
    first = is_first ? &rails->own : theirs;
    second = is_first ? theirs : &rails->own;
    for (int i = 0; i < first->count; i++) {
        int j = offers_match(first, i, second);
        struct path_plan direction = *plan;

        if (j < 0 || !first->rails[i].is_open || !second->rails[j].is_open)
            continue;
        direction.session = *session + 2 * (uint64_t)i;
        meet_on_rail(program, rails, is_first ? i : j, partner, &theirs->rails[is_first ? j : i],
                     direction, results);
    }
    *session += 2 * MEETING_RAILS;
    free(theirs);
}
