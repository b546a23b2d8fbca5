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

/* How long a connection may hold a place without a hello. */
static const double HELLO_S = 1;

/* How often it looks whom it does not hear. */
static const double POLL_S = 0.1;

void guests_send_all(const struct warden *warden, enum beat_type type, int value)
{
    struct beat beat = {.type = type, .progress = (uint32_t)value, .token = warden->token};

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

/* One that is free, else one that is held by somebody who has had the time to say hello; NULL:
 * none. */
static struct guest *find_place(struct warden *warden)
{
    struct guest *silent = NULL;

    for (int i = 0; i < STRANGERS; i++) {
        struct guest *place = &warden->strangers[i];

        if (place->fd < 0)
            return place;
        if (warden->now_s - place->heard_s > HELLO_S)
            silent = place;
    }
    return silent;
}

/* Who finds no place waits in the kernel's queue until those before it have said hello: all ranks
 * of a large job come at once. */
static void accept_strangers(struct warden *warden)
{
    struct guest *place;
    int fd;

    while ((place = find_place(warden)) &&
           (fd = accept4(warden->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        if (place->fd >= 0)
            close(place->fd);
        *place = (struct guest){.fd = fd, .heard_s = warden->now_s};
    }
}

/* A stranger becomes a guest by a hello with the right token. A rank that says it again, at another
 * of rank 0's addresses, has given up its earlier connection. */
static void read_stranger(struct warden *warden, struct guest *stranger)
{
    int got = beat_receive(stranger->fd, &stranger->buffer);
    const struct beat *hello = &stranger->buffer.beat;
    struct beat answer = {.type = BEAT_HELLO, .token = warden->token};
    struct guest *guest;

    if (got == 0)
        return;
    if (got < 0 || hello->type != BEAT_HELLO || hello->token != warden->token || hello->rank <= 0 ||
        hello->rank >= warden->state->config.size ||
        warden->guests[hello->rank].state > GUEST_HERE || beat_send(stranger->fd, &answer) != 0) {
        close(stranger->fd);
        stranger->fd = -1;
        return;
    }
    guest = &warden->guests[hello->rank];
    if (guest->fd >= 0)
        close(guest->fd);
    *guest = (struct guest){.state = GUEST_HERE, .fd = stranger->fd, .heard_s = warden->now_s};
    snprintf(guest->phase, sizeof guest->phase, "start");
    stranger->fd = -1;
}

static void read_guest(struct warden *warden, int rank)
{
    struct guest *guest = &warden->guests[rank];
    int got;

    while ((got = beat_receive(guest->fd, &guest->buffer)) == 1)
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
    struct pollfd *guests = warden->polled + 2, *strangers = guests + size;
    double before = warden->now_s;
    char bytes[64];

    warden->polled[0] =
        (struct pollfd){.fd = find_place(warden) ? warden->listener : -1, .events = POLLIN};
    warden->polled[1] = (struct pollfd){.fd = warden->state->wake[0], .events = POLLIN};
    for (int rank = 0; rank < size; rank++)
        guests[rank] = (struct pollfd){.fd = warden->guests[rank].fd, .events = POLLIN};
    for (int i = 0; i < STRANGERS; i++)
        strangers[i] = (struct pollfd){.fd = warden->strangers[i].fd, .events = POLLIN};
    poll(warden->polled, (nfds_t)(2 + size + STRANGERS), (int)(1e3 * POLL_S));
    warden->now_s = clock_s();
    note_late(warden, warden->now_s - before);
    if (warden->polled[1].revents)
        (void)!read(warden->state->wake[0], bytes, sizeof bytes);
    for (int rank = 1; rank < size; rank++)
        if (guests[rank].revents && warden->guests[rank].fd >= 0)
            read_guest(warden, rank);
    for (int i = 0; i < STRANGERS; i++)
        if (strangers[i].revents && warden->strangers[i].fd >= 0)
            read_stranger(warden, &warden->strangers[i]);
    if (warden->polled[0].revents)
        accept_strangers(warden);
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
    warden->polled = calloc((size_t)(2 + size + STRANGERS), sizeof *warden->polled);
    warden->culprits = calloc((size_t)size, sizeof *warden->culprits);
    if (!warden->guests || !warden->polled || !warden->culprits)
        return false;
    warden->now_s = warden->moved_s = clock_s();
    for (int rank = 0; rank < size; rank++)
        warden->guests[rank].fd = -1;
    for (int i = 0; i < STRANGERS; i++)
        warden->strangers[i].fd = -1;
    warden->guests[0].state = GUEST_HERE;
    return true;
}

static void warden_close(struct warden *warden)
{
    for (int rank = 0; rank < warden->state->config.size; rank++)
        if (warden->guests[rank].fd >= 0)
            close(warden->guests[rank].fd);
    for (int i = 0; i < STRANGERS; i++)
        if (warden->strangers[i].fd >= 0)
            close(warden->strangers[i].fd);
    close(warden->listener);
    free(warden->guests);
    free(warden->polled);
    free(warden->culprits);
}

void warden_run(struct watch_state *state, int listener, uint64_t token)
{
    struct warden *warden = calloc(1, sizeof *warden);

    if (!warden)
        return;
    *warden = (struct warden){.state = state, .listener = listener, .token = token};
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
