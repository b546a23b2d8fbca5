/* SPDX-License-Identifier: Apache-2.0 */

/* The fabric and the affinity of published machines (tests/fixtures, each with its source),
 * compared with the tables of their vendors and owners. */
#include "lib/fabric/affinity.h"
#include "lib/fabric/fabric.h"
#include "lib/node/inventory.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

#include <stdio.h>
#include <string.h>

static struct inventory *node;
static struct fabric fabric;
static struct affinity affinity;

static void choose(const char *name)
{
    inventory_free(node);
    node = tree_inventory(name);
    fabric_choose(node, NULL, &fabric);
    affinity_make(node, &fabric, NULL, &affinity);
}

/* Adds the rail's device or interface, without the port, which is 1 on most of these machines. */
static void add_rail(char *text, size_t rail, char *end)
{
    size_t length = strlen(text);
    const char *name = fabric.rails[rail].name;

    snprintf(text + length, (size_t)(end - text) - length, "%s%.*s",
             length && text[length - 1] != ' ' ? " " : "", (int)strcspn(name, ":"), name);
}

static void rails_are(const char *expected)
{
    char names[2048] = "";

    for (size_t i = 0; i < fabric.rail_count; i++)
        add_rail(names, i, names + sizeof names);
    is_str(names, expected, "... its rails");
}

/* Tests the rails of each GPU, in the order of PCI addresses: "mlx5_0 | mlx5_1 mlx5_2 | ?"; "?" if
 * they are not known. */
static void gpus_have(const char *expected)
{
    char text[2048] = "";

    for (size_t i = 0; i < affinity.gpu_count; i++) {
        size_t rails[INVENTORY_NICS], count = affinity_rails(&affinity, &i, 1, rails);

        strcat(text, i ? " | " : "");
        for (size_t j = 0; j < count; j++)
            add_rail(text, rails[j], text + sizeof text);
        strcat(text, count ? "" : "?");
    }
    is_str(text, expected, "... the rails of each GPU");
}

static void machine(const char *name, enum fabric_class class, const char *management,
                    const char *rails, const char *gpu_rails)
{
    choose(name);
    is_int(fabric.class, class, "... its fabric is %s", fabric_class_name(class));
    is_str(fabric.management ? fabric.management->name : "", management, "... management is %s",
           management);
    rails_are(rails);
    gpus_have(gpu_rails);
}

/* Tests the level between a GPU and a rail with these PCI addresses. */
static void level_is(const char *gpu, const char *nic, enum affinity_level expected)
{
    for (size_t i = 0; i < node->gpu_count; i++) {
        for (size_t j = 0; j < fabric.rail_count; j++) {
            const struct rail *rail = &fabric.rails[j];
            const struct location *location =
                rail->port ? &rail->port->location : &rail->nic->location;

            if (strcmp(node->gpus[i].location.pci, gpu) == 0 && strcmp(location->pci, nic) == 0) {
                is_str(affinity_level_name(affinity.level[i][j]), affinity_level_name(expected),
                       "... %s between %s and %s", affinity_level_name(expected), gpu, nic);
                return;
            }
        }
    }
    ok(0, "... no GPU %s or rail %s", gpu, nic);
}

static void complete_machines(void)
{
    /* the table "Network Modules" of the DGX H100 User Guide, without the InfiniBand ports of the
     * storage network and of the bond */
    machine("dgx-h100", FABRIC_INFINIBAND, "bond0",
            "mlx5_0 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_9 mlx5_10 mlx5_11",
            "mlx5_0 | mlx5_3 | mlx5_4 | mlx5_5 | mlx5_6 | mlx5_9 | mlx5_10 | mlx5_11");
    has_str(fabric.reason, "left out: mlx5_1:1 mlx5_7:1 beside no GPU", "the reason says why");
    level_is("0000:1b:00.0", "0000:18:00.0", AFFINITY_PXB);
    level_is("0000:1b:00.0", "0000:40:00.0", AFFINITY_NODE);
    level_is("0000:1b:00.0", "0000:9a:00.0", AFFINITY_SYS);
    /* one NIC for two GPUs */
    machine("hgx-a100", FABRIC_INFINIBAND, "eno1", "mlx5_0 mlx5_1 mlx5_2 mlx5_3",
            "mlx5_0 | mlx5_0 | mlx5_1 | mlx5_1 | mlx5_2 | mlx5_2 | mlx5_3 | mlx5_3");
    machine("mi300x", FABRIC_ROCE_V2, "bond0",
            "bnxt_re0 bnxt_re1 bnxt_re2 bnxt_re3 bnxt_re4 bnxt_re5 bnxt_re6 bnxt_re7",
            "bnxt_re0 | bnxt_re1 | bnxt_re2 | bnxt_re3 | bnxt_re4 | bnxt_re5 | bnxt_re6 | "
            "bnxt_re7");
    /* RoCE beside the GPUs takes precedence over InfiniBand for storage */
    machine("mi300x-ib-storage", FABRIC_ROCE_V2, "bond0",
            "bnxt_re0 bnxt_re1 bnxt_re2 bnxt_re3 bnxt_re4 bnxt_re5 bnxt_re6 bnxt_re7",
            "bnxt_re0 | bnxt_re1 | bnxt_re2 | bnxt_re3 | bnxt_re4 | bnxt_re5 | bnxt_re6 | "
            "bnxt_re7");
    machine("p4d", FABRIC_EFA, "ens32", "rdmap16s27 rdmap32s27 rdmap144s27 rdmap160s27",
            "rdmap16s27 | rdmap16s27 | rdmap32s27 | rdmap32s27 | rdmap144s27 | rdmap144s27 | "
            "rdmap160s27 | rdmap160s27");
    machine("slingshot", FABRIC_SLINGSHOT, "nmn0", "hsn0 hsn1 hsn2 hsn3",
            "hsn2 | hsn2 | hsn1 | hsn1 | hsn0 | hsn0 | hsn3 | hsn3");
    /* Azure's topology files for NCCL: devices on one switch of the host are in one NUMA node of
     * the guest. On the older machine (v4) these are the same pairs; on the newer one (v5) the
     * GPU's own NIC is among the four of its NUMA node */
    machine("nd-a100-v4", FABRIC_INFINIBAND, "eth0",
            "mlx5_ib0 mlx5_ib1 mlx5_ib2 mlx5_ib3 mlx5_ib4 mlx5_ib5 mlx5_ib6 mlx5_ib7",
            "mlx5_ib0 mlx5_ib1 | mlx5_ib0 mlx5_ib1 | mlx5_ib2 mlx5_ib3 | mlx5_ib2 mlx5_ib3 | "
            "mlx5_ib4 mlx5_ib5 | mlx5_ib4 mlx5_ib5 | mlx5_ib6 mlx5_ib7 | mlx5_ib6 mlx5_ib7");
    machine("nd-h100-v5", FABRIC_INFINIBAND, "eth0",
            "mlx5_ib0 mlx5_ib1 mlx5_ib2 mlx5_ib3 mlx5_ib4 mlx5_ib5 mlx5_ib6 mlx5_ib7",
            "mlx5_ib0 mlx5_ib1 mlx5_ib2 mlx5_ib3 | mlx5_ib0 mlx5_ib1 mlx5_ib2 mlx5_ib3 | "
            "mlx5_ib0 mlx5_ib1 mlx5_ib2 mlx5_ib3 | mlx5_ib0 mlx5_ib1 mlx5_ib2 mlx5_ib3 | "
            "mlx5_ib4 mlx5_ib5 mlx5_ib6 mlx5_ib7 | mlx5_ib4 mlx5_ib5 mlx5_ib6 mlx5_ib7 | "
            "mlx5_ib4 mlx5_ib5 mlx5_ib6 mlx5_ib7 | mlx5_ib4 mlx5_ib5 mlx5_ib6 mlx5_ib7");
    /* eight NICs for six GPUs, four for three on each socket */
    machine("aurora", FABRIC_SLINGSHOT, "mgmt0", "hsn0 hsn1 hsn2 hsn3 hsn4 hsn5 hsn6 hsn7",
            "hsn0 hsn1 | hsn2 | hsn3 | hsn4 hsn5 | hsn6 | hsn7");
    machine("two-fabrics", FABRIC_INFINIBAND, "eno1", "mlx5_0 mlx5_1",
            "mlx5_0 | mlx5_0 | mlx5_1 | mlx5_1");
    /* two ports of one adapter are two rails with an interface each */
    machine("dual-port", FABRIC_INFINIBAND, "eno1", "mlx5_0 mlx5_0 mlx5_1 mlx5_1",
            "mlx5_0 mlx5_0 | mlx5_1");
    is_str(fabric.rails[1].name, "mlx5_0:2", "... the second port of the first adapter");
    is_str(fabric.rails[1].nic ? fabric.rails[1].nic->name : "", "ib1",
           "... has the IPoIB interface of the second port");
    is_near(fabric.rails[1].nominal_mbps, 56000, 0, "... and its speed");
    is_str(affinity_level_name(affinity_of_rails(node, &fabric.rails[0], &fabric.rails[1])), "SAME",
           "... and is the same PCI function as the first port");
    ok(rail_is_up(&fabric.rails[2]) && !rail_is_up(&fabric.rails[3]),
       "... one port of the other adapter is up");
    /* of the topology that a hypervisor shows, only the NUMA node counts */
    machine("vela", FABRIC_ETHERNET, "ens3", "enp16s0 enp144s0",
            "enp16s0 | enp16s0 | enp16s0 | enp16s0 | enp144s0 | enp144s0 | enp144s0 | enp144s0");
    machine("kvm-passthrough", FABRIC_ROCE_V2, "ens3", "mlx5_0 mlx5_1 mlx5_2 mlx5_3",
            "? | ? | ? | ?");
    machine("gcp-vm", FABRIC_ETHERNET, "ens5", "ens5", "? | ?");
}

static void faulty_machines(void)
{
    machine("dgx-h100-nic-missing", FABRIC_INFINIBAND, "bond0",
            "mlx5_0 mlx5_3 mlx5_5 mlx5_6 mlx5_9 mlx5_10 mlx5_11",
            "mlx5_0 | mlx5_3 | mlx5_5 | mlx5_5 | mlx5_6 | mlx5_9 | mlx5_10 | mlx5_11");
    machine("dgx-h100-gpu-gone", FABRIC_INFINIBAND, "bond0",
            "mlx5_0 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_10 mlx5_11",
            "mlx5_0 | mlx5_3 | mlx5_4 | mlx5_5 | mlx5_6 | mlx5_10 | mlx5_11");
    is_str(node->gpus[5].device_file, "/dev/nvidia5",
           "... the later minor numbers are lower by one");
    is_str(node->gpus[5].location.pci, "0000:d1:00.0", "... the PCI addresses are the same");
    machine("dgx-h100-port-down", FABRIC_INFINIBAND, "bond0",
            "mlx5_0 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_9 mlx5_10 mlx5_11",
            "mlx5_0 | mlx5_3 | mlx5_4 | mlx5_0 | mlx5_6 | mlx5_9 | mlx5_10 | mlx5_11");
    ok(!rail_is_up(&fabric.rails[3]), "... mlx5_5 is down");
    /* InfiniBand that is down is still the fabric */
    machine("two-fabrics-ib-down", FABRIC_INFINIBAND, "eno1", "mlx5_0 mlx5_1", "? | ? | ? | ?");
    ok(!rail_is_up(&fabric.rails[0]), "... mlx5_0 is down");
    choose("dgx-h100-half-width");
    is_int(node->gpus[3].location.link_width, 8, "... GPU 3 has 8 lanes");
    is_int(node->gpus[3].location.link_width_max, 16, "... of at most 16");
    is_near(fabric.rails[6].port->location.link_speed_gtps, 16, 0, "... mlx5_10 runs at 16 GT/s");
    is_near(fabric.rails[6].port->location.link_speed_max_gtps, 32, 0, "... of at most 32");
    choose("mi300x-mixed-gids");
    is_int(fabric.rails[0].gid_index, 3, "... the GID of bnxt_re0 is 3");
    is_int(fabric.rails[2].gid_index, 5, "... that of bnxt_re2 is 5, after a VLAN's GID");
    is_int(fabric.rails[6].gid_index, 1, "... bnxt_re6 has only a link-local GID");
}

int main(void)
{
    complete_machines();
    faulty_machines();
    inventory_free(node);
    return tap_done();
}
