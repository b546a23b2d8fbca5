/* SPDX-License-Identifier: Apache-2.0 */
/* muster-collectives: are MPI's collectives exact, over types, operations, sizes, communicators?
 * The rank whose data is damaged is named. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/constants/battery_constants.h"
#include "validate/battery/collectives/bound.h"
#include "validate/battery/collectives/cases.h"
#include "validate/battery/collectives/effort.h"
#include "validate/battery/collectives/ours.h"
#include "validate/battery/collectives/speed.h"
#include "validate/battery/collectives/verdict.h"
#include "validate/harness/sleeping_wait.h"
#include "validate/harness/watch/stall.h"

enum { COMMS = 4, SMALL = 7 };
enum { ROUNDS_MOST = 100000, ROUNDS_MORE = 4 };

/* What rank 0 decides before a collective. */
enum decision { DECISION_STOP, DECISION_ENOUGH, DECISION_CONTINUE };

struct collectives_options {
    bool is_quick, has_algorithms;
    long rounds;
    const char *wire; /* of the sweep of our algorithms */
};

static int take_wire(const char *value, void *field, struct error *err)
{
    *(const char **)field = value;
    return ours_check_wire(value, err);
}

#define FIELD(member) OPTION_FIELD(struct collectives_options, member)

static const struct option_row option_table[] = {
    OPTION('\0', "algorithms", NULL,
           "also test the results and speed of each muster algorithm, next to MPI's own", FLAG,
           FIELD(has_algorithms)),
    OPTION('\0', "wire", "FORMAT",
           "how values are sent in the speed sweep; auto: lossless where the measured rates of "
           "this machine predict that it is faster; implies --algorithms",
           CALL, FIELD(wire), .take = take_wire,
           .choices = "as-is|auto|lossless|bf16|fp16|e4m3|e5m2|int8"),
    OPTION('\0', "rounds", "N", "number of rounds, each with a different rank order", LONG,
           FIELD(rounds), OPTION_RANGE(1, ROUNDS_MOST), .initial = "1"),
    OPTION('\0', "quick", NULL, "fewer types and operations, up to 128 KiB instead of 1 MiB", FLAG,
           FIELD(is_quick)),
    OPTION_END,
};

static const struct program_spec spec = {
    "muster-collectives", "collectives",
    "Runs every MPI collective with many types, operations, sizes and communicators, and checks "
    "each result bit for bit. Names the rank whose data is damaged.",
    option_table, false};

/* Some cases connect all ranks with all others. Where ranks are few, this is done before any of
 * them is timed, all at once, by waits that sleep: in a case they would poll. */
enum { CONNECTED_RANKS = 128 };
static void connect_all(const struct program *program)
{
    MPI_Request requests[2 * CONNECTED_RANKS];
    int count = 0;

    for (int i = 1; i < program->size && program->size <= CONNECTED_RANKS; i++) {
        int to = (program->rank + i) % program->size;
        int from = (program->rank + program->size - i) % program->size;

        MPI_Irecv(NULL, 0, MPI_BYTE, from, 0, MPI_COMM_WORLD, &requests[count++]);
        MPI_Isend(NULL, 0, MPI_BYTE, to, 0, MPI_COMM_WORLD, &requests[count++]);
    }
    sleeping_wait_all(requests, MPI_STATUSES_IGNORE, count, STALL_WAIT_ALL);
}

static void make_comms(struct program *program, struct comm comms[COMMS])
{
    int half = program->size / 2, is_upper = program->rank >= half;

    comms[0] = (struct comm){.name = "world", .mpi = MPI_COMM_WORLD};
    comms[1] = (struct comm){.name = "dup"};
    connect_all(program);
    sleeping_barrier(MPI_COMM_WORLD); /* making communicators polls */
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1].mpi);
    comms[2] = (struct comm){.name = "reversed", .is_reversed = 1};
    MPI_Comm_split(MPI_COMM_WORLD, 0, -program->rank, &comms[2].mpi);
    comms[3] = (struct comm){.name = "halves", .first = is_upper ? half : 0};
    MPI_Comm_split(MPI_COMM_WORLD, is_upper, program->rank, &comms[3].mpi);
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm_rank(comms[i].mpi, &comms[i].rank);
        MPI_Comm_size(comms[i].mpi, &comms[i].size);
    }
}

/* What all cases share, and the account of them. */
struct session {
    struct program *program;
    struct bench bench;
    struct account account;
    const struct routine *routine;
    bool is_quick, has_algorithms;
    int odd; /* an odd number of elements that is not small */
    size_t big_bytes;
    int turn; /* counts up, for types and roots that take turns */
    struct effort effort;
    double begin_s; /* clock_s() of the first case */
};

static void run_case(struct session *session, enum value_type type, enum reduce_op op, int count,
                     bool in_place)
{
    struct bench *bench = &session->bench;
    int before = bench->mismatches, first = bench->case_number;

    bench->type = type;
    bench->op = op;
    bench->count = count;
    bench->in_place = in_place;
    bench->root = session->turn++ % bench->comm->size;
    bench_run(bench, session->routine);
    account_add(&session->account, (int)(session->routine - routines), bench, first,
                bench->mismatches - before);
}

/* Runs the case out of place and in place, if both are possible; --quick alternates. */
static void run_in_and_out(struct session *session, enum value_type type, enum reduce_op op,
                           int count)
{
    if (!session->routine->has_in_place)
        run_case(session, type, op, count, false);
    else if (session->is_quick)
        run_case(session, type, op, count, session->turn % 2);
    else
        for (int in_place = 0; in_place < 2; in_place++)
            run_case(session, type, op, count, in_place);
}

/* Returns the number of types that the routine has. */
static int types_of(const struct routine *routine)
{
    return routine->algorithm ? TYPE_COUNT : TYPE_OF_MPI;
}

/* Returns the type whose turn it is. */
static enum value_type next_type(const struct session *session)
{
    return (enum value_type)(session->turn * 3 % types_of(session->routine));
}

/* Returns the operation whose turn it is, or the sum if that does not apply to the type. */
static enum reduce_op next_op(const struct session *session, enum value_type type)
{
    enum reduce_op op = (enum reduce_op)(session->turn % OP_COUNT);

    return value_op_applies(type, op) ? op : REDUCE_SUM;
}

static void run_big(struct session *session, enum value_type type)
{
    size_t blocks = session->routine->scales ? (size_t)session->bench.comm->size : 1;
    size_t count = session->big_bytes / blocks / element_bytes(value_element(type));

    if (session->routine->run && count > (size_t)SMALL)
        run_case(session, type, REDUCE_SUM, (int)(count - 1) | 1, false);
}

/* A type and an operation; OP_COUNT: next_op(). */
struct kind {
    enum value_type type;
    enum reduce_op op;
};

/* Lists all kinds of cases of the routine, and returns their number, which is not 0. */
static size_t kinds_of(const struct session *session, const struct routine *routine,
                       struct kind kinds[TYPE_COUNT * OP_COUNT])
{
    bool all_ops =
        routine->reduces && (!session->is_quick || strcmp(routine->name, "allreduce") == 0);
    size_t count = 0;

    for (enum value_type type = 0; (int)type < types_of(routine); type++) {
        for (enum reduce_op op = 0; op < OP_COUNT && all_ops; op++)
            if (value_op_applies(type, op))
                kinds[count++] = (struct kind){type, op};
        if (!all_ops)
            kinds[count++] = (struct kind){type, OP_COUNT};
    }
    return count;
}

static bool is_barrier(const struct routine *routine)
{
    return strcmp(routine->name, "barrier") == 0;
}

static bool is_world(const struct comm *comm)
{
    return strcmp(comm->name, "world") == 0;
}

enum { OTHER_CASES = 3 }; /* of a routine on a communicator that is not the world */

/* Returns the number of kinds of cases of the routine on the communicator, without its sizes on the
 * world. */
static size_t planned_cases(const struct session *session, const struct comm *comm,
                            const struct routine *routine)
{
    struct kind kinds[TYPE_COUNT * OP_COUNT];

    return is_barrier(routine) ? 1
           : is_world(comm)    ? kinds_of(session, routine, kinds)
                               : OTHER_CASES;
}

/* Runs the routine on the world: all sizes, then all types and operations, or as many of them as
 * there is time for. */
static void run_all(struct session *session)
{
    struct kind kinds[TYPE_COUNT * OP_COUNT];
    const int counts[] = {0, 1, session->odd};
    size_t count = kinds_of(session, session->routine, kinds);

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        enum value_type type = next_type(session);

        run_in_and_out(session, type, next_op(session, type), counts[i]);
    }
    run_big(session, TYPE_INT32);
    if (session->routine->algorithm)
        run_big(session, TYPE_FLOAT_CODED);
    if (!session->is_quick)
        run_big(session, TYPE_DOUBLE);
    for (size_t i = 0; i < count; i++) {
        const struct kind *kind = &kinds[effort_order(i, count)];
        double elapsed_s = clock_s() - session->begin_s;

        if (i >= EFFORT_LEAST && i % EFFORT_STEP == 0 &&
            !verdict_broadcast(session->program, effort_has_time(&session->effort, elapsed_s)))
            break;
        run_in_and_out(session, kind->type,
                       kind->op == OP_COUNT ? next_op(session, kind->type) : kind->op, SMALL);
        effort_add(&session->effort);
    }
}

/* Runs a few cases of the routine on another communicator. */
static void run_some(struct session *session)
{
    const int counts[OTHER_CASES] = {1, SMALL, session->odd};

    for (size_t i = 0; i < OTHER_CASES; i++) {
        enum value_type type = next_type(session);

        run_in_and_out(session, type, next_op(session, type), counts[i]);
        effort_add(&session->effort);
    }
}

/* Whether there is time for the next collective on the communicator. On the world they run to the
 * end of the time limit; on other communicators they are left out from COLLECTIVES_COMMS_SHARE of
 * it on. */
static enum decision next_decision(const struct session *session, const struct comm *comm)
{
    double elapsed_s = clock_s() - session->begin_s;

    if (session->program->rank != 0)
        return DECISION_CONTINUE; /* rank 0 decides */
    if (watch_time_is_up(1))
        return DECISION_STOP;
    return !is_world(comm) &&
                   elapsed_s > COLLECTIVES_COMMS_SHARE * session->program->common.time_limit_s
               ? DECISION_ENOUGH
               : DECISION_CONTINUE;
}

static enum decision run_comm(struct session *session, const struct comm *comm)
{
    struct program *program = session->program;

    session->bench.comm = comm;
    for (session->routine = routines; session->routine->name; session->routine++) {
        enum decision decision =
            (enum decision)verdict_broadcast(program, (int)next_decision(session, comm));

        if (decision != DECISION_CONTINUE)
            return decision;
        effort_begin(&session->effort, planned_cases(session, comm, session->routine));
        program_phase(program, "%s on %s", session->routine->name, comm->name);
        if (program->rank == 0)
            output_progress("%s on %s", session->routine->name, comm->name);
        if (is_barrier(session->routine)) {
            run_case(session, TYPE_INT8, REDUCE_SUM, 0, false);
            effort_add(&session->effort);
        } else if (is_world(comm)) {
            run_all(session);
        } else {
            run_some(session);
        }
    }
    return DECISION_CONTINUE;
}

/* Runs one more round, with the ranks rotated by one place for each round before it. So each rank
 * has another role: as root, as neighbor, and in a tree or ring. */
static enum decision run_round(struct session *session, int round)
{
    struct program *program = session->program;
    struct comm comm = {.name = "rotated", .shift = round % program->size};
    enum decision decision;

    program_phase(program, "communicator of round %d", round + 1);
    sleeping_barrier(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, 0, (program->rank - comm.shift + program->size) % program->size,
                   &comm.mpi);
    MPI_Comm_rank(comm.mpi, &comm.rank);
    MPI_Comm_size(comm.mpi, &comm.size);
    if (session->has_algorithms)
        ours_open(&comm);
    decision = run_comm(session, &comm);
    ours_close(&comm);
    MPI_Comm_free(&comm.mpi);
    return decision;
}

/* Runs all communicators, as many rounds as wanted, and up to ROUNDS_MORE more while the rank at
 * fault is not known: a rank that corrupts only sometimes may leave too little evidence. Returns
 * whether there was time for all that must run. */
static bool run_rounds(struct session *session, struct comm comms[COMMS], long rounds)
{
    enum decision decision = DECISION_CONTINUE;

    session->begin_s = clock_s();
    session->effort.allowed_s = COLLECTIVES_CASES_SHARE * session->program->common.time_limit_s;
    for (int i = 0; i < COMMS; i++)
        for (const struct routine *routine = routines; routine->name; routine++)
            session->effort.planned += planned_cases(session, &comms[i], routine);
    for (int i = 0; i < COMMS && decision == DECISION_CONTINUE; i++)
        decision = run_comm(session, &comms[i]);
    session->effort.elapsed_s = clock_s() - session->begin_s;
    for (int round = 1; decision == DECISION_CONTINUE &&
                        (round < rounds || (round < rounds + ROUNDS_MORE &&
                                            !verdict_is_clear(session->program, &session->bench)));
         round++)
        decision = run_round(session, round);
    return decision == DECISION_CONTINUE || (decision == DECISION_ENOUGH && rounds == 1);
}

static void report_coverage(const struct session *session)
{
    const struct effort *effort = &session->effort;
    struct record record =
        RECORD(.test = "collectives.correct", .metric = "coverage",
               .value = effort_coverage(effort), .unit = "1", .verdict = VERDICT_PASS);

    if (record.value < 1)
        output_report(
            record,
            "%zu of %zu kinds of cases ran in %.1f s: %d ranks are too slow to run the rest "
            "within the time limit of %g s",
            effort->run, effort->planned, effort->elapsed_s, session->program->size,
            session->program->common.time_limit_s);
    else
        output_report(record, "all %zu kinds of cases ran in %.1f s", effort->planned,
                      effort->elapsed_s);
}

int main(int argc, char **argv)
{
    struct collectives_options options = {0};
    struct program program;
    struct session *session;
    struct comm comms[COMMS];
    bool is_complete;
    size_t ranks, room;

    program_start(&program, &spec, &options, argc, argv);
    options.has_algorithms |= options.wire != NULL;
    program_phase(&program, "communicators");
    make_comms(&program, comms);
    if (options.has_algorithms) {
        ours_add();
        for (int i = 0; i < COMMS; i++)
            ours_open(&comms[i]);
    }
    session = watch_allocate(1, sizeof *session);
    ranks = (size_t)program.size;
    session->program = &program;
    session->is_quick = options.is_quick;
    session->has_algorithms = options.has_algorithms;
    session->big_bytes = options.is_quick ? 128 << 10 : 1 << 20;
    session->odd = effort_odd(ranks, session->big_bytes);
    room = ((size_t)session->odd + 8) * 8 * ranks;
    if (room < session->big_bytes + 64 * ranks)
        room = session->big_bytes + 64 * ranks;
    bench_open(&session->bench, &program, 4 * room); /* four quarters for run_nonblocking() */
    is_complete =
        run_rounds(session, comms, options.rounds) && bound_check(&session->bench, &comms[0]);
    program_phase(&program, "report");
    verdict_report(&program, &session->bench, &session->account, is_complete);
    if (program.rank == 0 && is_complete)
        report_coverage(session);
    if (is_complete)
        speed_measure(&program, options.is_quick ? 0.15 : 0.5);
    if (is_complete && options.has_algorithms)
        ours_measure(&program, &comms[0], options.wire, options.is_quick ? 0.02 : 0.2,
                     options.is_quick);
    for (int i = 0; i < COMMS; i++)
        ours_close(&comms[i]);
    account_clear(&session->account);
    bench_close(&session->bench);
    free(session);
    for (int i = 1; i < COMMS; i++)
        MPI_Comm_free(&comms[i].mpi);
    return program_finish(&program);
}
