/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum option_kind {
    FLAG,
    COUNT,
    LONG_COUNT,
    SEED,
    NUMBER,
    MODEL,
    DECAY,
    PRECISION,
    PATH,
    STRATEGY,
    LAYOUT,
    WINDOW,
    ALGORITHM,
    WIRE
};

struct option_row {
    const char *name, *argument, *help;
    enum option_kind kind;
    size_t offset;    /* in struct train_options */
    double low, high; /* of COUNT, LONG_COUNT and NUMBER */
};

/* Some algorithms send a bucket whole, and MPI counts the bytes of a message in an int. */
enum { BUCKET_MOST_MB = 2000 };

#define FIELD(member) offsetof(struct train_options, member)

static const struct option_row rows[] = {
    {"model", "SIZE", "124M (default), 350M, 774M or 1558M", MODEL, FIELD(shape), 0, 0},
    {"layers", "N", "transformer layers", COUNT, FIELD(shape.layers), 1, 1000},
    {"heads", "N", "attention heads, a divisor of the channels", COUNT, FIELD(shape.heads), 1,
     1000},
    {"channels", "N", "width of the model", COUNT, FIELD(shape.channels), 1, 65536},
    {"context", "N", "tokens of a sequence", COUNT, FIELD(shape.context), 1, 1 << 20},
    {"vocab", "N", "different tokens", COUNT, FIELD(shape.vocabulary), 2, 1 << 24},
    {"batch", "N", "sequences of a step (4)", COUNT, FIELD(batch), 1, 65536},
    {"steps", "N", "updates (10)", LONG_COUNT, FIELD(steps), 0, 1e9},
    {"lr", "RATE", "learning rate at its peak (0.001)", NUMBER, FIELD(rate.peak), 0, 1e3},
    {"warmup", "STEPS", "steps until the rate is at its peak (0)", LONG_COUNT, FIELD(rate.warmup),
     0, 1e9},
    {"schedule", "NAME",
     "rate after that: constant (default), linear or cosine, down to --lr-floor", DECAY,
     FIELD(rate.decay), 0, 0},
    {"lr-floor", "SHARE", "share of the peak at the last step (0)", NUMBER, FIELD(rate.floor), 0,
     1},
    {"weight-decay", "W", "decoupled, of all tensors (0.01)", NUMBER, FIELD(adamw.decay), 0, 1e3},
    {"beta1", "B", "AdamW's first decay rate (0.9)", NUMBER, FIELD(adamw.beta1), 0, 0.999999999},
    {"beta2", "B", "AdamW's second decay rate (0.999)", NUMBER, FIELD(adamw.beta2), 0, 0.999999999},
    {"epsilon", "E", "AdamW's epsilon (1e-8)", NUMBER, FIELD(adamw.epsilon), 0, 1},
    {"clip", "NORM", "gradient norm at most, 0: no limit (0)", NUMBER, FIELD(clip), 0, 1e9},
    {"seed-weights", "N", "of the first weights (1337)", SEED, FIELD(weights_seed), 0, 0},
    {"data", "FILE", "tokens to train on instead of random ones; see muster-train tokenize", PATH,
     FIELD(data), 0, 0},
    {"seed-data", "N", "of the random tokens, or of the order of the file's sequences (42)", SEED,
     FIELD(data_seed), 0, 0},
    {"fixed-batch", NULL, "the same batch at every step", FLAG, FIELD(is_batch_fixed), 0, 0},
    {"strategy", "NAME", "how ranks hold the model: ddp (default), zero1, zero2, zero3 or replicas",
     STRATEGY, FIELD(strategy), 0, 0},
    {"scheme", "NAME", NULL, STRATEGY, FIELD(strategy), 0, 0}, /* its old name */
    {"stages", "N", "of a pipeline that the layers are split over, each on as many ranks (1)",
     COUNT, FIELD(stages), 1, 1000},
    {"microbatches", "N",
     "that a batch goes through in (1; of a pipeline up to 4 times its stages)", COUNT,
     FIELD(microbatches), 1, 65536},
    {"split", "HOW",
     "layers of each stage: even (default), measured (default of --layout=auto), or as 3,5,4", PATH,
     FIELD(split), 0, 0},
    {"layout", "HOW",
     "ranks of a stage: ranks (default), neighbours in their order, or auto, by islands", LAYOUT,
     FIELD(is_auto), 0, 0},
    {"dry-run", NULL, "says who would compute what, time, memory and traffic, and ends", FLAG,
     FIELD(is_dry), 0, 0},
    {"bucket", "MB", "gradients that ddp sums at once (4)", NUMBER, FIELD(bucket_mb), 1e-6,
     BUCKET_MOST_MB},
    {"window", "UNITS", "units that zero3 has gathered at a time (2), or none: no limit", WINDOW,
     FIELD(window), 1, 1000},
    {"algorithm", "NAME",
     "of sums and gathers, such as ring, where it is one for them, or measured: the fastest here",
     ALGORITHM, FIELD(algorithm), 0, 0},
    {"wire", "FORMAT",
     "how gradients travel: as-is (default), lossless, auto: whichever of these two is faster "
     "here, "
     "bf16, fp16, e4m3, e5m2 or int8",
     WIRE, FIELD(wire), 0, 0},
    {"verify", NULL, "compare the parameters of all ranks after each step", FLAG, FIELD(verifies),
     0, 0},
    {"inject", "FAULT", NULL, PATH, FIELD(inject), 0, 0}, /* not in --help: for tests */
    {"precision", "NAME", "of activations and products: fp32 (default) or bf16", PRECISION,
     FIELD(is_bf16), 0, 0},
    {"checkpoint", "DIR", "go on from its newest checkpoint, and write more there", PATH,
     FIELD(checkpoint), 0, 0},
    {"checkpoint-every", "STEPS", "steps between checkpoints (100)", LONG_COUNT,
     FIELD(checkpoint_every), 1, 1e9},
    {"keep", "N", "checkpoints that are kept (2)", COUNT, FIELD(keep), 1, 10000},
    {"threads", "N", "of OpenMP (its own choice)", COUNT, FIELD(threads), 1, 4096},
    {"gradient-norms", NULL, "the gradient norm of each tensor too", FLAG, FIELD(prints_norms), 0,
     0},
    {"json", NULL, "records as JSON lines on standard output, nothing else there", FLAG,
     FIELD(is_json), 0, 0},
};
enum { ROWS = sizeof rows / sizeof *rows };

static int parse_number(const struct option_row *row, const char *text, double *number,
                        struct error *err)
{
    bool is_whole = row->kind != NUMBER;
    char *end;

    errno = 0;
    *number = strtod(text, &end);
    if (end == text || *end || errno || !(*number >= row->low && *number <= row->high) ||
        (is_whole && *number != floor(*number)))
        return error_set(err, "--%s: expected a %snumber from %.9g to %.9g, found \"%s\"",
                         row->name, is_whole ? "whole " : "", row->low, row->high, text);
    return 0;
}

static int parse_seed(const struct option_row *row, const char *text, uint64_t *seed,
                      struct error *err)
{
    char *end;

    errno = 0;
    *seed = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno)
        return error_set(err, "--%s: expected a whole number below 2^64, found \"%s\"", row->name,
                         text);
    return 0;
}

static int parse_decay(const char *text, enum rate_decay *decay, struct error *err)
{
    if (strcmp(text, "constant") == 0)
        *decay = RATE_CONSTANT;
    else if (strcmp(text, "linear") == 0)
        *decay = RATE_LINEAR;
    else if (strcmp(text, "cosine") == 0)
        *decay = RATE_COSINE;
    else
        return error_set(err, "--schedule: expected constant, linear or cosine, found \"%s\"",
                         text);
    return 0;
}

static int parse_strategy(const char *text, const struct strategy **strategy, struct error *err)
{
    *strategy = strategy_find(text);
    if (!*strategy)
        return error_set(
            err, "--strategy: expected ddp, zero1, zero2, zero3 or replicas, found \"%s\"", text);
    return 0;
}

static int parse_precision(const char *text, bool *is_bf16, struct error *err)
{
    *is_bf16 = strcmp(text, "bf16") == 0;
    if (!*is_bf16 && strcmp(text, "fp32") != 0)
        return error_set(err, "--precision: expected fp32 or bf16, found \"%s\"", text);
    return 0;
}

static int parse_layout(const char *text, bool *is_auto, struct error *err)
{
    *is_auto = strcmp(text, "auto") == 0;
    if (!*is_auto && strcmp(text, "ranks") != 0)
        return error_set(err, "--layout: expected auto or ranks, found \"%s\"", text);
    return 0;
}

static int parse(const struct option_row *row, const char *text, struct train_options *options,
                 struct error *err)
{
    void *field = (char *)options + row->offset;
    double number;

    switch (row->kind) {
    case FLAG:
        *(bool *)field = true;
        return 0;
    case SEED:
        return parse_seed(row, text, field, err);
    case DECAY:
        return parse_decay(text, field, err);
    case PRECISION:
        return parse_precision(text, field, err);
    case PATH:
        if (!*text)
            return error_set(err, "--%s: expected %s, found nothing", row->name, row->argument);
        *(const char **)field = text;
        return 0;
    case MODEL:
        if (!shape_named(text, field))
            return error_set(err, "--model: expected 124M, 350M, 774M or 1558M, found \"%s\"",
                             text);
        return 0;
    case STRATEGY:
        return parse_strategy(text, field, err);
    case LAYOUT:
        return parse_layout(text, field, err);
    case ALGORITHM:
        if (!comm_has_algorithm(text))
            return error_set(err, "--algorithm: there is none named \"%s\" for sums or gathers",
                             text);
        *(const char **)field = text;
        return 0;
    case WIRE:
        if (!comm_has_wire(text))
            return error_set(err,
                             "--wire: expected as-is, lossless, auto, bf16, fp16, e4m3, e5m2 or "
                             "int8, found \"%s\"",
                             text);
        *(const char **)field = text;
        return 0;
    case WINDOW:
        if (strcmp(text, "none") == 0) {
            *(int *)field = 0;
            return 0;
        }
        if (parse_number(row, text, &number, err) != 0)
            return error_set(err,
                             "--window: expected a whole number from 1 to 1000, or none; "
                             "found \"%s\"",
                             text);
        *(int *)field = (int)number;
        return 0;
    default:
        if (parse_number(row, text, &number, err) != 0)
            return -1;
        if (row->kind == NUMBER)
            *(double *)field = number;
        else if (row->kind == LONG_COUNT)
            *(long *)field = (long)number;
        else
            *(int *)field = (int)number;
        return 0;
    }
}

static void set_defaults(struct train_options *options)
{
    *options = (struct train_options){
        .batch = 4,
        .steps = 10,
        .rate = {.peak = 1e-3},
        .adamw = {.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .decay = 0.01},
        .weights_seed = 1337,
        .data_seed = 42,
        .strategy = &strategy_ddp,
        .bucket_mb = 4,
        .window = 2,
        .checkpoint_every = 100,
        .keep = 2,
    };
    shape_named("124M", &options->shape);
}

enum train_request train_options_read(int argc, char **argv, struct train_options *options,
                                      struct error *err)
{
    struct option table[ROWS + 3] = {{0}};
    int found;

    for (int i = 0; i < ROWS; i++)
        table[i] = (struct option){rows[i].name, rows[i].argument ? required_argument : no_argument,
                                   NULL, i};
    table[ROWS] = (struct option){"help", no_argument, NULL, ROWS};
    table[ROWS + 1] = (struct option){"version", no_argument, NULL, ROWS + 1};
    set_defaults(options);
    opterr = 0;
    optind = 1;
    while ((found = getopt_long(argc, argv, ":h", table, NULL)) != -1) {
        if (found == 'h' || found == ROWS)
            return TRAIN_HELP;
        if (found == ROWS + 1)
            return TRAIN_VERSION;
        if (found == '?' || found == ':') {
            error_set(err, "%s: %s", argv[optind - 1],
                      found == ':' ? "needs a value" : "no such option, or a value too many");
            return TRAIN_MISUSE;
        }
        if (parse(&rows[found], optarg, options, err) != 0)
            return TRAIN_MISUSE;
        options->has_old_name |= rows[found].kind == STRATEGY && !rows[found].help;
    }
    if (optind < argc) {
        error_set(err, "expected options only, found \"%s\"", argv[optind]);
        return TRAIN_MISUSE;
    }
    if (shape_check(&options->shape, err) != 0)
        return TRAIN_MISUSE;
    if (options->strategy->is_replicated && options->checkpoint) {
        error_set(err, "--checkpoint: replicas write none");
        return TRAIN_MISUSE;
    }
    if (options->is_auto && options->strategy != &strategy_ddp) {
        error_set(err, "--layout: auto works with --strategy=ddp, not with %s",
                  options->strategy->name);
        return TRAIN_MISUSE;
    }
    if (options->strategy->is_piecewise && (options->stages > 1 || options->microbatches > 1)) {
        error_set(err, "--%s: more than one works with --strategy=ddp, not with %s",
                  options->stages > 1 ? "stages" : "microbatches", options->strategy->name);
        return TRAIN_MISUSE;
    }
    if (options->strategy->is_replicated && options->stages > 1) {
        error_set(err, "--stages: replicas are no stages");
        return TRAIN_MISUSE;
    }
    options->rate.steps = options->steps;
    return TRAIN_RUN;
}

void train_options_help(FILE *stream)
{
    fputs("usage: muster-train [option ...]\n       muster-train tokenize [--force] TEXT TOKENS\n"
          "       muster-train battery [--json] [--quick] [--time-limit=S]\n\n"
          "Trains a GPT-2 on random tokens or a file of them, the same to the bit whatever the "
          "number of threads, and\n"
          "prints loss, gradient norm and speed of each step. With mpirun or srun its ranks share "
          "the "
          "work. See muster-train(1).\n\n",
          stream);
    for (int i = 0; i < ROWS; i++) {
        char name[32];

        if (!rows[i].help)
            continue;
        snprintf(name, sizeof name, "--%s%s%s", rows[i].name, rows[i].argument ? "=" : "",
                 rows[i].argument ? rows[i].argument : "");
        fprintf(stream, "  %-20s %s\n", name, rows[i].help);
    }
    fputs("  --help, --version\n\n"
          "Exit status: 0 trained, 1 a loss is not a number, memory is short or a rank died, 2 "
          "usage,\n"
          "3 a rank cannot be told about, 128 + N ended by signal N.\n",
          stream);
}
