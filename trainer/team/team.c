/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/team/team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/choose/tuned.h"
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

/* What was measured, and what was chosen by it: of a team and all its parts. */
struct tuning {
    struct tuned *tuned;
    struct team_choice choices[TEAM_CHOICES];
    size_t count;
};

struct team {
    MPI_Comm comm;
    struct collective *collective;        /* NULL: one rank */
    const char *algorithm;                /* NULL: chosen */
    enum wire_format wire;                /* of sums and scatters */
    bool chooses_algorithm, chooses_wire; /* by the tuning */
    struct tuning *tuning;                /* NULL: none */
    bool owns_tuning;                     /* or the team does that it is a part of */
    struct tuned_comm tuned_comm;         /* with a tuning: the collective is its */
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

const char *team_name(const struct team *team, int rank)
{
    MPI_Group own, all;
    int has_mpi, of_all = rank;

    MPI_Initialized(&has_mpi);
    if (has_mpi && team->comm == MPI_COMM_NULL) {
        MPI_Comm_rank(MPI_COMM_WORLD, &of_all);
    } else if (has_mpi) {
        MPI_Comm_group(team->comm, &own);
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        MPI_Group_translate_ranks(own, 1, &rank, all, &of_all);
        MPI_Group_free(&own);
        MPI_Group_free(&all);
    }
    return team_rank_name(of_all);
}

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

/* The team's collectives from now on choose by the figures. */
static int adopt(struct team *team, struct tuning *tuning, struct error *err)
{
    collective_destroy(team->collective);
    team->collective = NULL;
    if (tuned_comm_create(tuning->tuned, team->comm, &team->tuned_comm, err) < 0)
        return -1;
    team->tuning = tuning;
    team->collective = team->tuned_comm.collective;
    return 0;
}

int team_measure(struct team *team, void (*tell)(const char *line), struct error *err)
{
    struct tuned_options options = {.keeps_order = !team->chooses_algorithm, .report = tell};
    struct tuning *tuning;
    int status;

    if (!team->collective || !(team->chooses_algorithm || team->chooses_wire))
        return 0;
    tuning = calloc(1, sizeof *tuning);
    if (!tuning)
        watch_fault("out of memory");
    watch_waits_for(STALL_WAIT_ALL);
    status = tuned_create(team->comm, &options, &tuning->tuned, err);
    if (status == 0)
        status = adopt(team, tuning, err);
    watch_step();
    watch_works();
    if (status != 0) {
        tuned_destroy(tuning->tuned);
        free(tuning);
        return -1;
    }
    team->owns_tuning = true;
    return 0;
}

size_t team_choices(const struct team *team, const struct team_choice **choices)
{
    *choices = team->tuning ? team->tuning->choices : NULL;
    return team->tuning ? team->tuning->count : 0;
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
    (*part)->chooses_algorithm = team->chooses_algorithm;
    (*part)->chooses_wire = team->chooses_wire;
    if (team->tuning && (*part)->collective && adopt(*part, team->tuning, err) != 0) {
        team_destroy(*part);
        *part = NULL;
        return -1;
    }
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
    if (team->tuning)
        tuned_comm_destroy(&team->tuned_comm);
    else
        collective_destroy(team->collective);
    if (team->owns_tuning) {
        tuned_destroy(team->tuning->tuned);
        free(team->tuning);
    }
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
    team->chooses_algorithm = algorithm && strcmp(algorithm, "measured") == 0;
    team->algorithm = team->chooses_algorithm ? NULL : algorithm;
}

void team_travel(struct team *team, const char *wire)
{
    team->chooses_wire = wire && strcmp(wire, "auto") == 0;
    if (!wire || !wire_parse(wire, &team->wire))
        team->wire = WIRE_AS_IS;
}

bool team_can_travel(const char *wire)
{
    enum wire_format format;

    return strcmp(wire, "auto") == 0 ||
           (wire_parse(wire, &format) && wire_applies(format, ELEMENT_REAL));
}

bool team_knows(const char *algorithm)
{
    return strcmp(algorithm, "measured") == 0 || algorithm_find(COLLECTIVE_ALLREDUCE, algorithm) ||
           algorithm_find(COLLECTIVE_REDUCE_SCATTER, algorithm) ||
           algorithm_find(COLLECTIVE_ALL_GATHER, algorithm);
}

/* For who asks what was chosen. */
static void note_choice(struct tuning *tuning, const struct team_choice *choice)
{
    for (size_t i = 0; i < tuning->count; i++) {
        const struct team_choice *other = &tuning->choices[i];

        if (other->bytes == choice->bytes && strcmp(other->kind, choice->kind) == 0 &&
            strcmp(other->algorithm, choice->algorithm) == 0 &&
            strcmp(other->wire, choice->wire) == 0)
            return;
    }
    if (tuning->count < TEAM_CHOICES)
        tuning->choices[tuning->count++] = *choice;
}

/* Fills in by the figures what the team leaves to them. What it does not is as without figures, so
 * that a wire that is chosen changes no bit. */
static void choose(struct team *team, struct collective_call *call)
{
    struct chooser *chooser = team->tuned_comm.chooser;
    struct plan_shape shape = {.kind = call->kind,
                               .op = call->op,
                               .element_bytes = sizeof(real),
                               .rank = team->seat.rank,
                               .ranks = team->seat.ranks,
                               .count = call->count,
                               .wire = call->wire,
                               .topology = chooser_topology(chooser)};
    bool may_code = team->chooses_wire && call->kind != COLLECTIVE_ALL_GATHER, is_both = false;
    const struct algorithm *algorithm;
    struct wire_choice wire;

    if (call->algorithm) {
        algorithm = call->algorithm;
    } else if (team->chooses_algorithm) {
        struct choice choice = may_code ? chooser_pick_wire(chooser, &shape, ELEMENT_REAL, &wire)
                                        : chooser_pick(chooser, &shape, ELEMENT_REAL);

        is_both = may_code;
        algorithm = choice.algorithm;
        call->segment_bytes = choice.segment_bytes;
    } else {
        algorithm = algorithm_default(&shape);
    }
    call->algorithm = algorithm;
    if (call->segment_bytes == 0)
        call->segment_bytes = algorithm_default_segment(algorithm, &shape) * shape.element_bytes;
    if (!is_both)
        wire = chooser_wire(chooser, &shape, ELEMENT_REAL, algorithm, call->segment_bytes);
    if (may_code)
        call->wire = wire.wire;
    note_choice(team->tuning,
                &(struct team_choice){collective_kind_name(call->kind), algorithm->name,
                                      wire_name(call->wire), chooser_bytes(&shape), wire.as_is_us,
                                      wire.lossless_us});
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

    if (team->algorithm)
        call.algorithm = algorithm_find(kind, team->algorithm);
    if (team->tuning)
        choose(team, &call);
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

void *team_words(const struct team *team, size_t bytes)
{
    void *words = calloc((size_t)team->seat.ranks, bytes);

    if (!words)
        watch_fault("out of memory");
    return words;
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

int team_agree(struct team *team, int result, struct error *err)
{
    int *results = team_words(team, sizeof *results), failed = 0, first = -1;

    team_tell(team, &result, sizeof result, results);
    for (int rank = team->seat.ranks - 1; rank >= 0; rank--)
        if (results[rank] != 0) {
            failed++;
            first = rank;
        }
    free(results);
    if (failed == 0)
        return 0;
    if (team->seat.ranks > 1)
        MPI_Bcast(err->text, sizeof err->text, MPI_CHAR, first, team->comm);
    return failed < team->seat.ranks ? error_prefix(err, "%s", team_name(team, first)) : -1;
}

void team_repeat(struct team *team, void *values, size_t bytes)
{
    if (team->seat.ranks > 1)
        MPI_Bcast(values, (int)bytes, MPI_BYTE, 0, team->comm);
}
