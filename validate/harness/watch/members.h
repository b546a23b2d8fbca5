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

/* The monitor's state of every rank. Shared by monitor.c, which receives heartbeats, and
 * hang_diagnosis.c, which finds the fault. */

enum member_state {
    MEMBER_AWAITED,
    MEMBER_CONNECTED,
    MEMBER_UNWATCHED,
    MEMBER_SIGNALLED,
    MEMBER_LOST, /* dead, frozen or hung; the job continues without it */
    MEMBER_DONE,
};

struct member {
    enum member_state state;
    int fd; /* -1: none */
    bool has_sent;
    double received_s;
    double gap_s; /* the longest recent pause between two heartbeats: stall_gap_s() */
    uint32_t progress;
    int waits_for;
    double queued_s, moved_bytes; /* as in its last tick */
    int thread_state;
    double base_queued_s, base_bytes; /* the same when something in the job last moved */
    char phase[96];
    struct heartbeat_buffer buffer;
};

struct monitor {
    struct watch_state *state;
    int listener;
    struct admission admission;
    struct member *members; /* by rank; rank 0 has no connection */
    struct pollfd *polled;  /* wake pipe, members, pending connections of the admission */
    int *faulty_ranks;
    double now_s;
    double moved_s; /* when a rank last made progress */
    bool has_moved; /* something moved since base_queued_s and base_bytes were noted */
    double gap_s;   /* the longest recent pause of this process: stall_gap_s() */
    double signalled_s, ticked_s;
    double pause_s, paused_at_s; /* this process was paused for pause_s, until paused_at_s */
    bool was_queued;             /* it was ready to run in that time: the machine was busy */
    struct cpu_time_memory cpu_memory;
    double queued_s; /* of this thread */
    int signal_number;
    bool has_unresponsive; /* a lost rank does not obey any more: it is frozen */
    bool has_sent_finished;
    bool all_tried; /* every rank has tried to connect */
};

/* Returns the silence from which on the rank counts as frozen, in seconds. */
double members_silence_s(const struct monitor *monitor, int rank);

void members_send_all(const struct monitor *monitor, enum heartbeat_type type, int value);

#endif
