/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/comm/channel.h"

#include <stdlib.h>

#include "lib/base/clock.h"
#include "validate/harness/watch/watch.h"

struct channel {
    MPI_Comm mpi;
    int lanes;
    MPI_Request *requests;
    int *ranks; /* at the other end of each lane */
    struct traffic traffic;
};

int channel_create(struct comm *comm, int lanes, struct channel **channel, struct error *err)
{
    struct channel *made = calloc(1, sizeof *made);
    int rv = 0;
    MPI_Comm mpi;

    if (!made || !(made->requests = calloc((size_t)lanes, sizeof *made->requests)) ||
        !(made->ranks = calloc((size_t)lanes, sizeof *made->ranks)))
        rv = error_set(err, "cannot create a channel between ranks: %m");
    if (comm_agree(comm, rv, err) != 0) {
        free(made ? made->requests : NULL);
        free(made ? made->ranks : NULL);
        free(made);
        return -1;
    }
    MPI_Comm_dup(comm_mpi(comm), &mpi);
    made->mpi = mpi;
    made->lanes = lanes;
    for (int lane = 0; lane < lanes; lane++)
        made->requests[lane] = MPI_REQUEST_NULL;
    *channel = made;
    return 0;
}

void channel_destroy(struct channel *channel)
{
    if (!channel)
        return;
    for (int lane = 0; lane < channel->lanes; lane++)
        channel_wait(channel, lane);
    MPI_Comm_free(&channel->mpi);
    free(channel->requests);
    free(channel->ranks);
    free(channel);
}

void channel_send(struct channel *channel, int lane, int rank, int tag, const void *data,
                  size_t bytes)
{
    channel->ranks[lane] = rank;
    channel->traffic.sent_bytes += bytes;
    MPI_Isend(data, (int)bytes, MPI_BYTE, rank, tag, channel->mpi, &channel->requests[lane]);
}

void channel_receive(struct channel *channel, int lane, int rank, int tag, void *data, size_t bytes)
{
    channel->ranks[lane] = rank;
    MPI_Irecv(data, (int)bytes, MPI_BYTE, rank, tag, channel->mpi, &channel->requests[lane]);
}

bool channel_is_free(struct channel *channel, int lane)
{
    int is_done = 1;

    if (channel->requests[lane] != MPI_REQUEST_NULL)
        MPI_Test(&channel->requests[lane], &is_done, MPI_STATUS_IGNORE);
    return is_done;
}

void channel_wait(struct channel *channel, int lane)
{
    double start_s = clock_s();

    if (channel_is_free(channel, lane))
        return;
    watch_waits_for(channel->ranks[lane]);
    MPI_Wait(&channel->requests[lane], MPI_STATUS_IGNORE);
    watch_step();
    watch_works();
    channel->traffic.waited_s += clock_s() - start_s;
}

void channel_progress(struct channel *channel)
{
    watch_step();
    for (int lane = 0; lane < channel->lanes; lane++)
        channel_is_free(channel, lane);
}

struct traffic channel_traffic(const struct channel *channel)
{
    return channel->traffic;
}
