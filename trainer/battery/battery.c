/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/battery/battery.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/stdout_flush.h"
#include "lib/constants/harness_constants.h"
#include "trainer/battery/tests.h"
#include "validate/harness/launcher.h"
#include "validate/harness/output.h"

static int take_inject(const char *value, void *injection, struct error *err)
{
    return injection_parse(value, injection, err);
}

#define FIELD(member) OPTION_FIELD(struct battery, member)

static const struct option_row rows[] = {
    OPTION('\0', "json", NULL, "print records as JSON lines, nothing else", FLAG, FIELD(is_json)),
    OPTION('\0', "quick", NULL, "spend less time on speed measurements", FLAG, FIELD(is_quick)),
    OPTION('\0', "time-limit", "SECONDS", "stop after this time", SECONDS, FIELD(limit_s),
           OPTION_RANGE(5, PROGRAM_TIME_LIMIT_MOST_S), .initial = "60"),
    OPTION('\0', "inject", "FAULT", NULL, CALL, FIELD(injection), .take = take_inject),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster-train battery",
    .summary = "Runs the train.* tests: trainings with known losses on each rank alone, on the "
               "ranks of each node and on all ranks; checkpoints, data partition, tokens per "
               "second. Start it with srun or mpirun.",
    .status = "0 passed, 1 a test failed, 2 usage, 3 a test could not measure.",
    .rows = rows,
};

/* Returns the exit status, or -1 to run. */
static int read_arguments(int argc, char **argv, struct battery *battery)
{
    struct error err;
    enum option_request request = option_set_parse(&set, argc, argv, battery, NULL, &err);
    bool speaks = launcher_rank() == 0;

    if (request == OPTION_RUN)
        return -1;
    if (request != OPTION_MISUSE) {
        if (speaks)
            option_set_print(&set, request, stdout);
        return stdout_flush(set.name) == 0 ? 0 : 3;
    }
    if (speaks)
        fprintf(stderr, "%s: %s; see %s --help\n", set.name, err.text, set.name);
    else
        usleep(300000); /* launchers end all ranks when one fails: let rank 0 print */
    return 2;
}

/* Makes the communicator of this node's ranks. */
static int make_node_comm(struct battery *battery, struct error *err)
{
    const struct world *world = &battery->world;
    int node = 0;

    while (strcmp(world->names[node], world->names[world->rank]) != 0)
        node++;
    return comm_split(battery->all, node, world->rank, &battery->node, err);
}

int battery_main(int argc, char **argv)
{
    struct battery battery = {0};
    struct error err = {""};
    int status = read_arguments(argc, argv, &battery);

    if (status >= 0)
        return status;
    if (world_init(battery.is_json, battery.limit_s, &battery.world, &err) != 0 ||
        world_comm(&battery.world, &battery.all, &err) != 0 ||
        make_node_comm(&battery, &err) != 0 || comm_self(&battery.alone, &err) != 0) {
        fprintf(stderr, "muster-train: %s\n", err.text);
        return 3;
    }
    world_set_threads(&battery.world, 0);
    battery.outcomes = calloc((size_t)battery.world.ranks, sizeof *battery.outcomes);
    if (!battery.outcomes)
        return 3;
    tests_run(&battery);
    free(battery.outcomes);
    comm_destroy(battery.alone);
    comm_destroy(battery.node);
    comm_destroy(battery.all);
    world_finalize(&battery.world);
    if (battery.world.rank == 0)
        output_finish();
    return battery.world.rank == 0 ? output_status() : 0;
}
