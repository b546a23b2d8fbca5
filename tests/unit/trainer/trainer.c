/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/splitmix.h"
#include "tests/unit/tap.h"
#include "trainer/battery/test_case.h"
#include "trainer/model/parameters.h"
#include "trainer/parallel/verify.h"
#include "trainer/training.h"

/* Compares the model with losses and gradient norms of another project's GPT-2 in double precision,
 * and, in a build in double precision, with finite differences. */

static const struct reference {
    struct shape shape;
    int batch;
    double norm, norms[TENSOR_COUNT], losses[11]; /* the last loss is that after ten updates */
} references[] = {
    {{2, 2, 32, 16, 64},
     2,
     2.0087122,
     {1.159653, 0.674244, 0.002677419, 0.006186383, 0.1430379, 0.05346548, 0.3010851, 0.9261946,
      0.006298461, 0.005659005, 0.2874815, 0.05268272, 0.583554, 0.9149358, 0.01525536, 0.01743572},
     {4.170606446, 4.048292732, 3.954357561, 3.882185247, 3.819699319, 3.762451487, 3.710817114,
      3.664810251, 3.622479505, 3.581414961, 3.540202797}},
    {{4, 4, 64, 32, 256},
     4,
     2.1955689,
     {0.8822033, 0.5197998, 0.00358414, 0.008923418, 0.1737687, 0.05763509, 0.4862452, 1.036179,
      0.007945276, 0.008881031, 0.4112098, 0.05524184, 1.145077, 0.971862, 0.01153275, 0.01412952},
     {5.556740297, 5.221874668, 5.033396350, 4.899984272, 4.798376302, 4.707333925, 4.621736354,
      4.543080947, 4.467205045, 4.392749320, 4.321273976}},
};

#ifdef MUSTER_REAL_DOUBLE
#define LOSS_TOLERANCE 1e-9
#else
#define LOSS_TOLERANCE 1e-5
#endif

static struct train_options options_of(struct shape shape, int batch)
{
    return (struct train_options){
        .shape = shape,
        .batch = batch,
        .steps = 10,
        .rate = {.peak = 1e-3, .steps = 10},
        .adamw = {.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .decay = 0.01},
        .weights_seed = 1337,
        .data_seed = 42,
        .is_batch_fixed = true,
        .strategy = &strategy_ddp,
        .bucket_mb = 1,
        .window = 2,
    };
}

static struct comm *self_comm;
static struct training training;
static struct step_result result; /* of the last step */
static struct error err;

static void start(const struct train_options *options)
{
    if ((!self_comm && comm_self(&self_comm, &err) != 0) ||
        training_start(options, &compute_cpu, self_comm, &training, &err) != 0) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
}

static int take_step(void)
{
    static const volatile sig_atomic_t no_signal;

    return training_step(&training, &no_signal, 1, &result, &err);
}

/* Returns the whole arrays of a strategy that has them. */
static struct checkpoint_state training_state(void)
{
    return training.shard->loads[0];
}

static void follows_reference(const struct reference *reference)
{
    struct train_options options = options_of(reference->shape, reference->batch);

    start(&options);
    for (int step = 0; step < 10; step++) {
        is_int(take_step(), 0, "step %d", step);
        is_near(result.loss, reference->losses[step], LOSS_TOLERANCE, "loss of step %d", step);
        if (step > 0)
            continue;
        is_near(result.gradient_norm, reference->norm, 2e-6, "gradient norm");
        for (int tensor = 0; tensor < TENSOR_COUNT; tensor++)
            is_near(training_norm(&training, tensor) / reference->norms[tensor], 1, 2e-5,
                    "norm of the gradient of %s", tensor_kinds[tensor].name);
    }
    is_near(training_evaluate(&training), reference->losses[10], LOSS_TOLERANCE,
            "loss after ten updates");
    training_clear(&training);
}

/* Widths that are not a multiple of any vector width, sequences longer than the tiles of attention,
 * and more rows than the head processes at once. */
static const struct shape odd_shape = {2, 3, 33, 137, 71};
enum { ODD_BATCH = 3 };

static void shards_equal_the_whole(void)
{
    const struct shape *shape = &odd_shape;
    size_t size = shape_unit_size(shape, 2), first = size / 3, count = size / 2;
    real *whole = malloc(size * sizeof *whole), *part = malloc(count * sizeof *part);

    parameters_fill(shape, 7, 2, 0, size, whole);
    parameters_fill(shape, 7, 2, first, count, part);
    ok(memcmp(part, whole + first, count * sizeof *part) == 0,
       "a shard is drawn with the same values as in the whole");
    free(whole);
    free(part);
}

static void threads_change_nothing(void)
{
    struct train_options options = options_of(odd_shape, ODD_BATCH);
    real *expected = NULL;

    for (int threads = 1; threads <= 5; threads++) {

        omp_set_num_threads(threads);
        start(&options);
        for (int step = 0; step < 2; step++)
            take_step();
        if (!expected) {
            expected = malloc(training.parameter_count * sizeof *expected);
            memcpy(expected, training_state().parameters,
                   training.parameter_count * sizeof *expected);
        } else {
            ok(memcmp(expected, training_state().parameters,
                      training.parameter_count * sizeof *expected) == 0,
               "%d threads give the same bits as one", threads);
        }
        training_clear(&training);
    }
    free(expected);
    omp_set_num_threads(omp_get_num_procs());
}

static void nan_weights_stop_training(void)
{
    struct train_options options = options_of(odd_shape, 1);
    size_t at = shape_unit_offset(&odd_shape, 1) + shape_tensor_offset(&odd_shape, FCW);
    real before;

    start(&options);
    before = training_state().parameters[0];
    training_state().parameters[at] = (real)NAN;
    is_int(take_step(), -1, "a NaN ends the training");
    has_str(err.text, "step 0: loss", "the message names the step");
    has_str(err.text, "is not finite", "... and what is not finite");
    ok(training_state().parameters[0] == before, "no parameter was updated");
    training_clear(&training);
}

/* With every strategy, the message names the gradient that is NaN, by the parts of the norm. */
static void nan_gradients_are_named(void)
{
    static const struct {
        int unit;
        enum tensor tensor;
        const char *message;
    } injected[] = {{0, WPE, "the gradient of wpe is not finite"},
                    {2, FCW, "the gradient of fcw in layer 1 is not finite"},
                    {1, LN2B, "the gradient of ln2b in layer 0 is not finite"}};

    for (int strategy = 0; strategy < STRATEGIES; strategy++) {
        for (size_t i = 0; i < sizeof injected / sizeof *injected; i++) {
            struct train_options options = options_of(odd_shape, 1);

            options.strategy = strategies[strategy];
            start(&options);
            is_int(take_step(), 0, "%s: a step", options.strategy->name);
            guard_inject(&training.guard, injected[i].unit, injected[i].tensor);
            is_int(take_step(), -1, "... a step with a NaN ends the training");
            has_str(err.text, injected[i].message, "... and the message names its gradient");
            training_clear(&training);
        }
    }
}

static int progress_calls;

static void count_call(void *context)
{
    progress_calls++;
}

/* Otherwise reductions and gathers would stop for the duration of a layer. */
static void progress_is_called_between_products(void)
{
    enum { FORWARD = 4, BACKWARD = 8 }; /* products of a layer, without those of attention */
    struct train_options options = options_of(odd_shape, 1);

    for (int strategy = 0; strategy < STRATEGIES; strategy++) {
        options.strategy = strategies[strategy];
        start(&options);
        training.shard->store.progress = count_call;
        progress_calls = 0;
        is_int(take_step(), 0, "%s: a step", options.strategy->name);
        ok(progress_calls >= odd_shape.layers * (FORWARD + BACKWARD),
           "... communication progresses after each product of a layer: %d times", progress_calls);
        training_clear(&training);
    }
}

static void clipping_bounds_the_update(void)
{
    struct train_options options = options_of(odd_shape, 1);
    double squares;

    options.clip = 0.25;
    start(&options);
    take_step();
    ok(result.gradient_norm > 0.25, "the reported norm is that before clipping");
    squares = adamw_squares(training_state().first_moments, training.parameter_count);
    is_near(sqrt(squares) / (1 - options.adamw.beta1), 0.25, 1e-4,
            "the moments are those of a gradient with the maximum norm");
    training_clear(&training);
}

#ifdef MUSTER_REAL_DOUBLE
/* (loss(p + h) - loss(p - h)) / 2h */
static double difference(size_t at)
{
    double above, below, h = 1e-5, *parameter = &training_state().parameters[at];
    double kept = *parameter;

    *parameter = kept + h;
    above = training_evaluate(&training);
    *parameter = kept - h;
    below = training_evaluate(&training);
    *parameter = kept;
    return (above - below) / (2 * h);
}

static void gradients_are_differences(void)
{
    enum { SAMPLES = 4 };
    struct train_options options = options_of((struct shape){2, 3, 33, 70, 71}, 2);
    real *gradients;

    start(&options);
    /* not at the start, where many gradients are close to 0 */
    for (int step = 0; step < 3; step++)
        take_step();
    options.rate.peak = 0; /* one more step, which does not change the parameters */
    take_step();
    training.step--;
    gradients = training.shard->store.gradients(training.shard->store.context, 0);
    for (int tensor = 0; tensor < TENSOR_COUNT; tensor++) {
        for (int i = 0; i < SAMPLES; i++) {
            int unit = tensor_kinds[tensor].unit == UNIT_ENDS ? 0 : 1 + i % 2;
            size_t size = shape_tensor_size(&options.shape, tensor);
            size_t at = shape_unit_offset(&options.shape, unit) +
                        shape_tensor_offset(&options.shape, tensor) +
                        splitmix_at(3, (uint64_t)(tensor * SAMPLES + i)) % size;
            double expected = difference(at);

            is_near(gradients[at], expected, 1e-8 + 1e-6 * fabs(expected), "gradient of %s at %zu",
                    tensor_kinds[tensor].name, at);
        }
    }
    training_clear(&training);
}
#endif

static void rates_are_as_scheduled(void)
{
    struct rate rate = {.peak = 2, .floor = 0.1, .warmup = 4, .steps = 15, .decay = RATE_COSINE};

    is_near(rate_at(&rate, 0), 0.5, 1e-12,
            "the first of four warm-up steps has a quarter of the peak");
    is_near(rate_at(&rate, 3), 2, 1e-12, "the last warm-up step has the peak");
    is_near(rate_at(&rate, 9), 1.1, 1e-12,
            "in the middle of a cosine the rate is in the middle between peak and floor");
    is_near(rate_at(&rate, 14), 0.2, 1e-12, "the last step has the floor");
    rate.decay = RATE_LINEAR;
    is_near(rate_at(&rate, 9), 1.1, 1e-12, "... also in the middle of a line");
    is_near(rate_at(&rate, 5), 2 * (0.1 + 0.9 * 0.9), 1e-12, "the rate at a tenth of a line");
    rate.decay = RATE_CONSTANT;
    is_near(rate_at(&rate, 14), 2, 1e-12, "a constant rate stays at the peak");
}

static void stalled_ranks_are_not_judged(void)
{
    struct case_speed speed = {.tokens_per_s = 60};

    is_int(case_speed_judge(&speed, 100, 8), VERDICT_WARN,
           "a rank slower than the others gets a warning");
    is_int(case_speed_judge(&speed, 100, 2), VERDICT_NONE,
           "... but not with two ranks, where either may be slow");
    is_int(case_speed_judge(&speed, 70, 8), VERDICT_NONE, "... nor a rank as fast as the others");
    speed.stalled_share = 0.3;
    is_int(case_speed_judge(&speed, 100, 8), VERDICT_SKIP,
           "a slow rank that other programs kept from running is not judged");
    is_int(case_speed_judge(&speed, 70, 8), VERDICT_NONE, "... nor is a rank that is not slower");
}

/* Two ranks are named where it is not known which is wrong: they must differ. */
static void odd_ranks_are_found(void)
{
    static const struct {
        uint64_t values[6];
        int ranks, odd;
        bool is_sure;
    } cases[] = {
        {{7, 7, 7}, 3, -1, false},         {{7, 7, 5}, 3, 2, true},
        {{5, 7, 7}, 3, 0, true},           {{5, 7}, 2, 1, false},
        {{5, 7, 7, 9}, 4, 1, false},       {{5, 7, 5, 7}, 4, 1, false},
        {{5, 5, 7, 7, 7, 9}, 6, 2, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool is_sure = false;

        is_int(verify_odd_one(cases[i].values, cases[i].ranks, &is_sure), cases[i].odd,
               "values %zu of %d ranks: which rank differs", i, cases[i].ranks);
        is_int(is_sure, cases[i].is_sure, "... and whether it is the one that is wrong");
    }
}

int main(void)
{
    odd_ranks_are_found();
    stalled_ranks_are_not_judged();
    for (size_t i = 0; i < sizeof references / sizeof *references; i++)
        follows_reference(&references[i]);
    shards_equal_the_whole();
    threads_change_nothing();
    nan_weights_stop_training();
    nan_gradients_are_named();
    progress_is_called_between_products();
    clipping_bounds_the_update();
#ifdef MUSTER_REAL_DOUBLE
    gradients_are_differences();
#endif
    rates_are_as_scheduled();
    return tap_done();
}
