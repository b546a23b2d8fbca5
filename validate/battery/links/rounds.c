/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/links/rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validate/battery/links/linkreport.h"
#include "validate/battery/links/meeting.h"
#include "validate/schedule/tournament.h"

static struct path_plan make_plan(const struct rounds_plan *options)
{
    struct path_plan plan = {
        .samples = options->is_quick ? 4 : 5,
        .sample_s = options->is_quick ? 0.04 : 0.08,
        .warmup_s = options->is_quick ? 0.02 : 0.03,
        .latency_s = options->is_quick ? 0.01 : 0.02,
        .sample_bytes = options->sample_bytes,
        .connect_s = options->is_quick ? 3 : 4,
        .timeout_s = 5,
    };

    if (options->repeats > 0)
        plan.samples = (int)options->repeats;
    return plan;
}

static void choose_rails(struct program *program, const char *rails)
{
    struct error err;

    if (!rails || !program->inventory)
        return;
    hostlist_clear(&program->conf.fabric_interfaces);
    if (hostlist_expand(rails, &program->conf.fabric_interfaces, &err) != 0)
        watch_fault("%s", err.text);
    fabric_choose(program->inventory, &program->conf, program->fabric);
}

/* The number of a node by its name, length characters; -1: takes no part. */
static int node_number(const struct program *program, const char *name, size_t length)
{
    for (int node = 0; node < program->node_count; node++)
        if (strlen(program->node_name[node]) == length &&
            strncmp(program->node_name[node], name, length) == 0)
            return node;
    return -1;
}

/* Pair number `index` of "A:B,C:D": 1 found, 0 no more. A node that takes no part is -1. */
static int pair_at(const struct program *program, const char *pairs, int index, int nodes[2])
{
    for (; *pairs; index--) {
        size_t length = strcspn(pairs, ","), first = strcspn(pairs, ":");

        if (index == 0) {
            nodes[0] = node_number(program, pairs, first);
            nodes[1] = node_number(program, pairs + first + 1, length - first - 1);
            return 1;
        }
        pairs += length + (pairs[length] == ',');
    }
    return 0;
}

static int round_count(const struct program *program, const struct rounds_plan *options)
{
    int rounds = tournament_rounds(program->node_count), nodes[2];

    if (options->pairs)
        for (rounds = 0; pair_at(program, options->pairs, rounds, nodes);)
            rounds++;
    if (options->rounds > 0 && options->rounds < rounds)
        rounds = (int)options->rounds;
    return rounds;
}

static int partner_in(const struct program *program, const struct rounds_plan *options, int round)
{
    int nodes[2];

    if (!options->pairs)
        return tournament_partner(program->node_count, round, program->node);
    pair_at(program, options->pairs, round, nodes);
    if (nodes[0] == nodes[1])
        return TOURNAMENT_BYE;
    if (nodes[0] == program->node)
        return nodes[1];
    return nodes[1] == program->node ? nodes[0] : TOURNAMENT_BYE;
}

static void check_pairs(const struct program *program, const char *pairs)
{
    int nodes[2];

    for (int i = 0; pairs && pair_at(program, pairs, i, nodes); i++)
        if (nodes[0] < 0 || nodes[1] < 0 || nodes[0] == nodes[1])
            linkreport_unknown("pair %d of %s cannot be measured: both nodes must take part, and "
                               "differ",
                               i + 1, pairs);
}

/* Rank 0 decides for all whether there is time for another round like the longest so far. */
static bool goes_on(struct program *program, double longest_s)
{
    int go = !watch_time_is_up(1.2 * longest_s);
    MPI_Request request;

    MPI_Ibcast(&go, 1, MPI_INT, 0, program->leaders, &request);
    program_wait(program, &request, -1);
    return go;
}

static void play(struct program *program, const struct rounds_plan *options)
{
    struct path_plan plan = make_plan(options);
    struct link_results results = {NULL, 0, 0};
    int rounds = round_count(program, options), round;
    double longest_s = 0;
    uint64_t session = 1;
    struct rails rails;

    program_phase(program, "links open");
    choose_rails(program, options->rails);
    rails_open(program, &rails, &results);
    if (options->tells_speeds)
        linkreport_speeds(program, &rails.own);
    linkreport_gather(program, &results, options->floor_percent);
    for (round = 0; round < rounds && goes_on(program, longest_s); round++) {
        int partner = partner_in(program, options, round);
        double start = MPI_Wtime();

        program_phase(program, "links round %d of %d", round + 1, rounds);
        if (program->rank == 0)
            output_progress("round %d of %d", round + 1, rounds);
        if (partner >= 0)
            meeting_hold(program, &rails, partner, &plan, &session, &results);
        else
            session += 2 * MEETING_RAILS;
        linkreport_gather(program, &results, options->floor_percent);
        longest_s = fmax(longest_s, MPI_Wtime() - start);
    }
    if (program->rank == 0 && round < rounds)
        linkreport_unknown("the time limit of %g s is over: %d of %d rounds measured",
                           program->common.time_limit_s, round, rounds);
    rails_close(&rails);
    free(results.items);
}

void rounds_play(struct program *program, const struct rounds_plan *plan)
{
    if (program->rank == 0) {
        check_pairs(program, plan->pairs);
        if (program->node_count < 2)
            linkreport_unknown("only %s takes part: links need two nodes", program->node_name[0]);
    }
    if (program->is_leader)
        play(program, plan);
}
