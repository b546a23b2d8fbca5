/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/harness/watch/monitor.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/thread_id.h"
#include "lib/constants/harness_constants.h"
#include "validate/harness/watch/hang_diagnosis.h"
#include "validate/harness/watch/members.h"

void members_send_all(const struct monitor *monitor, enum heartbeat_type type, int value)
{
    struct heartbeat heartbeat = {.type = type, .progress = (uint32_t)value};

    for (int rank = 1; rank < monitor->state->config.size; rank++)
        if (monitor->members[rank].fd >= 0)
            heartbeat_send(monitor->members[rank].fd, &heartbeat);
}

double members_silence_s(const struct monitor *monitor, int rank)
{
    return stall_silence_s(watch_interval_s(monitor->state->config.size),
                           fmax(monitor->members[rank].gap_s, monitor->gap_s));
}

static void handle_tick(struct monitor *monitor, struct member *member,
                        const struct heartbeat *heartbeat)
{
    if (heartbeat->progress != member->progress ||
        heartbeat->moved_bytes >= member->base_bytes + MONITOR_MOVED_BYTES) {
        monitor->moved_s = monitor->now_s;
        monitor->has_moved = true;
    }
    member->progress = heartbeat->progress;
    member->waits_for = heartbeat->waits_for;
    member->queued_s = heartbeat->queued_s;
    member->moved_bytes = heartbeat->moved_bytes;
    member->thread_state = heartbeat->state;
    snprintf(member->phase, sizeof member->phase, "%.95s", heartbeat->text);
}

static void handle(struct monitor *monitor, int rank, const struct heartbeat *heartbeat)
{
    struct member *member = &monitor->members[rank];

    member->gap_s = stall_gap_s(member->gap_s, monitor->now_s - member->received_s);
    member->received_s = monitor->now_s;
    member->has_sent = true;
    switch (heartbeat->type) {
    case HEARTBEAT_TICK:
        handle_tick(monitor, member, heartbeat);
        break;
    case HEARTBEAT_FAULT:
        diagnosis_fault(monitor, rank, heartbeat->text);
        break;
    case HEARTBEAT_SIGNAL:
        member->state = MEMBER_SIGNALLED;
        if (monitor->signalled_s == 0) {
            monitor->signalled_s = monitor->now_s;
            monitor->signal_number = (int)heartbeat->progress;
        }
        break;
    case HEARTBEAT_BYE:
        member->state = MEMBER_DONE;
        break;
    default:
        break;
    }
}

static void handle_self(struct monitor *monitor)
{
    struct watch_state *state = monitor->state;
    struct heartbeat heartbeat;

    if (atomic_load(&state->signal) && monitor->signalled_s == 0) {
        monitor->signalled_s = monitor->now_s;
        monitor->signal_number = atomic_load(&state->signal);
    }
    watch_heartbeat(state, HEARTBEAT_TICK, &heartbeat);
    handle(monitor, 0, &heartbeat);
    if (atomic_load(&state->has_fault)) {
        watch_heartbeat(state, HEARTBEAT_FAULT, &heartbeat);
        handle(monitor, 0, &heartbeat);
    }
}

/* A rank that connects again before its first heartbeat, at another of rank 0's addresses, has
 * given up its earlier connection. After the first heartbeat a rank has one connection for good. */
static void admit_member(struct monitor *monitor, int rank, int fd)
{
    struct member *member = &monitor->members[rank];

    if (rank == 0 || member->state > MEMBER_CONNECTED || (member->fd >= 0 && member->has_sent)) {
        close(fd);
        return;
    }
    if (member->fd >= 0)
        close(member->fd);
    *member = (struct member){.state = MEMBER_CONNECTED, .fd = fd, .received_s = monitor->now_s};
    snprintf(member->phase, sizeof member->phase, "start");
}

/* Whether the heartbeat has sane values and is of the rank that the connection belongs to. */
static bool is_valid(const struct monitor *monitor, int rank, const struct heartbeat *heartbeat)
{
    bool is_known = heartbeat->type == HEARTBEAT_TICK || heartbeat->type == HEARTBEAT_FAULT ||
                    heartbeat->type == HEARTBEAT_SIGNAL || heartbeat->type == HEARTBEAT_BYE;

    return is_known && heartbeat->rank == rank && heartbeat->waits_for >= STALL_WORKING &&
           heartbeat->waits_for < monitor->state->config.size &&
           (isnan(heartbeat->queued_s) || heartbeat->queued_s >= 0) && heartbeat->moved_bytes >= 0;
}

static void read_member(struct monitor *monitor, int rank)
{
    struct member *member = &monitor->members[rank];
    int got;

    while ((got = heartbeat_receive(member->fd, &member->buffer)) == 1)
        if (is_valid(monitor, rank, &member->buffer.heartbeat))
            handle(monitor, rank, &member->buffer.heartbeat);
    if (got < 0) {
        close(member->fd);
        member->fd = -1;
        if (!monitor->all_tried && !member->has_sent)
            member->state =
                MEMBER_AWAITED; /* the answer came too late: the rank will connect again */
    }
}

/* Excludes a pause of this process from the silence of all ranks. */
static void exclude_pause(struct monitor *monitor, double pause_s)
{
    struct cpu_time time = {.queued_s = 0};
    double queued_s = monitor->queued_s;

    if (pause_s > MONITOR_POLL_S + STALL_LATE_S || monitor->now_s - monitor->ticked_s > 0.5) {
        cpu_time_read("", thread_id(), monitor->now_s, &monitor->cpu_memory, &time);
        monitor->queued_s = time.queued_s;
    }
    if (pause_s <= MONITOR_POLL_S + STALL_LATE_S)
        return;
    for (int rank = 0; rank < monitor->state->config.size; rank++) {
        struct member *member = &monitor->members[rank];

        member->received_s = fmin(member->received_s + pause_s, monitor->now_s);
    }
    monitor->moved_s = fmin(monitor->moved_s + pause_s, monitor->now_s);
    monitor->gap_s = stall_gap_s(monitor->gap_s, pause_s);
    monitor->pause_s = pause_s;
    monitor->paused_at_s = monitor->now_s;
    monitor->was_queued = time.queued_s - queued_s > pause_s / 2;
}

/* If something has moved, restarts the count of each rank's queue time and bytes. */
static void reset_base(struct monitor *monitor)
{
    if (!monitor->has_moved)
        return;
    monitor->has_moved = false;
    for (int rank = 0; rank < monitor->state->config.size; rank++) {
        monitor->members[rank].base_queued_s = monitor->members[rank].queued_s;
        monitor->members[rank].base_bytes = monitor->members[rank].moved_bytes;
    }
}

static void wait_and_read(struct monitor *monitor)
{
    int size = monitor->state->config.size;
    struct pollfd *members = monitor->polled + 1;
    double before = monitor->now_s;
    char bytes[64];
    int rank, fd;

    monitor->polled[0] = (struct pollfd){.fd = monitor->state->wake[0], .events = POLLIN};
    for (rank = 0; rank < size; rank++)
        members[rank] = (struct pollfd){.fd = monitor->members[rank].fd, .events = POLLIN};
    admission_polled(&monitor->admission, members + size);
    poll(monitor->polled, (nfds_t)(1 + size + ADMISSION_POLLED), (int)(1e3 * MONITOR_POLL_S));
    monitor->now_s = clock_s();
    exclude_pause(monitor, monitor->now_s - before);
    if (monitor->polled[0].revents)
        (void)!read(monitor->state->wake[0], bytes, sizeof bytes);
    for (rank = 1; rank < size; rank++)
        if (members[rank].revents && monitor->members[rank].fd >= 0)
            read_member(monitor, rank);
    while ((fd = admission_next(&monitor->admission, monitor->now_s, &rank)) >= 0)
        admit_member(monitor, rank, fd);
}

/* Whether rank 0 and all other ranks are done. */
static bool is_over(struct monitor *monitor)
{
    int missing = 0;

    if (!atomic_load(&monitor->state->is_done))
        return false;
    for (int rank = 1; rank < monitor->state->config.size; rank++)
        missing += monitor->members[rank].state == MEMBER_CONNECTED;
    return missing == 0; /* a connected rank is in MPI_Finalize, where it can stall too */
}

static bool monitor_open(struct monitor *monitor)
{
    int size = monitor->state->config.size;
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    monitor->members = calloc((size_t)size, sizeof *monitor->members);
    monitor->polled = calloc((size_t)(1 + size + ADMISSION_POLLED), sizeof *monitor->polled);
    monitor->faulty_ranks = calloc((size_t)size, sizeof *monitor->faulty_ranks);
    if (!monitor->members || !monitor->polled || !monitor->faulty_ranks)
        return false;
    monitor->now_s = monitor->moved_s = clock_s();
    for (int rank = 0; rank < size; rank++)
        monitor->members[rank].fd = -1;
    monitor->members[0].state = MEMBER_CONNECTED;
    return true;
}

static void monitor_close(struct monitor *monitor)
{
    for (int rank = 0; rank < monitor->state->config.size; rank++)
        if (monitor->members[rank].fd >= 0)
            close(monitor->members[rank].fd);
    admission_close(&monitor->admission);
    close(monitor->listener);
    free(monitor->members);
    free(monitor->polled);
    free(monitor->faulty_ranks);
}

void monitor_run(struct watch_state *state, int listener, const unsigned char *key)
{
    struct monitor *monitor = calloc(1, sizeof *monitor);

    if (!monitor)
        return;
    *monitor = (struct monitor){.state = state, .listener = listener};
    admission_open(&monitor->admission, listener, key, state->config.size);
    if (monitor_open(monitor)) {
        while (!is_over(monitor)) {
            wait_and_read(monitor);
            handle_self(monitor);
            reset_base(monitor);
            diagnosis_unwatched(monitor);
            diagnosis_dead(monitor);
            diagnosis_signal(monitor);
            diagnosis_frozen(monitor);
            diagnosis_stall(monitor);
            if (atomic_load(&state->sends_finished) && !monitor->has_sent_finished) {
                members_send_all(monitor, HEARTBEAT_FINISHED, 0);
                monitor->has_sent_finished = true;
            }
            if (monitor->now_s - monitor->ticked_s > 0.5) {
                members_send_all(monitor, HEARTBEAT_TICK, 0);
                monitor->ticked_s = monitor->now_s;
            }
        }
        atomic_store(&state->has_unresponsive, monitor->has_unresponsive);
        monitor_close(monitor);
    }
    free(monitor);
}
