/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/path/path.h"

#include <math.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/statistics.h"
#include "lib/constants/battery_constants.h"
#include "validate/battery/links/path/samples.h"
#include "validate/harness/pattern.h"
#include "validate/harness/watch/monitor.h"

enum order_kind { REQUEST_PING, REQUEST_WARMUP, REQUEST_STREAM, REQUEST_END };

/* What the driver asks of the server. */
struct request {
    uint32_t kind, count;
    uint64_t message_bytes;
    uint32_t mark_every; /* of a stream: messages between two marks of arrival */
};

struct reply {
    uint64_t damaged;
};

enum tag_kind { TAG_REQUEST, TAG_PING, TAG_PONG, TAG_DATA, TAG_MARK, TAG_REPLY };

enum {
    LEAST_MESSAGE_BYTES = 16384,
    WARMUP_MESSAGES = 4,
    LEAST_SAMPLE_MESSAGES = 4,
};

static uint64_t tag_of(const struct path_plan *plan, enum tag_kind kind)
{
    return plan->session << 8 | (uint64_t)kind;
}

/* Returns the size of messages of about 2 ms, so that a window is neither a whole sample on a slow
 * link nor all overhead on a fast one. */
static size_t message_bytes(double bytes_per_s)
{
    size_t size = LEAST_MESSAGE_BYTES;

    while (size < CHANNEL_MESSAGE_BYTES && (double)size < 2e-3 * bytes_per_s)
        size *= 2;
    return size;
}

static struct pattern data_pattern(const struct path_plan *plan, size_t size)
{
    return pattern_of(0, 0, size, plan->session);
}

/* The driver. */

static int send_request(struct channel *channel, const struct path_plan *plan,
                        const struct request *request, double timeout_s, struct error *err)
{
    return channel_send_small(channel, tag_of(plan, TAG_REQUEST), request, sizeof *request,
                              timeout_s, err);
}

/* Returns the time for which a message may have been there unseen, or 0 if a poll takes as long. */
static double pause_in(double late_s)
{
    return late_s > PING_POLL_S ? late_s : 0;
}

/* Measures half round trips. The server answers with the time for which the ping may have been
 * there unseen. */
static int ping(struct channel *channel, const struct path_plan *plan, int count, double timeout_s,
                double *half_us, double *late_us, struct error *err)
{
    struct request request = {.kind = REQUEST_PING, .count = (uint32_t)count + 1};
    double late_s = 0;

    if (send_request(channel, plan, &request, timeout_s, err) != 0)
        return -1;
    for (int i = -1; i < count; i++) { /* the first one wakes the server */
        double start = clock_s();

        if (channel_send_small(channel, tag_of(plan, TAG_PING), &late_s, sizeof late_s, timeout_s,
                               err) != 0 ||
            channel_receive_small(channel, tag_of(plan, TAG_PONG), &late_s, sizeof late_s,
                                  timeout_s, err) != 0)
            return -1;
        if (i < 0)
            continue;
        half_us[i] = 1e6 * (clock_s() - start) / 2;
        late_us[i] =
            fmin(1e6 * (pause_in(late_s) + pause_in(channel_late_s(channel))) / 2, half_us[i]);
    }
    return 0;
}

static int measure_latency(struct channel *channel, const struct path_plan *plan,
                           struct path_result *result, struct error *err)
{
    double first_us[8], late_us[8], round_trip_s, start = clock_s();
    int count;

    /* The first messages make the connection, and settle how many there is time for. */
    if (ping(channel, plan, 1, plan->connect_s, first_us, late_us, err) != 0)
        return error_prefix(err, "no connection");
    channel_set_wait(channel, CHANNEL_LATENCY);
    if (ping(channel, plan, 8, plan->timeout_s, first_us, late_us, err) != 0)
        return -1;
    channel_transport(channel, result->transport, sizeof result->transport);
    round_trip_s = 2e-6 * statistics_median(first_us, 8);
    count = (int)(plan->latency_s / (round_trip_s > 1e-7 ? round_trip_s : 1e-7));
    count = count < 11 ? 11 : count > PATH_PINGS ? PATH_PINGS : count;
    for (int done = 0; plan->latency_s > 0; count = done) {
        if (count > PATH_PINGS - done)
            count = PATH_PINGS - done;
        if (ping(channel, plan, count, plan->timeout_s, result->latency_us + done,
                 result->late_us + done, err) != 0)
            return -1;
        done += count;
        result->latency_count = done;
        if (samples_are_tight(result->latency_us, done)) {
            result->latency_stop = PATH_STOP_INTERVAL;
            break;
        }
        if (done == PATH_PINGS || clock_s() - start > 3 * plan->latency_s)
            break;
    }
    return 0;
}

/* Sends what the request says, with a window of messages under way. times gets marks + 1 entries:
 * when it began, and when each mark came back. By then the server had all that was sent before. */
static int stream(struct channel *channel, const struct path_plan *plan,
                  const struct request *request, int marks, double *times, struct error *err)
{
    if (channel_expect_marks(channel, tag_of(plan, TAG_MARK), marks, err) != 0 ||
        send_request(channel, plan, request, plan->timeout_s, err) != 0)
        return -1;
    times[0] = clock_s();
    for (uint32_t i = 0; i < request->count; i++) {
        int slot = (int)(i % CHANNEL_WINDOW);

        if (channel_wait_send(channel, slot, plan->timeout_s, err) != 0 ||
            channel_send(channel, slot, tag_of(plan, TAG_DATA), request->message_bytes, err) != 0)
            return -1;
        watch_step();
    }
    for (int slot = 0; slot < CHANNEL_WINDOW; slot++)
        if (channel_wait_send(channel, slot, plan->timeout_s, err) != 0)
            return -1;
    for (int mark = 0; mark < marks; mark++)
        if (channel_wait_mark(channel, mark, plan->timeout_s, &times[mark + 1], err) != 0)
            return -1;
    return 0;
}

/* Shapers, switches and NICs let a burst pass faster than the link, and TCP begins slowly. So this
 * sends growing batches until the time is over and two of them agree, or that takes too long. The
 * speed of the last one gives the size of the samples; the nominal speed may be far from true. */
static int warm_up(struct channel *channel, const struct path_plan *plan,
                   struct path_result *result, double *bytes_per_s, struct error *err)
{
    double start = clock_s(), last = 0, times[2], elapsed, now;
    uint32_t count = WARMUP_MESSAGES;
    size_t size = LEAST_MESSAGE_BYTES;

    *bytes_per_s = 0;
    do {
        struct request request = {REQUEST_WARMUP, count, size, count};

        if (stream(channel, plan, &request, 1, times, err) != 0)
            return -1;
        elapsed = times[1] - times[0];
        last = *bytes_per_s;
        *bytes_per_s = (double)count * (double)size / elapsed;
        result->sent_bytes += (double)count * (double)size;
        if (elapsed < plan->warmup_s / 4)
            count *= 2;
        if (count > 8 * WARMUP_MESSAGES) {
            count = WARMUP_MESSAGES;
            size = 8 * size < CHANNEL_MESSAGE_BYTES ? 8 * size : CHANNEL_MESSAGE_BYTES;
        }
        now = clock_s() - start;
    } while (now < PATH_WARMUP_MOST_S &&
             (now < plan->warmup_s || fabs(*bytes_per_s - last) > 0.1 * *bytes_per_s));
    return 0;
}

/* One stream without a pause, in which a shaper would save up a burst. The samples are the times
 * from mark to mark. Adds to *elapsed_s from the first send until the server has the last byte. */
static int measure_samples(struct channel *channel, const struct path_plan *plan,
                           struct request *request, int samples, struct path_result *result,
                           double *elapsed_s, double *stalled_s, struct error *err)
{
    double *times = result->marks_s;
    int rv;

    request->count = (uint32_t)samples * request->mark_every;
    result->mark_count = 0;
    channel_watch(channel);
    rv = stream(channel, plan, request, samples, times, err);
    *stalled_s += channel_unwatch(channel);
    if (rv != 0)
        return -1;
    result->mark_count = samples;
    result->mark_bytes = (double)request->mark_every * (double)request->message_bytes;
    result->sent_bytes += samples * result->mark_bytes;
    *elapsed_s += times[samples] - times[0];
    for (int i = 0; i < samples; i++)
        result->samples_mbps[result->sample_count++] =
            8e-6 * result->mark_bytes / (times[i + 1] - times[i]);
    return 0;
}

/* A process that is late to see a mark makes a slow sample and a fast one, so the figure is that of
 * the whole streams: late marks cannot make it too high. */
static int measure_bandwidth(struct channel *channel, const struct path_plan *plan,
                             struct path_result *result, struct error *err)
{
    double bytes_per_s, count, elapsed_s = 0, stalled_s = 0;
    struct request request = {.kind = REQUEST_STREAM};
    struct pattern pattern;
    size_t size;

    if (warm_up(channel, plan, result, &bytes_per_s, err) != 0)
        return -1;
    size = message_bytes(bytes_per_s);
    pattern = data_pattern(plan, size);
    pattern_fill(&pattern, channel_out(channel), size);
    count = plan->sample_bytes > 0 ? (double)plan->sample_bytes / (double)size
                                   : bytes_per_s * plan->sample_s / (double)size;
    request.mark_every = count < LEAST_SAMPLE_MESSAGES ? LEAST_SAMPLE_MESSAGES : (uint32_t)count;
    request.message_bytes = size;
    if (plan->begin)
        plan->begin(plan->context);
    do {
        int left = PATH_SAMPLES - result->sample_count;

        if (measure_samples(channel, plan, &request, plan->samples < left ? plan->samples : left,
                            result, &elapsed_s, &stalled_s, err) != 0)
            return -1;
        if (samples_are_tight(result->samples_mbps, result->sample_count)) {
            result->bandwidth_stop = PATH_STOP_INTERVAL;
            break;
        }
    } while (result->sample_count < plan->most_samples && result->sample_count < PATH_SAMPLES);
    result->bandwidth_mbps = 8e-6 * result->sample_count * result->mark_bytes / elapsed_s;
    result->stalled = fmin(stalled_s / elapsed_s, 1);
    return 0;
}

int path_drive(struct channel *channel, const struct path_plan *plan, struct path_result *result,
               struct error *err)
{
    const struct request end = {.kind = REQUEST_END};
    struct reply reply = {0};
    struct segments before, between, after;
    int rv;

    memset(result, 0, sizeof *result);
    segments_read(plan->netdev, &before);
    rv = measure_latency(channel, plan, result, err);
    segments_read(plan->netdev, &between);
    channel_set_wait(channel, CHANNEL_STREAM);
    if (rv == 0)
        rv = measure_bandwidth(channel, plan, result, err);
    segments_read(plan->netdev, &after);
    segments_between(&before, &between, &result->pings);
    segments_between(&between, &after, &result->stream);
    channel_set_wait(channel, CHANNEL_IDLE);
    if (rv != 0 || send_request(channel, plan, &end, plan->timeout_s, err) != 0 ||
        channel_receive_small(channel, tag_of(plan, TAG_REPLY), &reply, sizeof reply,
                              plan->timeout_s, err) != 0)
        return -1;
    result->damaged = (double)reply.damaged;
    return 0;
}

/* The server. */

static int serve_pings(struct channel *channel, const struct path_plan *plan,
                       const struct request *request, struct error *err)
{
    for (uint32_t i = 0; i < request->count; i++) {
        double late_s;

        if (channel_receive_small(channel, tag_of(plan, TAG_PING), &late_s, sizeof late_s,
                                  plan->timeout_s, err) != 0)
            return -1;
        late_s = channel_late_s(channel);
        if (channel_send_small(channel, tag_of(plan, TAG_PONG), &late_s, sizeof late_s,
                               plan->timeout_s, err) != 0)
            return -1;
    }
    return 0;
}

/* Sums over the streams by the clock of the server, without their first messages. */
struct stream_received {
    double bytes, seconds, stalled_s, best_mbps;
    struct arrival arrivals[PATH_SAMPLES + 1]; /* of the stream under way */
    int arrival_count;
};

/* Notes an arrival. A reading that took long, because the process was not scheduled, shows neither
 * moment. */
static void note_arrival(struct stream_received *received, const struct path_plan *plan,
                         double payload_bytes)
{
    double begin_s = clock_s(), counted = plan->arrived ? plan->arrived(plan->rail) : -1;

    if (counted >= 0 && clock_s() - begin_s < PATH_READING_S &&
        received->arrival_count <= PATH_SAMPLES)
        received->arrivals[received->arrival_count++] =
            (struct arrival){begin_s, payload_bytes, counted};
}

static int serve_stream(struct channel *channel, const struct path_plan *plan,
                        const struct request *request, struct stream_received *received,
                        struct error *err)
{
    size_t size = request->message_bytes;
    uint32_t posted = 0, next_mark = request->mark_every;
    bool is_sampled = request->kind == REQUEST_STREAM;
    double first_s = 0;
    char mark[8] = {0};

    if (size > CHANNEL_MESSAGE_BYTES)
        return error_set(err, "requested messages of %zu bytes", size);
    received->arrival_count = 0;
    if (is_sampled)
        channel_watch(channel);
    for (; posted < request->count && posted < CHANNEL_WINDOW; posted++)
        if (channel_receive(channel, (int)posted, tag_of(plan, TAG_DATA), size, err) != 0)
            return -1;
    for (uint32_t done = 0; done < request->count; done++) {
        int slot = (int)(done % CHANNEL_WINDOW);

        if (channel_wait_receive(channel, slot, plan->timeout_s, err) != 0)
            return -1;
        watch_step();
        if (done == 0)
            first_s = clock_s();
        if (is_sampled && (done == 0 || done + 1 == next_mark))
            note_arrival(received, plan, (double)(done + 1) * (double)size);
        if (posted < request->count) {
            if (channel_receive(channel, slot, tag_of(plan, TAG_DATA), size, err) != 0)
                return -1;
            posted++;
        }
        if (done + 1 == next_mark) {
            if (channel_send_small(channel, tag_of(plan, TAG_MARK), mark, sizeof mark,
                                   plan->timeout_s, err) != 0)
                return -1;
            next_mark += request->mark_every;
        }
    }
    if (is_sampled) {
        received->bytes += (double)(request->count - 1) * (double)size;
        received->seconds += clock_s() - first_s;
        received->stalled_s += channel_unwatch(channel);
        received->best_mbps = fmax(received->best_mbps,
                                   arrivals_best_mbps(received->arrivals, received->arrival_count));
    }
    return 0;
}

/* The messages of the last window are still in their buffers. */
static uint64_t count_damaged(struct channel *channel, const struct path_plan *plan,
                              const struct request *last)
{
    struct pattern pattern = data_pattern(plan, last->message_bytes);
    uint64_t damaged = 0;

    for (uint32_t i = 0; i < last->count && i < CHANNEL_WINDOW; i++)
        damaged += pattern_check(&pattern, channel_in(channel, (int)i), last->message_bytes) !=
                   last->message_bytes;
    return damaged;
}

int path_serve(struct channel *channel, const struct path_plan *plan,
               struct path_received *reported, struct error *err)
{
    struct stream_received received = {0};

    struct request last = {.kind = REQUEST_STREAM};
    double timeout_s = plan->connect_s;

    *reported = (struct path_received){0};
    for (;;) {
        struct request request;
        int result = 0;

        channel_set_wait(channel, CHANNEL_IDLE);
        if (channel_receive_small(channel, tag_of(plan, TAG_REQUEST), &request, sizeof request,
                                  timeout_s, err) != 0)
            return timeout_s == plan->connect_s ? error_prefix(err, "no connection") : -1;
        timeout_s = plan->timeout_s;
        if (request.kind != REQUEST_END)
            channel_set_wait(channel,
                             request.kind == REQUEST_PING ? CHANNEL_LATENCY : CHANNEL_STREAM);
        if (request.kind == REQUEST_PING) {
            result = serve_pings(channel, plan, &request, err);
        } else if (request.kind == REQUEST_WARMUP || request.kind == REQUEST_STREAM) {
            last = request;
            result = serve_stream(channel, plan, &request, &received, err);
        } else {
            struct reply reply = {count_damaged(channel, plan, &last)};

            if (received.seconds > 0)
                *reported = (struct path_received){8e-6 * received.bytes / received.seconds,
                                                   received.best_mbps,
                                                   fmin(received.stalled_s / received.seconds, 1)};
            return channel_send_small(channel, tag_of(plan, TAG_REPLY), &reply, sizeof reply,
                                      plan->timeout_s, err);
        }
        if (result != 0)
            return -1;
    }
}
