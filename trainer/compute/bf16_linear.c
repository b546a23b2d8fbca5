/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/compute/bf16_linear.h"

#include <string.h>

#include "trainer/compute/bf16_gemm.h"
#include "trainer/compute/bf16_pack.h"
#include "trainer/compute/cpu.h"

/* A product is cut into tiles, as in cpu_linear.c, each computed by one thread. A tile's weights
 * are rounded to bfloat16 and packed when they are needed and stay in the cache for the product:
 * that reads what a copy in bfloat16 would have had to be made from, and nothing has to know when
 * weights change. */
enum { TILE_ROWS = 512, TILE_COLUMNS = 128 };

/* of gradients of weights */
enum { GRADIENT_ROWS = 128, GRADIENT_COLUMNS = 256 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* A sum of `whole` terms in chunks of like size, each padded; in float from one to the next. */
struct chunks {
    int whole, size, count;
};

static struct chunks chunks_of(int whole)
{
    int count = (whole + BF16_LONGEST - 1) / BF16_LONGEST;

    return (struct chunks){whole, bf16_padded((whole + count - 1) / count, BF16_DEPTH), count};
}

/* Terms of a chunk, and the same padded. */
static int chunk_size(const struct chunks *chunks, int chunk)
{
    return least(chunks->whole - chunk * chunks->size, chunks->size);
}

static int chunk_depth(const struct chunks *chunks, int chunk)
{
    return bf16_padded(chunk_size(chunks, chunk), BF16_DEPTH);
}

/* out (rows x columns) = in (rows x depth) W^T, or in W. */
struct product {
    const struct linear *linear;
    const element *in;
    element *out;
    real *out_real; /* instead of out */
    int columns, depth;
    bool is_transposed;
    struct chunks chunks;
    const element *chunked; /* in, its chunks one behind the other */
};

/* Weights of [column, column + columns) and a chunk of the sum, packed. */
static void pack_weights(const struct product *product, int column, int columns, int chunk,
                         element *to)
{
    const real *weight = product->linear->weight;
    size_t stride = (size_t)product->linear->inputs;
    size_t at = (size_t)chunk * (size_t)product->chunks.size;
    int size = chunk_size(&product->chunks, chunk);

    if (product->is_transposed)
        bf16_pack_reals_transposed(weight + (size_t)column * stride + at, stride, size, columns,
                                   to);
    else
        bf16_pack_reals(weight + at * stride + (size_t)column, stride, size, columns, to);
}

VECTORISED static void round_row(const real *from, int columns, element *to)
{
    for (int i = 0; i < columns; i++)
        to[i] = element_of(from[i]);
}

/* Sums of a tile to where they belong. */
static void store(const struct product *product, int row, int rows, int column, int columns,
                  const real *sums)
{
    for (int i = 0; i < rows; i++, sums += columns) {
        size_t at = (size_t)(row + i) * (size_t)product->columns + (size_t)column;

        if (product->out_real)
            memcpy(product->out_real + at, sums, (size_t)columns * sizeof *sums);
        else
            round_row(sums, columns, product->out + at);
    }
}

static void multiply_tile(const struct product *product, int column)
{
    const struct chunks *chunks = &product->chunks;
    int columns = least(product->columns - column, TILE_COLUMNS), rows = product->linear->rows;
    real *sums = cpu_room(CPU_ROOM_OWN, sizeof(real) * TILE_ROWS * TILE_COLUMNS +
                                            sizeof(element) * TILE_COLUMNS * (size_t)chunks->size);
    element *weights = (element *)(sums + TILE_ROWS * TILE_COLUMNS);

    for (int row = 0; row < rows; row += TILE_ROWS) {
        struct bf16_gemm gemm = {
            .m = least(rows - row, TILE_ROWS), .n = columns, .b = weights, .c = sums};

        for (int chunk = 0; chunk < chunks->count; chunk++) {
            gemm.k = chunk_depth(chunks, chunk);
            gemm.a = product->chunked + (size_t)chunk * (size_t)chunks->size * (size_t)rows +
                     (size_t)row * (size_t)gemm.k;
            gemm.is_added = chunk > 0;
            if (row == 0 || chunks->count > 1)
                pack_weights(product, column, columns, chunk, weights);
            bf16_gemm(&gemm);
        }
        store(product, row, gemm.m, column, columns, sums);
    }
}

/* By all threads. */
static void multiply(struct product *product)
{
    int rows = product->linear->rows, depth = product->depth;
    element *copy = NULL;

    product->chunks = chunks_of(depth);
    product->chunked = product->in;
    if (depth != product->chunks.size)
        product->chunked = copy =
            cpu_room(CPU_ROOM_SHARED, (size_t)rows * sizeof *copy * (size_t)product->chunks.size *
                                          (size_t)product->chunks.count);
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int chunk = 0; chunk < (copy ? product->chunks.count : 0); chunk++) {
            size_t at = (size_t)chunk * (size_t)product->chunks.size;

            bf16_pad(product->in + at, (size_t)depth, rows, chunk_size(&product->chunks, chunk),
                     copy + at * (size_t)rows);
        }
#pragma omp for schedule(dynamic)
        for (int column = 0; column < product->columns; column += TILE_COLUMNS)
            multiply_tile(product, column);
    }
}

/* One of out and out_real is NULL. */
static void multiply_forward(const struct linear *linear, const element *in, element *out,
                             real *out_real)
{
    multiply(&(struct product){.linear = linear,
                               .in = in,
                               .out = out,
                               .out_real = out_real,
                               .columns = linear->outputs,
                               .depth = linear->inputs,
                               .is_transposed = true});
}

void bf16_linear(const struct linear *linear, const activations *in, activations *out)
{
    multiply_forward(linear, in, out, NULL);
}

void bf16_linear_real(const struct linear *linear, const activations *in, real *out)
{
    multiply_forward(linear, in, NULL, out);
}

void bf16_linear_backward_in(const struct linear *linear, const activations *dout, activations *din)
{
    multiply(&(struct product){.linear = linear,
                               .in = dout,
                               .out = din,
                               .columns = linear->inputs,
                               .depth = linear->outputs});
}

/* dweight (outputs x inputs) = or += dout^T in */
struct gradient {
    const struct linear *linear;
    const element *dout;
    element *packed; /* in: for each chunk of rows, for each tile of columns */
    real *dweight;
    bool is_added;
    struct chunks chunks;
};

static element *packed_at(const struct gradient *gradient, int chunk, int column)
{
    return gradient->packed +
           (size_t)chunk * bf16_packed_size(gradient->chunks.size, gradient->linear->inputs) +
           (size_t)column * (size_t)chunk_depth(&gradient->chunks, chunk);
}

VECTORISED static void add_row(const real *from, int columns, real *to)
{
    for (int i = 0; i < columns; i++)
        to[i] += from[i];
}

static void store_gradient(const struct gradient *gradient, int row, int rows, int column,
                           int columns, const real *sums)
{
    for (int i = 0; i < rows; i++, sums += columns) {
        size_t at = (size_t)(row + i) * (size_t)gradient->linear->inputs + (size_t)column;

        if (gradient->is_added)
            add_row(sums, columns, gradient->dweight + at);
        else
            bf16_stream(sums, columns, gradient->dweight + at);
    }
}

static void gradient_rows(const struct gradient *gradient, int row)
{
    const struct chunks *chunks = &gradient->chunks;
    int rows = least(gradient->linear->outputs - row, GRADIENT_ROWS);
    int inputs = gradient->linear->inputs, outputs = gradient->linear->outputs;
    size_t chunk_room = (size_t)bf16_padded(GRADIENT_ROWS, 16) * (size_t)chunks->size;
    real *sums = cpu_room(CPU_ROOM_OWN, sizeof(real) * GRADIENT_ROWS * GRADIENT_COLUMNS +
                                            sizeof(element) * chunk_room * (size_t)chunks->count);
    element *douts = (element *)(sums + GRADIENT_ROWS * GRADIENT_COLUMNS);

    for (int chunk = 0; chunk < chunks->count; chunk++)
        bf16_transpose(
            gradient->dout + (size_t)chunk * (size_t)chunks->size * (size_t)outputs + (size_t)row,
            (size_t)outputs, rows, chunk_size(chunks, chunk), douts + (size_t)chunk * chunk_room);
    for (int column = 0; column < inputs; column += GRADIENT_COLUMNS) {
        int columns = least(inputs - column, GRADIENT_COLUMNS);

        for (int chunk = 0; chunk < chunks->count; chunk++)
            bf16_gemm(&(struct bf16_gemm){
                .m = rows,
                .n = columns,
                .k = chunk_depth(chunks, chunk),
                .a = douts + (size_t)chunk * chunk_room,
                .b = packed_at(gradient, chunk, column),
                .c = sums,
                .is_added = chunk > 0,
            });
        store_gradient(gradient, row, rows, column, columns, sums);
    }
    bf16_settle();
}

void bf16_linear_backward_weight(const struct linear *linear, const activations *dout,
                                 const activations *in, bool is_added, real *dweight)
{
    const element *ins = in;
    struct chunks chunks = chunks_of(linear->rows);
    size_t inputs = (size_t)linear->inputs;
    element *packed =
        cpu_room(CPU_ROOM_SHARED, sizeof *packed * bf16_packed_size(chunks.size, linear->inputs) *
                                      (size_t)chunks.count);
    struct gradient gradient = {linear, dout, packed, dweight, is_added, chunks};

#pragma omp parallel
    {
#pragma omp for schedule(static) collapse(2)
        for (int chunk = 0; chunk < chunks.count; chunk++)
            for (int column = 0; column < linear->inputs; column += BF16_COLUMNS)
                bf16_pack(ins + (size_t)chunk * (size_t)chunks.size * inputs + (size_t)column,
                          inputs, chunk_size(&chunks, chunk),
                          least(linear->inputs - column, BF16_COLUMNS),
                          packed_at(&gradient, chunk, column));
#pragma omp for schedule(dynamic)
        for (int row = 0; row < linear->outputs; row += GRADIENT_ROWS)
            gradient_rows(&gradient, row);
    }
}
