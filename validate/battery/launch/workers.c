/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/launch/workers.h"
#include "lib/base/text.h"
#include "validate/harness/sleeping_wait.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void workers_start(struct program *program, double started)
{
    double mine = program->mpi_ready - (started > 0 ? started : program->process_start);
    double *all = calloc((size_t)program->size, sizeof *all);

    program_phase(program, "start");
    if (!all)
        watch_fault("out of memory");
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

static void report_workers(const char *node, int found, long expected, enum verdict verdict,
                           const char *message)
{
    struct record record = RECORD(.test = "workers.enumerate", .metric = "ranks", .node = node,
                                  .value = found, .unit = "count");

    if (expected > 0) {
        record.limit = (double)expected;
        record.limit_source = "expected";
    }
    record.verdict = verdict;
    record.code = FAULT_RANKS_MISSING;
    record.message = message;
    output_record(&record);
}

void workers_check(const struct program *program, const struct hostlist *expected,
                   long ranks_per_node)
{
    char message[160];

    for (size_t i = 0; i < expected->count && program->rank == 0; i++) {
        bool is_here = false;

        for (int node = 0; node < program->node_count; node++)
            is_here |= strcmp(expected->names[i], program->node_name[node]) == 0;
        if (!is_here) {
            snprintf(message, sizeof message, "%.63s is missing, but was expected",
                     expected->names[i]);
            report_workers(expected->names[i], 0, ranks_per_node, VERDICT_FAIL, message);
        }
    }
    for (int node = 0; node < program->node_count && program->rank == 0; node++) {
        const char *name = program->node_name[node];
        int found = program->ranks_of_node[node];
        enum verdict verdict = VERDICT_PASS;

        snprintf(message, sizeof message, "%d rank%s", found, text_plural(found));
        if (expected->count > 0 && !hostlist_contains(expected, name)) {
            verdict = VERDICT_FAIL;
            snprintf(message, sizeof message, "%s takes part, but was not expected", name);
        } else if (ranks_per_node > 0 && found != ranks_per_node) {
            verdict = VERDICT_FAIL;
            snprintf(message, sizeof message, "%s has %d rank%s, expected %ld", name, found,
                     text_plural(found), ranks_per_node);
        }
        report_workers(name, found, ranks_per_node, verdict, message);
    }
}

int launch_take_expect_nodes(const char *value, void *expected, struct error *err)
{
    hostlist_clear(expected);
    return hostlist_expand(value, expected, err);
}
