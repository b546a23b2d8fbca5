/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/links/rounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "validate/battery/links/course.h"
#include "validate/battery/links/sub_rounds.h"
#include "validate/battery/links/report/kinds.h"
#include "validate/battery/links/report/linkreport.h"
#include "validate/battery/links/meeting/meeting.h"
#include "validate/battery/links/meeting/overlap.h"
#include "validate/battery/verbs/bout.h"
#include "validate/battery/watch/warden.h" /* clock_s() */

/* What the first leader calls. */
struct turn {
    int32_t number; /* of the round in the run, from 1; 0: all is over */
    int32_t pass, round;
};

/* The share of the time that all pairs once more must leave. */
static const double time_to_leave = 0.4;

struct play {
    struct program *program;
    const struct rounds_plan *options;
    struct passes passes;
    struct lines *lines;
    struct rails rails;
    struct link_results results;
    struct course course;
    struct turn turn;
    int measured;             /* results of the pass */
    int most_rails;           /* of a node; others than the first one know their own alone */
    struct rail_kinds *kinds; /* node_count, of the first node */
    struct sub_rounds subs;   /* of the first node */
    int sub_round;            /* of the round that runs */
    int rounds;               /* of the run, begun so far */
    bool *has_gone;           /* node_count, of the first node: lost for the run */
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

static void choose_passes(struct play *play)
{
    play->passes = play->options->passes;
    if (play->passes.count > 0)
        return;
    play->passes.kinds[play->passes.count++] = PASS_PAIRS;
    if (!play->options->is_quick && !play->options->pairs)
        play->passes.kinds[play->passes.count++] = PASS_TOGETHER;
}

/* ---------------------------------------------------------------- to the first node */

static bool node_is_gone(struct play *play, int node)
{
    play->has_gone[node] |= watch_is_lost(play->program->leader_of_node[node]);
    return play->has_gone[node];
}

/* Waits until each node that has a part in the sub-round and is still there has a word, and lets
 * take() read it; take() returns -1 when the line is lost. */
static void hear_all(struct play *play, int (*take)(struct play *play, int node))
{
    int count = play->program->node_count, missing;
    bool *is_heard = calloc((size_t)count, sizeof *is_heard);

    if (!is_heard)
        watch_fault("out of memory");
    for (int node = 0; node < count; node++)
        is_heard[node] = !sub_rounds_calls(&play->subs, play->sub_round, node);
    for (;;) {
        missing = 0;
        for (int node = 1; node < count; node++) {
            if (is_heard[node] || node_is_gone(play, node))
                continue;
            if (!lines_has_word(play->lines, node)) {
                missing++;
                continue;
            }
            play->has_gone[node] |= take(play, node) != 0;
            is_heard[node] = true;
        }
        if (missing == 0)
            break;
        lines_wait(play->lines, is_heard);
    }
    free(is_heard);
}

static int take_results(struct play *play, int node)
{
    struct link_results *results = &play->results;
    int32_t count;

    if (lines_receive(play->lines, node, &count, sizeof count) != 0)
        return -1;
    for (int i = 0; i < count; i++) {
        struct link_result *result = results_add(results, node, -1, "");

        if (lines_receive(play->lines, node, result, sizeof *result) != 0) {
            results->count--;
            return -1;
        }
    }
    return 0;
}

static int send_results(struct play *play)
{
    int32_t count = play->results.count;
    int rv = lines_send(play->lines, 0, &count, sizeof count);

    if (rv == 0 && count > 0)
        rv = lines_send(play->lines, 0, play->results.items,
                        (size_t)count * sizeof *play->results.items);
    play->results.count = 0;
    return rv;
}

/* What a lost node made of a meeting is no fault of the path. */
static void drop_broken(struct play *play)
{
    struct link_results *results = &play->results;
    int left = 0;

    for (int i = 0; i < results->count; i++) {
        const struct link_result *result = &results->items[i];
        bool is_broken = *result->failure && result->to >= 0 &&
                         (node_is_gone(play, result->from) || node_is_gone(play, result->to));

        if (!is_broken)
            results->items[left++] = *result;
    }
    results->count = left;
}

static int take_offers(struct play *play, int node)
{
    struct offers offers;

    if (lines_receive(play->lines, node, &offers, sizeof offers) != 0)
        return -1;
    kinds_note(&offers, &play->kinds[node]);
    sub_rounds_note(&play->subs, node, &offers);
    if (offers.count > play->most_rails)
        play->most_rails = offers.count;
    if (play->options->tells_speeds)
        linkreport_speeds(play->program, node, &offers);
    return 0;
}

/* Everybody's rails. Returns 0, or -1 when the first node is lost. */
static int introduce(struct play *play)
{
    if (play->program->node > 0)
        return lines_send(play->lines, 0, &play->rails.own, sizeof play->rails.own) != 0 ||
                       send_results(play) != 0
                   ? -1
                   : 0;
    if (play->options->tells_speeds)
        linkreport_speeds(play->program, 0, &play->rails.own);
    kinds_note(&play->rails.own, &play->kinds[0]);
    sub_rounds_note(&play->subs, 0, &play->rails.own);
    hear_all(play, take_offers);
    sub_rounds_ready(&play->subs);
    kinds_report(play->program, play->kinds);
    hear_all(play, take_results);
    linkreport_states(play->program, &play->results);
    play->results.count = 0;
    return 0;
}

/* ---------------------------------------------------------------- a round */

static int take_ready(struct play *play, int node)
{
    char ready;

    return lines_receive(play->lines, node, &ready, 1);
}

/* All nodes begin at once: when the last one is ready the first node says so. */
static void wait_for_start(void *context, int direction)
{
    struct play *play = context;
    char start = 1;

    (void)direction;
    if (play->program->node > 0) {
        if (lines_send(play->lines, 0, &start, 1) == 0)
            lines_receive(play->lines, 0, &start, 1);
        return;
    }
    hear_all(play, take_ready);
    for (int node = 1; node < play->program->node_count; node++)
        if (!node_is_gone(play, node))
            play->has_gone[node] |= lines_send(play->lines, node, &start, 1) != 0;
}

static bool is_verbs(enum pass_kind kind)
{
    return kind == PASS_VERBS || kind == PASS_LOCAL;
}

static void hold(struct play *play)
{
    struct program *program = play->program;
    const struct course *course = &play->course;
    int round = play->turn.round, partner = course_partner(program, course, round, program->node);
    struct overlap_start start = {wait_for_start, play};
    struct meeting meeting = {.program = program,
                              .lines = play->lines,
                              .rails = &play->rails,
                              .plan = course_plan(course, round),
                              .results = &play->results,
                              .partner = partner,
                              .turn = (uint32_t)play->turn.number};

    program_phase(program, "links %s round %d of %d", pass_name(course->kind), round + 1,
                  course->rounds);
    if (course->kind == PASS_LOCAL) {
        verbs_hold_local(program, &play->rails, round, &course->plan, &play->options->verbs,
                         &play->results);
    } else if (partner >= 0 && !watch_is_lost(program->leader_of_node[partner])) {
        meeting.is_first = course_is_first(program, course, round, program->node);
        if (course->kind == PASS_PAIRS)
            meeting_hold(&meeting);
        else if (course->kind == PASS_VERBS)
            verbs_hold(&meeting, &play->options->verbs);
        else
            overlap_hold(&meeting, pass_is_for_all(course->kind) ? &start : NULL);
    } else if (pass_is_for_all(course->kind)) {
        wait_for_start(play, 0);
        wait_for_start(play, 1);
    }
}

/* ---------------------------------------------------------------- the first node */

static void send_turn(struct play *play)
{
    for (int node = 1; node < play->program->node_count; node++)
        if (sub_rounds_calls(&play->subs, play->sub_round, node) && !node_is_gone(play, node))
            play->has_gone[node] |=
                lines_send(play->lines, node, &play->turn, sizeof play->turn) != 0;
}

static int count_left(struct play *play)
{
    int count = 0;

    for (int node = 0; node < play->program->node_count; node++)
        count += !node_is_gone(play, node);
    return count;
}

/* All nodes have a part in what comes. */
static void call_all(struct play *play)
{
    play->subs.is_split = false;
    play->course.sub_rounds = NULL;
}

/* sub_rounds: of the round that runs, so many are over. */
static void tell_progress(const struct play *play, int round, int sub_rounds)
{
    const struct course *course = &play->course;
    double done = round + (sub_rounds > 0 ? (double)sub_rounds / play->subs.count : 0);

    if (done > 0)
        output_progress("%s: %d of %d rounds, about %.0f s left", pass_name(course->kind), round,
                        course->rounds,
                        ceil((clock_s() - play->pass_s) * (course->rounds - done) / done));
    else
        output_progress("%s: 0 of %d rounds", pass_name(course->kind), course->rounds);
}

static void conduct_round(struct play *play, int round)
{
    double begin_s = clock_s();

    play->rounds++;
    play->turn.round = round;
    sub_rounds_begin(&play->subs, play->program, &play->course, round);
    for (play->sub_round = 0; play->sub_round < play->subs.count; play->sub_round++) {
        tell_progress(play, round, play->sub_round);
        play->turn.number++;
        send_turn(play);
        if (sub_rounds_calls(&play->subs, play->sub_round, play->program->node))
            hold(play);
        hear_all(play, take_results);
        drop_broken(play);
        play->measured += play->results.count;
        for (int i = 0; i < play->results.count; i++)
            play->results.items[i].turn = play->turn.number;
        linkreport_round(play->program, &play->course, round, &play->results,
                         play->options->floor_percent);
        play->results.count = 0;
    }
    call_all(play);
    play->round_s = clock_s() - begin_s;
}

/* Whether there is time for another round like the longest so far. All pairs once more only as long
 * as enough of it is left for what comes after. */
static bool has_time(const struct play *play, int round, double longest_s)
{
    if (round < play->course.once)
        return !watch_time_is_up(1.2 * longest_s);
    return !watch_time_is_up(time_to_leave * play->program->common.time_limit_s);
}

static void conduct_pass(struct play *play, bool is_wanted)
{
    const struct course *course = &play->course;
    double longest_s = 0;
    int round = 0, least = course->kind == PASS_LOCAL ? 1 : 2;
    bool is_lonely;

    play->measured = 0;
    play->pass_s = clock_s();
    for (; round < course->rounds && has_time(play, round, longest_s); round++) {
        if (count_left(play) < least)
            break;
        conduct_round(play, round);
        longest_s = fmax(longest_s, play->round_s);
    }
    is_lonely = round < course->rounds && count_left(play) < least;
    linkreport_pass(play->program, course, round, is_wanted && !is_lonely, clock_s() - play->pass_s,
                    clock_s() - play->start_s);
    if (is_lonely)
        linkreport_unknown("fewer than two nodes are left: %d of %d rounds measured", round,
                           course->rounds);
    else if (play->measured == 0 && is_verbs(course->kind))
        linkreport_unknown("%s: no rail that two nodes have in common is InfiniBand or RoCE",
                           pass_name(course->kind));
}

static bool is_limited(const struct rounds_plan *options)
{
    return options->concurrency > 0 || options->leaf_concurrency > 0 ||
           options->uplink_concurrency > 0;
}

static void conduct(struct play *play)
{
    struct program *program = play->program;
    struct error err;

    for (size_t i = 0; i < play->passes.count; i++) {
        bool is_wanted = i == 0 || play->options->passes.count > 0;

        play->turn.pass = (int32_t)i;
        if (program->node_count < 2 && play->passes.kinds[i] != PASS_LOCAL)
            continue; /* that was said */
        if (is_verbs(play->passes.kinds[i]) && verbs_missing()) {
            linkreport_unknown("%s: %s", pass_name(play->passes.kinds[i]), verbs_missing());
            continue;
        }
        if (pass_is_for_all(play->passes.kinds[i]) && is_limited(play->options))
            linkreport_unknown("%s needs all pairs at once, which the concurrency forbids",
                               pass_name(play->passes.kinds[i]));
        else if (course_make(program, play->options, play->passes.kinds[i], play->most_rails,
                             &play->course, &err) != 0)
            linkreport_unknown("%s: %s", pass_name(play->passes.kinds[i]), err.text);
        else
            conduct_pass(play, is_wanted);
        course_clear(&play->course);
    }
    for (int node = 0; node < program->node_count; node++)
        if (node_is_gone(play, node))
            linkreport_lost(program, node, play->rounds);
    play->turn = (struct turn){0};
    send_turn(play);
}

/* ---------------------------------------------------------------- the others */

static void follow(struct play *play)
{
    struct error err;
    int pass = -1;

    while (lines_receive(play->lines, 0, &play->turn, sizeof play->turn) == 0 &&
           play->turn.number > 0) {
        if (play->turn.pass != pass) {
            pass = play->turn.pass;
            course_clear(&play->course);
            if (course_make(play->program, play->options, play->passes.kinds[pass],
                            play->most_rails, &play->course, &err) != 0)
                watch_fault("%s", err.text);
        }
        hold(play);
        if (send_results(play) != 0)
            break;
    }
    course_clear(&play->course);
}

static void check_pairs(const struct program *program, const char *pairs)
{
    int nodes[2];

    for (int i = 0; pairs && course_pair(program, pairs, i, nodes) >= 0; i++)
        if (nodes[0] < 0 || nodes[1] < 0 || nodes[0] == nodes[1])
            linkreport_unknown("pair %d of %s cannot be measured: both nodes must take part, and "
                               "differ",
                               i + 1, pairs);
}

static bool is_only_local(const struct passes *passes)
{
    return passes->count == 1 && passes->kinds[0] == PASS_LOCAL;
}

static void open_play(struct play *play)
{
    struct program *program = play->program;
    struct error err;

    program_phase(program, "links open");
    choose_rails(program, play->options->rails);
    choose_passes(play);
    play->has_gone = calloc((size_t)program->node_count, sizeof *play->has_gone);
    play->kinds = calloc((size_t)program->node_count, sizeof *play->kinds);
    if (!play->has_gone || !play->kinds)
        watch_fault("out of memory");
    rails_open(program, &play->rails, &play->results);
    play->most_rails = play->rails.own.count;
    sub_rounds_open(&play->subs, play->options, program->node_count);
    play->lines = lines_open(program, &err);
    if (!play->lines)
        watch_fault("%s", err.text);
}

void rounds_play(struct program *program, const struct rounds_plan *plan)
{
    struct play play = {.program = program, .options = plan, .start_s = clock_s()};

    if (program->rank == 0) {
        check_pairs(program, plan->pairs);
        if (program->node_count < 2 && !is_only_local(&plan->passes))
            linkreport_unknown("only %s takes part: links need two nodes", program->node_name[0]);
    }
    if (program->is_leader)
        open_play(&play);
    if (plan->leaves_mpi)
        program_leave_mpi(program);
    if (!program->is_leader)
        return;
    if (introduce(&play) == 0) {
        if (program->node == 0)
            conduct(&play);
        else
            follow(&play);
    }
    rails_close(&play.rails);
    lines_close(play.lines);
    free(play.results.items);
    sub_rounds_close(&play.subs);
    free(play.has_gone);
    free(play.kinds);
}
