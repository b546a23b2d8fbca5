/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/collectives/bound.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/collective.h"
#include "collectives/precision/precision.h"
#include "validate/battery/collectives/verdict.h"
#include "validate/battery/pattern.h"

enum {
    ELEMENTS = 301, /* of a block: more than one of int8's, the second cut short */
    FEW_ELEMENTS = 15,
    MANY_RANKS = 512, /* ... from here on */
    TAG_WORST = 310,
};

/* No sum of all ranks' numbers is greater. */
static const double sum_most = 16;

/* The result that is farthest off, in bounds. */
struct worst {
    double ratio, found, expected, bound;
    int rank, element, type, wire, cases;
    bool differs; /* ranks that should hold the same bits do not */
};

struct trial {
    const struct bench *bench; /* for --inject=lie */
    struct program *program;
    const struct team *team;
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

static void put(enum element_type type, char *buffer, size_t i, double value)
{
    float narrow = (float)value;

    if (type == ELEMENT_FP64)
        memcpy(buffer + i * sizeof value, &value, sizeof value);
    else if (type == ELEMENT_FP32)
        memcpy(buffer + i * sizeof narrow, &narrow, sizeof narrow);
    else
        precision_narrow(type == ELEMENT_BF16 ? PRECISION_BF16 : PRECISION_FP16, &narrow, 1,
                         buffer + i * sizeof(uint16_t));
}

static double get(enum element_type type, const char *buffer, size_t i)
{
    double value;
    float narrow;

    if (type == ELEMENT_FP64) {
        memcpy(&value, buffer + i * sizeof value, sizeof value);
        return value;
    }
    if (type == ELEMENT_FP32)
        memcpy(&narrow, buffer + i * sizeof narrow, sizeof narrow);
    else
        precision_widen(type == ELEMENT_BF16 ? PRECISION_BF16 : PRECISION_FP16,
                        buffer + i * sizeof(uint16_t), 1, &narrow);
    return (double)narrow;
}

/* Element i of what a rank gives to another, or to a sum: of either sign and of eight magnitudes,
 * as the type holds it. */
static double given(const struct trial *trial, int from, int to, size_t i)
{
    uint64_t word = pattern_mix(trial->seed << 32 ^ (uint64_t)from << 16 ^ (uint64_t)to, i);
    char buffer[sizeof(double)];

    put(trial->type, buffer, 0,
        ldexp((double)(int64_t)word, -63 - (int)(word & 7)) * sum_most / trial->team->size);
    return get(trial->type, buffer, 0);
}

static void lie(const struct trial *trial, char *buffer)
{
    if (!trial->bench->lies_sometimes || trial->seed % LIE_EVERY == 0)
        put(trial->type, buffer, 0, get(trial->type, buffer, 0) + 2 * sum_most);
}

static void fill(const struct trial *trial, char *buffer, int to, size_t offset)
{
    for (size_t i = 0; i < (size_t)trial->count; i++)
        put(trial->type, buffer, i, given(trial, trial->team->rank, to, offset + i));
    if (trial->bench->lies_sending)
        lie(trial, buffer);
}

/* ----------------------------------------------------------------------------------------- bounds
 */

/* How far a result may be off that is a sum, or a number that came as it was. */
static double bound_of(const struct trial *trial, double magnitudes)
{
    unsigned additions = collective_kind_reduces(trial->kind) ? (unsigned)trial->team->size - 1 : 0;
    struct plan_shape shape = {.kind = trial->kind, .ranks = trial->team->size};
    bool is_lossy = wire_is_lossy(trial->wire);
    unsigned roundings = 0;

    if (is_lossy) {
        shape.topology = collective_topology(trial->team->ours);
        roundings = trial->algorithm->roundings(&shape);
    }
    if (trial->type == ELEMENT_FP64) /* what is expected is not exact either */
        return additions * (0x1p-53 + (double)LDBL_EPSILON) * 1.01 * magnitudes;
    if (is_lossy && trial->wire == WIRE_INT8) {
        double most = collective_kind_reduces(trial->kind) ? sum_most : sum_most / shape.ranks;

        /* half a step of 1 / 127 of the greatest of its block, which grows by as much */
        return expm1(roundings * log1p(precision_bound_int8(1.0f / 127))) * most +
               precision_bound(PRECISION_BF16, 0, additions, magnitudes);
    }
    if (is_lossy)
        return precision_bound(wire_precision(trial->wire), roundings, additions, magnitudes);
    if (trial->type == ELEMENT_FP32)
        return precision_bound(PRECISION_BF16, 0, additions, magnitudes);
    return precision_bound(trial->type == ELEMENT_BF16 ? PRECISION_BF16 : PRECISION_FP16, additions,
                           additions, magnitudes);
}

static void hold_against(struct trial *trial, size_t i, double expected, double magnitudes)
{
    double found = get(trial->type, trial->out, i), off = fabs(found - expected);
    double bound = bound_of(trial, magnitudes), ratio;

    if (off == 0)
        ratio = 0;
    else
        ratio = off <= bound || off > bound ? off / bound : (double)INFINITY;
    if (ratio <= trial->worst.ratio)
        return;
    trial->worst.ratio = ratio;
    trial->worst.found = found;
    trial->worst.expected = expected;
    trial->worst.bound = bound;
    trial->worst.rank = trial->team->rank;
    trial->worst.element = (int)i;
    trial->worst.type = (int)trial->type;
    trial->worst.wire = (int)trial->wire;
}

static void hold_sums(struct trial *trial, size_t offset)
{
    for (size_t i = 0; i < (size_t)trial->count; i++) {
        long double sum = 0;
        double magnitudes = 0;

        for (int rank = 0; rank < trial->team->size; rank++) {
            double more = given(trial, rank, 0, offset + i);

            sum += (long double)more;
            magnitudes += fabs(more);
        }
        hold_against(trial, i, (double)sum, magnitudes);
    }
}

/* The block of `out` that came from a rank, which gave it to `to`. */
static void hold_block(struct trial *trial, int block, int from, int to)
{
    for (size_t i = 0; i < (size_t)trial->count; i++) {
        double expected = given(trial, from, to, i);

        hold_against(trial, (size_t)block * (size_t)trial->count + i, expected, fabs(expected));
    }
}

/* ------------------------------------------------------------------------------------------ cases
 */

static char *block_at(const struct trial *trial, char *buffer, int block)
{
    return buffer + (size_t)block * (size_t)trial->count * element_bytes(trial->type);
}

static void fill_all(const struct trial *trial)
{
    int size = trial->team->size;

    switch (trial->kind) {
    case COLLECTIVE_BROADCAST:
        if (trial->team->rank == trial->root)
            fill(trial, trial->out, 0, 0);
        break;
    case COLLECTIVE_ALL_TO_ALL:
        for (int to = 0; to < size; to++)
            fill(trial, block_at(trial, trial->in, to), to, 0);
        break;
    case COLLECTIVE_REDUCE_SCATTER:
        for (int to = 0; to < size; to++)
            fill(trial, block_at(trial, trial->in, to), 0, (size_t)to * (size_t)trial->count);
        break;
    default:
        fill(trial, trial->in, 0, 0);
    }
}

static void hold_all(struct trial *trial)
{
    int rank = trial->team->rank;

    if (trial->bench->lies_receiving)
        lie(trial, trial->out);
    switch (trial->kind) {
    case COLLECTIVE_BROADCAST:
        hold_block(trial, 0, trial->root, 0);
        break;
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_ALL_TO_ALL:
        for (int from = 0; from < trial->team->size; from++)
            hold_block(trial, from, from, trial->kind == COLLECTIVE_ALL_TO_ALL ? rank : 0);
        break;
    case COLLECTIVE_REDUCE_SCATTER:
        hold_sums(trial, (size_t)rank * (size_t)trial->count);
        break;
    default:
        if (trial->kind != COLLECTIVE_REDUCE || rank == trial->root)
            hold_sums(trial, 0);
    }
}

/* Of what all ranks get alike. */
static void compare_bits(struct trial *trial)
{
    size_t bytes = (size_t)trial->count * element_bytes(trial->type);
    uint64_t least, most, hash = 0;

    if (trial->kind == COLLECTIVE_ALL_GATHER)
        bytes *= (size_t)trial->team->size;
    else if (trial->kind != COLLECTIVE_ALLREDUCE && trial->kind != COLLECTIVE_BROADCAST)
        return;
    for (size_t i = 0; i < bytes; i++)
        hash = pattern_mix(hash, (unsigned char)trial->out[i]);
    MPI_Allreduce(&hash, &least, 1, MPI_UINT64_T, MPI_MIN, trial->team->comm);
    MPI_Allreduce(&hash, &most, 1, MPI_UINT64_T, MPI_MAX, trial->team->comm);
    trial->worst.differs = trial->worst.differs || least != most;
}

static void run_mpi(const struct trial *trial)
{
    MPI_Datatype type = trial->type == ELEMENT_FP64 ? MPI_DOUBLE : MPI_FLOAT;
    MPI_Comm comm = trial->team->comm;

    if (trial->kind == COLLECTIVE_ALLREDUCE)
        MPI_Allreduce(trial->in, trial->out, trial->count, type, MPI_SUM, comm);
    else if (trial->kind == COLLECTIVE_REDUCE)
        MPI_Reduce(trial->in, trial->out, trial->count, type, MPI_SUM, trial->root, comm);
    else
        MPI_Reduce_scatter_block(trial->in, trial->out, trial->count, type, MPI_SUM, comm);
}

static void run_ours(const struct trial *trial, const struct collective_call *call)
{
    struct error err;

    if (collective_run(trial->team->ours, call, &err) < 0)
        watch_fault("%s", err.text);
}

static void run_case(struct trial *trial)
{
    struct collective_call call = {
        .kind = trial->kind,
        .type = trial->type,
        .op = REDUCE_SUM,
        .in = trial->kind == COLLECTIVE_BROADCAST ? trial->out : trial->in,
        .out = trial->out,
        .count = (size_t)trial->count,
        .algorithm = trial->algorithm,
        .wire = trial->wire,
    };

    trial->root = (int)(trial->seed % (uint64_t)trial->team->size);
    call.root = trial->root;
    if (trial->algorithm && !collective_algorithm(trial->team->ours, &call, NULL, NULL))
        return; /* it does not do this, on any rank */
    fill_all(trial);
    watch_waits_for(-1);
    if (trial->algorithm)
        run_ours(trial, &call);
    else
        run_mpi(trial);
    hold_all(trial);
    if (trial->algorithm) /* MPI promises no more than the same on each rank by itself */
        compare_bits(trial);
    watch_works();
    watch_step();
    trial->worst.cases++;
    trial->seed++;
}

/* ----------------------------------------------------------------------------------------- report
 */

static void name_numbers(const struct worst *worst, char *text, size_t size)
{
    enum wire_format wire = (enum wire_format)worst->wire;
    const char *type = element_name((enum element_type)worst->type);

    if (wire == WIRE_AS_IS)
        snprintf(text, size, "%s", type);
    else if (wire == WIRE_LOSSLESS)
        snprintf(text, size, "%s coded", type);
    else
        snprintf(text, size, "%s as %s", type, wire_name(wire));
}

static void report(const struct trial *trial, const struct worst *worst)
{
    struct record record = RECORD_INIT;
    char part[64], message[300], numbers[40];

    snprintf(part, sizeof part, "%s%s%s", collective_kind_name(trial->kind),
             trial->algorithm ? " by " : "", trial->algorithm ? trial->algorithm->name : "");
    name_numbers(worst, numbers, sizeof numbers);
    record.test = "collectives.bound";
    record.metric = "error";
    record.part = part;
    record.unit = "1";
    record.value = isinf(worst->ratio) ? __builtin_nan("") : worst->ratio;
    record.message = message;
    if (worst->cases == 0) {
        record.verdict = VERDICT_SKIP;
        record.value = __builtin_nan("");
        snprintf(message, sizeof message, "%s is not for ranks that are on nodes as these are",
                 part);
    } else if (!(worst->ratio <= 1)) {
        record.verdict = VERDICT_FAIL;
        snprintf(message, sizeof message,
                 "%s of %s: element %d on rank %d on %s is %.9g, expected %.9g, %.3g off at most",
                 part, numbers, worst->element, worst->rank, trial->program->name_of[worst->rank],
                 worst->found, worst->expected, worst->bound);
    } else if (worst->differs) {
        record.verdict = VERDICT_FAIL;
        snprintf(message, sizeof message, "%s: ranks hold different bits of one result", part);
    } else if (worst->ratio == 0) {
        record.verdict = VERDICT_PASS;
        snprintf(message, sizeof message, "%s: %d kinds of numbers, all exact", part, worst->cases);
    } else {
        record.verdict = VERDICT_PASS;
        snprintf(message, sizeof message,
                 "%s: %d kinds of numbers, farthest off %s at %.2f of the bound", part,
                 worst->cases, numbers, worst->ratio);
    }
    output_record(&record);
}

/* Rank 0 hears of every rank's worst and keeps the worst of them. */
static void find_worst(struct trial *trial)
{
    struct worst other;

    if (trial->program->rank != 0) {
        program_send(trial->program, &trial->worst, sizeof trial->worst, 0, TAG_WORST);
        return;
    }
    for (int rank = 1; rank < trial->program->size; rank++) {
        program_receive(trial->program, &other, sizeof other, rank, TAG_WORST);
        if (other.ratio > trial->worst.ratio) {
            other.differs = other.differs || trial->worst.differs;
            trial->worst = other;
        }
    }
    report(trial, &trial->worst);
}

/* Whether there is time for it. */
static bool begin(struct trial *trial, enum collective_kind kind, const struct algorithm *algorithm)
{
    struct program *program = trial->program;

    if (!verdict_say(program, program->rank == 0 && !watch_time_is_up(1)))
        return false;
    program_phase(program, "random numbers, %s%s%s", collective_kind_name(kind),
                  algorithm ? " by " : "", algorithm ? algorithm->name : "");
    trial->kind = kind;
    trial->algorithm = algorithm;
    trial->worst = (struct worst){.type = ELEMENT_FP32};
    return true;
}

static bool check_mpi(struct trial *trial)
{
    const enum collective_kind kinds[] = {COLLECTIVE_ALLREDUCE, COLLECTIVE_REDUCE,
                                          COLLECTIVE_REDUCE_SCATTER};

    trial->wire = WIRE_AS_IS;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!begin(trial, kinds[i], NULL))
            return false;
        for (trial->type = ELEMENT_FP32; trial->type <= ELEMENT_FP64; trial->type++)
            run_case(trial);
        find_worst(trial);
    }
    return true;
}

static bool check_ours(struct trial *trial)
{
    for (const struct algorithm *a = algorithms; a->name; a++) {
        if (!begin(trial, a->kind, a))
            return false;
        for (trial->type = 0; trial->type < ELEMENT_TYPES; trial->type++)
            for (trial->wire = 0; trial->wire < WIRE_FORMATS; trial->wire++)
                if (element_is_float(trial->type) && wire_applies(trial->wire, trial->type))
                    run_case(trial);
        find_worst(trial);
    }
    return true;
}

bool bound_check(const struct bench *bench, const struct team *team)
{
    struct trial trial = {.bench = bench, .program = bench->program, .team = team, .seed = 1};
    bool is_complete;
    size_t room;

    trial.count = team->size < MANY_RANKS ? ELEMENTS : FEW_ELEMENTS;
    room = (size_t)team->size * (size_t)trial.count * sizeof(double);
    trial.in = malloc(room);
    trial.out = malloc(room);
    if (!trial.in || !trial.out)
        watch_fault("out of memory");
    is_complete = check_mpi(&trial) && (!team->ours || check_ours(&trial));
    free(trial.in);
    free(trial.out);
    return is_complete;
}
