/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/compute/bf16_linear.h"

#include "trainer/compute/bf16_gemm.h"
#include "trainer/compute/cpu.h"

/* A product is cut into tiles, as in cpu_linear.c, each computed by one thread. A tile's weights
 * are rounded to bfloat16 when they are needed, DEPTH at a time, and stay in the cache for the
 * product: that reads what a copy in bfloat16 would have had to be made from, and nothing has to
 * know when weights change. Sums over more than DEPTH are kept in float from chunk to chunk. */
enum { TILE_ROWS = 512, TILE_COLUMNS = 128, DEPTH = 1024 };

/* of gradients of weights */
enum { SQUARE = 256 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Rows that are asked for before they are needed: pieces of rows are too short for the processor to
 * see what comes next. */
enum { AHEAD = 8 };

VECTORISED static void round_rows(const real *from, size_t stride, int rows, int columns,
                                  element *to)
{
    for (int row = 0; row < rows; row++) {
        const real *at = from + (size_t)row * stride;

        for (int i = 0; row + AHEAD < rows && i < columns; i += 16)
            __builtin_prefetch(at + AHEAD * stride + i);
        for (int i = 0; i < columns; i++)
            to[(size_t)row * (size_t)columns + (size_t)i] = element_of(at[i]);
    }
}

/* out (rows x columns) = in (rows x depth) W^T, or in W. */
struct product {
    const struct linear *linear;
    const element *in;
    element *out;
    real *out_real; /* instead of out */
    int columns, depth;
    bool is_transposed;
};

/* Weights of [column, column + columns) and [at, at + depth) of the sum, packed. */
static void round_weights(const struct product *product, int column, int columns, int at, int depth,
                          element *to)
{
    const real *weight = product->linear->weight;
    size_t stride = (size_t)product->linear->inputs;

    if (product->is_transposed)
        round_rows(weight + (size_t)column * stride + (size_t)at, stride, columns, depth, to);
    else
        round_rows(weight + (size_t)at * stride + (size_t)column, stride, depth, columns, to);
}

static void multiply_tile(const struct product *product, int row, int column)
{
    int rows = least(product->linear->rows - row, TILE_ROWS);
    int columns = least(product->columns - column, TILE_COLUMNS);
    size_t at = (size_t)row * (size_t)product->columns + (size_t)column;
    bool is_direct = product->out_real || product->depth <= DEPTH;
    real *sums =
        cpu_room(sizeof(real) * TILE_ROWS * TILE_COLUMNS + sizeof(element) * DEPTH * TILE_COLUMNS);
    element *weights = (element *)(sums + TILE_ROWS * TILE_COLUMNS);
    struct bf16_gemm gemm = {
        .m = rows,
        .n = columns,
        .b = weights,
        .c = product->out_real ? (void *)(product->out_real + at)
             : is_direct       ? (void *)(product->out + at)
                               : sums,
        .lda = product->depth,
        .ldc = is_direct ? product->columns : columns,
        .is_b_transposed = product->is_transposed,
        .is_c_real = product->out_real || !is_direct,
    };

    for (int done = 0; done < product->depth; done += gemm.k, gemm.is_added = true) {
        gemm.k = least(product->depth - done, DEPTH);
        gemm.a = product->in + (size_t)row * (size_t)product->depth + (size_t)done;
        gemm.ldb = product->is_transposed ? gemm.k : columns;
        round_weights(product, column, columns, done, gemm.k, weights);
        bf16_gemm(&gemm);
    }
    for (int i = 0; !is_direct && i < rows; i++)
        round_rows(sums + (size_t)i * (size_t)columns, 0, 1, columns,
                   product->out + at + (size_t)i * (size_t)product->columns);
}

/* By all threads. */
static void multiply(const struct product *product)
{
    int across = (product->columns + TILE_COLUMNS - 1) / TILE_COLUMNS;
    int tiles = across * ((product->linear->rows + TILE_ROWS - 1) / TILE_ROWS);

#pragma omp parallel for schedule(dynamic)
    for (int tile = 0; tile < tiles; tile++)
        multiply_tile(product, tile / across * TILE_ROWS, tile % across * TILE_COLUMNS);
}

void bf16_linear(const struct linear *linear, const activations *in, activations *out)
{
    multiply(&(struct product){linear, in, out, NULL, linear->outputs, linear->inputs, true});
}

void bf16_linear_real(const struct linear *linear, const activations *in, real *out)
{
    multiply(&(struct product){linear, in, NULL, out, linear->outputs, linear->inputs, true});
}

void bf16_linear_backward_in(const struct linear *linear, const activations *dout, activations *din)
{
    multiply(&(struct product){linear, dout, din, NULL, linear->inputs, linear->outputs, false});
}

void bf16_linear_backward_weight(const struct linear *linear, const activations *dout,
                                 const activations *in, bool is_added, real *dweight)
{
    const element *douts = dout, *ins = in;
    int across = (linear->inputs + SQUARE - 1) / SQUARE;
    int tiles = across * ((linear->outputs + SQUARE - 1) / SQUARE);

#pragma omp parallel for schedule(dynamic)
    for (int tile = 0; tile < tiles; tile++) {
        int row = tile / across * SQUARE, column = tile % across * SQUARE;

        bf16_gemm(&(struct bf16_gemm){
            .m = least(linear->outputs - row, SQUARE),
            .n = least(linear->inputs - column, SQUARE),
            .k = linear->rows,
            .a = douts + row,
            .b = ins + column,
            .c = dweight + (size_t)row * (size_t)linear->inputs + (size_t)column,
            .lda = linear->outputs,
            .ldb = linear->inputs,
            .ldc = linear->inputs,
            .is_a_transposed = true,
            .is_c_real = true,
            .is_added = is_added,
        });
    }
}
