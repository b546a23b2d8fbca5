/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GUESTS_H
#define MUSTER_GUESTS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "validate/battery/watch/beat.h"
#include "validate/battery/watch/cpu_time.h"
#include "validate/battery/watch/stall.h"
#include "validate/battery/watch/warden.h"

/* What the warden knows of every rank. Shared by warden.c, which hears them, and inquest.c, which
 * says what is wrong with them. */

enum guest_state {
    GUEST_AWAITED,
    GUEST_HERE,
    GUEST_UNWATCHED,
    GUEST_SIGNALLED,
    GUEST_LOST, /* died, frozen or hangs, and the job goes on without it */
    GUEST_DONE,
};

struct guest {
    enum guest_state state;
    int fd; /* -1: none */
    bool has_spoken;
    double heard_s;
    double gap_s; /* the longest pause between two heartbeats that came lately */
    uint32_t progress;
    int waits_for;
    double queued_s, moved_bytes; /* as in its last tick */
    int thread_state;
    double still_queued_s, still_bytes; /* when something in the job moved last */
    char phase[96];
    struct beat_buffer buffer;
};

struct warden {
    struct watch_state *state;
    int listener;
    struct admission admission;
    struct guest *guests;  /* by rank; rank 0 has no connection */
    struct pollfd *polled; /* wake pipe, guests, those of the admission */
    int *culprits;
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
    bool has_said_over;
    bool has_all; /* every rank has tried to connect */
};

/* The silence of that rank that counts as frozen. */
double guests_silence_s(const struct warden *warden, int rank);

void guests_send_all(const struct warden *warden, enum beat_type type, int value);

#endif
