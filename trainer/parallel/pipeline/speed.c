/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/parallel/pipeline/speed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/constants/trainer_constants.h"
#include "trainer/model/model.h"
#include "trainer/model/parameters.h"
#include "trainer/optimizer/adamw.h"
#include "trainer/pages.h"
#include "validate/harness/watch/stall.h"
#include "validate/harness/watch/watch.h"

/* A layer is computed at least so many times and for SPEED_LEAST_S. The least time counts, as
 * disturbances only add to it. */
enum { LEAST_TURNS = 3, MESSAGE_BYTES = 1 << 18 };
enum { MOST_UPDATED = 1 << 23 }; /* parameters: more than caches hold */

/* A layer's parameters and gradients, as a store. */
struct bench {
    real *parameters, *gradients;
    long steps; /* of the watch */
};

static const real *parameters(void *context, int unit)
{
    (void)unit;
    return ((struct bench *)context)->parameters;
}

static real *gradients(void *context, int unit)
{
    (void)unit;
    return ((struct bench *)context)->gradients;
}

static void ignore(void *context, int unit)
{
    (void)context;
    (void)unit;
}

static void count_progress(void *context)
{
    ((struct bench *)context)->steps++;
    watch_step();
}

static double time_layer(struct model *model, struct bench *bench, int sequences)
{
    const struct store store = {parameters, ignore, gradients, ignore, count_progress, bench};
    const struct microbatch microbatch = {.batch = sequences, .trains = true, .is_end = true};
    double start_s = clock_s(), least_s = INFINITY;

    for (int turn = 0; turn < LEAST_TURNS || clock_s() - start_s < SPEED_LEAST_S; turn++) {
        double turn_s = clock_s();

        model_forward(model, &store, &microbatch);
        model_backward(model, &store, &microbatch);
        least_s = fmin(least_s, clock_s() - turn_s);
    }
    return least_s;
}

int speed_of_layer(const struct shape *shape, const struct compute *compute, int sequences,
                   double *seconds, long *steps, struct error *err)
{
    /* one from the middle of a model, without ends */
    struct model_options options = {{shape, compute, sequences}, {shape, 1, 3, 0, 1}, 1};
    size_t size = shape_unit_size(shape, 1);
    size_t wide = (size_t)sequences * (size_t)shape->context * (size_t)shape->channels;
    struct bench bench = {calloc(size, sizeof(real)), calloc(size, sizeof(real)), 0};
    struct model *model = NULL;
    int rv = -1;

    if (!bench.parameters || !bench.gradients)
        error_set(err, "cannot allocate a layer to measure it: %m");
    else
        rv = model_create(&options, &model, err);
    if (rv == 0) {
        parameters_fill(shape, 1, 1, 0, size, bench.parameters);
        memset(model_in(model, 0), 0, wide * compute->element_bytes);
        memset(model_gradient(model, 0), 0, wide * compute->element_bytes);
        *seconds = time_layer(model, &bench, sequences);
    }
    *steps = bench.steps;
    model_destroy(model);
    free(bench.parameters);
    free(bench.gradients);
    return rv;
}

/* arrays: gradients, both moments, parameters. */
static double time_update(real *const *arrays, size_t count, int replicas, bool is_summed)
{
    const struct adamw adamw = {.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .decay = 0.01};
    double start_s = clock_s(), least_s = INFINITY;
    volatile double norm;

    for (int turn = 0; turn < LEAST_TURNS || clock_s() - start_s < SPEED_LEAST_S; turn++) {
        double turn_s = clock_s();

        memset(arrays[0], 0, count * sizeof(real));
        if (is_summed)
            norm = adamw_squares(arrays[0], count);
        norm = adamw_squares(arrays[0], count / (size_t)replicas);
        adamw_update(&adamw, turn + 1, 1e-3, 1, count, arrays[0], arrays[1], arrays[2], arrays[3]);
        least_s = fmin(least_s, clock_s() - turn_s);
    }
    (void)norm;
    return least_s / (double)count;
}

int speed_of_update(size_t count, int replicas, bool is_summed, double *seconds, struct error *err)
{
    enum { ARRAYS = 4 };
    real *arrays[ARRAYS] = {NULL};
    int made = 0;

    count = count < MOST_UPDATED ? count : MOST_UPDATED;
    while (made < ARRAYS && (arrays[made] = calloc(count, sizeof(real))) != NULL)
        pages_prefer_large(arrays[made++], count * sizeof(real));
    if (made == ARRAYS)
        *seconds = time_update(arrays, count, replicas, is_summed);
    else
        error_set(err, "cannot allocate an update of %zu parameters to measure it: %m", count);
    for (int i = 0; i < ARRAYS; i++)
        free(arrays[i]);
    return made == ARRAYS ? 0 : -1;
}

double speed_layer_work(const struct shape *shape)
{
    return 12.0 * shape->channels * (6.0 * shape->channels + shape->context);
}

double speed_head_in_layers(const struct shape *shape)
{
    return shape->vocabulary / (12.0 * shape->channels);
}

/* Seconds of an exchange in which each rank sends to one rank and receives from another
 * (MPI_PROC_NULL: none): the least of some turns after a first one for warm-up. The slowest rank's
 * time counts: of ranks that share a link one may be done early and leave it to the others. */
static double exchange_s(MPI_Comm mpi, int to, int from, int bytes, int turns)
{
    static char out[MESSAGE_BYTES], in[MESSAGE_BYTES];
    double least_s = INFINITY;

    for (int turn = 0; turn <= turns; turn++) {
        double turn_s;

        MPI_Barrier(mpi);
        turn_s = clock_s();
        MPI_Sendrecv(out, bytes, MPI_BYTE, to, 0, in, bytes, MPI_BYTE, from, 0, mpi,
                     MPI_STATUS_IGNORE);
        turn_s = clock_s() - turn_s;
        MPI_Allreduce(MPI_IN_PLACE, &turn_s, 1, MPI_DOUBLE, MPI_MAX, mpi);
        if (turn > 0)
            least_s = fmin(least_s, turn_s);
    }
    return least_s;
}

static struct link_speed speed_of(struct comm *comm, int to, int from)
{
    enum { SHORT_TURNS = 10, LONG_TURNS = 3 };
    MPI_Comm mpi = comm_mpi(comm);
    double short_s, long_s;

    if (comm_rank_info(comm).ranks == 1)
        return (struct link_speed){0, INFINITY};
    watch_waits_for(STALL_WAIT_ALL);
    short_s = exchange_s(mpi, to, from, 1, SHORT_TURNS);
    long_s = exchange_s(mpi, to, from, MESSAGE_BYTES, LONG_TURNS);
    watch_works();
    return (struct link_speed){short_s, MESSAGE_BYTES / fmax(long_s - short_s, 1e-9)};
}

struct link_speed speed_of_ring(struct comm *comm)
{
    struct rank_info rank_info = comm_rank_info(comm);

    return speed_of(comm, (rank_info.rank + 1) % rank_info.ranks,
                    (rank_info.rank + rank_info.ranks - 1) % rank_info.ranks);
}

struct link_speed speed_of_pair(struct comm *comm, int other)
{
    int peer = other < 0 ? MPI_PROC_NULL : other;

    return speed_of(comm, peer, peer);
}
