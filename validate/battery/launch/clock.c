/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/launch/clock.h"

#include <math.h>

#include "lib/base/clock.h"
#include "validate/harness/sleeping_wait.h"

enum { ROUND_TRIPS = 20 };
enum { TAG_CLOCK = 1, TAG_TURN, TAG_READY };

struct reading {
    double offset_s, error_s;
};

/* Reads the clock of a rank, on rank 0: its own clock before and after, the other one in
 * between. */
static struct reading read_clock(int rank)
{
    struct reading best = {.error_s = INFINITY};

    sleeping_receive(NULL, 0, rank, TAG_READY); /* it has slept until now */
    watch_waits_for(rank);
    for (int i = 0; i < ROUND_TRIPS; i++) {
        double before, after, there;

        before = clock_epoch_s();
        MPI_Send(NULL, 0, MPI_BYTE, rank, TAG_CLOCK, MPI_COMM_WORLD);
        MPI_Recv(&there, 1, MPI_DOUBLE, rank, TAG_CLOCK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        after = clock_epoch_s();
        if ((after - before) / 2 < best.error_s)
            best = (struct reading){there - (before + after) / 2, (after - before) / 2};
    }
    watch_works();
    return best;
}

static void report_clock(void)
{
    sleeping_receive(NULL, 0, 0, TAG_TURN);
    sleeping_send(NULL, 0, 0, TAG_READY);
    watch_waits_for(0);
    for (int i = 0; i < ROUND_TRIPS; i++) {
        double here;

        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_CLOCK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        here = clock_epoch_s();
        MPI_Send(&here, 1, MPI_DOUBLE, 0, TAG_CLOCK, MPI_COMM_WORLD);
    }
    watch_works();
}

static void report(const struct program *program, int node, struct reading reading)
{
    struct record record =
        RECORD(.test = "host.clock", .metric = "offset", .node = program->node_name[node],
               .peer = program->node_name[0], .value = 1e3 * reading.offset_s,
               .low = 1e3 * (reading.offset_s - reading.error_s),
               .high = 1e3 * (reading.offset_s + reading.error_s), .samples = ROUND_TRIPS,
               .unit = "ms", .limit = program->conf.clock_offset_ms, .limit_source = "conf");

    record.verdict = fabs(record.value) > record.limit ? VERDICT_FAIL : VERDICT_PASS;
    output_report(record, "clock %.3f ms %s %s's (within %.3f ms)%s", fabs(record.value),
                  record.value < 0 ? "behind" : "ahead of", program->node_name[0],
                  1e3 * reading.error_s,
                  record.verdict == VERDICT_FAIL ? "; check the time service" : "");
}

void clock_compare(struct program *program)
{
    program_phase(program, "clocks");
    for (int node = 1; node < program->node_count; node++) {
        int rank = program->leader_of_node[node];

        if (program->rank == 0) {
            program_step(program);
            sleeping_send(NULL, 0, rank, TAG_TURN);
            report(program, node, read_clock(rank));
        } else if (program->rank == rank) {
            report_clock();
        }
    }
    sleeping_barrier(MPI_COMM_WORLD);
}
