/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/compute/cpu.h"

enum { BLOCK_ELEMENTS = 4096, BLOCK_COLUMNS = 64 };

#define GELU_SLOPE ((real)0.7978845608028654) /* sqrt(2 / pi) */
#define GELU_CUBE ((real)0.044715)

/* tanh by e^2x; near -1, 1 + tanh is rounded as by the definition of tanh. */
static inline real tanh_of(real x)
{
    return 1 - 2 / (cpu_exp(2 * x) + 1);
}

VECTORISED static void gelu_row(element *x, const real *bias, int columns, element *out)
{
    for (int i = 0; i < columns; i++) {
        real v = element_get(x[i]) + bias[i];

        x[i] = element_of(v);
        out[i] =
            element_of((real)0.5 * v * (1 + tanh_of(GELU_SLOPE * (v + GELU_CUBE * v * v * v))));
    }
}

void cpu_gelu(activations *x, const real *bias, int rows, int columns, activations *out)
{
    element *xs = x, *outs = out;

#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows; row++) {
        size_t at = (size_t)row * (size_t)columns;

        gelu_row(xs + at, bias, columns, outs + at);
    }
}

VECTORISED static void gelu_block_backward(const element *x, int count, element *d, element *out)
{
    for (int i = 0; i < count; i++) {
        real v = element_get(x[i]);
        real t = tanh_of(GELU_SLOPE * (v + GELU_CUBE * v * v * v));
        real slope = GELU_SLOPE * (1 + 3 * GELU_CUBE * v * v);

        out[i] = element_of((real)0.5 * v * (1 + t));
        d[i] = element_of(element_get(d[i]) *
                          ((real)0.5 * (1 + t) + (real)0.5 * v * (1 - t * t) * slope));
    }
}

void cpu_gelu_backward(const activations *x, size_t count, activations *d, activations *out)
{
    const element *xs = x;
    element *ds = d, *outs = out;

#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < count; at += BLOCK_ELEMENTS)
        gelu_block_backward(xs + at,
                            (int)(count - at < BLOCK_ELEMENTS ? count - at : BLOCK_ELEMENTS),
                            ds + at, outs + at);
}

VECTORISED static void add_row(const element *a, const element *b, const real *bias, int columns,
                               element *out)
{
    if (!b) {
#pragma omp simd
        for (int i = 0; i < columns; i++)
            out[i] = element_of(element_get(a[i]) + bias[i]);
        return;
    }
#pragma omp simd
    for (int i = 0; i < columns; i++)
        out[i] = element_of(element_get(a[i]) + element_get(b[i]) + bias[i]);
}

void cpu_add(const activations *a, const activations *b, const real *bias, int rows, int columns,
             activations *out)
{
    const element *as = a, *bs = b;
    element *outs = out;

#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows; row++) {
        size_t at = (size_t)row * (size_t)columns;

        add_row(as + at, bs ? bs + at : NULL, bias, columns, outs + at);
    }
}

VECTORISED static void sum_columns(const element *d, int rows, int columns, int first, int last,
                                   real *dbias)
{
    for (int row = 0; row < rows; row++)
        for (int i = first; i < last; i++)
            dbias[i] += element_get(d[(size_t)row * (size_t)columns + (size_t)i]);
}

void cpu_sum_rows(const activations *d, int rows, int columns, real *dbias)
{
    const element *ds = d;

#pragma omp parallel for schedule(static)
    for (int first = 0; first < columns; first += BLOCK_COLUMNS)
        sum_columns(ds, rows, columns, first,
                    first + BLOCK_COLUMNS < columns ? first + BLOCK_COLUMNS : columns, dbias);
}

void cpu_embed(const int32_t *tokens, const real *wte, const real *wpe, int batch, int time,
               int channels, activations *out)
{
    element *outs = out;

#pragma omp parallel for schedule(static)
    for (int row = 0; row < batch * time; row++) {
        const real *token = wte + (size_t)tokens[row] * (size_t)channels;
        const real *place = wpe + (size_t)(row % time) * (size_t)channels;

        for (int i = 0; i < channels; i++)
            outs[(size_t)row * (size_t)channels + (size_t)i] = element_of(token[i] + place[i]);
    }
}

/* Threads share columns, not rows: a token may occur in several rows. */
void cpu_embed_backward(const activations *dout, const int32_t *tokens, int batch, int time,
                        int channels, real *dwte, real *dwpe)
{
    const element *douts = dout;

#pragma omp parallel for schedule(static)
    for (int first = 0; first < channels; first += BLOCK_COLUMNS) {
        int last = first + BLOCK_COLUMNS < channels ? first + BLOCK_COLUMNS : channels;

        for (int row = 0; row < batch * time; row++) {
            const element *d = douts + (size_t)row * (size_t)channels;
            real *token = dwte + (size_t)tokens[row] * (size_t)channels;
            real *place = dwpe + (size_t)(row % time) * (size_t)channels;

            for (int i = first; i < last; i++) {
                token[i] += element_get(d[i]);
                place[i] += element_get(d[i]);
            }
        }
    }
}
