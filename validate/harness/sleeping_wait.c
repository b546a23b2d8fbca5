/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/harness/sleeping_wait.h"

#include <math.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/constants/harness_constants.h"
#include "validate/harness/watch/stall.h"
#include "validate/harness/watch/watch.h"

/* MPI has no wait that sleeps. A sleep is a share of the time waited so far. Each step of a
 * connection or a collective is delayed by at most one sleep. */

static void sleep_s(double time_s)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * time_s)}, NULL);
}

void sleeping_wait_all(MPI_Request *requests, MPI_Status *statuses, int count, int waits_for)
{
    double begin_s = clock_s();
    int are_done = 0;

    watch_waits_for(waits_for);
    for (int tries = 0; MPI_Testall(count, requests, &are_done, statuses), !are_done; tries++)
        if (tries >= WAIT_TESTS)
            sleep_s(fmin(WAIT_SLEEP_SHARE * (clock_s() - begin_s), WAIT_SLEEP_MOST_S));
    watch_works();
}

void sleeping_wait(MPI_Request *request, int waits_for)
{
    sleeping_wait_all(request, MPI_STATUSES_IGNORE, 1, waits_for);
}

void sleeping_bcast(void *data, int size_bytes, int root, MPI_Comm comm)
{
    MPI_Request request;

    MPI_Ibcast(data, size_bytes, MPI_BYTE, root, comm, &request);
    sleeping_wait(&request, STALL_WAIT_ALL);
}

void sleeping_reduce(const void *own, void *result, int count, MPI_Datatype type, MPI_Op op,
                     MPI_Comm comm)
{
    MPI_Request request;

    MPI_Ireduce(own, result, count, type, op, 0, comm, &request);
    sleeping_wait(&request, STALL_WAIT_ALL);
}

int sleeping_least(int own, MPI_Comm comm)
{
    int least = own;

    sleeping_reduce(&own, &least, 1, MPI_INT, MPI_MIN, comm);
    sleeping_bcast(&least, sizeof least, 0, comm);
    return least;
}

void sleeping_barrier(MPI_Comm comm)
{
    sleeping_least(0, comm);
}

void sleeping_gather(const void *own, void *all, int size_bytes, MPI_Comm comm)
{
    MPI_Request request;

    MPI_Igather(own, size_bytes, MPI_BYTE, all, size_bytes, MPI_BYTE, 0, comm, &request);
    sleeping_wait(&request, STALL_WAIT_ALL);
}

void sleeping_allgather(const void *own, void *all, int size_bytes, MPI_Comm comm)
{
    enum { PIECE_BYTES = 1 << 30 }; /* MPI counts in int */
    size_t all_bytes;
    int size;

    MPI_Comm_size(comm, &size);
    sleeping_gather(own, all, size_bytes, comm);
    all_bytes = (size_t)size * (size_t)size_bytes;
    for (size_t at = 0; at < all_bytes; at += PIECE_BYTES)
        sleeping_bcast((char *)all + at,
                       (int)(all_bytes - at < PIECE_BYTES ? all_bytes - at : PIECE_BYTES), 0, comm);
}

void sleeping_send(const void *data, int size_bytes, int rank, int tag)
{
    MPI_Request request;

    MPI_Isend(data, size_bytes, MPI_BYTE, rank, tag, MPI_COMM_WORLD, &request);
    sleeping_wait(&request, rank);
}

int sleeping_receive(void *data, int size_bytes, int rank, int tag)
{
    MPI_Request request;
    MPI_Status status;
    int received_bytes;

    MPI_Irecv(data, size_bytes, MPI_BYTE, rank, tag, MPI_COMM_WORLD, &request);
    sleeping_wait_all(&request, &status, 1, rank);
    MPI_Get_count(&status, MPI_BYTE, &received_bytes);
    return received_bytes;
}
