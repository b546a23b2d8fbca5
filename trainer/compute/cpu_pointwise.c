/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/compute/cpu.h"

#include <string.h>

enum { BLOCK_ELEMENTS = 4096, BLOCK_COLUMNS = 64 };

#define GELU_SLOPE ((real)0.7978845608028654) /* sqrt(2 / pi) */
#define GELU_CUBE ((real)0.044715)

/* tanh by e^2x; the rounding of 1 + tanh near -1 is that of its definition. */
static inline real tanh_of(real x)
{
    return 1 - 2 / (cpu_exp(2 * x) + 1);
}

VECTORISED static void gelu_row(real *x, const real *bias, int columns, real *out)
{
    for (int i = 0; i < columns; i++) {
        real v = x[i] + bias[i];

        x[i] = v;
        out[i] = (real)0.5 * v * (1 + tanh_of(GELU_SLOPE * (v + GELU_CUBE * v * v * v)));
    }
}

void cpu_gelu(real *x, const real *bias, int rows, int columns, real *out)
{
#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows; row++) {
        size_t at = (size_t)row * (size_t)columns;

        gelu_row(x + at, bias, columns, out + at);
    }
}

VECTORISED static void gelu_block_backward(const real *x, int count, real *d, real *out)
{
    for (int i = 0; i < count; i++) {
        real v = x[i];
        real t = tanh_of(GELU_SLOPE * (v + GELU_CUBE * v * v * v));
        real slope = GELU_SLOPE * (1 + 3 * GELU_CUBE * v * v);

        out[i] = (real)0.5 * v * (1 + t);
        d[i] *= (real)0.5 * (1 + t) + (real)0.5 * v * (1 - t * t) * slope;
    }
}

void cpu_gelu_backward(const real *x, size_t count, real *d, real *out)
{
#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < count; at += BLOCK_ELEMENTS)
        gelu_block_backward(x + at,
                            (int)(count - at < BLOCK_ELEMENTS ? count - at : BLOCK_ELEMENTS),
                            d + at, out + at);
}

VECTORISED static void add_row(const real *a, const real *b, const real *bias, int columns,
                               real *out)
{
    if (!b)
        for (int i = 0; i < columns; i++)
            out[i] = a[i] + bias[i];
    else
        for (int i = 0; i < columns; i++)
            out[i] = a[i] + b[i] + bias[i];
}

void cpu_add(const real *a, const real *b, const real *bias, int rows, int columns, real *out)
{
#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows; row++) {
        size_t at = (size_t)row * (size_t)columns;

        add_row(a + at, b ? b + at : NULL, bias, columns, out + at);
    }
}

VECTORISED static void sum_columns(const real *d, int rows, int columns, int first, int last,
                                   real *dbias)
{
    for (int row = 0; row < rows; row++)
        for (int i = first; i < last; i++)
            dbias[i] += d[(size_t)row * (size_t)columns + (size_t)i];
}

void cpu_sum_rows(const real *d, int rows, int columns, real *dbias)
{
#pragma omp parallel for schedule(static)
    for (int first = 0; first < columns; first += BLOCK_COLUMNS)
        sum_columns(d, rows, columns, first,
                    first + BLOCK_COLUMNS < columns ? first + BLOCK_COLUMNS : columns, dbias);
}

void cpu_embed(const int32_t *tokens, const real *wte, const real *wpe, int batch, int time,
               int channels, real *out)
{
#pragma omp parallel for schedule(static)
    for (int row = 0; row < batch * time; row++) {
        const real *token = wte + (size_t)tokens[row] * (size_t)channels;
        const real *place = wpe + (size_t)(row % time) * (size_t)channels;

        for (int i = 0; i < channels; i++)
            out[(size_t)row * (size_t)channels + (size_t)i] = token[i] + place[i];
    }
}

/* Cut by columns, not by rows: a token may stand in several rows. */
void cpu_embed_backward(const real *dout, const int32_t *tokens, int batch, int time, int channels,
                        real *dwte, real *dwpe)
{
#pragma omp parallel for schedule(static)
    for (int first = 0; first < channels; first += BLOCK_COLUMNS) {
        int last = first + BLOCK_COLUMNS < channels ? first + BLOCK_COLUMNS : channels;

        for (int row = 0; row < batch * time; row++) {
            const real *d = dout + (size_t)row * (size_t)channels;
            real *token = dwte + (size_t)tokens[row] * (size_t)channels;
            real *place = dwpe + (size_t)(row % time) * (size_t)channels;

            for (int i = first; i < last; i++) {
                token[i] += d[i];
                place[i] += d[i];
            }
        }
    }
}
