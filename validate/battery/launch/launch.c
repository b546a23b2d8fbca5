/* SPDX-License-Identifier: Apache-2.0 */
/* muster-launch: does an MPI job start on every node, in how long, with the ranks it should have,
 * and do all pairs of ranks get each other's messages unharmed? */
#include "config.h"

#include "lib/base/hostlist.h"
#include "validate/battery/launch/clock.h"
#include "validate/battery/launch/messages.h"
#include "validate/battery/launch/workers.h"
#include "validate/battery/program.h"

struct launch_options {
    struct launch_wish launch;
    long ranks_per_node; /* 0: not given */
    long rounds;         /* 0: not given */
    struct messages_plan messages;
};

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
    ((struct launch_options *)context)->messages.is_quick = true;
    return 0;
}

static int take_confidence(const char *value, void *context, struct error *err)
{
    return option_confidence(value, &((struct launch_options *)context)->messages.confidence, err);
}

static const struct option_spec option_table[] = {
    LAUNCH_STARTED,
    LAUNCH_EXPECT_NODES,
    {"expect-ranks-per-node", "K", "how many ranks each should have", take_expect_ranks},
    {"rounds", "K", "messages: at most K rounds (all pairs of up to 32 ranks)", take_rounds},
    {"confidence", "P",
     "messages: as many rounds as name a bad rank with this confidence (with more than\n"
     "32 ranks and no --rounds: 0.999, or 0.99 with --quick)",
     take_confidence},
    {"quick", NULL, "messages: up to 64 KiB instead of 1 MiB", take_quick},
    {NULL, NULL, NULL, NULL},
};

static const struct program_spec spec = {
    "muster-launch", "launch",
    "Starts MPI on every node, exchanges checked messages between pairs of ranks,\n"
    "compares the nodes' clocks.",
    option_table, false};

int main(int argc, char **argv)
{
    struct launch_options options = {.launch.started = -1};
    struct program program;

    program_start(&program, &spec, &options, argc, argv);
    workers_start(&program, options.launch.started);
    workers_check(&program, &options.launch.expected, options.ranks_per_node);
    clock_compare(&program);
    options.messages.rounds = (int)options.rounds;
    messages_exchange(&program, &options.messages);
    hostlist_clear(&options.launch.expected);
    return program_finish(&program);
}
