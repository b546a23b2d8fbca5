/* SPDX-License-Identifier: Apache-2.0 */
/* Under mpirun: communicators, arrangements and pipelines of the trainer while one rank is out of
 * memory. */
#include "config.h"

#include <stdlib.h>

#include "tests/command/mpi_checks.h"
#include "trainer/parallel/pipeline/arrange.h"
#include "trainer/parallel/pipeline/pipeline.h"

static const struct shape shape = {3, 2, 8, 4, 11};
static struct comm *all;

/* Without memory this ends the job, so that none waits either. */
void *__real_comm_gather_buffer(const struct comm *comm, size_t bytes);
void *__wrap_comm_gather_buffer(const struct comm *comm, size_t bytes);
void *__wrap_comm_gather_buffer(const struct comm *comm, size_t bytes)
{
    unsigned left = memory_left;
    void *buffer;

    memory_left = 0;
    buffer = __real_comm_gather_buffer(comm, bytes);
    memory_left = left;
    return buffer;
}

static int make_comm(const void *unused, struct error *err)
{
    struct comm *comm;
    int status = comm_create(MPI_COMM_WORLD, &comm, err);

    (void)unused;
    comm_destroy(comm);
    return status;
}

static int make_parts(const void *unused, struct error *err)
{
    struct comm *part;
    int status = comm_split(all, rank == 0 ? 0 : 1, rank, &part, err);

    (void)unused;
    comm_destroy(part);
    return status;
}

static int make_arrangement(const void *options, struct error *err)
{
    struct arrangement arrangement;
    int status = arrangement_make(options, all, "", &arrangement, err);

    arrangement_clear(&arrangement);
    return status;
}

static int make_pipeline(const void *options, struct error *err)
{
    struct pipeline *pipeline = NULL;
    int status = pipeline_create(options, all, &pipeline, err);

    pipeline_destroy(pipeline);
    return status;
}

int main(int argc, char **argv)
{
    struct arrange_options wanted = {
        .shape = &shape, .compute = &compute_cpu, .batch = 6, .split = "measured"};
    struct arrangement arrangement;
    struct pipeline_options options = {&shape, &compute_cpu, &arrangement.placement, 6, 2};
    struct error err;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    wanted.stages = ranks;
    if (comm_create(MPI_COMM_WORLD, &all, &err) != 0 ||
        arrangement_make(&wanted, all, "", &arrangement, &err) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    fail_each("communicators without memory", make_comm, NULL, false);
    fail_each("parts of a communicator without memory", make_parts, NULL, false);
    fail_each("arrangements without memory", make_arrangement, &wanted, false);
    fail_each("pipelines without memory", make_pipeline, &options, false);
    arrangement_clear(&arrangement);
    comm_destroy(all);
    MPI_Finalize();
    return failures > 0;
}
