/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PATH_H
#define MUSTER_PATH_H

#include <stdint.h>

#include "validate/battery/links/path/channel.h"
#include "validate/battery/links/path/segments.h"

/* One direction of one pair on one rail. The driver sends and measures, the server answers. Both
 * call their side with the same session, a number that no other direction of the run has. Nothing
 * here needs MPI. */

enum { PATH_SAMPLES = 64, PATH_PINGS = 500 };

struct path_plan {
    uint64_t session;
    int samples;            /* of bandwidth in one stream, 1 to PATH_SAMPLES */
    int most_samples;       /* more streams until the figure is certain, up to so many in all */
    double sample_s;        /* how long one should last */
    long long sample_bytes; /* > 0: this size instead */
    double warmup_s;
    double latency_s; /* time for pings, three times that until the figure is certain; 0: only those
                         that make the connection */
    double connect_s; /* the first answer must come within this */
    double timeout_s; /* each further one */
    void (*begin)(void *context); /* called by the driver between warm-up and stream; or NULL */
    void *context;
    const char *netdev; /* the driver's: TCP's segments through it are counted; or NULL */
    /* the server's: bytes that have arrived at its rail so far, < 0: not known; or NULL */
    double (*arrived)(const struct rail *rail);
    const struct rail *rail;
};

/* The figures of the server for the streams of samples. */
struct path_received {
    double mbps;      /* payload by the server's clock, from the first message there to the last; 0:
                         there was none */
    double best_mbps; /* in the best part of a stream, arrivals_best_mbps(); 0: not known */
    double stalled;   /* share of that time in which the server was kept from polling */
};

/* Why no more was measured: the 95 % interval of the median is within 5 % of it, or the plan's
 * samples are spent. */
enum path_stop { PATH_STOP_BUDGET, PATH_STOP_INTERVAL };

struct path_result {
    double latency_us[PATH_PINGS]; /* half round trips of 8 bytes */
    double late_us[PATH_PINGS]; /* of each, what pauses of the two processes may have added to it */
    int latency_count;
    enum path_stop latency_stop, bandwidth_stop;
    double bandwidth_mbps;             /* payload of all samples, until the server had it */
    double samples_mbps[PATH_SAMPLES]; /* the parts of it */
    int sample_count;
    double stalled; /* share of the samples' time in which the driver was kept from polling */
    double marks_s[PATH_SAMPLES + 1]; /* of the last stream, clock_s(): when it began, and when
                                         each of its parts was there */
    double mark_bytes;                /* of each part */
    int mark_count;                   /* parts; 0: no stream was completed */
    double sent_bytes;                /* payload in all, warm-up included */
    double damaged;                   /* messages of the last window that were not what was sent */
    struct segments pings, stream;    /* that the driver sent */
    char transport[160];
};

/* Return 0, or -1 with err; result holds what was measured until then. */
int path_drive(struct channel *channel, const struct path_plan *plan, struct path_result *result,
               struct error *err);
int path_serve(struct channel *channel, const struct path_plan *plan,
               struct path_received *reported, struct error *err);

#endif
