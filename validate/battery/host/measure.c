/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/host/measure.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/sysfs.h"
#include "lib/constants/battery_constants.h"
#include "validate/battery/host/kernels.h"
#include "validate/battery/host/topology.h"

/* STEPS: 3 ms at 3 GHz. CHUNK: elements of a triad between two readings of the clock, 128 KiB of
 * each array. */
enum { STEPS = 1 << 20, CHUNK = 1 << 14, STAT_MOST = 1 << 22 };

struct thread;

/* What the threads of a measurement share. */
struct crew {
    struct measure *measure;
    void (*work)(struct thread *thread);
    pthread_mutex_t start;     /* held until all threads are there */
    bool is_abandoned;         /* ... some could not be started */
    pthread_barrier_t barrier; /* of the threads */
    atomic_long progress;
    atomic_int running;
    atomic_bool has_failed; /* want of memory */
    int repeats;
    const uint64_t *expected;
    size_t elements[HOST_NUMA_NODES]; /* of each array of a thread on that NUMA node */
};

struct thread {
    pthread_t thread;
    struct crew *crew;
    int core; /* index in node->cores */
    /* of each round */
    double bytes[HOST_TRIAD_ROUNDS], ran_s[HOST_TRIAD_ROUNDS], took_s[HOST_TRIAD_ROUNDS];
};

int measure_open(struct measure *measure, struct error *err)
{
    cpu_set_t allowed;

    memset(&allowed, 0xff, sizeof allowed); /* the kernel leaves out what it must */
    sched_setaffinity(0, sizeof allowed, &allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return error_set(err, "sched_getaffinity: %s", strerror(errno));
    topology_read("", &allowed, measure->node, measure->cache_bytes, measure->numa_of);
    return measure->node->core_count > 0 ? 0 : error_set(err, "no processor found");
}

/* ---------------------------------------------------------------- threads */

static void *thread_main(void *context)
{
    struct thread *thread = context;
    struct crew *crew = thread->crew;

    pthread_mutex_lock(&crew->start);
    pthread_mutex_unlock(&crew->start);
    if (!crew->is_abandoned)
        crew->work(thread);
    atomic_fetch_sub(&crew->running, 1);
    return NULL;
}

static int thread_start(struct thread *thread, int cpu, struct error *err)
{
    pthread_attr_t attributes;
    cpu_set_t set;
    int rv;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
    rv = pthread_create(&thread->thread, &attributes, thread_main, thread);
    pthread_attr_destroy(&attributes);
    return rv == 0 ? 0
                   : error_set(err, "cannot start a thread on processor %d: %s", cpu, strerror(rv));
}

/* Starts a thread for each chosen core and waits for all. threads: [core_count]. */
static int crew_run(struct crew *crew, const bool *is_chosen, struct thread *threads,
                    struct error *err)
{
    struct measure *measure = crew->measure;
    int count = measure->node->core_count, chosen = 0, started = 0;
    long seen = 0;

    for (int i = 0; i < count; i++)
        if (!is_chosen || is_chosen[i])
            threads[chosen++] = (struct thread){.crew = crew, .core = i};
    if (chosen == 0)
        return 0;
    pthread_mutex_init(&crew->start, NULL);
    pthread_barrier_init(&crew->barrier, NULL, (unsigned)chosen);
    pthread_mutex_lock(&crew->start);
    while (started < chosen &&
           thread_start(&threads[started], measure->node->cores[threads[started].core].cpu, err) ==
               0)
        started++;
    crew->is_abandoned = started < chosen;
    atomic_store(&crew->running, started);
    pthread_mutex_unlock(&crew->start);
    while (atomic_load(&crew->running) > 0) {
        long progress = atomic_load(&crew->progress);

        if (progress != seen)
            measure->wait.tick(measure->wait.context);
        seen = progress;
        usleep((useconds_t)(1e6 * HOST_POLL_S));
    }
    for (int i = 0; i < started; i++)
        pthread_join(threads[i].thread, NULL);
    pthread_barrier_destroy(&crew->barrier);
    pthread_mutex_destroy(&crew->start);
    return started < chosen ? -1 : 0;
}

/* ---------------------------------------------------------------- cores */

static void sum_note(const struct crew *crew, struct host_core *core, uint64_t sum)
{
    if (crew->expected) {
        core->again++;
        core->again_wrong += sum != *crew->expected;
        return;
    }
    if (core->repeats++ == 0)
        core->sum = sum;
    if (sum != core->sum) {
        core->other = sum;
        core->others++;
    }
}

static void core_work(struct thread *thread)
{
    struct crew *crew = thread->crew;
    struct host_core *core = &crew->measure->node->cores[thread->core];

    pthread_barrier_wait(&crew->barrier);
    for (int i = 0; i < crew->repeats; i++) {
        double begin_s = clock_thread_s();
        uint64_t sum = kernel_compute(STEPS);
        float rate = (float)(1e-9 * KERNEL_FLOP_OF_STEP * STEPS / (clock_thread_s() - begin_s));

        if (crew->measure->is_corrupt && thread->core == 0)
            sum ^= 1;
        sum_note(crew, core, sum);
        core->rate.best = fmaxf(core->rate.best, rate);
        core->rate.lowest = core->rate.samples++ == 0 ? rate : fminf(core->rate.lowest, rate);
        atomic_fetch_add(&crew->progress, 1);
    }
}

int measure_cores(struct measure *measure, const bool *is_chosen, int repeats,
                  const uint64_t *expected, struct error *err)
{
    struct host_node *node = measure->node;
    struct crew crew = {
        .measure = measure, .work = core_work, .repeats = repeats, .expected = expected};
    struct thread *threads = calloc((size_t)node->core_count, sizeof *threads);
    char *before = sysfs_file("", STAT_MOST, "proc/stat"), *after;
    double begin_s = clock_s(), throttled_s = topology_throttled_s(""), took_s, threads_s = 0;
    int rv = threads ? crew_run(&crew, is_chosen, threads, err) : error_set(err, "out of memory");

    took_s = clock_s() - begin_s;
    after = sysfs_file("", STAT_MOST, "proc/stat");
    for (int i = 0; rv == 0 && i < node->core_count; i++) {
        int cpu = node->cores[i].cpu;

        if (is_chosen && !is_chosen[i])
            continue;
        threads_s += took_s;
        node->cores[i].rate.stalled =
            (float)((double)(topology_steal_ticks(after, cpu) - topology_steal_ticks(before, cpu)) /
                    (double)sysconf(_SC_CLK_TCK) / took_s);
    }
    throttled_s = topology_throttled_s("") - throttled_s;
    if (threads_s > 0) /* the kernel adds up the time of all processors */
        node->quota_share = fmax(node->quota_share, fmin(throttled_s / threads_s, 1));
    free(before);
    free(after);
    free(threads);
    return rv;
}

/* ---------------------------------------------------------------- memory */

/* Runs passes over the arrays, in chunks, until HOST_TRIAD_S are over. */
static void triad_round(struct thread *thread, int round, double *arrays, size_t elements)
{
    double begin_s = clock_s(), ran_s = clock_thread_s(), now_s = begin_s;
    double *a = arrays, *b = arrays + elements, *c = arrays + 2 * elements;

    for (size_t at = 0; now_s - begin_s < HOST_TRIAD_S;
         at = at + CHUNK < elements ? at + CHUNK : 0) {
        kernel_triad(a + at, b + at, c + at, 3, CHUNK);
        thread->bytes[round] += 24.0 * CHUNK;
        now_s = clock_s();
    }
    thread->ran_s[round] = clock_thread_s() - ran_s;
    thread->took_s[round] = now_s - begin_s;
}

static void triad_work(struct thread *thread)
{
    struct crew *crew = thread->crew;
    size_t elements = crew->elements[crew->measure->numa_of[thread->core]];
    size_t bytes = 3 * elements * sizeof(double);
    double *arrays = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (arrays == MAP_FAILED) {
        atomic_store(&crew->has_failed, true);
    } else {
        madvise(arrays, bytes, MADV_HUGEPAGE);
        for (size_t i = 0; i < 3 * elements; i++) { /* the thread's own NUMA node gets the pages */
            arrays[i] = 1;
            if (i % CHUNK == 0)
                atomic_fetch_add(&crew->progress, 1);
        }
    }
    for (int round = 0; round < HOST_TRIAD_ROUNDS; round++) {
        pthread_barrier_wait(&crew->barrier);
        if (!atomic_load(&crew->has_failed))
            triad_round(thread, round, arrays, elements);
        atomic_fetch_add(&crew->progress, 1);
    }
    if (arrays != MAP_FAILED)
        munmap(arrays, bytes);
}

/* Adds a round. It is the best one if it was stalled less, or as little and is faster. */
static void add_round(struct host_value *value, double rate_GBps, double stalled)
{
    bool is_better = value->samples == 0 || stalled < (double)value->stalled - 0.01 ||
                     (stalled < (double)value->stalled + 0.01 && rate_GBps > (double)value->best);

    if (value->samples++ == 0 || rate_GBps < (double)value->lowest)
        value->lowest = (float)rate_GBps;
    if (!is_better)
        return;
    value->best = (float)rate_GBps;
    value->stalled = (float)stalled;
}

static void add_triad_round(struct measure *measure, const struct thread *threads, int round)
{
    double rates[HOST_NUMA_NODES] = {0}, ran_s[HOST_NUMA_NODES] = {0};
    double took_s[HOST_NUMA_NODES] = {0};

    for (int i = 0; i < measure->node->core_count; i++) {
        int numa = measure->numa_of[threads[i].core];

        rates[numa] += 1e-9 * threads[i].bytes[round] / threads[i].took_s[round];
        ran_s[numa] += threads[i].ran_s[round];
        took_s[numa] += threads[i].took_s[round];
    }
    for (int i = 0; i < measure->node->numa_count; i++)
        add_round(&measure->node->numas[i].triad, rates[i], fmax(0, 1 - ran_s[i] / took_s[i]));
}

/* Sets how many elements the arrays of each thread have: together HOST_CACHE_TIMES the caches of
 * their NUMA node, or what free memory allows. Sets array_share. */
static void sizes_make(struct measure *measure, size_t *elements)
{
    const struct host_node *node = measure->node;
    double free_bytes = HOST_MEMORY_FREE_SHARE * topology_free_bytes(""), wanted_bytes = 0;

    for (int k = 0; k < node->numa_count; k++)
        wanted_bytes += 3 * HOST_CACHE_TIMES * measure->cache_bytes[k];
    measure->node->array_share = wanted_bytes > free_bytes ? free_bytes / wanted_bytes : 1;
    for (int k = 0; k < node->numa_count; k++) {
        double array_bytes = HOST_CACHE_TIMES * measure->cache_bytes[k] * node->array_share;
        int cores = 0;

        for (int i = 0; i < node->core_count; i++)
            cores += measure->numa_of[i] == k;
        elements[k] = (size_t)(array_bytes / sizeof(double) / cores / CHUNK + 1) * CHUNK;
    }
}

int measure_memory(struct measure *measure, struct error *err)
{
    struct crew crew = {.measure = measure, .work = triad_work};
    struct thread *threads = calloc((size_t)measure->node->core_count, sizeof *threads);
    int rv;

    sizes_make(measure, crew.elements);
    rv = threads ? crew_run(&crew, NULL, threads, err) : error_set(err, "out of memory");
    if (rv == 0 && atomic_load(&crew.has_failed))
        rv = error_set(err, "out of memory for the triad arrays");
    for (int round = 0; rv == 0 && round < HOST_TRIAD_ROUNDS; round++)
        add_triad_round(measure, threads, round);
    free(threads);
    return rv;
}
