/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fabric/affinity.h"
#include "tests/unit/tap.h"

#include <stdio.h>
#include <string.h>

static struct inventory node;
static struct fabric fabric;
static struct affinity affinity;

static struct location location_of(const char *path, int numa_node)
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
    struct location one = location_of(a, numa_a), other = location_of(b, numa_b);

    is_str(affinity_level_name(affinity_between(&one, &other)), expected, "%s: %s", expected, why);
    is_str(affinity_level_name(affinity_between(&other, &one)), expected, "... in both directions");
}

static void levels(void)
{
#define SWITCH "pci0000:15/0000:15:01.0/0000:16:00.0"
    level_is(SWITCH "/0000:17:00.0/0000:18:00.0", 0, SWITCH "/0000:17:00.0/0000:18:00.0", 0, "SAME",
             "the same function");
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
             "NODE", "host bridges whose names have the same prefix");
    level_is(SWITCH "/0000:17:00.0/0000:18:00.0", 0, "pci0000:97/0000:97:01.0/0000:98:00.0", 1,
             "SYS", "two NUMA nodes");
    level_is(SWITCH "/0000:17:00.0/0000:18:00.0", 0, "pci0000:97/0000:97:01.0/0000:98:00.0", -1,
             "unknown", "a host bridge without a NUMA node");
    level_is("0000:18:00.0", 1, "0000:98:00.0", 1, "NODE", "no paths, one NUMA node");
    level_is("0000:18:00.0", 0, "0000:98:00.0", 1, "SYS", "no paths, two NUMA nodes");
    level_is("0000:18:00.0", -1, "0000:98:00.0", -1, "unknown", "no paths, no NUMA nodes");
    level_is("", -1, "", -1, "unknown", "no paths and no NUMA nodes, not even addresses");
    level_is("", 0, "", 0, "NODE", "only NUMA nodes");
    level_is("pci0000:00/0000:00:05.0", -1, "pci0000:00/0000:00:06.0", -1, "unknown",
             "a virtual machine's flat bus");
    level_is("pci0000:10/0000:10:1b.0", 0, "pci0000:10/0000:10:1c.0", 0, "PHB",
             "a flat bus with a NUMA node");
    level_is("pci0000:00/0000:00:05.0", -1, "pci0000:00/0000:00:05.1", -1, "unknown",
             "two functions of a virtual slot");
    level_is("pci0000:00/0000:00:1e.0/0000:01:05.0", -1, "pci0000:00/0000:00:1e.0/0000:01:06.0", -1,
             "unknown", "a virtual machine's conventional bus");
}

/* Each test builds a node in these variables. */

static void begin_node(bool is_virtual_machine, int numa_node_count)
{
    memset(&node, 0, sizeof node);
    memset(&fabric, 0, sizeof fabric);
    node.is_virtual_machine = is_virtual_machine;
    node.numa_node_count = numa_node_count;
}

static void add_gpu(const char *path, int numa_node)
{
    node.gpus[node.gpu_count++].location = location_of(path, numa_node);
}

static struct rdma_port *add_rail(const char *path, int numa_node)
{
    struct rdma_port *port = &node.rdma[node.rdma_count];
    struct rail *rail = &fabric.rails[fabric.rail_count++];

    port->location = location_of(path, numa_node);
    strcpy(port->state, "ACTIVE");
    snprintf(rail->name, sizeof rail->name, "mlx5_%zu:1", node.rdma_count++);
    rail->port = port;
    return port;
}

/* Tests which rails serve each GPU, by their indexes: "0,1 2 -" */
static void rails_serve(const bool *usable, const char *expected, const char *why)
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
        ok(affinity.is_known[i] == (at[i > 0] != '-'), "GPU %zu is known if a rail serves it", i);
    }
    is_str(text, expected, "%s", why);
}

/* Returns the path of a device below the switch of host bridge number `bridge`; device counts the
 * switch's downstream ports. */
static const char *path_below_switch(int bridge, int device)
{
    static char path[128];

    snprintf(path, sizeof path,
             "pci0000:%x0/0000:%x0:01.0/0000:%x1:00.0/0000:%x2:%02x.0/0000:%x%x:00.0", bridge,
             bridge, bridge, bridge, device, bridge, device + 3);
    return path;
}

static void make_switches(int count, int gpus, int rails)
{
    begin_node(false, 2);
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < gpus; j++)
            add_gpu(path_below_switch(i + 1, j), i >= count / 2);
        for (int j = 0; j < rails; j++)
            add_rail(path_below_switch(i + 1, gpus + j), i >= count / 2);
    }
}

static void rails_are_shared(void)
{
    make_switches(8, 1, 1);
    rails_serve(NULL, "0 1 2 3 4 5 6 7", "a NIC on each GPU's switch");
    make_switches(4, 2, 2);
    rails_serve(NULL, "0 1 2 3 4 5 6 7", "two GPUs and two NICs on each switch, in PCI order");
    make_switches(4, 2, 1);
    rails_serve(NULL, "0 0 1 1 2 2 3 3", "one NIC for two GPUs");
    make_switches(4, 1, 2);
    rails_serve(NULL, "0,1 2,3 4,5 6,7", "two NICs for each GPU");
    make_switches(1, 8, 4);
    rails_serve(NULL, "0 0 1 1 2 2 3 3", "eight GPUs and four NICs on one switch");
    make_switches(1, 3, 2);
    rails_serve(NULL, "0 0 1", "three GPUs and two NICs");
    make_switches(1, 2, 3);
    rails_serve(NULL, "0,1 2", "two GPUs and three NICs");
    make_switches(8, 1, 1);
    strcpy(node.rdma[1].state, "DOWN");
    rails_serve(
        NULL, "0 3 2 3 4 5 6 7",
        "a NIC that is down: its GPU shares one of the next nearest NICs; the other GPUs keep "
        "theirs");
    for (size_t i = 0; i < 4; i++)
        strcpy(node.rdma[i].state, "INIT");
    rails_serve(NULL, "4 5 6 7 4 5 6 7",
                "a socket without usable NICs: its GPUs use NICs of the other socket");
    for (size_t i = 0; i < 8; i++)
        strcpy(node.rdma[i].state, "DOWN");
    rails_serve(NULL, "- - - - - - - -", "no NIC is up: no GPU is served");
}

static void level_between(size_t gpu, size_t rail, const char *expected, const char *why)
{
    affinity_make(&node, &fabric, NULL, &affinity);
    is_str(affinity_level_name(affinity.level[gpu][rail]), expected, "%s: %s", expected, why);
}

static void virtual_machines(void)
{
    begin_node(true, 1);
    add_gpu("pci0000:00/0000:00:02.0/0000:01:00.0", 0);
    add_rail("pci0000:00/0000:00:02.1/0000:02:00.0", 0);
    level_between(0, 0, "unknown",
                  "a virtual machine with one NUMA node and a port for each device");
    rails_serve(NULL, "-", "... where no rail is known to be nearest");
    node.is_virtual_machine = false;
    level_between(0, 0, "PHB", "the same on a real machine");
    begin_node(true, 2);
    add_gpu("pci0000:10/0000:10:1c.0", 0);
    add_gpu("pci0000:10/0000:10:1d.0", 0);
    add_gpu("pci0000:20/0000:20:1c.0", 0);
    add_rail("pci0000:10/0000:10:1b.0", 0);
    add_rail("pci0000:20/0000:20:1b.0", 0);
    add_rail("pci0000:90/0000:90:1b.0", 1);
    rails_serve(NULL, "0 0 1", "EC2 p4d: each host bridge has a flat bus");
    ok(affinity.is_coarse[0], "... so only the host bridge is known");
    add_gpu("pci0000:a0/0000:a0:1c.0", 1);
    add_gpu("pci0000:b0/0000:b0:1c.0", 0);
    rails_serve(NULL, "0 0 1 2 0,1",
                "... and a GPU on a bus without rails gets all rails of its NUMA node");
    begin_node(true, 2);
    add_gpu("pci0000:44/0000:44:00.0/0000:45:00.0/0000:46:00.0/0000:47:00.0", -1);
    add_rail("pci0000:44/0000:44:00.0/0000:45:00.0/0000:46:00.1/0000:48:00.0", -1);
    level_between(0, 0, "PIX", "a switch in a virtual machine counts");
}

static void unknown_locations(void)
{
    begin_node(false, 2);
    add_gpu("0000:18:00.0", 0);
    add_gpu("0000:19:00.0", 0);
    add_gpu("0000:98:00.0", 1);
    add_rail("0000:1a:00.0", 0);
    add_rail("0000:1b:00.0", 0);
    add_rail("0000:9a:00.0", 1);
    rails_serve(NULL, "0,1 0,1 2", "no paths: all rails of the NUMA node serve its GPUs");
    ok(affinity.is_coarse[0], "... and is_coarse is set");
    begin_node(false, 2);
    add_gpu(path_below_switch(1, 0), 0);
    add_rail(path_below_switch(1, 1), 0);
    add_rail("", -1);
    rails_serve(NULL, "0",
                "a rail without a location does not matter if another is on the GPU's switch");
    node.rdma[0].location = location_of(path_below_switch(2, 0), 0);
    rails_serve(NULL, "-", "... but it may be nearer than a rail of another host bridge");
    strcpy(node.rdma[1].state, "DOWN");
    rails_serve(NULL, "0", "... unless it is down");
    begin_node(false, 1);
    add_gpu("pci0000:40/0000:40:01.1/0000:41:00.0", -1);
    add_rail("pci0000:60/0000:60:01.1/0000:61:00.0", -1);
    level_between(0, 0, "NODE",
                  "on a real machine with one NUMA node, all host bridges belong to it");
    node.numa_node_count = 2;
    level_between(0, 0, "unknown", "... with two NUMA nodes the level is unknown");
    begin_node(false, 2);
    add_gpu(path_below_switch(1, 0), 0);
    rails_serve(NULL, "-", "no rail serves a GPU of a node without rails");
}

/* A bond of two NICs is the rail. */
static void bonds(void)
{
    struct rail *bond;

    begin_node(false, 2);
    add_gpu(path_below_switch(1, 0), 0);
    add_gpu(path_below_switch(3, 0), 1);
    bond = &fabric.rails[fabric.rail_count++];
    bond->nic = &node.nics[0];
    strcpy(node.nics[0].name, "bond0");
    node.nics[0].location.numa_node = -1;
    node.nics[0].is_up = node.nics[0].has_carrier = true;
    strcpy(bond->name, "bond0");
    strcpy(node.nics[1].name, "eth0");
    strcpy(node.nics[1].master, "bond0");
    node.nics[1].location = location_of(path_below_switch(1, 1), 0);
    node.nic_count = 2;
    level_between(0, 0, "PIX", "a bond with one port is as near as the port");
    node.nics[2] = node.nics[1];
    node.nics[2].location = location_of("pci0000:10/0000:10:02.0/0000:1c:00.1", 0);
    node.nic_count = 3;
    level_between(0, 0, "PHB", "a bond is as near as its farthest member");
    level_between(1, 0, "SYS", "... also from a GPU of the other socket");
    is_str(affinity_level_name(affinity_of_rails(&node, bond, bond)), "PHB", "... and to itself");
}

static void ports(void)
{
    struct rdma_port *port;

    begin_node(false, 2);
    add_gpu(path_below_switch(1, 0), 0);
    add_gpu(path_below_switch(1, 1), 0);
    add_rail(path_below_switch(1, 2), 0);
    port = add_rail(path_below_switch(1, 2), 0);
    port->port = 2;
    rails_serve(NULL, "0 1", "two ports of one NIC are two rails, one for each GPU");
    is_str(affinity_level_name(affinity_of_rails(&node, &fabric.rails[0], &fabric.rails[1])),
           "SAME", "... of the same PCI function");
    port->location =
        location_of("pci0000:10/0000:10:01.0/0000:11:00.0/0000:12:02.0/0000:15:01.2", 0);
    port->is_virtual_function = true;
    is_str(affinity_level_name(affinity_of_rails(&node, &fabric.rails[0], &fabric.rails[1])), "PIX",
           "a virtual function in another slot is on the same NIC");
    level_between(0, 1, "PIX", "... and as near to a GPU");
    is_str(affinity_level_name(affinity_of_gpus(&node, &node.gpus[0], &node.gpus[1])), "PIX",
           "two GPUs have a level too");
    begin_node(false, 2);
    add_gpu(path_below_switch(1, 0), 0);
    add_gpu(path_below_switch(1, 1), 0);
    add_rail(path_below_switch(1, 3), 0);
    add_rail(path_below_switch(1, 2), 0);
    rails_serve(NULL, "1 0", "PCI order decides, not the names");
    begin_node(false, 2);
    for (int i = 0; i < 2; i++) {
        add_gpu(path_below_switch(i + 1, 0), i);
        for (int j = 0; j < 3; j++)
            add_rail(path_below_switch(i + 1, 0), i);
    }
    rails_serve(NULL, "0,1,2 3,4,5", "Gaudi: all ports of a card serve it");
}

static void usable_rails_are_chosen(void)
{
    const bool first[] = {false, true, true, true, true, true, true, true};
    size_t gpus[] = {5, 1}, rails[INVENTORY_NICS];

    make_switches(8, 1, 1);
    rails_serve(first, "3 1 2 3 4 5 6 7", "a rail that usable excludes counts as down");
    is_int(affinity_rails(&affinity, gpus, 2, rails), 2, "two GPUs have two rails");
    ok(rails[0] == 1 && rails[1] == 5, "... in the fabric's order");
    is_int(affinity_rails(&affinity, NULL, 0, rails), 7,
           "without GPUs all usable rails are returned");
    ok(rails[0] == 1 && rails[6] == 7, "... the first and the last of them");
    affinity.is_known[1] = false;
    is_int(affinity_rails(&affinity, gpus, 2, rails), 0, "no rail if one GPU is not known");
    gpus[0] = 8;
    is_int(affinity_rails(&affinity, gpus, 1, rails), 0, "... or does not exist");
    /* at PXB, the rail that shares the lowest switch is nearest */
    begin_node(false, 1);
#define TOP "pci0000:10/0000:10:01.0/0000:11:00.0/0000:12:00.0"
    add_gpu(TOP "/0000:13:00.0/0000:14:00.0/0000:15:00.0/0000:16:00.0/0000:17:00.0", 0);
    add_rail("pci0000:10/0000:10:01.0/0000:11:00.0/0000:12:01.0/0000:18:00.0", 0);
    add_rail(TOP "/0000:13:00.0/0000:14:01.0/0000:19:00.0", 0);
    rails_serve(NULL, "1", "of two rails at PXB, the one on the GPU's lower switch serves it");
}

/* Published machines of which only a part is known; complete recordings are in tests/fixtures. */
static void published(void)
{
    char path[128];

    /* EC2 p5.48xlarge, from hwloc's XML in https://github.com/ai-dynamo/nixl,
     * test/unit/utils/libfabric/topo/p5.48xl-topo.xml: each of eight switches has four EFA devices
     * and then a GPU */
    begin_node(true, 2);
    for (int i = 0; i < 8; i++) {
        int bus = 0x44 + i * 0x11;

        for (int j = 0; j < 5; j++) {
            snprintf(path, sizeof path,
                     "pci0000:%02x/0000:%02x:00.0/0000:%02x:00.0/0000:%02x:01.%d/0000:%02x:00.0",
                     bus, bus, bus + 1, bus + 2, j, bus + 11 + j);
            if (j < 4)
                add_rail(path, i / 4);
            else
                add_gpu(path, i / 4);
        }
    }
    is_str(node.gpus[0].location.pci, "0000:53:00.0", "EC2 p5: GPU 0");
    rails_serve(
        NULL,
        "0,1,2,3 4,5,6,7 8,9,10,11 12,13,14,15 16,17,18,19 20,21,22,23 24,25,26,27 28,29,30,31",
        "... each GPU has four EFA devices");
    level_between(0, 3, "PIX", "... on its switch");
    level_between(0, 4, "NODE", "... other rails of its NUMA node");
    level_between(0, 16, "SYS", "... a rail of the other NUMA node");

    /* EC2 p5en.48xlarge, p5en.48xl-topo.xml in the same place: each switch has two GPUs and four
     * EFA devices */
    begin_node(true, 2);
    for (int j = 0; j < 6; j++) {
        snprintf(path, sizeof path,
                 "pci0000:44/0000:44:00.0/0000:45:00.0/0000:46:%02x.%d/0000:%02x:00.0",
                 (14 + j) / 8, (14 + j) % 8, 0x55 + j);
        if (j < 4)
            add_rail(path, 0);
        else
            add_gpu(path, 0);
    }
    rails_serve(NULL, "0,1 2,3", "EC2 p5en: two EFA devices for each GPU");

    /* DGX-2, `nvidia-smi topo -m` in https://github.com/NVIDIA/nccl-tests/issues/78: GPU0 and GPU1
     * PIX to mlx5_0, PXB to mlx5_1, GPU2 and GPU3 the other way, NODE and SYS to the rest. The
     * paths are composed to match: a switch for two GPUs and a NIC, and two of these switches below
     * one more. */
    begin_node(false, 2);
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 3; j++) {
            int top = 0x10 + i / 2 * 0x20, low = top + 3 + i % 2 * 0x10;

            snprintf(path, sizeof path,
                     "pci0000:%x/0000:%x:00.0/0000:%x:00.0/0000:%x:%02x.0/0000:%x:00.0/"
                     "0000:%x:%02x.0/0000:%x:00.0",
                     top, top, top + 1, top + 2, i % 2, low, low + 1, j, low + 2 + j);
            if (j < 2)
                add_gpu(path, i / 4);
            else
                add_rail(path, i / 4);
        }
    }
    rails_serve(NULL, "0 0 1 1 2 2 3 3 4 4 5 5 6 6 7 7", "DGX-2: a NIC for two GPUs");
    level_between(0, 0, "PIX", "... GPU0 and mlx5_0");
    level_between(0, 1, "PXB", "... GPU0 and mlx5_1");
    level_between(2, 0, "PXB", "... GPU2 and mlx5_0");
    level_between(2, 1, "PIX", "... GPU2 and mlx5_1");
    level_between(1, 2, "NODE", "... GPU1 and mlx5_2");
    level_between(3, 4, "SYS", "... GPU3 and mlx5_4");

    /* Two GPUs of a Threadripper, lspci -t (00:01.1-[01], 00:03.1-[02]) and topo -m (PHB) in
     * https://github.com/noonghunna/club-3090/issues/1229 */
    begin_node(false, 1);
    add_gpu("pci0000:00/0000:00:01.1/0000:01:00.0", 0);
    add_gpu("pci0000:00/0000:00:03.1/0000:02:00.0", 0);
    is_str(affinity_level_name(affinity_of_gpus(&node, &node.gpus[0], &node.gpus[1])), "PHB",
           "Threadripper: two root ports");
}

int main(void)
{
    levels();
    rails_are_shared();
    virtual_machines();
    unknown_locations();
    bonds();
    ports();
    usable_rails_are_chosen();
    published();
    return tap_done();
}
