/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MEMBERS_H
#define MUSTER_MEMBERS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "validate/harness/watch/cpu_time.h"
#include "validate/harness/watch/heartbeat.h"
#include "validate/harness/watch/monitor.h"
#include "validate/harness/watch/stall.h"

/* What the monitor knows of every rank. Shared by monitor.c, which receives heartbeats, and
 * hang_diagnosis.c, which finds what is wrong. */

enum member_state {
    MEMBER_AWAITED,
    MEMBER_HERE,
    MEMBER_UNWATCHED,
    MEMBER_SIGNALLED,
    MEMBER_LOST, /* died, frozen or hangs, and the job goes on without it */
    MEMBER_DONE,
};

struct member {
    enum member_state state;
    int fd; /* -1: none */
    bool has_sent;
    double received_s;
    double gap_s; /* the longest pause between two heartbeats that came lately */
    uint32_t progress;
    int waits_for;
    double queued_s, moved_bytes; /* as in its last tick */
    int thread_state;
    double still_queued_s, still_bytes; /* when something in the job moved last */
    char phase[96];
    struct heartbeat_buffer buffer;
};

struct monitor {
    struct watch_state *state;
    int listener;
    struct admission admission;
    struct member *members; /* by rank; rank 0 has no connection */
    struct pollfd *polled;  /* wake pipe, members, those of the admission */
    int *faulty_ranks;
    double now_s;
    double moved_s; /* when some rank made progress last */
    bool has_moved; /* since still_queued_s and still_bytes were noted */
    double gap_s;   /* how late this process itself was lately, as stall_gap_s() */
    double signalled_s, ticked_s;
    double late_s, late_at_s; /* this process itself stood still so long, until then */
    bool was_queued;          /* ... ready to run meanwhile, that is on a busy machine */
    struct cpu_time_memory cpu_memory;
    double queued_s; /* of this thread */
    int signal_number;
    bool has_immovable; /* a rank was lost that obeys nobody any more: frozen, or it hangs */
    bool has_sent_over;
    bool has_all; /* every rank has tried to connect */
};

/* The silence of that rank that counts as frozen. */
double members_silence_s(const struct monitor *monitor, int rank);

void members_send_all(const struct monitor *monitor, enum heartbeat_type type, int value);

#endif
