/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MONITOR_H
#define MUSTER_MONITOR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "validate/harness/watch/cpu_time.h"
#include "validate/harness/watch/watch.h"

/* State that the main thread shares with the watching thread of its process. */
struct watch_state {
    struct watch_config config;
    atomic_uint progress;
    atomic_int waits_for;
    atomic_bool has_fault, is_done, all_joined;
    atomic_bool has_results;      /* rank 0: all results are printed, only the end of MPI remains */
    atomic_int signal;            /* the number of the received signal; 0: none */
    atomic_bool tolerates;        /* a lost rank does not end the job */
    atomic_bool *lost;            /* by rank */
    atomic_bool sends_finished;   /* rank 0: HEARTBEAT_FINISHED is to be sent to the others */
    atomic_bool is_finished;      /* other ranks: HEARTBEAT_FINISHED was received */
    atomic_bool has_unresponsive; /* rank 0, once the monitor is done: a lost rank will not end */
    int wake[2];                  /* a pipe: a byte wakes the thread */
    pthread_mutex_t lock;         /* of phase and fault */
    char phase[96];
    char fault[232];
    double started_s; /* clock_s() at the start */
    pid_t main_thread;
    /* CPU time of the main thread and socket bytes, for a tick; only for the watching thread */
    struct cpu_time_memory cpu_memory;
    struct cpu_time cpu;
    double evidence_s;      /* when these were last read */
    uint32_t seen_progress; /* unchanged since seen_s */
    double seen_s;
    bool has_socket_bytes; /* socket_bytes was read after seen_s */
    double socket_bytes, moved_bytes;
};

/* Fills heartbeat with the state, as a message of the type. Only for the watching thread. */
void watch_heartbeat(struct watch_state *state, enum heartbeat_type type,
                     struct heartbeat *heartbeat);

/* Calls the config's abort_job, if wanted, in a thread, waits one second, and ends the process. */
void watch_leave(struct watch_state *state, bool abort_job, int status) __attribute__((noreturn));

/* Returns the interval between two heartbeats of a rank. */
double watch_interval_s(int size);

/* The thread of rank 0. Returns once rank 0 is done and no monitored rank is still running, or if
 * memory is out; a fault ends the process. */
void monitor_run(struct watch_state *state, int listener, const unsigned char *key);

#endif
