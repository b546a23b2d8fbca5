/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/watch/warden.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "validate/battery/watch/guests.h"
#include "validate/battery/watch/inquest.h"

/* How often it looks whom it does not hear. */
static const double POLL_S = 0.1;

void guests_send_all(const struct warden *warden, enum beat_type type, int value)
{
    struct beat beat = {.type = type, .progress = (uint32_t)value};

    for (int rank = 1; rank < warden->state->config.size; rank++)
        if (warden->guests[rank].fd >= 0)
            beat_send(warden->guests[rank].fd, &beat);
}

double guests_silence_s(const struct warden *warden, int rank)
{
    return stall_silence_s(watch_interval_s(warden->state->config.size),
                           fmax(warden->guests[rank].gap_s, warden->gap_s));
}

/* So few bytes are keepalives of a library's, no progress. */
static const double MOVED_BYTES = 4096;

static void hear_tick(struct warden *warden, struct guest *guest, const struct beat *beat)
{
    if (beat->progress != guest->progress ||
        beat->moved_bytes >= guest->still_bytes + MOVED_BYTES) {
        warden->moved_s = warden->now_s;
        warden->has_moved = true;
    }
    guest->progress = beat->progress;
    guest->waits_for = beat->waits_for;
    guest->queued_s = beat->queued_s;
    guest->moved_bytes = beat->moved_bytes;
    guest->thread_state = beat->state;
    snprintf(guest->phase, sizeof guest->phase, "%.95s", beat->text);
}

static void hear(struct warden *warden, int rank, const struct beat *beat)
{
    struct guest *guest = &warden->guests[rank];

    guest->gap_s = stall_gap_s(guest->gap_s, warden->now_s - guest->heard_s);
    guest->heard_s = warden->now_s;
    guest->has_spoken = true;
    switch (beat->type) {
    case BEAT_TICK:
        hear_tick(warden, guest, beat);
        break;
    case BEAT_FAULT:
        inquest_fault(warden, rank, beat->text);
        break;
    case BEAT_SIGNAL:
        guest->state = GUEST_SIGNALLED;
        if (warden->signalled_s == 0) {
            warden->signalled_s = warden->now_s;
            warden->signal_number = (int)beat->progress;
        }
        break;
    case BEAT_BYE:
        guest->state = GUEST_DONE;
        break;
    default:
        break;
    }
}

static void hear_self(struct warden *warden)
{
    struct watch_state *state = warden->state;
    struct beat beat;

    if (atomic_load(&state->signal) && warden->signalled_s == 0) {
        warden->signalled_s = warden->now_s;
        warden->signal_number = atomic_load(&state->signal);
    }
    watch_beat(state, BEAT_TICK, &beat);
    hear(warden, 0, &beat);
    if (atomic_load(&state->has_fault)) {
        watch_beat(state, BEAT_FAULT, &beat);
        hear(warden, 0, &beat);
    }
}

/* A rank that calls again before it has said anything, at another of rank 0's addresses, has given
 * up its earlier connection. One that has spoken has one connection for good. */
static void take_in(struct warden *warden, int rank, int fd)
{
    struct guest *guest = &warden->guests[rank];

    if (rank == 0 || guest->state > GUEST_HERE || (guest->fd >= 0 && guest->has_spoken)) {
        close(fd);
        return;
    }
    if (guest->fd >= 0)
        close(guest->fd);
    *guest = (struct guest){.state = GUEST_HERE, .fd = fd, .heard_s = warden->now_s};
    snprintf(guest->phase, sizeof guest->phase, "start");
}

/* What a connection says must fit the rank that it belongs to. */
static bool is_sane(const struct warden *warden, int rank, const struct beat *beat)
{
    bool is_known = beat->type == BEAT_TICK || beat->type == BEAT_FAULT ||
                    beat->type == BEAT_SIGNAL || beat->type == BEAT_BYE;

    return is_known && beat->rank == rank && beat->waits_for >= STALL_WORKING &&
           beat->waits_for < warden->state->config.size &&
           (isnan(beat->queued_s) || beat->queued_s >= 0) && beat->moved_bytes >= 0;
}

static void read_guest(struct warden *warden, int rank)
{
    struct guest *guest = &warden->guests[rank];
    int got;

    while ((got = beat_receive(guest->fd, &guest->buffer)) == 1)
        if (is_sane(warden, rank, &guest->buffer.beat))
            hear(warden, rank, &guest->buffer.beat);
    if (got < 0) {
        close(guest->fd);
        guest->fd = -1;
        if (!warden->has_all && !guest->has_spoken)
            guest->state = GUEST_AWAITED; /* the answer came too late for it: it will call again */
    }
}

/* The time that this process itself stood still is nobody's. */
static void note_late(struct warden *warden, double pause_s)
{
    struct cpu_time time = {.queued_s = 0};
    double queued_s = warden->queued_s;

    if (pause_s > POLL_S + STALL_LATE_S || warden->now_s - warden->ticked_s > 0.5) {
        cpu_time_read("", gettid(), warden->now_s, &warden->cpu_memory, &time);
        warden->queued_s = time.queued_s;
    }
    if (pause_s <= POLL_S + STALL_LATE_S)
        return;
    for (int rank = 0; rank < warden->state->config.size; rank++) {
        struct guest *guest = &warden->guests[rank];

        guest->heard_s = fmin(guest->heard_s + pause_s, warden->now_s);
    }
    warden->moved_s = fmin(warden->moved_s + pause_s, warden->now_s);
    warden->gap_s = stall_gap_s(warden->gap_s, pause_s);
    warden->late_s = pause_s;
    warden->late_at_s = warden->now_s;
    warden->was_queued = time.queued_s - queued_s > pause_s / 2;
}

/* Something has moved: from here on it is counted anew what each rank had. */
static void note_moved(struct warden *warden)
{
    if (!warden->has_moved)
        return;
    warden->has_moved = false;
    for (int rank = 0; rank < warden->state->config.size; rank++) {
        warden->guests[rank].still_queued_s = warden->guests[rank].queued_s;
        warden->guests[rank].still_bytes = warden->guests[rank].moved_bytes;
    }
}

static void wait_and_read(struct warden *warden)
{
    int size = warden->state->config.size;
    struct pollfd *guests = warden->polled + 1;
    double before = warden->now_s;
    char bytes[64];
    int rank, fd;

    warden->polled[0] = (struct pollfd){.fd = warden->state->wake[0], .events = POLLIN};
    for (rank = 0; rank < size; rank++)
        guests[rank] = (struct pollfd){.fd = warden->guests[rank].fd, .events = POLLIN};
    admission_polled(&warden->admission, guests + size);
    poll(warden->polled, (nfds_t)(1 + size + ADMISSION_POLLED), (int)(1e3 * POLL_S));
    warden->now_s = clock_s();
    note_late(warden, warden->now_s - before);
    if (warden->polled[0].revents)
        (void)!read(warden->state->wake[0], bytes, sizeof bytes);
    for (rank = 1; rank < size; rank++)
        if (guests[rank].revents && warden->guests[rank].fd >= 0)
            read_guest(warden, rank);
    while ((fd = admission_next(&warden->admission, warden->now_s, &rank)) >= 0)
        take_in(warden, rank, fd);
}

/* True when rank 0 is done and so is everybody. */
static bool is_over(struct warden *warden)
{
    int missing = 0;

    if (!atomic_load(&warden->state->is_done))
        return false;
    for (int rank = 1; rank < warden->state->config.size; rank++)
        missing += warden->guests[rank].state == GUEST_HERE;
    return missing == 0; /* the rest is in MPI_Finalize, where it can stall as anywhere else */
}

static bool warden_open(struct warden *warden)
{
    int size = warden->state->config.size;
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    warden->guests = calloc((size_t)size, sizeof *warden->guests);
    warden->polled = calloc((size_t)(1 + size + ADMISSION_POLLED), sizeof *warden->polled);
    warden->culprits = calloc((size_t)size, sizeof *warden->culprits);
    if (!warden->guests || !warden->polled || !warden->culprits)
        return false;
    warden->now_s = warden->moved_s = clock_s();
    for (int rank = 0; rank < size; rank++)
        warden->guests[rank].fd = -1;
    warden->guests[0].state = GUEST_HERE;
    return true;
}

static void warden_close(struct warden *warden)
{
    for (int rank = 0; rank < warden->state->config.size; rank++)
        if (warden->guests[rank].fd >= 0)
            close(warden->guests[rank].fd);
    admission_close(&warden->admission);
    close(warden->listener);
    free(warden->guests);
    free(warden->polled);
    free(warden->culprits);
}

void warden_run(struct watch_state *state, int listener, const unsigned char *key)
{
    struct warden *warden = calloc(1, sizeof *warden);

    if (!warden)
        return;
    *warden = (struct warden){.state = state, .listener = listener};
    admission_open(&warden->admission, listener, key, state->config.size);
    if (warden_open(warden)) {
        while (!is_over(warden)) {
            wait_and_read(warden);
            hear_self(warden);
            note_moved(warden);
            inquest_unwatched(warden);
            inquest_dead(warden);
            inquest_signal(warden);
            inquest_frozen(warden);
            inquest_stall(warden);
            if (atomic_load(&state->says_over) && !warden->has_said_over) {
                guests_send_all(warden, BEAT_OVER, 0);
                warden->has_said_over = true;
            }
            if (warden->now_s - warden->ticked_s > 0.5) {
                guests_send_all(warden, BEAT_TICK, 0);
                warden->ticked_s = warden->now_s;
            }
        }
        atomic_store(&state->has_immovable, warden->has_immovable);
        warden_close(warden);
    }
    free(warden);
}
