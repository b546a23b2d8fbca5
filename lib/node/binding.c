/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/node/binding.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/ranges.h"
#include "lib/base/sysfs.h"

enum { CPUS = 8192 }; /* CONFIG_NR_CPUS of the largest distribution kernels */

static bool lists_overlap(const char *a, const char *b)
{
    struct range one, other;

    while (range_next(&a, &one) > 0)
        for (const char *rest = b; range_next(&rest, &other) > 0;)
            if (one.first <= other.last && other.first <= one.last)
                return true;
    return false;
}

/* Appends a range. Returns the new length, or -1 when it does not fit. */
static int put_range(char text[BINDING_LIST], int length, int first, int last)
{
    size_t room = BINDING_LIST - (size_t)length;
    const char *comma = length > 0 ? "," : "";
    int added = first == last ? snprintf(text + length, room, "%s%d", comma, first)
                              : snprintf(text + length, room, "%s%d-%d", comma, first, last);

    return added < 0 || (size_t)added >= room ? -1 : length + added;
}

int binding_read(char cpus[BINDING_LIST])
{
    size_t size = CPU_ALLOC_SIZE(CPUS);
    cpu_set_t *set = CPU_ALLOC(CPUS);
    int length = 0;

    cpus[0] = '\0';
    if (!set)
        return -1;
    CPU_ZERO_S(size, set);
    if (sched_getaffinity(0, size, set) != 0)
        length = -1;
    for (int cpu = 0; cpu < CPUS && length >= 0; cpu++) {
        int last = cpu;

        if (!CPU_ISSET_S((size_t)cpu, size, set))
            continue;
        while (last + 1 < CPUS && CPU_ISSET_S((size_t)last + 1, size, set))
            last++;
        length = put_range(cpus, length, cpu, last);
        cpu = last;
    }
    CPU_FREE(set);
    if (length > 0)
        return 0;
    cpus[0] = '\0';
    return -1;
}

/* Returns the socket of a NUMA node and reads the node's processors; -1 if it has none, or if they
 * are not known. */
static long long socket_of(const char *root, int node, char cpus[BINDING_LIST])
{
    const char *list = cpus;
    struct range range;

    if (sysfs_line(root, cpus, BINDING_LIST, "sys/devices/system/node/node%d/cpulist", node) < 0 ||
        range_next(&list, &range) <= 0)
        return -1;
    return sysfs_number(root, "sys/devices/system/cpu/cpu%ld/topology/physical_package_id",
                        range.first);
}

unsigned long long binding_numa_nodes(const char *root, const char *cpus)
{
    long long sockets[BINDING_NODES], own = -1;
    unsigned long long nodes = 0;
    char list[BINDING_LIST];

    for (int node = 0; node < BINDING_NODES; node++) {
        sockets[node] = socket_of(root, node, list);
        if (sockets[node] < 0 || !lists_overlap(list, cpus))
            continue;
        if (own >= 0 && sockets[node] != own)
            return 0;
        own = sockets[node];
    }
    for (int node = 0; node < BINDING_NODES && own >= 0; node++)
        if (sockets[node] == own)
            nodes |= 1ULL << node;
    return nodes;
}
