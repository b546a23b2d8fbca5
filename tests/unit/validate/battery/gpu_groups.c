/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/text.h"
#include "tests/unit/tap.h"
#include "validate/battery/gpu/group_evaluate.h"

#include <stdio.h>
#include <string.h>

/* Nodes with made-up collective results. Findings are collected as lines "CODE NODE PART
 * METRIC". */
enum { NODES = 5, DEVICES = 8 };
static struct gpu_node gpu_nodes[NODES];
static struct gpu_device node_devices[NODES][DEVICES];
static struct group_node nodes[NODES];
static const char *const names[NODES] = {"n1", "n2", "n3", "n4", "n5"};
static char findings_text[4096];

static void pair_set(int node, int i, int k, enum pair_state state, float ms)
{
    gpu_pair_put(&node_devices[node][i],
                 &(struct gpu_pair){.with = k, .state = state, .ms = ms, .bytes = 1e6F});
    gpu_pair_put(&node_devices[node][k],
                 &(struct gpu_pair){.with = i, .state = state, .ms = ms, .bytes = 1e6F});
}

static void make_healthy(int count)
{
    memset(gpu_nodes, 0, sizeof gpu_nodes);
    memset(node_devices, 0, sizeof node_devices);
    memset(nodes, 0, sizeof nodes);
    for (int i = 0; i < NODES; i++) {
        struct group_result *within = &nodes[i].within;

        gpu_nodes[i].count = nodes[i].count = count;
        gpu_nodes[i].devices = node_devices[i];
        for (int k = 0; k < count; k++) {
            snprintf(gpu_nodes[i].devices[k].model, sizeof gpu_nodes[i].devices[k].model, "H100");
            gpu_nodes[i].devices[k].part = k;
        }
        nodes[i].version = 22105;
        *within = (struct group_result){.is_measured = true, .ranks = count, .bytes = 1e6F};
        nodes[i].across = *within;
        nodes[i].across.ranks = NODES * count;
        for (int c = 0; c < COLLECTIVES; c++)
            within->ms[c] = nodes[i].across.ms[c] = 1;
    }
}

static void add_finding(struct record *record, void *context)
{
    if (record->verdict != VERDICT_PASS)
        text_join(findings_text, sizeof findings_text, "", "%s %s %s %s\n",
                  catalog_fault(record->code)->name, record->node ? record->node : "-",
                  record->part && *record->part ? record->part : "-", record->metric);
}

static const char *evaluated(size_t count)
{
    findings_text[0] = '\0';
    group_evaluate(gpu_nodes, nodes, count, names, &(struct record_sink){add_finding, NULL});
    return findings_text;
}

static void set_all_pairs(int node, int count)
{
    for (int i = 0; i < count; i++)
        for (int k = i + 1; k < count; k++)
            pair_set(node, i, k, PAIR_DONE, 1);
}

static void test_nodes_compared(void)
{
    make_healthy(DEVICES);
    is_str(evaluated(NODES), "", "healthy nodes");
    nodes[1].within.ms[COLLECTIVE_ALL_GATHER] = 1.3F;
    is_str(evaluated(NODES), "gpu_collective_slow n2 - all_gather\n", "a slow node");
    is_str(evaluated(2), "gpu_collective_slow n2 - all_gather\n", "... the slower of two");
    gpu_nodes[1].devices[0].model[0] = 'A';
    is_str(evaluated(NODES), "", "... has no peer if its model differs");
    gpu_nodes[1].devices[0].model[0] = 'H';
    snprintf(gpu_nodes[1].devices[7].pci, sizeof gpu_nodes[1].devices[7].pci, "0000:41:00.0");
    is_str(evaluated(NODES), "", "... or if a device has another PCI address");
    make_healthy(DEVICES);
    nodes[3].version = 21903;
    is_str(evaluated(NODES), "gpu_collective_version n4 - library\n",
           "a node whose library version differs from most");
    ok(group_version(nodes, NODES) == 22105, "... the most common version is known");
    nodes[3].version = 0;
    nodes[3].count = 0;
    nodes[3].outcome = WORKER_NOT_TESTED;
    nodes[3].within.is_measured = nodes[3].across.is_measured = false;
    is_str(evaluated(NODES), "gpu_collective_version n4 - library\n",
           "a node without the library, where others have it");
}

static void test_device_pairs(void)
{
    make_healthy(DEVICES);
    set_all_pairs(0, DEVICES);
    is_str(evaluated(1), "", "pairs that are alike");
    for (int k = 0; k < DEVICES; k++)
        if (k != 5)
            pair_set(0, 5, k, PAIR_DONE, 2);
    is_str(evaluated(1), "gpu_collective_slow n1 gpu5 all_reduce\n",
           "a device that is slow with all others");
    set_all_pairs(0, DEVICES);
    pair_set(0, 2, 3, PAIR_DONE, 2);
    is_str(evaluated(1), "gpu_collective_slow n1 gpu2 gpu3 all_reduce\n", "a slow pair");
    make_healthy(4);
    set_all_pairs(0, 4);
    for (int i = 0; i < 4; i++)
        for (int k = i + 1; k < 4; k++)
            pair_set(0, i, k, PAIR_DONE, k == (i ^ 1) ? 1 : 3);
    is_str(evaluated(1), "", "pairs with a bridge and pairs without are no fault");
    make_healthy(DEVICES);
    for (int i = 0; i < 3; i++) /* three devices on one socket, one on the other */
        for (int a = 0; a < 4; a++)
            for (int b = a + 1; b < 4; b++)
                pair_set(i, a, b, PAIR_DONE, b == 3 ? 3 : 1);
    is_str(evaluated(NODES), "", "a device that is far away on all nodes is no fault");
    pair_set(1, 0, 3, PAIR_DONE, 6);
    is_str(evaluated(NODES), "gpu_collective_slow n2 gpu0 gpu3 all_reduce\n",
           "... a pair that is slower than on other nodes is");
    make_healthy(4);
    nodes[0].within.outcome = WORKER_HUNG;
    nodes[0].within.collective = COLLECTIVE_ALL_REDUCE;
    pair_set(0, 0, 1, PAIR_BROKEN, 0);
    pair_set(0, 2, 3, PAIR_DONE, 1);
    pair_set(0, 0, 2, PAIR_DONE, 1);
    pair_set(0, 1, 3, PAIR_BROKEN, 0);
    is_str(evaluated(1), "gpu_collective_hung n1 gpu1 device\n", "the device whose pairs all hang");
    pair_set(0, 2, 3, PAIR_BROKEN, 0);
    pair_set(0, 0, 2, PAIR_BROKEN, 0);
    is_str(evaluated(1), "gpu_collective_hung n1 - device\n",
           "no device is named if all pairs hang");
}

static void round_set(int round, int one, int other, enum pair_state state, float bandwidth)
{
    nodes[one].rounds[round].partner = other;
    nodes[other].rounds[round].partner = one;
    nodes[one].rounds[round].state = nodes[other].rounds[round].state = (unsigned char)state;
    nodes[one].rounds[round].bandwidth = nodes[other].rounds[round].bandwidth = bandwidth;
}

static void test_node_pairs(void)
{
    static const int plan[3][2][2] = {{{0, 1}, {2, 3}}, {{0, 2}, {1, 3}}, {{0, 3}, {1, 2}}};

    make_healthy(1);
    for (int round = 0; round < 3; round++)
        for (int k = 0; k < 2; k++)
            round_set(round, plan[round][k][0], plan[round][k][1], PAIR_DONE, 100);
    is_str(evaluated(4), "", "pairs of nodes that are alike");
    round_set(0, 0, 1, PAIR_DONE, 50);
    is_str(evaluated(4), "", "one slow pair is no fault of one node");
    round_set(1, 1, 3, PAIR_DONE, 50);
    round_set(2, 1, 2, PAIR_DONE, 50);
    is_str(evaluated(4), "gpu_collective_slow n2 - all_reduce_nodes\n",
           "a node that is slow in all its pairs");
    for (int i = 0; i < 4; i++)
        nodes[i].across.outcome = WORKER_HUNG;
    for (int round = 0; round < 3; round++)
        for (int k = 0; k < 2; k++) {
            bool is_bad = plan[round][k][0] == 2 || plan[round][k][1] == 2;

            round_set(round, plan[round][k][0], plan[round][k][1], is_bad ? PAIR_BROKEN : PAIR_DONE,
                      100);
        }
    is_str(evaluated(4), "gpu_collective_hung n3 - device\ngpu_collective_hung - - device\n",
           "a node whose pairs all hang");
}

/* Checks that collective_verify() accepts exactly the elements that other ranks sent. */
static void test_contents(void)
{
    enum { RANKS = 3, COUNT = 96 };
    static unsigned sent[RANKS][COUNT], received[COUNT];
    struct collective_sums sums;
    size_t each = COUNT / RANKS, index = 0;
    unsigned expected = 0;

    collective_sums_begin(RANKS, &sums);
    for (int rank = 0; rank < RANKS; rank++)
        collective_fill(COLLECTIVE_ALL_TO_ALL, rank, sent[rank], COUNT);
    for (int rank = 0; rank < RANKS; rank++)
        memcpy(received + (size_t)rank * each, sent[rank] + 1 * each, each * sizeof **sent);
    is_int(collective_verify(COLLECTIVE_ALL_TO_ALL, &sums, 1, COUNT, received, &index, &expected),
           0, "the all-to-all result of rank 1");
    ok(collective_verify(COLLECTIVE_ALL_TO_ALL, &sums, 2, COUNT, received, &index, &expected) > 90,
       "... is not that of rank 2");
    received[40] ^= 1;
    is_int(collective_verify(COLLECTIVE_ALL_TO_ALL, &sums, 1, COUNT, received, &index, &expected),
           1, "a wrong bit is one wrong element");
    is_int(index, 40, "... whose index is found");
    for (int rank = 0; rank < RANKS; rank++)
        collective_fill(COLLECTIVE_ALL_REDUCE, rank, sent[rank], COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        float sum = 0, value;

        for (int rank = RANKS - 1; rank >= 0; rank--) {
            memcpy(&value, &sent[rank][i], sizeof value);
            sum += value;
        }
        memcpy(&received[i], &sum, sizeof sum);
    }
    is_int(collective_verify(COLLECTIVE_ALL_REDUCE, &sums, 0, COUNT, received, &index, &expected),
           0, "sums");
    is_int(collective_verify(COLLECTIVE_REDUCE_SCATTER, &sums, 2, COUNT, received + 2 * each,
                             &index, &expected),
           0, "... and one rank's share of the sums");
    is_near(collective_bus_factor(COLLECTIVE_ALL_REDUCE, 8), 1.75, 1e-12,
            "the bus factor of an all-reduce of eight is 7/4");
    is_near(collective_bytes(8192, 3), 8064, 0,
            "an operation of three ranks uses 8064 of 8192 bytes");
}

int main(void)
{
    test_nodes_compared();
    test_device_pairs();
    test_node_pairs();
    test_contents();
    return tap_done();
}
