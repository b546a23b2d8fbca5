/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/watch/inquest.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "validate/battery/output.h"

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

/* Ends the job: the records of the finding are out. is_sure: all ranks will obey, so that the
 * launcher need not be asked to kill them. */
static void __attribute__((noreturn)) end_job(struct warden *warden, bool is_sure)
{
    int status = output_status();
    double until = clock_s() + 1;

    is_sure = is_sure && !warden->has_immovable;
    output_finish();
    guests_send_all(warden, BEAT_QUIT, status);
    for (int rank = 1; rank < warden->state->config.size && is_sure; rank++) {
        struct guest *guest = &warden->guests[rank];

        while (guest->fd >= 0 && clock_s() < until) {
            struct pollfd wait = {.fd = guest->fd, .events = POLLIN};

            if (poll(&wait, 1, 50) == 1 && beat_receive(guest->fd, &guest->buffer) < 0)
                break;
        }
    }
    watch_leave(warden->state, !is_sure, status);
}

/* Gives a rank up; the job goes on. It is told to leave, should it still hear that. is_immovable:
 * it will not. */
static void lose(struct warden *warden, int rank, bool is_immovable)
{
    struct beat quit = {.type = BEAT_QUIT, .progress = 3, .token = warden->token};
    struct guest *guest = &warden->guests[rank];

    if (guest->fd >= 0) {
        beat_send(guest->fd, &quit);
        close(guest->fd);
    }
    guest->fd = -1;
    guest->state = GUEST_LOST;
    warden->has_immovable |= is_immovable;
    atomic_store(&warden->state->lost[rank], true);
    guests_send_all(warden, BEAT_LOST, rank);
    warden->moved_s = warden->now_s;
}

static bool is_tolerated(const struct warden *warden)
{
    return atomic_load(&warden->state->tolerates);
}

/* What was not measured because the job ended early. */
static void say_unfinished(const struct warden *warden, const char *why)
{
    say(warden, VERDICT_UNKNOWN, "complete", -1, "%s: what comes after %s was not measured", why,
        warden->guests[0].phase[0] ? warden->guests[0].phase : "the start");
}

static void say_died(const struct warden *warden, int rank)
{
    say(warden, VERDICT_FAIL, "died", rank, "rank %d on %s died in phase %s", rank,
        node_of(warden, rank), warden->guests[rank].phase);
}

static bool has_stood_still(const struct warden *warden)
{
    return warden->stood_still_s > 0.7 * watch_silence_s(warden->state->config.size);
}

void inquest_dead(struct warden *warden)
{
    int size = warden->state->config.size;
    int count = 0;

    for (int rank = 1; rank < size; rank++)
        if (warden->guests[rank].state == GUEST_HERE && warden->guests[rank].fd < 0)
            warden->culprits[count++] = rank;
    if (count == 0)
        return;
    if (is_tolerated(warden) && !has_stood_still(warden)) {
        for (int i = 0; i < count; i++) {
            say_died(warden, warden->culprits[i]);
            lose(warden, warden->culprits[i], false);
        }
        return;
    }
    output_take_over();
    if (has_stood_still(warden)) { /* so the others left */
        say(warden, VERDICT_FAIL, "frozen", 0, "rank 0 on %s itself stood still for %.1f s",
            node_of(warden, 0), warden->stood_still_s);
        count = 0;
    }
    for (int i = 0; i < count; i++)
        say_died(warden, warden->culprits[i]);
    say_unfinished(warden, count > 0 ? "a rank died" : "rank 0 was frozen");
    end_job(warden, true);
}

void inquest_frozen(struct warden *warden)
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
    if (!is_tolerated(warden))
        output_take_over();
    for (int rank = 1; rank < size; rank++) {
        struct guest *guest = &warden->guests[rank];
        double silent = warden->now_s - guest->heard_s;

        /* Ranks of the same node fall silent together, but for one interval. */
        if (guest->state != GUEST_HERE || silent <= 0.7 * silence)
            continue;
        say(warden, VERDICT_FAIL, "frozen", rank,
            "rank %d on %s is silent for %.1f s in phase %s: frozen or cut off", rank,
            node_of(warden, rank), silent, guest->phase);
        if (is_tolerated(warden))
            lose(warden, rank, true);
    }
    if (is_tolerated(warden))
        return;
    say_unfinished(warden, "a node is frozen or cut off");
    end_job(warden, false);
}

/* Returns whether the culprits are known, and the job can go on without them. */
static bool say_stalled(struct warden *warden, double still_s)
{
    int size = warden->state->config.size;
    struct stall_rank *ranks = calloc((size_t)size, sizeof *ranks);
    enum stall_kind kind = STALL_UNKNOWN;
    bool is_over = false;
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
        if (is_tolerated(warden) && rank > 0)
            lose(warden, rank, false);
        else
            is_over = true;
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
    return kind == STALL_HUNG && !is_over;
}

void inquest_stall(struct warden *warden)
{
    double limit = warden->state->config.time_limit_s;
    double elapsed = warden->now_s - warden->state->started_s;
    double still = warden->now_s - warden->moved_s;
    double patience = warden->state->config.patience_s;
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
    if (patience > 0)
        allowed = patience;
    if (still > allowed || (elapsed > limit && still > 2)) {
        if (!is_tolerated(warden))
            output_take_over();
        if (say_stalled(warden, still))
            return;
        output_take_over();
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

void inquest_fault(struct warden *warden, int rank, const char *text)
{
    output_take_over();
    say(warden, VERDICT_FAIL, "fault", rank, "rank %d on %s in phase %s: %s", rank,
        node_of(warden, rank), warden->guests[rank].phase, text);
    say_unfinished(warden, "a rank cannot go on");
    end_job(warden, true);
}

/* Launchers end the whole job when one rank has died: the signal may be here before the death is
 * seen. So there is a moment for the death. */
void inquest_signal(struct warden *warden)
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

void inquest_unwatched(struct warden *warden)
{
    if (!atomic_exchange(&warden->state->all_joined, false))
        return;
    warden->has_all = true;
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
