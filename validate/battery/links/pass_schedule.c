/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/pass_schedule.h"

#include <stdlib.h>
#include <string.h>

#include "lib/constants/schedule_constants.h"

static struct path_plan make_plan(const struct rounds_plan *options, enum pass_kind kind,
                                  bool is_quick)
{
    bool is_pairs = kind == PASS_PAIRS || kind == PASS_VERBS;
    struct path_plan plan = {
        .samples = is_quick ? 4 : 5,
        .sample_s = is_quick ? 0.04 : 0.08,
        .warmup_s = is_quick ? 0.02 : 0.03,
        .latency_s = !is_pairs  ? 0
                     : is_quick ? 0.01
                                : 0.02,
        .sample_bytes = options->sample_bytes,
        .connect_s = is_quick ? 3 : 4,
        .timeout_s = is_pairs ? 5 : 10, /* one may wait for all */
    };

    if (options->repeats > 0)
        plan.samples = (int)options->repeats;
    /* Flows that run together are not extended one by one. */
    plan.most_samples = is_pairs ? 3 * plan.samples : plan.samples;
    if (pass_is_for_all(kind))
        plan.samples = plan.most_samples = 2 * plan.samples;
    return plan;
}

/* Returns the number of a node by its name, length characters; -1: takes no part. */
static int node_number(const struct program *program, const char *name, size_t length)
{
    for (int node = 0; node < program->node_count; node++)
        if (strlen(program->node_name[node]) == length &&
            strncmp(program->node_name[node], name, length) == 0)
            return node;
    return -1;
}

int pass_schedule_pair(const struct program *program, const char *pairs, int index, int nodes[2])
{
    int round = 0;

    for (; *pairs; index--) {
        size_t length = strcspn(pairs, ",+"), first = strcspn(pairs, ":");

        if (index == 0) {
            nodes[0] = node_number(program, pairs, first);
            nodes[1] = node_number(program, pairs + first + 1, length - first - 1);
            return round;
        }
        pairs += length;
        round += *pairs == ',';
        pairs += *pairs != '\0';
    }
    return -1;
}

/* Puts the pairs that can be measured into the table of partners. */
static int set_partners(const struct program *program, const char *pairs,
                        struct pass_schedule *pass_schedule, struct error *err)
{
    int nodes[2], round, count = program->node_count;

    for (int i = 0; (round = pass_schedule_pair(program, pairs, i, nodes)) >= 0; i++)
        pass_schedule->rounds = round + 1;
    pass_schedule->partners = watch_allocate((size_t)pass_schedule->rounds * (size_t)count,
                                             sizeof *pass_schedule->partners);
    for (int i = 0; i < pass_schedule->rounds * count; i++)
        pass_schedule->partners[i] = SCHEDULE_BYE;
    for (int i = 0; (round = pass_schedule_pair(program, pairs, i, nodes)) >= 0; i++) {
        int *partners = &pass_schedule->partners[round * count];

        if (nodes[0] < 0 || nodes[1] < 0 || nodes[0] == nodes[1])
            continue;
        for (int k = 0; k < 2; k++) {
            if (partners[nodes[k]] != SCHEDULE_BYE)
                return error_set(err, "%s is in two simultaneous pairs of %s",
                                 program->node_name[nodes[k]], pairs);
            partners[nodes[k]] = nodes[1 - k];
        }
    }
    return 0;
}

static bool is_second_pass(const struct rounds_plan *options, enum pass_kind kind)
{
    bool has_pairs = false;

    for (size_t i = 0; i < options->passes.count; i++)
        has_pairs |= options->passes.kinds[i] == PASS_PAIRS;
    return kind == PASS_TOGETHER || (kind == PASS_VERBS && has_pairs);
}

static int make_schedule(const struct program *program, const struct rounds_plan *options,
                         struct pass_schedule *pass_schedule, struct error *err)
{
    struct schedule_request request = {.node_count = program->node_count,
                                       .blocks = pass_schedule->blocks,
                                       .most_rounds = (int)options->rounds,
                                       .confidence = options->confidence};

    request.kind = pass_schedule->kind == PASS_UPLINKS     ? SCHEDULE_UPLINKS
                   : pass_schedule->kind == PASS_BISECTION ? SCHEDULE_BISECTION
                                                           : SCHEDULE_PAIRS;
    if (is_second_pass(options, pass_schedule->kind) &&
        (request.confidence == 0 || request.confidence > SCHEDULE_SECOND_CONFIDENCE))
        request.confidence = SCHEDULE_SECOND_CONFIDENCE;
    if (schedule_make(&request, &pass_schedule->schedule, err) != 0)
        return -1;
    pass_schedule->rounds = schedule_rounds(pass_schedule->schedule);
    return 0;
}

static void repeat(const struct program *program, struct pass_schedule *pass_schedule,
                   const struct rounds_plan *options)
{
    int enough = schedule_rounds_for(program->node_count, SCHEDULE_LEAST_CONFIDENCE);

    pass_schedule->once = pass_schedule->enough = pass_schedule->rounds;
    if (!pass_schedule->partners && !pass_is_for_all(pass_schedule->kind) &&
        enough < pass_schedule->once)
        pass_schedule->enough = enough;
    if (options->times > 1 && (pass_schedule->kind == PASS_PAIRS ||
                               (pass_schedule->kind == PASS_VERBS && pass_schedule->partners)))
        pass_schedule->times = (int)options->times;
    else
        pass_schedule->times = 1;
    pass_schedule->rounds *= pass_schedule->times;
}

int pass_schedule_make(const struct program *program, const struct rounds_plan *options,
                       enum pass_kind kind, int rails, struct pass_schedule *pass_schedule,
                       struct error *err)
{
    *pass_schedule = (struct pass_schedule){.kind = kind,
                                            .plan = make_plan(options, kind, options->is_quick),
                                            .plan_again = make_plan(options, kind, true)};
    if (kind == PASS_LOCAL) {
        pass_schedule->once = pass_schedule->enough = pass_schedule->rounds = rails > 1 ? rails : 1;
        pass_schedule->times = 1;
        return 0;
    }
    if (options->blocks.count > 0) {
        pass_schedule->blocks =
            watch_allocate((size_t)program->node_count, sizeof *pass_schedule->blocks);
        pass_schedule->block_names = options->blocks.names;
        for (int node = 0; node < program->node_count; node++)
            pass_schedule->blocks[node] = blocks_of(&options->blocks, program->node_name[node]);
    }
    if (!options->pairs || pass_is_for_all(kind)) {
        if (make_schedule(program, options, pass_schedule, err) != 0)
            return -1;
    } else if (set_partners(program, options->pairs, pass_schedule, err) != 0) {
        return -1;
    } else if (options->rounds > 0 && options->rounds < pass_schedule->rounds) {
        pass_schedule->rounds = (int)options->rounds;
    }
    repeat(program, pass_schedule, options);
    return 0;
}

void pass_schedule_clear(struct pass_schedule *pass_schedule)
{
    schedule_destroy(pass_schedule->schedule);
    free(pass_schedule->blocks);
    free(pass_schedule->partners);
    *pass_schedule = (struct pass_schedule){0};
}

/* Returns which of the first `once` rounds that round repeats. */
static int round_of(const struct pass_schedule *pass_schedule, int round)
{
    return schedule_round_again(pass_schedule->once, pass_schedule->times, round);
}

const struct path_plan *pass_schedule_plan(const struct pass_schedule *pass_schedule, int round)
{
    return round < pass_schedule->once ? &pass_schedule->plan : &pass_schedule->plan_again;
}

int pass_schedule_partner(const struct program *program, const struct pass_schedule *pass_schedule,
                          int round, int node)
{
    if (pass_schedule->kind == PASS_LOCAL)
        return SCHEDULE_BYE;
    if (pass_schedule->partners)
        return pass_schedule->partners[round_of(pass_schedule, round) * program->node_count + node];
    return schedule_partner(pass_schedule->schedule, round_of(pass_schedule, round), node);
}

static int pairs_leaving(const struct program *program, const struct pass_schedule *pass_schedule,
                         int round, int node)
{
    int block = pass_schedule->blocks[node], count = 0;

    for (int other = 0; other < program->node_count; other++) {
        int partner;

        if (pass_schedule->blocks[other] != block ||
            pass_schedule->sub_rounds[other] != pass_schedule->sub_rounds[node])
            continue;
        partner = pass_schedule_partner(program, pass_schedule, round, other);
        count += partner != SCHEDULE_BYE && pass_schedule->blocks[partner] != block;
    }
    return count;
}

int pass_schedule_pair_load(const struct program *program,
                            const struct pass_schedule *pass_schedule, int round, int node)
{
    int partner, own, other;

    if (!pass_schedule->schedule)
        return 0;
    if (!pass_schedule->sub_rounds || !pass_schedule->blocks)
        return schedule_pair_load(pass_schedule->schedule, round_of(pass_schedule, round), node);
    partner = pass_schedule_partner(program, pass_schedule, round, node);
    if (partner == SCHEDULE_BYE || pass_schedule->blocks[partner] == pass_schedule->blocks[node])
        return 0;
    own = pairs_leaving(program, pass_schedule, round, node);
    other = pairs_leaving(program, pass_schedule, round, partner);
    return own > other ? own : other;
}

bool pass_schedule_is_first(const struct program *program,
                            const struct pass_schedule *pass_schedule, int round, int node)
{
    if (pass_schedule->partners)
        return node < pass_schedule_partner(program, pass_schedule, round, node);
    return schedule_is_first(pass_schedule->schedule, round_of(pass_schedule, round), node);
}
