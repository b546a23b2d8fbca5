/* SPDX-License-Identifier: Apache-2.0 */
/* muster-launch: does an MPI job start on every node, in how long, with the ranks it should have,
 * and do all pairs of ranks get each other's messages unharmed? */
#include "lib/base/hostlist.h"
#include "validate/battery/launch/clock.h"
#include "validate/battery/launch/messages.h"
#include "validate/battery/launch/workers.h"
#include "validate/harness/program.h"

struct launch_options {
    struct launch_wish launch;
    long ranks_per_node; /* 0: not given */
    long rounds;         /* 0: not given */
    struct messages_plan messages;
};

#define TEXT_OF(number) #number
#define TEXT_OF_VALUE(macro) TEXT_OF(macro)
#define MOST TEXT_OF_VALUE(MESSAGES_ALL_PAIRS_RANKS)
#define FIELD(member) OPTION_FIELD(struct launch_options, member)

static const struct option_row option_table[] = {
    LAUNCH_STARTED,
    LAUNCH_EXPECT_NODES,
    OPTION('\0', "expect-ranks-per-node", "K", "expected ranks per node", LONG,
           FIELD(ranks_per_node), OPTION_RANGE(1, 65536)),
    OPTION('\0', "rounds", "K", "messages: at most K rounds", LONG, FIELD(rounds),
           OPTION_RANGE(1, 1 << 24), .unset = "all pairs of up to " MOST " ranks"),
    OPTION('\0', "confidence", "P",
           "messages: enough rounds to find a bad rank with this confidence (default without "
           "--rounds and with more than " MOST " ranks: 0.999, or 0.99 with --quick)",
           CALL, FIELD(messages.confidence), .take = option_confidence),
    OPTION('\0', "quick", NULL, "messages: up to 64 KiB instead of 1 MiB", FLAG,
           FIELD(messages.is_quick)),
    OPTION_END,
};

static const struct program_spec spec = {
    "muster-launch", "launch",
    "Starts MPI on every node, exchanges checked messages between pairs of ranks, "
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
