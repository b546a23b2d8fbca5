/* SPDX-License-Identifier: Apache-2.0 */
/* muster-preflight: the short form of launch, links and collectives in one start of MPI, for
 * `muster preflight`. */
#include <limits.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "validate/battery/collectives/speed.h"
#include "validate/battery/launch/messages.h"
#include "validate/battery/launch/workers.h"
#include "validate/battery/links/path/path.h"
#include "validate/battery/links/rounds.h"
#include "validate/battery/preflight/sum.h"
#include "validate/harness/program.h"

struct preflight_options {
    struct launch_wish launch;
    struct rounds_plan rounds;
    bool is_links_only;
};

#define FIELD(member) OPTION_FIELD(struct preflight_options, member)

static const struct option_row option_table[] = {
    LAUNCH_STARTED,
    LAUNCH_EXPECT_NODES,
    OPTION('\0', "rounds", "K", "links: only the first K rounds of the schedule", LONG,
           FIELD(rounds.rounds), OPTION_RANGE(1, INT_MAX)),
    OPTION('\0', "repeats", "K", "links: samples of each bandwidth, 1 to 64", LONG,
           FIELD(rounds.repeats), OPTION_RANGE(1, PATH_SAMPLES), .unset = "5; quick 4"),
    OPTION('\0', "quick", NULL, "links: shorter samples; messages: up to 64 KiB", FLAG,
           FIELD(rounds.is_quick)),
    OPTION('\0', "links-only", NULL,
           "no messages, no allreduce, and MPI on the management network only: finds a rail on "
           "which MPI fails",
           FLAG, FIELD(is_links_only)),
    OPTION_END,
};

static const struct program_spec spec = {
    "muster-preflight", "launch",
    "Starts MPI on every node, measures the links, and exchanges checked messages and sums. muster "
    "preflight runs it before a step, with one rank per node.",
    option_table, false};

static const struct program_spec links_spec = {"muster-preflight", "launch", "", option_table,
                                               true};

static void run(struct program *program, struct preflight_options *options)
{
    workers_start(program, options->launch.started);
    workers_check(program, &options->launch.expected, 1);
    output_suite("links");
    options->rounds.prints_speeds = true;
    if (program->node_count > 1)
        rounds_run(program, &options->rounds);
    if (options->is_links_only)
        return;
    output_suite("launch");
    messages_exchange(program, &(struct messages_plan){.rounds = options->rounds.is_quick ? 8 : 0,
                                                       .is_quick = options->rounds.is_quick});
    output_suite("collectives");
    sum_check(program);
    speed_measure(program, options->rounds.is_quick ? 0.1 : 0.5);
}

/* Whether --links-only is given. This is needed before MPI, and so before the options are read. */
static bool has_links_only(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--links-only") == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    struct preflight_options options = {.launch.started = -1};
    struct program program;

    channel_prepare();
    program_start(&program, has_links_only(argc, argv) ? &links_spec : &spec, &options, argc, argv);
    run(&program, &options);
    hostlist_clear(&options.launch.expected);
    return program_finish(&program);
}
