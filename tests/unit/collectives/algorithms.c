/* SPDX-License-Identifier: Apache-2.0 */
/* Tests every algorithm for many shapes, without MPI: the result, the same bits on all ranks, guard
 * zones, matching messages, and messages and bytes compared with the formula. */
#include "collectives/algorithms/algorithm.h"
#include "tests/unit/collectives/plan_simulator.h"
#include "tests/unit/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RANKS_MAX = 64, GUARD = 8 };

/* ----------------------------------------------------------------------------------- a case */

struct test_case {
    const struct algorithm *algorithm;
    enum element_type type;
    enum reduce_op op;
    int ranks, root;
    size_t count, segment;
    bool in_place, has_counts, is_shuffled, is_oversubscribed;
    int ranks_per_node;
    enum wire_format wire;
    unsigned messages_max;
    bool is_buffered;
    bool is_counted; /* compare with the formula */
};

static int ring[RANKS_MAX], nodes[RANKS_MAX];
static size_t counts[RANKS_MAX], offsets[RANKS_MAX];
static size_t send_counts[RANKS_MAX][RANKS_MAX], send_offsets[RANKS_MAX][RANKS_MAX];
static size_t receive_counts[RANKS_MAX][RANKS_MAX], receive_offsets[RANKS_MAX][RANKS_MAX];

static double nan_of(int rank)
{
    uint32_t bits = 0x7fc00000u + (uint32_t)rank + 1;
    float nan;

    memcpy(&nan, &bits, sizeof nan);
    return (double)nan;
}

/* Returns element i of the rank's contribution: small integers, or floats that use all bits. */
static double contribution(const struct test_case *test_case, int rank, size_t i)
{
    uint64_t hash = ((uint64_t)rank * 1000003 + i + 1) * 0x9e3779b97f4a7c15u;

    /* NaNs with different bits: all ranks must have the same one in the result */
    if (test_case->type == ELEMENT_FP32 && test_case->op == REDUCE_MAX && i % 11 == 5)
        return nan_of(rank);
    if (test_case->type == ELEMENT_FP32)
        return (double)((float)(int64_t)(hash >> 16 & 0xffffff) / 0x1p20f);
    if (test_case->op == REDUCE_PRODUCT)
        return hash >> 40 & 1 ? 3 : 1;
    return (double)(hash >> 40 & 0xff);
}

static void put(const struct test_case *test_case, void *buffer, size_t i, double value)
{
    if (test_case->type == ELEMENT_FP32)
        ((float *)buffer)[i] = (float)value;
    else
        ((uint32_t *)buffer)[i] = (uint32_t)value;
}

static double get(const struct test_case *test_case, const void *buffer, size_t i)
{
    return test_case->type == ELEMENT_FP32 ? (double)((const float *)buffer)[i]
                                           : (double)((const uint32_t *)buffer)[i];
}

/* Returns the reduction of element i of all ranks; integers wrap around. */
static double reduced(const struct test_case *test_case, size_t i)
{
    double sum = contribution(test_case, 0, i);
    uint32_t whole = isnan(sum) ? 0 : (uint32_t)sum;

    for (int r = 1; r < test_case->ranks; r++) {
        double more = contribution(test_case, r, i);

        sum = test_case->op == REDUCE_MIN   ? (more < sum ? more : sum)
              : test_case->op == REDUCE_MAX ? (more > sum ? more : sum)
                                            : sum + more;
        if (isnan(more))
            continue;
        whole = test_case->op == REDUCE_PRODUCT ? whole * (uint32_t)more : whole + (uint32_t)more;
    }
    return test_case->type == ELEMENT_FP32 || test_case->op == REDUCE_MIN ||
                   test_case->op == REDUCE_MAX
               ? sum
               : whole;
}

/* Returns the sum of the magnitudes of element i of all ranks. */
static double magnitudes(const struct test_case *test_case, size_t i)
{
    double sum = 0;

    for (int r = 0; r < test_case->ranks; r++)
        sum += fabs(contribution(test_case, r, i));
    return sum;
}

static struct plan_shape shape_of(const struct test_case *test_case, int rank)
{
    static struct plan_topology topology;
    struct plan_shape shape = {
        .kind = test_case->algorithm->kind,
        .element_bytes = 4,
        .rank = rank,
        .ranks = test_case->ranks,
        .root = test_case->root,
        .count = test_case->count,
        .in_place = test_case->in_place,
        .segment = test_case->segment,
        .wire = test_case->wire,
        .topology = &topology,
    };

    topology = (struct plan_topology){
        .node_of_rank = nodes,
        .nodes = nodes[test_case->ranks - 1] + 1,
        .has_window = true,
        .can_pull = true,
        .processors = test_case->is_oversubscribed ? test_case->ranks / 3 + 1 : 0,
        .ring = test_case->is_shuffled ? ring : NULL};
    if (shape.kind == COLLECTIVE_REDUCE && rank != test_case->root)
        shape.in_place = false;
    if (shape.kind == COLLECTIVE_BROADCAST)
        shape.in_place = false;
    if (!test_case->has_counts)
        return shape;
    shape.count = 0;
    shape.counts = counts;
    if (shape.kind == COLLECTIVE_ALL_GATHER)
        shape.offsets = offsets;
    if (shape.kind == COLLECTIVE_ALL_TO_ALL) {
        shape.counts = receive_counts[rank];
        shape.offsets = receive_offsets[rank];
        if (!test_case->in_place) {
            shape.send_counts = send_counts[rank];
            shape.send_offsets = send_offsets[rank];
        }
    }
    return shape;
}

/* Returns the largest error of a number that was rounded on the wire as often as the algorithm
 * declares. int8 has steps of 1 / 127 of the largest number in its block; sums grow on the way. */
static double bound_of(const struct test_case *test_case, size_t i)
{
    unsigned ranks = (unsigned)test_case->ranks, roundings;
    struct plan_shape shape = shape_of(test_case, 0);

    if (!wire_is_lossy(test_case->wire) || ranks == 1)
        return 0;
    roundings = test_case->algorithm->roundings(&shape);
    if (!collective_kind_reduces(test_case->algorithm->kind))
        return test_case->wire == WIRE_INT8
                   ? roundings * (16.0 / 127 / 2) * 1.01
                   : precision_bound(wire_precision(test_case->wire), roundings, 0, 16);
    if (test_case->wire == WIRE_INT8)
        return roundings * (16.0 * ranks / 127 / 2) * 1.01;
    return precision_bound(wire_precision(test_case->wire), roundings, ranks - 1,
                           magnitudes(test_case, i));
}

static bool is_right(const struct test_case *test_case, size_t i, double found, double expected)
{
    double off = found - expected;

    if (wire_is_lossy(test_case->wire) && !isnan(expected))
        return fabs(off) <=
               bound_of(test_case, i) + 1e-6 * 16 * test_case->ranks * test_case->ranks;

    if (isnan(expected))
        return isnan(found);
    /* sums of numbers up to 16 * ranks */
    return test_case->type == ELEMENT_FP32 && collective_kind_reduces(test_case->algorithm->kind)
               ? off < 1e-6 * 16 * test_case->ranks * test_case->ranks &&
                     off > -1e-6 * 16 * test_case->ranks * test_case->ranks
               : off == 0;
}

/* Makes uneven blocks, some of them empty, with gaps between them. */
static void make_counts(const struct test_case *test_case)
{
    size_t end = 0;

    for (int r = 0; r < test_case->ranks; r++) {
        counts[r] = (size_t)(r * 7 + 3) % 5 * test_case->count / 2;
        offsets[r] = end;
        end += counts[r] + (size_t)r % 3;
        nodes[r] = r / test_case->ranks_per_node;
        ring[r] = r;
    }
    for (int r = test_case->ranks - 1; r > 0; r--) {
        int other = (r * 5 + 3) % (r + 1), kept = ring[r];

        ring[r] = ring[other];
        ring[other] = kept;
    }
    for (int r = 0; r < test_case->ranks; r++)
        for (int p = 0; p < test_case->ranks; p++) {
            /* in place: as much is received from a rank as is sent to it */
            int key = test_case->in_place ? r + p : r + 2 * p;

            send_counts[r][p] = (size_t)(key % 4) * test_case->count;
            receive_counts[p][r] = send_counts[r][p];
        }
    for (int r = 0; r < test_case->ranks; r++)
        for (int p = 0; p < test_case->ranks; p++) {
            send_offsets[r][p] = p ? send_offsets[r][p - 1] + send_counts[r][p - 1] + 1 : 0;
            receive_offsets[r][p] =
                p ? receive_offsets[r][p - 1] + receive_counts[r][p - 1] + 2 : 1;
        }
}

static size_t all_blocks(const struct plan_shape *shape, bool sent)
{
    size_t end = 0;

    for (int r = 0; r < shape->ranks; r++) {
        struct plan_block block =
            sent ? plan_shape_send_block(shape, r) : plan_shape_block(shape, r);

        end = block.offset + block.count > end ? block.offset + block.count : end;
    }
    return end;
}

static void sizes_of(const struct plan_shape *shape, size_t *in, size_t *out)
{
    *in = *out = shape->count;
    switch (shape->kind) {
    case COLLECTIVE_REDUCE_SCATTER:
        *in = all_blocks(shape, false);
        *out = shape->in_place ? *in : plan_shape_block(shape, shape->rank).count;
        break;
    case COLLECTIVE_ALL_GATHER:
        *in = plan_shape_block(shape, shape->rank).count;
        *out = all_blocks(shape, false);
        break;
    case COLLECTIVE_ALL_TO_ALL:
        *in = all_blocks(shape, true);
        *out = all_blocks(shape, false);
        break;
    case COLLECTIVE_BROADCAST:
        *in = 0;
        break;
    case COLLECTIVE_REDUCE:
        *out = shape->rank == shape->root ? *out : 0;
        break;
    default:
        break;
    }
}

/* Writes the rank's contribution to its buffer. In an all-to-all, element e of the block for rank p
 * has the number p * 10000 + e. */
static void fill(const struct test_case *test_case, const struct plan_shape *shape, void *in,
                 void *out)
{
    size_t in_count, out_count;

    sizes_of(shape, &in_count, &out_count);
    if (shape->kind == COLLECTIVE_BROADCAST) {
        for (size_t i = 0; i < out_count && shape->rank == shape->root; i++)
            put(test_case, out, i, contribution(test_case, shape->root, i));
    } else if (shape->kind == COLLECTIVE_ALL_TO_ALL) {
        for (int p = 0; p < shape->ranks; p++) {
            struct plan_block block = plan_shape_send_block(shape, p);

            for (size_t i = 0; i < block.count; i++)
                put(test_case, in, block.offset + i,
                    contribution(test_case, shape->rank, (size_t)p * 10000 + i));
        }
    } else {
        size_t shift = shape->kind == COLLECTIVE_ALL_GATHER && shape->in_place
                           ? plan_shape_block(shape, shape->rank).offset
                           : 0;

        for (size_t i = 0; i < in_count; i++)
            put(test_case, in, shift + i, contribution(test_case, shape->rank, i));
    }
}

static bool is_block_right(const struct test_case *test_case, const void *out, size_t offset,
                           int from, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double expected =
            from < 0 ? reduced(test_case, first + i) : contribution(test_case, from, first + i);

        if (!is_right(test_case, first + i, get(test_case, out, offset + i), expected)) {
            tap_diag("element %zu: %.9g instead of %.9g", offset + i,
                     get(test_case, out, offset + i), expected);
            return false;
        }
    }
    return true;
}

static bool is_result_right(const struct test_case *test_case, const struct plan_shape *shape,
                            const void *out)
{
    switch (shape->kind) {
    case COLLECTIVE_ALLREDUCE:
        return is_block_right(test_case, out, 0, -1, 0, shape->count);
    case COLLECTIVE_REDUCE:
        return shape->rank != shape->root || is_block_right(test_case, out, 0, -1, 0, shape->count);
    case COLLECTIVE_BROADCAST:
        return is_block_right(test_case, out, 0, shape->root, 0, shape->count);
    case COLLECTIVE_REDUCE_SCATTER: {
        struct plan_block block = plan_shape_block(shape, shape->rank);

        return is_block_right(test_case, out, 0, -1, block.offset, block.count);
    }
    default:
        for (int r = 0; r < shape->ranks; r++) {
            struct plan_block block = plan_shape_block(shape, r);
            size_t first = shape->kind == COLLECTIVE_ALL_TO_ALL ? (size_t)shape->rank * 10000 : 0;

            if (!is_block_right(test_case, out, block.offset, r, first, block.count))
                return false;
        }
        return true;
    }
}

/* ------------------------------------------------------------------------------------- running */

struct call {
    struct plan_shape shapes[RANKS_MAX];
    struct plan plans[RANKS_MAX];
    struct simulated_rank ranks[RANKS_MAX];
    void *outs[RANKS_MAX], *ins[RANKS_MAX];
};

static void *guarded(size_t count)
{
    char *buffer = malloc((count + GUARD) * 4);

    memset(buffer, 0x77, (count + GUARD) * 4);
    return buffer;
}

static bool is_guard_intact(const void *buffer, size_t count)
{
    for (size_t i = 0; i < (size_t)GUARD * 4; i++)
        if (((const char *)buffer)[count * 4 + i] != 0x77)
            return false;
    return true;
}

static void call_open(const struct test_case *test_case, struct call *call, struct error *err)
{
    for (int r = 0; r < test_case->ranks; r++) {
        struct simulated_rank *rank = &call->ranks[r];

        call->shapes[r] = shape_of(test_case, r);
        sizes_of(&call->shapes[r], &rank->in_count, &rank->out_count);
        call->outs[r] = guarded(rank->out_count);
        call->ins[r] = call->shapes[r].in_place ? NULL : guarded(rank->in_count);
        rank->shape = &call->shapes[r];
        rank->plan = &call->plans[r];
        rank->out = call->outs[r];
        rank->in = call->ins[r] ? call->ins[r] : call->outs[r];
        fill(test_case, rank->shape, rank->in, rank->out);
        if (algorithm_plan(test_case->algorithm, rank->shape, &call->plans[r], err) < 0)
            tap_diag("%s", err->text);
    }
}

static void call_close(const struct test_case *test_case, struct call *call)
{
    for (int r = 0; r < test_case->ranks; r++) {
        plan_clear(&call->plans[r]);
        free(call->outs[r]);
        free(call->ins[r]);
    }
}

/* Returns whether all ranks have the same bits, for collectives where they must. */
static bool is_same_everywhere(const struct test_case *test_case, const struct call *call)
{
    enum collective_kind kind = test_case->algorithm->kind;

    if (kind != COLLECTIVE_ALLREDUCE && kind != COLLECTIVE_ALL_GATHER &&
        kind != COLLECTIVE_BROADCAST)
        return true;
    for (int r = 1; r < test_case->ranks; r++)
        if (memcmp(call->outs[0], call->outs[r], call->ranks[0].out_count * 4) != 0)
            return false;
    return true;
}

/* Compares with the formula, whose numbers are those of the rank with the most of each. */
static bool cost_matches_formula(const struct test_case *test_case,
                                 const struct simulated_work *work)
{
    struct plan_shape shape = shape_of(test_case, 0);
    struct algorithm_cost cost = test_case->algorithm->cost(&shape);
    size_t bytes =
        work->bytes_sent > work->bytes_received ? work->bytes_sent : work->bytes_received;

    if ((double)bytes == cost.bytes && (double)work->bytes_reduced == cost.reduced)
        return true;
    tap_diag("%zu bytes, formula %.0f; %zu reduced, formula %.0f", bytes, cost.bytes,
             work->bytes_reduced, cost.reduced);
    return false;
}

static bool is_for_one_node(const struct algorithm *algorithm)
{
    return strcmp(algorithm->name, "shared") == 0 || strcmp(algorithm->name, "pull") == 0;
}

static bool has_variable_counts(enum collective_kind kind)
{
    return kind == COLLECTIVE_REDUCE_SCATTER || kind == COLLECTIVE_ALL_GATHER ||
           kind == COLLECTIVE_ALL_TO_ALL;
}

static bool is_correct(const struct test_case *test_case)
{
    static struct call call;
    struct simulation simulation = {test_case->type, test_case->op, test_case->messages_max,
                                    test_case->is_buffered,
                                    test_case->count * 31 + (unsigned)test_case->ranks};
    struct simulated_work work;
    struct error err = {""};
    bool correct = true;

    make_counts(test_case);
    memset(&call, 0, sizeof call);
    call_open(test_case, &call, &err);
    if (simulate(&simulation, call.ranks, test_case->ranks, &work, &err) < 0) {
        tap_diag("%s", err.text);
        correct = false;
    }
    for (int r = 0; r < test_case->ranks && correct; r++) {
        correct = is_result_right(test_case, &call.shapes[r], call.outs[r]);
        if (correct && !(is_guard_intact(call.outs[r], call.ranks[r].out_count) &&
                         (!call.ins[r] || is_guard_intact(call.ins[r], call.ranks[r].in_count)))) {
            tap_diag("a guard zone was written");
            correct = false;
        }
        if (!correct)
            tap_diag("at rank %d", r);
    }
    if (correct && !is_same_everywhere(test_case, &call)) {
        tap_diag("ranks have different bits");
        correct = false;
    }
    if (correct && test_case->is_counted)
        correct = cost_matches_formula(test_case, &work);
    call_close(test_case, &call);
    if (!correct)
        tap_diag(
            "%s, %d ranks, root %d, %zu of %s as %s, %s, segment %zu%s%s%s%s, %u messages at once",
            test_case->algorithm->name, test_case->ranks, test_case->root, test_case->count,
            element_name(test_case->type), wire_name(test_case->wire), reduce_name(test_case->op),
            test_case->segment, test_case->in_place ? ", in place" : "",
            test_case->has_counts ? ", with counts" : "",
            test_case->is_shuffled ? ", shuffled" : "", test_case->is_buffered ? ", buffered" : "",
            test_case->messages_max);
    return correct;
}

/* --------------------------------------------------------------------------------- all shapes */

/* As is_correct(), but true for a case that the algorithm does not apply to. */
static bool is_correct_if_applies(const struct test_case *test_case)
{
    struct plan_shape shape;

    make_counts(test_case);
    shape = shape_of(test_case, 0);
    return !algorithm_applies(test_case->algorithm, &shape) || is_correct(test_case);
}

/* Tests all kinds of calls for a number of ranks; properties that hardly affect each other rotate
 * instead of being combined. */
static bool is_correct_for_ranks(const struct algorithm *algorithm, int ranks)
{
    /* with a block per rank fewer elements, else there are too many */
    bool has_blocks = has_variable_counts(algorithm->kind);
    size_t whole = has_blocks ? 1 : (size_t)ranks;
    const size_t some[] = {0, 1, 2, whole, whole * 6, whole * 3 + 1, has_blocks ? 17 : 97};
    const enum reduce_op ops[] = {REDUCE_SUM, REDUCE_MAX, REDUCE_PRODUCT, REDUCE_MIN, REDUCE_SUM};
    static unsigned case_number;
    bool correct = true;

    for (size_t c = 0; c < sizeof some / sizeof *some; c++)
        for (int variant = 0; variant < 8; variant++, case_number++) {
            struct test_case test_case = {
                .algorithm = algorithm,
                .type = case_number % 3 ? ELEMENT_FP32 : ELEMENT_UINT32,
                .op = ops[case_number % 5],
                .ranks = ranks,
                .root = (int)(case_number % (unsigned)ranks),
                .count = some[c],
                .segment = variant & 2 ? 1 + case_number * 7 % 23 : 0,
                .in_place = variant & 1,
                .has_counts = has_blocks && variant & 4,
                .is_shuffled = case_number % 2,
                .is_oversubscribed = case_number % 3 == 0,
                .ranks_per_node = 1 + (int)(case_number % 4),
                .messages_max = case_number % 4 == 0 ? 0 : case_number % 4,
                .is_buffered = case_number / 4 % 2,
            };

            if (is_for_one_node(algorithm))
                test_case.ranks_per_node = ranks;
            if (test_case.type == ELEMENT_FP32 && test_case.op == REDUCE_PRODUCT)
                test_case.op = REDUCE_SUM;
            correct &= is_correct_if_applies(&test_case);
        }
    return correct;
}

/* Compares an algorithm with its formula, for whole blocks and a count that divides evenly. */
static bool costs_match_formula(const struct algorithm *algorithm, int ranks)
{
    struct test_case test_case = {.algorithm = algorithm, .type = ELEMENT_UINT32, .ranks = ranks};

    test_case.ranks_per_node = ranks % 2 ? 1 : 2;
    if (is_for_one_node(algorithm))
        test_case.ranks_per_node = ranks;
    test_case.count = has_variable_counts(algorithm->kind) ? 3 : (size_t)ranks * 64;
    test_case.is_counted = true;
    return is_correct_if_applies(&test_case);
}

/* Tests every wire format with fp32, against the bounds of its precision. */
static bool wires_are_correct(const struct algorithm *algorithm)
{
    const int some_ranks[] = {1, 2, 3, 5, 8, 12, 13};
    const size_t some[] = {1, 13, 300, 1031};
    static unsigned case_number;
    bool correct = true;

    for (unsigned w = 1; w < WIRE_FORMATS; w++)
        for (size_t n = 0; n < sizeof some_ranks / sizeof *some_ranks; n++)
            for (size_t c = 0; c < sizeof some / sizeof *some; c++, case_number++) {
                struct test_case test_case = {
                    .algorithm = algorithm,
                    .type = ELEMENT_FP32,
                    .ranks = some_ranks[n],
                    .root = (int)case_number % some_ranks[n],
                    .count = some[c],
                    .segment = case_number % 2 ? 37 : 0,
                    .in_place = case_number / 2 % 2,
                    .ranks_per_node = 1 + (int)(case_number % 5),
                    .messages_max = case_number % 3,
                    .wire = (enum wire_format)w,
                };

                correct &= is_correct_if_applies(&test_case);
            }
    return correct;
}

/* AddressSanitizer makes many ranks slow, and few ranks are enough for it. */
#ifdef __SANITIZE_ADDRESS__
static const int tested_ranks_max = 7;
static const unsigned large_case_step = 2;
#else
static const int tested_ranks_max = RANKS_MAX;
static const unsigned large_case_step = 1;
#endif

static bool is_correct_for_all_ranks(const struct algorithm *algorithm)
{
    static const int tried[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32, 64};
    bool correct = true;

    for (size_t i = 0; i < sizeof tried / sizeof *tried && tried[i] <= tested_ranks_max; i++)
        correct &=
            is_correct_for_ranks(algorithm, tried[i]) && costs_match_formula(algorithm, tried[i]);
    return correct;
}

/* Returns whether segments change the plan. */
static bool is_segmented(const struct algorithm *algorithm)
{
    struct plan plans[2];
    struct error err;
    bool differs;

    for (size_t i = 0; i < 2; i++) {
        struct test_case test_case = {.algorithm = algorithm,
                                      .ranks = 4,
                                      .count = 1000,
                                      .segment = i ? 10 : 0,
                                      .ranks_per_node = is_for_one_node(algorithm) ? 4 : 2};
        struct plan_shape shape;

        make_counts(&test_case);
        shape = shape_of(&test_case, 1);
        if (algorithm_plan(algorithm, &shape, &plans[i], &err) < 0)
            tap_diag("%s", err.text);
    }
    differs = plans[0].step_count != plans[1].step_count;
    plan_clear(&plans[0]);
    plan_clear(&plans[1]);
    return differs;
}

static void test_algorithms(void)
{
    for (const struct algorithm *a = algorithms; a->name; a++) {
        ok(is_correct_for_all_ranks(a), "%s by %s: 1 to 17, 32 and 64 ranks, %d at most",
           collective_kind_name(a->kind), a->name, tested_ranks_max);
        ok(wires_are_correct(a), "... on every wire");
        ok(algorithm_find(a->kind, a->name) == a, "... is found by its name");
        ok(is_segmented(a) != a->is_whole, "... blocks are sent %s",
           a->is_whole ? "whole" : "in segments");
    }
    for (unsigned kind = 0; kind < COLLECTIVE_KINDS; kind++) {
        struct plan_shape shape = {
            .kind = (enum collective_kind)kind, .element_bytes = 4, .ranks = 3, .count = 1 << 20};
        const struct algorithm *a = algorithm_default(&shape);

        ok(a && algorithm_applies(a, &shape), "%s has a default",
           collective_kind_name((enum collective_kind)kind));
    }
}

/* -------------------------------------------------------------------------------- large calls */

static unsigned count_nontemporal(const struct plan *plan)
{
    unsigned count = 0;

    for (unsigned i = 0; i < plan->step_count; i++)
        count += plan->steps[i].is_nontemporal;
    return count;
}

/* Returns whether a step of any rank, in a call of this size, writes past the caches. */
static bool writes_past_caches(const struct algorithm *algorithm, size_t bytes,
                               size_t segment_bytes)
{
    enum { RANKS = 3 };
    unsigned count = 0;

    for (int r = 0; r < RANKS; r++) {
        struct test_case test_case = {.algorithm = algorithm,
                                      .ranks = RANKS,
                                      .count = bytes / 4 /
                                               (has_variable_counts(algorithm->kind) ? RANKS : 1),
                                      .segment = segment_bytes / 4,
                                      .ranks_per_node = RANKS};
        struct plan_shape shape;
        struct error err;
        struct plan plan;

        make_counts(&test_case);
        shape = shape_of(&test_case, r);
        if (algorithm_plan(algorithm, &shape, &plan, &err) < 0)
            tap_diag("%s", err.text);
        count += count_nontemporal(&plan);
        plan_clear(&plan);
    }
    return count > 0;
}

/* Calls so large that data goes past the caches, where sums of several ranks are kept in another
 * place. With AddressSanitizer only every second case. */
static bool is_correct_for_large(const struct algorithm *algorithm)
{
    bool correct = true, has_blocks = has_variable_counts(algorithm->kind);
    static const int some_ranks[] = {2, 3, 5};

    for (unsigned i = large_case_step - 1; i < 6; i += large_case_step) {
        int ranks = some_ranks[i % 3];
        struct test_case test_case = {.algorithm = algorithm,
                                      .type = i % 2 ? ELEMENT_FP32 : ELEMENT_UINT32,
                                      .ranks = ranks,
                                      .root = ranks - 1,
                                      .count = (2 << 20) / (has_blocks ? (size_t)ranks : 1) + 1,
                                      .segment = i / 2 % 2 ? 1 << 16 : 1 << 18,
                                      .in_place = i / 3 % 2,
                                      .ranks_per_node = ranks};

        correct &= is_correct_if_applies(&test_case);
    }
    return correct;
}

static void test_large(void)
{
    for (const struct algorithm *a = algorithms; a->name; a++) {
        if (!is_for_one_node(a))
            continue;
        ok(is_correct_for_large(a), "%s by %s, 8 MiB, one of %u cases from number %u on",
           collective_kind_name(a->kind), a->name, large_case_step, large_case_step);
        if (strcmp(a->name, "shared") != 0)
            continue;
        ok(writes_past_caches(a, (8 << 20) + 64, 65536) && !writes_past_caches(a, 4 << 20, 1 << 20),
           "... writes past the caches");
    }
}

/* ----------------------------------------------------------------------------- oversubscribed */

static unsigned count_action(const struct plan *plan, enum plan_action action)
{
    unsigned count = 0;

    for (unsigned i = 0; i < plan->step_count; i++)
        count += plan->steps[i].action == action;
    return count;
}

/* Returns the number of steps with this action in the plan of rank 1; the root is rank 0. */
static unsigned steps_of(const struct test_case *test_case, enum plan_action action)
{
    struct plan_shape shape;
    struct error err;
    struct plan plan;
    unsigned count;

    make_counts(test_case);
    shape = shape_of(test_case, 1);
    if (algorithm_plan(test_case->algorithm, &shape, &plan, &err) < 0)
        tap_diag("%s", err.text);
    count = count_action(&plan, action);
    plan_clear(&plan);
    return count;
}

/* More ranks than processors. The block of rank r for rank p has (r + 2 p) % 4 times the count. */
static void test_oversubscribed(void)
{
    enum { RANKS = 5, PROCESSORS = RANKS / 3 + 1, LARGE = 1 << 18 };
    struct test_case reduce = {.algorithm = algorithm_find(COLLECTIVE_REDUCE, "shared"),
                               .type = ELEMENT_FP32,
                               .ranks = RANKS,
                               .count = 1 << 16,
                               .is_oversubscribed = true,
                               .ranks_per_node = RANKS};
    struct test_case sum = {.algorithm = algorithm_find(COLLECTIVE_ALLREDUCE, "shared"),
                            .type = ELEMENT_FP32,
                            .ranks = RANKS,
                            .count = 4096,
                            .is_oversubscribed = true,
                            .ranks_per_node = RANKS};
    struct test_case uneven = {.algorithm = algorithm_find(COLLECTIVE_ALL_TO_ALL, "shared"),
                               .type = ELEMENT_FP32,
                               .ranks = RANKS,
                               .count = LARGE,
                               .has_counts = true,
                               .is_oversubscribed = true,
                               .ranks_per_node = RANKS};
    struct test_case scatter = {.algorithm = algorithm_find(COLLECTIVE_REDUCE_SCATTER, "shared"),
                                .ranks = RANKS,
                                .has_counts = true,
                                .ranks_per_node = RANKS};

    is_int(steps_of(&reduce, PLAN_AWAIT), 0, "oversubscribed reduce: only the root waits");
    ok(is_correct_if_applies(&reduce), "... and the result is right");
    reduce.is_oversubscribed = false;
    ok(steps_of(&reduce, PLAN_AWAIT) > 0, "... other ranks wait too if not oversubscribed");

    is_int(steps_of(&sum, PLAN_AWAIT), PROCESSORS,
           "oversubscribed allreduce: a rank that does not reduce waits for as many ranks as there "
           "are processors");
    ok(is_correct_if_applies(&sum), "... and the result is right");
    sum.count *= 2;
    ok(steps_of(&sum, PLAN_AWAIT) > PROCESSORS, "... with more data all ranks reduce");
    sum.count /= 2;
    sum.is_oversubscribed = false;
    ok(steps_of(&sum, PLAN_AWAIT) > PROCESSORS, "... and so they do if not oversubscribed");

    is_int(steps_of(&uneven, PLAN_SEND), 4, "a large block for one rank is sent as a message");
    is_int(steps_of(&uneven, PLAN_RECEIVE), 3, "... and received as one");
    ok(is_correct_if_applies(&uneven), "... and the result is right");
    uneven.count = LARGE / 4;
    is_int(steps_of(&uneven, PLAN_SEND), 1, "... smaller blocks go through the window");
    ok(is_correct_if_applies(&uneven), "... and the result is right");
    uneven.in_place = true;
    ok(is_correct_if_applies(&uneven), "... also in place");
    uneven.is_oversubscribed = false;
    is_int(steps_of(&uneven, PLAN_SEND), 0, "... all blocks do if not oversubscribed");

    scatter.count = 0;
    is_int(steps_of(&scatter, PLAN_AWAIT), 0,
           "a rank with an empty block of a reduce-scatter does not wait");
}

/* The chooser computes it many times, in MPI_Init and in the program. */
static void test_cost(void)
{
    const struct plan_shape shape = {
        .kind = COLLECTIVE_ALLREDUCE, .element_bytes = 4, .ranks = 1 << 16, .count = 1 << 20};
    clock_t begin = clock();
    struct algorithm_cost cost = double_tree_allreduce_cost(&shape);
    double taken_s = (double)(clock() - begin) / CLOCKS_PER_SEC;

    ok(cost.bytes > 0 && taken_s < 2, "the cost of a double tree of 65,536 ranks takes %.3f s",
       taken_s);
}

int main(void)
{
    test_cost();
    test_algorithms();
    test_large();
    test_oversubscribed();
    return tap_done();
}
