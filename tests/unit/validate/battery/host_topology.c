/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/host/topology.h"

#include <math.h>
#include <stdio.h>

#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

/* A machine with two sockets of four cores, two hardware threads a core (CPU N and N + 8), a
 * last-level cache for every two cores, and a NUMA node 2 with memory but no processors. */
enum { CPUS = 16, CORES = 8 };

static struct host_node node;
static double cache_bytes[HOST_NUMA_NODES];
static int numa_of[HOST_CORES];

static void cpu_put(const char *root, int cpu, const char *file, const char *format, int first,
                    int second)
{
    char path[128], text[128];

    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/%s", cpu, file);
    snprintf(text, sizeof text, format, first, second, first + 8, second + 8);
    tree_put(root, path, text);
}

static char *machine_make(void)
{
    char *root = tree_unpack("");

    for (int cpu = 0; cpu < CPUS; cpu++) {
        int core = cpu % CORES, pair = core / 2 * 2;

        cpu_put(root, cpu, "topology/physical_package_id", "%d\n", core / 4, 0);
        cpu_put(root, cpu, "topology/thread_siblings_list", "%d,%d\n", core, core + 8);
        cpu_put(root, cpu, "cache/index0/level", "1\n", 0, 0);
        cpu_put(root, cpu, "cache/index0/size", "32K\n", 0, 0);
        cpu_put(root, cpu, "cache/index0/shared_cpu_list", "%d\n", cpu, 0);
        cpu_put(root, cpu, "cache/index3/level", "3\n", 0, 0);
        cpu_put(root, cpu, "cache/index3/size", "32768K\n", 0, 0);
        cpu_put(root, cpu, "cache/index3/shared_cpu_list", "%d-%d,%d-%d\n", pair, pair + 1);
    }
    tree_put(root, "sys/devices/system/node/node0/cpulist", "0-3,8-11\n");
    tree_put(root, "sys/devices/system/node/node1/cpulist", "4-7,12-15\n");
    tree_put(root, "sys/devices/system/node/node2/cpulist", "\n");
    tree_put(root, "proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC 9654\nflags\t: fma\n");
    tree_put(root, "proc/meminfo", "MemTotal:       33554432 kB\nMemAvailable:   16777216 kB\n");
    return root;
}

static void read_allowed(const char *root, int first, int last)
{
    cpu_set_t allowed;

    CPU_ZERO(&allowed);
    for (int cpu = first; cpu <= last; cpu++)
        CPU_SET((size_t)cpu, &allowed);
    node = (struct host_node){0};
    topology_read(root, &allowed, &node, cache_bytes, numa_of);
}

static void test_machine(const char *root)
{
    int last = CORES - 1;

    read_allowed(root, 0, CPUS - 1);
    is_int(node.core_count, CORES, "one thread of each core is used");
    is_int(node.cores[last].cpu, last, "... the first");
    ok(node.cores[3].socket == 0 && node.cores[4].socket == 1, "... and its socket");
    is_int(node.numa_count, 2, "NUMA nodes with processors are counted");
    ok(numa_of[3] == 0 && numa_of[4] == 1 && node.numas[1].number == 1, "... with their cores");
    ok(fabs(cache_bytes[0] - 2 * 32768.0 * 1024) < 1, "each cache is counted once");
    has_str(node.model, "AMD EPYC 9654 (", "the model");
    ok(fabs(node.memory_gib - 32) < 1e-9, "the memory");
    read_allowed(root, 12, 15);
    ok(node.core_count == 4 && node.cores[0].cpu == 12 && node.numa_count == 1 &&
           node.numas[0].number == 1,
       "a job with the second threads of one socket only");
    ok(fabs(cache_bytes[0] - 2 * 32768.0 * 1024) < 1, "... and the caches of that socket");
}

static void test_cgroups(const char *root)
{
    ok(fabs(topology_free_bytes(root) - 16777216 * 1024.0) < 1,
       "without a cgroup all available memory is free");
    tree_put(root, "proc/self/cgroup",
             "4:cpu,cpuacct:/slurm\n3:memory:/slurm/job_7\n0::/system.slice/job_7/step_0\n");
    tree_put(root, "sys/fs/cgroup/system.slice/job_7/memory.max", "5000000\n");
    tree_put(root, "sys/fs/cgroup/system.slice/job_7/memory.current", "1000000\n");
    tree_put(root, "sys/fs/cgroup/system.slice/job_7/step_0/memory.max", "max\n");
    tree_put(root, "sys/fs/cgroup/system.slice/job_7/step_0/memory.current", "1000000\n");
    ok(fabs(topology_free_bytes(root) - 4e6) < 1, "a limit of a parent cgroup, version 2");
    tree_put(root, "sys/fs/cgroup/memory/slurm/memory.limit_in_bytes", "3000000\n");
    tree_put(root, "sys/fs/cgroup/memory/slurm/memory.usage_in_bytes", "1000000\n");
    ok(fabs(topology_free_bytes(root) - 2e6) < 1, "... version 1");
    ok(fabs(topology_throttled_s(root)) < 1e-9, "no quota");
    tree_put(root, "sys/fs/cgroup/system.slice/cpu.stat",
             "usage_usec 9\nnr_throttled 3\nthrottled_usec 2500000\n");
    ok(fabs(topology_throttled_s(root) - 2.5) < 1e-9, "a quota of a parent cgroup");
    tree_put(root, "sys/fs/cgroup/cpu/slurm/cpu.stat", "nr_periods 9\nthrottled_time 500000000\n");
    ok(fabs(topology_throttled_s(root) - 3) < 1e-9,
       "... version 1, in another controller's hierarchy");
    ok(topology_steal_ticks("cpu  9 9 9 9 9 9 9 9\ncpu1 1 2 3 4 5 6 7 8\n", 1) == 8 &&
           topology_steal_ticks("cpu1 1 2 3 4 5 6 7 8\n", 11) == 0 &&
           topology_steal_ticks(NULL, 1) == 0,
       "steal time of a CPU is read");
}

static void test_without_topology(void)
{
    char *root = tree_unpack("");

    read_allowed(root, 0, 1);
    ok(node.core_count == 2 && node.numa_count == 1 && cache_bytes[0] > 0,
       "without topology files each processor is a core");
    ok(topology_free_bytes(root) <= 0, "... and no memory is free");
    tree_remove(root);
}

int main(void)
{
    char *root = machine_make();

    test_machine(root);
    test_cgroups(root);
    test_without_topology();
    tree_remove(root);
    return tap_done();
}
