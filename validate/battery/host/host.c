/* SPDX-License-Identifier: Apache-2.0 */
/* muster-host: does each core of a node compute as fast as its peers and to the bit as they do,
 * does memory carry what it should, and the local disk? One rank of each node measures; nodes that
 * share a machine take turns. */
#include <stdlib.h>
#include <string.h>

#include "lib/constants/battery_constants.h"
#include "validate/battery/host/evaluate.h"
#include "validate/battery/host/measure.h"
#include "validate/harness/program.h"
#include "validate/harness/sleeping_wait.h"

enum test { TEST_SET_COMPUTE = 1, TEST_SET_MEMORY = 2, TEST_SET_DISK = 4 };

struct host_options {
    bool is_quick;
    long times;     /* cores compute this many times as long */
    unsigned tests; /* 0: all */
};

struct host_run {
    struct program *program;
    const struct host_options *options;
    struct measure measure;
    int turn, turns; /* of this node among those of its machine, and the most of any machine */
};

static void tick(void *context)
{
    program_step(context);
}

static bool is_wanted(const struct host_run *run, enum test test)
{
    return !run->options->tests || (run->options->tests & test);
}

/* ---------------------------------------------------------------- what is measured */

static int measure_all(struct host_run *run, struct error *err)
{
    const char *folder = run->program->conf.disk_test_path;
    int repeats = run->options->is_quick ? HOST_QUICK_REPEATS : HOST_REPEATS;

    if (is_wanted(run, TEST_SET_COMPUTE)) {
        program_phase(run->program, "cores");
        for (long i = 0; i < run->options->times; i++)
            if (measure_cores(&run->measure, NULL, repeats, NULL, err) != 0)
                return -1;
    }
    if (is_wanted(run, TEST_SET_MEMORY)) {
        program_phase(run->program, "memory");
        if (measure_memory(&run->measure, err) != 0)
            return -1;
    }
    if (is_wanted(run, TEST_SET_DISK) && *folder) {
        program_phase(run->program, "disk");
        measure_disk(&run->measure, folder);
    }
    return 0;
}

/* Sets is_low of the parts of this node that are low in that figure, and of cores whose results
 * differ from *expected (NULL: not known). Returns how many are. */
static int low_find(const struct host_run *run, const struct host_node *nodes,
                    enum host_figure figure, const uint64_t *expected, bool *is_low)
{
    size_t count = (size_t)run->program->node_count, own = (size_t)run->program->node;
    double reference = host_reference(nodes, count, own, figure);
    int parts = host_part_count(&nodes[own], figure), found = 0;

    for (int k = 0; k < parts; k++) {
        is_low[k] =
            host_is_low(nodes, count, own, figure, k, reference) ||
            (figure == HOST_RATE && expected && host_differs(&nodes[own].cores[k], *expected));
        found += is_low[k];
    }
    return found;
}

/* What is low or wrong by the figures of all nodes: flags of this node's parts. */
struct again {
    bool is_core[HOST_CORES], is_numa[HOST_NUMA_NODES], is_disk;
    int cores, numas, disks;
    bool has_expected;
    uint64_t expected;
};

static void again_find(const struct host_run *run, const struct host_node *nodes,
                       struct again *again)
{
    *again = (struct again){0};
    again->has_expected = host_expected_sum(nodes, (size_t)run->program->node_count,
                                            (size_t)run->program->node, &again->expected);
    again->cores = low_find(run, nodes, HOST_RATE, again->has_expected ? &again->expected : NULL,
                            again->is_core);
    again->numas = low_find(run, nodes, HOST_TRIAD, NULL, again->is_numa);
    for (int figure = HOST_READ; figure < HOST_FIGURES; figure++)
        again->disks += low_find(run, nodes, (enum host_figure)figure, NULL, &again->is_disk);
}

/* Measures what is low or wrong again. The best of both measurements counts. */
static int measure_again(struct host_run *run, const struct again *again, struct error *err)
{
    program_phase(run->program, "low figures again");
    if (again->cores > 0 && measure_cores(&run->measure, again->is_core, HOST_AGAIN_REPEATS,
                                          again->has_expected ? &again->expected : NULL, err) != 0)
        return -1;
    if (again->numas > 0 && measure_memory(&run->measure, err) != 0)
        return -1;
    if (again->disks > 0)
        measure_disk(&run->measure, run->program->conf.disk_test_path);
    return 0;
}

/* ---------------------------------------------------------------- turns */

static void turns_find(struct host_run *run, const struct host_node *nodes)
{
    const struct program *program = run->program;

    for (int i = 0; i < program->node_count; i++) {
        int turn = 0;

        for (int k = 0; k < i && *nodes[i].machine; k++)
            turn += strcmp(nodes[k].machine, nodes[i].machine) == 0;
        if (i == program->node)
            run->turn = turn;
        if (i != program->node && *nodes[i].machine &&
            strcmp(nodes[i].machine, run->measure.node->machine) == 0)
            run->measure.node->is_shared = true;
        if (turn < HOST_TURNS_MOST && turn >= run->turns)
            run->turns = turn + 1;
    }
}

/* Measures when it is this node's turn. again: NULL for the first time. */
static void measure_in_turn(struct host_run *run, const struct again *again)
{
    struct host_node *node = run->measure.node;

    for (int turn = 0; turn < run->turns; turn++) {
        struct error err = {""};
        int rv = 0;

        if (turn == run->turn && !*node->text)
            rv = again ? measure_again(run, again, &err) : measure_all(run, &err);
        if (rv != 0)
            snprintf(node->text, sizeof node->text, "%.159s", err.text);
        sleeping_barrier(run->program->leaders);
    }
}

static void run_node(struct program *program, const struct host_options *options)
{
    struct host_node *nodes = watch_allocate((size_t)program->node_count, sizeof *nodes);
    struct host_node *own = watch_allocate(1, sizeof *own);
    struct again again;
    int low;
    struct host_run run = {.program = program,
                           .options = options,
                           .measure = {.node = own,
                                       .is_corrupt = program_injects_lie(program),
                                       .wait = {tick, program}}};
    struct error err = {""};

    if (program->inventory)
        snprintf(own->machine, sizeof own->machine, "%.39s", program->inventory->boot_id);
    if (measure_open(&run.measure, &err) != 0)
        snprintf(own->text, sizeof own->text, "%.159s", err.text);
    sleeping_allgather(own, nodes, sizeof *own, program->leaders);
    turns_find(&run, nodes);
    if (run.turn >= HOST_TURNS_MOST) {
        own->is_skipped = true;
        snprintf(own->text, sizeof own->text,
                 "%d nodes of the same machine were measured before it", HOST_TURNS_MOST);
    }
    measure_in_turn(&run, NULL);
    sleeping_allgather(own, nodes, sizeof *own, program->leaders);
    again_find(&run, nodes, &again);
    low = again.cores + again.numas + again.disks;
    if (-sleeping_least(-low, program->leaders) > 0) { /* on any node */
        measure_in_turn(&run, &again);
        sleeping_gather(own, nodes, sizeof *own, program->leaders);
    }
    if (program->rank == 0)
        host_evaluate(nodes, (size_t)program->node_count, program->node_name, &output_sink);
    free(nodes);
    free(own);
}

/* ---------------------------------------------------------------- the program */

static int take_tests(const char *value, void *context, struct error *err)
{
    struct host_options *options = context;

    return option_words_parse(value, "compute,memory,disk", &options->tests, err);
}

static const struct option_row option_table[] = {
    OPTION('\0', "quick", NULL, "fewer repeats on each core", FLAG,
           OPTION_FIELD(struct host_options, is_quick)),
    OPTION('\0', "times", "N", "compute N times as long on each core", LONG,
           OPTION_FIELD(struct host_options, times), OPTION_RANGE(1, 100000), .initial = "1"),
    OPTION('\0', "tests", "LIST", "run only these tests: compute,memory,disk", CALL,
           .take = take_tests),
    OPTION_END,
};

static const struct program_spec spec = {"muster-host", "host",
                                         "Loads processors, memory and the local disk of each "
                                         "node: checks rates, bit-exact results and bandwidth.",
                                         option_table, true};

int main(int argc, char **argv)
{
    struct host_options options = {0};
    struct program program;

    program_start(&program, &spec, &options, argc, argv);
    if (program.is_leader)
        run_node(&program, &options);
    return program_finish(&program);
}
