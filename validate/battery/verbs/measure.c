/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/verbs/measure.h"

#include <math.h>
#include <string.h>

#include "validate/battery/links/path/samples.h"

/* Runs until two runs agree, MOST at most: shapers and switches let a burst pass faster than the
 * link. */
static int warm_up(struct verbs_stream *streams, int count, const struct path_plan *plan,
                   struct error *err)
{
    enum { MOST = 5 };
    double last;

    for (int attempt = 0; attempt < MOST; attempt++) {
        last = streams[0].bytes_per_s;
        if (verbs_run(streams, count, plan->warmup_s, 1, plan->timeout_s, err) != 0)
            return -1;
        if (last > 0 && fabs(streams[0].bytes_per_s - last) < 0.1 * last)
            break;
    }
    return 0;
}

int verbs_measure(struct verbs_stream *streams, int count, const struct path_plan *plan,
                  bool is_warmup, struct error *err)
{
    if (is_warmup)
        return warm_up(streams, count, plan, err);
    return verbs_run(streams, count, plan->samples * plan->sample_s, plan->samples, plan->timeout_s,
                     err);
}

static int connect_both(struct verbs_link *from, struct verbs_link *to, const char *node,
                        int mtu_bytes, struct error *err)
{
    struct verbs_address from_address, to_address;

    verbs_link_address(from, &from_address);
    verbs_link_address(to, &to_address);
    if (verbs_addresses_fit(&from_address, node, &to_address, node, err) != 0 ||
        verbs_link_connect(from, &to_address, node, mtu_bytes, err) != 0 ||
        verbs_link_connect(to, &from_address, node, mtu_bytes, err) != 0)
        return -1;
    return 0;
}

int verbs_measure_within(struct verbs_link *from, struct verbs_link *to, const char *node,
                         int mtu_bytes, const struct path_plan *plan, struct path_result *path,
                         struct error *err)
{
    struct verbs_stream stream = {.link = from, .message_bytes = from->message_bytes};
    int rv = connect_both(from, to, node, mtu_bytes, err);

    if (rv != 0)
        return rv;
    rv = verbs_measure(&stream, 1, plan, true, err);
    if (rv == 0)
        rv = verbs_measure(&stream, 1, plan, false, err);
    verbs_stream_summarize(&stream, path);
    return rv;
}

void verbs_stream_summarize(const struct verbs_stream *stream, struct path_result *path)
{
    path->sample_count = stream->sample_count;
    memcpy(path->samples_mbps, stream->samples_mbps, sizeof path->samples_mbps);
    path->bandwidth_mbps = 8e-6 * stream->bytes_per_s;
    path->sent_bytes = stream->sent_bytes;
    path->bandwidth_stop = samples_are_tight(stream->samples_mbps, stream->sample_count)
                               ? PATH_STOP_INTERVAL
                               : PATH_STOP_BUDGET;
}
