/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/verbs/flow.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/constants/battery_constants.h"
#include "validate/battery/links/path/samples.h"
#include "validate/harness/pattern.h"
#include "validate/harness/watch/watch.h"

enum { PING_BYTES = 8, LEAST_PINGS = 11, WARMUP_PINGS = 8, REAP = 16 };
enum { SPINS = 1000, SPINS_PER_LOOK = 64 };

/* A wait on a port. It spins, as a process that slept would be late, and yields after a while: on a
 * machine with few processors it may wait for the other processes there. */
struct patience {
    double until_s;
    unsigned spins;
};

static bool is_over(struct patience *patience)
{
    if (++patience->spins % SPINS_PER_LOOK != 0)
        return false;
    if (patience->spins > SPINS)
        sched_yield();
    return clock_s() > patience->until_s;
}

/* Whether the time is over, for a wait that then fails. As it ends by itself it is no hang. */
static bool is_late(struct patience *patience)
{
    bool is_late = is_over(patience);

    if (patience->spins % SPINS_PER_LOOK == 0)
        watch_step();
    return is_late;
}

/* ---------------------------------------------------------------- work requests */

static int post(struct verbs_link *link, int pair, const void *data, size_t size, uint64_t remote,
                uint64_t id, bool is_signalled, struct error *err)
{
    static const enum ibv_wr_opcode opcodes[VERB_KINDS] = {
        [VERB_WRITE] = IBV_WR_RDMA_WRITE,
        [VERB_READ] = IBV_WR_RDMA_READ,
        [VERB_SEND] = IBV_WR_SEND,
        [VERB_UD] = IBV_WR_SEND,
    };
    struct ibv_sge piece = {(uint64_t)(uintptr_t)data, (uint32_t)size, link->region->lkey};
    struct ibv_send_wr work = {.wr_id = id,
                               .sg_list = &piece,
                               .num_sge = 1,
                               .opcode = opcodes[link->verb],
                               .send_flags = is_signalled ? IBV_SEND_SIGNALED : 0},
                       *bad;
    int failure;

    if (link->verb != VERB_READ && size <= link->inline_bytes)
        work.send_flags |= IBV_SEND_INLINE;
    if (link->verb == VERB_UD) {
        work.wr.ud.ah = link->handle;
        work.wr.ud.remote_qpn = link->peer.queue_pairs[pair];
        work.wr.ud.remote_qkey = VERBS_DATAGRAM_KEY;
    } else if (link->verb != VERB_SEND) {
        work.wr.rdma.remote_addr = remote;
        work.wr.rdma.rkey = link->peer.key;
    }
    failure = ibv_post_send(link->pairs[pair], &work, &bad);
    if (failure != 0)
        return error_set(err, "%s rejected a request: %s", link->port->name, strerror(failure));
    return 0;
}

/* Waits for one completion of a queue. */
static int await(struct verbs_link *link, struct ibv_cq *queue, double timeout_s,
                 struct ibv_wc *completion, struct error *err)
{
    struct patience patience = {clock_s() + timeout_s, 0};
    int found;

    while ((found = ibv_poll_cq(queue, 1, completion)) == 0)
        if (is_late(&patience))
            return error_set(err,
                             "%s: no data from %s of %s within %g s; check that port and the path",
                             verb_name(link->verb), link->peer.port, link->peer_node, timeout_s);
    if (found < 0)
        return error_set(err, "cannot poll completions of %s: %m", link->port->name);
    return completion->status == IBV_WC_SUCCESS ? 0 : verbs_link_broken(link, completion, err);
}

/* ---------------------------------------------------------------- pings */

static uint64_t number_at(const unsigned char *memory)
{
    uint64_t number =
        atomic_load_explicit((const _Atomic uint64_t *)(const void *)memory, memory_order_acquire);

    return number;
}

static int send_number(struct verbs_link *link, uint64_t number, struct error *err)
{
    struct ibv_wc completion;

    memcpy(link->small_out, &number, sizeof number);
    if (post(link, 0, link->small_out, PING_BYTES, link->peer.small, 0, true, err) != 0)
        return -1;
    /* what is not inline must stay until it is sent; and so the queue never fills */
    return await(link, link->sends, 5, &completion, err);
}

/* Writes the number, which the other end writes back. Completions are polled meanwhile, as they
 * show failures; the last of them may come after the answer. */
static int ping_by_write(struct verbs_link *link, uint64_t number, double timeout_s,
                         struct error *err)
{
    struct patience patience = {clock_s() + timeout_s, 0};
    struct ibv_wc completion;
    int found;

    memcpy(link->small_out, &number, sizeof number);
    if (post(link, 0, link->small_out, PING_BYTES, link->peer.small, 0, true, err) != 0)
        return -1;
    link->unreaped++;
    do {
        found = ibv_poll_cq(link->sends, 1, &completion);
        if (found > 0 && completion.status != IBV_WC_SUCCESS)
            return verbs_link_broken(link, &completion, err);
        link->unreaped -= found > 0;
        if (number_at(link->small_in) == number && link->unreaped < link->send_depth / 2)
            return 0;
    } while (!is_late(&patience));
    return error_set(err, "rc_write: %s of %s %s in %g s; check that port and the path",
                     link->peer.port, link->peer_node,
                     link->unreaped > 0 ? "did not acknowledge a message"
                                        : "received the message and did not answer",
                     timeout_s);
}

static int ping_by_read(struct verbs_link *link, double timeout_s, struct error *err)
{
    struct ibv_wc completion;

    if (post(link, 0, link->small_out, PING_BYTES, link->peer.small, 0, true, err) != 0)
        return -1;
    return await(link, link->sends, timeout_s, &completion, err);
}

static uint64_t received_number(const struct verbs_link *link)
{
    uint64_t number;

    memcpy(&number, link->in + (link->verb == VERB_UD ? VERBS_HEADER_BYTES : 0), sizeof number);
    return number;
}

/* Sends the number, which the other end sends back. A datagram may be lost: it is sent again, and
 * an answer to an earlier one does not count. */
static int ping_by_send(struct verbs_link *link, uint64_t number, double timeout_s,
                        struct error *err)
{
    double until_s = clock_s() + timeout_s;
    struct ibv_wc completion;

    do {
        if (send_number(link, number, err) != 0)
            return -1;
        do {
            if (await(link, link->receives, link->verb == VERB_UD ? FLOW_RESEND_S : timeout_s,
                      &completion, err) != 0)
                break;
            if (verbs_link_receive(link, 0, err) != 0)
                return -1;
            if (received_number(link) == number)
                return 0;
        } while (true);
    } while (link->verb == VERB_UD && clock_s() < until_s);
    return -1;
}

static int ping(struct verbs_link *link, uint64_t number, double timeout_s, struct error *err)
{
    if (link->verb == VERB_WRITE)
        return ping_by_write(link, number, timeout_s, err);
    if (link->verb == VERB_READ)
        return ping_by_read(link, timeout_s, err);
    return ping_by_send(link, number, timeout_s, err);
}

int verbs_ping(struct verbs_link *link, const struct path_plan *plan, struct path_result *result,
               struct error *err)
{
    double share = link->verb == VERB_READ ? 1 : 0.5, begin_s = clock_s(), start_s;
    int count = WARMUP_PINGS;
    uint64_t number = 0;

    for (int i = 0; i < count; i++)
        if (ping(link, ++number, i == 0 ? plan->connect_s : plan->timeout_s, err) != 0)
            return -1;
    count = (int)(plan->latency_s / fmax((clock_s() - begin_s) / count, 1e-7));
    count = count < LEAST_PINGS ? LEAST_PINGS : count > PATH_PINGS ? PATH_PINGS : count;
    begin_s = clock_s();
    do {
        for (int i = 0; i < count && result->latency_count < PATH_PINGS; i++) {
            start_s = clock_s();
            if (ping(link, ++number, plan->timeout_s, err) != 0)
                return -1;
            result->latency_us[result->latency_count++] = share * 1e6 * (clock_s() - start_s);
        }
        watch_step();
        if (samples_are_tight(result->latency_us, result->latency_count)) {
            result->latency_stop = PATH_STOP_INTERVAL;
            break;
        }
    } while (result->latency_count < PATH_PINGS && clock_s() - begin_s < 3 * plan->latency_s);
    return 0;
}

/* ---------------------------------------------------------------- streams */

static void prepare(struct verbs_stream *stream, double part_s)
{
    struct verbs_link *link = stream->link;
    double per_s = stream->bytes_per_s / (double)stream->message_bytes / link->count;
    int depth = link->send_depth - 1; /* drain() sends one more */

    /* If the speed is known: messages of FLOW_UNDER_WAY_S under way, and at least twenty signaled
     * ones in each part of the time. */
    stream->window = per_s > 0 ? (int)fmin(depth, fmax(4, per_s * FLOW_UNDER_WAY_S))
                               : (link->count < 4 ? 8 / link->count : 2);
    stream->signal_every = per_s > 0 ? (int)fmin(depth / 8.0, fmax(1, per_s * part_s / 20)) : 1;
    if (stream->signal_every > stream->window / 2)
        stream->signal_every = stream->window / 2;
    memset(stream->under_way, 0, sizeof stream->under_way);
    memset(stream->unsignalled, 0, sizeof stream->unsignalled);
    stream->done = stream->marked = stream->first_done = 0;
    stream->first_s = stream->mark_s = 0;
    stream->sample_count = 0;
}

static int post_one(struct verbs_stream *stream, int pair, bool is_last, struct error *err)
{
    struct verbs_link *link = stream->link;
    bool is_read = link->verb == VERB_READ;
    unsigned char *in = link->in + (size_t)pair * link->stride_bytes;
    uint64_t remote_in = link->peer.in + (uint64_t)pair * link->peer.stride_bytes;
    uint32_t waiting = ++stream->unsignalled[pair];
    bool is_signalled = is_last || waiting >= (uint32_t)stream->signal_every;

    if (is_signalled)
        stream->unsignalled[pair] = 0;
    stream->under_way[pair]++;
    stream->sent_bytes += (double)stream->message_bytes;
    return post(link, pair, is_read ? in : link->out, stream->message_bytes,
                is_read ? link->peer.out : remote_in, (uint64_t)pair << 32 | waiting, is_signalled,
                err);
}

/* Fills the window of each queue pair, one message on each in turn. */
static int post_more(struct verbs_stream *stream, struct error *err)
{
    bool has_room = true;

    while (has_room) {
        has_room = false;
        for (int pair = 0; pair < stream->link->count; pair++) {
            if (stream->under_way[pair] >= (uint32_t)stream->window)
                continue;
            if (post_one(stream, pair, false, err) != 0)
                return -1;
            has_room |= stream->under_way[pair] < (uint32_t)stream->window;
        }
    }
    return 0;
}

/* Polls completions. Returns how many there were, or -1 with err. */
static int reap(struct verbs_stream *stream, struct error *err)
{
    struct ibv_wc completions[REAP];
    int found = ibv_poll_cq(stream->link->sends, REAP, completions);

    for (int i = 0; i < found; i++) {
        uint32_t pair = (uint32_t)(completions[i].wr_id >> 32);
        uint32_t messages = (uint32_t)completions[i].wr_id;

        if (completions[i].status != IBV_WC_SUCCESS)
            return verbs_link_broken(stream->link, &completions[i], err);
        stream->under_way[pair] -= messages;
        stream->done += messages;
    }
    if (found < 0)
        return error_set(err, "cannot poll completions of %s: %m", stream->link->port->name);
    return found;
}

static double mbps(const struct verbs_stream *stream, double messages, double seconds)
{
    return seconds > 0 ? 8e-6 * messages * (double)stream->message_bytes / seconds : 0;
}

/* Notes completions. The time of one is that of all messages before it. */
static void note(struct verbs_stream *stream, double now, double until_s, double part_s,
                 int samples)
{
    if (stream->first_s == 0) {
        stream->first_s = stream->mark_s = now;
        stream->first_done = stream->marked = stream->done;
        return;
    }
    if ((now - stream->mark_s >= part_s || now >= until_s) && stream->sample_count < samples &&
        stream->done > stream->marked) {
        stream->samples_mbps[stream->sample_count++] =
            mbps(stream, stream->done - stream->marked, now - stream->mark_s);
        stream->mark_s = now;
        stream->marked = stream->done;
    }
}

static bool is_idle(const struct verbs_stream *stream)
{
    for (int pair = 0; pair < stream->link->count; pair++)
        if (stream->under_way[pair] > 0)
            return false;
    return true;
}

/* Sets bytes_per_s to the figure of the parts together. */
static void conclude(struct verbs_stream *stream)
{
    if (stream->mark_s > stream->first_s)
        stream->bytes_per_s =
            mbps(stream, stream->marked - stream->first_done, stream->mark_s - stream->first_s) /
            8e-6;
}

static int stalled(const struct verbs_link *link, double timeout_s, struct error *err)
{
    return error_set(err, "%s: %s of %s accepted no data for %g s; check that port and the path",
                     verb_name(link->verb), link->peer.port, link->peer_node, timeout_s);
}

/* Waits for what is under way. If the last messages are not signaled, one more that is follows
 * them. */
static int drain(struct verbs_stream *stream, double timeout_s, struct error *err)
{
    struct verbs_link *link = stream->link;
    struct patience patience = {clock_s() + timeout_s, 0};

    for (int pair = 0; pair < link->count; pair++)
        if (stream->unsignalled[pair] > 0 && post_one(stream, pair, true, err) != 0)
            return -1;
    while (!is_idle(stream)) {
        int found = reap(stream, err);

        if (found < 0)
            return -1;
        if (found > 0)
            patience = (struct patience){clock_s() + timeout_s, 0};
        else if (is_late(&patience))
            return stalled(link, timeout_s, err);
    }
    return 0;
}

int verbs_run(struct verbs_stream *streams, int count, double seconds, int samples,
              double timeout_s, struct error *err)
{
    double part_s = seconds / samples, until_s = clock_s() + seconds, now = 0;
    struct patience patience = {clock_s() + timeout_s, 0};

    for (int i = 0; i < count; i++)
        prepare(&streams[i], part_s);
    for (bool is_begun = false; now < until_s || !is_begun;) {
        int found = 0;

        for (int i = 0; i < count; i++) {
            int reaped = reap(&streams[i], err);

            streams[i].has_failed = reaped < 0 || post_more(&streams[i], err) != 0;
            if (streams[i].has_failed)
                return -1;
            if (reaped > 0) {
                now = clock_s();
                note(&streams[i], now, until_s, part_s, samples);
            }
            found += reaped;
        }
        if (found > 0)
            patience = (struct patience){now + timeout_s, 0};
        else if ((streams[0].has_failed = is_over(&patience))) /* it stands for all */
            return stalled(streams[0].link, timeout_s, err);
        if (found == 0 && patience.spins % SPINS_PER_LOOK == 0)
            now = clock_s();
        /* on a slow link two messages may take longer than the time */
        is_begun = true;
        for (int i = 0; i < count; i++)
            is_begun &= streams[i].sample_count > 0;
        watch_step();
    }
    for (int i = 0; i < count; i++)
        conclude(&streams[i]);
    for (int i = 0; i < count; i++)
        if ((streams[i].has_failed = drain(&streams[i], timeout_s, err) != 0))
            return -1;
    return 0;
}

/* ---------------------------------------------------------------- the server */

/* Writes the number back that the driver wrote. */
static int answer_write(struct verbs_service *service)
{
    struct verbs_link *link = service->link;
    uint64_t number = number_at(link->small_in);
    struct ibv_wc completion;
    int found = ibv_poll_cq(link->sends, 1, &completion);

    if (found > 0 && completion.status != IBV_WC_SUCCESS)
        return verbs_link_broken(link, &completion, &service->err);
    link->unreaped -= found > 0;
    if (number == service->seen || link->unreaped >= link->send_depth / 2)
        return 0;
    service->seen = number;
    memcpy(link->small_out, &number, sizeof number);
    link->unreaped++;
    return post(link, 0, link->small_out, PING_BYTES, link->peer.small, 0, true, &service->err) == 0
               ? 1
               : -1;
}

static int handle_receives(struct verbs_service *service)
{
    struct verbs_link *link = service->link;
    struct ibv_wc completions[REAP];
    int found = ibv_poll_cq(link->receives, REAP, completions);
    double now = found > 0 ? clock_s() : 0;
    /* the length of a datagram counts the GRH before it */
    uint32_t header_bytes = link->verb == VERB_UD ? VERBS_HEADER_BYTES : 0;

    for (int i = 0; i < found; i++) {
        const struct ibv_wc *completion = &completions[i];

        if (completion->status != IBV_WC_SUCCESS)
            return verbs_link_broken(link, completion, &service->err);
        if (verbs_link_receive(link, (int)completion->wr_id, &service->err) != 0)
            return -1;
        if (service->echoes) {
            if (send_number(link, received_number(link), &service->err) != 0)
                return -1;
            continue;
        }
        if (service->messages++ == 0)
            service->first_s = now;
        else
            service->bytes += completion->byte_len - header_bytes;
        service->last_s = now;
    }
    if (found < 0)
        return error_set(&service->err, "cannot poll completions of %s: %m", link->port->name);
    return found;
}

int verbs_serve(void *context, struct pollfd *polled)
{
    struct verbs_service *service = context;
    struct patience patience = {clock_s() + FLOW_LINGER_S, 0};
    int found;

    (void)polled;
    if (service->has_failed || service->link->verb == VERB_READ)
        return -1;
    do {
        found = service->link->verb != VERB_WRITE ? handle_receives(service)
                : service->echoes                 ? answer_write(service)
                                                  : 0;
        if (found > 0) {
            patience = (struct patience){clock_s() + FLOW_LINGER_S, 0};
            watch_step();
        }
        service->has_failed = found < 0;
    } while (!service->has_failed && !is_over(&patience) &&
             (service->link->verb != VERB_WRITE || service->echoes));
    return -1;
}

/* ---------------------------------------------------------------- what arrived */

struct pattern verbs_pattern(size_t message_bytes, uint64_t session)
{
    return pattern_of(0, 0, message_bytes, session);
}

void verbs_write_pattern(struct verbs_link *link, uint64_t session)
{
    struct pattern pattern = verbs_pattern(link->message_bytes, session);

    pattern_fill(&pattern, link->out, link->message_bytes);
}

double verbs_damaged(const struct verbs_link *link, uint64_t session)
{
    struct pattern pattern = verbs_pattern(link->message_bytes, session);
    size_t offset = link->verb == VERB_UD ? VERBS_HEADER_BYTES : 0;
    double damaged = 0;

    for (int pair = 0; pair < link->count; pair++)
        damaged += pattern_check(&pattern, link->in + (size_t)pair * link->stride_bytes + offset,
                                 link->message_bytes) != link->message_bytes;
    return damaged;
}
