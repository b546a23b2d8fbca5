/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/team/team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/collective.h"
#include "lib/base/clock.h"
#include "validate/battery/watch/stall.h"
#include "validate/battery/watch/watch.h"

#ifdef MUSTER_REAL_DOUBLE
#define ELEMENT_REAL ELEMENT_FP64
#else
#define ELEMENT_REAL ELEMENT_FP32
#endif

struct pending {
    struct collective_request *request; /* NULL: it has ended */
    struct pending *next;               /* in a list */
};

struct team {
    MPI_Comm comm;
    struct collective *collective; /* NULL: one rank */
    const char *algorithm;         /* NULL: chosen */
    enum wire_format wire;         /* of sums and scatters */
    struct seat seat;
    struct traffic traffic;
    struct pending *active, *spare;
};

static const char *number_of(int rank)
{
    static char name[32];

    snprintf(name, sizeof name, "rank %d", rank);
    return name;
}

const char *(*team_rank_name)(int rank) = number_of;

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
    if ((*team)->seat.ranks > 1 &&
        collective_create((*team)->comm, NULL, &(*team)->collective, err) != 0) {
        team_destroy(*team);
        *team = NULL;
        return -1;
    }
    return 0;
}

int team_split(struct team *team, int number, int key, struct team **part, struct error *err)
{
    MPI_Comm comm;
    int rv;

    *part = NULL;
    if (team->comm == MPI_COMM_NULL)
        return number < 0 ? 0 : team_alone(part, err);
    MPI_Comm_split(team->comm, number < 0 ? MPI_UNDEFINED : number, key, &comm);
    if (comm == MPI_COMM_NULL)
        return 0;
    rv = team_create(comm, part, err);
    MPI_Comm_free(&comm);
    if (rv != 0)
        return -1;
    (*part)->algorithm = team->algorithm;
    (*part)->wire = team->wire;
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
    collective_destroy(team->collective);
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

MPI_Comm team_communicator(const struct team *team)
{
    return team->comm;
}

struct traffic team_traffic(const struct team *team)
{
    struct traffic traffic = team->traffic;
    struct collective_statistics statistics = {.calls = 0};

    if (team->collective)
        collective_statistics(team->collective, &statistics);
    traffic.sent_bytes = statistics.bytes_sent;
    return traffic;
}

void team_use(struct team *team, const char *algorithm)
{
    team->algorithm = algorithm;
}

void team_travel(struct team *team, const char *wire)
{
    if (!wire || !wire_parse(wire, &team->wire))
        team->wire = WIRE_AS_IS;
}

bool team_can_travel(const char *wire)
{
    enum wire_format format;

    return wire_parse(wire, &format) && wire_applies(format, ELEMENT_REAL);
}

bool team_knows(const char *algorithm)
{
    return algorithm_find(COLLECTIVE_ALLREDUCE, algorithm) ||
           algorithm_find(COLLECTIVE_REDUCE_SCATTER, algorithm) ||
           algorithm_find(COLLECTIVE_ALL_GATHER, algorithm);
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

/* count: elements of a block. */
static struct pending *start(struct team *team, enum collective_kind kind, const real *in,
                             size_t count, real *out)
{
    struct collective_call call = {.kind = kind,
                                   .type = ELEMENT_REAL,
                                   .op = REDUCE_SUM,
                                   .in = in,
                                   .out = out,
                                   .count = count,
                                   .wire = kind == COLLECTIVE_ALL_GATHER ? WIRE_AS_IS : team->wire};
    struct pending *pending = take(team);
    struct error err;

    if (team->algorithm && algorithm_find(kind, team->algorithm))
        call.algorithm = team->algorithm;
    if (collective_start(team->collective, &call, &pending->request, &err) != 0)
        watch_fault("%s", err.text);
    return pending;
}

struct pending *team_sum(struct team *team, real *values, size_t count)
{
    return team->collective ? start(team, COLLECTIVE_ALLREDUCE, values, count, values) : NULL;
}

struct pending *team_scatter(struct team *team, const real *values, size_t count, real *out)
{
    if (team->collective)
        return start(team, COLLECTIVE_REDUCE_SCATTER, values, count, out);
    memcpy(out, values, count * sizeof *out);
    return NULL;
}

struct pending *team_gather(struct team *team, const real *part, size_t count, real *values)
{
    if (team->collective)
        return start(team, COLLECTIVE_ALL_GATHER, part ? part : values, count, values);
    if (part)
        memcpy(values, part, count * sizeof *values);
    return NULL;
}

void team_wait(struct team *team, struct pending *pending)
{
    struct pending **link = &team->active;
    double start_s = clock_s();
    struct error err;

    if (!pending)
        return;
    watch_waits_for(STALL_WAIT_ALL);
    if (collective_wait(&pending->request, &err) != 0)
        watch_fault("%s", err.text);
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
    struct error err;

    watch_step();
    for (struct pending *pending = team->active; pending; pending = pending->next)
        if (collective_test(&pending->request, &err) < 0)
            watch_fault("%s", err.text);
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
