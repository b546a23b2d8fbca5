/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/gpu/group.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/constants/battery_constants.h"
#include "validate/battery/gpu/peer_rounds.h"
#include "validate/harness/sleeping_wait.h"
#include "validate/schedule/tournament.h"

enum {
    TIMES_MOST = 200,
    AGAIN = 2,
    ALL = -1,
    BROKEN_ROUNDS = 3 /* of pairs, so that each has two partners; each may take a deadline */
};

/* Devices that make a communicator; of a group across nodes this node's share of it. */
struct group {
    struct device_set members; /* of this node */
    int base;                  /* rank of the first */
    bool is_root;              /* its first member makes the id */
    struct nccl_id id;
    int version;            /* of the library, where the id was made; 0: it was not loaded */
    int times;              /* how often an operation runs */
    double highest, lowest; /* of the last answers of all its members */
    int text_device;        /* the device that result.text is of */
    struct group_result result;
};

struct run {
    struct crew *crew;
    struct group groups[GPU_DEVICES_MOST / 2 + 1];
    int count, collectives;
    const struct group_node *nodes; /* of a group across nodes; NULL: within */
    int partner; /* the other node of the group; ALL; this one: it has none, and rests */
    int root;    /* the node whose first member makes the id */
};

/* What the nodes of a group exchange after each step. */
struct exchange {
    double highest, lowest;
    enum worker_outcome outcome;
    struct nccl_id id;
};

/* ---------------------------------------------------------------- a step */

static struct group *group_of(struct run *run, int device)
{
    struct group *group = run->groups;

    while (!device_set_has(&group->members, device))
        group++;
    return group;
}

/* Whether an outcome says more than another one. An error says more than the hang of others that
 * waited for what had it. So does a process that was not scheduled, as the others of its group
 * sleep while they wait for it. */
static bool outranks(enum worker_outcome outcome, enum worker_outcome than)
{
    static const int order[] = {
        [WORKER_DONE] = 0,      [WORKER_WRONG] = 1,      [WORKER_HUNG] = 2,  [WORKER_SLOW] = 3,
        [WORKER_NO_DEVICE] = 4, [WORKER_NOT_TESTED] = 5, [WORKER_ERROR] = 6, [WORKER_DIED] = 7};

    return order[outcome] > order[than];
}

static bool has_failed(const struct group *group)
{
    return group->result.outcome > WORKER_WRONG;
}

/* Returns the time limit of the task: longer for tasks that load libraries and kernels. */
static double limit_of(const struct run *run, enum worker_task task)
{
    return run->crew->deadline_s * (task == TASK_GROUP_RUN ? 1 : GPU_OPEN_LIMIT);
}

static void add_times(struct group *group, double highest, double lowest)
{
    if (highest > group->highest)
        group->highest = highest;
    if (lowest > 0 && (lowest < group->lowest || group->lowest == 0))
        group->lowest = lowest;
}

static void handle_answer(struct run *run, int device, const struct worker_request *request,
                          const struct worker_answer *answer)
{
    struct group *group = group_of(run, device);
    struct group_result *result = &group->result;
    int part = run->crew->node->devices[device].part;
    int collective = request->task == TASK_GROUP_RUN ? request->kind : -1;
    /* one of the group was given up and ended: what fails later fails because of that */
    bool is_given_up = result->outcome == WORKER_HUNG || result->outcome == WORKER_SLOW;

    if (request->task == TASK_GROUP_ID) {
        group->id = answer->id;
        group->version = answer->version;
    }
    if (answer->outcome == WORKER_DONE || answer->outcome == WORKER_WRONG)
        add_times(group, answer->value, answer->value);
    if (answer->outcome == WORKER_WRONG) {
        device_set_add(&result->wrong_devices, device);
        result->wrong += answer->wrong;
        if (result->outcome == WORKER_WRONG && result->collective == collective &&
            device < group->text_device)
            result->outcome = WORKER_DONE; /* the first device counts, whichever answers first */
    }
    if (!outranks(answer->outcome, result->outcome) ||
        (is_given_up && answer->outcome != WORKER_SLOW))
        return;
    group->text_device = device;
    result->outcome = answer->outcome;
    result->collective = collective;
    if (answer->outcome == WORKER_WRONG)
        snprintf(result->text, sizeof result->text,
                 "the first one on gpu%d is %llu: found 0x%llx, expected 0x%llx", part,
                 answer->index, answer->found, answer->expected);
    else if (answer->outcome == WORKER_HUNG)
        snprintf(result->text, sizeof result->text, "did not end in %g s",
                 limit_of(run, request->task));
    else if (answer->outcome == WORKER_SLOW)
        snprintf(result->text, sizeof result->text,
                 "no answer in time, but a process was working or was not scheduled");
    else if (request->task == TASK_GROUP_ID && *answer->text)
        snprintf(result->text, sizeof result->text, "%.159s", answer->text);
    else
        snprintf(result->text, sizeof result->text, "gpu%d: %.140s", part,
                 *answer->text ? answer->text : "its process ended");
}

/* Whether the node is in the group across nodes. */
static bool is_in(const struct run *run, int node)
{
    int own = run->crew->program->node;

    return run->nodes[node].is_across && run->nodes[own].is_across && run->partner != own &&
           (run->partner == ALL || node == own || node == run->partner);
}

/* Adds what the other nodes of the group have found. All leaders call it. */
static void share(struct run *run, struct group *group, enum worker_task task, int kind)
{
    struct program *program = run->crew->program;
    struct exchange own = {0}, *all = watch_allocate((size_t)program->node_count, sizeof *all);

    if (group)
        own = (struct exchange){group->highest, group->lowest, group->result.outcome, group->id};
    sleeping_allgather(&own, all, sizeof own, program->leaders);
    for (int i = 0; group && i < program->node_count; i++) {
        if (!is_in(run, i))
            continue;
        add_times(group, all[i].highest, all[i].lowest);
        if (i == run->root)
            group->id = all[i].id;
        if (outranks(all[i].outcome, group->result.outcome)) {
            group->result.outcome = all[i].outcome;
            group->result.collective = task == TASK_GROUP_RUN ? kind : -1;
            group->result.text[0] = '\0'; /* the other node has it */
        }
    }
    free(all);
}

/* Whether the device has that task. The first member of the root makes the id. */
static bool has_task(const struct group *group, enum worker_task task, int device)
{
    if (task == TASK_GROUP_ID)
        return group->is_root && device == device_set_next(&group->members, -1);
    return device_set_has(&group->members, device);
}

/* Runs the task on the members of the groups that have not failed. If one fails, the processes of
 * its group are ended: what they wait for does not come. */
static void step(struct run *run, enum worker_task task, int kind)
{
    struct crew *crew = run->crew;
    struct worker_request request = {.task = task, .kind = kind};
    struct worker_answer answer;
    int index;

    for (struct group *group = run->groups; group < run->groups + run->count; group++) {
        group->highest = group->lowest = 0;
        request.id = group->id;
        request.size = group->result.ranks;
        request.amount = group->times;
        request.bytes = (unsigned long long)group->result.bytes;
        request.rank = group->base;
        for (int k = 0; k < crew->node->count && !has_failed(group); k++)
            if (has_task(group, task, k)) {
                worker_send(&crew->workers[k], &request, limit_of(run, task));
                request.rank++;
            }
    }
    while ((index = crew_wait(crew, &answer)) >= 0)
        handle_answer(run, index, &request, &answer);
    if (run->nodes)
        share(run, run->count > 0 ? run->groups : NULL, task, kind);
    for (struct group *group = run->groups; group < run->groups + run->count; group++)
        for (int k = 0; k < crew->node->count && has_failed(group); k++)
            if (device_set_has(&group->members, k))
                worker_end(&crew->workers[k]);
}

/* ---------------------------------------------------------------- a run */

/* Runs the collective once to see how long it takes, then as often as a figure needs. */
static void run_collective(struct run *run, int collective)
{
    for (int i = 0; i < run->count; i++)
        run->groups[i].times = 1;
    step(run, TASK_GROUP_RUN, collective);
    for (int i = 0; i < run->count; i++) {
        double times = run->groups[i].highest > 0 ? GPU_TIMED_MS / run->groups[i].highest : 1;

        run->groups[i].times = times < 1 ? 1 : times > TIMES_MOST ? TIMES_MOST : (int)times;
    }
    step(run, TASK_GROUP_RUN, collective);
    for (int i = 0; i < run->count; i++)
        if (!has_failed(&run->groups[i]))
            run->groups[i].result.ms[collective] = (float)run->groups[i].highest;
}

static void run_groups(struct run *run)
{
    struct device_set devices = {{0}};

    for (int i = 0; i < run->count; i++) {
        for (int k = -1; (k = device_set_next(&run->groups[i].members, k)) >= 0;)
            device_set_add(&devices, k);
        run->groups[i].result.is_measured = true;
        run->groups[i].result.collective = -1;
    }
    crew_open_again(run->crew, &devices);
    step(run, TASK_GROUP_ID, 0);
    step(run, TASK_GROUP_JOIN, 0);
    for (int i = 0; i < run->count; i++)
        run->groups[i].result.bytes =
            (float)collective_bytes(run->groups[i].lowest, run->groups[i].result.ranks);
    for (int i = 0; i < run->collectives; i++)
        run_collective(run, i);
    step(run, TASK_GROUP_LEAVE, 0);
}

/* ---------------------------------------------------------------- within a node */

/* Returns the devices that can be in a group: a physical device once, as NCCL needs; one MIG
 * instance, as NCCL has no paths between instances. */
static struct device_set usable(const struct crew *crew)
{
    struct device_set set = {{0}};

    for (int i = 0; i < crew->node->count; i++) {
        bool is_second = crew->instance_count > 0 && device_set_count(&set) > 0;

        for (int k = 0; k < i; k++)
            is_second = is_second || (device_set_has(&set, k) &&
                                      crew->node->devices[k].part == crew->node->devices[i].part);
        if (!is_second && crew->workers[i].fd >= 0)
            device_set_add(&set, i);
    }
    return set;
}

static void measure_within(struct crew *crew, const struct device_set *set, struct group_node *own)
{
    struct run run = {.crew = crew, .count = 1, .collectives = COLLECTIVES};
    struct group *group = &run.groups[0];

    group->members = *set;
    group->is_root = true;
    group->result.ranks = device_set_count(set);
    run_groups(&run);
    for (int i = 0; i < COLLECTIVES; i++) /* the best counts */
        if (own->within.ms[i] > 0 && own->within.ms[i] < group->result.ms[i])
            group->result.ms[i] = own->within.ms[i];
    own->within = group->result;
    own->version = group->version;
}

/* Returns the state of a pair. A process that was not scheduled says nothing of a device. */
static enum pair_state pair_state(enum worker_outcome outcome)
{
    return outcome == WORKER_DONE                                   ? PAIR_DONE
           : outcome == WORKER_WRONG                                ? PAIR_WRONG
           : outcome == WORKER_SLOW || outcome == WORKER_NOT_TESTED ? PAIR_NONE
                                                                    : PAIR_BROKEN;
}

/* Stores what the two devices of a group did with each of them. */
static void pair_put(struct gpu_node *node, const struct group *group)
{
    int a = device_set_next(&group->members, -1), b = device_set_next(&group->members, a);
    struct gpu_pair pair = {.with = b,
                            .state = pair_state(group->result.outcome),
                            .ms = group->result.ms[COLLECTIVE_ALL_REDUCE],
                            .bytes = group->result.bytes};

    gpu_pair_put(&node->devices[a], &pair);
    pair.with = a;
    gpu_pair_put(&node->devices[b], &pair);
}

/* Measures the pairs of peer_rounds.h. If one is broken, which takes a deadline, only as many
 * rounds as show which of its devices is at fault. */
static void measure_pairs(struct crew *crew, const struct device_set *set, bool is_broken)
{
    int list[GPU_DEVICES_MOST], count = 0;

    for (int i = -1; (i = device_set_next(set, i)) >= 0;)
        list[count++] = i;
    for (int round = 0; round < (is_broken ? BROKEN_ROUNDS : peer_rounds(count)); round++) {
        struct run run = {.crew = crew, .collectives = 1};

        for (int i = 0; i < count; i++) {
            int partner = peer_partner(count, round, i);

            if (partner <= i)
                continue;
            run.groups[run.count] = (struct group){
                .members = device_set_one(list[i]), .is_root = true, .result.ranks = 2};
            device_set_add(&run.groups[run.count++].members, list[partner]);
        }
        run_groups(&run);
        for (int i = 0; i < run.count; i++) {
            pair_put(crew->node, &run.groups[i]);
            is_broken = is_broken || has_failed(&run.groups[i]);
        }
    }
}

/* ---------------------------------------------------------------- across nodes */

/* Measures a group of the devices of two nodes, or of all. All leaders call it, also those of nodes
 * that rest. */
static void measure_across(struct crew *crew, const struct group_node *nodes, int partner,
                           const struct device_set *set, struct group_result *result)
{
    struct run run = {.crew = crew, .nodes = nodes, .partner = partner, .root = -1};
    struct group *group = &run.groups[0];
    int own = crew->program->node;

    for (int i = 0; i < crew->program->node_count; i++) {
        if (!is_in(&run, i))
            continue;
        if (run.root < 0)
            run.root = i;
        if (i < own)
            group->base += nodes[i].count;
        group->result.ranks += nodes[i].count;
    }
    group->members = *set;
    group->is_root = run.root == own;
    run.count = is_in(&run, own);
    run.collectives = partner == ALL ? COLLECTIVES : 1;
    run_groups(&run);
    *result = group->result;
}

static void measure_node_pairs(struct crew *crew, const struct group_node *nodes,
                               const struct device_set *set, bool is_broken, struct group_node *own)
{
    int count = 0, position = -1, most = is_broken ? BROKEN_ROUNDS : GROUP_ROUNDS;
    int *list = watch_allocate((size_t)crew->program->node_count, sizeof *list);

    for (int i = 0; i < crew->program->node_count; i++) {
        if (i == crew->program->node && nodes[i].is_across)
            position = count;
        if (nodes[i].is_across)
            list[count++] = i;
    }
    for (int round = 0; round < tournament_rounds(count) && round < most; round++) {
        int other = position >= 0 ? tournament_partner(count, round, position) : -1;
        int partner = other >= 0 ? list[other] : crew->program->node;
        struct group_result result;

        measure_across(crew, nodes, partner, set, &result);
        if (!result.is_measured)
            continue;
        own->rounds[round].partner = partner;
        own->rounds[round].state = (unsigned char)pair_state(result.outcome);
        own->rounds[round].bandwidth = (float)group_bandwidth(&result, COLLECTIVE_ALL_REDUCE);
    }
    free(list);
}

/* ---------------------------------------------------------------- all of it */

static void nodes_allgather(struct crew *crew, const struct group_node *own,
                            struct group_node *nodes)
{
    sleeping_allgather(own, nodes, sizeof *own, crew->program->leaders);
}

static void measure_all_nodes(struct crew *crew, const struct device_set *set,
                              struct group_node *own, struct group_node *nodes)
{
    enum worker_outcome outcome = WORKER_DONE;
    int count = 0;

    for (int i = 0; i < crew->program->node_count; i++)
        count += nodes[i].is_across;
    if (count < 2)
        return;
    program_phase(crew->program, "collectives of all nodes");
    measure_across(crew, nodes, ALL, set, &own->across);
    nodes_allgather(crew, own, nodes);
    for (int i = 0; i < crew->program->node_count; i++)
        if (nodes[i].is_across)
            outcome = nodes[i].across.outcome; /* the same on all */
    if (count > 2 && (outcome != WORKER_DONE || !crew->options->is_quick)) {
        program_phase(crew->program, "collectives of pairs of nodes");
        measure_node_pairs(crew, nodes, set, outcome > WORKER_WRONG, own);
        sleeping_gather(own, nodes, sizeof *own, crew->program->leaders);
    }
}

/* Whether to measure pairs. If the devices did not form a communicator, pairs would not show more:
 * that is seldom the fault of one device. */
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
    struct group_node *own = watch_allocate(1, sizeof *own);
    struct device_set set = usable(crew);
    bool is_low;

    program_phase(crew->program, "collectives of each node");
    own->count = device_set_count(&set);
    if (own->count > 0) /* with one device this shows whether NCCL works */
        measure_within(crew, &set, own);
    if (own->count > 0 && own->version == 0) {
        own->outcome = own->within.outcome;
        snprintf(own->text, sizeof own->text, "%s", own->within.text);
        own->within.is_measured = false;
        own->count = 0;
        set = (struct device_set){{0}};
    }
    nodes_allgather(crew, own, nodes);
    is_low = group_is_low(devices, nodes, count, node);
    for (int i = 0; i < AGAIN && is_low && own->within.outcome == WORKER_DONE; i++)
        measure_within(crew, &set, own);
    if (is_worth_pairs(crew, own, is_low))
        measure_pairs(crew, &set, own->within.outcome > WORKER_WRONG);
    own->is_across = own->count > 0 && own->version == group_version(nodes, count) &&
                     own->within.outcome == WORKER_DONE;
    nodes_allgather(crew, own, nodes);
    measure_all_nodes(crew, &set, own, nodes);
    free(own);
}
