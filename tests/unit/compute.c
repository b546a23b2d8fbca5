/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/unit/tap.h"
#include "trainer/compute/cpu.h"
#include "trainer/optimizer/adamw.h"

/* What compute_cpu brings along itself, against the C library in double. */

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
    ok(cpu_exp(-INFINITY) == 0 && cpu_exp(-1000) == 0, "far below it is 0");
    ok(isnan(cpu_exp(NAN)), "of no number it is none");
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
    ok(worst < 2e-6, "GELU is its formula to 2e-6: %.1e", worst);
    ok(worst_slope < 2e-6, "its slope too: %.1e", worst_slope);
}

static void sums_are_exact(void)
{
    static float ones[100003];

    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++)
        ones[i] = i % 2 ? 3 : -2;
    is_near(adamw_squares(ones, sizeof ones / sizeof *ones), 50001 * 9.0 + 50002 * 4.0, 0,
            "a sum of squares takes each element once");
}

int main(void)
{
    exponential_is_near();
    gelu_is_its_formula();
    sums_are_exact();
    return tap_done();
}
