/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/collectives/bound.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/collective.h"
#include "collectives/precision/precision.h"
#include "validate/battery/collectives/ours.h"
#include "validate/battery/collectives/verdict.h"
#include "validate/harness/pattern.h"
#include "validate/harness/sleeping_wait.h"

enum {
    ELEMENTS = 301, /* of a block: more than one block of int8 on the wire, the second cut short */
    FEW_ELEMENTS = 15,
    MANY_RANKS = 512, /* FEW_ELEMENTS from here on */
    TAG_WORST = 310,
};

/* The greatest sum of the numbers of all ranks. */
static const double sum_most = 16;

/* The result that is farthest off, relative to its bound. */
struct worst {
    double ratio, found, expected, bound;
    int rank, element, cases;
    enum element_type type;
    enum wire_format wire;
    bool differs; /* ranks that should hold the same bits do not */
};

struct check {
    const struct bench *bench; /* for --inject=lie */
    struct program *program;
    const struct comm *comm;
    const struct algorithm *algorithm; /* NULL: MPI's own */
    enum collective_kind kind;
    enum element_type type;
    enum wire_format wire;
    int count, root;
    uint64_t seed;
    char *in, *out;
    struct worst worst;
};

/* ---------------------------------------------------------------------------------------- numbers
 */

/* Returns element i of what a rank sends to another, or adds to a sum: of either sign and of eight
 * magnitudes, as the type holds it. */
static double given(const struct check *check, int from, int to, size_t i)
{
    uint64_t word = pattern_mix(check->seed << 32 ^ (uint64_t)from << 16 ^ (uint64_t)to, i);
    char buffer[sizeof(double)];

    number_put(check->type, buffer, 0,
               ldexp((double)(int64_t)word, -63 - (int)(word & 7)) * sum_most / check->comm->size);
    return number_get(check->type, buffer, 0);
}

static void corrupt(const struct check *check, char *buffer)
{
    if (!check->bench->lies_sometimes || check->seed % LIE_EVERY == 0)
        number_put(check->type, buffer, 0, number_get(check->type, buffer, 0) + 2 * sum_most);
}

static void fill(const struct check *check, char *buffer, int to, size_t offset)
{
    for (size_t i = 0; i < (size_t)check->count; i++)
        number_put(check->type, buffer, i, given(check, check->comm->rank, to, offset + i));
    if (check->bench->corrupts_sending)
        corrupt(check, buffer);
}

/* ----------------------------------------------------------------------------------------- bounds
 */

/* Returns how far off a result may be, which is a sum or, for a kind that does not reduce, a number
 * that was moved. magnitudes: sum of the absolute values that it is made of. */
static double bound_of(const struct check *check, double magnitudes)
{
    unsigned additions = collective_kind_reduces(check->kind) ? (unsigned)check->comm->size - 1 : 0;
    struct plan_shape shape = {.kind = check->kind, .ranks = check->comm->size};
    bool is_lossy = wire_is_lossy(check->wire);
    unsigned roundings = 0;

    if (is_lossy) {
        shape.topology = collective_topology(check->comm->ours);
        roundings = check->algorithm->roundings(&shape);
    }
    if (check->type == ELEMENT_FP64) /* the expected value is not exact either */
        return additions * (0x1p-53 + (double)LDBL_EPSILON) * 1.01 * magnitudes;
    if (is_lossy && check->wire == WIRE_INT8) {
        double most = collective_kind_reduces(check->kind) ? sum_most : sum_most / shape.ranks;

        /* half a step of 1 / 127 of the greatest of its block, which grows by as much */
        return expm1(roundings * log1p(precision_bound_int8(1.0f / 127))) * most +
               precision_bound(PRECISION_BF16, 0, additions, magnitudes);
    }
    if (is_lossy)
        return precision_bound(wire_precision(check->wire), roundings, additions, magnitudes);
    if (check->type == ELEMENT_FP32)
        return precision_bound(PRECISION_BF16, 0, additions, magnitudes);
    return precision_bound(check->type == ELEMENT_BF16 ? PRECISION_BF16 : PRECISION_FP16, additions,
                           additions, magnitudes);
}

static void check_value(struct check *check, size_t i, double expected, double magnitudes)
{
    double found = number_get(check->type, check->out, i), off = fabs(found - expected);
    double bound = bound_of(check, magnitudes), ratio;

    if (off == 0)
        ratio = 0;
    else
        ratio = off <= bound || off > bound ? off / bound : (double)INFINITY;
    if (ratio <= check->worst.ratio)
        return;
    check->worst.ratio = ratio;
    check->worst.found = found;
    check->worst.expected = expected;
    check->worst.bound = bound;
    check->worst.rank = check->comm->rank;
    check->worst.element = (int)i;
    check->worst.type = check->type;
    check->worst.wire = check->wire;
}

static void check_sums(struct check *check, size_t offset)
{
    for (size_t i = 0; i < (size_t)check->count; i++) {
        long double sum = 0;
        double magnitudes = 0;

        for (int rank = 0; rank < check->comm->size; rank++) {
            double more = given(check, rank, 0, offset + i);

            sum += (long double)more;
            magnitudes += fabs(more);
        }
        check_value(check, i, (double)sum, magnitudes);
    }
}

/* Checks the block of `out` that came from rank `from`, which sent it to `to`. */
static void check_block(struct check *check, int block, int from, int to)
{
    for (size_t i = 0; i < (size_t)check->count; i++) {
        double expected = given(check, from, to, i);

        check_value(check, (size_t)block * (size_t)check->count + i, expected, fabs(expected));
    }
}

/* ------------------------------------------------------------------------------------------ cases
 */

static char *block_at(const struct check *check, char *buffer, int block)
{
    return buffer + (size_t)block * (size_t)check->count * element_bytes(check->type);
}

static void fill_all(const struct check *check)
{
    int size = check->comm->size;

    switch (check->kind) {
    case COLLECTIVE_BROADCAST:
        if (check->comm->rank == check->root)
            fill(check, check->out, 0, 0);
        break;
    case COLLECTIVE_ALL_TO_ALL:
        for (int to = 0; to < size; to++)
            fill(check, block_at(check, check->in, to), to, 0);
        break;
    case COLLECTIVE_REDUCE_SCATTER:
        for (int to = 0; to < size; to++)
            fill(check, block_at(check, check->in, to), 0, (size_t)to * (size_t)check->count);
        break;
    default:
        fill(check, check->in, 0, 0);
    }
}

static void check_all(struct check *check)
{
    int rank = check->comm->rank;

    if (check->bench->corrupts_receiving)
        corrupt(check, check->out);
    switch (check->kind) {
    case COLLECTIVE_BROADCAST:
        check_block(check, 0, check->root, 0);
        break;
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_ALL_TO_ALL:
        for (int from = 0; from < check->comm->size; from++)
            check_block(check, from, from, check->kind == COLLECTIVE_ALL_TO_ALL ? rank : 0);
        break;
    case COLLECTIVE_REDUCE_SCATTER:
        check_sums(check, (size_t)rank * (size_t)check->count);
        break;
    default:
        if (check->kind != COLLECTIVE_REDUCE || rank == check->root)
            check_sums(check, 0);
    }
}

/* Sets worst.differs if a result that all ranks get alike differs in bits. */
static void compare_bits(struct check *check)
{
    size_t bytes = (size_t)check->count * element_bytes(check->type);
    uint64_t least, most, hash = 0;

    if (check->kind == COLLECTIVE_ALL_GATHER)
        bytes *= (size_t)check->comm->size;
    else if (check->kind != COLLECTIVE_ALLREDUCE && check->kind != COLLECTIVE_BROADCAST)
        return;
    for (size_t i = 0; i < bytes; i++)
        hash = pattern_mix(hash, (unsigned char)check->out[i]);
    MPI_Allreduce(&hash, &least, 1, MPI_UINT64_T, MPI_MIN, check->comm->mpi);
    MPI_Allreduce(&hash, &most, 1, MPI_UINT64_T, MPI_MAX, check->comm->mpi);
    check->worst.differs = check->worst.differs || least != most;
}

static void run_ours(const struct check *check, const struct collective_call *call)
{
    struct error err;

    if (collective_run(check->comm->ours, call, &err) < 0)
        watch_fault("%s", err.text);
}

static void run_case(struct check *check)
{
    struct collective_call call = {
        .kind = check->kind,
        .type = check->type,
        .op = REDUCE_SUM,
        .in = check->kind == COLLECTIVE_BROADCAST ? check->out : check->in,
        .out = check->out,
        .count = (size_t)check->count,
        .algorithm = check->algorithm,
        .wire = check->wire,
    };

    check->root = (int)(check->seed % (uint64_t)check->comm->size);
    call.root = check->root;
    if (check->algorithm && !collective_algorithm(check->comm->ours, &call, NULL, NULL))
        return; /* the algorithm does not support this, on any rank */
    fill_all(check);
    watch_waits_for(-1);
    if (check->algorithm)
        run_ours(check, &call);
    else
        ours_run_mpi(check->comm, check->kind, check->in, check->out, check->count,
                     check->type == ELEMENT_FP64 ? MPI_DOUBLE : MPI_FLOAT, MPI_SUM, check->root);
    check_all(check);
    if (check->algorithm) /* MPI promises no more than the same on each rank by itself */
        compare_bits(check);
    watch_works();
    watch_step();
    check->worst.cases++;
    check->seed++;
}

/* ----------------------------------------------------------------------------------------- report
 */

static void name_numbers(const struct worst *worst, char *text, size_t size)
{
    const char *type = element_name(worst->type);

    if (worst->wire == WIRE_AS_IS)
        snprintf(text, size, "%s", type);
    else if (worst->wire == WIRE_LOSSLESS)
        snprintf(text, size, "%s coded", type);
    else
        snprintf(text, size, "%s as %s", type, wire_name(worst->wire));
}

static void report(const struct check *check, const struct worst *worst)
{
    struct record record;
    char part[64], numbers[40];

    snprintf(part, sizeof part, "%s%s%s", collective_kind_name(check->kind),
             check->algorithm ? " by " : "", check->algorithm ? check->algorithm->name : "");
    name_numbers(worst, numbers, sizeof numbers);
    record = RECORD(.test = "collectives.bound", .metric = "error", .part = part, .unit = "1",
                    .verdict = VERDICT_PASS);
    if (worst->cases > 0 && !isinf(worst->ratio))
        record.value = worst->ratio;
    if (worst->cases == 0) {
        record.verdict = VERDICT_SKIP;
        output_report(record, "%s does not support this layout of ranks on nodes", part);
    } else if (!(worst->ratio <= 1)) {
        record.verdict = VERDICT_FAIL;
        output_report(record,
                      "%s of %s: element %d on rank %d on %s is %.9g, expected %.9g, tolerance "
                      "%.3g",
                      part, numbers, worst->element, worst->rank,
                      check->program->name_of[worst->rank], worst->found, worst->expected,
                      worst->bound);
    } else if (worst->differs) {
        record.verdict = VERDICT_FAIL;
        output_report(record, "%s: results differ in bits between ranks", part);
    } else if (worst->ratio == 0) {
        output_report(record, "%s: %d kinds of values, all exact", part, worst->cases);
    } else {
        output_report(record, "%s: %d kinds of values, largest error %s at %.2f of the bound", part,
                      worst->cases, numbers, worst->ratio);
    }
}

/* Collects the worst result of each rank on rank 0, and reports the worst of all. */
static void find_worst(struct check *check)
{
    struct worst other;

    if (check->program->rank != 0) {
        sleeping_send(&check->worst, sizeof check->worst, 0, TAG_WORST);
        return;
    }
    for (int rank = 1; rank < check->program->size; rank++) {
        sleeping_receive(&other, sizeof other, rank, TAG_WORST);
        if (other.ratio > check->worst.ratio) {
            other.differs = other.differs || check->worst.differs;
            check->worst = other;
        }
    }
    report(check, &check->worst);
}

/* Begins with a kind of collective. Returns false on all ranks if the time is up. */
static bool begin(struct check *check, enum collective_kind kind, const struct algorithm *algorithm)
{
    struct program *program = check->program;

    if (!verdict_broadcast(program, program->rank == 0 && !watch_time_is_up(1)))
        return false;
    program_phase(program, "random numbers, %s%s%s", collective_kind_name(kind),
                  algorithm ? " by " : "", algorithm ? algorithm->name : "");
    check->kind = kind;
    check->algorithm = algorithm;
    check->worst = (struct worst){.type = ELEMENT_FP32};
    return true;
}

static bool check_mpi(struct check *check)
{
    const enum collective_kind kinds[] = {COLLECTIVE_ALLREDUCE, COLLECTIVE_REDUCE,
                                          COLLECTIVE_REDUCE_SCATTER};

    check->wire = WIRE_AS_IS;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!begin(check, kinds[i], NULL))
            return false;
        for (check->type = ELEMENT_FP32; check->type <= ELEMENT_FP64; check->type++)
            run_case(check);
        find_worst(check);
    }
    return true;
}

static bool check_ours(struct check *check)
{
    for (const struct algorithm *a = algorithms; a->name; a++) {
        if (!begin(check, a->kind, a))
            return false;
        for (check->type = 0; check->type < ELEMENT_TYPES; check->type++)
            for (check->wire = 0; check->wire < WIRE_FORMATS; check->wire++)
                if (element_is_float(check->type) && wire_applies(check->wire, check->type))
                    run_case(check);
        find_worst(check);
    }
    return true;
}

bool bound_check(const struct bench *bench, const struct comm *comm)
{
    struct check check = {.bench = bench, .program = bench->program, .comm = comm, .seed = 1};
    bool is_complete;
    size_t room;

    check.count = comm->size < MANY_RANKS ? ELEMENTS : FEW_ELEMENTS;
    room = (size_t)comm->size * (size_t)check.count * sizeof(double);
    check.in = watch_allocate(1, room);
    check.out = watch_allocate(1, room);
    is_complete = check_mpi(&check) && (!comm->ours || check_ours(&check));
    free(check.in);
    free(check.out);
    return is_complete;
}
