/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/tap.h"
#include "validate/battery/verbs/flow.h"

/* Streams on two rails at once, of which one breaks: that one is named. The test is the device: it
 * completes what was posted, or fails it. */

enum { RAILS = 2, DEPTH = 16 };

struct device {
    struct ibv_cq sends;
    struct ibv_qp pair;
    uint64_t posted[DEPTH];
    int count;
    bool is_broken, refuses;
};

static struct device devices[RAILS];
static struct ibv_mr region;

static int post_send(struct ibv_qp *pair, struct ibv_send_wr *work, struct ibv_send_wr **bad)
{
    struct device *device = pair->qp_context;

    if (device->refuses)
        return EIO;
    device->posted[device->count++] = work->send_flags & IBV_SEND_SIGNALED ? work->wr_id : 0;
    return 0;
}

static int poll_cq(struct ibv_cq *queue, int most, struct ibv_wc *completions)
{
    struct device *device = queue->cq_context;
    int found = 0;

    for (int i = 0; i < device->count; i++)
        if (device->posted[i] != 0)
            completions[found++] = (struct ibv_wc){
                .wr_id = device->posted[i],
                .status = device->is_broken ? IBV_WC_RETRY_EXC_ERR : IBV_WC_SUCCESS};
    device->count = 0;
    return found;
}

static struct ibv_context context = {.ops = {.post_send = post_send, .poll_cq = poll_cq}};

static int run(struct verbs_stream *streams, struct error *err)
{
    static struct verbs_port port;
    static struct verbs_link links[RAILS];
    static unsigned char data[64];

    for (int i = 0; i < RAILS; i++) {
        struct device *device = &devices[i];

        device->count = 0;
        device->sends = (struct ibv_cq){.context = &context, .cq_context = device};
        device->pair = (struct ibv_qp){.context = &context, .qp_context = device};
        links[i] = (struct verbs_link){.port = &port,
                                       .verb = VERB_WRITE,
                                       .count = 1,
                                       .pairs = {&device->pair},
                                       .sends = &device->sends,
                                       .send_depth = DEPTH,
                                       .region = &region,
                                       .in = data,
                                       .out = data,
                                       .ends = {VERB_WRITE, "own", "port", "n2"}};
        streams[i] = (struct verbs_stream){.link = &links[i], .message_bytes = sizeof data};
    }
    return verbs_run(streams, RAILS, 0.01, 1, 5, err);
}

int main(void)
{
    struct verbs_stream streams[RAILS];
    struct error err = {""};

    is_int(run(streams, &err), 0, "two rails carry data at once");
    ok(!streams[0].has_failed && !streams[1].has_failed, "... and neither has failed");
    devices[1].is_broken = true;
    is_int(run(streams, &err), -1, "of two rails one does not answer");
    ok(!streams[0].has_failed && streams[1].has_failed, "... which is known");
    devices[1].is_broken = false;
    devices[0].refuses = true;
    is_int(run(streams, &err), -1, "the device of one rail rejects a request");
    ok(streams[0].has_failed && !streams[1].has_failed, "... which is known");
    return tap_done();
}
