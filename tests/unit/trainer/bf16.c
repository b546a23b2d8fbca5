/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"
#define MUSTER_ELEMENT_BF16 1
#include "lib/base/splitmix.h"
#include "trainer/compute/compute.h"
#include "trainer/compute/element.h"
#include "trainer/training.h"

/* compute_bf16: rounding, products without rounding errors, and training compared with fp32. */

static const struct compute *bf16;

/* Rounds x to bfloat16 by definition, in double: 8 bits of significand. */
static float rounded(float x)
{
    int exponent;
    double significand = frexp((double)x, &exponent);

    return (float)ldexp(nearbyint(ldexp(significand, 8)), exponent - 8);
}

static void rounding_is_to_the_nearest(void)
{
    int wrong = 0;

    for (int i = 0; i < 200000; i++) {
        uint32_t bits = (uint32_t)splitmix_at(5, (uint64_t)i) & 0xFFFFFF3Fu;
        float x, got;

        if (i % 3 == 0)
            bits = (bits & 0xFFFF0000u) | 0x8000u; /* half way between two bfloat16 */
        memcpy(&x, &bits, sizeof x);
        if (!isnormal(x) || fabsf(x) > 3e38f)
            continue;
        got = element_get(element_of(x));
        wrong += got != rounded(x);
    }
    is_int(wrong, 0, "a float is rounded to the nearest bfloat16, ties to even");
    ok(isnan(element_get(element_of((float)NAN))), "NaN stays NaN");
    ok(isinf(element_get(element_of(INFINITY))), "infinity stays infinity");
    ok(isinf(element_get(element_of(3.4e38f))), "a float that is too large becomes infinity");
}

/* Draws integers from -4 to 4: their products and sums need no rounding. */
static void draw(uint64_t seed, size_t count, element *elements, float *numbers)
{
    for (size_t i = 0; i < count; i++) {
        numbers[i] = (float)((int)(splitmix_at(seed, i) % 9) - 4);
        if (elements)
            elements[i] = element_of(numbers[i]);
    }
}

struct problem {
    int rows, inputs, outputs;
    float *in, *weight, *dout;
    element *in_elements, *dout_elements;
};

static void problem_make(int rows, int inputs, int outputs, struct problem *problem)
{
    size_t in = (size_t)rows * (size_t)inputs, out = (size_t)rows * (size_t)outputs;
    size_t weight = (size_t)inputs * (size_t)outputs;

    *problem = (struct problem){rows,
                                inputs,
                                outputs,
                                malloc(in * sizeof(float)),
                                malloc(weight * sizeof(float)),
                                malloc(out * sizeof(float)),
                                malloc(in * sizeof(element)),
                                malloc(out * sizeof(element))};
    draw(1, in, problem->in_elements, problem->in);
    draw(2, weight, NULL, problem->weight);
    draw(3, out, problem->dout_elements, problem->dout);
}

static void problem_clear(struct problem *problem)
{
    free(problem->in);
    free(problem->weight);
    free(problem->dout);
    free(problem->in_elements);
    free(problem->dout_elements);
}

static int forward_errors(const struct problem *p, const struct linear *linear)
{
    size_t size = (size_t)p->rows * (size_t)p->outputs;
    element *out = malloc(size * sizeof *out);
    float *out_real = malloc(size * sizeof *out_real);
    int wrong = 0;

    bf16->linear(linear, p->in_elements, out);
    bf16->linear_real(linear, p->in_elements, out_real);
    for (int row = 0; row < p->rows; row++) {
        for (int column = 0; column < p->outputs; column++) {
            size_t at = (size_t)row * (size_t)p->outputs + (size_t)column;
            float sum = 0;

            for (int i = 0; i < p->inputs; i++)
                sum += p->in[(size_t)row * (size_t)p->inputs + (size_t)i] *
                       p->weight[(size_t)column * (size_t)p->inputs + (size_t)i];
            wrong += out_real[at] != sum || element_get(out[at]) != rounded(sum);
        }
    }
    free(out);
    free(out_real);
    return wrong;
}

static int backward_in_errors(const struct problem *p, const struct linear *linear)
{
    element *din = malloc((size_t)p->rows * (size_t)p->inputs * sizeof *din);
    int wrong = 0;

    bf16->linear_backward_in(linear, p->dout_elements, din);
    for (int row = 0; row < p->rows; row++) {
        for (int column = 0; column < p->inputs; column++) {
            float sum = 0;

            for (int i = 0; i < p->outputs; i++)
                sum += p->dout[(size_t)row * (size_t)p->outputs + (size_t)i] *
                       p->weight[(size_t)i * (size_t)p->inputs + (size_t)column];
            wrong +=
                element_get(din[(size_t)row * (size_t)p->inputs + (size_t)column]) != rounded(sum);
        }
    }
    free(din);
    return wrong;
}

static int backward_weight_errors(const struct problem *p, const struct linear *linear,
                                  bool is_added)
{
    size_t size = (size_t)p->outputs * (size_t)p->inputs;
    float *dweight = malloc(size * sizeof *dweight);
    int wrong = 0;

    for (size_t i = 0; i < size; i++)
        dweight[i] = is_added ? 1000 : NAN;
    bf16->linear_backward_weight(linear, p->dout_elements, p->in_elements, is_added, dweight);
    for (int row = 0; row < p->outputs; row++) {
        for (int column = 0; column < p->inputs; column++) {
            float sum = is_added ? 1000 : 0;

            for (int i = 0; i < p->rows; i++)
                sum += p->dout[(size_t)i * (size_t)p->outputs + (size_t)row] *
                       p->in[(size_t)i * (size_t)p->inputs + (size_t)column];
            wrong += dweight[(size_t)row * (size_t)p->inputs + (size_t)column] != sum;
        }
    }
    free(dweight);
    return wrong;
}

static void products_are_exact(int rows, int inputs, int outputs)
{
    struct problem problem;
    struct linear linear = {rows, inputs, outputs, NULL};

    problem_make(rows, inputs, outputs, &problem);
    linear.weight = problem.weight;
    is_int(forward_errors(&problem, &linear), 0, "%d x %d x %d: forward", rows, inputs, outputs);
    is_int(backward_in_errors(&problem, &linear), 0, "%d x %d x %d: gradient of the input", rows,
           inputs, outputs);
    is_int(backward_weight_errors(&problem, &linear, true), 0,
           "%d x %d x %d: gradient of the weight, added", rows, inputs, outputs);
    is_int(backward_weight_errors(&problem, &linear, false), 0,
           "%d x %d x %d: gradient of the weight, set", rows, inputs, outputs);
    problem_clear(&problem);
}

static struct train_options options_of(struct shape shape, int batch, long steps)
{
    return (struct train_options){
        .shape = shape,
        .batch = batch,
        .steps = steps,
        .rate = {.peak = 1e-3, .steps = steps},
        .adamw = {.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .decay = 0.01},
        .weights_seed = 1337,
        .data_seed = 42,
        .is_batch_fixed = true,
        .strategy = &strategy_ddp,
        .bucket_mb = 1,
        .window = 2,
    };
}

/* Trains and sets losses, one per step. Returns a checksum of the losses and the gradient norms. */
static uint64_t train(const struct train_options *options, const struct compute *compute,
                      double *losses)
{
    static const volatile sig_atomic_t no_signal;
    static struct comm *self_comm;
    struct step_result result;
    struct training training;
    struct error err = {""};
    uint64_t sum = 0;

    if ((!self_comm && comm_self(&self_comm, &err) != 0) ||
        training_start(options, compute, self_comm, &training, &err) != 0) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
    for (long step = 0; step < options->steps; step++) {
        uint64_t bits;

        is_int(training_step(&training, &no_signal, 1, &result, &err), 0, "step %ld", step);
        losses[step] = result.loss;
        memcpy(&bits, &result.gradient_norm, sizeof bits);
        sum = sum * 31 + bits;
        memcpy(&bits, &result.loss, sizeof bits);
        sum = sum * 31 + bits;
    }
    training_clear(&training);
    return sum;
}

/* Compares the losses of a problem of trainer.c with fp32, over more steps. */
static void losses_are_near_fp32(void)
{
    enum { STEPS = 60 };
    struct train_options options = options_of((struct shape){4, 4, 64, 32, 256}, 4, STEPS);
    double expected[STEPS], found[STEPS], early = 0, worst = 0;

    train(&options, &compute_cpu, expected);
    train(&options, bf16, found);
    for (int step = 0; step < STEPS; step++) {
        double away = fabs(found[step] - expected[step]);

        worst = fmax(worst, away);
        early = step < 10 ? worst : early;
    }
    ok(early < 1e-3, "the losses of ten steps differ from fp32 by less than 1e-3: %.1e", early);
    ok(worst < 2e-2, "the losses of %d steps differ by less than 2e-2: %.1e", STEPS, worst);
    ok(worst > 0, "the losses are not computed in fp32");
    ok(expected[STEPS - 1] < expected[0] - 2,
       "the loss of these steps falls by more than 2: %.2f to %.2f", expected[0],
       expected[STEPS - 1]);
}

static void threads_change_nothing(void)
{
    struct train_options options = options_of((struct shape){2, 3, 33, 137, 71}, 3, 2);
    uint64_t expected = 0;
    double losses[2];

    for (int threads = 1; threads <= 5; threads++) {
        uint64_t sum;

        omp_set_num_threads(threads);
        sum = train(&options, bf16, losses);
        expected = threads == 1 ? sum : expected;
        ok(sum == expected, "%d threads give the same bits as one", threads);
    }
    omp_set_num_threads(omp_get_num_procs());
}

int main(void)
{
    struct error err = {""};

    rounding_is_to_the_nearest();
    bf16 = compute_bf16(&err);
    if (!bf16) {
        has_str(err.text, "--precision=bf16 ",
                "if bf16 is not available, the message names the option");
        tap_diag("%s", err.text);
        return tap_done();
    }
    is_int(bf16->element_bytes, 2, "an element takes 2 bytes");
    products_are_exact(2, 4, 3);
    products_are_exact(33, 77, 131);
    products_are_exact(64, 1025, 96);
    products_are_exact(530, 40, 2100);
    products_are_exact(5, 70, 4500); /* sums longer than one packed block */
    losses_are_near_fp32();
    threads_change_nothing();
    return tap_done();
}
