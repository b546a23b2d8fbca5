/* SPDX-License-Identifier: Apache-2.0 */
/* muster-gpu: does each accelerator of a node compute right, and as fast as its peers? Does its
 * memory keep what is written? Do its paths to the host and to the others carry what they should,
 * and do the collectives of all of them work? One rank of each node drives a worker process for
 * each device (worker.h). */
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/ranges.h"
#include "lib/constants/battery_constants.h"
#include "validate/battery/gpu/crew.h"
#include "validate/battery/gpu/group.h"
#include "validate/battery/gpu/peer_rounds.h"
#include "validate/battery/gpu/usage.h"
#include "validate/harness/program.h"
#include "validate/harness/sleeping_wait.h"

enum { AGAIN = 3, AT_WORK = 200 /* products, while the management library is read */ };

/* ---------------------------------------------------------------- answers */

static void note_wrong(struct gpu_wrong *wrong, const struct worker_answer *answer)
{
    if (answer->outcome != WORKER_WRONG)
        return;
    if (wrong->count == 0)
        *wrong = (struct gpu_wrong){0, answer->index, answer->found, answer->expected};
    wrong->count += answer->wrong;
}

static void handle_answer(struct crew *crew, int index, const struct worker_request *request,
                          const struct worker_answer *answer)
{
    struct gpu_device *device = &crew->node->devices[index];
    struct gpu_path *path;
    float value = (float)answer->value;

    if (answer->outcome == WORKER_NOT_TESTED && request->task == TASK_BLAS &&
        answer->error != DEVICE_OUT_OF_MEMORY) {
        snprintf(device->no_blas, sizeof device->no_blas, "%.159s", answer->text);
        return;
    }
    if (answer->outcome == WORKER_NOT_TESTED && request->task == TASK_NIC) {
        snprintf(device->no_nic, sizeof device->no_nic, "%.159s", answer->text);
        return;
    }
    if (answer->outcome == WORKER_NOT_TESTED && request->task != TASK_OPEN) { /* want of memory */
        device->is_memory_short = true;
        snprintf(device->text, sizeof device->text, "%.159s", answer->text);
        return;
    }
    if (answer->outcome != WORKER_DONE && answer->outcome != WORKER_WRONG) {
        crew_lose(crew, index, request->task, request->peer, answer);
        return;
    }
    switch (request->task) {
    case TASK_COUNT:
    case TASK_OPEN:
    case TASK_GROUP_ID:
    case TASK_GROUP_JOIN:
    case TASK_GROUP_RUN:
    case TASK_GROUP_LEAVE: /* group.c takes its own answers */
        break;
    case TASK_BLAS:
        if (device->wrong_blas.count == 0)
            device->wrong_blas_precision = (enum blas_precision)request->kind;
        note_wrong(&device->wrong_blas, answer);
        break;
    case TASK_REPEAT:
        device->products += value;
        note_wrong(&device->wrong_products, answer);
        break;
    case TASK_COMPUTE:
    case TASK_MEMORY:
    case TASK_HOST:
        note_wrong(&device->wrong_products, answer);
        break;
    case TASK_PATTERN:
        device->tested_mb = value;
        note_wrong(&device->wrong_memory, answer);
        break;
    case TASK_PEER:
        path = gpu_path_make(device, request->peer);
        if (!path)
            break;
        if (value > path->GBps)
            path->GBps = value;
        path->is_direct = answer->is_direct;
        path->wrong_words += (unsigned)answer->wrong;
        break;
    case TASK_NIC:
        note_wrong(&device->wrong_nic, answer);
        if (answer->outcome == WORKER_WRONG && answer->wrong == 0)
            snprintf(device->nic_failure, sizeof device->nic_failure, "%.159s", answer->text);
        break;
    case TASK_ATOMICS:
        path = request->peer >= 0 ? gpu_path_make(device, request->peer) : NULL;
        if (path) {
            path->has_atomics = value > 0;
            path->wrong_atomics = (unsigned)answer->wrong;
        }
        if (request->peer >= 0)
            break;
        device->additions = value;
        note_wrong(&device->wrong_atomics, answer);
        break;
    }
}

/* Sends the request to the devices of the set, and waits for all answers. figure: gets the values,
 * or NULL. */
static void crew_measure(struct crew *crew, struct device_set set,
                         const struct worker_request *request, const enum figure *figure)
{
    struct worker_answer answer;
    struct worker_request own = *request;
    int index, count = crew->node->count;

    for (int i = 0; i < count; i++) {
        if (!device_set_has(&set, i) || crew->workers[i].fd < 0)
            continue;
        own.device = crew->node->devices[i].ordinal;
        own.nic = crew->nics[i];
        own.numa_node = crew->node->devices[i].numa_node;
        worker_send(&crew->workers[i], &own,
                    crew->deadline_s * (worker_loads(request->task) ? GPU_OPEN_LIMIT : 1));
    }
    while ((index = crew_wait(crew, &answer)) >= 0) {
        handle_answer(crew, index, request, &answer);
        if (figure && (answer.outcome == WORKER_DONE || answer.outcome == WORKER_WRONG)) {
            struct gpu_device *device = &crew->node->devices[index];
            float value = (float)answer.value;

            if (value > device->best[*figure])
                device->best[*figure] = value;
            if (device->samples[*figure]++ == 0 || value < device->lowest[*figure])
                device->lowest[*figure] = value;
        }
    }
}

/* ---------------------------------------------------------------- what is measured */

static void measure(struct crew *crew, enum figure figure, struct device_set set)
{
    const struct figure_spec *spec = &figure_specs[figure];
    struct worker_request request = {.task = spec->task, .kind = spec->kind};

    if (spec->is_together) {
        crew_measure(crew, device_set_all(), &request, &figure);
        return;
    }
    for (int i = 0; i < crew->node->count; i++)
        if (device_set_has(&set, i))
            crew_measure(crew, device_set_one(i), &request, &figure);
}

static bool is_wanted(const struct crew *crew, enum worker_task task)
{
    return !crew->options->tests || (crew->options->tests >> gpu_test_of(task) & 1);
}

/* Whether the paths between two of `count` devices are measured: pairs of peer_rounds.h or, if
 * quick, neighbors, as it takes a third of a second to open a device in the process of another
 * one. */
static bool is_pair_wanted(bool is_quick, int count, int one, int other)
{
    if (is_quick)
        return other == (one + 1) % count || one == (other + 1) % count;
    return peer_is_measured(count, one, other);
}

static void measure_path(struct crew *crew, int from, int to)
{
    struct worker_request request = {.task = TASK_PEER, .peer = crew->node->devices[to].ordinal};
    const struct gpu_path *path;

    if (crew->workers[from].fd < 0 || crew->workers[to].fd < 0)
        return;
    crew_measure(crew, device_set_one(from), &request, NULL);
    request.task = TASK_ATOMICS;
    path = gpu_path_find(&crew->node->devices[from], to);
    if (path && path->is_direct)
        crew_measure(crew, device_set_one(from), &request, NULL);
}

static void measure_peers(struct crew *crew)
{
    int list[GPU_DEVICES_MOST], count = 0;

    for (int i = 0; i < crew->node->count && crew->instance_count == 0; i++)
        if (crew_wants(crew, i))
            list[count++] = i;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++)
            if (i != k && is_pair_wanted(crew->options->is_quick, count, i, k))
                measure_path(crew, list[i], list[k]);
}

/* Whether an earlier device is of the same GPU: they share the path to the port. */
static bool is_measured_before(const struct crew *crew, int index)
{
    for (int i = 0; i < index; i++)
        if (crew->node->devices[i].part == crew->node->devices[index].part &&
            crew->workers[i].fd >= 0)
            return true;
    return false;
}

/* Measures the paths to NICs, and slow ones again. */
static void measure_nics(struct crew *crew)
{
    for (int i = 0; i < crew->node->count; i++) {
        struct gpu_device *device = &crew->node->devices[i];

        if (is_measured_before(crew, i))
            continue;
        for (int figure = FIGURE_NIC_LOOPBACK;
             figure <= FIGURE_NIC_FROM_DEVICE && *crew->nics[i].device; figure++)
            for (int k = 0; k < 1 + AGAIN && !*device->no_nic; k++)
                if (k == 0 || gpu_is_nic_low(device, (enum figure)figure))
                    measure(crew, (enum figure)figure, device_set_one(i));
    }
}

/* Repeats products in parts, each with its own deadline: one if quick, else 40, or as many as there
 * is time for. */
static void measure_repeatable(struct crew *crew)
{
    struct worker_request request = {.task = TASK_REPEAT, .amount = 50};
    double until = clock_s() + GPU_REPEAT_S;
    int parts = crew->options->is_quick ? 1 : 40;

    for (int i = 0; i < parts && (i == 0 || clock_s() < until); i++)
        crew_measure(crew, device_set_all(), &request, NULL);
}

/* Returns how many earlier devices are of the same GPU. */
static int number_in_gpu(const struct crew *crew, int index)
{
    int number = 0;

    for (int i = 0; i < index; i++)
        number += crew->node->devices[i].part == crew->node->devices[index].part;
    return number;
}

/* Tests one device of each GPU at a time: MIG's compute instances share the memory of a GPU
 * instance, so a second one would find none free. */
static void measure_patterns(struct crew *crew)
{
    struct worker_request request = {.task = TASK_PATTERN,
                                     .amount = crew->options->is_quick ? 3 : 6};
    struct device_set set;
    int number = 0;

    do {
        set = (struct device_set){{0}};
        for (int i = 0; i < crew->node->count; i++)
            if (number_in_gpu(crew, i) == number)
                device_set_add(&set, i);
        crew_measure(crew, set, &request, NULL);
        number++;
    } while (device_set_count(&set) > 0);
}

static void measure_all(struct crew *crew)
{
    int rounds = crew->options->is_quick ? 1 : 5; /* low figures are measured again later */

    if (is_wanted(crew, TASK_BLAS)) { /* all at once, as the library takes long to load */
        program_phase(crew->program, "loading libraries");
        crew_measure(crew, device_set_all(),
                     &(struct worker_request){.task = TASK_BLAS, .kind = BLAS_FP64}, NULL);
    }
    for (int round = 0; round < rounds; round++) {
        program_phase(crew->program, "rates, round %d of %d", round + 1, rounds);
        for (int figure = 0; figure < FIGURES; figure++)
            if (is_wanted(crew, figure_specs[figure].task) &&
                figure_specs[figure].task != TASK_NIC &&
                (figure_specs[figure].least || !crew->options->is_quick))
                measure(crew, (enum figure)figure, device_set_all());
    }
    if (is_wanted(crew, TASK_REPEAT)) {
        program_phase(crew->program, "products");
        measure_repeatable(crew);
    }
    if (is_wanted(crew, TASK_PATTERN)) {
        program_phase(crew->program, "memory patterns");
        measure_patterns(crew);
    }
    if (is_wanted(crew, TASK_ATOMICS)) {
        program_phase(crew->program, "atomics");
        crew_measure(crew, device_set_all(),
                     &(struct worker_request){.task = TASK_ATOMICS, .peer = -1}, NULL);
    }
    if (is_wanted(crew, TASK_PEER)) {
        program_phase(crew->program, "paths between devices");
        measure_peers(crew);
    }
    if (is_wanted(crew, TASK_NIC) && !crew->options->is_quick) {
        program_phase(crew->program, "paths to NICs");
        crew_find_nics(crew);
        measure_nics(crew);
    }
}

/* Keeps what the management library says of a slow device while it computes. */
static void note_condition(struct crew *crew, int index)
{
    struct gpu_device *device = &crew->node->devices[index];
    struct worker_request request = {
        .task = TASK_REPEAT, .device = device->ordinal, .peer = -1, .amount = AT_WORK};
    struct worker_answer answer;
    struct usage usage;
    int answered;

    worker_send(&crew->workers[index], &request, crew->deadline_s);
    usage_read(crew->program->conf.gpu_library_path, crew->deadline_s, &usage);
    usage_condition(&usage, device->pci, device->condition, sizeof device->condition);
    usage_clear(&usage);
    while ((answered = crew_wait(crew, &answer)) >= 0)
        if (answer.outcome != WORKER_DONE)
            handle_answer(crew, answered, &request, &answer);
}

/* Measures again what is low by the figures of all nodes. The best sample counts. */
static void measure_again(struct crew *crew, const struct gpu_node *nodes)
{
    size_t count = (size_t)crew->program->node_count, own = (size_t)crew->program->node;
    const struct gpu_device *device, *last = NULL;
    double references[FIGURES];

    program_phase(crew->program, "low rates again");
    for (int k = 0; k < crew->node->count; k++) {
        bool is_low = false;

        device = &nodes[own].devices[k];
        if (!last || !gpu_is_same_model(last, device))
            gpu_references(nodes, count, device, references);
        last = device;
        for (int figure = 0; figure < FIGURES; figure++)
            if (gpu_is_low(device, (enum figure)figure, references[figure])) {
                is_low = true;
                for (int i = 0; i < AGAIN; i++)
                    measure(crew, (enum figure)figure, device_set_one(k));
            }
        if (is_low && crew->workers[k].fd >= 0)
            note_condition(crew, k);
        for (int to = 0; to < crew->node->count; to++)
            for (int i = 0; i < AGAIN && gpu_is_peer_low(nodes, count, own, k, to); i++)
                crew_measure(crew, device_set_one(k),
                             &(struct worker_request){.task = TASK_PEER, .peer = to}, NULL);
    }
}

/* ---------------------------------------------------------------- the program */

/* Moves the reason to the node if no device was tested and all have the same one, such as no
 * compiler. */
static void fold_node(struct gpu_node *node)
{
    const struct gpu_device *first = &node->devices[0];

    for (int i = 0; i < node->count; i++)
        if (node->devices[i].outcome != WORKER_NOT_TESTED ||
            strcmp(node->devices[i].text, first->text) != 0)
            return;
    if (node->count == 0)
        return;
    node->outcome = first->outcome;
    snprintf(node->text, sizeof node->text, "%s", first->text);
    node->count = 0;
}

static int take_devices(const char *value, void *context, struct error *err)
{
    struct gpu_options *options = context;
    const char *rest = value;
    struct range range;
    int rv;

    while ((rv = range_next(&rest, &range)) == 1 && range.last < GPU_DEVICES_MOST)
        for (long i = range.first; i <= range.last; i++)
            device_set_add(&options->devices, (int)i);
    options->has_devices = device_set_count(&options->devices) > 0;
    if (rv != 0 || !options->has_devices)
        return error_set(err, "expected numbers from 0 to %d, such as 0-3,6, found \"%s\"",
                         GPU_DEVICES_MOST - 1, value);
    return 0;
}

static int take_tests(const char *value, void *context, struct error *err)
{
    struct gpu_options *options = context;

    return option_words_parse(value, "compute,repeatable,memory,paths,collectives", &options->tests,
                              err);
}

static const struct option_row option_table[] = {
    OPTION('\0', "quick", NULL, "run fewer rounds, products and patterns", FLAG,
           OPTION_FIELD(struct gpu_options, is_quick)),
    OPTION('\0', "devices", "LIST", "only these devices of each node, by driver index: 0-3,6", CALL,
           .take = take_devices),
    OPTION('\0', "skip-busy", NULL,
           "leave out devices that other processes use, and those of which that is not known", FLAG,
           OPTION_FIELD(struct gpu_options, skips_busy)),
    OPTION('\0', "tests", "LIST",
           "run only these tests: compute,repeatable,memory,paths,collectives", CALL,
           .take = take_tests),
    OPTION_END,
};

static const struct program_spec spec = {
    "muster-gpu", "gpu",
    "Loads the accelerators of each node: checks rates, repeatable results, memory, paths to the "
    "host and to each other, and collectives.",
    option_table, true};

/* Collects what all nodes have measured, on all of them or on rank 0. most: devices of a node at
 * most; devices: [node][most]. */
static void gather(const struct crew *crew, size_t most, struct gpu_node *nodes,
                   struct gpu_device *devices,
                   void (*collect)(const void *own, void *all, int size_bytes, MPI_Comm comm))
{
    MPI_Comm leaders = crew->program->leaders;

    collect(crew->node, nodes, sizeof *nodes, leaders);
    collect(crew->node->devices, devices, (int)(most * sizeof *devices), leaders);
    for (int i = 0; i < crew->program->node_count; i++)
        nodes[i].devices = devices + (size_t)i * most;
}

static void run_node(struct program *program, const struct gpu_options *options)
{
    size_t count = (size_t)program->node_count, most;
    struct gpu_node *nodes = watch_allocate(count, sizeof *nodes);
    struct gpu_node *own = watch_allocate(1, sizeof *own);
    struct group_node *groups = watch_allocate(count, sizeof *groups);
    struct gpu_device *devices;
    struct crew crew = {.program = program,
                        .options = options,
                        .node = own,
                        .deadline_s = program->conf.gpu_deadline_s};

    own->devices = watch_allocate(GPU_DEVICES_MOST, sizeof *own->devices);
    for (int i = 0; i < GPU_DEVICES_MOST; i++)
        crew.workers[i].fd = -1;
    crew_open(&crew);
    measure_all(&crew);
    most = (size_t)(-sleeping_least(-own->count, program->leaders));
    devices = watch_allocate(count * most + 1, sizeof *devices);
    gather(&crew, most, nodes, devices, sleeping_allgather);
    measure_again(&crew, nodes);
    gather(&crew, most, nodes, devices, sleeping_allgather);
    if (is_wanted(&crew, TASK_GROUP_RUN))
        group_measure(&crew, nodes, groups);
    for (int i = 0; i < GPU_DEVICES_MOST; i++)
        worker_end(&crew.workers[i]);
    own->is_shared = options->skips_busy && own->count > 0 && crew_forget_busy(&crew);
    fold_node(own);
    gather(&crew, most, nodes, devices, sleeping_gather);
    if (program->rank == 0) {
        for (size_t i = 0; i < count; i++)
            if (nodes[i].is_shared)
                groups[i] = (struct group_node){0};
        gpu_evaluate(nodes, count, program->node_name, &output_sink);
        group_evaluate(nodes, groups, count, program->node_name, &output_sink);
    }
    free(devices);
    free(groups);
    free(nodes);
    free(own->devices);
    free(own);
}

int main(int argc, char **argv)
{
    struct gpu_options options = {0};
    struct program program;

    if (argc == 4 && strcmp(argv[1], "--worker") == 0)
        return worker_main(argv[2], argv[3]);
    program_start(&program, &spec, &options, argc, argv);
    if (program.is_leader)
        run_node(&program, &options);
    return program_finish(&program);
}
