/* SPDX-License-Identifier: Apache-2.0 */
/* Run under mpirun: compares every algorithm of our collectives over MPI with the exact result.
 * Rank 0 prints a line "ok ..." or "not ok ..." per check, for the script that starts it. */
#include "collectives/choose/layout_mpi.h"
#include "collectives/choose/measure.h"
#include "collectives/choose/tuned.h"
#include "collectives/collective.h"
#include "tests/command/mpi_checks.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static int32_t value(int of, size_t i)
{
    return (int32_t)(((uint32_t)of + 1) * 7919 + (uint32_t)i * 31 % 1009);
}

static int32_t sum_at(size_t i)
{
    int32_t sum = 0;

    for (int r = 0; r < ranks; r++)
        sum += value(r, i);
    return sum;
}

enum { GUARD = 16 };

struct buffers {
    int32_t *in, *out;
    size_t room;
};

static void poison(struct buffers *buffers)
{
    memset(buffers->in, 0x55, (buffers->room + GUARD) * sizeof(int32_t));
    memset(buffers->out, 0x55, (buffers->room + GUARD) * sizeof(int32_t));
}

static bool is_intact(const int32_t *buffer, size_t from)
{
    for (size_t i = from; i < from + GUARD; i++)
        if (buffer[i] != 0x55555555)
            return false;
    return true;
}

/* Fills the buffers with the input of the call. */
static void prepare(const struct collective_call *call, struct buffers *buffers)
{
    size_t all = (size_t)ranks * call->count, n = call->count;
    int32_t *in = (int32_t *)(uintptr_t)call->in;

    poison(buffers);
    switch (call->kind) {
    case COLLECTIVE_ALL_GATHER:
        for (size_t i = 0; i < n; i++)
            in[(call->in == call->out ? (size_t)rank * n : 0) + i] = value(rank, i);
        break;
    case COLLECTIVE_BROADCAST:
        for (size_t i = 0; i < n && rank == call->root; i++)
            buffers->out[i] = value(call->root, i);
        break;
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_TO_ALL:
        for (size_t i = 0; i < all; i++)
            in[i] = value(rank, i);
        break;
    default:
        for (size_t i = 0; i < n; i++)
            in[i] = value(rank, i);
    }
}

static bool is_right(const struct collective_call *call)
{
    const int32_t *out = call->out;
    size_t n = call->count, own = (size_t)rank * n, end = n;
    bool held = true;

    switch (call->kind) {
    case COLLECTIVE_ALLREDUCE:
    case COLLECTIVE_REDUCE:
        for (size_t i = 0; i < n && (call->kind == COLLECTIVE_ALLREDUCE || rank == call->root); i++)
            held &= out[i] == sum_at(i);
        break;
    case COLLECTIVE_REDUCE_SCATTER:
        for (size_t i = 0; i < n; i++)
            held &= out[i] == sum_at(own + i);
        end = call->in == call->out ? n * (size_t)ranks : n;
        break;
    case COLLECTIVE_BROADCAST:
        for (size_t i = 0; i < n; i++)
            held &= out[i] == value(call->root, i);
        break;
    default:
        for (int r = 0; r < ranks; r++)
            for (size_t i = 0; i < n; i++)
                held &= out[(size_t)r * n + i] ==
                        value(r, call->kind == COLLECTIVE_ALL_TO_ALL ? own + i : i);
        end = n * (size_t)ranks;
    }
    return held && is_intact(out, end);
}

static bool runs(struct collective *collective, struct collective_call *call,
                 struct buffers *buffers)
{
    struct error err;

    prepare(call, buffers);
    if (collective_run(collective, call, &err) < 0) {
        fprintf(stderr, "# rank %d: %s\n", rank, err.text);
        return false;
    }
    return is_right(call);
}

/* Whether the algorithm cannot work in place: it would overwrite a block before it is read. */
static bool has_no_in_place(const struct algorithm *algorithm)
{
    return algorithm->kind == COLLECTIVE_ALL_TO_ALL && strcmp(algorithm->name, "pull") == 0;
}

/* Whether the algorithm applies to these ranks, which are on one node. */
static bool has_algorithm(const struct collective *collective, const struct algorithm *algorithm)
{
    const struct plan_topology *topology = collective_topology(collective);

    if (strcmp(algorithm->name, "hierarchical") == 0)
        return false;
    if (strcmp(algorithm->name, "pull") == 0) /* the kernel may forbid it */
        return topology->can_pull;
    return strcmp(algorithm->name, "shared") != 0 || ranks > 1;
}

static void test_algorithm(struct collective *collective, const struct algorithm *algorithm,
                           struct buffers *buffers)
{
    const size_t counts[] = {0, 1, 5, 1000, 40001};
    char name[80];
    bool held = true;

    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (int variant = 0; variant < 4; variant++) {
            struct collective_call call = {
                .kind = algorithm->kind,
                .type = ELEMENT_INT32,
                .op = REDUCE_SUM,
                .in = variant & 1 ? buffers->out : buffers->in,
                .out = buffers->out,
                .count = counts[c],
                .root = (int)c % ranks,
                .algorithm = algorithm,
                .segment_bytes = variant & 2 ? 4096 : 0,
            };

            if (algorithm->kind == COLLECTIVE_REDUCE && rank != call.root)
                call.in = buffers->in;
            if (call.in == call.out && has_no_in_place(algorithm))
                continue;
            held &= runs(collective, &call, buffers);
        }
    snprintf(name, sizeof name, "%s by %s", collective_kind_name(algorithm->kind), algorithm->name);
    check(held, name, NULL);
}

/* Calls of 8 MiB and more, whose results are written past the caches. */
static void test_large(struct collective *collective)
{
    enum { ALL = 2 << 20 };
    struct buffers buffers = {.room = ALL + 2 * (size_t)ranks};
    struct error err;
    bool held = true;

    buffers.in = malloc((buffers.room + GUARD) * sizeof(int32_t));
    buffers.out = malloc((buffers.room + GUARD) * sizeof(int32_t));
    for (int kind = 0; kind < COLLECTIVE_KINDS; kind++)
        for (int variant = 0; variant < 4; variant++) {
            struct collective_call call = {
                .kind = (enum collective_kind)kind,
                .type = ELEMENT_INT32,
                .op = REDUCE_SUM,
                .in = variant & 1 ? buffers.out : buffers.in,
                .out = buffers.out,
                .count = 1 + ALL / (collective_kind_has_blocks((enum collective_kind)kind)
                                        ? (size_t)ranks
                                        : 1),
                .root = variant % ranks,
                .algorithm = algorithm_find((enum collective_kind)kind, "shared"),
                .segment_bytes = variant & 2 ? 1 << 20 : 1 << 18,
            };

            if (call.kind == COLLECTIVE_REDUCE && rank != call.root)
                call.in = buffers.in;
            if (collective_algorithm(collective, &call, NULL, &err) != NULL)
                held &= runs(collective, &call, &buffers);
        }
    free(buffers.in);
    free(buffers.out);
    check(held, "8 MiB and more by shared", NULL);
}

/* Two communicators, several calls on each, waited for in another order at each rank. */
static void test_many(struct collective *collective, struct buffers *buffers)
{
    enum { CALLS = 6, EACH = 5000 };
    const struct algorithm *shared = algorithm_find(COLLECTIVE_ALLREDUCE, "shared");
    struct collective *other;
    struct collective_request *requests[2 * CALLS];
    struct error err = {""};
    bool held = true;

    held &= collective_create(MPI_COMM_WORLD, NULL, &other, &err) == 0;
    poison(buffers);
    for (size_t i = 0; i < 2 * CALLS; i++) {
        struct collective_call call = {.kind = COLLECTIVE_ALLREDUCE,
                                       .type = ELEMENT_INT32,
                                       .in = buffers->in + i * EACH,
                                       .out = buffers->out + i * EACH,
                                       .count = EACH - i,
                                       .algorithm = ranks > 1 && i % 4 < 2 ? shared : NULL,
                                       .segment_bytes = 4096};

        for (size_t e = 0; e < EACH; e++)
            buffers->in[i * EACH + e] = value(rank, e + i);
        held &= collective_start(i % 2 ? other : collective, &call, &requests[i], &err) == 0;
    }
    for (int i = 0; i < CALLS; i++) {
        struct collective_request **request = &requests[(i * 5 + rank) % (2 * CALLS)];

        if (*request)
            held &= collective_wait(request, &err) == 0;
    }
    for (int i = 0; i < 2 * CALLS; i++) {
        collective_progress(collective);
        held &= collective_wait(&requests[i], &err) == 0;
    }
    for (size_t i = 0; i < 2 * CALLS; i++)
        for (size_t e = 0; e < EACH - i; e++)
            held &= buffers->out[i * EACH + e] == sum_at(e + i);
    collective_destroy(other);
    check(held, "several calls on two communicators, waited for in any order", NULL);
}

/* In a broadcast the root, and in a reduce the other ranks, go on while others sleep, until all
 * slots of a window are in use. Some calls need a large slot. */
static void test_late_ranks(struct collective *collective)
{
    enum { CALLS = 700, COUNT = 1500, SMALL = 40 };
    static int32_t given[COUNT], own[COUNT], sums[COUNT];
    struct error err;
    bool held = true;

    for (int i = 0; i < CALLS; i++) {
        size_t count = i % 50 == 49 ? COUNT : 1 + (size_t)i % SMALL;
        int root = i / 100 % ranks;
        struct collective_call broadcast = {.kind = COLLECTIVE_BROADCAST,
                                            .type = ELEMENT_INT32,
                                            .out = given,
                                            .count = count,
                                            .root = root,
                                            .algorithm =
                                                algorithm_find(COLLECTIVE_BROADCAST, "shared")};
        struct collective_call reduce = {.kind = COLLECTIVE_REDUCE,
                                         .type = ELEMENT_INT32,
                                         .in = own,
                                         .out = sums,
                                         .count = count,
                                         .root = root,
                                         .algorithm = algorithm_find(COLLECTIVE_REDUCE, "shared")};

        if (i % 97 == 13 * rank)
            usleep(2000);
        for (size_t e = 0; e < count; e++) {
            given[e] = rank == root ? value(root, e + (size_t)i) : 0;
            own[e] = value(rank, e + (size_t)i);
        }
        held &= collective_run(collective, &broadcast, &err) == 0;
        if (i % 300 < 200) /* else only broadcasts, in which the root waits for no rank */
            held &= collective_run(collective, &reduce, &err) == 0;
        for (size_t e = 0; e < count; e++)
            held &= given[e] == value(root, e + (size_t)i) &&
                    (rank != root || i % 300 >= 200 || sums[e] == sum_at(e + (size_t)i));
    }
    check(held, "ranks that need not wait are right when others are late", NULL);
}

/* Messages of the program make progress while ranks wait for a window: the sender of a long message
 * has to move it inside the collective, because the receiver enters the collective later. */
static void test_own_messages(struct collective *collective, struct buffers *buffers)
{
    struct collective_call call = {.kind = COLLECTIVE_ALLREDUCE,
                                   .type = ELEMENT_INT32,
                                   .in = buffers->in,
                                   .out = buffers->out,
                                   .count = 3000,
                                   .algorithm = algorithm_find(COLLECTIVE_ALLREDUCE, "shared")};
    size_t count = 1 << 20;
    int32_t *message = malloc(count * sizeof *message);
    MPI_Request request = MPI_REQUEST_NULL;
    bool held = true;

    for (size_t i = 0; i < count; i++)
        message[i] = rank == 0 ? (int32_t)i : 0;
    if (rank == 0)
        MPI_Isend(message, (int)count, MPI_INT, ranks - 1, 1, MPI_COMM_WORLD, &request);
    else if (rank == ranks - 1)
        MPI_Recv(message, (int)count, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    held &= runs(collective, &call, buffers);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (size_t i = 0; i < count && rank == ranks - 1; i++)
        held &= message[i] == (int32_t)i;
    free(message);
    check(held, "messages of the program go on while ranks wait in a window", NULL);
}

/* Only the first call of a shape allocates memory. */
static void test_allocations(struct collective *collective, struct buffers *buffers)
{
    struct collective_statistics before, after;
    struct collective_call call = {.kind = COLLECTIVE_ALLREDUCE,
                                   .type = ELEMENT_INT32,
                                   .in = buffers->out,
                                   .out = buffers->out,
                                   .count = 12345};
    struct error err;
    bool held = runs(collective, &call, buffers);

    collective_statistics(collective, &before);
    for (int i = 0; i < 10; i++) {
        call.root = i; /* an allreduce ignores it */
        held &= runs(collective, &call, buffers);
    }
    collective_statistics(collective, &after);
    check(held && after.allocations == before.allocations && after.calls == before.calls + 10,
          "nothing is allocated after the first call of a shape", NULL);
    call.count++;
    held = collective_prepare(collective, &call, &err) == 0;
    collective_statistics(collective, &before);
    held &= runs(collective, &call, buffers);
    collective_statistics(collective, &after);
    check(held && after.allocations == before.allocations,
          "... nor by the first one if it is prepared", NULL);
}

static void test_refusals(struct collective *collective, struct buffers *buffers)
{
    struct collective_call good = {.kind = COLLECTIVE_ALLREDUCE,
                                   .type = ELEMENT_FP32,
                                   .in = buffers->in,
                                   .out = buffers->out,
                                   .count = 1},
                           call = good;
    struct collective_request *request;
    struct error err;

    prepare(&good, buffers);
    for (int i = 0; i < 2; i++) {
        call.op = REDUCE_BAND;
        check(collective_start(collective, &call, &request, &err) < 0 &&
                  strcmp(err.text, "allreduce: band is not defined on fp32") == 0,
              "an operation that the type lacks is refused",
              i > 0 ? "after one that it has" : NULL);
        check(collective_run(collective, &good, &err) == 0, "a sum is not", NULL);
    }
    call = good;
    call.algorithm = algorithm_find(COLLECTIVE_ALL_GATHER, "ring");
    check(collective_start(collective, &call, &request, &err) < 0 &&
              strcmp(err.text, "allreduce: ring does not support this call") == 0,
          "an algorithm of another kind is refused", NULL);
    call = good;
    call.kind = COLLECTIVE_BROADCAST;
    call.root = ranks;
    check(collective_start(collective, &call, &request, &err) < 0, "so is a root beyond the ranks",
          NULL);
}

/* Whether the result is equal to that of rank 0, bit by bit. All ranks call it. */
static bool is_rank_0s(const float *out, size_t count)
{
    float *first = malloc(count * sizeof *first);
    bool held;

    memcpy(first, out, count * sizeof *first);
    MPI_Bcast(first, (int)count, MPI_FLOAT, 0, MPI_COMM_WORLD);
    held = memcmp(first, out, count * sizeof *first) == 0;
    free(first);
    return held;
}

/* A number with a distribution like that of gradients: small ones are more frequent. */
static float gradient(int of, size_t i)
{
    uint32_t hash = (uint32_t)(of + 1) * 2654435761u ^ (uint32_t)i * 40503u;
    float x = 0;

    for (int n = 0; n < 4; n++) {
        hash = hash * 1664525u + 1013904223u;
        x += (float)(int32_t)hash / 0x1p33f;
    }
    return x;
}

static bool sums_as(struct collective *collective, const struct algorithm *algorithm,
                    enum wire_format wire, const float *in, float *out, size_t count,
                    unsigned long long *bytes)
{
    struct collective_call call = {.kind = COLLECTIVE_ALLREDUCE,
                                   .type = ELEMENT_FP32,
                                   .in = in,
                                   .out = out,
                                   .count = count,
                                   .algorithm = algorithm,
                                   .segment_bytes = 32768,
                                   .wire = wire};
    struct collective_statistics before, after;
    struct error err = {""};

    collective_statistics(collective, &before);
    memset(out, 0x55, count * sizeof *out);
    if (collective_run(collective, &call, &err) < 0) {
        /* not every algorithm supports int8 */
        if (wire == WIRE_INT8 && strstr(err.text, "does not support this call"))
            return true;
        fprintf(stderr, "# rank %d: %s\n", rank, err.text);
        return false;
    }
    collective_statistics(collective, &after);
    *bytes = after.bytes_sent - before.bytes_sent;
    return is_rank_0s(out, count);
}

/* Lossless coding gives the same bits as the algorithm without it, in fewer bytes. Lossy formats
 * give results within the bound of one rounding per rank. */
static void test_wires(struct collective *collective, const struct algorithm *algorithm)
{
    enum { COUNT = 50001 };
    static float in[COUNT], out[COUNT], exact[COUNT];
    unsigned long long plain = 0, coded;
    char name[80];
    bool held;

    for (size_t i = 0; i < COUNT; i++)
        in[i] = gradient(rank, i);
    held = sums_as(collective, algorithm, WIRE_AS_IS, in, exact, COUNT, &plain);
    for (unsigned w = 1; w < WIRE_FORMATS; w++) {
        enum wire_format wire = (enum wire_format)w;

        coded = 0;
        held &= sums_as(collective, algorithm, wire, in, out, COUNT, &coded);
        for (size_t i = 0; i < COUNT && coded > 0; i++) {
            double magnitudes = 0, bound = 1e-5;

            for (int r = 0; r < ranks; r++)
                magnitudes += fabs((double)gradient(r, i));
            if (wire == WIRE_INT8)
                bound += ranks * ranks / 254.0;
            else if (wire_is_lossy(wire))
                bound += precision_bound(wire_precision(wire), (unsigned)ranks, (unsigned)ranks,
                                         magnitudes);
            if (wire_is_lossy(wire) ? fabs((double)out[i] - (double)exact[i]) > bound
                                    : memcmp(&out[i], &exact[i], sizeof *out) != 0) {
                fprintf(stderr, "# rank %d, %s: element %zu is %.9g, as it is %.9g\n", rank,
                        wire_name(wire), i, (double)out[i], (double)exact[i]);
                held = false;
                break;
            }
        }
        /* not on every rank: data to ranks beyond a power of two are not coded */
        if (held && coded > 0 && (wire == WIRE_BF16 || wire == WIRE_LOSSLESS) && plain > 0)
            held = coded < plain;
    }
    snprintf(name, sizeof name, "%s, on every wire", algorithm->name);
    check(held, name, NULL);
}

/* Rings with another order of ranks. */
static void test_ring_order(struct buffers *buffers)
{
    struct collective *collective;
    struct error err = {""};
    int *order = malloc((size_t)ranks * sizeof *order);
    bool held;

    for (int i = 0; i < ranks; i++)
        order[i] = (i * 2 < ranks) ? 2 * i : 2 * (i - (ranks + 1) / 2) + 1;
    held = collective_create(MPI_COMM_WORLD, order, &collective, &err) == 0;
    for (const struct algorithm *a = algorithms; a->name && held; a++)
        if (strcmp(a->name, "ring") == 0) {
            struct collective_call call = {.kind = a->kind,
                                           .type = ELEMENT_INT32,
                                           .in = buffers->in,
                                           .out = buffers->out,
                                           .count = 777,
                                           .algorithm = a};

            held &= runs(collective, &call, buffers);
        }
    collective_destroy(held ? collective : NULL);
    check(held, "rings in an order of their own", NULL);
    order[0] = order[ranks - 1];
    if (ranks > 1)
        check(collective_create(MPI_COMM_WORLD, order, &collective, &err) < 0,
              "an order that lacks a rank is refused", NULL);
    free(order);
}

/* ------------------------------------------------------------------------------------------ memory
 */

/* Reports a high load, so that nothing is measured again. */
int __wrap_getloadavg(double *loads, int count);
int __wrap_getloadavg(double *loads, int count)
{
    for (int i = 0; i < count; i++)
        loads[i] = 1e6;
    return count;
}

static int make_collective(const void *unused, struct error *err)
{
    struct collective *collective;
    int status = collective_create(MPI_COMM_WORLD, NULL, &collective, err);

    (void)unused;
    collective_destroy(status == 0 ? collective : NULL);
    return status;
}

static int make_tuned(const void *options, struct error *err)
{
    struct tuned *tuned;
    int status = tuned_create(MPI_COMM_WORLD, options, &tuned, err);

    tuned_destroy(tuned);
    return status;
}

static int make_tuned_comm(const void *tuned, struct error *err)
{
    struct tuned_comm made;
    int status = tuned_comm_create(tuned, MPI_COMM_WORLD, &made, err);

    tuned_comm_destroy(&made);
    return status;
}

static bool gather_fails;

int __real_PMPI_Allgather(const void *in, int count, MPI_Datatype type, void *out, int counts,
                          MPI_Datatype types, MPI_Comm comm);
int __wrap_PMPI_Allgather(const void *in, int count, MPI_Datatype type, void *out, int counts,
                          MPI_Datatype types, MPI_Comm comm);
int __wrap_PMPI_Allgather(const void *in, int count, MPI_Datatype type, void *out, int counts,
                          MPI_Datatype types, MPI_Comm comm)
{
    return gather_fails ? MPI_ERR_OTHER
                        : __real_PMPI_Allgather(in, count, type, out, counts, types, comm);
}

/* With an error handler that returns: no rank takes what it did not get for a layout. */
static void test_layout_without_gather(void)
{
    struct error err = {""};
    struct layout *layout;

    gather_fails = true;
    layout = layout_find(MPI_COMM_WORLD, &err);
    gather_fails = false;
    check(layout == NULL && err.text[0] != '\0', "no layout", "of ranks that MPI did not gather");
    layout_free(layout);
}

static int calls_left; /* until the MPI call that fails, at all ranks; 0: none does */

static bool call_fails(void)
{
    return calls_left > 0 && --calls_left == 0;
}

int __real_PMPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm);
int __wrap_PMPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm);
int __wrap_PMPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    return call_fails() ? MPI_ERR_OTHER : __real_PMPI_Bcast(data, count, type, root, comm);
}

int __real_PMPI_Gather(const void *in, int count, MPI_Datatype type, void *out, int counts,
                       MPI_Datatype types, int root, MPI_Comm comm);
int __wrap_PMPI_Gather(const void *in, int count, MPI_Datatype type, void *out, int counts,
                       MPI_Datatype types, int root, MPI_Comm comm);
int __wrap_PMPI_Gather(const void *in, int count, MPI_Datatype type, void *out, int counts,
                       MPI_Datatype types, int root, MPI_Comm comm)
{
    return call_fails() ? MPI_ERR_OTHER
                        : __real_PMPI_Gather(in, count, type, out, counts, types, root, comm);
}

int __real_PMPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm);
int __wrap_PMPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm);
int __wrap_PMPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
                          MPI_Comm comm)
{
    return call_fails() ? MPI_ERR_OTHER : __real_PMPI_Allreduce(in, out, count, type, op, comm);
}

/* Whichever call of MPI fails while stored figures are read, with an error handler that returns:
 * the caller gets an error. */
static void test_calls(const struct tuned_options *options)
{
    bool has_failed = true, is_right = true;

    for (int call = 1; has_failed; call++) {
        struct error err = {""};
        int status;

        calls_left = call;
        status = make_tuned(options, &err);
        has_failed = calls_left == 0;
        calls_left = 0;
        is_right &= has_failed ? status < 0 && *err.text : status == 0;
    }
    check(is_right, "figures are read", "or an error is returned, whichever call of MPI fails");
}

static bool has_no_text;

char *__real_machine_write(const struct machine *machine);
char *__wrap_machine_write(const struct machine *machine);
char *__wrap_machine_write(const struct machine *machine)
{
    return has_no_text ? NULL : __real_machine_write(machine);
}

/* Rank 0, which gives its figures to all ranks, has no memory for their text: none goes on without
 * figures. */
static void test_figures_without_text(const struct tuned_options *options)
{
    struct error err = {""};
    int status;

    has_no_text = true;
    status = make_tuned(options, &err);
    has_no_text = false;
    check(status < 0 && *err.text, "an error is returned", "if rank 0 cannot share its figures");
}

struct measured {
    struct layout *layout;
    struct machine machine; /* without benchmarks */
};

static int make_benchmarks(const void *of, struct error *err)
{
    const struct measured *measured = of;
    struct machine machine = measured->machine;
    int tried = measure_benchmarks(MPI_COMM_WORLD, measured->layout, 0.1, &machine, err);

    machine_clear(&machine);
    return tried < 0 ? -1 : 0;
}

static int reads_left; /* until the read of another rank's memory that fails, at rank 1 */

ssize_t __real_process_vm_readv(pid_t pid, const struct iovec *here, unsigned long heres,
                                const struct iovec *there, unsigned long theres,
                                unsigned long flags);
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *here, unsigned long heres,
                                const struct iovec *there, unsigned long theres,
                                unsigned long flags);
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *here, unsigned long heres,
                                const struct iovec *there, unsigned long theres,
                                unsigned long flags)
{
    if (rank == 1 && reads_left > 0 && --reads_left == 0) {
        errno = EPERM;
        return -1;
    }
    return __real_process_vm_readv(pid, here, heres, there, theres, flags);
}

/* A read fails at one rank alone, in a single call or among many: all ranks get an error. */
static void test_reads(const struct measured *measured)
{
    bool is_right = true;

    for (int reads = ranks + 1; reads < 1000; reads *= 2) { /* after those that test the access */
        struct error err = {""};
        int failed = 0, status;

        reads_left = reads;
        status = make_benchmarks(measured, &err);
        failed = rank == 1 && reads_left == 0;
        reads_left = 0;
        MPI_Bcast(&failed, 1, MPI_INT, 1, MPI_COMM_WORLD);
        is_right &= failed ? status < 0 && *err.text : status == 0;
    }
    check(is_right, "benchmarks end", "when a rank cannot read the memory of another");
}

static void test_memory(void)
{
    const struct tuned_options options = {.with_mpi = true};
    struct tuned *tuned;
    struct measured measured = {.layout = NULL};
    struct error err = {""};

    fail_each("collectives without memory", make_collective, NULL, false);
    if (tuned_create(MPI_COMM_WORLD, &options, &tuned, &err) < 0) /* measures and stores figures */
        MPI_Abort(MPI_COMM_WORLD, 1);
    fail_each("figures without memory", make_tuned, &options, false);
    test_calls(&options);
    test_figures_without_text(&options);
    fail_each("chosen collectives without memory", make_tuned_comm, tuned, false);
    tuned_destroy(tuned);
    measured.layout = layout_find(MPI_COMM_WORLD, &err);
    if (measured.layout == NULL ||
        measure_machine(MPI_COMM_WORLD, measured.layout, &measured.machine, &err) < 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    fail_each("benchmarks without memory", make_benchmarks, &measured, true);
    test_reads(&measured);
    layout_free(measured.layout);
}

int main(int argc, char **argv)
{
    int wanted =
        argc > 1 && strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    int provided;
    struct collective *collective;
    struct buffers buffers;
    struct error err;

    MPI_Init_thread(&argc, &argv, wanted, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    buffers.room = (size_t)40001 * (size_t)ranks + 60000;
    buffers.in = malloc((buffers.room + GUARD) * sizeof(int32_t));
    buffers.out = malloc((buffers.room + GUARD) * sizeof(int32_t));
    if (collective_create(MPI_COMM_WORLD, NULL, &collective, &err) < 0) {
        fprintf(stderr, "rank %d: %s\n", rank, err.text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (const struct algorithm *a = algorithms; a->name; a++)
        if (has_algorithm(collective, a))
            test_algorithm(collective, a, &buffers);
    for (const struct algorithm *a = algorithms; a->name; a++)
        if (a->kind == COLLECTIVE_ALLREDUCE && !a->applies)
            test_wires(collective, a);
    test_wires(collective, algorithm_find(COLLECTIVE_ALLREDUCE, "rabenseifner"));
    test_large(collective);
    test_many(collective, &buffers);
    if (ranks > 1) {
        test_late_ranks(collective);
        test_own_messages(collective, &buffers);
    }
    test_allocations(collective, &buffers);
    test_refusals(collective, &buffers);
    if (argc > 1 && strcmp(argv[1], "failures") == 0)
        test_memory();
    test_layout_without_gather();
    test_ring_order(&buffers);
    collective_destroy(collective);
    free(buffers.in);
    free(buffers.out);
    MPI_Finalize();
    return failures > 0;
}
