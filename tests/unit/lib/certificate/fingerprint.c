/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/certificate/fingerprint.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>

static struct inventory inventory; /* too large for a stack */

static struct nic *add_nic(const char *name, const char *driver, const char *pci, int speed_mbps)
{
    struct nic *nic = &inventory.nics[inventory.nic_count++];

    strcpy(nic->name, name);
    strcpy(nic->driver, driver);
    strcpy(nic->location.pci, pci);
    strcpy(nic->bus, *pci ? "pci" : "");
    strcpy(nic->mac, "02:00:00:00:00:01");
    strcpy(nic->addresses[0], "10.1.0.3/24");
    nic->address_count = 1;
    nic->arp_type = 1;
    nic->is_physical = nic->is_up = nic->has_carrier = true;
    nic->speed_mbps = speed_mbps;
    nic->mtu_bytes = 9000;
    return nic;
}

static void make_node(void)
{
    struct rdma_port *port = &inventory.rdma[0];
    struct gpu *gpu = &inventory.gpus[0];

    strcpy(inventory.hostname, "n1");
    strcpy(inventory.kernel, "6.1.0-13-amd64");
    inventory.cpu_count = 96;
    inventory.numa_node_count = 2;
    add_nic("eth0", "igb", "0000:01:00.0", 1000);
    add_nic("eth1", "mlx5_core", "0000:3b:00.0", 200000);
    add_nic("rail1", "veth", "", 10000);
    add_nic("veth12ab", "veth", "", 10000);
    add_nic("eth1v0", "mlx5_core", "0000:3b:00.1", 200000)->is_virtual_function = true;
    strcpy(add_nic("usb0", "cdc_ether", "0000:00:14.0", 100)->bus, "usb");
    add_nic("docker0", "bridge", "", -1)->is_physical = false;
    add_nic("ib0", "mlx5_core", "0000:3b:00.2", 400000)->arp_type = 32;

    inventory.rdma_count = 1;
    strcpy(port->device, "mlx5_0");
    port->port = 1;
    strcpy(port->driver, "mlx5_core");
    strcpy(port->firmware, "28.39.1002");
    strcpy(port->location.pci, "0000:3b:00.0");
    strcpy(port->state, "ACTIVE");
    port->link_layer = LINK_INFINIBAND;
    port->rate_gbps = 400;
    port->lid = 7;
    port->gid_count = 1;
    strcpy(port->gids[0].gid, "fe80:0000:0000:0000:0c42:a103:0065:1234");
    for (int i = 1; i <= 2; i++) { /* a port on Ethernet, and a virtual function for a container */
        inventory.rdma[i] = *port;
        snprintf(inventory.rdma[i].device, sizeof inventory.rdma[i].device, "mlx5_%d", i);
        inventory.rdma[i].link_layer = LINK_ETHERNET;
        inventory.rdma[i].is_virtual_function = i == 2;
        inventory.rdma_count++;
    }

    inventory.gpu_count = 1;
    gpu->vendor = GPU_NVIDIA;
    strcpy(gpu->location.pci, "0000:1a:00.0");
    strcpy(gpu->model, "10de:2330");
    strcpy(gpu->serial, "GPU-1234");
    strcpy(gpu->driver, "nvidia");
    strcpy(inventory.gpu_drivers[GPU_NVIDIA], "550.54");
}

static void describes_the_node(void)
{
    const char *names[] = {"rail1", NULL, "absent"};
    char *text;

    text = fingerprint_text(&inventory, names, 3, NULL);
    is_str(text,
           "kernel: 6.1.0-13-amd64\n"
           "cpus: 96\n"
           "numa nodes: 2\n"
           "nic eth0: igb 0000:01:00.0 1000Mb/s mtu 9000 mac 02:00:00:00:00:01 up\n"
           "nic eth1: mlx5_core 0000:3b:00.0 200000Mb/s mtu 9000 mac 02:00:00:00:00:01 up\n"
           "nic rail1: veth - 10000Mb/s mtu 9000 up\n"
           "nic ib0: mlx5_core 0000:3b:00.2 400000Mb/s mtu 9000 up\n"
           "rdma mlx5_0:1: ACTIVE 400Gb/s mlx5_core 0000:3b:00.0 fw 28.39.1002 "
           "guid 0c42:a103:0065:1234\n"
           "rdma mlx5_1:1: ACTIVE 400Gb/s mlx5_core 0000:3b:00.0 fw 28.39.1002\n"
           "gpu 0000:1a:00.0: NVIDIA 10de:2330 serial GPU-1234 driver nvidia version 550.54\n",
           "one line per device and named interface, without addresses that may change");
    free(text);
    strcpy(inventory.gpus[0].model, "a\nb\033c\xc3\xa9");
    text = fingerprint_text(&inventory, NULL, 0, NULL);
    has_str(text, "NVIDIA a?b?c?? serial", "unprintable bytes are replaced");
    free(text);
    strcpy(inventory.gpus[0].model, "10de:2330");
}

/* A virtual interface counts as a rail if the configuration names it. */
static void includes_configured_interfaces(void)
{
    struct conf conf;
    char *text;

    conf_defaults(&conf);
    strcpy(conf.management_interface, "eth0");
    hostlist_append(&conf.fabric_interfaces, "rail1");
    text = fingerprint_node(&inventory, &conf);
    has_str(text, "nic rail1: veth", "a rail of the configuration has a line");
    ok(!strstr(text, "veth12ab"), "... another virtual interface does not");
    free(text);
    conf.netif_line_count = 1;
    netif_line_parse("eth1,rail1 mtu=4000 up=yes", &conf.netif_lines[0], NULL);
    inventory.nics[2].is_up = false;
    text = fingerprint_node(&inventory, &conf);
    has_str(text, "nic rail1: veth - mtu 4000 up\n",
            "an interface that is set for jobs has the MTU and state of jobs");
    has_str(text, "nic eth1: mlx5_core 0000:3b:00.0 mtu 4000 mac 02:00:00:00:00:01 up\n",
            "... without its speed, which is not known before it is up");
    has_str(text, "nic eth0: igb 0000:01:00.0 1000Mb/s mtu 9000",
            "... other interfaces have their present values");
    inventory.nics[2].is_up = true;
    free(text);
    conf_clear(&conf);
}

/* Compares the fingerprint `then` with that of the present inventory: the number of different
 * lines, and the message. */
static void differs(const char *then, int count, const char *expected)
{
    char message[512];
    char *now = fingerprint_text(&inventory, NULL, 0, NULL);

    is_int(fingerprint_compare(then, now, message, sizeof message), count, "%d lines differ",
           count);
    is_str(message, expected, "... and the message names them");
    free(now);
}

static void names_differences(void)
{
    char *then = fingerprint_text(&inventory, NULL, 0, NULL);
    struct nic *eth1 = &inventory.nics[1];

    differs(then, 0, "");
    eth1->carrier_changes = 7;
    inventory.rdma[0].lid = 8;
    strcpy(eth1->addresses[0], "10.1.0.99/24");
    inventory.gpus[0].ecc_corrected = 12;
    strcpy(inventory.rdma[0].gids[0].gid, "fec0:0000:0000:0001:0c42:a103:0065:1234");
    differs(then, 0, "");
    eth1->mtu_bytes = 1500;
    differs(then, 1,
            "nic eth1: was ... mtu 9000 mac 02:00:00:00:00:01 up, is ... mtu 1500 mac "
            "02:00:00:00:00:01 up");
    eth1->mtu_bytes = 9000;
    eth1->has_carrier = false;
    eth1->speed_mbps = -1;
    differs(then, 1,
            "nic eth1: was ... 0000:3b:00.0 200000Mb/s mtu 9000 mac 02:00:00:00:00:01 up, is ... "
            "0000:3b:00.0 mtu 9000 mac 02:00:00:00:00:01 down");
    eth1->has_carrier = true;
    eth1->speed_mbps = 200000;
    inventory.gpu_count = 0;
    differs(then, 1, "gpu 0000:1a:00.0: gone");
    inventory.gpu_count = 1;
    strcpy(inventory.gpus[0].location.pci, "0000:1b:00.0");
    differs(then, 2, "gpu 0000:1a:00.0: gone; gpu 0000:1b:00.0: new");
    strcpy(inventory.kernel, "6.1.0-14-amd64");
    inventory.cpu_count = 95;
    differs(then, 4,
            "kernel: was 6.1.0-13-amd64, is 6.1.0-14-amd64; cpus: was 96, is 95; "
            "gpu 0000:1a:00.0: gone; and 1 more");
    free(then);
}

/* NVIDIA's driver reports serial and firmware only while a process uses the GPU. */
static void ignores_missing_values(void)
{
    struct gpu *gpu = &inventory.gpus[0];
    static const char older[] = "gpu 0000:1a:00.0: NVIDIA H100 fw ??.??.??.??.?? driver nvidia\n",
                      used[] =
                          "gpu 0000:1a:00.0: NVIDIA H100 serial GPU-1 fw 96.00 driver nvidia\n";
    char *closed, *opened, key[64], message[512];

    strcpy(gpu->firmware, "96.00.74.00.01");
    opened = fingerprint_text(&inventory, NULL, 0, NULL);
    strcpy(gpu->firmware, "");
    strcpy(gpu->serial, "");
    closed = fingerprint_text(&inventory, NULL, 0, NULL);
    is_int(fingerprint_compare(opened, closed, message, sizeof message), 0,
           "a GPU that is no longer in use has not changed");
    is_int(fingerprint_compare(closed, opened, message, sizeof message), 0,
           "... nor has one that is in use now");
    fingerprint_first_difference(opened, closed, key, sizeof key);
    is_str(key, "", "... and no line differs");
    is_int(fingerprint_compare(older, used, message, sizeof message), 0,
           "question marks in an older certificate match any firmware");
    is_int(fingerprint_compare(used, older, message, sizeof message), 0,
           "... also in the present fingerprint");
    strcpy(gpu->firmware, "96.00.74.00.02");
    differs(closed, 0, "");
    differs(opened, 1,
            "gpu 0000:1a:00.0: was ... 10de:2330 serial GPU-1234 fw 96.00.74.00.01 driver nvidia "
            "version 550.54, is ... 10de:2330 fw 96.00.74.00.02 driver nvidia version 550.54");
    strcpy(gpu->serial, "GPU-5678");
    strcpy(gpu->firmware, "");
    differs(opened, 1,
            "gpu 0000:1a:00.0: was ... serial GPU-1234 fw 96.00.74.00.01 driver nvidia version "
            "550.54, is ... serial GPU-5678 driver nvidia version 550.54");
    strcpy(inventory.gpu_drivers[GPU_NVIDIA], "580.1");
    strcpy(gpu->serial, "");
    differs(closed, 1, "gpu 0000:1a:00.0: was ... version 550.54, is ... version 580.1");
    strcpy(inventory.gpu_drivers[GPU_NVIDIA], "550.54");
    strcpy(gpu->serial, "GPU-1234");
    free(opened);
    free(closed);
}

static void is_bounded(void)
{
    char message[16];

    is_int(fingerprint_compare("kernel: 1\n", "kernel: 2\n", message, sizeof message), 1,
           "a message longer than its buffer");
    is_str(message, "kernel: was 1, ", "... is cut");
    is_int(fingerprint_compare("", "", message, sizeof message), 0, "empty fingerprints are equal");
    is_int(fingerprint_compare("kernel", "kernel", message, sizeof message), 0,
           "a line without a value equals itself");
    is_int(fingerprint_compare("a: 1\na: 2\n", "a: 1\n", message, sizeof message), 1,
           "a duplicate line differs");
}

int main(void)
{
    make_node();
    describes_the_node();
    includes_configured_interfaces();
    ignores_missing_values();
    names_differences();
    is_bounded();
    return tap_done();
}
