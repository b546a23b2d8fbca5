/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VERBS_FLOW_H
#define MUSTER_VERBS_FLOW_H

#include <poll.h>
#include <stdbool.h>

#include "validate/battery/links/path/path.h"
#include "validate/battery/verbs/link.h"
#include "validate/harness/pattern.h"

/* Messages on connected queue pairs: the driver sends and measures; the server of writes and reads
 * does nothing, that of sends takes them and puts its buffers back. Nothing here needs MPI.
 * Functions that return int give 0, or -1 with err. */

/* Pings of 8 bytes until plan->latency_s is over or the figure is certain, into result->latency_us:
 * half the round trip, of VERB_READ the whole one (as perftest has it). */
int verbs_ping(struct verbs_link *link, const struct path_plan *plan, struct path_result *result,
               struct error *err);

/* One of several streams at once. */
struct verbs_stream {
    struct verbs_link *link;
    double bytes_per_s; /* expected; 0: not known. After it: found */
    double sent_bytes;  /* in all */
    double samples_mbps[PATH_SAMPLES];
    int sample_count;
    int window;       /* messages under way at a time on each queue pair */
    int signal_every; /* messages of which one tells that it is done */
    size_t message_bytes;
    uint32_t under_way[VERBS_QUEUE_PAIRS], unsignalled[VERBS_QUEUE_PAIRS];
    double done, marked; /* messages: all, those at the last mark */
    double first_s, mark_s, first_done;
};

/* Writes, reads or sends on all links for that time, in `samples` parts; then waits for what is
 * under way. The figure is that of the parts together.
 */
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

/* Takes what has come, and goes on while more comes; for struct control_idle: -1.
 */
int verbs_serve(void *service, struct pollfd *polled);

/* How many queue pairs' memory does not hold what was sent last. of_reads: the driver's own. */
double verbs_damaged(const struct verbs_link *link, uint64_t session);
void verbs_write_pattern(struct verbs_link *link, uint64_t session);
/* That of a message of so many bytes. */
struct pattern verbs_pattern(size_t message_bytes, uint64_t session);

#endif
