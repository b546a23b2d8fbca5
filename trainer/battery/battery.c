/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/battery/battery.h"

#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/stdout_flush.h"
#include "trainer/battery/tests.h"
#include "validate/battery/launcher.h"
#include "validate/battery/output.h"

static void usage(FILE *stream)
{
    fputs(
        "usage: muster-train battery [--json] [--quick] [--time-limit=S]\n\n"
        "The train.* tests: trainings whose losses are known, on each rank by itself, on the ranks "
        "of each node, on all;\n"
        "checkpoints, the partition of data, tokens per second. To be started by srun or "
        "mpirun.\n\n"
        "  --json          records as JSON lines on standard output\n"
        "  --quick         less time for speeds\n"
        "  --time-limit=S  seconds after which it gives up (60)\n"
        "  --help\n\n"
        "Exit status: 0 nothing bad, 1 something failed, 2 usage, 3 something could not be told.\n",
        stream);
}

/* Returns the exit status, or -1: run. */
static int read_arguments(int argc, char **argv, struct battery *battery)
{
    static const struct option table[] = {{"json", no_argument, NULL, 'j'},
                                          {"quick", no_argument, NULL, 'q'},
                                          {"time-limit", required_argument, NULL, 't'},
                                          {"inject", required_argument, NULL, 'i'},
                                          {"help", no_argument, NULL, 'h'},
                                          {0}};
    struct error err = {""};
    char *end = NULL;
    int found;

    opterr = 0;
    while ((found = getopt_long(argc, argv, ":h", table, NULL)) != -1) {
        if (found == 'h') {
            if (launcher_rank() == 0)
                usage(stdout);
            return stdout_flush("muster-train battery") == 0 ? 0 : 3;
        }
        if (found == 'j')
            battery->is_json = true;
        if (found == 'q')
            battery->is_quick = true;
        if (found == 'i' && injection_parse(optarg, &battery->injection, &err) != 0)
            break;
        if (found == 't') {
            battery->limit_s = strtod(optarg, &end);
            if (end == optarg || *end || !(battery->limit_s >= 5 && battery->limit_s <= 1e6)) {
                error_set(&err, "--time-limit: expected a number from 5 to 1e+06, found \"%s\"",
                          optarg);
                break;
            }
        }
        if (found == '?' || found == ':') {
            error_set(&err, "%s: %s", argv[optind - 1],
                      found == ':' ? "needs a value" : "no such option, or a value too many");
            break;
        }
    }
    if (!err.text[0] && optind < argc)
        error_set(&err, "expected options only, found \"%s\"", argv[optind]);
    if (!err.text[0])
        return -1;
    if (launcher_rank() == 0)
        fprintf(stderr, "muster-train battery: %s; see muster-train battery --help\n", err.text);
    else
        usleep(300000); /* launchers end all ranks when one fails: let rank 0 speak */
    return 2;
}

/* The ranks of this node. */
static int make_node_comm(struct battery *battery, struct error *err)
{
    MPI_Comm mpi;
    int node = 0, rv;

    if (!battery->world.has_mpi)
        return comm_self(&battery->node, err);
    while (strcmp(battery->world.names[node], battery->world.names[battery->world.rank]) != 0)
        node++;
    MPI_Comm_split(MPI_COMM_WORLD, node, battery->world.rank, &mpi);
    rv = comm_create(mpi, &battery->node, err);
    MPI_Comm_free(&mpi);
    return rv;
}

int battery_main(int argc, char **argv)
{
    struct battery battery = {.limit_s = 60};
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
