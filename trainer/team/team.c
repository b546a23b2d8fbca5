/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/team/team.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/clock.h"
#include "validate/battery/watch/stall.h"
#include "validate/battery/watch/watch.h"

#ifdef MUSTER_REAL_DOUBLE
#define MPI_REAL_TYPE MPI_DOUBLE
#else
#define MPI_REAL_TYPE MPI_FLOAT
#endif

struct pending {
    MPI_Request request;
    struct pending *next; /* in a list */
};

struct team {
    MPI_Comm comm;
    struct seat seat;
    struct traffic traffic;
    struct pending *active, *spare;
};

int team_alone(struct team **team, struct error *err)
{
    struct team *made = calloc(1, sizeof *made);

    if (!made)
        return error_set(err, "a team of ranks: %m");
    made->comm = MPI_COMM_NULL;
    made->seat = (struct seat){0, 1};
    *team = made;
    return 0;
}

int team_create(MPI_Comm communicator, struct team **team, struct error *err)
{
    if (team_alone(team, err) != 0)
        return -1;
    MPI_Comm_dup(communicator, &(*team)->comm);
    MPI_Comm_rank((*team)->comm, &(*team)->seat.rank);
    MPI_Comm_size((*team)->comm, &(*team)->seat.ranks);
    return 0;
}

static void free_list(struct pending *pending)
{
    while (pending) {
        struct pending *next = pending->next;

        free(pending);
        pending = next;
    }
}

void team_destroy(struct team *team)
{
    if (!team)
        return;
    if (team->comm != MPI_COMM_NULL)
        MPI_Comm_free(&team->comm);
    free_list(team->active);
    free_list(team->spare);
    free(team);
}

struct seat team_seat(const struct team *team)
{
    return team->seat;
}

struct traffic team_traffic(const struct team *team)
{
    return team->traffic;
}

/* Of those that were used before, so that a step after the first allocates nothing. */
static struct pending *take(struct team *team)
{
    struct pending *pending = team->spare;

    if (pending)
        team->spare = pending->next;
    else
        pending = malloc(sizeof *pending);
    if (!pending)
        watch_fault("out of memory");
    pending->next = team->active;
    team->active = pending;
    return pending;
}

struct pending *team_sum(struct team *team, real *values, size_t count)
{
    struct pending *pending;

    if (team->seat.ranks == 1)
        return NULL;
    pending = take(team);
    team->traffic.summed_bytes += count * sizeof *values;
    MPI_Iallreduce(MPI_IN_PLACE, values, (int)count, MPI_REAL_TYPE, MPI_SUM, team->comm,
                   &pending->request);
    return pending;
}

struct pending *team_scatter(struct team *team, const real *values, size_t count, real *out)
{
    struct pending *pending;

    if (team->seat.ranks == 1) {
        memcpy(out, values, count * sizeof *out);
        return NULL;
    }
    pending = take(team);
    team->traffic.scattered_bytes += (size_t)team->seat.ranks * count * sizeof *values;
    MPI_Ireduce_scatter_block(values, out, (int)count, MPI_REAL_TYPE, MPI_SUM, team->comm,
                              &pending->request);
    return pending;
}

struct pending *team_gather(struct team *team, const real *part, size_t count, real *values)
{
    struct pending *pending;

    if (team->seat.ranks == 1) {
        if (part)
            memcpy(values, part, count * sizeof *values);
        return NULL;
    }
    pending = take(team);
    team->traffic.gathered_bytes += (size_t)team->seat.ranks * count * sizeof *values;
    MPI_Iallgather(part ? part : MPI_IN_PLACE, (int)count, MPI_REAL_TYPE, values, (int)count,
                   MPI_REAL_TYPE, team->comm, &pending->request);
    return pending;
}

void team_wait(struct team *team, struct pending *pending)
{
    struct pending **link = &team->active;
    double start_s = clock_s();

    if (!pending)
        return;
    watch_waits_for(STALL_WAIT_ALL);
    MPI_Wait(&pending->request, MPI_STATUS_IGNORE);
    watch_step();
    watch_works();
    while (*link != pending)
        link = &(*link)->next;
    *link = pending->next;
    pending->next = team->spare;
    team->spare = pending;
    team->traffic.waited_s += clock_s() - start_s;
}

void team_progress(struct team *team)
{
    int is_done;

    watch_step();
    for (struct pending *pending = team->active; pending; pending = pending->next)
        MPI_Request_get_status(pending->request, &is_done, MPI_STATUS_IGNORE);
}

void team_tell(struct team *team, const void *word, size_t bytes, void *words)
{
    double start_s = clock_s();

    if (team->seat.ranks == 1) {
        memcpy(words, word, bytes);
        return;
    }
    watch_waits_for(STALL_WAIT_ALL);
    MPI_Allgather(word, (int)bytes, MPI_BYTE, words, (int)bytes, MPI_BYTE, team->comm);
    watch_step();
    watch_works();
    team->traffic.waited_s += clock_s() - start_s;
}

void team_repeat(struct team *team, void *values, size_t bytes)
{
    if (team->seat.ranks > 1)
        MPI_Bcast(values, (int)bytes, MPI_BYTE, 0, team->comm);
}
