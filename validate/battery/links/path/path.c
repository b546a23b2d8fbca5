/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/links/path/path.h"

#include <math.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/statistics.h"
#include "validate/battery/links/path/samples.h"
#include "validate/battery/pattern.h"
#include "validate/battery/watch/monitor.h"

enum order_kind { ORDER_PING, ORDER_WARMUP, ORDER_STREAM, ORDER_END };

/* What the driver asks of the server. */
struct order {
    uint32_t kind, count;
    uint64_t message_bytes;
    uint32_t mark_every; /* of a stream: mark the arrival of each so many messages */
};

struct answer {
    uint64_t damaged;
};

enum tag_kind { TAG_ORDER, TAG_PING, TAG_PONG, TAG_DATA, TAG_MARK, TAG_ANSWER };

enum {
    PING_BYTES = 8,
    LEAST_MESSAGE_BYTES = 16384,
    WARMUP_MESSAGES = 4,
    LEAST_SAMPLE_MESSAGES = 4,
};

static const double WARMUP_MAX_S = 0.25;

static uint64_t tag_of(const struct path_plan *plan, enum tag_kind kind)
{
    return plan->session << 8 | (uint64_t)kind;
}

/* Messages of about 2 ms, so that a window is neither a whole sample on a slow link nor all
 * overhead on a fast one. */
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
                        const struct order *order, double timeout_s, struct error *err)
{
    return channel_send_small(channel, tag_of(plan, TAG_ORDER), order, sizeof *order, timeout_s,
                              err);
}

static int ping(struct channel *channel, const struct path_plan *plan, int count, double timeout_s,
                double *half_us, struct error *err)
{
    struct order order = {.kind = ORDER_PING, .count = (uint32_t)count + 1};
    unsigned char data[PING_BYTES] = {0};

    if (send_request(channel, plan, &order, timeout_s, err) != 0)
        return -1;
    for (int i = -1; i < count; i++) { /* the first one wakes the server */
        double start = clock_s();

        if (channel_send_small(channel, tag_of(plan, TAG_PING), data, sizeof data, timeout_s,
                               err) != 0 ||
            channel_receive_small(channel, tag_of(plan, TAG_PONG), data, sizeof data, timeout_s,
                                  err) != 0)
            return -1;
        if (i >= 0)
            half_us[i] = 1e6 * (clock_s() - start) / 2;
    }
    return 0;
}

static int measure_latency(struct channel *channel, const struct path_plan *plan,
                           struct path_result *result, struct error *err)
{
    double first_us[8], round_trip_s, start = clock_s();
    int count;

    /* The first messages make the connection, and settle how many there is time for. */
    if (ping(channel, plan, 1, plan->connect_s, first_us, err) != 0)
        return error_prefix(err, "no connection");
    channel_set_wait(channel, CHANNEL_LATENCY);
    if (ping(channel, plan, 8, plan->timeout_s, first_us, err) != 0)
        return -1;
    channel_transport(channel, result->transport, sizeof result->transport);
    round_trip_s = 2e-6 * statistics_median(first_us, 8);
    count = (int)(plan->latency_s / (round_trip_s > 1e-7 ? round_trip_s : 1e-7));
    count = count < 11 ? 11 : count > PATH_PINGS ? PATH_PINGS : count;
    for (int done = 0; plan->latency_s > 0; count = done) {
        if (count > PATH_PINGS - done)
            count = PATH_PINGS - done;
        if (ping(channel, plan, count, plan->timeout_s, result->latency_us + done, err) != 0)
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

/* Sends what the order says with a window of messages under way. times gets marks + 1 entries:
 * when it began, and when each mark came back: by then the server had all that was sent before. */
static int stream(struct channel *channel, const struct path_plan *plan, const struct order *order,
                  int marks, double *times, struct error *err)
{
    if (channel_expect_marks(channel, tag_of(plan, TAG_MARK), marks, err) != 0 ||
        send_request(channel, plan, order, plan->timeout_s, err) != 0)
        return -1;
    times[0] = clock_s();
    for (uint32_t i = 0; i < order->count; i++) {
        int slot = (int)(i % CHANNEL_WINDOW);

        if (channel_wait_send(channel, slot, plan->timeout_s, err) != 0 ||
            channel_send(channel, slot, tag_of(plan, TAG_DATA), order->message_bytes, err) != 0)
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

/* Shapers, switches and NICs let a burst pass faster than the link, and TCP begins slowly: sends
 * growing batches until the time is over and two of them agree, or that takes too long. The speed
 * of the last one gives the size of the samples; the nominal speed may be far from true. */
static int warm_up(struct channel *channel, const struct path_plan *plan,
                   struct path_result *result, double *bytes_per_s, struct error *err)
{
    double start = clock_s(), last = 0, times[2], elapsed, now;
    uint32_t count = WARMUP_MESSAGES;
    size_t size = LEAST_MESSAGE_BYTES;

    *bytes_per_s = 0;
    do {
        struct order order = {ORDER_WARMUP, count, size, count};

        if (stream(channel, plan, &order, 1, times, err) != 0)
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
    } while (now < WARMUP_MAX_S &&
             (now < plan->warmup_s || fabs(*bytes_per_s - last) > 0.1 * *bytes_per_s));
    return 0;
}

/* One stream without a pause, in which a shaper would save up a burst. The samples are the times
 * from mark to mark. Adds to *elapsed_s from the first send until the server has the last byte. */
static int take_samples(struct channel *channel, const struct path_plan *plan, struct order *order,
                        int samples, struct path_result *result, double *elapsed_s,
                        double *stalled_s, struct error *err)
{
    double *times = result->marks_s;
    int rv;

    order->count = (uint32_t)samples * order->mark_every;
    result->mark_count = 0;
    channel_watch(channel);
    rv = stream(channel, plan, order, samples, times, err);
    *stalled_s += channel_unwatch(channel);
    if (rv != 0)
        return -1;
    result->mark_count = samples;
    result->mark_bytes = (double)order->mark_every * (double)order->message_bytes;
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
    struct order order = {.kind = ORDER_STREAM};
    struct pattern pattern;
    size_t size;

    if (warm_up(channel, plan, result, &bytes_per_s, err) != 0)
        return -1;
    size = message_bytes(bytes_per_s);
    pattern = data_pattern(plan, size);
    pattern_fill(&pattern, channel_out(channel), size);
    count = plan->sample_bytes > 0 ? (double)plan->sample_bytes / (double)size
                                   : bytes_per_s * plan->sample_s / (double)size;
    order.mark_every = count < LEAST_SAMPLE_MESSAGES ? LEAST_SAMPLE_MESSAGES : (uint32_t)count;
    order.message_bytes = size;
    if (plan->begin)
        plan->begin(plan->context);
    do {
        int left = PATH_SAMPLES - result->sample_count;

        if (take_samples(channel, plan, &order, plan->samples < left ? plan->samples : left, result,
                         &elapsed_s, &stalled_s, err) != 0)
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
    const struct order end = {.kind = ORDER_END};
    struct answer answer = {0};
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
        channel_receive_small(channel, tag_of(plan, TAG_ANSWER), &answer, sizeof answer,
                              plan->timeout_s, err) != 0)
        return -1;
    result->damaged = (double)answer.damaged;
    return 0;
}

/* The server. */

static int serve_pings(struct channel *channel, const struct path_plan *plan,
                       const struct order *order, struct error *err)
{
    unsigned char data[PING_BYTES];

    for (uint32_t i = 0; i < order->count; i++)
        if (channel_receive_small(channel, tag_of(plan, TAG_PING), data, sizeof data,
                                  plan->timeout_s, err) != 0 ||
            channel_send_small(channel, tag_of(plan, TAG_PONG), data, sizeof data, plan->timeout_s,
                               err) != 0)
            return -1;
    return 0;
}

/* Of streams by the server's clock, without their first messages. */
struct intake {
    double bytes, seconds, stalled_s, best_mbps;
    struct arrival arrivals[PATH_SAMPLES + 1]; /* of the stream under way */
    int arrival_count;
};

static const double READING_S = 2e-3;

/* A reading that took long, because others were let run, says nothing of either moment. */
static void note_arrival(struct intake *intake, const struct path_plan *plan, double payload_bytes)
{
    double begin_s = clock_s(), counted = plan->arrived ? plan->arrived(plan->interface) : -1;

    if (counted >= 0 && clock_s() - begin_s < READING_S && intake->arrival_count <= PATH_SAMPLES)
        intake->arrivals[intake->arrival_count++] =
            (struct arrival){begin_s, payload_bytes, counted};
}

static int serve_stream(struct channel *channel, const struct path_plan *plan,
                        const struct order *order, struct intake *intake, struct error *err)
{
    size_t size = order->message_bytes;
    uint32_t posted = 0, next_mark = order->mark_every;
    bool is_sampled = order->kind == ORDER_STREAM;
    double first_s = 0;
    char mark[8] = {0};

    if (size > CHANNEL_MESSAGE_BYTES)
        return error_set(err, "asked for messages of %zu bytes", size);
    intake->arrival_count = 0;
    if (is_sampled)
        channel_watch(channel);
    for (; posted < order->count && posted < CHANNEL_WINDOW; posted++)
        if (channel_receive(channel, (int)posted, tag_of(plan, TAG_DATA), size, err) != 0)
            return -1;
    for (uint32_t done = 0; done < order->count; done++) {
        int slot = (int)(done % CHANNEL_WINDOW);

        if (channel_wait_receive(channel, slot, plan->timeout_s, err) != 0)
            return -1;
        watch_step();
        if (done == 0)
            first_s = clock_s();
        if (is_sampled && (done == 0 || done + 1 == next_mark))
            note_arrival(intake, plan, (double)(done + 1) * (double)size);
        if (posted < order->count) {
            if (channel_receive(channel, slot, tag_of(plan, TAG_DATA), size, err) != 0)
                return -1;
            posted++;
        }
        if (done + 1 == next_mark) {
            if (channel_send_small(channel, tag_of(plan, TAG_MARK), mark, sizeof mark,
                                   plan->timeout_s, err) != 0)
                return -1;
            next_mark += order->mark_every;
        }
    }
    if (is_sampled) {
        intake->bytes += (double)(order->count - 1) * (double)size;
        intake->seconds += clock_s() - first_s;
        intake->stalled_s += channel_unwatch(channel);
        intake->best_mbps =
            fmax(intake->best_mbps, arrivals_best_mbps(intake->arrivals, intake->arrival_count));
    }
    return 0;
}

/* The messages of the last window are still in their buffers. */
static uint64_t count_damaged(struct channel *channel, const struct path_plan *plan,
                              const struct order *last)
{
    struct pattern pattern = data_pattern(plan, last->message_bytes);
    uint64_t damaged = 0;

    for (uint32_t i = 0; i < last->count && i < CHANNEL_WINDOW; i++)
        damaged += pattern_check(&pattern, channel_in(channel, (int)i), last->message_bytes) !=
                   last->message_bytes;
    return damaged;
}

int path_serve(struct channel *channel, const struct path_plan *plan, struct path_intake *reported,
               struct error *err)
{
    struct intake intake = {0};

    struct order last = {.kind = ORDER_STREAM};
    double timeout_s = plan->connect_s;

    *reported = (struct path_intake){0};
    for (;;) {
        struct order order;
        int result = 0;

        channel_set_wait(channel, CHANNEL_IDLE);
        if (channel_receive_small(channel, tag_of(plan, TAG_ORDER), &order, sizeof order, timeout_s,
                                  err) != 0)
            return timeout_s == plan->connect_s ? error_prefix(err, "no connection") : -1;
        timeout_s = plan->timeout_s;
        if (order.kind != ORDER_END)
            channel_set_wait(channel, order.kind == ORDER_PING ? CHANNEL_LATENCY : CHANNEL_STREAM);
        if (order.kind == ORDER_PING) {
            result = serve_pings(channel, plan, &order, err);
        } else if (order.kind == ORDER_WARMUP || order.kind == ORDER_STREAM) {
            last = order;
            result = serve_stream(channel, plan, &order, &intake, err);
        } else {
            struct answer answer = {count_damaged(channel, plan, &last)};

            if (intake.seconds > 0)
                *reported =
                    (struct path_intake){8e-6 * intake.bytes / intake.seconds, intake.best_mbps,
                                         fmin(intake.stalled_s / intake.seconds, 1)};
            return channel_send_small(channel, tag_of(plan, TAG_ANSWER), &answer, sizeof answer,
                                      plan->timeout_s, err);
        }
        if (result != 0)
            return -1;
    }
}
