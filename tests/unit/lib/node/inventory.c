/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node/inventory.h"
#include "lib/base/sysfs.h"
#include "lib/node/inventory-parts.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct nic *nic_of(const struct inventory *inventory, const char *name)
{
    static const struct nic none;
    const struct nic *nic = inventory_nic(inventory, name);

    ok(nic, "the inventory has %s", name);
    return nic ? nic : &none;
}

static void h100(void)
{
    struct inventory *node = tree_inventory("h100-ib");
    const struct nic *nic = nic_of(node, "eno3");
    const struct gpu *gpu = &node->gpus[0];
    const struct rdma_port *port = &node->rdma[5];

    is_str(node->hostname, "h1", "host name");
    is_str(node->kernel, "5.15.0-1053-generic", "kernel");
    is_int(node->cpu_count, 224, "CPUs");
    is_int(node->numa_node_count, 2, "NUMA nodes");
    is_int(node->memory_bytes, 2113406000LL * 1024, "memory");
    is_str(node->gpu_drivers[GPU_NVIDIA], "550.54.15",
           "the version of the NVIDIA driver, from its sentence");
    is_int(node->nic_count, 9, "interfaces, without lo");
    is_str(nic->driver, "ixgbe", "driver of eno3");
    is_str(nic->location.pci, "0000:0b:00.0", "PCI address of eno3");
    is_int(nic->location.link_width, 4, "PCIe lanes of eno3");
    is_near(nic->location.link_speed_gtps, 8.0, 0, "PCIe speed of eno3");
    ok(nic->is_physical && nic->is_up && nic->has_carrier, "eno3 is physical and up");
    ok(nic->has_default_route, "eno3 has the default route");
    is_int(nic->address_count, 2, "eno3 has two addresses");
    is_str(nic->addresses[0], "10.0.0.11/24", "IPv4 first");
    is_str(nic->addresses[1], "fd00::11/64", "IPv6 second");
    nic = nic_of(node, "ib0");
    is_int(nic->arp_type, 32, "ib0 is InfiniBand");
    is_int(nic->address_count, 1, "ib0's link-local address is left out");
    is_str(nic->mac, "00:00:10:29:fe:80:00:00:00:00:00:00:a0:88:c2:03:00:00:00:01",
           "hardware addresses of 20 bytes");
    is_int(node->rdma_count, 8, "RDMA ports");
    is_str(port->device, "mlx5_5", "the sixth is mlx5_5");
    is_int(port->link_layer, LINK_INFINIBAND, "... InfiniBand");
    is_near(port->rate_gbps, 400, 0, "... at 400 Gb/s");
    is_str(port->state, "ACTIVE", "... ACTIVE");
    is_str(port->phys_state, "LinkUp", "... LinkUp");
    is_str(port->firmware, "28.39.1002", "... firmware");
    is_str(port->driver, "mlx5_core", "... driver");
    is_str(port->node_type, "CA", "... a channel adapter");
    is_int(port->lid, 21, "... LID");
    is_int(port->sm_lid, 1, "... the subnet manager's LID");
    is_str(port->netdev, "ib5", "... its IPoIB interface by PCI function and dev_port");
    is_int(port->location.numa_node, 1, "... on NUMA node 1");
    is_int(port->gid_count, 1, "... one GID");
    is_int(port->gids[0].type, GID_IB, "... of type InfiniBand, whatever gid_attrs reports");
    ok(inventory_rdma_of(node, "ib5") == port, "ib5 has this port");
    ok(!inventory_rdma_of(node, ""), "an empty name has no port");
    is_int(node->gpu_count, 8, "GPUs, without the BMC's display");
    is_int(gpu->vendor, GPU_NVIDIA, "NVIDIA");
    is_str(gpu->model, "NVIDIA H100 80GB HBM3", "model");
    is_str(gpu->serial, "GPU-0c1d2e3f-0000-4000-8000-000000000000", "UUID");
    is_str(gpu->firmware, "96.00.74.00.01", "video BIOS");
    is_str(gpu->device_file, "/dev/nvidia0", "device file by the minor number");
    is_int(gpu->ecc_uncorrected, -1, "memory errors are not known");
    is_str(node->gpus[4].location.pci, "0000:9d:00.0", "GPUs in the order of PCI addresses");
    inventory_free(node);
}

static void mi300x(void)
{
    struct inventory *node = tree_inventory("mi300x-roce");
    const struct gpu *gpu = &node->gpus[2];
    const struct rdma_port *port = &node->rdma[3];

    is_int(node->gpu_count, 8, "GPUs, without the Matrox");
    is_int(gpu->vendor, GPU_AMD, "AMD");
    is_str(gpu->model, "AMD Instinct MI300X OAM", "product name");
    is_str(gpu->serial, "9f1c000000001002", "unique id");
    is_str(gpu->firmware, "113-M3000100-102", "VBIOS");
    is_int(gpu->memory_bytes, 206141652992LL, "memory");
    is_int(gpu->ecc_uncorrected, 2, "uncorrected errors, over all blocks");
    is_int(gpu->ecc_corrected, 5, "corrected errors, over all blocks");
    is_str(gpu->device_file, "/dev/dri/renderD130", "render node");
    is_str(gpu->fabric_id, "112210f47de98115", "XGMI hive by PCI address");
    is_int(port->link_layer, LINK_ETHERNET, "RoCE's link layer");
    is_str(port->netdev, "ens14np0", "interface from the GID table");
    is_int(port->gid_count, 4, "zero GIDs are left out");
    is_int(port->gids[2].type, GID_ROCE_V1, "GID 2 is v1");
    is_int(port->gids[3].type, GID_ROCE_V2, "GID 3 is v2");
    is_int(port->location.link_width, 8, "8 lanes");
    is_int(port->location.link_width_max, 16, "... of at most 16");
    is_str(nic_of(node, "ens14np0")->addresses[0], "192.168.3.7/24", "address by GID");
    is_int(nic_of(node, "ens16np0")->address_count, 0, "an interface without an address has none");
    is_int(nic_of(node, "eno1")->default_route_metric, 100, "metric of the default route");
    inventory_free(node);
}

/* Adds the KFD nodes of seven more partitions of GPU 0, which the driver numbers after all other
 * GPUs. */
static void mi300x_partitions(const char *where, unsigned shift)
{
    char *root = tree_unpack("mi300x");
    struct inventory *node;

    for (unsigned i = 1; i < 8; i++) {
        char path[80], properties[128];

        snprintf(path, sizeof path, "sys/class/kfd/kfd/topology/nodes/%u/properties", 9 + i);
        snprintf(properties, sizeof properties,
                 "simd_count 152\ndomain 0\nlocation_id %u\nhive_id 1234567890123456789\n",
                 1280U | i << shift);
        tree_put(root, path, properties);
    }
    node = inventory_read(root, NULL);
    tree_remove(root);
    if (!ok(node, "partitions by %s", where))
        exit(tap_done());
    ok(node->gpus[0].is_partitioned, "... the GPU is partitioned");
    is_int(node->gpus[0].ordinal, 2, "... with the ordinal of its first KFD node");
    ok(!node->gpus[1].is_partitioned, "... another GPU is not");
    inventory_free(node);
}

static void gaudi3(void)
{
    struct inventory *node = tree_inventory("gaudi3");
    const struct gpu *gpu = NULL;

    is_int(node->gpu_count, 8, "cards");
    is_int(node->rdma_count, 24, "ports");
    is_str(node->rdma[23].device, "hbl_7", "the last device");
    is_int(node->rdma[23].port, 3, "the last port");
    is_str(node->gpu_drivers[GPU_GAUDI], "1.18.0-524", "driver");
    for (size_t i = 0; i < node->gpu_count; i++)
        if (strcmp(node->gpus[i].location.pci, "0000:9a:00.0") == 0)
            gpu = &node->gpus[i];
    if (ok(gpu, "the inventory has 0000:9a:00.0")) {
        is_int(gpu->vendor, GPU_GAUDI, "Gaudi");
        is_str(gpu->model, "GAUDI3", "type");
        is_str(gpu->state, "needs reset", "state");
        is_int(gpu->reset_count, 1, "resets");
        is_str(gpu->device_file, "/dev/accel/accel4", "device file");
        is_str(gpu->firmware, "1.18.0-sec-9", "firmware");
    }
    inventory_free(node);
}

/* Before Linux 6.2 the cards had their own device class. */
static void old_gaudi(void)
{
    char *root = tree_unpack("");
    struct inventory *node;

    tree_put(root, "sys/class/net/lo/ifindex", "1\n");
    tree_put(root, "sys/bus/pci/devices/0000:19:00.0/class", "0x120000\n");
    tree_put(root, "sys/bus/pci/devices/0000:19:00.0/vendor", "0x1da3\n");
    tree_put(root, "sys/bus/pci/devices/0000:19:00.0/device", "0x1020\n");
    tree_put(root, "sys/class/habanalabs/hl0/pci_addr", "0000:19:00.0\n");
    tree_put(root, "sys/class/habanalabs/hl0/status", "Operational\n");
    tree_put(root, "sys/class/habanalabs/hl_controlD0/pci_addr", "0000:19:00.0\n");
    node = inventory_read(root, NULL);
    if (ok(node && node->gpu_count == 1, "a card of the older device class is found")) {
        is_str(node->gpus[0].device_file, "/dev/hl0", "... with its device file");
        is_str(node->gpus[0].state, "Operational", "... with its state");
        is_str(node->gpus[0].model, "1da3:1020", "... and its PCI ID, as it has no type");
    }
    inventory_free(node);
    tree_remove(root);
}

static void physical_is(const struct inventory *node, const char *name, int expected)
{
    is_int(nic_of(node, name)->is_physical, expected, "%s is %sphysical", name,
           expected ? "" : "not ");
}

static void ethernet(void)
{
    struct inventory *node = tree_inventory("ethernet");

    is_int(node->nic_count, 14, "the number of interfaces, without bonding_masters");
    physical_is(node, "ens2f0", 1);
    physical_is(node, "ens2f0v0", 1);
    physical_is(node, "usb0", 1);
    physical_is(node, "docker0", 0);
    physical_is(node, "veth6b1", 0);
    physical_is(node, "ens2f0.100", 0);
    physical_is(node, "dummy0", 0);
    physical_is(node, "tap0", 0);
    physical_is(node, "gretap0", 0);
    physical_is(node, "vxlan0", 0);
    ok(nic_of(node, "ens2f0v0")->is_virtual_function, "ens2f0v0 is a virtual function");
    ok(!nic_of(node, "ens2f0")->is_virtual_function, "ens2f0 is not");
    is_int(nic_of(node, "ens2f0v0")->location.link_width, -1,
           "... the PCIe link of the virtual function is unknown");
    is_str(nic_of(node, "veth6b1")->master, "docker0", "veth6b1 is in docker0");
    is_str(nic_of(node, "usb0")->bus, "usb", "usb0 is on USB");
    is_int(nic_of(node, "eno2")->speed_mbps, -1,
           "the speed of an interface that is down is unknown");
    is_str(nic_of(node, "ens2f0")->addresses[0], "10.9.0.21/16", "two interfaces in one network");
    is_str(nic_of(node, "ens2f1")->addresses[0], "10.9.0.22/16", "... have an address each");
    is_int(nic_of(node, "ens2f1")->address_count, 1, "... and no more than one");
    inventory_free(node);
}

static void lab_node(void)
{
    struct inventory *node = tree_inventory("lab-node");

    is_int(node->nic_count, 3, "interfaces of a lab node");
    physical_is(node, "eth1", 1);
    is_str(nic_of(node, "eth1")->driver, "veth", "eth1 is an end of a veth pair");
    is_str(nic_of(node, "eth1")->addresses[0], "10.156.1.1/24", "address of eth1");
    ok(nic_of(node, "eth0")->has_default_route, "eth0 has the default route");
    is_str(nic_of(node, "eth1")->location.path, "",
           "an interface without a device has no PCI path");
    is_int(nic_of(node, "eth1")->location.numa_node, -1, "... no NUMA node");
    is_int(nic_of(node, "eth1")->location.link_width, -1, "... and no lanes");
    inventory_free(node);
}

/* veth ends of containers as Calico makes them: not in a bridge of the host. */
static void veth_of_containers(void)
{
    char *root = tree_unpack("lab-node");
    struct inventory *node;

    tree_put(root, "sys/class/net/enp1s0/ifindex", "9\n");
    tree_put(root, "sys/class/net/enp1s0/type", "1\n");
    tree_put(root, "sys/class/net/enp1s0/device/vendor", "0x15b3\n");
    node = inventory_read(root, NULL);
    if (ok(node != NULL, "a host with veth ends of containers is read")) {
        physical_is(node, "enp1s0", 1);
        physical_is(node, "eth1", 0);
        inventory_free(node);
    }
    tree_remove(root);
}

static void path_is(const char *root, const char *device, const char *expected)
{
    char file[512];
    struct location location;

    snprintf(file, sizeof file, "%s/numa_node", device);
    tree_put(root, file, "1\n");
    location_read(root, device, &location);
    is_str(location.path, expected, "the PCI path of %s", device);
    is_int(location.numa_node, 1, "... and its NUMA node");
}

static void paths(void)
{
    char *root = tree_unpack(""), nested_root[512];

    tree_put(root, "devices/pci0000:00/0000:00:01.0/file", "");
    snprintf(nested_root, sizeof nested_root, "%s/devices/pci0000:00/0000:00:01.0", root);
    path_is(root, "sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0",
            "pci0000:3a/0000:3a:00.0/0000:3b:00.0");
    path_is(root, "sys/devices/platform/40000000.pcie/pci0004:40/0004:40:00.0/0004:41:00.0",
            "pci0004:40/0004:40:00.0/0004:41:00.0");
    path_is(root, "sys/devices/pci0000:97/0000:97:00.5/pci10000:00/10000:00:01.0/10000:01:00.0",
            "pci0000:97/0000:97:00.5/pci10000:00/10000:00:01.0/10000:01:00.0");
    path_is(root, "sys/bus/pci/devices/0000:18:00.0", "");
    path_is(root, "sys/devices/pcix/0000:18:00.0", "");
    path_is(nested_root, "sys/bus/pci/devices/0000:18:00.0", "");
    path_is(nested_root, "sys/devices/pci0000:3a/0000:3a:00.0", "pci0000:3a/0000:3a:00.0");
    tree_remove(root);
}

static void virtual_is(const char *file, const char *content, const char *product, bool expected)
{
    char *root = tree_unpack("lab-node");
    struct inventory *node;

    tree_put(root, file, content);
    if (product)
        tree_put(root, "sys/class/dmi/id/product_name", product);
    node = inventory_read(root, NULL);
    is_int(node ? node->is_virtual_machine : -1, expected, "%.*s: %s", (int)strcspn(content, "\n"),
           content, expected ? "a virtual machine" : "a real one");
    inventory_free(node);
    tree_remove(root);
}

static void virtual_machines(void)
{
    const char *cpuinfo = "proc/cpuinfo", *maker = "sys/class/dmi/id/sys_vendor";

    virtual_is(cpuinfo, "flags\t\t: fpu vme hypervisor lahf_lm\n", NULL, true);
    virtual_is(cpuinfo, "processor\t: 0\nflags\t\t: fpu hypervisor", NULL, true);
    virtual_is(cpuinfo, "flags\t\t: fpu vme\nbugs\t: hypervisor \n", NULL, false);
    virtual_is(cpuinfo, "flags\t\t: fpu hypervisor_guest\n", NULL, false);
    virtual_is(maker, "QEMU\n", NULL, true);
    virtual_is(maker, "Amazon EC2\n", "c7g.16xlarge\n", true);
    virtual_is(maker, "Amazon EC2\n", "c7g.metal\n", false);
    virtual_is(maker, "Supermicro\n", "SYS-821GE-TNHR\n", false);
}

static void bond(void)
{
    struct inventory *node = tree_inventory("bond");

    ok(nic_of(node, "bond0")->has_default_route, "an IPv6 default route alone counts");
    is_str(nic_of(node, "bond0")->driver, "bond", "bond0 is a bond");
    physical_is(node, "bond0", 0);
    is_str(nic_of(node, "bond0")->location.path, "", "... without a PCI path");
    is_int(nic_of(node, "bond0")->location.numa_node, -1, "... without a NUMA node");
    is_int(nic_of(node, "bond0")->location.link_width, -1, "... and without a PCIe link");
    is_str(nic_of(node, "eno2")->master, "bond0", "eno2 is in the bond");
    is_str(nic_of(node, "bond0")->addresses[0], "2001:db8::5/64", "address of bond0");
    is_str(node->rdma[1].netdev, "ens3f1np1", "a port without GIDs finds its interface");
    inventory_free(node);
}

static void broken(void)
{
    struct inventory *node = tree_inventory("broken");
    const struct nic *nic = nic_of(node, "eth0");

    is_int(strlen(node->hostname), INVENTORY_NAME - 1, "an overlong host name is cut");
    is_int(node->cpu_count, -1, "an invalid list of CPUs is unknown");
    is_int(node->memory_bytes, -1, "memory that is not a number is unknown");
    is_int(node->nic_count, 2, "a name that no interface can have is left out");
    is_int(nic->mtu_bytes, -1, "a huge MTU is unknown");
    is_int(nic->speed_mbps, -1, "a speed that is not a number is unknown");
    is_str(nic->state, "up ??[31m", "terminal escapes are replaced");
    ok(!nic->has_carrier, "a carrier of 2 does not count");
    nic = nic_of(node, "eth1");
    is_int(nic->speed_mbps, -1, "a speed of 2^32 - 1 is unknown");
    is_int(nic->mtu_bytes, -1, "a negative MTU is unknown");
    is_int(nic->address_count, 1, "a bad address does not hide a good one");
    is_int(node->rdma_count, 1, "ports that are not numbers are left out");
    is_int(node->rdma[0].link_layer, LINK_UNKNOWN,
           "a link layer that is not in the table is unknown");
    is_near(node->rdma[0].rate_gbps, -1, 0, "an infinite rate is unknown");
    is_int(node->rdma[0].lid, -1, "a LID out of range is unknown");
    is_int(node->gpu_count, 1, "invalid PCI addresses and GPUs that fell off the bus are left out");
    is_str(node->gpus[0].serial, "", "a UUID of question marks is left out");
    is_str(node->gpus[0].device_file, "", "a negative minor number gives no device file");
    is_int(node->gpus[0].location.link_width, -1,
           "a link width of 63, as of a device that is gone, is unknown");
    inventory_free(node);
}

/* Reading a file that is not a regular file does not block. */
static void special_files(void)
{
    enum { MANY = 5000 };
    char *root = tree_unpack(""), path[4096], text[16], **names;
    struct error err = {""};
    size_t count;

    ok(!inventory_read(root, &err), "a root without sys is an error");
    has_str(err.text, "sys/class/net", "... that names the missing directory");
    tree_put(root, "sys/class/net/eth0/ifindex", "1");
    snprintf(path, sizeof path, "%s/sys/class/net/eth0/mtu", root);
    is_int(mkfifo(path, 0600), 0, "a FIFO takes the place of mtu");
    is_int(sysfs_number(root, "sys/class/net/eth0/mtu"), -1,
           "... which is unknown, without waiting");
    is_int(sysfs_line(root, text, sizeof text, "sys/class/net/eth0"), -1,
           "a line cannot be read from a directory");
    tree_put(root, "long", "0123456789012345678901234567890123456789");
    is_int(sysfs_line(root, text, sizeof text, "long"), 0, "a long line is read");
    is_str(text, "012345678901234", "... as far as it fits");
    tree_put(root, "empty", "");
    is_int(sysfs_number(root, "empty"), -1, "an empty file is not a number");
    for (int i = 0; i < MANY; i++) {
        snprintf(path, sizeof path, "many/%d", i);
        tree_put(root, path, "");
    }
    is_int(count = sysfs_names(root, &names, "many"), MANY,
           "all names of a large directory are read");
    is_str(names[count - 1], "4999", "... in order");
    sysfs_names_free(names, count);
    tree_remove(root);
}

static void too_many(void)
{
    char *root = tree_unpack(""), path[256];
    struct error err = {""};

    for (int i = 0; i <= INVENTORY_NICS; i++) {
        snprintf(path, sizeof path, "sys/class/net/eth%d/ifindex", i);
        tree_put(root, path, "1");
    }
    ok(!inventory_read(root, &err), "more interfaces than fit are an error");
    has_str(err.text, "more than 256 network interfaces", "... that says so");
    tree_remove(root);
}

static void put_file(const char *root, const char *directory, const char *name, const char *file,
                     const char *content)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s/%s", directory, name, file);
    tree_put(root, path, content);
}

static void put_pair(const char *root, const char *name, int index)
{
    char text[16];

    snprintf(text, sizeof text, "%d\n", index);
    put_file(root, "sys/class/net", name, "ifindex", text);
    put_file(root, "sys/class/net", name, "iflink", "2\n");
    put_file(root, "sys/class/net", name, "type", "1\n");
}

/* A host with the veth ends of many containers. */
static void many_veth_of_containers(void)
{
    char *root = tree_unpack(""), name[32];
    struct error err = {""};
    struct inventory *node;

    for (int i = 1; i <= INVENTORY_NICS; i++) {
        snprintf(name, sizeof name, "cali%d", i);
        put_pair(root, name, INVENTORY_NICS + i);
    }
    put_pair(root, "mgmt", 3);
    ok(!inventory_read(root, &err),
       "too many veth ends without another NIC, as in a container, are an error");
    has_str(err.text, "more than 256 network interfaces", "... that says so");

    put_file(root, "sys/class/net", "eth0", "ifindex", "2\n");
    put_file(root, "sys/class/net", "eth0", "device/vendor", "0x15b3\n");
    node = inventory_read(root, &err);
    if (ok(node != NULL, "a host with too many veth ends is read")) {
        is_int(node->nic_count, 2, "... without the veth ends of containers");
        physical_is(node, "eth0", 1);
        physical_is(node, "mgmt", 0);
        inventory_free(node);
    }
    tree_remove(root);
}

static void sorts_before(const char *a, const char *b)
{
    ok(sysfs_compare(a, b) < 0 && sysfs_compare(b, a) > 0, "%s < %s", a, b);
}

int main(void)
{
    sorts_before("eth2", "eth10");
    sorts_before("eth01", "eth1");
    sorts_before("eth", "eth0");
    sorts_before("mlx5_2:1", "mlx5_10:1");
    sorts_before("a1b2", "a1b10");
    is_int(sysfs_compare("eth1", "eth1"), 0, "eth1 = eth1");
    h100();
    mi300x();
    mi300x_partitions("bits 28 to 31", 28);
    mi300x_partitions("the function", 0);
    gaudi3();
    old_gaudi();
    ethernet();
    lab_node();
    veth_of_containers();
    paths();
    virtual_machines();
    bond();
    broken();
    special_files();
    too_many();
    many_veth_of_containers();
    return tap_done();
}
