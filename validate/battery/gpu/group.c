/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/gpu/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/constants/battery_constants.h"
#include "validate/schedule/tournament.h"

enum {
    TIMES_MOST = 200,
    AGAIN = 2,
    BROKEN_ROUNDS = 3 /* of pairs, in which each meets two others: each may take a deadline */
};

/* Devices that make a communicator; of a group across nodes this node's share of it. */
struct group {
    unsigned members; /* of this node, a bit each */
    int base;         /* rank of the first */
    bool is_root;     /* its first member makes the id */
    struct nccl_id id;
    double highest, lowest; /* of the last answers of all its members */
    int told;               /* the device that result.text is of */
    bool has_failed;
    struct group_result result;
};

struct run {
    struct crew *crew;
    struct group groups[WORKERS / 2 + 1];
    int count;
    bool is_of_pairs;
    bool *is_in; /* across nodes: the nodes of this node's group; NULL: within */
    int root;    /* the node whose first member makes the id */
};

/* What the nodes of a group tell each other after each step. */
struct told {
    double highest, lowest;
    int has_failed;
    struct nccl_id id;
};

/* ---------------------------------------------------------------- a step */

static int first_of(unsigned set)
{
    return __builtin_ctz(set);
}

static struct group *group_of(struct run *run, int device)
{
    for (int i = 0; i < run->count; i++)
        if (run->groups[i].members >> device & 1)
            return &run->groups[i];
    return NULL;
}

/* An error says more than that others waited for what had it. */
static bool outranks(enum worker_outcome outcome, enum worker_outcome than)
{
    static const int order[] = {
        [WORKER_DONE] = 0,      [WORKER_WRONG] = 1,      [WORKER_SLOW] = 2,  [WORKER_HUNG] = 3,
        [WORKER_NO_DEVICE] = 4, [WORKER_NOT_TESTED] = 5, [WORKER_ERROR] = 6, [WORKER_DIED] = 7};

    return order[outcome] > order[than];
}

/* All come together for the first time: the library loads its kernels then. */
static double limit_of(const struct run *run, enum worker_task task)
{
    bool is_long = (task == TASK_GROUP_ID || task == TASK_GROUP_JOIN) && !run->is_of_pairs;

    return run->crew->deadline_s * (is_long ? GPU_OPEN_LIMIT : 1);
}

static void take(struct run *run, int device, const struct worker_request *request,
                 const struct worker_answer *answer)
{
    struct group *group = group_of(run, device);
    struct group_result *result = &group->result;
    int part = run->crew->node->devices[device].part;

    if (answer->outcome == WORKER_DONE || answer->outcome == WORKER_WRONG) {
        if (answer->value > group->highest)
            group->highest = answer->value;
        if (answer->value < group->lowest || group->lowest == 0)
            group->lowest = answer->value;
        if (request->task == TASK_GROUP_ID)
            group->id = answer->id;
    } else {
        group->has_failed = true;
    }
    if (answer->outcome == WORKER_WRONG) {
        result->wrong_devices |= 1U << device;
        result->wrong += answer->wrong;
    }
    if (!outranks(answer->outcome, result->outcome) &&
        !(answer->outcome == WORKER_WRONG && result->outcome == WORKER_WRONG &&
          result->collective == request->kind && device < group->told))
        return;
    group->told = device;
    result->outcome = answer->outcome;
    result->collective = request->task == TASK_GROUP_RUN ? request->kind : -1;
    if (answer->outcome == WORKER_WRONG)
        snprintf(result->text, sizeof result->text,
                 "the first one on gpu%d is %llu: found 0x%llx, expected 0x%llx", part,
                 answer->index, answer->found, answer->expected);
    else if (answer->outcome == WORKER_HUNG)
        snprintf(result->text, sizeof result->text, "did not end in %g s",
                 limit_of(run, request->task));
    else if (answer->outcome == WORKER_SLOW)
        snprintf(result->text, sizeof result->text,
                 "no answer in time, but a process was at work or kept from it");
    else
        snprintf(result->text, sizeof result->text, "gpu%d: %.100s", part,
                 *answer->text ? answer->text : "its process ended");
}

/* What the other nodes of the group have found. */
static void share(struct run *run, struct group *group)
{
    struct program *program = run->crew->program;
    struct told own = {0}, *all = calloc((size_t)program->node_count, sizeof *all);

    if (!all)
        watch_fault("out of memory");
    if (group)
        own = (struct told){group->highest, group->lowest, group->has_failed, group->id};
    program_allgather(program, &own, all, sizeof own, program->leaders);
    for (int i = 0; group && i < program->node_count; i++) {
        if (!run->is_in[i])
            continue;
        if (all[i].highest > group->highest)
            group->highest = all[i].highest;
        if (all[i].lowest > 0 && (group->lowest == 0 || all[i].lowest < group->lowest))
            group->lowest = all[i].lowest;
        group->has_failed = group->has_failed || all[i].has_failed;
        if (i == run->root)
            group->id = all[i].id;
    }
    free(all);
}

/* Asks the members of the groups that have not failed; the bytes and how often are each group's
 * own. Once one has failed the group's processes are ended: what they wait for does not come. */
static void step(struct run *run, const struct worker_request *request, const int *amounts,
                 const double *bytes)
{
    struct crew *crew = run->crew;
    struct worker_answer answer;
    double limit_s =
        crew->deadline_s *
        (request->task == TASK_GROUP_ID || request->task == TASK_GROUP_JOIN ? GPU_OPEN_LIMIT : 1);
    int index;

    for (int i = 0; i < run->count; i++) {
        struct group *group = &run->groups[i];
        struct worker_request own = *request;
        unsigned asked = request->task != TASK_GROUP_ID ? group->members
                         : group->is_root               ? 1U << first_of(group->members)
                                                        : 0;

        group->highest = group->lowest = 0;
        own.id = group->id;
        own.size = group->result.ranks;
        own.amount = amounts ? amounts[i] : 0;
        own.bytes = bytes ? (unsigned long long)bytes[i] : 0;
        own.rank = group->base;
        for (int k = 0; k < crew->node->count && !group->has_failed; k++)
            if (asked >> k & 1) {
                worker_send(&crew->workers[k], &own, limit_s);
                own.rank++;
            }
    }
    while ((index = worker_wait(crew->workers, crew->node->count, &answer)) != -2) {
        program_step(crew->program);
        if (index >= 0)
            take(run, index, request, &answer);
    }
    if (run->is_in)
        share(run, run->count > 0 ? &run->groups[0] : NULL);
    for (int i = 0; i < run->count; i++)
        for (int k = 0; k < crew->node->count && run->groups[i].has_failed; k++)
            if (run->groups[i].members >> k & 1)
                worker_end(&crew->workers[k]);
}

/* ---------------------------------------------------------------- a run */

/* Once to see how long it takes, then for as long as a figure is taken from. */
static void run_collective(struct run *run, enum collective collective)
{
    struct worker_request request = {.task = TASK_GROUP_RUN, .kind = collective};
    int amounts[WORKERS / 2 + 1];
    double bytes[WORKERS / 2 + 1];

    for (int i = 0; i < run->count; i++) {
        amounts[i] = 1;
        bytes[i] = run->groups[i].result.bytes;
    }
    step(run, &request, amounts, bytes);
    for (int i = 0; i < run->count; i++) {
        double times = run->groups[i].highest > 0 ? GPU_TIMED_MS / run->groups[i].highest : 1;

        amounts[i] = times < 1 ? 1 : times > TIMES_MOST ? TIMES_MOST : (int)times;
    }
    step(run, &request, amounts, bytes);
    for (int i = 0; i < run->count; i++)
        if (!run->groups[i].has_failed)
            run->groups[i].result.ms[collective] = (float)run->groups[i].highest;
}

static void run_groups(struct run *run)
{
    unsigned devices = 0;
    int collectives = run->is_of_pairs ? 1 : COLLECTIVES;

    for (int i = 0; i < run->count; i++) {
        devices |= run->groups[i].members;
        run->groups[i].result.is_measured = true;
        run->groups[i].result.collective = -1;
    }
    crew_open_again(run->crew, devices);
    step(run, &(struct worker_request){.task = TASK_GROUP_ID}, NULL, NULL);
    step(run, &(struct worker_request){.task = TASK_GROUP_JOIN}, NULL, NULL);
    for (int i = 0; i < run->count; i++)
        run->groups[i].result.bytes =
            (float)collective_bytes(run->groups[i].lowest, run->groups[i].result.ranks);
    for (int i = 0; i < collectives; i++)
        run_collective(run, (enum collective)i);
    step(run, &(struct worker_request){.task = TASK_GROUP_LEAVE}, NULL, NULL);
    for (int i = 0; i < run->count; i++) /* another node has it */
        if (run->groups[i].has_failed && run->groups[i].result.outcome == WORKER_DONE)
            run->groups[i].result.outcome = WORKER_SLOW;
}

/* ---------------------------------------------------------------- within a node */

/* Devices that can be in a group: a physical device once, as NCCL wants it. */
static unsigned usable(const struct crew *crew)
{
    unsigned set = 0;

    for (int i = 0; i < crew->node->count; i++) {
        bool is_second = false;

        for (int k = 0; k < i; k++)
            is_second = is_second || ((set >> k & 1) &&
                                      crew->node->devices[k].part == crew->node->devices[i].part);
        if (!is_second && crew->workers[i].fd >= 0)
            set |= 1U << i;
    }
    return set;
}

static void measure_within(struct crew *crew, unsigned set, struct group_result *best)
{
    struct run run = {.crew = crew, .count = 1};
    struct group *group = &run.groups[0];

    group->members = set;
    group->is_root = true;
    group->result.ranks = __builtin_popcount(set);
    run_groups(&run);
    if (!best->is_measured || group->result.outcome != WORKER_DONE) {
        *best = group->result;
        return;
    }
    for (int i = 0; i < COLLECTIVES; i++)
        if (best->ms[i] > 0 && group->result.ms[i] > 0 && group->result.ms[i] < best->ms[i])
            best->ms[i] = group->result.ms[i];
}

static enum pair_state pair_state(const struct group_result *result)
{
    return result->outcome == WORKER_DONE    ? PAIR_DONE
           : result->outcome == WORKER_WRONG ? PAIR_WRONG
                                             : PAIR_BROKEN;
}

/* All pairs in rounds; where one is broken, which takes a deadline, so many rounds as tell which of
 * its devices is. */
static void measure_pairs(struct crew *crew, unsigned set, struct group_node *own)
{
    int list[WORKERS], count = 0;
    bool is_broken = own->within.outcome != WORKER_DONE && own->within.outcome != WORKER_WRONG;

    for (int i = 0; i < WORKERS; i++)
        if (set >> i & 1)
            list[count++] = i;
    for (int round = 0; round < tournament_rounds(count); round++) {
        struct run run = {.crew = crew, .is_of_pairs = true};

        if (is_broken && round >= BROKEN_ROUNDS)
            break;
        for (int i = 0; i < count; i++) {
            int partner = tournament_partner(count, round, i);

            if (partner > i)
                run.groups[run.count++] =
                    (struct group){.members = 1U << list[i] | 1U << list[partner],
                                   .is_root = true,
                                   .result.ranks = 2};
        }
        run_groups(&run);
        for (int i = 0; i < run.count; i++) {
            const struct group *group = &run.groups[i];
            int a = first_of(group->members), b = first_of(group->members & (group->members - 1));

            own->pairs[a][b].state = (unsigned char)pair_state(&group->result);
            own->pairs[a][b].ms = group->result.ms[COLLECTIVE_ALL_REDUCE];
            own->pairs[a][b].bytes = group->result.bytes;
            own->pairs[b][a] = own->pairs[a][b];
            is_broken = is_broken || own->pairs[a][b].state == PAIR_BROKEN;
        }
    }
}

/* ---------------------------------------------------------------- across nodes */

/* A group of the devices of those nodes; all leaders call it, also of nodes that rest. */
static void measure_across(struct crew *crew, const struct group_node *nodes, bool *is_in,
                           unsigned set, bool is_of_pairs, struct group_result *result)
{
    struct run run = {.crew = crew, .is_of_pairs = is_of_pairs, .is_in = is_in, .root = -1};
    struct group group = {.members = set};
    int own = crew->program->node;

    for (int i = 0; i < crew->program->node_count; i++) {
        if (!is_in[i])
            continue;
        if (run.root < 0)
            run.root = i;
        if (i < own)
            group.base += nodes[i].count;
        group.result.ranks += nodes[i].count;
    }
    group.is_root = run.root == own;
    if (is_in[own])
        run.groups[run.count++] = group;
    run_groups(&run);
    if (run.count > 0)
        *result = run.groups[0].result;
}

static void measure_node_pairs(struct crew *crew, const struct group_node *nodes, unsigned set,
                               bool is_broken, struct group_node *own)
{
    int node_count = crew->program->node_count, count = 0, position = -1, rounds;
    int most = is_broken ? BROKEN_ROUNDS : GROUP_ROUNDS;
    int *list = calloc((size_t)node_count, sizeof *list);
    bool *is_in = calloc((size_t)node_count, sizeof *is_in);

    if (!list || !is_in)
        watch_fault("out of memory");
    for (int i = 0; i < node_count; i++) {
        if (i == crew->program->node && nodes[i].is_across)
            position = count;
        if (nodes[i].is_across)
            list[count++] = i;
    }
    rounds = tournament_rounds(count) < most ? tournament_rounds(count) : most;
    for (int round = 0; round < rounds; round++) {
        int partner = position >= 0 ? tournament_partner(count, round, position) : -1;
        struct group_result result = {.is_measured = false};

        memset(is_in, 0, (size_t)node_count * sizeof *is_in);
        if (partner >= 0)
            is_in[list[position]] = is_in[list[partner]] = true;
        measure_across(crew, nodes, is_in, set, true, &result);
        if (!result.is_measured)
            continue;
        own->rounds[round].partner = list[partner];
        own->rounds[round].state = (unsigned char)pair_state(&result);
        own->rounds[round].bandwidth = (float)group_bandwidth(&result, COLLECTIVE_ALL_REDUCE);
    }
    free(list);
    free(is_in);
}

/* ---------------------------------------------------------------- all of it */

/* Whether the node has the library, by its first device. */
static unsigned join_in(struct crew *crew, struct group_node *own)
{
    struct worker_request request = {.task = TASK_GROUP_ID};
    struct worker_answer answer = {.outcome = WORKER_DONE};
    unsigned set = usable(crew);

    if (set == 0)
        return 0;
    worker_send(&crew->workers[first_of(set)], &request, GPU_OPEN_LIMIT * crew->deadline_s);
    while (worker_wait(crew->workers, crew->node->count, &answer) != -2)
        program_step(crew->program);
    own->outcome = answer.outcome;
    own->version = answer.version;
    snprintf(own->text, sizeof own->text, "%.159s",
             *answer.text                    ? answer.text
             : answer.outcome == WORKER_HUNG ? "the library hung"
                                             : "the library gave no answer");
    if (own->outcome != WORKER_DONE)
        return 0;
    own->count = __builtin_popcount(set);
    return set;
}

static void gather(struct crew *crew, const struct group_node *own, struct group_node *nodes)
{
    program_allgather(crew->program, own, nodes, sizeof *own, crew->program->leaders);
}

static bool is_anything_low(const struct gpu_node *devices, const struct group_node *nodes,
                            size_t count, size_t node)
{
    bool is_low = false;

    for (int i = 0; i < COLLECTIVES; i++)
        is_low = is_low || group_is_low(devices, nodes, count, node, (enum collective)i);
    return is_low;
}

static void measure_all_nodes(struct crew *crew, unsigned set, struct group_node *own,
                              struct group_node *nodes)
{
    int node_count = crew->program->node_count, count = 0;
    bool *is_in = calloc((size_t)node_count, sizeof *is_in), is_broken = false, is_wrong = false;

    if (!is_in)
        watch_fault("out of memory");
    for (int i = 0; i < node_count; i++)
        count += is_in[i] = nodes[i].is_across;
    if (count > 1) {
        program_phase(crew->program, "collectives of all nodes");
        measure_across(crew, nodes, is_in, set, false, &own->across);
        gather(crew, own, nodes);
    }
    free(is_in);
    for (int i = 0; i < node_count; i++) {
        is_wrong = is_wrong || nodes[i].across.outcome == WORKER_WRONG;
        is_broken = is_broken || nodes[i].across.outcome > WORKER_WRONG;
    }
    if (count > 2 && (is_wrong || is_broken || !crew->options->is_quick)) {
        program_phase(crew->program, "collectives of pairs of nodes");
        measure_node_pairs(crew, nodes, set, is_broken, own);
        gather(crew, own, nodes);
    }
}

/* Where the devices did not come together pairs would not say more: that is seldom one device's. */
static bool is_worth_pairs(const struct crew *crew, const struct group_node *own, bool is_low)
{
    const struct group_result *within = &own->within;

    if (own->count < 3 || (within->outcome != WORKER_DONE && within->collective < 0))
        return false;
    return !crew->options->is_quick || is_low || within->outcome != WORKER_DONE;
}

void group_measure(struct crew *crew, const struct gpu_node *devices, struct group_node *nodes)
{
    size_t count = (size_t)crew->program->node_count, node = (size_t)crew->program->node;
    struct group_node *own = calloc(1, sizeof *own);
    unsigned set;
    bool is_low;

    if (!own)
        watch_fault("out of memory");
    program_phase(crew->program, "collectives of each node");
    set = join_in(crew, own);
    if (own->count > 0) /* of one it tells whether NCCL works with it */
        measure_within(crew, set, &own->within);
    gather(crew, own, nodes);
    is_low = is_anything_low(devices, nodes, count, node);
    for (int i = 0; i < AGAIN && is_low && own->within.outcome == WORKER_DONE; i++)
        measure_within(crew, set, &own->within);
    if (is_worth_pairs(crew, own, is_low))
        measure_pairs(crew, set, own);
    own->is_across = own->count > 0 && own->version == group_version(nodes, count) &&
                     own->within.outcome == WORKER_DONE;
    gather(crew, own, nodes);
    measure_all_nodes(crew, set, own, nodes);
    free(own);
}
