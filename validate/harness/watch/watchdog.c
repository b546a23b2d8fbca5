/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/harness/watch/watchdog.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/condition.h"
#include "lib/base/thread_id.h"
#include "lib/constants/harness_constants.h"
#include "lib/slurm/slurm_node_name.h"
#include "validate/harness/launcher.h"
#include "validate/harness/output.h"
#include "validate/harness/watch/cpu_time.h"

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_over;
    double limit_s, time_limit_s;
    int rank;
    char node[256];
    pid_t main_thread;
    void (*abort_job)(void);
    atomic_bool has_mpi;
} watchdog = {.lock = PTHREAD_MUTEX_INITIALIZER, .is_over = true};

double watchdog_limit_s(double time_limit_s, int size)
{
    return fmin(WATCHDOG_BASE_S + WATCHDOG_RANK_S * size, time_limit_s);
}

static void *abort_run(void *argument)
{
    (void)argument;
    watchdog.abort_job();
    return NULL;
}

void watchdog_leave(void (*abort_job)(void), int status)
{
    pthread_t aborter;

    if (abort_job) {
        watchdog.abort_job = abort_job;
        if (pthread_create(&aborter, NULL, abort_run, NULL) == 0)
            nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    }
    _exit(status);
}

static void print_record(double waited_s)
{
    output_claim();
    output_report(RECORD(.test = "mpi.launch", .metric = "complete", .node = watchdog.node,
                         .verdict = VERDICT_UNKNOWN, .code = FAULT_LAUNCH_FAILED),
                  "%s in %.0f s on %s, rank 0's node",
                  atomic_load(&watchdog.has_mpi)
                      ? "MPI's first messages between all ranks did not arrive"
                      : "MPI_Init did not return",
                  waited_s, watchdog.node);
    output_finish();
}

static void *watchdog_run(void *argument)
{
    double began_s = clock_s(), now_s = began_s, queued_s = 0, first_s = NAN;
    double after_s = watchdog.rank == 0 ? 0 : WATCHDOG_AFTER_S;
    struct cpu_time_memory memory = {0};
    struct cpu_time time;
    bool is_over;

    (void)argument;
    pthread_mutex_lock(&watchdog.lock);
    while (!watchdog.is_over &&
           now_s - began_s < fmin(watchdog.limit_s + queued_s, watchdog.time_limit_s) + after_s) {
        condition_wait(&watchdog.changed, &watchdog.lock, now_s + WATCHDOG_EACH_S);
        now_s = clock_s();
        if (cpu_time_read("", watchdog.main_thread, now_s, &memory, &time) == 0) {
            first_s = isnan(first_s) ? time.queued_s : first_s;
            queued_s = time.queued_s - first_s;
        }
    }
    is_over = watchdog.is_over;
    pthread_mutex_unlock(&watchdog.lock);
    if (is_over)
        return NULL;
    if (watchdog.rank == 0)
        print_record(now_s - began_s);
    /* only the launcher can end a frozen process, which would keep the job forever */
    watchdog_leave(atomic_load(&watchdog.has_mpi) && watchdog.rank == 0 ? watchdog.abort_job : NULL,
                   3);
}

void watchdog_start(double time_limit_s, void (*abort_job)(void))
{
    watchdog.limit_s = watchdog_limit_s(time_limit_s, launcher_size());
    watchdog.time_limit_s = time_limit_s;
    watchdog.abort_job = abort_job;
    /* the thread reads no variable: MPI_Init sets some, which frees what it might be reading */
    watchdog.rank = launcher_rank();
    slurm_node_name("", watchdog.node, sizeof watchdog.node);
    watchdog.main_thread = thread_id();
    watchdog.is_over = condition_init(&watchdog.changed) != 0;
    if (!watchdog.is_over && pthread_create(&watchdog.thread, NULL, watchdog_run, NULL) != 0)
        watchdog.is_over = true;
}

void watchdog_has_mpi(void)
{
    atomic_store(&watchdog.has_mpi, true);
}

void watchdog_stop(void)
{
    bool was_over;

    pthread_mutex_lock(&watchdog.lock);
    was_over = watchdog.is_over;
    watchdog.is_over = true;
    pthread_cond_signal(&watchdog.changed);
    pthread_mutex_unlock(&watchdog.lock);
    if (!was_over)
        pthread_join(watchdog.thread, NULL);
}
