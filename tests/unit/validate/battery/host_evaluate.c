/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/text.h"
#include "tests/unit/tap.h"
#include "validate/battery/host/evaluate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "validate/battery/host/kernels.h"

/* Nodes with made-up processors. Findings are collected as lines "VERDICT CODE NODE PART
 * METRIC". */
enum { NODES = 4, CORES = 8 };
static struct host_node nodes[NODES];
static const char *const names[NODES] = {"n1", "n2", "n3", "n4"};
static char findings_text[4096];
static unsigned passed;
static double value; /* of the last record that did not pass */

static void make_healthy(void)
{
    memset(nodes, 0, sizeof nodes);
    for (int i = 0; i < NODES; i++) {
        struct host_node *node = &nodes[i];
        float noise = 1 + 0.01F * (float)i;

        snprintf(node->model, sizeof node->model, "EPYC");
        snprintf(node->machine, sizeof node->machine, "boot %d", i);
        node->memory_gib = 755 + i;
        node->array_share = 1;
        node->core_count = CORES;
        node->numa_count = 2;
        for (int k = 0; k < CORES; k++)
            node->cores[k] = (struct host_core){.sum = 42,
                                                .rate = {50 * noise, 49, 0, 60},
                                                .cpu = (uint16_t)k,
                                                .socket = (uint16_t)(k / 4),
                                                .repeats = 60};
        for (int k = 0; k < 2; k++)
            node->numas[k] = (struct host_numa){.triad = {200 * noise, 199, 0, 3}, .number = k};
        snprintf(node->disk, sizeof node->disk, "/scratch");
        for (int figure = HOST_READ; figure < HOST_FIGURES; figure++)
            node->disks[figure] = (struct host_value){2000 * noise, 1999, 0, 1};
    }
}

static void add_finding(struct record *record, void *context)
{
    passed += record->verdict == VERDICT_PASS;
    if (record->verdict != VERDICT_PASS)
        value = record->value;
    if (record->verdict != VERDICT_PASS)
        text_join(findings_text, sizeof findings_text, "", "%s %s %s %s %s\n",
                  verdict_name(record->verdict),
                  record->code == FAULT_NONE ? "-" : catalog_fault(record->code)->name,
                  record->node, record->part, record->metric);
}

static const char *evaluated(size_t count)
{
    findings_text[0] = '\0';
    passed = 0;
    host_evaluate(nodes, count, names, &(struct record_sink){add_finding, NULL});
    return findings_text;
}

static bool is_low(size_t node, enum host_figure figure, int index)
{
    return host_is_low(nodes, NODES, node, figure, index,
                       host_reference(nodes, NODES, node, figure));
}

static void test_rates(void)
{
    make_healthy();
    is_str(evaluated(NODES), "", "healthy nodes pass");
    is_int(passed, NODES * (2 + 1 + 2 + 3), "... each judged metric has a record");
    nodes[1].cores[6].rate.best = 25;
    is_str(evaluated(NODES), "fail core_slow n2 cpu6 core_rate\n", "a core at half its clock");
    ok(is_low(1, HOST_RATE, 6) && !is_low(1, HOST_RATE, 5),
       "... it is the only one measured again");
    is_str(evaluated(2), "fail core_slow n2 cpu6 core_rate\n", "... also with one peer");
    nodes[0] = nodes[1];
    is_str(evaluated(1), "fail core_slow n1 cpu6 core_rate\n", "... or alone");
    make_healthy();
    for (int k = 0; k < 4; k++)
        nodes[2].cores[k].rate.best = 30;
    is_str(evaluated(NODES), "fail core_slow n3 socket0 core_rate\n", "a socket that is throttled");
    make_healthy();
    for (int k = 0; k < CORES; k++)
        nodes[3].cores[k].rate.best = 30;
    is_str(evaluated(NODES),
           "fail core_slow n4 socket0 core_rate\nfail core_slow n4 socket1 core_rate\n",
           "a node with all cores slow");
    make_healthy();
    for (int i = 0; i < NODES; i++)
        nodes[i].cores[3].rate.best = 30;
    is_str(evaluated(NODES), "", "cores that are slow on every node are another kind of core");
    make_healthy();
    nodes[1].cores[6].rate = (struct host_value){25, 25, 0.2F, 60};
    is_str(evaluated(NODES), "unknown not_steady n2 cpu6 core_rate\n",
           "a core whose time a hypervisor stole");
    nodes[1].cores[5].rate.best = 30;
    is_str(evaluated(NODES), "fail core_slow n2 cpu5,6 core_rate\n",
           "... does not hide a slow core that ran");
    is_near(value, 30, 0.1, "... whose value is reported");
    make_healthy();
    for (int i = 0; i < NODES; i++)
        nodes[i].cores[4].rate.best = 20;
    nodes[1].cores[6].rate.best = 30;
    is_str(evaluated(NODES), "fail core_slow n2 cpu6 core_rate\n",
           "a slow core beside one that is slow on every node");
    is_near(value, 30, 0.1, "... is reported with its own value");
    make_healthy();
    nodes[0].cores[6].rate.best = 0;
    is_str(evaluated(1), "", "a value that was not measured is not slow");
}

static void test_memory_and_disks(void)
{
    make_healthy();
    nodes[1].numas[1].triad.best = 150;
    is_str(evaluated(NODES), "fail memory_slow n2 numa1 triad\n", "a lost memory channel");
    nodes[1].numas[1].triad.stalled = 0.3F;
    is_str(evaluated(NODES), "unknown not_steady n2 numa1 triad\n",
           "... on a busy node is not steady");
    nodes[1].numas[1].triad.best = 201;
    is_str(evaluated(NODES), "", "... and passes if it reaches its peers nevertheless");
    make_healthy();
    for (int i = 1; i < NODES; i++)
        nodes[i].numas[0].triad.stalled = nodes[i].numas[1].triad.stalled = 0.3F;
    nodes[0].numas[0].triad.best = nodes[0].numas[1].triad.best = 100;
    is_str(evaluated(NODES), "", "busy nodes are no reference");
    make_healthy();
    for (int k = 0; k < 2; k++)
        nodes[0].numas[k].triad.best = 100;
    nodes[0].memory_gib = 370;
    is_str(evaluated(NODES), "", "a node with much less memory has another configuration");
    nodes[0].memory_gib = 750;
    is_str(evaluated(NODES), "fail memory_slow n1 numa0 triad\nfail memory_slow n1 numa1 triad\n",
           "... with a little less it has not");
    nodes[0].array_share = 0.3;
    is_str(evaluated(NODES), "skip - n1 numa0 triad\nskip - n1 numa1 triad\n",
           "arrays that fit in the cache are not judged");
    make_healthy();
    nodes[2].disks[HOST_WRITE].best = 500;
    is_str(evaluated(NODES), "warn disk_slow n3 /scratch disk_write\n", "a slow disk is a warning");
    nodes[2].disks[HOST_WRITE].stalled = 0.3F;
    is_str(evaluated(NODES), "skip not_steady n3 /scratch disk_write\n",
           "... on a busy node it is skipped");
    for (int i = 0; i < NODES; i++)
        nodes[i].disks[HOST_WRITE].stalled = i == 2 ? 0 : 0.3F;
    is_str(evaluated(NODES), "warn disk_slow n3 /scratch disk_write\n",
           "... busy peers are still a reference, as their disks reach at least that rate");
    snprintf(nodes[2].disk_text, sizeof nodes[2].disk_text, "a read: error");
    nodes[2].disks[HOST_WRITE].best = 2000;
    is_str(evaluated(NODES), "unknown not_measured n3 /scratch disk\n",
           "... a failed disk test is unknown");
    make_healthy();
    for (int i = 0; i < NODES; i++)
        nodes[i].is_shared = true;
    nodes[2].numas[0].triad.best = 20;
    nodes[1].cores[0].rate.best = 5;
    is_str(evaluated(NODES), "", "nodes that share a machine are not judged");
    nodes[2].quota_share = 0.5;
    is_str(evaluated(NODES), "warn cpu_limited n3  quota\n", "a CPU quota is reported");
    make_healthy();
    snprintf(nodes[0].text, sizeof nodes[0].text, "no processor found");
    snprintf(nodes[1].text, sizeof nodes[1].text, "others were measured");
    nodes[1].is_skipped = true;
    is_str(evaluated(2), "unknown not_measured n1  results\nskip - n2  results\n",
           "a node that was not measured does not pass");
}

static void test_wrong_results(void)
{
    make_healthy();
    nodes[1].cores[5].others = 1;
    nodes[1].cores[5].other = 7;
    ok(host_differs(&nodes[1].cores[5], 42), "a core whose result differs is measured again");
    nodes[1].cores[5].again = 60;
    is_str(evaluated(NODES), "unknown core_wrong n2 cpu5 core_wrong\n",
           "... wrong once and not again: unknown");
    nodes[1].cores[5].again_wrong = 1;
    is_str(evaluated(NODES), "fail core_wrong n2 cpu5 core_wrong\n", "... wrong again: a fault");
    make_healthy();
    for (int k = 0; k < CORES; k++) {
        nodes[0].cores[k].sum = 7;
        nodes[0].cores[k].again = nodes[0].cores[k].again_wrong = 60;
    }
    evaluated(NODES);
    ok(strstr(findings_text, "fail core_wrong n1 cpu0 ") &&
           strstr(findings_text, "fail core_wrong n1 cpu7 ") && !strstr(findings_text, "n2"),
       "a node that is wrong on all cores");
    is_str(evaluated(2), "unknown core_wrong n1  results\nunknown core_wrong n2  results\n",
           "... with only two nodes either may be wrong: unknown");
    for (int k = 0; k < CORES; k++)
        nodes[0].cores[k].again_wrong = 0; /* no peer has the same model then */
    snprintf(nodes[0].model, sizeof nodes[0].model, "Xeon");
    is_str(evaluated(NODES), "", "... another model has other results");
    ok(kernel_compute(10000) == kernel_compute(10000), "the kernel repeats itself");
    ok(kernel_compute(10000) != kernel_compute(10001), "... and each step counts");
}

static void test_triad(void)
{
    enum { COUNT = 64 };
    static double a[COUNT] __attribute__((aligned(64))), b[COUNT] __attribute__((aligned(64)));
    static double c[COUNT] __attribute__((aligned(64)));
    int wrong = 0;

    for (int i = 0; i < COUNT; i++) {
        b[i] = i;
        c[i] = 0.5 * i;
    }
    kernel_triad(a, b, c, 3, COUNT);
    for (int i = 0; i < COUNT; i++)
        wrong += fabs(a[i] - 2.5 * i) > 1e-12;
    is_int(wrong, 0, "the triad is b + 3 c");
}

int main(void)
{
    test_rates();
    test_memory_and_disks();
    test_wrong_results();
    test_triad();
    return tap_done();
}
