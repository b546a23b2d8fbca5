/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Some algorithms send a bucket whole, and MPI counts the bytes of a message in an int. */
enum { BUCKET_MOST_MB = 2000 };

#define FIELD(member) OPTION_FIELD(struct train_options, member)

static int take_model(const char *value, void *shape, struct error *err)
{
    (void)err; /* value is one of the choices, also below */
    shape_named(value, shape);
    return 0;
}

static int take_strategy(const char *value, void *field, struct error *err)
{
    (void)err;
    *(const struct strategy **)field = strategy_find(value);
    return 0;
}

static int take_precision(const char *value, void *is_bf16, struct error *err)
{
    (void)err;
    *(bool *)is_bf16 = strcmp(value, "bf16") == 0;
    return 0;
}

static int take_layout(const char *value, void *is_auto, struct error *err)
{
    (void)err;
    *(bool *)is_auto = strcmp(value, "auto") == 0;
    return 0;
}

static int take_seed(const char *value, void *seed, struct error *err)
{
    char *end;

    errno = 0;
    *(uint64_t *)seed = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || errno)
        return error_set(err, "expected a whole number below 2^64, found \"%s\"", value);
    return 0;
}

static int take_algorithm(const char *value, void *field, struct error *err)
{
    if (!comm_has_algorithm(value))
        return error_set(err, "unknown algorithm \"%s\" for allreduce and all-gather", value);
    *(const char **)field = value;
    return 0;
}

static int take_window(const char *value, void *window, struct error *err)
{
    char *end;
    long units = strtol(value, &end, 10);

    if (strcmp(value, "none") == 0)
        units = 0;
    else if (end == value || *end || units < 1 || units > 1000)
        return error_set(err, "expected a number from 1 to 1000, or none; found \"%s\"", value);
    *(int *)window = (int)units;
    return 0;
}

static const struct option_row rows[] = {
    OPTION('\0', "model", "SIZE", "preset model with this many parameters", CALL, FIELD(shape),
           .choices = "124M|350M|774M|1558M", .initial = "124M", .take = take_model),
    OPTION('\0', "layers", "N", "transformer layers", INT, FIELD(shape.layers),
           OPTION_RANGE(1, 1000)),
    OPTION('\0', "heads", "N", "attention heads, must divide the channels", INT, FIELD(shape.heads),
           OPTION_RANGE(1, 1000)),
    OPTION('\0', "channels", "N", "model width", INT, FIELD(shape.channels),
           OPTION_RANGE(1, 65536)),
    OPTION('\0', "context", "N", "tokens per sequence", INT, FIELD(shape.context),
           OPTION_RANGE(1, 1 << 20)),
    OPTION('\0', "vocab", "N", "number of different tokens", INT, FIELD(shape.vocabulary),
           OPTION_RANGE(2, 1 << 24)),
    OPTION('\0', "batch", "N", "sequences per step", INT, FIELD(batch), OPTION_RANGE(1, 65536),
           .initial = "4"),
    OPTION('\0', "steps", "N", "updates", LONG, FIELD(steps), OPTION_RANGE(0, 1e9),
           .initial = "10"),
    OPTION('\0', "lr", "RATE", "peak learning rate", DOUBLE, FIELD(rate.peak), OPTION_RANGE(0, 1e3),
           .initial = "0.001"),
    OPTION('\0', "warmup", "STEPS", "warmup steps until the peak learning rate", LONG,
           FIELD(rate.warmup), OPTION_RANGE(0, 1e9), .initial = "0"),
    OPTION('\0', "schedule", "NAME", "learning rate schedule after warmup, down to --lr-floor",
           CHOICE, FIELD(rate.decay), .choices = "constant|linear|cosine", .initial = "constant"),
    OPTION('\0', "lr-floor", "SHARE", "learning rate at the last step, as a fraction of the peak",
           DOUBLE, FIELD(rate.floor), OPTION_RANGE(0, 1), .initial = "0"),
    OPTION('\0', "weight-decay", "W", "decoupled weight decay, applied to all tensors", DOUBLE,
           FIELD(adamw.decay), OPTION_RANGE(0, 1e3), .initial = "0.01"),
    OPTION('\0', "beta1", "B", "AdamW's first decay rate", DOUBLE, FIELD(adamw.beta1),
           OPTION_RANGE(0, 0.999999999), .initial = "0.9"),
    OPTION('\0', "beta2", "B", "AdamW's second decay rate", DOUBLE, FIELD(adamw.beta2),
           OPTION_RANGE(0, 0.999999999), .initial = "0.999"),
    OPTION('\0', "epsilon", "E", "AdamW's epsilon", DOUBLE, FIELD(adamw.epsilon),
           OPTION_RANGE(0, 1), .initial = "1e-8"),
    OPTION('\0', "clip", "NORM", "clip gradients to this norm; 0: no limit", DOUBLE, FIELD(clip),
           OPTION_RANGE(0, 1e9), .initial = "0"),
    OPTION('\0', "seed-weights", "N", "seed of the initial weights", CALL, FIELD(weights_seed),
           .take = take_seed, .initial = "1337"),
    OPTION('\0', "data", "FILE",
           "token file to train on instead of random tokens; see muster-train tokenize", TEXT,
           FIELD(data)),
    OPTION('\0', "seed-data", "N", "seed of the random tokens, or of the sequence order of --data",
           CALL, FIELD(data_seed), .take = take_seed, .initial = "42"),
    OPTION('\0', "fixed-batch", NULL, "use the same batch at every step", FLAG,
           FIELD(is_batch_fixed)),
    OPTION('\0', "strategy", "NAME", "how ranks share the model", CALL, FIELD(strategy),
           .choices = "ddp|zero1|zero2|zero3|replicas", .initial = "ddp", .take = take_strategy),
    OPTION_OLD("scheme", "strategy"),
    OPTION('\0', "stages", "N",
           "pipeline stages to split the layers over; each stage uses the same number of ranks",
           INT, FIELD(stages), OPTION_RANGE(1, 1000), .unset = "1"),
    OPTION('\0', "microbatches", "N", "microbatches per step, run one after the other", INT,
           FIELD(microbatches), OPTION_RANGE(1, 65536),
           .unset = "1; for a pipeline up to 4 times the stages"),
    OPTION('\0', "split", "HOW", "layers of each stage: even, measured, or a list such as 3,5,4",
           TEXT, FIELD(split), .unset = "even; measured with --layout=auto"),
    OPTION('\0', "layout", "HOW",
           "how ranks are placed in stages: ranks follows rank order, auto follows the network's "
           "islands",
           CALL, FIELD(is_auto), .choices = "auto|ranks", .initial = "ranks", .take = take_layout),
    OPTION('\0', "dry-run", NULL, "only print the plan: each rank's work, time, memory and traffic",
           FLAG, FIELD(is_dry)),
    OPTION('\0', "bucket", "MB", "gradients that ddp reduces in one call", DOUBLE, FIELD(bucket_mb),
           OPTION_RANGE(1e-6, BUCKET_MOST_MB), .initial = "4"),
    OPTION('\0', "window", "UNITS", "units that zero3 gathers at a time; none: no limit", CALL,
           FIELD(window), .take = take_window, .initial = "2"),
    OPTION('\0', "algorithm", "NAME",
           "algorithm of allreduce and all-gather where supported, such as ring; measured: the "
           "fastest here",
           CALL, FIELD(algorithm), .take = take_algorithm),
    OPTION('\0', "wire", "FORMAT",
           "how gradients are sent; auto: the faster of as-is and lossless here", TEXT, FIELD(wire),
           .choices = "as-is|lossless|auto|bf16|fp16|e4m3|e5m2|int8", .initial = "as-is"),
    OPTION('\0', "verify", NULL, "compare the parameters of all ranks after each step", FLAG,
           FIELD(verifies)),
    OPTION('\0', "inject", "FAULT", NULL, TEXT, FIELD(inject)), /* for tests */
    OPTION('\0', "precision", "NAME", "precision of activations and matrix products", CALL,
           FIELD(is_bf16), .choices = "fp32|bf16", .initial = "fp32", .take = take_precision),
    OPTION('\0', "checkpoint", "DIR",
           "resume from the newest checkpoint in DIR and write new ones there", TEXT,
           FIELD(checkpoint)),
    OPTION('\0', "checkpoint-every", "STEPS", "steps between checkpoints", LONG,
           FIELD(checkpoint_every), OPTION_RANGE(1, 1e9), .initial = "100"),
    OPTION('\0', "keep", "N", "checkpoints to keep", INT, FIELD(keep), OPTION_RANGE(1, 10000),
           .initial = "2"),
    OPTION('\0', "threads", "N", "OpenMP threads", INT, FIELD(threads), OPTION_RANGE(1, 4096),
           .unset = "chosen by OpenMP"),
    OPTION('\0', "gradient-norms", NULL, "also print the gradient norm of each tensor", FLAG,
           FIELD(prints_norms)),
    OPTION('\0', "json", NULL, "print records as JSON lines, nothing else", FLAG, FIELD(is_json)),
    OPTION_END,
};

const struct option_set train_option_set = {
    .name = "muster-train",
    .usage = "muster-train [OPTION...]\n"
             "muster-train tokenize [--force] TEXT TOKENS\n"
             "muster-train battery [OPTION...]",
    .summary = "Trains a GPT-2 on random tokens or a token file. Results are bit-identical for any "
               "number of threads. Prints loss, gradient norm and speed of each step. Under mpirun "
               "or srun the ranks share the work.",
    .status = "0 trained, 1 loss not finite, out of memory or a rank died, 2 usage, 3 state of a "
              "rank unknown, 128 + N ended by signal N.",
    .rows = rows,
};

static int options_check(const struct train_options *options, struct error *err)
{
    if (shape_check(&options->shape, err) != 0)
        return -1;
    if (options->strategy->is_replicated && options->checkpoint)
        return error_set(err, "--checkpoint: not supported with --strategy=replicas");
    if (options->is_auto && options->strategy != &strategy_ddp)
        return error_set(err, "--layout=auto requires --strategy=ddp, found %s",
                         options->strategy->name);
    if (options->strategy->is_piecewise && (options->stages > 1 || options->microbatches > 1))
        return error_set(err, "--%s: more than 1 requires --strategy=ddp, found %s",
                         options->stages > 1 ? "stages" : "microbatches", options->strategy->name);
    if (options->strategy->is_replicated && options->stages > 1)
        return error_set(err, "--stages: not supported with --strategy=replicas");
    return 0;
}

enum option_request train_options_read(int argc, char **argv, struct train_options *options,
                                       struct error *err)
{
    enum option_request request;

    *options = (struct train_options){0};
    request = option_set_parse(&train_option_set, argc, argv, options, NULL, err);
    if (request == OPTION_RUN && options_check(options, err) != 0)
        return OPTION_MISUSE;
    options->rate.steps = options->steps;
    return request;
}
