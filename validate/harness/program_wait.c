/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/constants/harness_constants.h"
#include "validate/harness/program.h"
#include "validate/harness/watch/stall.h"

/* MPI has no wait that sleeps. A sleep is a share of the time waited so far: that is by how much
 * each step of what is waited for is late, and there are some to a connection or a collective. */

static void sleep_s(double time_s)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * time_s)}, NULL);
}

void program_wait_all(struct program *program, MPI_Request *requests, MPI_Status *statuses,
                      int count, int waits_for)
{
    double begin_s = clock_s();
    int are_done = 0;

    (void)program;
    watch_waits_for(waits_for);
    for (int tries = 0; MPI_Testall(count, requests, &are_done, statuses), !are_done; tries++)
        if (tries >= WAIT_TESTS)
            sleep_s(fmin(WAIT_SLEEP_SHARE * (clock_s() - begin_s), WAIT_SLEEP_MOST_S));
    watch_works();
}

void program_wait(struct program *program, MPI_Request *request, int waits_for)
{
    program_wait_all(program, request, MPI_STATUSES_IGNORE, 1, waits_for);
}

void program_barrier(struct program *program, MPI_Comm comm)
{
    MPI_Request request;

    MPI_Ibarrier(comm, &request);
    program_wait(program, &request, STALL_WAIT_ALL);
}

void program_bcast(struct program *program, void *data, int size_bytes, int root, MPI_Comm comm)
{
    MPI_Request request;

    MPI_Ibcast(data, size_bytes, MPI_BYTE, root, comm, &request);
    program_wait(program, &request, STALL_WAIT_ALL);
}

void program_allgather(struct program *program, const void *own, void *all, int size_bytes,
                       MPI_Comm comm)
{
    MPI_Request request;

    MPI_Iallgather(own, size_bytes, MPI_BYTE, all, size_bytes, MPI_BYTE, comm, &request);
    program_wait(program, &request, STALL_WAIT_ALL);
}

void program_reduce(struct program *program, const void *own, void *result, int count,
                    MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;

    MPI_Ireduce(own, result, count, type, op, 0, comm, &request);
    program_wait(program, &request, STALL_WAIT_ALL);
}

void program_send(struct program *program, const void *data, int size_bytes, int rank, int tag)
{
    MPI_Request request;

    MPI_Isend(data, size_bytes, MPI_BYTE, rank, tag, MPI_COMM_WORLD, &request);
    program_wait(program, &request, rank);
}

int program_receive(struct program *program, void *data, int size_bytes, int rank, int tag)
{
    MPI_Request request;
    MPI_Status status;
    int received_bytes;

    MPI_Irecv(data, size_bytes, MPI_BYTE, rank, tag, MPI_COMM_WORLD, &request);
    program_wait_all(program, &request, &status, 1, rank);
    MPI_Get_count(&status, MPI_BYTE, &received_bytes);
    return received_bytes;
}
