/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/launch/workers.h"
#include "lib/base/text.h"
#include "validate/harness/sleeping_wait.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void workers_start(struct program *program, double started)
{
    double mine = program->mpi_ready - (started > 0 ? started : program->process_start);
    double *all = watch_allocate((size_t)program->size, sizeof *all);

    program_phase(program, "start");
    sleeping_gather(&mine, all, sizeof mine, MPI_COMM_WORLD);
    for (int node = 0; node < program->node_count && program->rank == 0; node++) {
        double last = -INFINITY, first = INFINITY;

        for (int rank = 0; rank < program->size; rank++) {
            if (program->node_of_rank[rank] != node)
                continue;
            last = fmax(last, all[rank]);
            first = fmin(first, all[rank]);
        }
        output_report(
            RECORD(.test = "mpi.launch", .metric = "start", .node = program->node_name[node],
                   .value = last, .unit = "s", .low = first, .high = last,
                   .samples = (unsigned)program->ranks_of_node[node], .verdict = VERDICT_PASS),
            "%d of %d ranks, MPI ready %.2f s after %s", program->ranks_of_node[node],
            program->size, last, started > 0 ? "the launch" : "the process's start");
    }
    free(all);
}

static struct record workers_record(const char *node, int found, long expected,
                                    enum verdict verdict)
{
    struct record record =
        RECORD(.test = "workers.enumerate", .metric = "ranks", .node = node, .value = found,
               .unit = "count", .verdict = verdict, .code = FAULT_RANKS_MISSING);

    if (expected > 0) {
        record.limit = (double)expected;
        record.limit_source = "expected";
    }
    return record;
}

static bool takes_part(const struct program *program, const char *name)
{
    for (int node = 0; node < program->node_count; node++)
        if (strcmp(name, program->node_name[node]) == 0)
            return true;
    return false;
}

void workers_check(const struct program *program, const struct hostlist *expected,
                   long ranks_per_node)
{
    for (size_t i = 0; i < expected->count && program->rank == 0; i++)
        if (!takes_part(program, expected->names[i]))
            output_report(workers_record(expected->names[i], 0, ranks_per_node, VERDICT_FAIL),
                          "%.63s is missing, but was expected", expected->names[i]);
    for (int node = 0; node < program->node_count && program->rank == 0; node++) {
        const char *name = program->node_name[node];
        int found = program->ranks_of_node[node];
        struct record record = workers_record(name, found, ranks_per_node, VERDICT_FAIL);

        if (expected->count > 0 && !hostlist_contains(expected, name)) {
            output_report(record, "%s takes part, but was not expected", name);
        } else if (ranks_per_node > 0 && found != ranks_per_node) {
            output_report(record, "%s has %d rank%s, expected %ld", name, found,
                          text_plural((size_t)found), ranks_per_node);
        } else {
            record.verdict = VERDICT_PASS;
            output_report(record, "%d rank%s", found, text_plural((size_t)found));
        }
    }
}

int launch_take_expect_nodes(const char *value, void *expected, struct error *err)
{
    hostlist_clear(expected);
    return hostlist_expand(value, expected, err);
}
