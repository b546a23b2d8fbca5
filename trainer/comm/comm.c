/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/comm/comm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/choose/tuned.h"
#include "collectives/collective.h"
#include "lib/base/clock.h"
#include "trainer/comm/channel.h"
#include "validate/harness/watch/stall.h"
#include "validate/harness/watch/watch.h"

#ifdef MUSTER_REAL_DOUBLE
#define ELEMENT_REAL ELEMENT_FP64
#else
#define ELEMENT_REAL ELEMENT_FP32
#endif

/* The figures, and the choices made by them, of a communicator and all its parts. */
struct tuning {
    struct tuned *tuned;
    struct comm_choice choices[COMM_CHOICES];
    size_t count;
};

struct comm {
    MPI_Comm mpi;
    struct collective *collective;        /* NULL: one rank */
    const char *algorithm;                /* NULL: chosen */
    enum wire_format wire;                /* of allreduce, reduce-scatter */
    bool chooses_algorithm, chooses_wire; /* by the tuning */
    struct tuning *tuning;                /* NULL: none */
    bool owns_tuning;                     /* else the communicator does from which this was split */
    struct tuned_comm tuned_comm;         /* with a tuning: owns collective */
    struct rank_info rank_info;
    struct traffic traffic;
    struct channel *channel; /* advances with it; NULL: none */
};

static const char *number_of(int rank)
{
    static char name[32];

    snprintf(name, sizeof name, "rank %d", rank);
    return name;
}

const char *(*world_rank_name)(int rank) = number_of;

const char *comm_rank_name(const struct comm *comm, int rank)
{
    MPI_Group own, all;
    int has_mpi, of_all = rank;

    MPI_Initialized(&has_mpi);
    if (has_mpi && comm->mpi == MPI_COMM_NULL) {
        MPI_Comm_rank(MPI_COMM_WORLD, &of_all);
    } else if (has_mpi) {
        MPI_Comm_group(comm->mpi, &own);
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        MPI_Group_translate_ranks(own, 1, &rank, all, &of_all);
        MPI_Group_free(&own);
        MPI_Group_free(&all);
    }
    return world_rank_name(of_all);
}

int comm_self(struct comm **comm, struct error *err)
{
    struct comm *made = calloc(1, sizeof *made);

    if (!made)
        return error_set(err, "cannot create a communicator: %m");
    made->mpi = MPI_COMM_NULL;
    made->rank_info = (struct rank_info){0, 1};
    *comm = made;
    return 0;
}

int comm_create(MPI_Comm communicator, struct comm **comm, struct error *err)
{
    struct comm *made = NULL;
    int rv = comm_self(&made, err);
    MPI_Comm mpi;

    *comm = NULL;
    MPI_Comm_dup(communicator, &mpi);
    if (collective_agree(mpi, rv, err) != 0 || !made) {
        MPI_Comm_free(&mpi);
        comm_destroy(made);
        return -1;
    }
    made->mpi = mpi;
    MPI_Comm_rank(mpi, &made->rank_info.rank);
    MPI_Comm_size(mpi, &made->rank_info.ranks);
    if (made->rank_info.ranks > 1 && collective_create(mpi, NULL, &made->collective, err) != 0) {
        comm_destroy(made);
        return -1;
    }
    *comm = made;
    return 0;
}

/* Makes the communicator's collectives choose by the figures from now on. */
static int adopt(struct comm *comm, struct tuning *tuning, struct error *err)
{
    collective_destroy(comm->collective);
    comm->collective = NULL;
    if (tuned_comm_create(tuning->tuned, comm->mpi, &comm->tuned_comm, err) < 0)
        return -1;
    comm->tuning = tuning;
    comm->collective = comm->tuned_comm.collective;
    return 0;
}

int comm_measure(struct comm *comm, void (*report)(const char *line), struct error *err)
{
    struct tuned_options options = {.keeps_order = !comm->chooses_algorithm, .report = report};
    struct tuning *tuning;
    int status;

    if (!comm->collective || !(comm->chooses_algorithm || comm->chooses_wire))
        return 0;
    tuning = calloc(1, sizeof *tuning);
    if (!tuning)
        watch_fault("out of memory");
    watch_waits_for(STALL_WAIT_ALL);
    status = tuned_create(comm->mpi, &options, &tuning->tuned, err);
    if (status == 0)
        status = adopt(comm, tuning, err);
    watch_step();
    watch_works();
    if (status != 0) {
        tuned_destroy(tuning->tuned);
        free(tuning);
        return -1;
    }
    comm->owns_tuning = true;
    return 0;
}

size_t comm_choices(const struct comm *comm, const struct comm_choice **choices)
{
    *choices = comm->tuning ? comm->tuning->choices : NULL;
    return comm->tuning ? comm->tuning->count : 0;
}

static int split(struct comm *comm, int number, int key, struct comm **part, struct error *err)
{
    MPI_Comm mpi;
    int rv;

    MPI_Comm_split(comm->mpi, number < 0 ? MPI_UNDEFINED : number, key, &mpi);
    if (mpi == MPI_COMM_NULL)
        return 0;
    rv = comm_create(mpi, part, err);
    MPI_Comm_free(&mpi);
    if (rv != 0)
        return -1;
    (*part)->algorithm = comm->algorithm;
    (*part)->wire = comm->wire;
    (*part)->chooses_algorithm = comm->chooses_algorithm;
    (*part)->chooses_wire = comm->chooses_wire;
    if (comm->tuning && (*part)->collective && adopt(*part, comm->tuning, err) != 0) {
        comm_destroy(*part);
        *part = NULL;
        return -1;
    }
    return 0;
}

int comm_split(struct comm *comm, int number, int key, struct comm **part, struct error *err)
{
    int rv;

    *part = NULL;
    if (comm->mpi == MPI_COMM_NULL)
        return number < 0 ? 0 : comm_self(part, err);
    watch_waits_for(STALL_WAIT_ALL);
    rv = split(comm, number, key, part, err);
    watch_works();
    if (comm_agree(comm, rv, err) == 0)
        return 0;
    comm_destroy(*part);
    *part = NULL;
    return -1;
}

void comm_destroy(struct comm *comm)
{
    if (!comm)
        return;
    if (comm->tuning)
        tuned_comm_destroy(&comm->tuned_comm);
    else
        collective_destroy(comm->collective);
    if (comm->owns_tuning) {
        tuned_destroy(comm->tuning->tuned);
        free(comm->tuning);
    }
    if (comm->mpi != MPI_COMM_NULL)
        MPI_Comm_free(&comm->mpi);
    free(comm);
}

struct rank_info comm_rank_info(const struct comm *comm)
{
    return comm->rank_info;
}

MPI_Comm comm_mpi(const struct comm *comm)
{
    return comm->mpi;
}

struct traffic comm_traffic(const struct comm *comm)
{
    struct traffic traffic = comm->traffic;
    struct collective_statistics statistics = {.calls = 0};

    if (comm->collective)
        collective_statistics(comm->collective, &statistics);
    traffic.sent_bytes = statistics.bytes_sent;
    return traffic;
}

void comm_set_algorithm(struct comm *comm, const char *algorithm)
{
    comm->chooses_algorithm = algorithm && strcmp(algorithm, "measured") == 0;
    comm->algorithm = comm->chooses_algorithm ? NULL : algorithm;
}

void comm_set_wire(struct comm *comm, const char *wire)
{
    comm->chooses_wire = wire && strcmp(wire, "auto") == 0;
    if (!wire || !wire_parse(wire, &comm->wire))
        comm->wire = WIRE_AS_IS;
}

bool comm_has_algorithm(const char *algorithm)
{
    return strcmp(algorithm, "measured") == 0 || algorithm_find(COLLECTIVE_ALLREDUCE, algorithm) ||
           algorithm_find(COLLECTIVE_REDUCE_SCATTER, algorithm) ||
           algorithm_find(COLLECTIVE_ALL_GATHER, algorithm);
}

/* Records a choice for comm_choices(). */
static void note_choice(struct tuning *tuning, const struct comm_choice *choice)
{
    for (size_t i = 0; i < tuning->count; i++) {
        const struct comm_choice *other = &tuning->choices[i];

        if (other->bytes == choice->bytes && strcmp(other->kind, choice->kind) == 0 &&
            strcmp(other->algorithm, choice->algorithm) == 0 &&
            strcmp(other->wire, choice->wire) == 0)
            return;
    }
    if (tuning->count < COMM_CHOICES)
        tuning->choices[tuning->count++] = *choice;
}

/* Sets algorithm and wire of the call by the figures, if the communicator leaves them to be chosen.
 * The rest is as without figures, so that choosing the wire alone changes no bit. */
static void choose(struct comm *comm, const struct plan_shape *shape, struct collective_call *call)
{
    struct chooser *chooser = comm->tuned_comm.chooser;
    bool may_code = comm->chooses_wire && call->kind != COLLECTIVE_ALL_GATHER, is_both = false;
    const struct algorithm *algorithm;
    struct wire_choice wire;

    if (call->algorithm) {
        algorithm = call->algorithm;
    } else if (comm->chooses_algorithm) {
        struct choice choice = may_code ? chooser_pick_wire(chooser, shape, ELEMENT_REAL, &wire)
                                        : chooser_pick(chooser, shape, ELEMENT_REAL);

        if (isnan(choice.predicted_us))
            watch_fault("out of memory");
        is_both = may_code;
        algorithm = choice.algorithm;
        call->segment_bytes = choice.segment_bytes;
    } else {
        algorithm = algorithm_default(shape);
    }
    call->algorithm = algorithm;
    if (call->segment_bytes == 0)
        call->segment_bytes = algorithm_default_segment(shape) * shape->element_bytes;
    if (!is_both)
        wire = chooser_wire(chooser, shape, ELEMENT_REAL, algorithm, call->segment_bytes);
    if (isnan(wire.as_is_us))
        watch_fault("out of memory");
    if (may_code)
        call->wire = wire.wire;
    note_choice(comm->tuning,
                &(struct comm_choice){collective_kind_name(call->kind), algorithm->name,
                                      wire_name(call->wire), chooser_bytes(shape), wire.as_is_us,
                                      wire.lossless_us});
}

/* Starts a collective. count: elements of a block. */
static struct collective_request *start(struct comm *comm, enum collective_kind kind,
                                        const real *in, size_t count, real *out)
{
    struct collective_call call = {.kind = kind,
                                   .type = ELEMENT_REAL,
                                   .op = REDUCE_SUM,
                                   .in = in,
                                   .out = out,
                                   .count = count,
                                   .wire = kind == COLLECTIVE_ALL_GATHER ? WIRE_AS_IS : comm->wire};
    struct collective_request *request;
    const struct algorithm *wanted = NULL;
    struct plan_shape shape;
    struct error err;

    if (collective_shape(comm->collective, &call, &shape, &err) < 0)
        watch_fault("%s", err.text);
    if (comm->algorithm)
        wanted = algorithm_find(kind, comm->algorithm);
    if (wanted && algorithm_applies(wanted, &shape))
        call.algorithm = wanted;
    if (comm->tuning)
        choose(comm, &shape, &call);
    if (collective_start(comm->collective, &call, &request, &err) != 0)
        watch_fault("%s", err.text);
    return request;
}

struct collective_request *comm_start_allreduce(struct comm *comm, real *values, size_t count)
{
    return comm->collective ? start(comm, COLLECTIVE_ALLREDUCE, values, count, values) : NULL;
}

struct collective_request *comm_start_reduce_scatter(struct comm *comm, const real *values,
                                                     size_t count, real *out)
{
    if (comm->collective)
        return start(comm, COLLECTIVE_REDUCE_SCATTER, values, count, out);
    memcpy(out, values, count * sizeof *out);
    return NULL;
}

struct collective_request *comm_start_all_gather(struct comm *comm, const real *part, size_t count,
                                                 real *values)
{
    if (comm->collective)
        return start(comm, COLLECTIVE_ALL_GATHER, part ? part : values, count, values);
    if (part)
        memcpy(values, part, count * sizeof *values);
    return NULL;
}

void comm_wait(struct comm *comm, struct collective_request *request)
{
    double start_s = clock_s();
    struct error err;

    if (!request)
        return;
    watch_waits_for(STALL_WAIT_ALL);
    if (collective_wait(&request, &err) != 0)
        watch_fault("%s", err.text);
    watch_step();
    watch_works();
    comm->traffic.waited_s += clock_s() - start_s;
}

void comm_progress(struct comm *comm)
{
    watch_step();
    if (comm->collective)
        collective_progress(comm->collective);
    if (comm->channel)
        channel_progress(comm->channel);
}

void comm_set_channel(struct comm *comm, struct channel *channel)
{
    comm->channel = channel;
}

void *comm_gather_buffer(const struct comm *comm, size_t bytes)
{
    void *values = calloc((size_t)comm->rank_info.ranks, bytes);

    if (!values)
        watch_fault("out of memory");
    return values;
}

void comm_all_gather(struct comm *comm, const void *value, size_t bytes, void *values)
{
    double start_s = clock_s();

    if (comm->rank_info.ranks == 1) {
        memcpy(values, value, bytes);
        return;
    }
    watch_waits_for(STALL_WAIT_ALL);
    MPI_Allgather(value, (int)bytes, MPI_BYTE, values, (int)bytes, MPI_BYTE, comm->mpi);
    watch_step();
    watch_works();
    comm->traffic.waited_s += clock_s() - start_s;
}

int comm_agree(struct comm *comm, int result, struct error *err)
{
    int rank = comm->rank_info.rank, ranks = comm->rank_info.ranks;
    struct {
        int first, have_all; /* ranks that failed; first is `ranks` if none has */
    } failed = {result != 0 ? rank : ranks, result != 0};

    if (ranks > 1) {
        watch_waits_for(STALL_WAIT_ALL);
        MPI_Allreduce(MPI_IN_PLACE, &failed, 2, MPI_INT, MPI_MIN, comm->mpi);
        watch_step();
        watch_works();
    }
    if (failed.first == ranks)
        return 0;
    if (ranks > 1)
        MPI_Bcast(err->text, sizeof err->text, MPI_CHAR, failed.first, comm->mpi);
    return failed.have_all ? -1 : error_prefix(err, "%s", comm_rank_name(comm, failed.first));
}

void comm_broadcast(struct comm *comm, void *values, size_t bytes)
{
    if (comm->rank_info.ranks == 1)
        return;
    watch_waits_for(STALL_WAIT_ALL);
    MPI_Bcast(values, (int)bytes, MPI_BYTE, 0, comm->mpi);
    watch_step();
    watch_works();
}
