/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/watch/warden.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "validate/battery/output.h"
#include "validate/battery/watch/stall.h"

enum guest_state { GUEST_AWAITED, GUEST_HERE, GUEST_UNWATCHED, GUEST_SIGNALLED, GUEST_DONE };

struct guest {
    enum guest_state state;
    int fd; /* -1: none */
    double heard_s;
    struct stall_rank progress;
    char phase[96];
    struct beat_buffer buffer;
};

enum { STRANGERS = 64 }; /* connections that have not said hello yet */

struct warden {
    struct watch_state *state;
    int listener;
    uint64_t token;
    struct guest *guests;  /* by rank; rank 0 has no connection */
    struct pollfd *polled; /* listener, wake pipe, guests, strangers */
    struct guest strangers[STRANGERS];
    int *culprits;
    double now_s;
    double moved_s; /* when some rank made progress last */
    double signalled_s, ticked_s;
    double stood_still_s; /* this process itself, 0 mostly */
    int signal_number;
};

static const char *node_of(const struct warden *warden, int rank)
{
    return warden->state->config.nodes[rank];
}

/* A record of the warden's. rank -1: of no rank. */
static void say(const struct warden *warden, enum verdict verdict, const char *metric, int rank,
                const char *format, ...) __attribute__((format(printf, 5, 6)));

static void say(const struct warden *warden, enum verdict verdict, const char *metric, int rank,
                const char *format, ...)
{
    struct record record = RECORD_INIT;
    char part[32], message[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    record.test = "workers.enumerate";
    record.metric = metric;
    record.verdict = verdict;
    record.message = message;
    if (rank >= 0) {
        snprintf(part, sizeof part, "rank %d", rank);
        record.node = node_of(warden, rank);
        record.part = part;
    }
    output_record(&record);
}

static void send_all(const struct warden *warden, enum beat_type type, int status)
{
    struct beat beat = {.type = type, .progress = (uint32_t)status, .token = warden->token};

    for (int rank = 1; rank < warden->state->config.size; rank++)
        if (warden->guests[rank].fd >= 0)
            beat_send(warden->guests[rank].fd, &beat);
}

/* Ends the job: the records of the finding are out. is_sure: all ranks will obey, so that the
 * launcher need not be asked to kill them. */
static void end_job(struct warden *warden, bool is_sure)
{
    int status = output_status();
    double until = watch_now() + 1;

    output_finish();
    send_all(warden, BEAT_QUIT, status);
    for (int rank = 1; rank < warden->state->config.size && is_sure; rank++) {
        struct guest *guest = &warden->guests[rank];

        while (guest->fd >= 0 && watch_now() < until) {
            struct pollfd wait = {.fd = guest->fd, .events = POLLIN};

            if (poll(&wait, 1, 50) == 1 && beat_receive(guest->fd, &guest->buffer) < 0)
                break;
        }
    }
    watch_leave(warden->state, !is_sure, status);
}

/* What was not measured because the job ended early. */
static void say_unfinished(const struct warden *warden, const char *why)
{
    say(warden, VERDICT_UNKNOWN, "complete", -1, "%s: what comes after %s was not measured", why,
        warden->guests[0].phase[0] ? warden->guests[0].phase : "the start");
}

/* The findings that end the job. Each takes the output over, speaks, and does not return. */

static void find_dead(struct warden *warden)
{
    int size = warden->state->config.size;
    int count = 0;

    for (int rank = 1; rank < size; rank++)
        if (warden->guests[rank].state == GUEST_HERE && warden->guests[rank].fd < 0)
            warden->culprits[count++] = rank;
    if (count == 0)
        return;
    output_take_over();
    if (warden->stood_still_s > 0.7 * watch_silence_s(size)) { /* so the others left */
        say(warden, VERDICT_FAIL, "frozen", 0, "rank 0 on %s itself stood still for %.1f s",
            node_of(warden, 0), warden->stood_still_s);
        count = 0;
    }
    for (int i = 0; i < count; i++) {
        int rank = warden->culprits[i];

        say(warden, VERDICT_FAIL, "died", rank, "rank %d on %s died in phase %s", rank,
            node_of(warden, rank), warden->guests[rank].phase);
    }
    say_unfinished(warden, count > 0 ? "a rank died" : "rank 0 was frozen");
    end_job(warden, true);
}

static void find_frozen(struct warden *warden)
{
    int size = warden->state->config.size, count = 0;
    double silence = watch_silence_s(size);

    for (int rank = 1; rank < size; rank++) {
        struct guest *guest = &warden->guests[rank];

        if (guest->state == GUEST_HERE && warden->now_s - guest->heard_s > silence)
            count++;
    }
    if (count == 0)
        return;
    output_take_over();
    for (int rank = 1; rank < size; rank++) {
        struct guest *guest = &warden->guests[rank];
        double silent = warden->now_s - guest->heard_s;

        /* Ranks of the same node fall silent together, but for one interval. */
        if (guest->state == GUEST_HERE && silent > 0.7 * silence)
            say(warden, VERDICT_FAIL, "frozen", rank,
                "rank %d on %s is silent for %.1f s in phase %s: frozen or cut off", rank,
                node_of(warden, rank), silent, guest->phase);
    }
    say_unfinished(warden, "a node is frozen or cut off");
    end_job(warden, false);
}

static void say_stalled(struct warden *warden, double still_s)
{
    int size = warden->state->config.size;
    struct stall_rank *ranks = calloc((size_t)size, sizeof *ranks);
    enum stall_kind kind = STALL_UNKNOWN;
    size_t count = 0;

    for (int rank = 0; rank < size && ranks; rank++) {
        ranks[rank] = warden->guests[rank].progress;
        if (warden->guests[rank].state != GUEST_HERE) /* it cannot be the one */
            ranks[rank] = (struct stall_rank){UINT32_MAX, STALL_WAIT_ALL};
    }
    if (ranks)
        kind = stall_find(ranks, (size_t)size, warden->culprits, &count);
    for (size_t i = 0; i < count && kind == STALL_HUNG; i++) {
        int rank = warden->culprits[i];

        say(warden, VERDICT_FAIL, "hang", rank,
            "rank %d on %s hangs in phase %s: no progress for %.0f s, the others wait for it", rank,
            node_of(warden, rank), warden->guests[rank].phase, still_s);
    }
    for (size_t i = 0; i + 1 < count && kind == STALL_PAIR; i += 2) {
        int rank = warden->culprits[i], other = warden->culprits[i + 1];

        say(warden, VERDICT_FAIL, "hang", rank,
            "rank %d on %s and rank %d on %s wait for each other for %.0f s in phase %s", rank,
            node_of(warden, rank), other, node_of(warden, other), still_s,
            warden->guests[rank].phase);
    }
    free(ranks);
    if (kind == STALL_UNKNOWN)
        say(warden, VERDICT_UNKNOWN, "hang", -1,
            "the job hangs in phase %s: no progress for %.0f s, no rank is behind the others",
            warden->guests[0].phase, still_s);
}

static void find_stall(struct warden *warden)
{
    double limit = warden->state->config.time_limit_s;
    double elapsed = warden->now_s - warden->state->started_s;
    double still = warden->now_s - warden->moved_s;
    double allowed = limit / 2 < 10 ? limit / 2 : 10;
    char why[80];

    /* While a rank is silent it may be frozen: that is the better answer, soon to come. */
    for (int rank = 1; rank < warden->state->config.size; rank++)
        if (warden->guests[rank].state == GUEST_HERE &&
            warden->now_s - warden->guests[rank].heard_s >
                watch_silence_s(warden->state->config.size) / 3)
            return;
    if (allowed < 2)
        allowed = 2;
    if (still > allowed || (elapsed > limit && still > 2)) {
        output_take_over();
        say_stalled(warden, still);
        say_unfinished(warden, "the job hangs");
        end_job(warden, true);
    }
    /* The main threads stop by themselves between two rounds; this is for when they do not. */
    if (elapsed > limit + 2) {
        output_take_over();
        snprintf(why, sizeof why, "the time limit of %g s is over", limit);
        say_unfinished(warden, why);
        end_job(warden, true);
    }
}

static void find_fault(struct warden *warden, int rank, const char *text)
{
    output_take_over();
    say(warden, VERDICT_FAIL, "fault", rank, "rank %d on %s in phase %s: %s", rank,
        node_of(warden, rank), warden->guests[rank].phase, text);
    say_unfinished(warden, "a rank cannot go on");
    end_job(warden, true);
}

/* Launchers end the whole job when one rank has died: the signal may be here before the death is
 * seen. So there is a moment for the death. */
static void find_signal(struct warden *warden)
{
    char why[64];

    if (warden->signalled_s == 0 || warden->now_s - warden->signalled_s < 0.3)
        return;
    output_take_over();
    snprintf(why, sizeof why, "stopped by %s",
             warden->signal_number == SIGINT    ? "SIGINT"
             : warden->signal_number == SIGTERM ? "SIGTERM"
                                                : "a signal");
    say_unfinished(warden, why);
    end_job(warden, true);
}

static void hear(struct warden *warden, int rank, const struct beat *beat)
{
    struct guest *guest = &warden->guests[rank];

    guest->heard_s = warden->now_s;
    switch (beat->type) {
    case BEAT_TICK:
        if (beat->progress != guest->progress.progress)
            warden->moved_s = warden->now_s;
        guest->progress = (struct stall_rank){beat->progress, beat->waits_for};
        snprintf(guest->phase, sizeof guest->phase, "%.95s", beat->text);
        break;
    case BEAT_FAULT:
        find_fault(warden, rank, beat->text);
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

static void accept_strangers(struct warden *warden)
{
    int fd;

    while ((fd = accept4(warden->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        struct guest *oldest = &warden->strangers[0];

        for (int i = 0; i < STRANGERS; i++) {
            struct guest *place = &warden->strangers[i];

            if (place->fd < 0 || (oldest->fd >= 0 && place->heard_s < oldest->heard_s))
                oldest = place;
            if (place->fd < 0)
                break;
        }
        if (oldest->fd >= 0)
            close(oldest->fd);
        *oldest = (struct guest){.fd = fd, .heard_s = warden->now_s};
    }
}

/* A stranger becomes a guest by a hello with the right token. */
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
        warden->guests[hello->rank].state != GUEST_AWAITED ||
        beat_send(stranger->fd, &answer) != 0) {
        close(stranger->fd);
        stranger->fd = -1;
        return;
    }
    guest = &warden->guests[hello->rank];
    guest->state = GUEST_HERE;
    guest->fd = stranger->fd;
    guest->heard_s = warden->now_s;
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
    }
}

static void wait_and_read(struct warden *warden)
{
    int size = warden->state->config.size;
    struct pollfd *guests = warden->polled + 2, *strangers = guests + size;
    double before = warden->now_s;
    char bytes[64];

    warden->polled[0] = (struct pollfd){.fd = warden->listener, .events = POLLIN};
    warden->polled[1] = (struct pollfd){.fd = warden->state->wake[0], .events = POLLIN};
    for (int rank = 0; rank < size; rank++)
        guests[rank] = (struct pollfd){.fd = warden->guests[rank].fd, .events = POLLIN};
    for (int i = 0; i < STRANGERS; i++)
        strangers[i] = (struct pollfd){.fd = warden->strangers[i].fd, .events = POLLIN};
    poll(warden->polled, (nfds_t)(2 + size + STRANGERS), 100);
    warden->now_s = watch_now();
    if (warden->now_s - before > 1) { /* it was this process that stood still */
        for (int rank = 0; rank < size; rank++)
            warden->guests[rank].heard_s += warden->now_s - before;
        warden->moved_s += warden->now_s - before;
        warden->stood_still_s = warden->now_s - before;
    }
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

static void note_unwatched(struct warden *warden)
{
    if (!atomic_exchange(&warden->state->all_joined, false))
        return;
    for (int rank = 1; rank < warden->state->config.size; rank++) {
        struct guest *guest = &warden->guests[rank];

        if (guest->state != GUEST_AWAITED)
            continue;
        guest->state = GUEST_UNWATCHED;
        say(warden, VERDICT_WARN, "watch", rank,
            "rank %d on %s reaches rank 0 on %s by MPI but not by TCP: it is not watched", rank,
            node_of(warden, rank), node_of(warden, 0));
    }
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
    warden->now_s = warden->moved_s = watch_now();
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
            note_unwatched(warden);
            find_dead(warden);
            find_signal(warden);
            find_frozen(warden);
            find_stall(warden);
            if (warden->now_s - warden->ticked_s > 0.5) {
                send_all(warden, BEAT_TICK, 0);
                warden->ticked_s = warden->now_s;
            }
        }
        warden_close(warden);
    }
    free(warden);
}
