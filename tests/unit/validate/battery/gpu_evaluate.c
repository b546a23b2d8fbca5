/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/text.h"
#include "tests/unit/tap.h"
#include "validate/battery/gpu/device_set.h"
#include "validate/battery/gpu/evaluate.h"
#include "validate/battery/gpu/peer_rounds.h"

#include <stdio.h>
#include <string.h>

/* Nodes with made-up devices. Findings are collected as lines "CODE NODE PART METRIC". */
enum { NODES = 4, DEVICES = 4 };
static struct gpu_node nodes[NODES];
static struct gpu_device devices[NODES][DEVICES];
static const char *const names[NODES] = {"n1", "n2", "n3", "n4"};
static char findings_text[4096], last_message[400];

static void make_healthy(int count)
{
    memset(nodes, 0, sizeof nodes);
    memset(devices, 0, sizeof devices);
    for (int i = 0; i < NODES; i++) {
        nodes[i].count = count;
        nodes[i].devices = devices[i];
        for (int k = 0; k < count; k++) {
            struct gpu_device *device = &nodes[i].devices[k];

            snprintf(device->model, sizeof device->model, "H100");
            device->ordinal = device->part = k;
            for (int figure = 0; figure < FIGURES; figure++)
                device->best[figure] = device->lowest[figure] = 100 + (float)((i + k) % 3);
            for (int to = 0; to < count; to++)
                if (to != k)
                    *gpu_path_make(device, to) =
                        (struct gpu_path){.to = to, .GBps = 300, .is_direct = true};
        }
    }
}

static struct gpu_path *path_of(int node, int from, int to)
{
    return gpu_path_make(&nodes[node].devices[from], to);
}

static void copy_node(int to, int from)
{
    memcpy(devices[to], devices[from], sizeof devices[to]);
    nodes[to].count = nodes[from].count;
}

static bool is_low(int node, int device, enum figure figure)
{
    const struct gpu_device *own = &nodes[node].devices[device];
    double references[FIGURES];

    gpu_references(nodes, NODES, own, references);
    return gpu_is_low(own, figure, references[figure]);
}

static void add_finding(struct record *record, void *context)
{
    if (record->verdict != VERDICT_PASS && record->message)
        snprintf(last_message, sizeof last_message, "%s", record->message);
    if (record->verdict != VERDICT_PASS)
        text_join(findings_text, sizeof findings_text, "", "%s %s %s %s\n",
                  catalog_fault(record->code)->name, record->node, record->part, record->metric);
}

static const char *evaluated(size_t count)
{
    findings_text[0] = '\0';
    gpu_evaluate(nodes, count, names, &(struct record_sink){add_finding, NULL});
    return findings_text;
}

static void test_rates(void)
{
    make_healthy(DEVICES);
    is_str(evaluated(NODES), "", "healthy devices of four nodes");
    nodes[2].devices[1].best[FIGURE_FP32] = 80;
    is_str(evaluated(NODES), "gpu_slow n3 gpu1 rate_fp32\n", "a slow device among many");
    ok(is_low(2, 1, FIGURE_FP32), "... is measured again");
    ok(!is_low(2, 0, FIGURE_FP32), "... no other is");
    make_healthy(1);
    nodes[0].devices[0].best[FIGURE_COPY] = 50;
    is_str(evaluated(2), "gpu_memory_slow n1 gpu0 memory_copy\n", "the slower of two devices");
    is_str(evaluated(1), "", "one device has no peer to compare with");
    make_healthy(DEVICES);
    for (int k = 0; k < DEVICES; k++)
        snprintf(nodes[1].devices[k].model, sizeof nodes[1].devices[k].model, "A100");
    for (int k = 0; k < DEVICES; k++)
        nodes[1].devices[k].best[FIGURE_FP32] = 30;
    is_str(evaluated(NODES), "", "devices of another model are compared with each other only");
    make_healthy(DEVICES);
    for (int k = 0; k < DEVICES; k++) {
        nodes[1].devices[k].multiprocessors = 38;
        nodes[1].devices[k].best[FIGURE_FP32] = 12;
    }
    is_str(evaluated(NODES), "", "... and so are partitions of the same size");
    nodes[1].devices[3].best[FIGURE_FP32] = 6;
    nodes[1].devices[3].part = 1;
    is_str(evaluated(NODES), "gpu_slow n2 gpu1 rate_fp32\n",
           "... a slow partition is named by its GPU");
    is_str(last_message, "H100 (device 3) reaches 6, its peers 12 GFLOP/s",
           "... and by its number");
    make_healthy(DEVICES);
    nodes[0].devices[2].best[FIGURE_TO_HOST] = 20;
    is_str(evaluated(NODES), "gpu_host_path_slow n1 gpu2 to_host\n", "a slow path to the host");
    nodes[0].devices[2].best[FIGURE_TO_HOST] = 0;
    is_str(evaluated(NODES), "", "a value that was not measured is not slow");
}

/* Within the first three devices paths have one bandwidth, to the fourth device another. Three
 * quarters of the first node's paths are within the first three devices. */
static void make_uneven_paths(float within, float beyond)
{
    make_healthy(DEVICES);
    for (int i = 0; i < DEVICES; i++)
        nodes[0].devices[i].path_count = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            if (i != k)
                path_of(0, i, k)->GBps = within;
    path_of(0, 0, 3)->GBps = path_of(0, 3, 0)->GBps = beyond;
}

static void test_paths(void)
{
    make_healthy(DEVICES);
    path_of(3, 1, 2)->GBps = 100;
    is_str(evaluated(NODES), "gpu_peer_slow n4 gpu1 gpu2 to_peer\n",
           "a slow path, compared with other nodes");
    ok(gpu_is_peer_low(nodes, NODES, 3, 1, 2), "... is measured again");
    copy_node(0, 3);
    is_str(evaluated(1), "gpu_peer_slow n1 gpu1 gpu2 to_peer\n",
           "... compared with the node's other paths");
    for (int i = 0; i < DEVICES; i++) /* pairs on one switch, and pairs across the sockets */
        for (int k = 0; k < DEVICES; k++)
            if (i != k)
                path_of(0, i, k)->GBps = i / 2 == k / 2 ? 300 : 100;
    is_str(evaluated(1), "", "paths of several kinds are not compared");
    make_uneven_paths(25, 10);
    for (int i = 0; i < DEVICES; i++)
        nodes[0].devices[i].numa_node = i == 3;
    is_str(evaluated(1), "", "... nor paths within a NUMA node with paths between two");
    make_uneven_paths(900, 50);
    for (int i = 0; i < DEVICES; i++)
        nodes[0].devices[i].part = i == 3;
    is_str(evaluated(1), "", "... nor paths within a GPU with paths between two");
    path_of(0, 0, 1)->GBps = 300;
    is_str(evaluated(1), "gpu_peer_slow n1 gpu0 gpu0 to_peer\n",
           "... paths within GPUs are compared with each other");
    make_healthy(DEVICES);
    for (int i = 0; i < DEVICES; i++) /* pairs on a switch, and pairs over the sockets */
        for (int k = 0; k < DEVICES; k++)
            if (i != k)
                path_of(0, i, k)->GBps = i / 2 == k / 2 ? 300 : 100;
    for (int n = 0; n < NODES; n++)
        if (n > 0)
            copy_node(n, 0);
    path_of(1, 0, 3)->GBps = 50;
    is_str(evaluated(NODES), "gpu_peer_slow n2 gpu0 gpu3 to_peer\n",
           "... the same path of other nodes is compared");
    snprintf(nodes[1].devices[3].pci, sizeof nodes[1].devices[3].pci, "0000:41:00.0");
    is_str(evaluated(NODES), "", "... unless that device has another PCI address there");
    make_healthy(DEVICES);
    path_of(1, 0, 1)->is_direct = false;
    is_str(evaluated(NODES), "gpu_no_peer_access n2 gpu0 gpu1 to_peer\n", "no peer access");
    for (int i = 0; i < DEVICES; i++)
        for (int k = 0; k < DEVICES; k++)
            if (i != k)
                path_of(1, i, k)->is_direct = false;
    is_str(evaluated(NODES), "", "... is no fault if no pair has it");
    path_of(0, 2, 1)->wrong_words = 3;
    is_str(evaluated(NODES), "gpu_peer_damaged n1 gpu2 gpu1 to_peer\n", "damaged copies");
    nodes[0].devices[1].wrong_memory.count = 1;
    path_of(0, 2, 1)->wrong_atomics = 1;
    path_of(0, 2, 1)->has_atomics = true;
    is_str(evaluated(NODES), "gpu_memory_wrong n1 gpu1 wrong\n",
           "... are blamed on the device that has wrong memory itself");
}

static void test_outcomes(void)
{
    static const struct {
        enum worker_outcome outcome;
        int error;
        const char *code, *text;
    } rows[] = {
        {WORKER_HUNG, 0, "gpu_hung", "a hanging kernel"},
        {WORKER_SLOW, 0, "not_measured", "a slow host is no hang"},
        {WORKER_DIED, 0, "gpu_library_crashed", "a library that crashes"},
        {WORKER_ERROR, 719, "gpu_failed", "an error of the device"},
        {WORKER_ERROR, 999, "gpu_failed", "one that it has no name for"},
        {WORKER_ERROR, 214, "gpu_failed", "one of its memory"},
        {WORKER_ERROR, 2, "not_measured", "memory that another holds"},
        {WORKER_ERROR, 46, "not_measured", "a device that another has for itself"},
        {WORKER_ERROR, 805, "not_measured", "MPS that does not answer"},
        {WORKER_ERROR, 804, "not_measured", "a library of a container that the device is not for"},
        {WORKER_ERROR, 803, "gpu_driver_mismatch", "versions that do not fit"},
    };
    char expected[128];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make_healthy(DEVICES);
        nodes[1].devices[3].outcome = rows[i].outcome;
        nodes[1].devices[3].error = rows[i].error;
        nodes[1].devices[3].peer = -1;
        snprintf(expected, sizeof expected, "%s n2 gpu3 device\n", rows[i].code);
        is_str(evaluated(NODES), expected, "%s", rows[i].text);
    }
    make_healthy(DEVICES);
    nodes[0].devices[0].wrong_products.count = 1;
    nodes[0].devices[1].wrong_memory.count = 1;
    is_str(evaluated(NODES), "gpu_result_wrong n1 gpu0 wrong\ngpu_memory_wrong n1 gpu1 wrong\n",
           "wrong results and wrong memory are different faults");
    make_healthy(DEVICES);
    nodes[1].devices[3].outcome = WORKER_ERROR;
    nodes[1].devices[3].task = TASK_BLAS;
    nodes[1].devices[3].error = 700;
    is_str(evaluated(NODES), "not_measured n2 gpu3 device\n",
           "an error during the vendor's BLAS may come from that library");
    make_healthy(DEVICES);
    for (int i = 0; i < NODES; i++)
        for (int k = 0; k < 2; k++) {
            if (i == 0 && k == 0)
                continue;
            nodes[i].devices[k].wrong_blas.count = 1;
        }
    is_str(evaluated(NODES),
           "gpu_result_wrong n1 gpu1 wrong\ngpu_result_wrong n2 gpu0 wrong\n"
           "gpu_result_wrong n2 gpu1 wrong\ngpu_result_wrong n3 gpu0 wrong\n"
           "gpu_result_wrong n3 gpu1 wrong\ngpu_result_wrong n4 gpu0 wrong\n"
           "gpu_result_wrong n4 gpu1 wrong\n",
           "wrong BLAS products on fewer than half of the devices are faults of these devices");
    nodes[0].devices[0].wrong_blas.count = 1;
    ok(!strstr(evaluated(NODES), "gpu_result_wrong"), "... on half of them no device is at fault");
    make_healthy(DEVICES);
    snprintf(nodes[2].devices[0].no_blas, sizeof nodes[2].devices[0].no_blas, "not found");
    is_str(evaluated(NODES), " n3  library\n",
           "without the BLAS library the rest is measured, and nothing is at fault");
}

/* Compares a NIC's transfers with GPU memory to its transfers with host memory. */
static void test_nics(void)
{
    struct gpu_device *device = &nodes[1].devices[2];

    make_healthy(DEVICES);
    for (int i = 0; i < NODES; i++)
        for (int k = 0; k < DEVICES; k++) {
            snprintf(nodes[i].devices[k].nic, sizeof nodes[i].devices[k].nic, "mlx5_%d:1", k);
            nodes[i].devices[k].is_nic_near = true;
            for (int figure = FIGURE_NIC_LOOPBACK; figure <= FIGURE_NIC_FROM_DEVICE; figure++)
                nodes[i].devices[k].best[figure] = k == 0 ? 12 : 50;
        }
    is_str(evaluated(NODES), "",
           "NICs of different speeds are each compared with their own host memory rate");
    device->best[FIGURE_NIC_TO_DEVICE] = 24;
    is_str(evaluated(NODES), "gpu_nic_slow n2 gpu2 nic_to_device\n",
           "a NIC that is slow with GPU memory but not with host memory");
    ok(gpu_is_nic_low(device, FIGURE_NIC_TO_DEVICE), "... is measured again");
    device->best[FIGURE_NIC_LOOPBACK] = 24;
    is_str(evaluated(NODES), "", "a NIC that is also slow with host memory is not the GPU's fault");
    device->best[FIGURE_NIC_LOOPBACK] = 50;
    device->is_nic_near = false;
    is_str(evaluated(NODES), "", "... nor is a NIC that is not known to be near the GPU");
    device->best[FIGURE_NIC_TO_DEVICE] = 50;
    device->wrong_nic.count = 1;
    is_str(evaluated(NODES), "gpu_nic_damaged n2 gpu2 nic\n", "damaged data");
    for (int i = 0; i < NODES / 2; i++)
        for (int k = 0; k < DEVICES; k++)
            nodes[i].devices[k].wrong_nic.count = 1;
    ok(!strstr(evaluated(NODES), "gpu_nic_damaged"),
       "... on half of the devices is no device's fault");
    make_healthy(DEVICES);
    snprintf(device->nic_failure, sizeof device->nic_failure, "refused");
    is_str(evaluated(NODES), "gpu_nic_failed n2 gpu2 nic\n", "writes that fail are named");
    make_healthy(DEVICES);
    snprintf(device->no_nic, sizeof device->no_nic, "no dma-buf");
    is_str(evaluated(NODES), " n2  nic\n", "if no NIC reaches GPU memory, nothing is at fault");
    make_healthy(DEVICES);
    device->outcome = WORKER_HUNG;
    device->task = TASK_NIC;
    is_str(evaluated(NODES), "gpu_nic_failed n2 gpu2 device\n",
           "a hang in the NIC's driver is not the GPU's fault");
}

/* Returns whether every two of the GPUs have a measured pair of devices, with `each` devices a
 * GPU. */
static bool has_all_gpu_pairs(int gpus, int each)
{
    bool has[16][16] = {{false}};

    for (int i = 0; i < gpus * each; i++)
        for (int k = 0; k < gpus * each; k++)
            if (peer_is_measured(gpus * each, i, k))
                has[i / each][k / each] = true;
    for (int i = 0; i < gpus; i++)
        for (int k = 0; k < gpus; k++)
            if (i != k && !has[i][k])
                return false;
    return true;
}

static int count_peers(int count, int device)
{
    int peers = 0;

    for (int k = 0; k < count; k++)
        peers += peer_is_measured(count, device, k);
    return peers;
}

static void test_many_devices(void)
{
    struct device_set set = {{0}};
    struct gpu_device device = {.path_count = 0};

    is_int(count_peers(1, 0), 0, "one device has no peer");
    is_int(count_peers(8, 5), 7, "one of eight measures all others");
    is_int(count_peers(16, 15), 15, "... one of sixteen too");
    is_int(count_peers(64, 40), GPU_PEERS_MOST, "... one of 64 at most the limit");
    ok(count_peers(17, 0) >= GPU_PEERS_MOST - 1, "... with an odd number one rests at most once");
    ok(has_all_gpu_pairs(8, 8) && has_all_gpu_pairs(8, 7) && has_all_gpu_pairs(16, 7) &&
           has_all_gpu_pairs(4, 6),
       "every two GPUs with several devices have a measured pair");
    is_int(device_set_next(&set, -1), -1, "an empty set");
    device_set_add(&set, 3);
    device_set_add(&set, 64);
    device_set_add(&set, GPU_DEVICES_MOST - 1);
    is_int(device_set_count(&set), 3, "a set of three devices");
    is_int(device_set_next(&set, 3), 64, "... in order");
    is_int(device_set_next(&set, 64), GPU_DEVICES_MOST - 1,
           "... up to the highest possible device");
    is_int(device_set_next(&set, GPU_DEVICES_MOST - 1), -1, "... which is the last");
    ok(device_set_has(&set, 64) && !device_set_has(&set, 0), "... it has these devices only");
    for (int to = 0; to < GPU_PEERS_MOST; to++)
        gpu_path_make(&device, 100 + to);
    ok(!gpu_path_make(&device, 5), "a device has room for no more paths than the limit");
    gpu_path_forget(&device, 100);
    ok(!gpu_path_find(&device, 100) && gpu_path_find(&device, 101) && gpu_path_make(&device, 5),
       "... one more fits after another is removed");
}

/* Nodes whose devices were not tested, because the library or the devices are missing. */
static void test_untested_nodes(void)
{
    make_healthy(DEVICES);
    nodes[1] = (struct gpu_node){.outcome = WORKER_NOT_TESTED, .text = "no library"};
    is_str(evaluated(NODES), "not_measured n2  device\n",
           "a node without the library, while others have it, is not measured");
    for (int i = 0; i < NODES; i++)
        nodes[i] = nodes[1];
    is_str(evaluated(1), " n1  device\n", "if no node has the library, nothing is at fault");
    make_healthy(DEVICES);
    nodes[1] = (struct gpu_node){.outcome = WORKER_NO_DEVICE, .text = "no device"};
    is_str(evaluated(2), " n2  device\n", "a node without devices has nothing to test");
    make_healthy(DEVICES);
    nodes[2].device_count = DEVICES + 1;
    is_str(evaluated(NODES), "not_measured n3  device\n",
           "a node with more devices than are tested does not pass");
}

int main(void)
{
    test_rates();
    test_untested_nodes();
    test_paths();
    test_outcomes();
    test_nics();
    test_many_devices();
    return tap_done();
}
