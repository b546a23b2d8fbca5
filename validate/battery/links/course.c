/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/links/course.h"

#include <stdlib.h>
#include <string.h>

/* Of a second look at all pairs fewer rounds do: it asks of nodes, not of pairs. So they do when
 * the time is over. */
static const double SECOND_CONFIDENCE = 0.99, LEAST_CONFIDENCE = 0.99;

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
    /* Flows that are to run together do not go on one by one. */
    plan.most_samples = is_pairs ? 3 * plan.samples : plan.samples;
    if (pass_is_for_all(kind))
        plan.samples = plan.most_samples = 2 * plan.samples;
    return plan;
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

int course_pair(const struct program *program, const char *pairs, int index, int nodes[2])
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
static int take_pairs(const struct program *program, const char *pairs, struct course *course,
                      struct error *err)
{
    int nodes[2], round, count = program->node_count;

    for (int i = 0; (round = course_pair(program, pairs, i, nodes)) >= 0; i++)
        course->rounds = round + 1;
    course->partners = malloc((size_t)course->rounds * (size_t)count * sizeof *course->partners);
    if (!course->partners)
        watch_fault("out of memory");
    for (int i = 0; i < course->rounds * count; i++)
        course->partners[i] = SCHEDULE_BYE;
    for (int i = 0; (round = course_pair(program, pairs, i, nodes)) >= 0; i++) {
        int *partners = &course->partners[round * count];

        if (nodes[0] < 0 || nodes[1] < 0 || nodes[0] == nodes[1])
            continue;
        for (int k = 0; k < 2; k++) {
            if (partners[nodes[k]] != SCHEDULE_BYE)
                return error_set(err, "%s is in two pairs at once of %s",
                                 program->node_name[nodes[k]], pairs);
            partners[nodes[k]] = nodes[1 - k];
        }
    }
    return 0;
}

static bool is_second_look(const struct rounds_plan *options, enum pass_kind kind)
{
    bool has_pairs = false;

    for (size_t i = 0; i < options->passes.count; i++)
        has_pairs |= options->passes.kinds[i] == PASS_PAIRS;
    return kind == PASS_TOGETHER || (kind == PASS_VERBS && has_pairs);
}

static int make_schedule(const struct program *program, const struct rounds_plan *options,
                         struct course *course, struct error *err)
{
    struct schedule_request request = {.node_count = program->node_count,
                                       .blocks = course->blocks,
                                       .most_rounds = (int)options->rounds,
                                       .confidence = options->confidence};

    request.kind = course->kind == PASS_UPLINKS     ? SCHEDULE_UPLINKS
                   : course->kind == PASS_BISECTION ? SCHEDULE_BISECTION
                                                    : SCHEDULE_PAIRS;
    if (is_second_look(options, course->kind) &&
        (request.confidence == 0 || request.confidence > SECOND_CONFIDENCE))
        request.confidence = SECOND_CONFIDENCE;
    if (schedule_make(&request, &course->schedule, err) != 0)
        return -1;
    course->rounds = schedule_rounds(course->schedule);
    return 0;
}

static void repeat(const struct program *program, struct course *course,
                   const struct rounds_plan *options)
{
    int enough = schedule_rounds_for(program->node_count, LEAST_CONFIDENCE);

    course->once = course->enough = course->rounds;
    if (!course->partners && !pass_is_for_all(course->kind) && enough < course->once)
        course->enough = enough;
    course->times = course->kind == PASS_PAIRS && options->times > 1 ? (int)options->times : 1;
    course->rounds *= course->times;
}

int course_make(const struct program *program, const struct rounds_plan *options,
                enum pass_kind kind, int rails, struct course *course, struct error *err)
{
    *course = (struct course){.kind = kind,
                              .plan = make_plan(options, kind, options->is_quick),
                              .plan_again = make_plan(options, kind, true)};
    if (kind == PASS_LOCAL) {
        course->once = course->enough = course->rounds = rails > 1 ? rails : 1;
        course->times = 1;
        return 0;
    }
    if (options->blocks.count > 0) {
        course->blocks = calloc((size_t)program->node_count, sizeof *course->blocks);
        course->block_names = options->blocks.names;
        if (!course->blocks)
            watch_fault("out of memory");
        for (int node = 0; node < program->node_count; node++)
            course->blocks[node] = blocks_of(&options->blocks, program->node_name[node]);
    }
    if (!options->pairs || pass_is_for_all(kind)) {
        if (make_schedule(program, options, course, err) != 0)
            return -1;
    } else if (take_pairs(program, options->pairs, course, err) != 0) {
        return -1;
    } else if (options->rounds > 0 && options->rounds < course->rounds) {
        course->rounds = (int)options->rounds;
    }
    repeat(program, course, options);
    return 0;
}

void course_clear(struct course *course)
{
    schedule_destroy(course->schedule);
    free(course->blocks);
    free(course->partners);
    *course = (struct course){0};
}

int course_round(const struct course *course, int round)
{
    return schedule_round_again(course->once, course->times, round);
}

const struct path_plan *course_plan(const struct course *course, int round)
{
    return round < course->once ? &course->plan : &course->plan_again;
}

int course_partner(const struct program *program, const struct course *course, int round, int node)
{
    if (course->kind == PASS_LOCAL)
        return SCHEDULE_BYE;
    if (course->partners)
        return course->partners[course_round(course, round) * program->node_count + node];
    return schedule_partner(course->schedule, course_round(course, round), node);
}

static int pairs_leaving(const struct program *program, const struct course *course, int round,
                         int node)
{
    int block = course->blocks[node], count = 0;

    for (int other = 0; other < program->node_count; other++) {
        int partner;

        if (course->blocks[other] != block || course->sub_rounds[other] != course->sub_rounds[node])
            continue;
        partner = course_partner(program, course, round, other);
        count += partner != SCHEDULE_BYE && course->blocks[partner] != block;
    }
    return count;
}

int course_pair_load(const struct program *program, const struct course *course, int round,
                     int node)
{
    int partner, own, other;

    if (!course->schedule)
        return 0;
    if (!course->sub_rounds || !course->blocks)
        return schedule_pair_load(course->schedule, course_round(course, round), node);
    partner = course_partner(program, course, round, node);
    if (partner == SCHEDULE_BYE || course->blocks[partner] == course->blocks[node])
        return 0;
    own = pairs_leaving(program, course, round, node);
    other = pairs_leaving(program, course, round, partner);
    return own > other ? own : other;
}

bool course_is_first(const struct program *program, const struct course *course, int round,
                     int node)
{
    if (course->partners)
        return node < course_partner(program, course, round, node);
    return schedule_is_first(course->schedule, course_round(course, round), node);
}
