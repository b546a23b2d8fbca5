/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MONITOR_H
#define MUSTER_MONITOR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "validate/harness/watch/cpu_time.h"
#include "validate/harness/watch/watch.h"

/* What the main thread shares with the watching thread of its process. */
struct watch_state {
    struct watch_config config;
    atomic_uint progress;
    atomic_int waits_for;
    atomic_bool has_fault, is_done, all_joined;
    atomic_bool has_results;   /* rank 0: all are out, what is left is to leave MPI */
    atomic_int signal;         /* its number, once one came */
    atomic_bool tolerates;     /* a rank that is lost does not end the job */
    atomic_bool *lost;         /* by rank */
    atomic_bool sends_over;    /* rank 0: HEARTBEAT_OVER is to be sent to the others */
    atomic_bool is_over;       /* the others: it has come */
    atomic_bool has_immovable; /* rank 0, once the monitor is done: a lost rank will not end */
    int wake[2];               /* a pipe: a byte wakes the thread */
    pthread_mutex_t lock;      /* of the texts */
    char phase[96];
    char fault[232];
    double started_s; /* clock_s() at the start */
    pid_t main_thread;
    /* of the main thread and the sockets, for a tick; used by the watching thread alone */
    struct cpu_time_memory cpu_memory;
    struct cpu_time cpu;
    double evidence_s;      /* when it was read */
    uint32_t seen_progress; /* and since when it is that */
    double seen_s;
    bool has_socket_bytes; /* socket_bytes is of a moment since then */
    double socket_bytes, moved_bytes;
};

/* Copies the state as a heartbeat of that type. By the watching thread. */
void watch_heartbeat(struct watch_state *state, enum heartbeat_type type,
                     struct heartbeat *heartbeat);

/* Calls abort_job in a thread, gives it one second, and ends the process. */
void watch_leave(struct watch_state *state, bool abort_job, int status) __attribute__((noreturn));

/* How often ranks send a heartbeat. */
double watch_interval_s(int size);

/* Rank 0's thread: returns when HEARTBEAT_BYE of every rank has come; else it ends the process. */
void monitor_run(struct watch_state *state, int listener, const unsigned char *key);

#endif
