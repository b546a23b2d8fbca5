/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/compute/cpu.h"

/* Ba, Kiros, Hinton: Layer normalization, 2016; epsilon as GPT-2's. */
#define EPSILON ((real)1e-5)

enum { BLOCK_COLUMNS = 64 };

static real sum_lanes(const real *lanes)
{
    real sum = 0;

    for (int lane = 0; lane < CPU_LANES; lane++)
        sum += lanes[lane];
    return sum;
}

VECTORISED static void norm_row(const element *in, const real *weight, const real *bias,
                                int channels, element *out, real *mean, real *rstd)
{
    real lanes[CPU_LANES] = {0}, squares[CPU_LANES] = {0}, m, s;
    int whole = channels - channels % CPU_LANES;

    for (int i = 0; i < whole; i += CPU_LANES)
        for (int lane = 0; lane < CPU_LANES; lane++)
            lanes[lane] += element_get(in[i + lane]);
    for (int i = whole; i < channels; i++)
        lanes[i - whole] += element_get(in[i]);
    m = sum_lanes(lanes) / (real)channels;
    for (int i = 0; i < whole; i += CPU_LANES)
        for (int lane = 0; lane < CPU_LANES; lane++)
            squares[lane] += (element_get(in[i + lane]) - m) * (element_get(in[i + lane]) - m);
    for (int i = whole; i < channels; i++)
        squares[i - whole] += (element_get(in[i]) - m) * (element_get(in[i]) - m);
    s = 1 / (real)sqrt(sum_lanes(squares) / (real)channels + EPSILON);
    for (int i = 0; i < channels; i++)
        out[i] = element_of((element_get(in[i]) - m) * s * weight[i] + bias[i]);
    *mean = m;
    *rstd = s;
}

void cpu_layernorm(const activations *in, const real *weight, const real *bias, int rows,
                   int channels, activations *out, real *mean, real *rstd)
{
    const element *ins = in;
    element *outs = out;

#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows; row++) {
        size_t at = (size_t)row * (size_t)channels;

        norm_row(ins + at, weight, bias, channels, outs + at, mean + row, rstd + row);
    }
}

/* With n = (in - mean) rstd and g = dout weight: din = rstd (g - mean(g) - n mean(g n)). */
VECTORISED static void norm_row_backward(const element *dout, const element *in, const real *weight,
                                         real mean, real rstd, int channels, element *din)
{
    real lanes[CPU_LANES] = {0}, products[CPU_LANES] = {0}, g_mean, gn_mean;
    int whole = channels - channels % CPU_LANES;

    for (int i = 0; i < whole; i += CPU_LANES) {
        for (int lane = 0; lane < CPU_LANES; lane++) {
            real g = element_get(dout[i + lane]) * weight[i + lane];

            lanes[lane] += g;
            products[lane] += g * ((element_get(in[i + lane]) - mean) * rstd);
        }
    }
    for (int i = whole; i < channels; i++) {
        real g = element_get(dout[i]) * weight[i];

        lanes[i - whole] += g;
        products[i - whole] += g * ((element_get(in[i]) - mean) * rstd);
    }
    g_mean = sum_lanes(lanes) / (real)channels;
    gn_mean = sum_lanes(products) / (real)channels;
    for (int i = 0; i < channels; i++) {
        real n = (element_get(in[i]) - mean) * rstd, g = element_get(dout[i]) * weight[i];

        din[i] = element_of(element_get(din[i]) + rstd * (g - g_mean - n * gn_mean));
    }
}

/* Columns [first, last) of dweight and dbias, row after row. */
VECTORISED static void norm_columns_backward(const element *dout, const element *in,
                                             const real *mean, const real *rstd, int rows,
                                             int channels, int first, int last, real *dweight,
                                             real *dbias)
{
    for (int row = 0; row < rows; row++) {
        const element *d = dout + (size_t)row * (size_t)channels;
        const element *x = in + (size_t)row * (size_t)channels;

        for (int i = first; i < last; i++) {
            dweight[i] += element_get(d[i]) * ((element_get(x[i]) - mean[row]) * rstd[row]);
            dbias[i] += element_get(d[i]);
        }
    }
}

void cpu_layernorm_backward(const activations *dout, const activations *in, const real *weight,
                            const real *mean, const real *rstd, int rows, int channels,
                            activations *din, real *dweight, real *dbias)
{
    const element *douts = dout, *ins = in;
    element *dins = din;

#pragma omp parallel
    {
#pragma omp for schedule(static) nowait
        for (int row = 0; row < rows; row++) {
            size_t at = (size_t)row * (size_t)channels;

            norm_row_backward(douts + at, ins + at, weight, mean[row], rstd[row], channels,
                              dins + at);
        }
#pragma omp for schedule(static)
        for (int first = 0; first < channels; first += BLOCK_COLUMNS)
            norm_columns_backward(douts, ins, mean, rstd, rows, channels, first,
                                  first + BLOCK_COLUMNS < channels ? first + BLOCK_COLUMNS
                                                                   : channels,
                                  dweight, dbias);
    }
}
