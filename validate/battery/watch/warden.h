/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WARDEN_H
#define MUSTER_WARDEN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "validate/battery/watch/watch.h"

/* What the main thread tells the watching thread of its process. */
struct watch_state {
    struct watch_config config;
    atomic_uint progress;
    atomic_int waits_for;
    atomic_bool has_fault, is_done, all_joined;
    atomic_int signal;         /* its number, once one came */
    atomic_bool tolerates;     /* a rank that is lost does not end the job */
    atomic_bool *lost;         /* by rank */
    atomic_bool says_over;     /* rank 0: the others are to be told that all is done */
    atomic_bool is_over;       /* the others: they were */
    atomic_bool has_immovable; /* rank 0, once the warden is done: a lost rank will not end */
    int wake[2];               /* a pipe: a byte wakes the thread */
    pthread_mutex_t lock;      /* of the texts */
    char phase[96];
    char fault[232];
    double started_s; /* clock_s() at the start */
};

/* Copies the state as a beat of that type. */
void watch_beat(struct watch_state *state, enum beat_type type, struct beat *beat);

/* Calls abort_job in a thread, gives it one second, and ends the process. */
void watch_leave(struct watch_state *state, bool abort_job, int status) __attribute__((noreturn));

/* The silence of a rank that counts as frozen. */
double watch_silence_s(int size);

/* Rank 0's thread: returns when every rank has said goodbye; else it ends the process. */
void warden_run(struct watch_state *state, int listener, uint64_t token);

#endif
