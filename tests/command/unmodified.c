/* SPDX-License-Identifier: Apache-2.0 */

/* An MPI program that does not use muster itself: calls every collective that libmustercoll-pmpi
 * replaces, with many types, operations, counts and communicators, and exact results. Prints
 * "wrong: ..." for each wrong result; at the end rank 0 prints "right" if there was none. */

#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC diagnostic ignored "-Wunused-parameter" /* of callbacks */

static int wrongs;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            __atomic_add_fetch(&wrongs, 1, __ATOMIC_RELAXED);                                      \
            printf("wrong: " __VA_ARGS__);                                                         \
            putchar('\n');                                                                         \
            fflush(stdout);                                                                        \
        }                                                                                          \
    } while (0)

static const int counts[] = {0, 1, 2, 7, 100, 5000, 300000};
enum { COUNTS = sizeof counts / sizeof *counts, GUARD = 16, POISON = 0x5a };

static int rank_of(MPI_Comm comm)
{
    int rank;

    MPI_Comm_rank(comm, &rank);
    return rank;
}

static int size_of(MPI_Comm comm)
{
    int size;

    MPI_Comm_size(comm, &size);
    return size;
}

static int element(int rank, int i)
{
    return (i * 7 + rank * 13) % 1000 - 300;
}

static int sum(int ranks, int i)
{
    int all = 0;

    for (int rank = 0; rank < ranks; rank++)
        all += element(rank, i);
    return all;
}

/* an array of ints with a guard after it */
struct buffer {
    int *start;
    size_t count;
};

static struct buffer buffer_allocate(size_t count)
{
    struct buffer buffer = {malloc(count * sizeof(int) + GUARD), count};

    memset(buffer.start, POISON, count * sizeof(int) + GUARD);
    return buffer;
}

static void buffer_free(struct buffer buffer, const char *what)
{
    const unsigned char *guard = (const unsigned char *)(buffer.start + buffer.count);

    for (int i = 0; i < GUARD; i++)
        CHECK(guard[i] == POISON, "%s writes behind its buffer", what);
    free(buffer.start);
}

static void fill(struct buffer buffer, int rank)
{
    for (size_t i = 0; i < buffer.count; i++)
        buffer.start[i] = element(rank, (int)i);
}

static void test_reductions(MPI_Comm comm, int count)
{
    int rank = rank_of(comm), ranks = size_of(comm), root = ranks / 2;
    struct buffer in = buffer_allocate((size_t)count), out = buffer_allocate((size_t)count);

    fill(in, rank);
    MPI_Allreduce(in.start, out.start, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count; i++)
        if (out.start[i] != sum(ranks, i)) {
            CHECK(0, "allreduce of %d, element %d of rank %d: %d", count, i, rank, out.start[i]);
            break;
        }
    MPI_Reduce(rank == root ? MPI_IN_PLACE : in.start, rank == root ? in.start : NULL, count,
               MPI_INT, MPI_SUM, root, comm);
    if (rank == root)
        CHECK(memcmp(in.start, out.start, (size_t)count * sizeof(int)) == 0, "reduce in place, %d",
              count);
    fill(in, rank);
    MPI_Allreduce(MPI_IN_PLACE, in.start, count, MPI_INT, MPI_SUM, comm);
    CHECK(memcmp(in.start, out.start, (size_t)count * sizeof(int)) == 0, "allreduce in place, %d",
          count);
    buffer_free(in, "a reduction");
    buffer_free(out, "a reduction");
}

static void test_scattered(MPI_Comm comm, int count)
{
    int rank = rank_of(comm), ranks = size_of(comm), begin = 0, bad = 0, all = 0;
    int *lengths = malloc((size_t)ranks * sizeof *lengths);
    struct buffer in, out;

    count = count / ranks + 1;
    in = buffer_allocate((size_t)count * (size_t)ranks);
    out = buffer_allocate((size_t)count);
    fill(in, rank);
    MPI_Reduce_scatter_block(in.start, out.start, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count; i++)
        bad += out.start[i] != sum(ranks, rank * count + i);
    CHECK(bad == 0, "reduce-scatter of blocks of %d", count);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, in.start, count, MPI_INT, MPI_SUM, comm);
    CHECK(memcmp(in.start, out.start, (size_t)count * sizeof(int)) == 0, "... in place, %d", count);
    buffer_free(in, "a reduce-scatter of blocks");
    buffer_free(out, "a reduce-scatter of blocks");

    for (int r = 0; r < ranks; r++) {
        lengths[r] = r % 3 == 1 ? 0 : count - r % 2;
        begin += r < rank ? lengths[r] : 0;
        all += lengths[r];
    }
    in = buffer_allocate((size_t)all);
    out = buffer_allocate((size_t)lengths[rank]);
    fill(in, rank);
    bad = 0;
    MPI_Reduce_scatter(in.start, out.start, lengths, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < lengths[rank]; i++)
        bad += out.start[i] != sum(ranks, begin + i);
    CHECK(bad == 0, "reduce-scatter, %d", count);
    buffer_free(in, "a reduce-scatter");
    buffer_free(out, "a reduce-scatter");
    free(lengths);
}

/* A type of ints that depends on the rank: MPI_INT, ints with gaps, or a duplicate of MPI_INT. */
static MPI_Datatype derived(int number, int *extent)
{
    MPI_Datatype type = MPI_INT, sized;

    *extent = 1;
    if (number % 3 == 1) {
        MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &sized);
        type = sized;
        *extent = 3;
        MPI_Type_commit(&type);
    } else if (number % 3 == 2) {
        MPI_Type_dup(MPI_INT, &type);
    }
    return type;
}

static void test_data_movement(MPI_Comm comm, int count)
{
    int rank = rank_of(comm), ranks = size_of(comm), root = ranks - 1, bad = 0, extent;
    int block = count / ranks + (count > 0);
    MPI_Datatype type = derived(rank, &extent);
    struct buffer in, out;

    in = buffer_allocate((size_t)count * (size_t)extent);
    for (int i = 0; i < count && rank == root; i++)
        in.start[i * extent] = element(root, i);
    MPI_Bcast(in.start, count, type, root, comm);
    for (int i = 0; i < count; i++)
        bad += in.start[i * extent] != element(root, i);
    CHECK(bad == 0, "broadcast of %d as type %d", count, rank % 3);
    bad = 0;
    for (int i = 0; i < count * extent; i++)
        bad += i % extent != 0 && in.start[i] != 0x5a5a5a5a;
    CHECK(bad == 0, "broadcast of %d writes between elements", count);
    buffer_free(in, "a broadcast");

    in = buffer_allocate((size_t)block);
    out = buffer_allocate((size_t)block * (size_t)ranks * (size_t)extent);
    fill(in, rank);
    MPI_Allgather(in.start, block, MPI_INT, out.start, block, type, comm);
    bad = 0;
    for (int i = 0; i < block * ranks; i++)
        bad += out.start[i * extent] != element(i / block, i % block);
    CHECK(bad == 0, "all-gather of %d as type %d", block, rank % 3);
    for (int i = 0; i < block * ranks; i++)
        if (i / block != rank)
            out.start[i * extent] = -1;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, out.start, block, type, comm);
    bad = 0;
    for (int i = 0; i < block * ranks; i++)
        bad += out.start[i * extent] != element(i / block, i % block);
    CHECK(bad == 0, "all-gather in place of %d as type %d", block, rank % 3);
    buffer_free(in, "an all-gather");
    buffer_free(out, "an all-gather");
    if (type != MPI_INT)
        MPI_Type_free(&type);
}

static void test_all_to_all(MPI_Comm comm, int count)
{
    int rank = rank_of(comm), ranks = size_of(comm), bad = 0;
    int block = count / ranks / ranks + (count > 0);
    struct buffer in = buffer_allocate((size_t)block * (size_t)ranks),
                  out = buffer_allocate(in.count);

    fill(in, rank);
    MPI_Alltoall(in.start, block, MPI_INT, out.start, block, MPI_INT, comm);
    for (int i = 0; i < block * ranks; i++)
        bad += out.start[i] != element(i / block, rank * block + i % block);
    CHECK(bad == 0, "all-to-all of %d", block);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in.start, block, MPI_INT, comm);
    CHECK(memcmp(in.start, out.start, in.count * sizeof(int)) == 0, "all-to-all in place, %d",
          block);
    buffer_free(in, "an all-to-all");
    buffer_free(out, "an all-to-all");
}

/* Blocks of several sizes, some empty, stored in reverse order. */
static void test_variable(MPI_Comm comm, int count)
{
    int rank = rank_of(comm), ranks = size_of(comm), all = 0, bad = 0, in_all = 0;
    int *lengths = calloc((size_t)ranks * 4, sizeof *lengths), *places = lengths + ranks;
    int *in_lengths = places + ranks, *in_places = in_lengths + ranks;
    struct buffer in, out;

    for (int r = ranks - 1; r >= 0; r--) {
        lengths[r] = r % 4 == 2 ? 0 : count / ranks + r;
        places[r] = all;
        all += lengths[r];
    }
    in = buffer_allocate((size_t)lengths[rank]);
    out = buffer_allocate((size_t)all);
    fill(in, rank);
    MPI_Allgatherv(in.start, lengths[rank], MPI_INT, out.start, lengths, places, MPI_INT, comm);
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < lengths[r]; i++)
            bad += out.start[places[r] + i] != element(r, i);
    CHECK(bad == 0, "all-gather of blocks of all sizes, %d", count);
    buffer_free(in, "an all-gather of all sizes");
    buffer_free(out, "an all-gather of all sizes");

    all = 0;
    for (int r = ranks - 1; r >= 0; r--) {
        in_lengths[r] = (rank * 3 + r * 5) % 4 * (count / ranks / 4); /* to r */
        in_places[r] = in_all;
        in_all += in_lengths[r];
        lengths[r] = (r * 3 + rank * 5) % 4 * (count / ranks / 4); /* from r */
        places[r] = all;
        all += lengths[r];
    }
    in = buffer_allocate((size_t)in_all);
    out = buffer_allocate((size_t)all);
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < in_lengths[r]; i++)
            in.start[in_places[r] + i] = element(rank * 17 + r, i);
    MPI_Alltoallv(in.start, in_lengths, in_places, MPI_INT, out.start, lengths, places, MPI_INT,
                  comm);
    bad = 0;
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < lengths[r]; i++)
            bad += out.start[places[r] + i] != element(r * 17 + rank, i);
    CHECK(bad == 0, "all-to-all of blocks of all sizes, %d", count);
    buffer_free(in, "an all-to-all of all sizes");
    buffer_free(out, "an all-to-all of all sizes");
    free(lengths);
}

/* In place, with another order of the blocks on each rank, and gaps between them on the first
 * ranks: no rank can infer from its own buffer where a block is in the buffer of another rank. */
static void test_own_orders(MPI_Comm comm, int count)
{
    int rank = rank_of(comm), ranks = size_of(comm), gap = rank < 2 ? 3 : 0, bad = 0;
    int *lengths = calloc((size_t)ranks * 2, sizeof *lengths), *places = lengths + ranks;
    struct buffer out = buffer_allocate((size_t)ranks * (size_t)(count + gap));

    for (int r = 0; r < ranks; r++) {
        lengths[r] = count;
        places[r] = (r + rank) % ranks * (count + gap);
    }
    for (int i = 0; i < count; i++)
        out.start[places[rank] + i] = element(rank, i);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, out.start, lengths, places, MPI_INT, comm);
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < count; i++)
            bad += out.start[places[r] + i] != element(r, i);
    CHECK(bad == 0, "all-gather in place in each rank's order, %d", count);
    buffer_free(out, "an all-gather in each rank's order");
    free(lengths);
}

static void add_twice(void *in, void *out, int *count, MPI_Datatype *type)
{
    for (int i = 0; i < *count; i++)
        ((int *)out)[i] += ((int *)in)[i];
}

/* Types and operations, also those that are left to MPI. */
static void test_types(MPI_Comm comm)
{
    int rank = rank_of(comm), ranks = size_of(comm), flag = rank == 1, value = rank + 1, result;
    double third = 1.0 / 3 * (rank + 1), sums[2] = {0, 0};
    unsigned char bits = (unsigned char)(1 << rank % 8), joined = 0;
    char letter = (char)(rank == 0 ? -3 : 50), letters[2] = {0};
    struct {
        double value;
        int where;
    } pair = {(double)(rank * 7 % 5), rank}, least;
    char room[100];
    int64_t *odd = (int64_t *)(void *)(room + 3); /* not aligned */
    int64_t big = (int64_t)rank << 33;
    MPI_Op op;

    MPI_Allreduce(&flag, &result, 1, MPI_INT, MPI_LOR, comm);
    CHECK(result == (ranks > 1), "logical or");
    MPI_Allreduce(&value, &result, 1, MPI_INT, MPI_MAX, comm);
    CHECK(result == ranks, "max");
    MPI_Allreduce(&bits, &joined, 1, MPI_BYTE, MPI_BOR, comm);
    CHECK(joined == (ranks < 8 ? (1 << ranks) - 1 : 255), "bits of bytes");
    MPI_Allreduce(&letter, &letters[0], 1, MPI_CHAR, MPI_MIN, comm);
    MPI_Allreduce(&letter, &letters[1], 1, MPI_CHAR, MPI_SUM, comm);
    CHECK(letters[0] == (char)-3 && letters[1] == (char)(50 * (ranks - 1) - 3),
          "characters are numbers");
    MPI_Allreduce(&third, &sums[0], 1, MPI_DOUBLE, MPI_SUM, comm);
    CHECK(sums[0] > ranks * (ranks + 1) / 6.0 - 1e-9 && sums[0] < ranks * (ranks + 1) / 6.0 + 1e-9,
          "a sum of doubles");
    MPI_Allreduce(&pair, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm);
    CHECK(least.where == 0 && least.value == 0, "where the least is");
    memcpy(odd, &big, sizeof big);
    MPI_Allreduce(MPI_IN_PLACE, odd, 1, MPI_INT64_T, MPI_SUM, comm);
    memcpy(&big, odd, sizeof big);
    CHECK(big == ((int64_t)ranks * (ranks - 1) / 2) << 33, "an address that is not aligned");
    MPI_Op_create(add_twice, 1, &op);
    MPI_Allreduce(&value, &result, 1, MPI_INT, op, comm);
    CHECK(result == ranks * (ranks + 1) / 2, "an operation of the program's own");
    MPI_Op_free(&op);
    MPI_Barrier(comm);
}

static void test_non_blocking(MPI_Comm comm)
{
    int ranks = size_of(comm), value = rank_of(comm), results[3];
    MPI_Request requests[3];

    for (int i = 0; i < 3; i++)
        MPI_Iallreduce(&value, &results[i], 1, MPI_INT, MPI_SUM, comm, &requests[i]);
    MPI_Bcast(&ranks, 1, MPI_INT, 0, comm);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++)
        CHECK(results[i] == ranks * (ranks - 1) / 2, "non-blocking %d beside a blocking one", i);
}

/* Repeats the same call. Then rank 0 alone has a new type with the old handle of another size: all
 * ranks must still treat the call in the same way. */
static void test_repeated(MPI_Comm comm)
{
    enum { LONG = 1 << 18 };
    static int values[LONG];
    MPI_Datatype small, large;
    int rank = rank_of(comm), sum = 0, one = 1;

    MPI_Type_contiguous(2, MPI_INT, &small);
    MPI_Type_commit(&small);
    for (int i = 0; i < 5; i++) {
        MPI_Bcast(values, 2, i % 2 ? MPI_INT : MPI_SHORT, 0, comm);
        values[0] = values[1] = rank == 0 ? i : -1;
        MPI_Bcast(values, 1, small, 0, comm);
        CHECK(values[1] == i, "a broadcast of a derived type, again");
        MPI_Allreduce(&one, &sum, 1, MPI_INT, i % 2 ? MPI_SUM : MPI_MAX, comm);
        CHECK(sum == (i % 2 ? size_of(comm) : 1), "the same numbers by another operation");
    }
    if (rank == 0)
        MPI_Type_free(&small);
    MPI_Type_contiguous(LONG, MPI_INT, &large);
    MPI_Type_commit(&large);
    for (int i = 0; i < LONG; i++)
        values[i] = rank == 0 ? i : -1;
    MPI_Bcast(values, 1, large, 0, comm);
    CHECK(values[LONG - 1] == LONG - 1, "a broadcast of another one by the same handle");
    MPI_Type_free(&large);
    if (rank != 0)
        MPI_Type_free(&small);
}

static void test_comm(MPI_Comm comm)
{
    for (int i = 0; i < COUNTS; i++) {
        test_reductions(comm, counts[i]);
        test_scattered(comm, counts[i]);
        test_data_movement(comm, counts[i]);
        test_all_to_all(comm, counts[i]);
        test_variable(comm, counts[i]);
        test_own_orders(comm, counts[i]);
    }
    test_types(comm);
    test_repeated(comm);
    test_non_blocking(comm);
}

/* One element of more bytes than an int can count: at the root a type that repeats the same few
 * bytes, at other ranks many elements. */
static void test_huge(void)
{
    enum { SOME = 1 << 16, TIMES = 1 << 15 };
    MPI_Datatype some, again, all;
    int rank = rank_of(MPI_COMM_WORLD);
    size_t bytes = (size_t)SOME * TIMES;
    char *memory = malloc(rank == 0 ? SOME : bytes);

    MPI_Type_contiguous(SOME, MPI_BYTE, &some);
    MPI_Type_commit(&some);
    MPI_Type_create_resized(some, 0, 0, &again);
    MPI_Type_contiguous(TIMES, again, &all);
    MPI_Type_commit(&all);
    memset(memory, rank == 0 ? 1 : 0, SOME);
    if (rank == 0)
        MPI_Bcast(memory, 1, all, 0, MPI_COMM_WORLD);
    else
        MPI_Bcast(memory, TIMES, some, 0, MPI_COMM_WORLD);
    CHECK(memory[SOME - 1] == 1 && (rank == 0 || memory[bytes - 1] == 1), "2 GiB in one element");
    MPI_Type_free(&all);
    MPI_Type_free(&again);
    MPI_Type_free(&some);
    free(memory);
}

/* Empty blocks, of types with more bytes than an int can count. */
static void test_large_types(MPI_Comm comm)
{
    enum { MANY = 1 << 28 };
    int ranks = size_of(comm);
    int *none = calloc((size_t)ranks, sizeof *none);
    MPI_Datatype great, gaps;

    MPI_Type_contiguous(MANY, MPI_DOUBLE, &great);
    MPI_Type_commit(&great);
    MPI_Type_vector(MANY, 1, 2, MPI_DOUBLE, &gaps);
    MPI_Type_commit(&gaps);
    for (int i = 0; i < 2; i++) {
        MPI_Datatype type = i == 0 ? great : gaps;

        CHECK(MPI_Alltoallv(none, none, none, type, none, none, none, type, comm) == MPI_SUCCESS,
              "an all-to-all of none of a type of 2 GiB");
    }
    MPI_Type_free(&great);
    MPI_Type_free(&gaps);
    free(none);
}

/* The send buffer is the receive buffer; old programs do so instead of using MPI_IN_PLACE. */
static void test_aliases(void)
{
    int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD), bad = 0;
    struct buffer all = buffer_allocate((size_t)ranks);

    all.start[0] = element(rank, 0);
    MPI_Allgather(all.start, 1, MPI_INT, all.start, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++)
        bad += all.start[r] != element(r, 0);
    CHECK(bad == 0, "an all-gather from the beginning of its own result");
    buffer_free(all, "an all-gather");
}

static size_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    size_t all, pages = 0;

    if (file == NULL || fscanf(file, "%zu %zu", &all, &pages) != 2)
        pages = 0;
    if (file != NULL)
        fclose(file);
    return pages * 4096;
}

/* A call with much data frees its memory. */
static void test_memory(void)
{
    enum { MUCH = 20 << 20 };
    size_t before = resident_bytes(), after;
    struct buffer data = buffer_allocate(2 * MUCH);
    MPI_Datatype type;

    MPI_Type_vector(MUCH, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Allreduce(MPI_IN_PLACE, data.start, MUCH, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Bcast(data.start, 1, type, 0, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    buffer_free(data, "a call of much data");
    after = resident_bytes();
    CHECK(after < before + (40 << 20), "%zu MiB are kept", (after - before) >> 20);
}

static void test_comms(void)
{
    int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
    MPI_Comm half, reversed, between;

    test_comm(MPI_COMM_WORLD);
    test_comm(MPI_COMM_SELF);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    test_reductions(reversed, 1000);
    test_data_movement(reversed, 1000);
    MPI_Comm_free(&reversed);
    for (int i = 0; i < 20; i++) { /* made and freed */
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
        for (int k = 0; k < (i < 5 ? 5 : 1); k++)
            test_reductions(half, 5000);
        if (i < 19)
            MPI_Comm_free(&half);
    }
    if (ranks > 1) {
        int value = 1, all = 0;

        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &between);
        MPI_Allreduce(&value, &all, 1, MPI_INT, MPI_SUM, between);
        CHECK(all == (rank % 2 ? (ranks + 1) / 2 : ranks / 2), "an intercommunicator");
        MPI_Comm_free(&between);
    }
    /* half is not freed: MPI_Finalize must work nevertheless */
}

static int refuse_copy(MPI_Comm comm, int key, void *extra, void *value, void *copy, int *flag)
{
    *flag = 0;
    return MPI_ERR_OTHER;
}

/* A communicator that must not be duplicated. */
static void test_attributes(void)
{
    MPI_Comm comm;
    int key;

    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);
    MPI_Comm_create_keyval(refuse_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(comm, key, NULL);
    for (int i = 0; i < 20; i++)
        test_reductions(comm, 10);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
}

/* Rank 0 is in a reduction, which needs no message, while rank 1 receives a message of rank 0 and
 * rank 2 is in the next collective already. */
static void test_progress(void)
{
    enum { LONG = 1 << 22 };
    MPI_Request sending = MPI_REQUEST_NULL;
    int rank = rank_of(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD), sum = 0;
    struct buffer message = buffer_allocate(LONG), in = buffer_allocate((size_t)ranks),
                  out = buffer_allocate((size_t)ranks);

    for (int i = 0; i < 2; i++) { /* the first round makes what the second uses */
        fill(in, rank);
        if (i == 1 && rank == 0)
            MPI_Isend(message.start, LONG, MPI_INT, 1, 0, MPI_COMM_WORLD, &sending);
        if (i == 1 && rank == 1) {
            nanosleep(&(struct timespec){1, 0}, NULL); /* for rank 2 */
            MPI_Recv(message.start, LONG, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        CHECK(rank != 0 || sum == ranks * (ranks - 1) / 2, "a reduction beside a message");
        MPI_Alltoall(in.start, 1, MPI_INT, out.start, 1, MPI_INT, MPI_COMM_WORLD);
        MPI_Wait(&sending, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    buffer_free(message, "a message");
    buffer_free(in, "an all-to-all");
    buffer_free(out, "an all-to-all");
}

static void *drive(void *comm)
{
    for (int i = 0; i < 30; i++) {
        test_reductions(*(MPI_Comm *)comm, 1000);
        test_data_movement(*(MPI_Comm *)comm, 300);
    }
    return NULL;
}

static void test_threads(void)
{
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    MPI_Comm comms[THREADS];

    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < THREADS; i++)
        test_reductions(comms[i], 10);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, drive, &comms[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&comms[i]);
}

static void test_errors(void)
{
    int value = 1, result, code;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    code = MPI_Allreduce(&value, &result, -1, MPI_INT, MPI_SUM, comm);
    CHECK(code != MPI_SUCCESS, "a count below 0 is an error");
    code = MPI_Bcast(&value, 1, MPI_INT, size_of(comm), comm);
    CHECK(code != MPI_SUCCESS, "a root that is none is an error");
    code = MPI_Allreduce(&value, &result, 1, MPI_DOUBLE_COMPLEX, MPI_MAX, comm);
    CHECK(code != MPI_SUCCESS, "an operation that the type lacks is an error");
    test_large_types(comm);
    MPI_Comm_free(&comm);
}

/* A communicator of this job and a job of one rank, which it starts. program NULL: this process is
 * the started one. */
static void test_spawned(char *program)
{
    char argument[] = "spawned", *arguments[] = {argument, NULL};
    MPI_Comm between, all;

    if (program != NULL)
        MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                       MPI_ERRCODES_IGNORE);
    else
        MPI_Comm_get_parent(&between);
    MPI_Intercomm_merge(between, program == NULL, &all);
    CHECK(size_of(all) == size_of(MPI_COMM_WORLD) + 1 || program == NULL, "ranks of both jobs");
    for (int i = 0; i < 20; i++) {
        test_reductions(all, 1000);
        test_data_movement(all, 1000);
        test_reductions(MPI_COMM_WORLD, 1000);
    }
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&between);
}

/* MPI_Finalize() first calls delete callbacks of MPI_COMM_SELF, which may still use MPI. */
static int collect_at_end(MPI_Comm comm, int key, void *value, void *unused)
{
    int one = 1, all = 0;

    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == size_of(MPI_COMM_WORLD), "a collective within MPI_Finalize");
    return MPI_SUCCESS;
}

static void leave_for_the_end(void)
{
    int key;

    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, collect_at_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

int main(int argc, char **argv)
{
    int level;

    if (argc > 1 && strcmp(argv[1], "threads") == 0) {
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
        CHECK(level == MPI_THREAD_MULTIPLE, "threads are not allowed");
        test_threads();
    } else {
        MPI_Init(&argc, &argv);
    }
    if (argc > 1 && strcmp(argv[1], "huge") == 0) {
        test_huge();
    } else if (argc > 1 && strcmp(argv[1], "aliases") == 0) {
        test_aliases();
    } else if (argc > 1 && strcmp(argv[1], "memory") == 0) {
        test_memory();
    } else if (argc > 1 && strcmp(argv[1], "progress") == 0) {
        test_progress();
    } else if (argc > 1 && strncmp(argv[1], "spawn", 5) == 0) {
        test_spawned(strcmp(argv[1], "spawn") == 0 ? argv[0] : NULL);
    } else {
        test_comms();
        test_attributes();
        test_errors();
    }
    leave_for_the_end();
    MPI_Reduce(rank_of(MPI_COMM_WORLD) == 0 ? MPI_IN_PLACE : &wrongs, &wrongs, 1, MPI_INT, MPI_SUM,
               0, MPI_COMM_WORLD);
    if (rank_of(MPI_COMM_WORLD) == 0 && wrongs == 0)
        puts("right");
    MPI_Finalize();
    return wrongs != 0;
}
