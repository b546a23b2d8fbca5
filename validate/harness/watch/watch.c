/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/harness/watch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/base/thread_id.h"
#include "validate/harness/watch/monitor.h"
#include "validate/harness/watch/sockets.h"
#include "validate/harness/watch/stall.h"
#include "validate/harness/watch/watchdog.h"

static struct watch_state watch = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = {-1, -1}};
static pthread_cond_t finished_cond = PTHREAD_COND_INITIALIZER; /* with watch.lock: is_finished */
static pthread_t thread;
static bool has_thread;
static int connection = -1; /* of a member to rank 0 */
static int monitor_listener;
static unsigned char monitor_key[SHA256_BYTES];

/* The interval grows with the number of ranks, so that heartbeats do not overload rank 0. */
double watch_interval_s(int size)
{
    double interval = 50e-6 * size;

    return interval > 0.2 ? interval : 0.2;
}

/* Rank 0's sockets are not read: they receive heartbeats all the time, and its traffic with another
 * rank is counted there. */
static void read_moved_bytes(struct watch_state *state, uint32_t progress, double now)
{
    double bytes;

    if (progress != state->seen_progress) {
        state->seen_progress = progress;
        state->seen_s = now;
        state->has_socket_bytes = false;
    } else if (now - state->seen_s > 1 && state->config.rank > 0) {
        bytes = sockets_moved_bytes(connection);
        if (state->has_socket_bytes && bytes > state->socket_bytes)
            state->moved_bytes += bytes - state->socket_bytes;
        state->socket_bytes = bytes;
        state->has_socket_bytes = true;
    }
}

static void add_evidence(struct watch_state *state, struct heartbeat *heartbeat)
{
    double now = clock_s();

    if (now - state->evidence_s > 0.1) {
        state->evidence_s = now;
        if (cpu_time_read("", state->main_thread, now, &state->cpu_memory, &state->cpu) != 0)
            state->cpu.queued_s = NAN;
        read_moved_bytes(state, heartbeat->progress, now);
    }
    heartbeat->queued_s = state->cpu.queued_s;
    heartbeat->state = state->cpu.state;
    heartbeat->moved_bytes = state->moved_bytes;
}

void watch_heartbeat(struct watch_state *state, enum heartbeat_type type,
                     struct heartbeat *heartbeat)
{
    memset(heartbeat, 0, sizeof *heartbeat);
    heartbeat->type = type;
    heartbeat->rank = state->config.rank;
    heartbeat->progress = atomic_load(&state->progress);
    heartbeat->waits_for = atomic_load(&state->waits_for);
    if (type == HEARTBEAT_TICK)
        add_evidence(state, heartbeat);
    pthread_mutex_lock(&state->lock);
    snprintf(heartbeat->text, sizeof heartbeat->text, "%s",
             type == HEARTBEAT_FAULT ? state->fault : state->phase);
    pthread_mutex_unlock(&state->lock);
    if (type == HEARTBEAT_SIGNAL)
        heartbeat->progress = (uint32_t)atomic_load(&state->signal);
}

void watch_leave(struct watch_state *state, bool abort_job, int status)
{
    if (abort_job && state->config.abort_job) {
        /* All records are out; messages of the MPI library would only confuse. */
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

        if (null >= 0)
            dup2(null, STDERR_FILENO);
    }
    watchdog_leave(abort_job ? state->config.abort_job : NULL, status);
}

static void wake_thread(void)
{
    (void)!write(watch.wake[1], "", 1);
}

static void on_signal(int number)
{
    int saved_errno = errno;

    atomic_store(&watch.signal, number);
    wake_thread();
    errno = saved_errno;
}

/* Whether this rank prints for its node: the first rank of the node, or rank 1 on rank 0's node. */
static bool prints_for_node(const struct watch_config *config)
{
    int first = 0;

    while (strcmp(config->nodes[first], config->nodes[config->rank]) != 0)
        first++;
    return first == config->rank || (first == 0 && config->rank == 1);
}

/* Whether this rank has its launcher end the job: the first rank on another node than rank 0's, or
 * rank 1 if there is no other node. */
static bool aborts_job(const struct watch_config *config)
{
    int first = 1;

    while (first < config->size && strcmp(config->nodes[first], config->nodes[0]) == 0)
        first++;
    return config->rank == (first < config->size ? first : 1);
}

/* has_mpi: whether there may still be a job to abort. */
static void leave_without_rank_0(const char *how, bool has_mpi)
{
    const struct watch_config *config = &watch.config;

    if (prints_for_node(config))
        fprintf(stderr, "%s: rank %d on %s: rank 0 on %s %s; exiting\n", config->program,
                config->rank, config->nodes[config->rank], config->nodes[0], how);
    watch_leave(&watch, has_mpi && aborts_job(config), 3);
}

/* Handles a message from rank 0. */
static void handle(const struct heartbeat *heartbeat)
{
    if (heartbeat->type == HEARTBEAT_QUIT)
        watch_leave(&watch, false, (int)heartbeat->progress);
    if (heartbeat->type == HEARTBEAT_FINISHED) {
        pthread_mutex_lock(&watch.lock);
        atomic_store(&watch.is_finished, true);
        pthread_cond_signal(&finished_cond);
        pthread_mutex_unlock(&watch.lock);
    }
    if (heartbeat->type == HEARTBEAT_LOST && heartbeat->progress < (uint32_t)watch.config.size)
        atomic_store(&watch.lost[heartbeat->progress], true);
}

static void *member_run(void *argument)
{
    struct heartbeat_buffer buffer = {.length = 0};
    double interval_s = watch_interval_s(watch.config.size);
    double received = clock_s(), last = received, sent = 0, signalled = 0, gap_s = 0;
    bool fault_sent = false, bye_sent = false;
    struct heartbeat heartbeat;

    (void)argument;
    for (;;) {
        struct pollfd polled[2] = {{.fd = connection, .events = POLLIN},
                                   {.fd = watch.wake[0], .events = POLLIN}};
        char bytes[16];
        double now;
        int got = 0;

        /* send the first heartbeat at once: it confirms rank 0's answer */
        poll(polled, 2, sent > 0 || bye_sent ? (int)(1e3 * interval_s) : 0);
        if (polled[1].revents && read(watch.wake[0], bytes, sizeof bytes) > 0)
            sent = 0; /* something new to send */
        if (polled[0].revents)
            while ((got = heartbeat_receive(connection, &buffer)) == 1) {
                now = clock_s();
                gap_s = stall_gap_s(gap_s, now - received);
                received = now;
                handle(&buffer.heartbeat);
            }
        now = clock_s();
        if (now - last > interval_s + STALL_LATE_S) { /* this process was paused, not rank 0 */
            received = fmin(received + now - last, now);
            gap_s = stall_gap_s(gap_s, now - last);
        }
        last = now;
        if (bye_sent && got < 0)
            return NULL;
        if (got < 0 && signalled == 0)
            leave_without_rank_0("is gone", true);
        if (got < 0 || (signalled > 0 && now - signalled > 2))
            watch_leave(&watch, false, 3);
        if (now - received > stall_silence_s(interval_s, gap_s))
            leave_without_rank_0("stopped answering", !bye_sent);
        if (atomic_load(&watch.signal) && signalled == 0) {
            watch_heartbeat(&watch, HEARTBEAT_SIGNAL, &heartbeat);
            heartbeat_send(connection, &heartbeat);
            signalled = now;
        }
        if (atomic_load(&watch.has_fault) && !fault_sent) {
            watch_heartbeat(&watch, HEARTBEAT_TICK, &heartbeat); /* the phase before the fault */
            heartbeat_send(connection, &heartbeat);
            watch_heartbeat(&watch, HEARTBEAT_FAULT, &heartbeat);
            fault_sent = heartbeat_send(connection, &heartbeat) == 0;
        }
        /* Rank 0 closes the connection after the last HEARTBEAT_BYE. Until then no rank ends: if a
         * rank ends with a status, its launcher kills the other ranks and rank 0, and the ranks
         * that are not done yet would report that rank 0 died. */
        if (atomic_load(&watch.is_done) && !bye_sent) {
            watch_heartbeat(&watch, HEARTBEAT_BYE, &heartbeat);
            if (heartbeat_send(connection, &heartbeat) != 0)
                return NULL;
            bye_sent = true;
        }
        if (now - sent >= 0.9 * interval_s && !bye_sent) {
            watch_heartbeat(&watch, HEARTBEAT_TICK, &heartbeat);
            heartbeat_send(connection, &heartbeat);
            sent = now;
        }
    }
}

static void *monitor_thread(void *argument)
{
    (void)argument;
    monitor_run(&watch, monitor_listener, monitor_key);
    return NULL;
}

/* Signals reach the watching thread through a pipe, since the handler runs in any thread. SIGPIPE
 * is ignored: a rank must not die when MPI writes to a dead rank. */
static int start(const struct watch_config *config, void *run(void *), struct error *err)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct sigaction ignored = {.sa_handler = SIG_IGN};
    int error;

    watch.config = *config;
    watch.started_s = clock_s();
    watch.main_thread = thread_id();
    atomic_store(&watch.waits_for, STALL_WORKING);
    free(watch.lost);
    watch.lost = calloc((size_t)config->size, sizeof *watch.lost);
    if (!watch.lost)
        return error_set(err, "out of memory");
    if (pipe2(watch.wake, O_CLOEXEC | O_NONBLOCK) != 0)
        return error_set(err, "cannot create a pipe: %m");
    if (!run)
        return 0;
    error = pthread_create(&thread, NULL, run, NULL);
    if (error != 0)
        return error_set(err, "cannot start the monitor thread: %s", strerror(error));
    has_thread = true;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGPIPE, &ignored, NULL);
    return 0;
}

int watch_start_monitor(const struct watch_config *config, int listener,
                        const struct heartbeat_endpoint *endpoint, struct error *err)
{
    monitor_listener = listener;
    heartbeat_key(endpoint, monitor_key);
    return start(config, monitor_thread, err);
}

int watch_start_member(const struct watch_config *config, int socket, struct error *err)
{
    connection = socket;
    return start(config, socket < 0 ? NULL : member_run, err);
}

void watch_all_joined(void)
{
    atomic_store(&watch.all_joined, true);
}

void watch_phase(const char *format, ...)
{
    pthread_mutex_lock(&watch.lock);
    TEXT_FORMAT(watch.phase, sizeof watch.phase, format);
    pthread_mutex_unlock(&watch.lock);
    watch_step();
    wake_thread(); /* rank 0 must know the phase in case this rank dies in it */
}

void watch_has_results(void)
{
    atomic_store(&watch.has_results, true);
}

void watch_step(void)
{
    atomic_fetch_add(&watch.progress, 1);
}

void watch_waits_for(int rank)
{
    atomic_store(&watch.waits_for, rank);
}

void watch_works(void)
{
    atomic_store(&watch.waits_for, STALL_WORKING);
}

bool watch_time_is_up(double margin_s)
{
    return clock_s() - watch.started_s > watch.config.time_limit_s - margin_s;
}

void watch_fault(const char *format, ...)
{
    pthread_mutex_lock(&watch.lock);
    TEXT_FORMAT(watch.fault, sizeof watch.fault, format);
    pthread_mutex_unlock(&watch.lock);
    atomic_store(&watch.has_fault, true);
    if (!has_thread) {
        fprintf(stderr, "%s: rank %d: %s\n", watch.config.program, watch.config.rank, watch.fault);
        watch_leave(&watch, true, 3);
    }
    wake_thread();
    for (;;)
        pause();
}

void *watch_allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (!memory)
        watch_fault("out of memory");
    return memory;
}

void watch_tolerate_losses(void)
{
    atomic_store(&watch.tolerates, true);
}

bool watch_is_lost(int rank)
{
    return watch.lost && atomic_load(&watch.lost[rank]);
}

void watch_send_finished(void)
{
    atomic_store(&watch.sends_finished, true);
    wake_thread();
}

void watch_wait_finished(void)
{
    watch_waits_for(STALL_WAIT_ALL);
    pthread_mutex_lock(&watch.lock);
    while (has_thread && !atomic_load(&watch.is_finished))
        pthread_cond_wait(&finished_cond, &watch.lock);
    pthread_mutex_unlock(&watch.lock);
}

bool watch_needs_abort(void)
{
    return atomic_load(&watch.has_unresponsive);
}

void watch_abort(int status)
{
    watch_leave(&watch, true, status);
}

void watch_stop(void)
{
    if (!has_thread)
        return;
    atomic_store(&watch.is_done, true);
    wake_thread();
    pthread_join(thread, NULL);
    has_thread = false;
    close(connection);
}
