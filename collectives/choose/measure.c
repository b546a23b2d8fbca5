/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/choose/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/collective.h"
#include "collectives/precision/precision.h"
#include "collectives/reduce/reduce.h"
#include "lib/constants/collectives_constants.h"

enum {
    BATCHES = 5,
    REPETITIONS = 2000,      /* per batch, at most */
    COMPUTE_BYTES = 1 << 19, /* reduced or copied at a time: two segments */
    LINK_TAG = 17,
};

/* Returns the maximum of the ranks' values. */
static double greatest(MPI_Comm comm, double value)
{
    double all = value;

    PMPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_MAX, comm);
    return all;
}

/* Work to time: repeats it `times` times. */
typedef void work_fn(void *context, int times);

/* Returns the time of one repetition in us, on the slowest rank, in the fastest of some batches:
 * other load on the machine only adds to it. A rank without work takes part. */
static double time_work(MPI_Comm comm, work_fn *work, void *context)
{
    double least = INFINITY, once;
    int times = 1;

    for (int attempt = 0; attempt < 2; attempt++) { /* the first one warms up */
        PMPI_Barrier(comm);
        once = PMPI_Wtime();
        work(context, 2);
        once = greatest(comm, (PMPI_Wtime() - once) * 1e6 / 2);
    }
    if (once < MEASURE_BATCH_US)
        times = once > (double)MEASURE_BATCH_US / REPETITIONS ? (int)(MEASURE_BATCH_US / once)
                                                              : REPETITIONS;
    for (int batch = 0; batch < BATCHES; batch++) {
        double begin;

        PMPI_Barrier(comm);
        begin = PMPI_Wtime();
        work(context, times);
        least = fmin(least, greatest(comm, (PMPI_Wtime() - begin) * 1e6 / times));
    }
    return least > 1e-3 ? least : 1e-3;
}

/* --------------------------------------------------------------------------------------- links */

struct exchange {
    MPI_Comm comm;
    int before, after; /* neighbors in the ring; -1: this rank is in no ring */
    size_t bytes;
    char *out, *in;
};

static void exchange(void *context, int times)
{
    struct exchange *e = context;

    for (int i = 0; i < times && e->after >= 0; i++)
        PMPI_Sendrecv(e->out, (int)e->bytes, MPI_BYTE, e->after, LINK_TAG, e->in, (int)e->bytes,
                      MPI_BYTE, e->before, LINK_TAG, e->comm, MPI_STATUS_IGNORE);
}

/* Finds the neighbors of this rank in the ring of the class; none if it would be alone. A ring has
 * the ranks of a node, the first ranks of the nodes of a leaf, or the first ranks of the leaves.
 * Nodes and leaves are numbered in the order of their first ranks: a number above all earlier ones
 * marks a first rank. */
static void find_neighbors(const struct layout *layout, enum link_class class, int self,
                           struct exchange *e)
{
    int first = -1, last = -1, nodes = -1, leaves = -1;
    bool is_in = false;

    e->before = e->after = -1;
    for (int rank = 0; rank < layout->ranks; rank++) {
        int node = layout->node_of_rank[rank], leaf = layout->leaf_of_rank[rank];
        bool is_member = class == LINK_NODE   ? node == layout->node_of_rank[self]
                         : class == LINK_LEAF ? node > nodes && leaf == layout->leaf_of_rank[self]
                                              : leaf > leaves;

        nodes = node > nodes ? node : nodes;
        leaves = leaf > leaves ? leaf : leaves;
        if (!is_member)
            continue;
        is_in = is_in || rank == self;
        first = first < 0 ? rank : first;
        last = rank;
        if (rank < self)
            e->before = rank;
        if (rank > self && e->after < 0)
            e->after = rank;
    }
    if (!is_in || first == last) {
        e->before = e->after = -1;
        return;
    }
    if (e->before < 0)
        e->before = last;
    if (e->after < 0)
        e->after = first;
}

static int measure_links(MPI_Comm comm, const struct layout *layout, struct machine *machine,
                         struct error *err)
{
    size_t most = machine_sizes[MACHINE_SIZES - 1];
    struct exchange e = {.comm = comm, .out = malloc(most), .in = malloc(most)};
    bool has_memory = e.out != NULL && e.in != NULL;
    int self;

    PMPI_Comm_rank(comm, &self);
    if (collective_agree(comm, has_memory ? 0 : error_set(err, "out of memory"), err) < 0) {
        free(e.out);
        free(e.in);
        return -1;
    }
    memset(e.out, 1, most);
    memset(e.in, 2, most);
    for (int class = 0; class < LINK_CLASSES; class ++) {
        find_neighbors(layout, (enum link_class) class, self, &e);
        machine->has_link[class] = greatest(comm, e.after >= 0 ? 1 : 0) > 0;
        for (int i = 0; i < MACHINE_SIZES && machine->has_link[class]; i++) {
            e.bytes = machine_sizes[i];
            machine->link_us[class][i] = time_work(comm, exchange, &e);
        }
    }
    free(e.out);
    free(e.in);
    return 0;
}

/* ----------------------------------------------------------------------------------- computing */

struct computing {
    enum element_type type;
    enum codec_type codec;
    const struct codec_path *path;
    struct codec_scratch *scratch;
    size_t count, coded;
    char *left, *right, *out;
};

static void reduce(void *context, int times)
{
    struct computing *c = context;

    for (int i = 0; i < times; i++)
        reduce_pair(c->type, REDUCE_SUM, c->left, c->right, c->out, c->count);
}

static void copy(void *context, int times)
{
    struct computing *c = context;

    for (int i = 0; i < times; i++) {
        memcpy(c->out, c->left, c->count);
        __asm__ volatile("" ::: "memory"); /* so that each copy is made */
    }
}

static void encode(void *context, int times)
{
    struct computing *c = context;

    for (int i = 0; i < times; i++)
        c->coded = codec_block_encode(c->path, c->codec, c->left, c->count, c->scratch, c->out);
}

static void decode(void *context, int times)
{
    struct computing *c = context;

    for (int i = 0; i < times; i++)
        codec_block_decode(c->path, c->codec, c->out, c->coded, c->scratch, c->right, c->count,
                           NULL);
}

/* Sums of twelve uniform numbers: near enough to a normal distribution for their exponents. */
void measure_fill(float *values, size_t count)
{
    uint64_t state = 88172645463325252;

    for (size_t i = 0; i < count; i++) {
        float value = -6e-3f;

        for (int j = 0; j < 12; j++) {
            state = state * 6364136223846793005 + 1442695040888963407;
            value += (float)(state >> 40) * (1e-3f / (1 << 24));
        }
        values[i] = value;
    }
}

/* Fills c->left with numbers to encode; c->right, the buffer for decoding, serves as scratch. */
static void fill_normal(const struct computing *c)
{
    float *values = (void *)c->right;

    measure_fill(values, c->count);
    if (c->codec == CODEC_FP32)
        memcpy(c->left, values, c->count * sizeof *values);
    else
        precision_narrow(c->codec == CODEC_BF16 ? PRECISION_BF16 : PRECISION_FP16, values, c->count,
                         c->left);
}

static void measure_codec(MPI_Comm comm, struct computing *c, struct machine *machine)
{
    double bytes;

    c->count = CODEC_BLOCK_ELEMENTS;
    bytes = (double)(c->count * codec_type_bytes(c->codec));
    fill_normal(c);
    machine->encode_GBps[c->codec] = bytes / 1e3 / time_work(comm, encode, c);
    machine->decode_GBps[c->codec] = bytes / 1e3 / time_work(comm, decode, c);
    machine->ratio[c->codec] = bytes / (double)c->coded;
    c->count = CODEC_BLOCK_ELEMENTS_CODED;
    machine->block_us[c->codec] = time_work(comm, encode, c);
    machine->block_us[c->codec] = fmax(machine->block_us[c->codec], time_work(comm, decode, c));
}

static int measure_computing(MPI_Comm comm, struct machine *machine, struct error *err)
{
    enum { ROOM = 2 * COMPUTE_BYTES };
    struct computing c = {.path = codec_path_best(),
                          .scratch = codec_scratch_create(),
                          .left = aligned_alloc(64, ROOM),
                          .right = aligned_alloc(64, ROOM),
                          .out = aligned_alloc(64, ROOM)};
    bool has_memory = c.scratch != NULL && c.left != NULL && c.right != NULL && c.out != NULL;
    int status = collective_agree(comm, has_memory ? 0 : error_set(err, "out of memory"), err);

    if (status == 0) {
        memset(c.left, 0, ROOM);
        memset(c.right, 0, ROOM);
        memset(c.out, 0, ROOM);
        for (int type = 0; type < ELEMENT_TYPES; type++) {
            c.type = (enum element_type)type;
            c.count = COMPUTE_BYTES / element_bytes(c.type);
            machine->reduce_GBps[type] = COMPUTE_BYTES / 1e3 / time_work(comm, reduce, &c);
        }
        c.count = COMPUTE_BYTES;
        machine->copy_GBps = COMPUTE_BYTES / 1e3 / time_work(comm, copy, &c);
        for (int codec = 0; codec < CODEC_TYPES; codec++) {
            c.codec = (enum codec_type)codec;
            measure_codec(comm, &c, machine);
        }
    }
    codec_scratch_destroy(c.scratch);
    free(c.left);
    free(c.right);
    free(c.out);
    return status;
}

static void settle(MPI_Comm comm)
{
    double begin = PMPI_Wtime();

    while (PMPI_Wtime() - begin < MEASURE_SETTLE_S) {
    }
    PMPI_Barrier(comm);
}

int measure_machine(MPI_Comm comm, const struct layout *layout, struct machine *machine,
                    struct error *err)
{
    memset(machine, 0, sizeof *machine);
    settle(comm);
    if (measure_links(comm, layout, machine, err) < 0 || measure_computing(comm, machine, err) < 0)
        return -1;
    return 0;
}
