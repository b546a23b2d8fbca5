/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/plan/plan.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/quantity.h"
#include "validate/command/command.h"
#include "validate/plan/job.h"

struct options {
    const char *config, *records;
    bool as_json, has_extra;
    struct plan_wish wish;
    struct plan_job job; /* values that are not in the wish */
    int precision, nodes, available, block;
    double given[FIGURE_COUNT];
};

#define FIELD(member) OPTION_FIELD(struct options, member)
#define FIGURE(id) OPTION_FIELD(struct options, given[FIGURE_##id])

static int take_time(const char *value, void *field, struct error *err)
{
    if (!quantity_parse_time(value, field) || *(double *)field <= 0)
        return error_set(err, "expected a time such as 12h or 7d, found \"%s\"", value);
    return 0;
}

static int take_hours(const char *value, void *field, struct error *err)
{
    int rv = take_time(value, field, err);

    *(double *)field /= 3600;
    return rv;
}

static const struct option_row rows[] = {
    OPTION('\0', "model", "SIZE", "preset GPT-2 model with this many parameters", TEXT,
           FIELD(wish.model), .choices = "124M|350M|774M|1558M"),
    OPTION('\0', "parameters", "N",
           "number of model parameters, such as 7e9, if the shape does not matter", DOUBLE,
           FIELD(wish.parameters), OPTION_RANGE(1e3, 1e15)),
    OPTION('\0', "layers", "N", "transformer layers", INT, FIELD(wish.layers),
           OPTION_RANGE(1, 1000)),
    OPTION('\0', "channels", "N", "model width", INT, FIELD(wish.channels),
           OPTION_RANGE(1, 1 << 20)),
    OPTION('\0', "context", "N", "tokens per sequence", INT, FIELD(wish.context),
           OPTION_RANGE(1, 1 << 24), .unset = "2048; with --model 1024"),
    OPTION('\0', "vocab", "N", "number of different tokens", INT, FIELD(wish.vocabulary),
           OPTION_RANGE(2, 1 << 24), .unset = "50257"),
    OPTION('\0', "batch", "N", "sequences per step", INT, FIELD(wish.batch), OPTION_RANGE(1, 1e9)),
    OPTION('\0', "microbatch", "N", "sequences that a device computes at once", INT,
           FIELD(wish.microbatch), OPTION_RANGE(1, 1e6), .initial = "1"),
    OPTION('\0', "tokens", "N", "tokens to train on", DOUBLE, FIELD(wish.tokens),
           OPTION_RANGE(1, 1e18), .unset = "20 a parameter"),
    OPTION('\0', "steps", "N", "training steps, instead of --tokens", DOUBLE, FIELD(wish.steps),
           OPTION_RANGE(1, 1e12)),
    OPTION('\0', "precision", "NAME", "precision of activations and matrix products", CHOICE,
           FIELD(precision), .choices = "bf16|fp32", .initial = "bf16"),
    OPTION('\0', "overlap", "SHARE",
           "fraction of the last backward pass that overlaps with gradient reductions", DOUBLE,
           FIELD(job.overlap), OPTION_RANGE(0, 1), .unset = "1 for GPUs, 0 for processors"),
    OPTION('\0', "checkpoint-time", "S", "seconds that a checkpoint blocks the job", DOUBLE,
           FIELD(job.checkpoint_s), OPTION_RANGE(1e-3, 1e6), .unset = "from --checkpoint-rate"),
    OPTION('N', "nodes", "N", "number of nodes", INT, FIELD(nodes), OPTION_RANGE(1, 1e6),
           .unset = "as many as are efficient"),
    OPTION('\0', "within", "TIME",
           "use the fewest nodes that finish the job within this time, such as 12h or 7d", CALL,
           FIELD(job.within_s), .take = take_time),
    OPTION('\0', "spares", "N", "spare nodes", INT, FIELD(job.spares), OPTION_RANGE(0, 1e4),
           .unset = "as many as the job needs to avoid waiting"),
    OPTION('\0', "measured", "FILE",
           "measured training speed: the output of muster-train --dry-run --split=measured --json "
           "on a device, for a similar model",
           TEXT, FIELD(records)),
    OPTION('\0', "rate", "TFLOP/s", "training speed of a device", DOUBLE, FIGURE(RATE),
           OPTION_RANGE(1e-9, 1e9)),
    OPTION('\0', "available", "N", "nodes available to the job", INT, FIELD(available),
           OPTION_RANGE(1, 1e6), .unset = "from the history"),
    OPTION('\0', "devices", "N", "devices per node", DOUBLE, FIGURE(DEVICES), OPTION_RANGE(1, 1000),
           .unset = "from the history"),
    OPTION('\0', "memory", "GB", "memory per device", DOUBLE, FIGURE(MEMORY),
           OPTION_RANGE(1e-3, 1e6), .unset = "from the history"),
    OPTION('\0', "bandwidth", "GB/s", "memory bandwidth of a device", DOUBLE, FIGURE(BANDWIDTH),
           OPTION_RANGE(1e-3, 1e9), .unset = "for processors from the history"),
    OPTION('\0', "link", "Gb/s", "bandwidth of a node over all its rails", DOUBLE, FIGURE(LINK),
           OPTION_RANGE(1e-6, 1e9), .unset = "from the history"),
    OPTION('\0', "across", "Gb/s", "bandwidth to a node of another island", DOUBLE, FIGURE(ACROSS),
           OPTION_RANGE(1e-6, 1e9), .unset = "from the history"),
    OPTION('\0', "failures", "N", "failures per 1000 node-days that end a job", DOUBLE,
           FIGURE(FAILURES), OPTION_RANGE(0, 1e6), .unset = "from the history"),
    OPTION('\0', "repair", "TIME", "time until a failed node is back", CALL, FIGURE(REPAIR),
           .take = take_hours, .unset = "from the history"),
    OPTION('\0', "restart", "S", "seconds from a failure to the next step", DOUBLE, FIGURE(RESTART),
           OPTION_RANGE(0, 1e6), .unset = "300"),
    OPTION('\0', "checkpoint-rate", "GB/s", "checkpoint write rate of a node", DOUBLE,
           FIGURE(CHECKPOINT), OPTION_RANGE(1e-6, 1e6), .unset = "from the history"),
    OPTION('\0', "block", "N", "nodes per block of topology/block: print --segment", INT,
           FIELD(block), OPTION_RANGE(1, 1e6)),
    OPTION('\0', "extra", NULL,
           "also print --extra, so that Slurm 23.11 and later use certified nodes only", FLAG,
           FIELD(has_extra)),
    COMMAND_CONFIG(struct options),
    OPTION('j', "json", NULL, "print the plan as one JSON object", FLAG, FIELD(as_json)),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster plan",
    .usage = "muster plan --batch=N MODEL [OPTION...]",
    .summary =
        "Plans the best layout of a training job on this cluster: nodes and spares; data parallel, "
        "ZeRO or a pipeline over islands; step time, checkpoints, total time with failures, and "
        "the lines for sbatch. MODEL is --model, --parameters, or --layers and --channels. Figures "
        "of the cluster come from the history of muster certify; each is printed with its source.",
    .status = "0 done, 1 no layout fits or none ends in time, 2 usage, 3 a figure is unknown or "
              "the history cannot be read.",
    .rows = rows,
};

/* Chooses the layout, and fills in what the figures do not have. Returns the exit status. */
static int make(const struct options *options, struct plan *plan)
{
    struct error err;

    if (isnan(plan->job.overlap)) /* without GPUs the same processors compute and communicate */
        plan->job.overlap = plan->figures.is_on_hosts ? 0 : 1;
    if (plan_choose(&plan->figures.cluster, &plan->job, &plan->layout, &err) != 0)
        return command_failed(COMMAND_FAIL, "muster plan", "%s", err.text);
    plan->sbatch =
        plan_sbatch_text(&plan->figures, &plan->layout, (size_t)options->block, options->has_extra);
    if (!plan->sbatch)
        return command_failed(COMMAND_UNKNOWN, "muster plan", "no memory");
    return COMMAND_PASS;
}

/* Checks whether the best plan ends in time. Returns the exit status. */
static int judge_time(const struct plan *plan)
{
    if (!(plan->layout.finish_s > plan->job.within_s))
        return COMMAND_PASS;
    fprintf(stderr, "muster plan: no layout ends within %s; this one takes %s\n",
            plan_time_text(plan->job.within_s).text, plan_time_text(plan->layout.finish_s).text);
    return COMMAND_FAIL;
}

int command_plan(int argc, char **argv)
{
    struct options options = {.job = {.overlap = NAN, .within_s = INFINITY, .spares = -1}};
    struct plan plan = {.job = {0}};
    struct conf conf;
    struct error err;
    int status;

    for (int i = 0; i < FIGURE_COUNT; i++)
        options.given[i] = NAN;
    status = command_options(&set, argc, argv, &options);
    if (status >= 0)
        return status;
    options.wish.is_fp32 = options.precision == 1;
    plan.job = options.job;
    plan.job.nodes = (size_t)options.nodes;
    if (plan_job_make(&options.wish, &plan.job, &err) != 0)
        return command_misuse(set.name, "%s", err.text);
    status = command_conf(set.name, options.config, &conf);
    if (status == COMMAND_PASS &&
        plan_figures_read(&(struct plan_sources){.history = conf.history_path,
                                                 .records = options.records,
                                                 .conf = &conf,
                                                 .given = options.given,
                                                 .available = (size_t)options.available},
                          &plan.figures, &err) != 0)
        status = command_failed(COMMAND_UNKNOWN, "muster plan", "%s", err.text);
    if (status == COMMAND_PASS)
        status = make(&options, &plan);
    if (status == COMMAND_PASS && *plan.figures.slow_uplink &&
        plan.figures.cluster.island_count < 2)
        fprintf(
            stderr,
            "muster plan: this plan does not count that %s; with an Island= line of each side in "
            "muster.conf it does\n",
            plan.figures.slow_uplink);
    if (status == COMMAND_PASS) {
        (options.as_json ? plan_print_json : plan_print)(&plan);
        status = judge_time(&plan);
    }
    free(plan.sbatch);
    plan_figures_clear(&plan.figures);
    conf_clear(&conf);
    return status;
}
