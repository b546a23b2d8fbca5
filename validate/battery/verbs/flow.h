/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VERBS_FLOW_H
#define MUSTER_VERBS_FLOW_H

#include <poll.h>
#include <stdbool.h>

#include "validate/battery/links/path/path.h"
#include "validate/battery/verbs/link.h"
#include "validate/harness/pattern.h"

/* Messages on connected queue pairs. The driver sends and measures. The server has nothing to do
 * for streams of writes and reads; of sends it takes the messages and posts its buffers again.
 * Nothing here needs MPI. Functions that return int give 0, or -1 with err. */

/* Runs pings of 8 bytes until plan->latency_s is over or the figure is certain, and adds them to
 * result->latency_us: half the round trip, of VERB_READ the whole one (as perftest does). */
int verbs_ping(struct verbs_link *link, const struct path_plan *plan, struct path_result *result,
               struct error *err);

/* One of several streams at once. */
struct verbs_stream {
    struct verbs_link *link;
    double bytes_per_s; /* expected; 0: not known. Afterwards: measured */
    double sent_bytes;  /* in all */
    double samples_mbps[PATH_SAMPLES];
    int sample_count;
    bool has_failed;  /* this one, of those at once */
    int window;       /* messages under way at a time on each queue pair */
    int signal_every; /* one of so many messages is signaled */
    size_t message_bytes;
    uint32_t under_way[VERBS_QUEUE_PAIRS], unsignalled[VERBS_QUEUE_PAIRS];
    double done, marked; /* messages that are done: all, and at the last mark */
    double first_s, mark_s, first_done;
};

/* Writes, reads or sends on all links for that time, in `samples` parts; then waits for what is
 * under way. The figure is that of the parts together. If it fails, has_failed of that stream is
 * set. */
int verbs_run(struct verbs_stream *streams, int count, double seconds, int samples,
              double timeout_s, struct error *err);

/* The server. */
struct verbs_service {
    struct verbs_link *link;
    bool echoes;                             /* pings; else a stream */
    double messages, bytes, first_s, last_s; /* of the stream, since it was set to zero */
    uint64_t seen;                           /* of writes: the last ping that was answered */
    bool has_failed;
    struct error err;
};

/* Takes what has arrived, and goes on while more arrives. For struct control_idle: returns -1. */
int verbs_serve(void *service, struct pollfd *polled);

/* Returns how many queue pairs have memory that does not hold what was sent last: that of the
 * server or, of reads, of the driver. */
double verbs_damaged(const struct verbs_link *link, uint64_t session);
void verbs_write_pattern(struct verbs_link *link, uint64_t session);
/* Returns the pattern of a message of so many bytes. */
struct pattern verbs_pattern(size_t message_bytes, uint64_t session);

#endif
