/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/rounds.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/clock.h"
#include "validate/battery/links/pair/overlap.h"
#include "validate/battery/links/pair/pair_run.h"
#include "validate/battery/links/pass_schedule.h"
#include "validate/battery/links/report/kinds.h"
#include "validate/battery/links/report/linkreport.h"
#include "validate/battery/links/sub_rounds.h"
#include "validate/battery/verbs/verbs_pair.h"

/* What the leader of the first node sends to start a sub-round. */
struct call {
    int32_t number; /* of the sub-round in the run, from 1; 0: all is over */
    int32_t pass, round;
};

/* The share of the time limit that repeats of all pairs must leave. */
static const double time_to_leave = 0.4;

struct runner {
    struct program *program;
    const struct rounds_plan *options;
    struct passes passes;
    struct control *control;
    struct rails rails;
    struct link_results results;
    struct pass_schedule pass_schedule;
    struct call call;
    int measured;             /* results of the pass */
    int most_rails;           /* of a node; only the first one knows those of others */
    struct rail_kinds *kinds; /* node_count, of the first node */
    struct sub_rounds subs;   /* of the first node */
    int sub_round;            /* of the round that runs */
    int rounds;               /* of the run, begun so far */
    bool *is_lost;            /* node_count, of the first node: lost for the run */
    double start_s, pass_s;   /* when the run and the pass began */
    double round_s;           /* how long the last round took */
};

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

static void choose_passes(struct runner *runner)
{
    runner->passes = runner->options->passes;
    if (runner->passes.count > 0)
        return;
    runner->passes.kinds[runner->passes.count++] = PASS_PAIRS;
    if (!runner->options->is_quick && !runner->options->pairs)
        runner->passes.kinds[runner->passes.count++] = PASS_TOGETHER;
}

/* ---------------------------------------------------------------- to the first node */

static bool node_is_lost(struct runner *runner, int node)
{
    runner->is_lost[node] |= watch_is_lost(runner->program->leader_of_node[node]);
    return runner->is_lost[node];
}

/* Waits for a message of each node that takes part in the sub-round and is not lost, and lets
 * receive() read it. receive() returns -1 if the connection is lost. */
static void receive_all(struct runner *runner, int (*receive)(struct runner *runner, int node))
{
    int count = runner->program->node_count, missing;
    bool *is_received = watch_allocate((size_t)count, sizeof *is_received);

    for (int node = 0; node < count; node++)
        is_received[node] = !sub_rounds_includes(&runner->subs, runner->sub_round, node);
    for (;;) {
        missing = 0;
        for (int node = 1; node < count; node++) {
            if (is_received[node] || node_is_lost(runner, node))
                continue;
            if (!control_has_message(runner->control, node)) {
                missing++;
                continue;
            }
            runner->is_lost[node] |= receive(runner, node) != 0;
            is_received[node] = true;
        }
        if (missing == 0)
            break;
        control_wait(runner->control, is_received);
    }
    free(is_received);
}

static int receive_results(struct runner *runner, int node)
{
    struct link_results *results = &runner->results;
    int32_t count;

    if (control_receive(runner->control, node, &count, sizeof count) != 0)
        return -1;
    for (int i = 0; i < count; i++) {
        struct link_result *result = results_add(results, node, -1, "");

        if (control_receive(runner->control, node, result, sizeof *result) != 0) {
            results->count--;
            return -1;
        }
    }
    return 0;
}

static int send_results(struct runner *runner)
{
    int32_t count = runner->results.count;
    int rv = control_send(runner->control, 0, &count, sizeof count);

    if (rv == 0 && count > 0)
        rv = control_send(runner->control, 0, runner->results.items,
                          (size_t)count * sizeof *runner->results.items);
    runner->results.count = 0;
    return rv;
}

/* Drops the failures of pair runs with a lost node: they are not the fault of the path. */
static void drop_lost_pairs(struct runner *runner)
{
    struct link_results *results = &runner->results;
    int left = 0;

    for (int i = 0; i < results->count; i++) {
        const struct link_result *result = &results->items[i];
        bool is_broken = *result->failure && result->to >= 0 &&
                         (node_is_lost(runner, result->from) || node_is_lost(runner, result->to));

        if (!is_broken)
            results->items[left++] = *result;
    }
    results->count = left;
}

static void note_rail_infos(struct runner *runner, int node, const struct rail_infos *rail_infos)
{
    kinds_note(rail_infos, &runner->kinds[node]);
    sub_rounds_note(&runner->subs, node, rail_infos);
    if (rail_infos->count > runner->most_rails)
        runner->most_rails = rail_infos->count;
    if (runner->options->prints_speeds)
        linkreport_speeds(runner->program, node, rail_infos);
}

static int receive_rail_infos(struct runner *runner, int node)
{
    struct rail_infos rail_infos;

    if (control_receive(runner->control, node, &rail_infos, sizeof rail_infos) != 0)
        return -1;
    note_rail_infos(runner, node, &rail_infos);
    return 0;
}

/* Collects the rails of all nodes on the first one. Returns 0, or -1 if that is lost. */
static int collect_rails(struct runner *runner)
{
    if (runner->program->node > 0)
        return control_send(runner->control, 0, &runner->rails.own, sizeof runner->rails.own) !=
                           0 ||
                       send_results(runner) != 0
                   ? -1
                   : 0;
    note_rail_infos(runner, 0, &runner->rails.own);
    receive_all(runner, receive_rail_infos);
    sub_rounds_ready(&runner->subs);
    kinds_report(runner->program, runner->kinds);
    receive_all(runner, receive_results);
    linkreport_states(runner->program, &runner->results);
    runner->results.count = 0;
    return 0;
}

/* ---------------------------------------------------------------- a round */

static int receive_ready(struct runner *runner, int node)
{
    char ready;

    return control_receive(runner->control, node, &ready, 1);
}

/* Waits until all nodes are ready, as the first node tells the others, so that they begin at
 * once. */
static void wait_for_start(void *context, int direction)
{
    struct runner *runner = context;
    char start = 1;

    (void)direction;
    if (runner->program->node > 0) {
        if (control_send(runner->control, 0, &start, 1) == 0)
            control_receive(runner->control, 0, &start, 1);
        return;
    }
    receive_all(runner, receive_ready);
    for (int node = 1; node < runner->program->node_count; node++)
        if (!node_is_lost(runner, node))
            runner->is_lost[node] |= control_send(runner->control, node, &start, 1) != 0;
}

static bool is_verbs(enum pass_kind kind)
{
    return kind == PASS_VERBS || kind == PASS_LOCAL;
}

static void run_sub_round(struct runner *runner)
{
    struct program *program = runner->program;
    const struct pass_schedule *pass_schedule = &runner->pass_schedule;
    int round = runner->call.round,
        partner = pass_schedule_partner(program, pass_schedule, round, program->node);
    struct overlap_start start = {wait_for_start, runner};
    struct pair_run pair_run = {.program = program,
                                .control = runner->control,
                                .rails = &runner->rails,
                                .plan = pass_schedule_plan(pass_schedule, round),
                                .results = &runner->results,
                                .partner = partner,
                                .session = (uint32_t)runner->call.number};

    program_phase(program, "links %s round %d of %d", pass_name(pass_schedule->kind), round + 1,
                  pass_schedule->rounds);
    if (pass_schedule->kind == PASS_LOCAL) {
        verbs_local_run(program, &runner->rails, round, &pass_schedule->plan,
                        &runner->options->verbs, &runner->results);
    } else if (partner >= 0 && !watch_is_lost(program->leader_of_node[partner])) {
        pair_run.is_first = pass_schedule_is_first(program, pass_schedule, round, program->node);
        if (pass_schedule->kind == PASS_PAIRS)
            pair_run_execute(&pair_run);
        else if (pass_schedule->kind == PASS_VERBS)
            verbs_pair_run(&pair_run, &runner->options->verbs);
        else
            overlap_run(&pair_run, pass_is_for_all(pass_schedule->kind) ? &start : NULL);
    } else if (pass_is_for_all(pass_schedule->kind)) {
        wait_for_start(runner, 0);
        wait_for_start(runner, 1);
    }
}

/* ---------------------------------------------------------------- the first node */

static void send_call(struct runner *runner)
{
    for (int node = 1; node < runner->program->node_count; node++)
        if (sub_rounds_includes(&runner->subs, runner->sub_round, node) &&
            !node_is_lost(runner, node))
            runner->is_lost[node] |=
                control_send(runner->control, node, &runner->call, sizeof runner->call) != 0;
}

static int count_nodes_left(struct runner *runner)
{
    int count = 0;

    for (int node = 0; node < runner->program->node_count; node++)
        count += !node_is_lost(runner, node);
    return count;
}

/* sub_rounds: how many of this round are over. */
static void print_progress(const struct runner *runner, int round, int sub_rounds)
{
    const struct pass_schedule *pass_schedule = &runner->pass_schedule;
    double done = round + (sub_rounds > 0 ? (double)sub_rounds / runner->subs.count : 0);

    if (done > 0)
        output_progress("%s: %d of %d rounds, about %.0f s left", pass_name(pass_schedule->kind),
                        round, pass_schedule->rounds,
                        ceil((clock_s() - runner->pass_s) * (pass_schedule->rounds - done) / done));
    else
        output_progress("%s: 0 of %d rounds", pass_name(pass_schedule->kind),
                        pass_schedule->rounds);
}

static void lead_round(struct runner *runner, int round)
{
    double begin_s = clock_s();

    runner->rounds++;
    runner->call.round = round;
    sub_rounds_begin(&runner->subs, runner->program, &runner->pass_schedule, round);
    for (runner->sub_round = 0; runner->sub_round < runner->subs.count; runner->sub_round++) {
        print_progress(runner, round, runner->sub_round);
        runner->call.number++;
        send_call(runner);
        if (sub_rounds_includes(&runner->subs, runner->sub_round, runner->program->node))
            run_sub_round(runner);
        receive_all(runner, receive_results);
        drop_lost_pairs(runner);
        runner->measured += runner->results.count;
        for (int i = 0; i < runner->results.count; i++)
            runner->results.items[i].sub_round = runner->call.number;
        linkreport_round(runner->program, &runner->pass_schedule, round, &runner->results,
                         runner->options->floor_percent);
        runner->results.count = 0;
    }
    runner->subs.is_split = false; /* all nodes take part in what comes */
    runner->pass_schedule.sub_rounds = NULL;
    runner->round_s = clock_s() - begin_s;
}

/* Whether there is time for another round like the longest so far. Pairs are repeated only as long
 * as time_to_leave is left for what comes after. */
static bool has_time(const struct runner *runner, int round, double longest_s)
{
    if (round < runner->pass_schedule.once)
        return !watch_time_is_up(1.2 * longest_s);
    return !watch_time_is_up(time_to_leave * runner->program->common.time_limit_s);
}

static void lead_pass(struct runner *runner, bool is_wanted)
{
    const struct pass_schedule *pass_schedule = &runner->pass_schedule;
    double longest_s = 0;
    int round = 0, least = pass_schedule->kind == PASS_LOCAL ? 1 : 2;
    bool has_too_few;

    runner->measured = 0;
    runner->pass_s = clock_s();
    for (; round < pass_schedule->rounds && has_time(runner, round, longest_s); round++) {
        if (count_nodes_left(runner) < least)
            break;
        lead_round(runner, round);
        longest_s = fmax(longest_s, runner->round_s);
    }
    has_too_few = round < pass_schedule->rounds && count_nodes_left(runner) < least;
    linkreport_pass(runner->program, pass_schedule, round, is_wanted && !has_too_few,
                    clock_s() - runner->pass_s, clock_s() - runner->start_s);
    if (has_too_few)
        linkreport_unknown("fewer than two nodes left: %d of %d rounds measured", round,
                           pass_schedule->rounds);
    else if (runner->measured == 0 && is_verbs(pass_schedule->kind))
        linkreport_unknown("%s: no two nodes share an InfiniBand or RoCE rail",
                           pass_name(pass_schedule->kind));
}

static bool is_limited(const struct rounds_plan *options)
{
    bool is_any = options->concurrency > 0 || options->leaf_concurrency > 0;

    for (size_t i = 0; i < options->blocks.count; i++)
        is_any |= options->blocks.uplink_pairs[i] > 0;
    return is_any;
}

static void lead_passes(struct runner *runner)
{
    struct program *program = runner->program;
    struct error err;

    for (size_t i = 0; i < runner->passes.count; i++) {
        bool is_wanted = i == 0 || runner->options->passes.count > 0;

        runner->call.pass = (int32_t)i;
        if (program->node_count < 2 && runner->passes.kinds[i] != PASS_LOCAL)
            continue; /* it was reported */
        if (is_verbs(runner->passes.kinds[i]) && verbs_missing()) {
            linkreport_unknown("%s: %s", pass_name(runner->passes.kinds[i]), verbs_missing());
            continue;
        }
        if (pass_is_for_all(runner->passes.kinds[i]) && is_limited(runner->options))
            linkreport_unknown(
                "%s needs all pairs at once; the concurrency limit does not allow it",
                pass_name(runner->passes.kinds[i]));
        else if (pass_schedule_make(program, runner->options, runner->passes.kinds[i],
                                    runner->most_rails, &runner->pass_schedule, &err) != 0)
            linkreport_unknown("%s: %s", pass_name(runner->passes.kinds[i]), err.text);
        else
            lead_pass(runner, is_wanted);
        pass_schedule_clear(&runner->pass_schedule);
    }
    for (int node = 0; node < program->node_count; node++)
        if (node_is_lost(runner, node))
            linkreport_lost(program, node, runner->rounds);
    runner->call = (struct call){0};
    send_call(runner);
}

/* ---------------------------------------------------------------- the others */

static void follow_first_node(struct runner *runner)
{
    struct error err;
    int pass = -1;

    while (control_receive(runner->control, 0, &runner->call, sizeof runner->call) == 0 &&
           runner->call.number > 0) {
        if (runner->call.pass != pass) {
            pass = runner->call.pass;
            pass_schedule_clear(&runner->pass_schedule);
            if (pass_schedule_make(runner->program, runner->options, runner->passes.kinds[pass],
                                   runner->most_rails, &runner->pass_schedule, &err) != 0)
                watch_fault("%s", err.text);
        }
        run_sub_round(runner);
        if (send_results(runner) != 0)
            break;
    }
    pass_schedule_clear(&runner->pass_schedule);
}

static void check_pairs(const struct program *program, const char *pairs)
{
    int nodes[2];

    for (int i = 0; pairs && pass_schedule_pair(program, pairs, i, nodes) >= 0; i++)
        if (nodes[0] < 0 || nodes[1] < 0 || nodes[0] == nodes[1])
            linkreport_unknown(
                "cannot measure pair %d of %s: expected two different nodes that take part", i + 1,
                pairs);
}

static bool is_only_local(const struct passes *passes)
{
    return passes->count == 1 && passes->kinds[0] == PASS_LOCAL;
}

static void open_runner(struct runner *runner)
{
    struct program *program = runner->program;
    struct error err;

    program_phase(program, "links open");
    choose_rails(program, runner->options->rails);
    choose_passes(runner);
    runner->is_lost = watch_allocate((size_t)program->node_count, sizeof *runner->is_lost);
    runner->kinds = watch_allocate((size_t)program->node_count, sizeof *runner->kinds);
    rails_open(program, &runner->rails, &runner->results);
    runner->most_rails = runner->rails.own.count;
    sub_rounds_open(&runner->subs, runner->options, program->node_count);
    runner->control = control_open(program, &err);
    if (!runner->control)
        watch_fault("%s", err.text);
}

void rounds_run(struct program *program, const struct rounds_plan *plan)
{
    struct runner runner = {.program = program, .options = plan, .start_s = clock_s()};

    if (program->rank == 0) {
        check_pairs(program, plan->pairs);
        if (program->node_count < 2 && !is_only_local(&plan->passes))
            linkreport_unknown("only %s takes part: links need two nodes", program->node_name[0]);
    }
    if (program->is_leader)
        open_runner(&runner);
    if (plan->leaves_mpi)
        program_leave_mpi(program);
    if (!program->is_leader)
        return;
    if (collect_rails(&runner) == 0) {
        if (program->node == 0)
            lead_passes(&runner);
        else
            follow_first_node(&runner);
    }
    rails_close(&runner.rails);
    control_close(runner.control);
    free(runner.results.items);
    sub_rounds_close(&runner.subs);
    free(runner.is_lost);
    free(runner.kinds);
}
