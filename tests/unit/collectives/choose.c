/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectives/choose/background_load.h"
#include "collectives/choose/cache.h"
#include "collectives/choose/chooser.h"
#include "collectives/choose/layout.h"
#include "collectives/choose/machine.h"
#include "collectives/choose/predict.h"
#include "tests/unit/poor_memory.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

enum { NAME = 8, RANKS = 64 };

/* Makes a layout from the names of each rank's node and leaf: "a a b b" and "x x y y". */
static struct layout *make_layout(const char *nodes, const char *leaves)
{
    char node[RANKS][NAME] = {{0}}, leaf[RANKS][NAME] = {{0}};
    int ranks = 0, length;

    for (; sscanf(nodes, " %7s%n", node[ranks], &length) == 1; nodes += length)
        ranks++;
    for (int i = 0; sscanf(leaves, " %7s%n", leaf[i], &length) == 1; leaves += length)
        i++;
    return layout_make(ranks, node[0], leaf[0], NAME);
}

/* How often a round of a ring leaves a node, and a leaf. */
struct crossings {
    int nodes;
    int leaves;
};

static struct crossings count_crossings(const struct layout *layout, const int *ring)
{
    struct crossings crossings = {0, 0};

    for (int position = 0; position < layout->ranks; position++) {
        int rank = ring[position], next = ring[(position + 1) % layout->ranks];

        crossings.nodes += layout->node_of_rank[rank] != layout->node_of_rank[next];
        crossings.leaves += layout->leaf_of_rank[rank] != layout->leaf_of_rank[next];
    }
    return crossings;
}

static void test_layout(void)
{
    struct layout *layout = make_layout("b a b c a d", "x y x x y y");
    int ring[6], expected[6] = {0, 2, 3, 1, 4, 5}, plain[6] = {0, 1, 2, 3, 4, 5};
    struct crossings crossings;
    char leaf[16];

    is_int(layout->nodes, 4, "nodes are distinguished by name");
    is_int(layout->node_of_rank[0], 0, "the first rank's node is 0");
    is_int(layout->node_of_rank[4], 1, "... and ranks with the same node name share a node");
    is_int(layout->most_on_node, 2, "the number of ranks on the fullest node");
    is_int(layout_link(layout, 0, 2), LINK_NODE, "the link between two ranks of a node");
    is_int(layout_link(layout, 0, 3), LINK_LEAF, "the link between two nodes of a leaf");
    is_int(layout_link(layout, 0, 1), LINK_ACROSS, "the link between two leaves");
    layout_ring(layout, ring);
    ok(memcmp(ring, expected, sizeof ring) == 0, "a ring keeps nodes and leaves together");
    crossings = count_crossings(layout, ring);
    is_int(crossings.nodes, 4, "... it leaves each node once");
    is_int(crossings.leaves, 2, "... and each leaf once");
    crossings = count_crossings(layout, plain);
    is_int(crossings.leaves, 4, "in rank order, a ring crosses leaves more often");
    layout_free(layout);

    layout = make_layout("a b c", "- - -");
    layout_ring(layout, ring);
    is_int(count_crossings(layout, ring).leaves, 0, "a ring of one leaf does not leave it");
    layout_free(layout);
    layout = make_layout("a b a", "x y y");
    is_int(layout_link(layout, 0, 2), LINK_NODE, "a node is on the leaf of its first rank");
    is_int(layout->leaf_of_rank[2], layout->leaf_of_rank[0], "... with all its ranks");
    layout_free(layout);
    layout_free(NULL);

    layout_leaf_name("spine.leaf3.n17", "switch.switch.node", leaf, sizeof leaf);
    is_str(leaf, "spine.leaf3", "the leaf of a node in a tree");
    layout_leaf_name("n17", "node", leaf, sizeof leaf);
    is_str(leaf, "", "there is no leaf without switches");
    layout_leaf_name("block1.n17", "block.node", leaf, sizeof leaf);
    is_str(leaf, "", "a block is not a leaf");
    layout_leaf_name(NULL, NULL, leaf, sizeof leaf);
    is_str(leaf, "", "there is no leaf outside of Slurm");
    layout_leaf_name("a-very-long-name.of.n1", "switch.switch.node", leaf, sizeof leaf);
    is_str(leaf, "a-very-long-nam", "a long name is cut");
}

/* Every ring of a layout leaves each node and each leaf once, if there are several. */
static void test_rings(void)
{
    unsigned state = 7;
    int bad = 0;

    for (int round = 0; round < 500; round++) {
        char node[RANKS][NAME] = {{0}}, leaf[RANKS][NAME] = {{0}};
        int ranks = 1 + round % RANKS, ring[RANKS], leaves = 0;
        bool seen[RANKS] = {false}, leaf_seen[RANKS] = {false};
        struct crossings crossings;
        struct layout *layout;

        for (int rank = 0; rank < ranks; rank++) {
            unsigned number = (state = state * 1103515245 + 12345) >> 16;

            snprintf(node[rank], NAME, "n%u", number % 9);
            snprintf(leaf[rank], NAME, "l%u", number % 9 % 4);
        }
        layout = layout_make(ranks, node[0], leaf[0], NAME);
        layout_ring(layout, ring);
        for (int i = 0; i < ranks; i++) {
            seen[ring[i]] = true;
            leaf_seen[layout->leaf_of_rank[i]] = true;
        }
        for (int i = 0; i < RANKS; i++) {
            bad += i < ranks && !seen[i];
            leaves += leaf_seen[i];
        }
        crossings = count_crossings(layout, ring);
        bad += crossings.nodes != (layout->nodes > 1 ? layout->nodes : 0);
        bad += crossings.leaves != (leaves > 1 ? leaves : 0);
        layout_free(layout);
    }
    is_int(bad, 0, "rings of 500 layouts leave each node and leaf exactly once");
}

/* Returns a machine whose links all have a latency of alpha_us and this rate. */
static struct machine synthetic_machine(double alpha_us, double rate_GBps)
{
    struct machine machine = {.copy_GBps = 10};

    for (int class = 0; class < LINK_CLASSES; class ++) {
        machine.has_link[class] = true;
        for (int i = 0; i < MACHINE_SIZES; i++)
            machine.link_us[class][i] = alpha_us + (double)machine_sizes[i] / 1e3 / rate_GBps;
    }
    for (int type = 0; type < ELEMENT_TYPES; type++)
        machine.reduce_GBps[type] = 10;
    for (int type = 0; type < CODEC_TYPES; type++) {
        machine.encode_GBps[type] = machine.decode_GBps[type] = 2;
        machine.ratio[type] = 1.4;
        machine.block_us[type] = 4;
    }
    return machine;
}

static void test_links(void)
{
    struct machine machine = synthetic_machine(10, 1);

    is_near(machine_link_us(&machine, LINK_LEAF, 0), 10, 0.1, "0 bytes take as long as 8 bytes");
    is_near(machine_link_us(&machine, LINK_LEAF, 65536), 75.5, 0.1, "the time of a measured size");
    is_near(machine_link_us(&machine, LINK_LEAF, 200000), 210, 21,
            "the time of a size between two measured ones");
    is_near(machine_link_us(&machine, LINK_LEAF, 64 << 20), 67119, 10,
            "the time of a size above all measured ones");
    machine.has_link[LINK_ACROSS] = false;
    machine.link_us[LINK_LEAF][0] = 5;
    machine.link_us[LINK_ACROSS][0] = 0;
    is_near(machine_link_us(&machine, LINK_ACROSS, 1), 5, 1e-9,
            "a class that was not measured has the times of the nearest class");

    machine = synthetic_machine(10, 0.1);
    /* 1 MiB: 1048576 / 1.4 bytes at 0.1 GB/s; encoded and decoded at 2 GB/s */
    is_near(machine_lossless_us(&machine, LINK_LEAF, CODEC_BF16, 1 << 20), 7500, 10,
            "coded: the link decides if it is slower");
    machine = synthetic_machine(10, 10);
    is_near(machine_lossless_us(&machine, LINK_LEAF, CODEC_BF16, 1 << 20), 1049, 1,
            "... or the codec");
    machine.encode_GBps[CODEC_BF16] = 0;
    ok(isinf(machine_lossless_us(&machine, LINK_LEAF, CODEC_BF16, 1 << 20)),
       "... and a codec that was not measured takes forever");
}

static int add_benchmark(struct machine *machine, const char *algorithm, size_t segment,
                         size_t bytes, double time_us)
{
    struct machine_benchmark benchmark = {
        .kind = COLLECTIVE_ALLREDUCE, .segment_bytes = segment, .bytes = bytes, .time_us = time_us};

    snprintf(benchmark.algorithm, sizeof benchmark.algorithm, "%s", algorithm);
    return machine_add_benchmark(machine, &benchmark, NULL);
}

static int add_coded_benchmark(struct machine *machine, const char *algorithm, size_t segment,
                               size_t bytes, double time_us)
{
    struct machine_benchmark benchmark = {.kind = COLLECTIVE_ALLREDUCE,
                                          .wire = WIRE_LOSSLESS,
                                          .segment_bytes = segment,
                                          .bytes = bytes,
                                          .time_us = time_us};

    snprintf(benchmark.algorithm, sizeof benchmark.algorithm, "%s", algorithm);
    return machine_add_benchmark(machine, &benchmark, NULL);
}

static double ring_benchmark_us(const struct machine *machine, size_t bytes)
{
    return machine_benchmark_us(machine, COLLECTIVE_ALLREDUCE, WIRE_AS_IS, "ring", 65536, bytes);
}

static void test_benchmarks(void)
{
    struct machine machine = {0};

    is_near(ring_benchmark_us(&machine, 1000), 0, 0, "there is no time without benchmarks");
    add_benchmark(&machine, "ring", 65536, 1000, 50);
    is_near(ring_benchmark_us(&machine, 1000), 50, 0, "the time of a benchmark of this size");
    is_near(ring_benchmark_us(&machine, 2000), 100, 1e-9, "twice the size takes twice the time");
    is_near(ring_benchmark_us(&machine, 100), 50, 1e-9, "a smaller size takes the same time");
    is_near(ring_benchmark_us(&machine, 4100), 0, 0,
            "a size too far above the benchmark has no time");
    is_near(ring_benchmark_us(&machine, 10), 0, 0, "... nor has one too far below");
    add_benchmark(&machine, "ring", 65536, 100000, 5000);
    is_near(ring_benchmark_us(&machine, 10000), 500, 1e-6, "a size between two benchmarks");
    is_near(ring_benchmark_us(&machine, 200000), 10000, 1e-6,
            "a size above two benchmarks, at their rate");
    add_benchmark(&machine, "ring", 65536, 1000, 40);
    add_benchmark(&machine, "ring", 65536, 1000, 60);
    is_int(machine.benchmark_count, 2, "of several benchmarks of one size only one is kept");
    is_near(ring_benchmark_us(&machine, 1000), 60, 0, "... the last one");
    add_benchmark(&machine, "direct", 65536, 150000, 9000);
    is_near(ring_benchmark_us(&machine, 120000), 6000, 10,
            "the time of a size below another algorithm's only benchmark");
    is_near(ring_benchmark_us(&machine, 150000), 0, 0, "... but there is no time at or above it");
    is_near(machine_benchmark_us(&machine, COLLECTIVE_ALLREDUCE, WIRE_AS_IS, "ring", 0, 1000), 0, 0,
            "there is no time for another segment");
    add_benchmark(&machine, "ring", 65536, 1 << 19, 30000);
    add_benchmark(&machine, "ring", 65536, 1 << 21, 100000);
    is_near(ring_benchmark_us(&machine, 1 << 23), 400000, 1e-6,
            "above 1 MiB the largest benchmark alone decides, as the rate within the caches does "
            "not hold there");
    machine_clear(&machine);
}

static bool are_equal(const struct machine *a, const struct machine *b)
{
    struct machine left = *a, right = *b;

    if (a->benchmark_count != b->benchmark_count)
        return false;
    for (unsigned i = 0; i < a->benchmark_count; i++)
        if (a->benchmarks[i].kind != b->benchmarks[i].kind ||
            a->benchmarks[i].wire != b->benchmarks[i].wire ||
            a->benchmarks[i].bytes != b->benchmarks[i].bytes ||
            a->benchmarks[i].segment_bytes != b->benchmarks[i].segment_bytes ||
            a->benchmarks[i].time_us != b->benchmarks[i].time_us ||
            strcmp(a->benchmarks[i].algorithm, b->benchmarks[i].algorithm) != 0)
            return false;
    left.benchmarks = right.benchmarks = NULL;
    return memcmp(&left, &right, sizeof left) == 0;
}

static void refused(const char *text, const char *expected)
{
    struct machine machine;
    struct error err;

    is_int(machine_read(text, "f", &machine, &err), -1, "refused: %.*s", (int)strcspn(text, "\n"),
           text);
    is_str(err.text, expected, "... with this message");
    ok(machine.benchmarks == NULL, "... and no benchmarks");
}

static void test_text(void)
{
    struct machine machine = synthetic_machine(1.0 / 3, 7), again;
    char *text;

    machine.has_link[LINK_ACROSS] = false;
    memset(machine.link_us[LINK_ACROSS], 0, sizeof machine.link_us[LINK_ACROSS]);
    machine.background_load = 1.0 / 7;
    machine.measured = 2;
    add_benchmark(&machine, "ring", 65536, 1000, 40.1);
    add_benchmark(&machine, "mpi", 0, 1000, 41.7);
    add_coded_benchmark(&machine, "ring", 65536, 1000, 41.3);
    text = machine_write(&machine);
    is_int(machine_read(text, "f", &again, NULL), 0, "a text that was written is read");
    ok(are_equal(&machine, &again), "... with the same bits");
    machine_clear(&machine);
    machine_clear(&again);
    free(text);
    is_int(machine_read("", "f", &machine, NULL), 0,
           "an empty text is a machine without measurements");

    refused("ring 1\n", "f:1: unexpected line \"ring 1\"");
    refused("copy 1\ncopy fast\n", "f:2: unexpected line \"copy fast\"");
    refused("copy -1\n", "f:1: unexpected line \"copy -1\"");
    refused("copy nan\n", "f:1: unexpected line \"copy nan\"");
    refused("copy 1 2\n", "f:1: unexpected line \"copy 1 2\"");
    refused("link near 1 2 3 4 5 6\n", "f:1: unexpected line \"link near 1 2 3 4 5 6\"");
    refused("link node 1 2 3 4 5\n", "f:1: unexpected line \"link node 1 2 3 4 5\"");
    refused("others 0.5 0\n", "f:1: unexpected line \"others 0.5 0\"");
    refused("reduce fp8 1\n", "f:1: unexpected line \"reduce fp8 1\"");
    refused("benchmark allreduce ring 0 8 1\nbenchmark allreduce ring -1 8 1\n",
            "f:2: unexpected line \"benchmark allreduce ring -1 8 1\"");
    refused("coded allreduce ring 0 99999999999999999999 1\n",
            "f:1: unexpected line \"coded allreduce ring 0 99999999999999999999 1\"");
    refused("coded allreduce aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 0 8 1\n",
            "f:1: unexpected line \"coded allreduce aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 0 8 1\"");
    refused("\n", "f:1: unexpected line \"\"");
}

static char *text_of_machine(const void *of)
{
    return machine_write(of);
}

/* Half of the figures would be kept as if they were complete. */
static void test_text_is_complete(void)
{
    struct machine machine = synthetic_machine(1, 7);

    for (size_t bytes = 1; bytes <= 500; bytes++)
        add_benchmark(&machine, "ring", 65536, bytes, 40.1);
    is_complete_or_null("the text of a machine", text_of_machine, &machine);
    machine_clear(&machine);
}

static struct plan_shape allreduce(const struct layout *layout, size_t count)
{
    return (struct plan_shape){
        .kind = COLLECTIVE_ALLREDUCE, .element_bytes = 4, .ranks = layout->ranks, .count = count};
}

static double walk_us(const struct machine *machine, const struct layout *layout, const char *name,
                      size_t count)
{
    struct plan_shape shape = allreduce(layout, count);
    struct error err = {""};
    double time_us = predict_walk_us(machine, layout, algorithm_find(shape.kind, name), &shape,
                                     ELEMENT_FP32, &err);

    if (time_us < 0)
        tap_diag("%s", err.text);
    return time_us;
}

static void test_walk(void)
{
    struct machine machine = synthetic_machine(10, 1);
    struct layout *four = make_layout("a b c d", "x x x x"),
                  *shared = make_layout("a b a b", "x x x x");
    struct layout *leaves = make_layout("a b c d", "x x y y");
    const struct algorithm *ring = algorithm_find(COLLECTIVE_ALLREDUCE, "ring");
    struct plan_shape shape = allreduce(four, 4 << 20);
    double slow;

    is_near(walk_us(&machine, four, "recursive-doubling", 1), 20, 1,
            "recursive doubling of one number takes two messages");
    is_near(walk_us(&machine, four, "ring", 4), 60, 3, "a ring of four numbers takes six messages");
    /* 6 messages of 4 MiB at 1 GB/s, 3 reductions of 4 MiB at 10 GB/s */
    is_near(walk_us(&machine, four, "ring", 4 << 20), 6 * 4204 + 3 * 419, 1500,
            "a ring of 16 MiB takes six messages and three reductions");
    is_near(predict_formula_us(&machine, four, ring, &shape, ELEMENT_FP32),
            walk_us(&machine, four, "ring", 4 << 20), 1500, "... also by its formula");
    is_near(walk_us(&machine, four, "recursive-doubling", 4 << 20), 2 * (16787 + 1678), 2000,
            "recursive doubling of 16 MiB");
    ok(walk_us(&machine, shared, "ring", 4 << 20) > 1.5 * walk_us(&machine, four, "ring", 4 << 20),
       "two ranks of a node share its NIC, if the ring visits the nodes in turn");
    for (int i = 0; i < MACHINE_SIZES; i++)
        machine.link_us[LINK_ACROSS][i] *= 10;
    slow = walk_us(&machine, leaves, "ring", 4 << 20);
    ok(slow > 5 * walk_us(&machine, four, "ring", 4 << 20), "a slow uplink makes the ring slower");
    is_near(walk_us(&machine, four, "ring", 0), 0, 1e-9, "a call without elements takes no time");
    layout_free(four);
    layout_free(shared);
    layout_free(leaves);
}

/* Calculated by hand. 64 KiB take 75.536 us and occupy a link for 65.528 us of it: the next message
 * starts before the first one arrives. */
static void test_walk_queues(void)
{
    const double whole = 75.536, busy = 65.528;
    struct machine machine = synthetic_machine(10, 1);
    struct layout *four = make_layout("a b c d", "x x x x"),
                  *two = make_layout("a a b b", "x x x x");
    struct layout *far = make_layout("a b c d e", "x y x x x");
    struct plan_shape shape = {
        .kind = COLLECTIVE_ALL_TO_ALL, .element_bytes = 4, .ranks = 4, .count = 16384};
    const struct algorithm *pairwise = algorithm_find(COLLECTIVE_ALL_TO_ALL, "pairwise");
    const struct algorithm *binomial = algorithm_find(COLLECTIVE_BROADCAST, "binomial");

    is_near(predict_walk_us(&machine, four, pairwise, &shape, ELEMENT_FP32, NULL), 2 * busy + whole,
            0.01, "all-to-all: each rank sends three messages, one after the other");
    is_near(predict_walk_us(&machine, two, pairwise, &shape, ELEMENT_FP32, NULL), 3 * busy + whole,
            0.01, "... with two ranks per node: four messages through each NIC");
    shape.kind = COLLECTIVE_BROADCAST;
    is_near(predict_walk_us(&machine, four, binomial, &shape, ELEMENT_FP32, NULL), 2 * whole, 0.01,
            "broadcast: the second message of the root ends before that of its first child");
    for (int i = 0; i < MACHINE_SIZES; i++)
        machine.link_us[LINK_ACROSS][i] *= 10;
    shape.kind = COLLECTIVE_ALL_TO_ALL;
    shape.ranks = 5;
    is_near(predict_walk_us(&machine, far, pairwise, &shape, ELEMENT_FP32, NULL),
            10 * (3 * busy + whole), 0.01, "a rank on another leaf: its link is never idle");
    layout_free(four);
    layout_free(two);
    layout_free(far);
}

/* The plans of every algorithm fit each other, for any number of ranks. */
static void test_walk_of_all(void)
{
    struct machine machine = synthetic_machine(10, 1);
    int walked = 0, bad = 0;

    for (int ranks = 1; ranks <= 17; ranks++) {
        char names[RANKS][NAME] = {{0}};
        struct layout *layout;
        struct plan_topology topology;

        for (int rank = 0; rank < ranks; rank++)
            snprintf(names[rank], NAME, "n%u", (unsigned)rank / 3 % 100);
        layout = layout_make(ranks, names[0], names[0], NAME);
        topology =
            (struct plan_topology){.node_of_rank = layout->node_of_rank, .nodes = layout->nodes};
        for (const struct algorithm *algorithm = algorithms; algorithm->name; algorithm++) {
            struct plan_shape shape = {.kind = algorithm->kind,
                                       .element_bytes = 4,
                                       .ranks = ranks,
                                       .count = 10007,
                                       .segment = 4096,
                                       .topology = &topology};
            struct error err = {""};
            double time_us;

            if (!algorithm_applies(algorithm, &shape))
                continue;
            walked++;
            time_us = predict_walk_us(&machine, layout, algorithm, &shape, ELEMENT_FP32, &err);
            if (time_us < 0 || !isfinite(time_us) || (ranks > 1 && time_us == 0)) {
                tap_diag("%s %s, %d ranks: %g us %s", collective_kind_name(algorithm->kind),
                         algorithm->name, ranks, time_us, err.text);
                bad++;
            }
            time_us = predict_formula_us(&machine, layout, algorithm, &shape, ELEMENT_FP32);
            bad += time_us < 0 || !isfinite(time_us);
        }
        layout_free(layout);
    }
    ok(walked > 50, "%d plans are walked", walked);
    is_int(bad, 0, "... all of them to their end");
}

/* Returns how often an algorithm is listed with a segment; 0: with any segment. */
static int times_listed(struct chooser *chooser, size_t bytes, const char *name,
                        size_t segment_bytes)
{
    struct plan_shape shape = {
        .kind = COLLECTIVE_BROADCAST, .element_bytes = 4, .ranks = 4, .count = bytes / 4};
    struct choice choices[CHOICES];
    unsigned count = chooser_list(chooser, &shape, ELEMENT_FP32, choices);
    int found = 0;

    for (unsigned i = 0; i < count; i++)
        found += strcmp(choices[i].algorithm->name, name) == 0 &&
                 (segment_bytes == 0 || choices[i].segment_bytes == segment_bytes);
    return found;
}

/* Returns the predicted time, in us, of an algorithm that is listed. */
static double predicted_time_us(struct chooser *chooser, size_t bytes, const char *name)
{
    const struct plan_shape shape = {
        .kind = COLLECTIVE_BROADCAST, .element_bytes = 4, .ranks = 4, .count = bytes / 4};
    struct choice choices[CHOICES];
    unsigned count = chooser_list(chooser, &shape, ELEMENT_FP32, choices), i = 0;

    while (i < count - 1 && strcmp(choices[i].algorithm->name, name) != 0)
        i++;
    return choices[i].predicted_us;
}

/* Four ranks on one node, without and with shared memory. */
static const int first_node[4];
static const struct plan_topology one_node = {.node_of_rank = first_node, .nodes = 1};
static const struct plan_topology window = {
    .node_of_rank = first_node, .nodes = 1, .has_window = true, .can_pull = true};

/* Makes a chooser for ranks that are all on one node without shared memory, or on several nodes. */
static struct chooser *make_chooser(const struct machine *machine, const struct layout *layout)
{
    return chooser_create(machine, layout, layout->nodes == 1 ? &one_node : NULL);
}

static void test_segments(void)
{
    struct machine machine = synthetic_machine(10, 1);
    struct layout *layout = make_layout("a a a a", "x x x x");
    struct chooser *chooser = make_chooser(&machine, layout);

    is_int(times_listed(chooser, 1 << 16, "chain", 0), 1, "64 KiB: no segment divides it");
    is_int(times_listed(chooser, 1 << 18, "chain", 0), 2, "256 KiB: whole, or in segments");
    is_int(times_listed(chooser, 1 << 20, "chain", 0), 3, "1 MiB: all segments");
    is_int(times_listed(chooser, 1 << 20, "chain", 1 << 20), 1,
           "... one of which leaves the block whole");
    chooser_destroy(chooser);
    chooser = chooser_create(&machine, layout, &window);
    is_int(times_listed(chooser, 1 << 20, "pull", 0), 1,
           "an algorithm without segments is listed once");
    machine.copy_GBps = 100;
    ok(predicted_time_us(chooser, 1 << 20, "shared") > (1 << 20) / 1e3,
       "data that another rank has just written is no faster than a message, at 1 GB/s");
    ok(predicted_time_us(chooser, 1 << 20, "pull") < (1 << 20) / 1e3,
       "data that both ends copy is");
    chooser_destroy(chooser);
    layout_free(layout);
}

/* Returns the choice for an all-to-all; counts NULL: all blocks have the same size. */
static const char *chosen_for_all_to_all(struct chooser *chooser, size_t count,
                                         const size_t *counts)
{
    const struct plan_shape shape = {.kind = COLLECTIVE_ALL_TO_ALL,
                                     .element_bytes = 4,
                                     .ranks = 4,
                                     .count = count,
                                     .counts = counts,
                                     .topology = &window};
    struct choice choice = chooser_pick(chooser, &shape, ELEMENT_FP32);

    return choice.algorithm ? choice.algorithm->name : "mpi";
}

/* Returns the algorithm that is chosen together with the wire, for an all-to-all of 1 MiB. */
static const char *chosen_with_wire(struct chooser *chooser, bool in_place)
{
    const struct plan_shape shape = {.kind = COLLECTIVE_ALL_TO_ALL,
                                     .element_bytes = 4,
                                     .ranks = 4,
                                     .count = 1 << 16,
                                     .in_place = in_place,
                                     .topology = &window};
    struct wire_choice wire;

    return chooser_pick_wire(chooser, &shape, ELEMENT_FP32, &wire).algorithm->name;
}

static void test_unknown_sizes(void)
{
    const size_t counts[] = {1 << 16, 1 << 16, 1 << 16, 1 << 16};
    struct machine machine = synthetic_machine(10, 1);
    struct layout *layout = make_layout("a a a a", "x x x x");
    const struct machine_benchmark benchmark = {.kind = COLLECTIVE_ALL_TO_ALL,
                                                .algorithm = "pull",
                                                .segment_bytes = 262144,
                                                .bytes = 1 << 20,
                                                .time_us = 50};
    struct chooser *chooser;

    machine_add_benchmark(&machine, &benchmark, NULL);
    chooser = chooser_create(&machine, layout, &window);
    is_str(chosen_for_all_to_all(chooser, 1 << 16, NULL), "pull",
           "an all-to-all of 1 MiB: the benchmark decides");
    is_str(chosen_for_all_to_all(chooser, 0, counts), "shared",
           "... if no rank knows its total size: the window");
    chooser_destroy(chooser);
    chooser = chooser_create(&machine, layout, &window);
    is_str(chosen_with_wire(chooser, true), "pairwise",
           "... in place another algorithm, if the best does not apply");
    is_str(chosen_with_wire(chooser, false), "pull",
           "... and the next call that is not in place has the best again");
    chooser_destroy(chooser);
    chooser = chooser_create(&machine, layout, &window);
    chooser_force(chooser, "all-to-all=pairwise", NULL);
    is_str(chosen_for_all_to_all(chooser, 0, counts), "pairwise", "... or the forced algorithm");
    chooser_destroy(chooser);
    machine_clear(&machine);
    layout_free(layout);
}

/* Returns the choice for this size if benchmarks have shared_us for "shared", 100 us for "pull". */
static const char *chosen_beside_pull(size_t bytes, double shared_us)
{
    struct machine machine = synthetic_machine(10, 1);
    struct layout *layout = make_layout("a a a a", "x x x x");
    struct machine_benchmark benchmark = {.kind = COLLECTIVE_ALL_TO_ALL,
                                          .algorithm = "pull",
                                          .segment_bytes = 262144,
                                          .bytes = bytes,
                                          .time_us = 100};
    struct chooser *chooser;
    const char *picked;

    machine_add_benchmark(&machine, &benchmark, NULL);
    snprintf(benchmark.algorithm, sizeof benchmark.algorithm, "shared");
    benchmark.time_us = shared_us;
    machine_add_benchmark(&machine, &benchmark, NULL);
    chooser = chooser_create(&machine, layout, &window);
    picked = chosen_for_all_to_all(chooser, bytes / 16, NULL);
    chooser_destroy(chooser);
    machine_clear(&machine);
    layout_free(layout);
    return picked;
}

static void test_preference_for_steadiness(void)
{
    is_str(chosen_beside_pull(1 << 21, 120), "shared",
           "if nearly as fast, the one that varies less is chosen");
    is_str(chosen_beside_pull(1 << 21, 130), "pull",
           "if it is clearly slower, the faster one is chosen");
    is_str(chosen_beside_pull(1 << 18, 120), "pull", "with less data, the faster one is chosen");
}

static const char *chosen_name(struct chooser *chooser, const struct layout *layout, size_t count)
{
    struct plan_shape shape = allreduce(layout, count);
    struct choice choice = chooser_pick(chooser, &shape, ELEMENT_FP32);

    return choice.algorithm != NULL ? choice.algorithm->name : "mpi";
}

static void test_chooser(void)
{
    struct machine machine = synthetic_machine(10, 1);
    struct layout *layout = make_layout("a b c d e f g h", "x x x x x x x x");
    struct chooser *chooser = make_chooser(&machine, layout);
    struct plan_shape shape = allreduce(layout, 1 << 20);
    struct choice choices[CHOICES];
    const char *name;
    unsigned count;
    char *text = NULL;
    size_t size;
    FILE *stream;
    double ring, doubling;

    name = chosen_name(chooser, layout, 1);
    ok(walk_us(&machine, layout, name, 1) <= walk_us(&machine, layout, "recursive-doubling", 1) &&
           2 * walk_us(&machine, layout, name, 1) < walk_us(&machine, layout, "ring", 1),
       "a small size: few messages (%s)", name);
    ring = walk_us(&machine, layout, "ring", 4 << 20);
    doubling = walk_us(&machine, layout, "recursive-doubling", 4 << 20);
    ok(doubling > 1.4 * ring, "a large size: recursive doubling sends too much");
    name = chosen_name(chooser, layout, 4 << 20);
    ok(strcmp(name, "recursive-doubling") != 0, "... and is not chosen (%s is)", name);
    count = chooser_list(chooser, &shape, ELEMENT_FP32, choices);
    ok(count > 2, "%u choices", count);
    for (unsigned i = 1; i < count; i++)
        if (choices[i].predicted_us < choices[i - 1].predicted_us)
            ok(false, "the choices are in the order of the predicted times");

    /* a benchmark takes precedence over the prediction, in a size that was not chosen for yet */
    add_benchmark(&machine, "recursive-doubling", chooser_segments[0], 4 << 20, 1);
    is_str(chosen_name(chooser, layout, 1 << 20), "recursive-doubling", "a benchmark decides");
    chooser_allow_mpi(chooser, true);
    add_benchmark(&machine, MACHINE_MPI, 0, 4 << 20, 0.5);
    is_str(chosen_name(chooser, layout, 1 << 20), "recursive-doubling", "a choice is kept");
    chooser_destroy(chooser);
    chooser = make_chooser(&machine, layout);
    is_str(chosen_name(chooser, layout, 1 << 20), "recursive-doubling",
           "MPI's own collective is not chosen if it is not allowed");
    chooser_destroy(chooser);
    chooser = make_chooser(&machine, layout);
    chooser_allow_mpi(chooser, true);
    is_str(chosen_name(chooser, layout, 1 << 20), "mpi",
           "... and is chosen if it is allowed and fastest");
    stream = open_memstream(&text, &size);
    chooser_explain(chooser, &shape, ELEMENT_FP32, stream);
    fclose(stream);
    has_str(text, "mpi                         0            -          0.5  chosen\n",
            "the explanation has the chosen one");
    has_str(text, "recursive-doubling     262144", "... and one that was not chosen");
    free(text);
    chooser_destroy(chooser);
    machine_clear(&machine);
    layout_free(layout);
}

static struct wire_choice wire_choice_of(const struct machine *machine, const struct layout *layout,
                                         const char *name, size_t count)
{
    struct chooser *chooser = make_chooser(machine, layout);
    struct plan_shape shape = allreduce(layout, count);
    struct wire_choice choice, again;

    choice = chooser_wire(chooser, &shape, ELEMENT_FP32, algorithm_find(shape.kind, name), 1 << 18);
    again = chooser_wire(chooser, &shape, ELEMENT_FP32, algorithm_find(shape.kind, name), 1 << 18);
    if (choice.wire != again.wire || choice.as_is_us != again.as_is_us ||
        choice.lossless_us != again.lossless_us)
        ok(false, "a second call makes the same choice");
    chooser_destroy(chooser);
    return choice;
}

static struct wire_choice joint_choice_of(const struct machine *machine,
                                          const struct layout *layout, const char **name)
{
    struct chooser *chooser = make_chooser(machine, layout);
    struct plan_shape shape = allreduce(layout, 4 << 20);
    struct wire_choice wire, again;
    struct choice choice = chooser_pick_wire(chooser, &shape, ELEMENT_FP32, &wire);

    *name = choice.algorithm->name;
    if (chooser_pick_wire(chooser, &shape, ELEMENT_FP32, &again).algorithm != choice.algorithm ||
        again.wire != wire.wire)
        ok(false, "a second call makes the same choice");
    if (wire.wire == WIRE_AS_IS &&
        chooser_pick(chooser, &shape, ELEMENT_FP32).algorithm != choice.algorithm)
        ok(false, "uncoded, the choice is that of chooser_pick()");
    chooser_destroy(chooser);
    return wire;
}

/* Chooses algorithm and wire together, for four ranks at 0.1 GB/s. Benchmarks make recursive
 * doubling the best algorithm as it is. */
static void test_joint_choice(void)
{
    struct layout *layout = make_layout("a b c d", "x x x x");
    struct machine machine = synthetic_machine(10, 0.1);
    struct wire_choice choice;
    const char *name;
    double ring_us;

    choice = joint_choice_of(&machine, layout, &name);
    is_int(choice.wire, WIRE_LOSSLESS, "on a slow link the choice is coded, by %s", name);
    ring_us = wire_choice_of(&machine, layout, "ring", 4 << 20).as_is_us;
    add_benchmark(&machine, "ring", chooser_segments[0], 16 << 20, ring_us);
    add_benchmark(&machine, "recursive-doubling", chooser_segments[0], 16 << 20, 0.98 * ring_us);
    add_coded_benchmark(&machine, "ring", chooser_segments[0], 16 << 20, 0.6 * ring_us);
    add_coded_benchmark(&machine, "direct", chooser_segments[1], 16 << 20, 0.5 * ring_us);
    choice = joint_choice_of(&machine, layout, &name);
    is_int(choice.wire, WIRE_LOSSLESS, "another algorithm is the best as it is");
    is_str(name, "direct", "... and the choice is the one that was measured fastest coded");
    is_near(choice.as_is_us, 0.98 * ring_us, 0.1 * ring_us,
            "... compared with the best one as it is");
    is_near(choice.lossless_us / ring_us,
            0.5 * machine_lossless_us(&machine, LINK_LEAF, CODEC_FP32, 4 << 20) /
                machine_lossless_us(&machine, LINK_LEAF, CODEC_BF16, 4 << 20),
            0.1, "... with the time of bf16, which was measured, scaled to fp32");
    add_benchmark(&machine, "recursive-doubling", chooser_segments[0], 16 << 20, 0.3 * ring_us);
    choice = joint_choice_of(&machine, layout, &name);
    is_int(choice.wire, WIRE_AS_IS, "if one as it is is much faster than any coded one");
    is_str(name, "recursive-doubling", "... that one is chosen");
    machine_clear(&machine);
    machine = synthetic_machine(10, 0.1);
    add_benchmark(&machine, "ring", chooser_segments[0], 16 << 20, 2 * ring_us);
    choice = joint_choice_of(&machine, layout, &name);
    is_int(choice.wire, WIRE_LOSSLESS, "without coded benchmarks the prediction decides");
    is_str(name, "ring", "... on the algorithm that is the best as it is");
    machine_clear(&machine);

    machine = synthetic_machine(10, 50);
    is_int(joint_choice_of(&machine, layout, &name).wire, WIRE_AS_IS,
           "on a fast link the choice is as it is");
    machine_clear(&machine);
    layout_free(layout);
}

/* Simulated machines on both sides of the rate where coding starts to pay: the codec at 2 GB/s each
 * way and a ratio of 1.4, on links from slow to fast. */
static void test_wire(void)
{
    struct layout *layout = make_layout("a b c d", "x x x x"),
                  *node = make_layout("a a a a", "x x x x");
    struct chooser *chooser;
    struct machine machine;
    struct plan_shape shape = allreduce(layout, 4 << 20);
    struct wire_choice choice;
    struct choice picked;
    const struct algorithm *ring = algorithm_find(COLLECTIVE_ALLREDUCE, "ring");
    char *text = NULL;
    size_t size;
    FILE *stream;
    double slowest_uncoded = 0, fastest_coded = 0;

    for (double rate = 0.05; rate < 50; rate *= 1.1) {
        machine = synthetic_machine(10, rate);
        choice = wire_choice_of(&machine, layout, "ring", 4 << 20);
        if (choice.wire == WIRE_LOSSLESS)
            fastest_coded = rate;
        else if (slowest_uncoded == 0)
            slowest_uncoded = rate;
        if ((choice.wire == WIRE_LOSSLESS) != (choice.lossless_us < 0.95 * choice.as_is_us))
            ok(false, "%g GB/s: coded exactly if it is predicted to be faster by 5 %%", rate);
    }
    /* coding takes 1 us per kB, and a ring encodes and decodes once per hop: that must be less than
     * the time that the saved bytes take on the link */
    ok(fastest_coded > 0.1 && slowest_uncoded < 2 && fastest_coded < slowest_uncoded,
       "coded up to %.2g GB/s, as it is from %.2g GB/s on", fastest_coded, slowest_uncoded);

    machine = synthetic_machine(10, 0.1);
    choice = wire_choice_of(&machine, layout, "ring", 4 << 20);
    is_near(choice.as_is_us / choice.lossless_us, 1.4, 0.15,
            "on a slow link coding gains nearly its ratio");
    is_int(wire_choice_of(&machine, layout, "ring", 16).wire, WIRE_AS_IS,
           "a few bytes are not coded");
    for (int i = 0; i < MACHINE_SIZES; i++)
        machine.link_us[LINK_NODE][i] /= 1000;
    is_int(wire_choice_of(&machine, node, "ring", 4 << 20).wire, WIRE_AS_IS,
           "nor are messages within a node with fast memory");
    is_int(wire_choice_of(&machine, layout, "ring", 4 << 20).wire, WIRE_LOSSLESS,
           "... but messages that leave the node are");
    machine.encode_GBps[CODEC_FP32] = machine.decode_GBps[CODEC_FP32] = 0.05;
    is_int(wire_choice_of(&machine, layout, "ring", 4 << 20).wire, WIRE_AS_IS,
           "a slow codec is not used");
    machine.encode_GBps[CODEC_FP32] = 0;
    choice = wire_choice_of(&machine, layout, "ring", 4 << 20);
    is_int(choice.wire, WIRE_AS_IS, "a codec that was not measured is not used");
    is_near(choice.lossless_us, -1, 0, "... and has no predicted time");
    machine = synthetic_machine(10, 0.1);
    machine.ratio[CODEC_FP32] = 1.02;
    is_int(wire_choice_of(&machine, layout, "ring", 4 << 20).wire, WIRE_AS_IS,
           "numbers that hardly shrink are not coded");

    /* a case in which the walk predicts more gain than a hop can have */
    machine = synthetic_machine(10, 0.05);
    machine.encode_GBps[CODEC_FP32] = machine.decode_GBps[CODEC_FP32] = 0.1;
    chooser = make_chooser(&machine, layout);
    shape.kind = COLLECTIVE_BROADCAST;
    choice = chooser_wire(chooser, &shape, ELEMENT_FP32,
                          algorithm_find(COLLECTIVE_BROADCAST, "chain"), 1 << 18);
    ok(choice.lossless_us < 0.95 * choice.as_is_us, "a broadcast by a chain is predicted to gain");
    is_int(choice.wire, WIRE_AS_IS, "... but is not coded, as the codec is slower than the link");
    shape.kind = COLLECTIVE_ALLREDUCE;
    chooser_destroy(chooser);

    machine = synthetic_machine(10, 0.1);
    chooser = make_chooser(&machine, layout);
    is_int(chooser_wire(chooser, &shape, ELEMENT_INT32, ring, 1 << 18).wire, WIRE_AS_IS,
           "integers are not coded");
    stream = open_memstream(&text, &size);
    picked = chooser_pick_wire(chooser, &shape, ELEMENT_FP32, &choice);
    chooser_explain_wire(&shape, &picked, &choice, stream);
    fclose(stream);
    has_str(text, "allreduce        16777216  ", "the explanation has the collective and its size");
    has_str(text, picked.algorithm->name, "... the algorithm");
    has_str(text, "  lossless\n", "... and the chosen wire");
    free(text);
    /* many ranks: predicted by the formula */
    chooser_destroy(chooser);
    layout_free(layout);
    {
        char names[RANKS][NAME] = {{0}};

        for (int rank = 0; rank < RANKS; rank++)
            snprintf(names[rank], NAME, "n%d", rank);
        layout = layout_make(RANKS, names[0], names[0], NAME);
    }
    is_int(wire_choice_of(&machine, layout, "ring", 64 << 20).wire, WIRE_LOSSLESS,
           "64 ranks on slow links are coded");
    machine = synthetic_machine(10, 10);
    is_int(wire_choice_of(&machine, layout, "ring", 64 << 20).wire, WIRE_AS_IS,
           "... and on fast links are not");
    layout_free(layout);
    layout_free(node);
}

static bool is_same_choice(const struct choice *a, const struct choice *b)
{
    return a->algorithm == b->algorithm && a->segment_bytes == b->segment_bytes;
}

/* One rank is out of memory: it must not choose otherwise than the others. */
static void test_memory(void)
{
    struct layout *layout = make_layout("a b c d", "x x x x");
    struct machine machine = synthetic_machine(10, 0.1);
    struct plan_shape shape = allreduce(layout, 1 << 14);
    const struct algorithm *ring = algorithm_find(shape.kind, "ring");
    struct chooser *chooser = make_chooser(&machine, layout);
    struct wire_choice both, wire,
        expected_wire = chooser_wire(chooser, &shape, ELEMENT_FP32, ring, 1 << 18);
    struct choice choice, expected = chooser_pick_wire(chooser, &shape, ELEMENT_FP32, &both);
    int picks_failed = 0, wires_failed = 0, differences = 0;
    bool has_failed = true;

    chooser_destroy(chooser);
    for (unsigned number = 1; has_failed; number += 1 + number / 8) {
        chooser = make_chooser(&machine, layout);
        memory_fails_at(number);
        wire = chooser_wire(chooser, &shape, ELEMENT_FP32, ring, 1 << 18);
        choice = chooser_pick_wire(chooser, &shape, ELEMENT_FP32, &both);
        has_failed = memory_has_failed();
        memory_fails_at(0);
        wires_failed += isnan(wire.as_is_us);
        picks_failed += isnan(choice.predicted_us);
        differences += !isnan(wire.as_is_us) && wire.as_is_us != expected_wire.as_is_us;
        differences += !isnan(choice.predicted_us) && !is_same_choice(&choice, &expected);
        wire = chooser_wire(chooser, &shape, ELEMENT_FP32, ring, 1 << 18);
        choice = chooser_pick_wire(chooser, &shape, ELEMENT_FP32, &both);
        differences += wire.as_is_us != expected_wire.as_is_us;
        differences += !is_same_choice(&choice, &expected);
        chooser_destroy(chooser);
    }
    is_int(differences, 0, "without memory no other choice is made, and none is kept");
#ifndef __SANITIZE_ADDRESS__
    ok(wires_failed > 0 && picks_failed > 0, "... but %d and %d times none", wires_failed,
       picks_failed);
#endif
    layout_free(layout);
}

/* Returns whether a forced algorithm has the first segment at every size. */
static bool has_first_segment(struct chooser *chooser, const char *name)
{
    struct plan_shape shape = {.kind = COLLECTIVE_ALLREDUCE, .element_bytes = 4, .ranks = 4};
    bool holds = true;

    for (shape.count = 1; shape.count < 1 << 26; shape.count *= 2) {
        struct choice choice = chooser_pick(chooser, &shape, ELEMENT_FP32);

        holds = holds && strcmp(choice.algorithm->name, name) == 0 &&
                choice.segment_bytes == chooser_segments[0];
    }
    return holds;
}

static void test_force(void)
{
    struct machine machine = synthetic_machine(10, 1);
    struct layout *layout = make_layout("a b c d", "x x x x");
    struct chooser *chooser = make_chooser(&machine, layout);
    struct plan_shape shape = {
        .kind = COLLECTIVE_BROADCAST, .element_bytes = 4, .ranks = 4, .count = 1};
    struct error err;

    is_int(chooser_force(chooser, "ring", &err), 0, "an algorithm is forced");
    is_str(chosen_name(chooser, layout, 1), "ring", "... and is chosen where it is not the best");
    ok(has_first_segment(chooser, "ring"), "... with one segment for all sizes");
    ok(chooser_pick(chooser, &shape, ELEMENT_UINT8).algorithm != NULL,
       "a collective without this algorithm has another one");
    chooser_destroy(chooser);
    chooser = make_chooser(&machine, layout);
    is_int(chooser_force(chooser, "mpi,allreduce=recursive-doubling", &err), 0,
           "one algorithm for one collective, and MPI's for the others");
    is_str(chosen_name(chooser, layout, 4 << 20), "recursive-doubling", "... the one is chosen");
    ok(chooser_pick(chooser, &shape, ELEMENT_UINT8).algorithm == NULL,
       "... and MPI's for another collective");
    is_int(chooser_force(chooser, "fast", &err), -1, "an unknown algorithm is refused");
    is_str(err.text, "found \"fast\", expected auto, mpi or an algorithm", "... with this message");
    is_int(chooser_force(chooser, "broadcast=recursive-doubling", &err), -1,
           "an algorithm of another collective is refused");
    is_str(err.text,
           "found \"recursive-doubling\", expected auto, mpi or an algorithm of broadcast",
           "... with this message");
    is_int(chooser_force(chooser, "scan=ring", &err), -1, "an unknown collective is refused");
    has_str(err.text, "found \"scan\", expected allreduce,", "... with this message");
    is_int(chooser_force(chooser, "allreduce=", &err), -1,
           "a collective without an algorithm is refused");
    is_str(err.text, "found \"\", expected auto, mpi or an algorithm of allreduce",
           "... with this message");
    is_int(chooser_force(chooser, "auto", &err), 0, "auto is accepted");
    is_int(chooser_force(chooser, "", &err), 0, "an empty text is accepted");
    chooser_destroy(chooser);
    layout_free(layout);
}

static void flip_bit(const char *path, long offset)
{
    FILE *stream = fopen(path, "r+");
    int c;

    fseek(stream, offset, SEEK_SET);
    c = fgetc(stream);
    fseek(stream, offset, SEEK_SET);
    fputc(c ^ 1, stream);
    fclose(stream);
}

static void test_cache(void)
{
    char directory[] = "/tmp/choose-XXXXXX", path[256], expected[600], other[256];
    static const char identity[] = "ranks: 4\nnode: Xeon, 2 cpus\nmpi: Open MPI v4.1.4\n";
    struct machine machine = synthetic_machine(10, 1), again;
    struct error err;

    ok(mkdtemp(directory) != NULL, "a temporary directory is made");
    is_int(cache_path(directory, "here", path, sizeof path, &err), 0, "a path is formatted");
    cache_path(directory, "there", other, sizeof other, NULL);
    ok(strcmp(path, other) != 0, "another machine has another path");
    is_int(cache_read(path, identity, &again, &err), 1, "a missing file returns 1");
    add_benchmark(&machine, "ring", 0, 1000, 1);
    is_int(cache_write(path, identity, &machine, &err), 0, "the file is written");
    is_int(cache_read(path, identity, &again, &err), 0, "... and read");
    ok(are_equal(&machine, &again), "... the same figures");
    machine_clear(&again);
    is_int(cache_read(path, "ranks: 4\nnode: Xeon, 2 cpus\nmpi: Open MPI v5.0.7\n", &again, &err),
           -1, "a file of another MPI is refused");
    snprintf(expected, sizeof expected,
             "%s: measured elsewhere: mpi: was ... MPI v4.1.4, is ... MPI v5.0.7", path);
    is_str(err.text, expected, "... with this message");
    for (long offset = 0; offset < 400; offset += 57) {
        flip_bit(path, offset);
        if (cache_read(path, identity, &again, &err) != -1)
            ok(false, "a file with byte %ld altered is refused", offset);
        flip_bit(path, offset);
    }
    is_int(cache_read(path, identity, &again, &err), 0, "the restored file is read");
    machine_clear(&again);
    ok(truncate(path, 300) == 0, "the file is truncated");
    is_int(cache_read(path, identity, &again, &err), -1, "a truncated file is refused");
    snprintf(expected, sizeof expected, "%s: cut or altered, or another version's", path);
    is_str(err.text, expected, "... with this message");
    ok(truncate(path, 0) == 0, "the file is emptied");
    is_int(cache_read(path, identity, &again, &err), -1, "an empty file is refused");
    is_int(cache_write(path, identity, &machine, &err), 0, "the file is replaced");
    is_int(cache_read(path, identity, &again, &err), 0, "... completely");
    machine_clear(&again);
    unlink(path);
    mkdir(path, 0700);
    is_int(cache_read(path, identity, &again, &err), -1, "a directory in its place cannot be read");
    is_int(cache_write(path, identity, &machine, &err), -1, "... is not replaced");
    rmdir(path);

    setenv("XDG_CACHE_HOME", directory, 1);
    cache_path(NULL, "here", path, sizeof path, &err);
    snprintf(expected, sizeof expected, "%s/muster/collectives-", directory);
    has_str(path, expected, "the path is below XDG_CACHE_HOME");
    is_int(cache_write(path, identity, &machine, &err), 0, "... its directory is made");
    unlink(path);
    snprintf(path, sizeof path, "%s/muster", directory);
    ok(rmdir(path) == 0, "... with only the file in it");
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", "/home/x", 1);
    cache_path(NULL, "here", path, sizeof path, &err);
    has_str(path, "/home/x/.cache/muster/collectives-",
            "the path is below HOME if XDG_CACHE_HOME is not absolute");
    unsetenv("HOME");
    is_int(cache_path(NULL, "here", path, sizeof path, &err), -1,
           "no path without an absolute directory");
    is_str(err.text, "neither XDG_CACHE_HOME nor HOME names a directory", "... with this message");
    is_int(cache_path("figures", "here", path, sizeof path, &err), -1,
           "a relative directory is refused");
    is_str(err.text, "figures: expected an absolute directory", "... with this message");
    rmdir(directory);
    machine_clear(&machine);
}

/* Writes this line to /proc/stat of a simulated machine, in clock ticks, and reads it. */
static struct background_load_mark load_of_line(const char *root, const char *line)
{
    char text[128];

    snprintf(text, sizeof text, "%s\ncpu0 1 1 1 1 1 1 1 1 0 0\n", line);
    tree_put(root, "proc/stat", text);
    return background_load_read(root);
}

static void test_background_load(void)
{
    char *root = tree_unpack(""), path[512];
    struct background_load_mark before, after;
    struct machine first = {.background_load = 0.5, .measured = 1},
                   second = {.background_load = 0.05, .measured = 1};

    before = load_of_line(root, "cpu  100 10 50 1000 40 5 5 10 99 99");
    is_near(before.busy_s * (double)sysconf(_SC_CLK_TCK), 180, 1e-9,
            "busy time is all time but idle and I/O wait");
    is_near(before.all_s * (double)sysconf(_SC_CLK_TCK), 1220, 1e-9,
            "... and all time includes them");
    after = before;
    after.busy_s += 6;
    after.all_s += 8;
    is_near(background_load_share(before, after, 4), 0.25, 1e-9,
            "the share of other processes is without the time of the ranks");
    is_near(background_load_share(before, after, 7), 0, 0, "... and is never negative");
    is_near(background_load_share(before, before, 0), 0, 0, "no time gives no share");
    after = load_of_line(root, "intr 1 2 3");
    is_near(after.all_s, 0, 0, "a file in another format gives no times");
    is_near(background_load_share(before, after, 0), 0, 0, "... and no share");
    snprintf(path, sizeof path, "%s/proc/stat", root);
    unlink(path);
    is_near(background_load_read(root).all_s, 0, 0, "a missing file gives no times");
    tree_remove(root);

    ok(background_load_misled(&first),
       "figures under a load of half of the processors are measured again");
    ok(!background_load_misled(&second), "... but not under hardly any load");
    add_benchmark(&first, "ring", 0, 1000, 50);
    add_benchmark(&second, "ring", 0, 1000, 5);
    first = background_load_keep_better(&first, &second);
    is_near(ring_benchmark_us(&first, 1000) +
                machine_benchmark_us(&first, COLLECTIVE_ALLREDUCE, WIRE_AS_IS, "ring", 0, 1000),
            5, 0, "the better figures are kept");
    ok(first.measured == 2 && !background_load_misled(&first), "... and not measured again");
    second = (struct machine){.background_load = 0.9, .measured = 1};
    first.background_load = 0.3;
    first = background_load_keep_better(&first, &second);
    ok(first.background_load < 0.4 && !background_load_misled(&first),
       "if the second load is worse, the first figures are kept and not measured again");
    machine_clear(&first);
}

int main(void)
{
    test_layout();
    test_rings();
    test_links();
    test_benchmarks();
    test_text();
    test_text_is_complete();
    test_walk();
    test_walk_queues();
    test_walk_of_all();
    test_segments();
    test_unknown_sizes();
    test_preference_for_steadiness();
    test_chooser();
    test_wire();
    test_joint_choice();
    test_memory();
    test_force();
    test_background_load();
    test_cache();
    return tap_done();
}
