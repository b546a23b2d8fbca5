/* SPDX-License-Identifier: Apache-2.0 */
/* muster-launch: does an MPI job start on every node, in how long, with the ranks it should have,
 * and do all pairs of ranks get each other's messages unharmed? */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hostlist.h"
#include "validate/battery/launch/clock.h"
#include "validate/battery/launch/messages.h"
#include "validate/battery/program.h"

struct launch_options {
    double started;
    struct hostlist expected;
    long ranks_per_node; /* 0: not given */
    long rounds;         /* 0: all */
    bool is_quick;
};

static int take_started(const char *value, void *context, struct error *err)
{
    return option_seconds(value, 0, 1e11, &((struct launch_options *)context)->started, err);
}

static int take_expect_nodes(const char *value, void *context, struct error *err)
{
    struct launch_options *options = context;

    hostlist_clear(&options->expected);
    return hostlist_expand(value, &options->expected, err);
}

static int take_expect_ranks(const char *value, void *context, struct error *err)
{
    return option_number(value, 1, 65536, &((struct launch_options *)context)->ranks_per_node, err);
}

static int take_rounds(const char *value, void *context, struct error *err)
{
    return option_number(value, 1, 1 << 24, &((struct launch_options *)context)->rounds, err);
}

static int take_quick(const char *value, void *context, struct error *err)
{
    (void)value;
    (void)err;
    ((struct launch_options *)context)->is_quick = true;
    return 0;
}

static const struct option_spec option_table[] = {
    {"started", "EPOCH",
     "when the launch was asked for, seconds since 1970 with decimals;\n"
     "without it the start time counts from the process's own start",
     take_started},
    {"expect-nodes", "LIST", "the nodes that should take part: n[1-4]", take_expect_nodes},
    {"expect-ranks-per-node", "K", "how many ranks each should have", take_expect_ranks},
    {"rounds", "K", "messages: only the first K rounds of the tournament", take_rounds},
    {"quick", NULL, "messages: up to 64 KiB instead of 1 MiB", take_quick},
    {NULL, NULL, NULL, NULL},
};

static const struct program_spec spec = {
    "muster-launch", "launch",
    "Starts MPI on every node, exchanges checked messages between all pairs of ranks,\n"
    "compares the nodes' clocks.",
    option_table, false};

/* Seconds from the asking to MPI_Init's return, the slowest rank of each node. */
static void measure_start(struct program *program, const struct launch_options *options)
{
    double mine =
        program->mpi_ready - (options->started > 0 ? options->started : program->process_start);
    double *all = calloc((size_t)program->size, sizeof *all);
    MPI_Request request;

    program_phase(program, "start");
    if (!all)
        watch_fault("out of memory");
    MPI_Igather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
    program_wait(program, &request, -1);
    for (int node = 0; node < program->node_count && program->rank == 0; node++) {
        struct record record = RECORD_INIT;
        char message[120];

        record.value = -INFINITY;
        record.low = INFINITY;
        for (int rank = 0; rank < program->size; rank++) {
            if (program->node_of_rank[rank] != node)
                continue;
            record.value = fmax(record.value, all[rank]);
            record.low = fmin(record.low, all[rank]);
        }
        record.high = record.value;
        record.samples = (unsigned)program->ranks_of_node[node];
        record.test = "mpi.launch";
        record.metric = "start";
        record.node = program->node_name[node];
        record.unit = "s";
        record.verdict = VERDICT_PASS;
        snprintf(message, sizeof message, "%d of %d ranks, MPI ready %.2f s after %s",
                 program->ranks_of_node[node], program->size, record.value,
                 options->started > 0 ? "the launch" : "the process's start");
        record.message = message;
        output_record(&record);
    }
    free(all);
}

static void report_workers(const char *node, int found, long expected, enum verdict verdict,
                           const char *message)
{
    struct record record = RECORD_INIT;

    record.test = "workers.enumerate";
    record.metric = "ranks";
    record.node = node;
    record.value = found;
    record.unit = "count";
    if (expected > 0) {
        record.limit = (double)expected;
        record.limit_source = "expected";
    }
    record.verdict = verdict;
    record.message = message;
    output_record(&record);
}

/* Every expected node is here with its ranks, and no other. Rank 0. */
static void check_workers(struct program *program, const struct launch_options *options)
{
    char message[160];

    for (size_t i = 0; i < options->expected.count; i++) {
        bool is_here = false;

        for (int node = 0; node < program->node_count; node++)
            is_here |= strcmp(options->expected.names[i], program->node_name[node]) == 0;
        if (!is_here) {
            snprintf(message, sizeof message, "%.63s was expected and takes no part",
                     options->expected.names[i]);
            report_workers(options->expected.names[i], 0, options->ranks_per_node, VERDICT_FAIL,
                           message);
        }
    }
    for (int node = 0; node < program->node_count; node++) {
        const char *name = program->node_name[node];
        int found = program->ranks_of_node[node];
        enum verdict verdict = VERDICT_PASS;

        snprintf(message, sizeof message, "%d rank%s", found, found == 1 ? "" : "s");
        if (options->expected.count > 0 && !hostlist_contains(&options->expected, name)) {
            verdict = VERDICT_FAIL;
            snprintf(message, sizeof message, "%s takes part and was not expected", name);
        } else if (options->ranks_per_node > 0 && found != options->ranks_per_node) {
            verdict = VERDICT_FAIL;
            snprintf(message, sizeof message, "%s has %d rank%s, expected %ld", name, found,
                     found == 1 ? "" : "s", options->ranks_per_node);
        }
        report_workers(name, found, options->ranks_per_node, verdict, message);
    }
}

int main(int argc, char **argv)
{
    struct launch_options options = {.started = -1};
    struct program program;

    program_start(&program, &spec, &options, argc, argv);
    measure_start(&program, &options);
    if (program.rank == 0)
        check_workers(&program, &options);
    clock_compare(&program);
    messages_exchange(&program, (int)options.rounds, options.is_quick ? 65536 : 1048576);
    hostlist_clear(&options.expected);
    return program_finish(&program);
}
