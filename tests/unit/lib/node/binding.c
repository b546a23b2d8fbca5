/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/ranges.h"
#include "lib/base/text.h"
#include "lib/node/binding.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

#include <sched.h>
#include <stdio.h>

/* The socket of a list of processors, on machines that consist of a few files. */

static void put_node(const char *root, int node, const char *cpus)
{
    char path[128];

    snprintf(path, sizeof path, "sys/devices/system/node/node%d/cpulist", node);
    tree_put(root, path, cpus);
}

static void put_cpu(const char *root, int cpu, const char *socket)
{
    char path[128];

    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
    tree_put(root, path, socket);
}

static unsigned nodes(const char *root, const char *cpus)
{
    return (unsigned)binding_numa_nodes(root, cpus);
}

static void two_sockets(void)
{
    char *root = tree_unpack("");

    /* two NUMA nodes per socket, second threads numbered after all cores, and a GPU's memory */
    put_node(root, 0, "0-3,16-19\n");
    put_node(root, 1, "4-7,20-23\n");
    put_node(root, 2, "8-11,24-27\n");
    put_node(root, 3, "12-15,28-31\n");
    put_node(root, 4, "\n");
    put_cpu(root, 0, "0\n");
    put_cpu(root, 4, "0\n");
    put_cpu(root, 8, "1\n");
    put_cpu(root, 12, "1\n");
    is_int(nodes(root, "13"), 0xc,
           "a processor of the second socket has the NUMA nodes of that socket");
    is_int(nodes(root, "0-7,16-23"), 0x3, "all processors of the first socket have its NUMA nodes");
    is_int(nodes(root, "16"), 0x3, "the second thread of a core has the NUMA nodes of its socket");
    is_int(nodes(root, "7-8"), 0, "processors of both sockets belong to no single socket");
    is_int(nodes(root, "2,30"), 0, "... nor are these");
    is_int(nodes(root, "40"), 0, "a processor that does not exist has none");
    is_int(nodes(root, ""), 0, "an empty list has none");
    is_int(nodes(root, "x-3"), 0, "an invalid list has none");
    tree_remove(root);
}

static void unknown_sockets(void)
{
    char *root = tree_unpack("");

    is_int(nodes(root, "0"), 0, "no NUMA nodes are found in a tree without them");
    put_node(root, 0, "0-3\n");
    is_int(nodes(root, "0"), 0, "... nor in a tree without sockets");
    put_cpu(root, 0, "-1\n");
    is_int(nodes(root, "0"), 0, "... nor on a machine that does not report its sockets");
    tree_remove(root);
}

static void this_process(void)
{
    char cpus[BINDING_LIST], expected[32];
    cpu_set_t set;
    int cpu = sched_getcpu();

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (cpu < 0 || sched_setaffinity(0, sizeof set, &set) != 0) {
        tap_diag("this process cannot be bound");
        cpu = -1;
    }
    is_int(binding_read(cpus), 0, "the processors of this process are read");
    snprintf(expected, sizeof expected, "%d", cpu);
    if (cpu >= 0)
        is_str(cpus, expected, "... and are the one that it is bound to");
}

/* Tests the ranges of a list, "0-3 8-8 " for "0-3,8", then the last result of range_next(). */
static void ranges_are(const char *list, const char *expected)
{
    char text[128] = "";
    struct range range;
    const char *rest = list;
    int rv;

    while ((rv = range_next(&rest, &range)) > 0)
        text_join(text, sizeof text, "", "%ld-%ld ", range.first, range.last);
    text_join(text, sizeof text, "", "%d", rv);
    is_str(text, expected, "the ranges of \"%s\"", list);
}

static void ranges(void)
{
    ranges_are("", "0");
    ranges_are("0-3,8", "0-3 8-8 0");
    ranges_are("7", "7-7 0");
    ranges_are("0-", "-1");
    ranges_are("4-2", "-1");
    ranges_are("0-1,", "0-1 0");
    ranges_are("0,,1", "0-0 -1");
    ranges_are("0 1", "-1");
    ranges_are("0,-1", "0-0 -1");
}

int main(void)
{
    two_sockets();
    unknown_sockets();
    this_process();
    ranges();
    return tap_done();
}
