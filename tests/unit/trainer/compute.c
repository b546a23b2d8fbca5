/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "lib/base/splitmix.h"
#include "tests/unit/tap.h"
#include "trainer/compute/cpu.h"
#include "trainer/optimizer/adamw.h"

/* Compares functions of compute_cpu with the C library in double precision. */

static void exponential_is_near(void)
{
    double worst = 0;

    for (int i = 0; i < 2000000; i++) {
        float x = -86.9f + 174.8f * (float)i / 2000000.0f;
        double expected = exp((double)x);
        double ulp = expected * 0x1p-24;

        worst = fmax(worst, fabs((double)cpu_exp(x) - expected) / ulp / 2);
    }
    ok(worst < 2, "e^x is within 2 units in the last place: %.2f", worst);
    ok(cpu_exp(0) == 1, "e^0 is 1");
    ok(cpu_exp(-INFINITY) == 0 && cpu_exp(-1000) == 0, "e^x is 0 for x far below 0");
    ok(isnan(cpu_exp(NAN)), "e^NaN is NaN");
}

static void gelu_is_its_formula(void)
{
    enum { COUNT = 4001 };
    static float x[COUNT], bias[COUNT], out[COUNT], d[COUNT];
    double worst = 0, worst_slope = 0;

    for (int i = 0; i < COUNT; i++)
        x[i] = -10 + 20 * (float)i / (COUNT - 1);
    compute_cpu.gelu(x, bias, 1, COUNT, out);
    for (int i = 0; i < COUNT; i++)
        d[i] = 1;
    compute_cpu.gelu_backward(x, COUNT, d, out);
    for (int i = 0; i < COUNT; i++) {
        double v = (double)x[i], s = sqrt(2 / M_PI), t = tanh(s * (v + 0.044715 * v * v * v));
        double slope = 0.5 * (1 + t) + 0.5 * v * (1 - t * t) * s * (1 + 3 * 0.044715 * v * v);

        worst = fmax(worst, fabs((double)out[i] - 0.5 * v * (1 + t)));
        worst_slope = fmax(worst_slope, fabs((double)d[i] - slope));
    }
    ok(worst < 2e-6, "GELU differs from its formula by less than 2e-6: %.1e", worst);
    ok(worst_slope < 2e-6, "the slope of GELU too: %.1e", worst_slope);
}

static void sums_are_exact(void)
{
    static float ones[100003];

    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
        ones[i] = i % 2 ? 3 : -2;
    is_near(adamw_squares(ones, sizeof ones / sizeof *ones), 50001 * 9.0 + 50002 * 4.0, 0,
            "a sum of squares has each element once");
}

/* Draws integers from -4 to 4: products and sums need no rounding. */
static float *draw(uint64_t seed, int rows, int columns)
{
    size_t count = (size_t)rows * (size_t)columns;
    float *numbers = malloc(count * sizeof *numbers);

    for (size_t i = 0; i < count; i++)
        numbers[i] = (float)((int)(splitmix_at(seed, i) % 9) - 4);
    return numbers;
}

/* Returns the number of elements of c (m x n) that differ from start + the sum over k of a[i][k]
 * b[j][k]. row and step are the strides of the two indexes. */
static int wrong_products(int m, int n, int k, const float *a, int a_row, int a_step,
                          const float *b, int b_row, int b_step, float start, const float *c)
{
    int wrong = 0;

    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) {
            float sum = start;

            for (int at = 0; at < k; at++)
                sum += a[i * a_row + at * a_step] * b[j * b_row + at * b_step];
            wrong += c[i * n + j] != sum;
        }
    }
    return wrong;
}

static void products_are_exact(int rows, int inputs, int outputs)
{
    float *in = draw(1, rows, inputs), *weight = draw(2, outputs, inputs);
    float *dout = draw(3, rows, outputs), *out = draw(4, rows, outputs);
    float *din = draw(5, rows, inputs), *dweight = draw(6, outputs, inputs);
    struct linear linear = {rows, inputs, outputs, weight};

    for (int i = 0; i < outputs * inputs; i++)
        dweight[i] = 1000;
    compute_cpu.linear(&linear, in, out);
    compute_cpu.linear_backward_in(&linear, dout, din);
    compute_cpu.linear_backward_weight(&linear, dout, in, true, dweight);
    is_int(wrong_products(rows, outputs, inputs, in, inputs, 1, weight, inputs, 1, 0, out), 0,
           "%d x %d x %d: forward", rows, inputs, outputs);
    is_int(wrong_products(rows, inputs, outputs, dout, outputs, 1, weight, 1, inputs, 0, din), 0,
           "%d x %d x %d: gradient of the input", rows, inputs, outputs);
    is_int(wrong_products(outputs, inputs, rows, dout, 1, outputs, in, 1, inputs, 1000, dweight), 0,
           "%d x %d x %d: gradient of the weight, added", rows, inputs, outputs);
    for (int i = 0; i < outputs * inputs; i++)
        dweight[i] = NAN;
    compute_cpu.linear_backward_weight(&linear, dout, in, false, dweight);
    is_int(wrong_products(outputs, inputs, rows, dout, 1, outputs, in, 1, inputs, 0, dweight), 0,
           "%d x %d x %d: gradient of the weight, set", rows, inputs, outputs);
    free(in);
    free(weight);
    free(dout);
    free(out);
    free(din);
    free(dweight);
}

int main(void)
{
    products_are_exact(2, 4, 3);
    products_are_exact(530, 40, 2100);
    products_are_exact(1100, 1700, 20);
    exponential_is_near();
    gelu_is_its_formula();
    sums_are_exact();
    return tap_done();
}
