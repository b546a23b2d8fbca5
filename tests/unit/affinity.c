/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/affinity.h"
#include "tests/unit/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct inventory node;
static struct fabric fabric;
static struct affinity affinity;

static struct location place(const char *path, int numa_node)
{
    struct location location = {.numa_node = numa_node};
    const char *slash = strrchr(path, '/');

    snprintf(location.path, sizeof location.path, "%s", slash ? path : "");
    snprintf(location.pci, sizeof location.pci, "%s", slash ? slash + 1 : path);
    return location;
}

static void level_is(const char *a, int numa_a, const char *b, int numa_b, const char *expected,
                     const char *why)
{
    struct location one = place(a, numa_a), other = place(b, numa_b);

    is_str(affinity_level_name(affinity_between(&one, &other)), expected, "%s: %s", expected, why);
    is_str(affinity_level_name(affinity_between(&other, &one)), expected, "... both ways");
}

static void levels(void)
{
#define SWITCH "pci0000:15/0000:15:01.0/0000:16:00.0"
    level_is(SWITCH "/0000:17:00.0/0000:18:00.0", 0, SWITCH "/0000:17:00.0/0000:18:00.0", 0, "SAME",
             "one function");
    level_is(SWITCH "/0000:17:00.0/0000:18:00.0", 0, SWITCH "/0000:17:02.0/0000:1b:00.0", 0, "PIX",
             "one switch");
    level_is("pci0000:15/0000:15:01.0/0000:16:00.0", 0, "pci0000:15/0000:15:01.0/0000:16:00.1", 0,
             "PIX", "two functions of a device");
    level_is(SWITCH "/0000:17:00.0/0000:18:00.0", 0,
             SWITCH "/0000:17:02.0/0000:1b:00.0/0000:1c:01.0/0000:1d:00.0", 0, "PXB",
             "a switch below a switch");
    level_is(SWITCH "/0000:17:00.0/0000:20:00.0/0000:21:00.0/0000:22:00.0", -1,
             SWITCH "/0000:17:02.0/0000:1b:00.0/0000:1c:01.0/0000:1d:00.0", -1, "PXB",
             "two switches below a switch, without NUMA nodes");
    level_is(SWITCH "/0000:17:00.0/0000:18:00.0", 0, "pci0000:15/0000:15:02.0/0000:40:00.0", 0,
             "PHB", "two root ports of a host bridge");
    level_is(SWITCH "/0000:17:00.0/0000:18:00.0", 0, "pci0000:150/0000:15:01.0/0000:40:00.0", 0,
             "NODE", "host bridges whose names begin alike");
    level_is(SWITCH "/0000:17:00.0/0000:18:00.0", 0, "pci0000:97/0000:97:01.0/0000:98:00.0", 1,
             "SYS", "two NUMA nodes");
    level_is(SWITCH "/0000:17:00.0/0000:18:00.0", 0, "pci0000:97/0000:97:01.0/0000:98:00.0", -1,
             "unknown", "a host bridge without a NUMA node");
    level_is("0000:18:00.0", 1, "0000:98:00.0", 1, "NODE", "no paths, one NUMA node");
    level_is("0000:18:00.0", 0, "0000:98:00.0", 1, "SYS", "no paths, two NUMA nodes");
    level_is("0000:18:00.0", -1, "0000:98:00.0", -1, "unknown", "no paths, no NUMA nodes");
    level_is("", -1, "", -1, "unknown", "nothing");
    level_is("", 0, "", 0, "NODE", "NUMA nodes alone");
    level_is("pci0000:00/0000:00:05.0", -1, "pci0000:00/0000:00:06.0", -1, "unknown",
             "a virtual machine's flat bus");
    level_is("pci0000:10/0000:10:1b.0", 0, "pci0000:10/0000:10:1c.0", 0, "PHB",
             "a flat bus that has a NUMA node");
    level_is("pci0000:00/0000:00:05.0", -1, "pci0000:00/0000:00:05.1", -1, "unknown",
             "two functions of a virtual slot");
    level_is("pci0000:00/0000:00:1e.0/0000:01:05.0", -1, "pci0000:00/0000:00:1e.0/0000:01:06.0", -1,
             "unknown", "a virtual machine's conventional bus");
}

/* One node after the other. */

static void begin(bool is_virtual_machine, int numa_node_count)
{
    memset(&node, 0, sizeof node);
    memset(&fabric, 0, sizeof fabric);
    node.is_virtual_machine = is_virtual_machine;
    node.numa_node_count = numa_node_count;
}

static void gpu(const char *path, int numa_node)
{
    node.gpus[node.gpu_count++].location = place(path, numa_node);
}

static struct rdma_port *rail(const char *path, int numa_node)
{
    struct rdma_port *port = &node.rdma[node.rdma_count];
    struct rail *rail = &fabric.rails[fabric.rail_count++];

    port->location = place(path, numa_node);
    strcpy(port->state, "ACTIVE");
    snprintf(rail->name, sizeof rail->name, "mlx5_%zu:1", node.rdma_count++);
    rail->port = port;
    return port;
}

/* The rails of each GPU by their places: "0,1 2 -" */
static void served(const bool *usable, const char *expected, const char *why)
{
    char text[4096] = "";

    affinity_make(&node, &fabric, usable, &affinity);
    for (size_t i = 0; i < node.gpu_count; i++) {
        char *at = text + strlen(text);

        for (size_t j = 0; j < fabric.rail_count; j++)
            if (affinity.serves[i][j])
                sprintf(text + strlen(text), "%s%zu", *at ? "," : i ? " " : "", j);
        if (!*at)
            strcat(text, i ? " -" : "-");
        ok(affinity.is_known[i] == (at[i > 0] != '-'), "GPU %zu is known when it is served", i);
    }
    is_str(text, expected, "%s", why);
}

/* A switch below host bridge number bridge; device counts its downstream ports. */
static const char *below(int bridge, int device)
{
    static char path[128];

    snprintf(path, sizeof path,
             "pci0000:%x0/0000:%x0:01.0/0000:%x1:00.0/0000:%x2:%02x.0/0000:%x%x:00.0", bridge,
             bridge, bridge, bridge, device, bridge, device + 3);
    return path;
}

static void switches(int count, int gpus, int rails)
{
    begin(false, 2);
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < gpus; j++)
            gpu(below(i + 1, j), i >= count / 2);
        for (int j = 0; j < rails; j++)
            rail(below(i + 1, gpus + j), i >= count / 2);
    }
}

static void shares(void)
{
    switches(8, 1, 1);
    served(NULL, "0 1 2 3 4 5 6 7", "a NIC on each GPU's switch");
    switches(4, 2, 2);
    served(NULL, "0 1 2 3 4 5 6 7", "two GPUs and two NICs on each switch, in PCI order");
    switches(4, 2, 1);
    served(NULL, "0 0 1 1 2 2 3 3", "a NIC for two GPUs");
    switches(4, 1, 2);
    served(NULL, "0,1 2,3 4,5 6,7", "two NICs for a GPU");
    switches(1, 8, 4);
    served(NULL, "0 0 1 1 2 2 3 3", "eight GPUs and four NICs on one switch");
    switches(1, 3, 2);
    served(NULL, "0 0 1", "three GPUs and two NICs");
    switches(1, 2, 3);
    served(NULL, "0,1 2", "two GPUs and three NICs");
    switches(8, 1, 1);
    strcpy(node.rdma[1].state, "DOWN");
    served(NULL, "0 3 2 3 4 5 6 7",
           "a NIC that is down: its GPU goes to the next nearest, of which"
           " none is free; the others keep theirs");
    for (size_t i = 0; i < 4; i++)
        strcpy(node.rdma[i].state, "INIT");
    served(NULL, "4 5 6 7 4 5 6 7", "a socket without NICs: across");
    for (size_t i = 0; i < 8; i++)
        strcpy(node.rdma[i].state, "DOWN");
    served(NULL, "- - - - - - - -", "no NIC is up: none");
}

int main(void)
{
    levels();
    shares();
    return tap_done();
}
