/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/compute/cpu.h"

#include <string.h>

#include "trainer/compute/bf16_gemm.h"
#include "trainer/compute/bf16_pack.h"

/* A product is cut into tiles, as in cpu_linear.c, each computed by one thread. A tile's weights
 * are rounded to bfloat16 and packed when they are needed, piece by piece if its sums are long, and
 * stay in the cache for the product. That reads no more than making a copy in bfloat16 would, and
 * there is no copy to renew when weights change. During a product the weights of the next one are
 * prefetched. */
enum { TILE_ROWS = 512 };

/* tiles of weight gradients */
enum { GRADIENT_ROWS = 128, GRADIENT_COLUMNS = 256 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* A sum of `whole` terms in chunks of about equal size, each padded; float between chunks. */
struct chunks {
    int whole, size, count;
};

static struct chunks chunks_of(int whole)
{
    int count = (whole + BF16_LONGEST - 1) / BF16_LONGEST;

    return (struct chunks){whole, bf16_padded((whole + count - 1) / count, BF16_DEPTH), count};
}

/* Return the terms of a chunk, and the same padded. */
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
    const element *chunked; /* `in`, its chunks one behind the other */
    struct bf16_tile tile;  /* the most weights that are packed at once */
    bool keeps;             /* keeps all of a tile's weights for its other rows */
    int claimed;            /* columns that threads have claimed */
};

/* Weights that are packed at once: columns of a tile, and some terms of a chunk. */
struct piece {
    int column, columns;
    int chunk, first, size; /* terms, of the chunk */
};

static struct piece piece_at(const struct product *product, int column, int chunk, int first)
{
    int left = chunk_size(&product->chunks, chunk) - first;

    return (struct piece){column, least(product->columns - column, product->tile.columns), chunk,
                          first, least(left, product->tile.depth)};
}

static struct piece piece_after(const struct product *product, const struct piece *piece)
{
    int end = piece->first + piece->size;

    return end < chunk_size(&product->chunks, piece->chunk)
               ? piece_at(product, piece->column, piece->chunk, end)
               : piece_at(product, piece->column, piece->chunk + 1, 0);
}

/* The weights of a piece in memory. */
static struct bf16_ahead weights_at(const struct product *product, const struct piece *piece)
{
    size_t stride = (size_t)product->linear->inputs, column = (size_t)piece->column;
    size_t term = (size_t)piece->chunk * (size_t)product->chunks.size + (size_t)piece->first;
    const real *weight = product->linear->weight;

    return product->is_transposed ? (struct bf16_ahead){weight + column * stride + term,
                                                        (size_t)piece->size * sizeof(real),
                                                        stride * sizeof(real), piece->columns}
                                  : (struct bf16_ahead){weight + term * stride + column,
                                                        (size_t)piece->columns * sizeof(real),
                                                        stride * sizeof(real), piece->size};
}

static void pack_weights(const struct product *product, const struct piece *piece, element *to)
{
    const real *from = weights_at(product, piece).from;
    size_t stride = (size_t)product->linear->inputs;

    if (product->is_transposed)
        bf16_pack_reals_transposed(from, stride, piece->size, piece->columns, to);
    else
        bf16_pack_reals(from, stride, piece->size, piece->columns, to);
}

/* Computes the rows from `row` on of the tile at `column`. next: the tile whose weights the thread
 * packs after these, or product->columns if there is none. */
static void multiply_tile(const struct product *product, int column, int row, int next, real *sums,
                          element *weights)
{
    const struct chunks *chunks = &product->chunks;
    int rows = least(product->linear->rows - row, TILE_ROWS);
    struct piece piece = piece_at(product, column, 0, 0);
    size_t at = (size_t)row * (size_t)product->columns + (size_t)column;
    const struct bf16_out out = {
        .reals = product->out_real ? product->out_real + at : NULL,
        .elements = product->out ? product->out + at : NULL,
        .stride = (size_t)product->columns,
    };

    for (;;) {
        int depth = chunk_depth(chunks, piece.chunk);
        struct piece after = piece_after(product, &piece);
        bool is_last = after.chunk == chunks->count, packs = row == 0 || !product->keeps;
        element *packed =
            weights + (product->keeps ? (size_t)piece.first * (size_t)product->tile.columns : 0);
        struct bf16_gemm gemm = {
            .m = rows,
            .n = piece.columns,
            .k = bf16_padded(piece.size, BF16_DEPTH),
            .a = product->chunked +
                 (size_t)piece.chunk * (size_t)chunks->size * (size_t)product->linear->rows +
                 (size_t)row * (size_t)depth + (size_t)piece.first,
            .a_stride = depth,
            .b = packed,
            .c = sums,
            .is_added = piece.chunk > 0 || piece.first > 0,
        };

        if (is_last) {
            gemm.out = &out;
            after = piece_at(product, next, 0, 0);
        }
        if (is_last ? next < product->columns : packs)
            gemm.ahead = weights_at(product, &after);
        if (packs)
            pack_weights(product, &piece, packed);
        bf16_gemm(&gemm);
        if (is_last)
            break;
        piece = after;
    }
}

/* Claims a tile for this thread. Returns its first column. */
static int claim(struct product *product)
{
    int column;

#pragma omp atomic capture
    {
        column = product->claimed;
        product->claimed += product->tile.columns;
    }
    return column;
}

/* Computes tiles on one thread, which claims its next tile before it computes one. */
static void multiply_tiles(struct product *product)
{
    int column = claim(product), rows = product->linear->rows;
    size_t columns = (size_t)product->tile.columns;
    size_t depth = (size_t)(product->keeps ? product->chunks.size : product->tile.depth);
    real *sums = cpu_scratch(CPU_SCRATCH_OWN,
                             columns * (sizeof(real) * TILE_ROWS + sizeof(element) * depth));
    element *weights = (element *)(sums + TILE_ROWS * columns);

    while (column < product->columns) {
        int next = claim(product), again = product->keeps ? product->columns : column;

        for (int row = 0; row < rows; row += TILE_ROWS)
            multiply_tile(product, column, row, row + TILE_ROWS < rows ? again : next, sums,
                          weights);
        column = next;
    }
    bf16_settle();
}

/* Computes the product on all threads. */
static void multiply(struct product *product)
{
    int rows = product->linear->rows, depth = product->depth;
    element *copy = NULL;

    product->chunks = chunks_of(depth);
    product->tile = bf16_gemm_tile();
    product->tile.depth = least(product->chunks.size, product->tile.depth);
    product->keeps = rows > TILE_ROWS && product->chunks.count == 1;
    product->chunked = product->in;
    if (depth != product->chunks.size)
        product->chunked = copy = cpu_scratch(
            CPU_SCRATCH_SHARED, (size_t)rows * sizeof *copy * (size_t)product->chunks.size *
                                    (size_t)product->chunks.count);
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (int chunk = 0; chunk < (copy ? product->chunks.count : 0); chunk++) {
            size_t at = (size_t)chunk * (size_t)product->chunks.size;

            bf16_pad(product->in + at, (size_t)depth, rows, chunk_size(&product->chunks, chunk),
                     copy + at * (size_t)rows);
        }
        multiply_tiles(product);
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
    element *packed; /* `in`: for each chunk of rows, for each tile of columns */
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

static void gradient_rows(const struct gradient *gradient, int row)
{
    const struct chunks *chunks = &gradient->chunks;
    int rows = least(gradient->linear->outputs - row, GRADIENT_ROWS);
    int inputs = gradient->linear->inputs, outputs = gradient->linear->outputs;
    size_t chunk_room = (size_t)bf16_padded(GRADIENT_ROWS, 16) * (size_t)chunks->size;
    real *sums =
        cpu_scratch(CPU_SCRATCH_OWN, sizeof(real) * GRADIENT_ROWS * GRADIENT_COLUMNS +
                                         sizeof(element) * chunk_room * (size_t)chunks->count);
    element *douts = (element *)(sums + GRADIENT_ROWS * GRADIENT_COLUMNS);

    for (int chunk = 0; chunk < chunks->count; chunk++)
        bf16_transpose(
            gradient->dout + (size_t)chunk * (size_t)chunks->size * (size_t)outputs + (size_t)row,
            (size_t)outputs, rows, chunk_size(chunks, chunk), douts + (size_t)chunk * chunk_room);
    for (int column = 0; column < inputs; column += GRADIENT_COLUMNS) {
        int columns = least(inputs - column, GRADIENT_COLUMNS);

        const struct bf16_out out = {
            .reals = gradient->dweight + (size_t)row * (size_t)inputs + (size_t)column,
            .stride = (size_t)inputs,
            .is_added = gradient->is_added,
        };

        for (int chunk = 0; chunk < chunks->count; chunk++)
            bf16_gemm(&(struct bf16_gemm){
                .m = rows,
                .n = columns,
                .k = chunk_depth(chunks, chunk),
                .a_stride = chunk_depth(chunks, chunk),
                .a = douts + (size_t)chunk * chunk_room,
                .b = packed_at(gradient, chunk, column),
                .c = sums,
                .out = chunk + 1 == chunks->count ? &out : NULL,
                .is_added = chunk > 0,
            });
    }
    bf16_settle();
}

void bf16_linear_backward_weight(const struct linear *linear, const activations *dout,
                                 const activations *in, bool is_added, real *dweight)
{
    const element *ins = in;
    struct chunks chunks = chunks_of(linear->rows);
    size_t inputs = (size_t)linear->inputs;
    element *packed = cpu_scratch(CPU_SCRATCH_SHARED,
                                  sizeof *packed * bf16_packed_size(chunks.size, linear->inputs) *
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
