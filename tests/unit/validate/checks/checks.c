/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/checks.h"
#include "lib/base/text.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"
#include "validate/checks/facts.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each test unpacks a tree, injects faults, runs a check, and collects the records as text: one
 * line "VERDICT PART MESSAGE" each. */
static char *root, records_text[32768];
static struct conf conf;
static const char *node, *check_name; /* check_name: of the check that finds() runs */
static int record_count;
static bool is_in_service;

static void add_record(const struct record *record, void *context)
{
    record_count++;
    if (record->suite && record->test && record->node)
        text_join(records_text, sizeof records_text, "", "%s %s %s\n",
                  verdict_name(record->verdict), record->part ? record->part : "",
                  record->message ? record->message : "");
}

static void remove_tree(void)
{
    if (root) {
        conf_clear(&conf);
        tree_remove(root);
        root = NULL;
    }
}

/* Removes the previous tree and unpacks another one. */
static void unpack_node(const char *tree, const char *name, const char *check)
{
    remove_tree();
    root = tree_unpack(tree);
    node = name;
    check_name = check;
    conf_defaults(&conf);
    conf.gpus_per_node = -1;
}

static void run_check(const char *name)
{
    static struct fabric fabric;
    struct inventory *inventory = inventory_read(root, NULL);
    struct checks checks = {root,    node,       &conf, inventory,
                            &fabric, add_record, NULL,  .is_in_service = is_in_service};

    records_text[0] = '\0';
    record_count = 0;
    if (!inventory) {
        tap_diag("cannot read the inventory");
        return;
    }
    fabric_choose(inventory, &conf, &fabric);
    for (size_t i = 0; i < check_count; i++)
        if (strcmp(check_table[i].name, name) == 0)
            check_run(&check_table[i], &checks);
    inventory_free(inventory);
}

/* Run the check check_name on the tree as it is now. */
#define finds(...) is_str((run_check(check_name), records_text), __VA_ARGS__)
#define has_part(part, ...) has_str((run_check(check_name), records_text), part, __VA_ARGS__)
#define has_line(line, ...) has_part(line "\n", __VA_ARGS__)
#define is_silent_on(word, ...)                                                                    \
    ok((run_check(check_name), !strstr(records_text, word)), __VA_ARGS__)

static void put(const char *path, const char *content)
{
    tree_put(root, path, content);
}

/* path: a format with one %d. */
static void __attribute__((format(printf, 1, 0)))
put_numbered(const char *path, int number, const char *content)
{
    char whole[128];

    snprintf(whole, sizeof whole, path, number);
    put(whole, content);
}

static void link_to(const char *path, const char *target)
{
    char full[4096];

    snprintf(full, sizeof full, "%s/%s", root, path);
    unlink(full);
    if (symlink(target, full) < 0)
        tap_diag("cannot create %s", full);
}

static void test_links(void)
{
    unpack_node("lab-node", "n1", "net.interfaces");
    finds("pass eth1 Ethernet, 10 Gb/s, MTU 9000, 10.156.1.1/24\n"
          "pass eth2 Ethernet, 10 Gb/s, MTU 9000, 10.156.2.1/24\n",
          "a healthy node passes, with a record for each rail");
    put("sys/class/net/eth1/carrier", "0\n");
    has_line("fail eth1 eth1 has no carrier; check cable or switch port",
             "a link without a carrier");
    has_line("pass eth2 Ethernet, 10 Gb/s, MTU 9000, 10.156.2.1/24", "... the other rail passes");
    put("sys/class/net/eth1/flags", "0x1002\n");
    has_line("fail eth1 eth1 is down; bring it up: ip link set eth1 up",
             "an interface that is down");
    put("sys/class/net/eth1/flags", "0x1003\n");
    put("sys/class/net/eth1/carrier", "1\n");
    put("sys/class/net/eth1/statistics/rx_crc_errors", "12\n");
    check_name = "net.rates";
    finds("warn eth1 eth1 has 12 CRC errors in 1h, expected at most 10\npass eth2 no error "
          "counter grows too fast\n",
          "CRC errors");
    put("proc/net/fib_trie", "");
    check_name = "net.interfaces";
    has_line("fail eth2 eth2 has no IP address, but Ethernet needs one; assign one, or leave it "
             "out of FabricInterfaces",
             "a rail without an address");
}

static void test_configured_values(void)
{
    unpack_node("lab-node", "n1", "net.interfaces");
    hostlist_expand("eth[1-3]", &conf.fabric_interfaces, NULL);
    strcpy(conf.management_interface, "eth9");
    has_line("fail eth3 eth3 is not on this node; FabricInterfaces of the configuration names it",
             "a configured rail that the node does not have");
    has_line(
        "fail eth9 eth9 is not on this node; ManagementInterface of the configuration names it",
        "... or a missing management interface");
    conf.nominal_speed_count = 1;
    conf.nominal_speeds[0].mbps = 200;
    hostlist_expand("eth[1-2]", &conf.nominal_speeds[0].interfaces, NULL);
    has_line("pass eth1 Ethernet, 10 Gb/s, MTU 9000, 10.156.1.1/24",
             "more than the configured speed passes");
    conf.nominal_speeds[0].mbps = 25000;
    has_line(
        "fail eth1 eth1 runs at 10 Gb/s, NominalSpeed of the configuration is 25 Gb/s; check cable "
        "or switch port",
        "less than the configured speed fails");
    conf.nominal_speeds[0].mbps = 10000;
    put("sys/class/net/eth2/mtu", "1500\n");
    has_line("warn eth2 eth2 has MTU 1500, eth1 of the same node has 9000; change one of them",
             "an MTU that differs from the other rails'");
    conf.mtu_bytes = 9000;
    has_line("fail eth2 eth2 has MTU 1500, the configuration expects 9000; set it: ip link set "
             "eth2 mtu 9000",
             "an MTU that differs from the configured one");
    has_line("pass eth1 Ethernet, 10 Gb/s, MTU 9000, 10.156.1.1/24", "... the other rail passes");
}

/* Interface settings that the prolog makes for jobs are not missed between jobs. */
static void test_settings_for_jobs(void)
{
    unpack_node("lab-node", "n1", "net.interfaces");
    conf.netif_line_count = 1;
    netif_line_parse("eth[1-2] mtu=9000 up=yes", &conf.netif_lines[0], NULL);
    conf.netif_lines[0].line = 4;
    conf.mtu_bytes = 9000;
    put("sys/class/net/eth1/flags", "0x1002\n");
    put("sys/class/net/eth2/mtu", "1500\n");
    finds("skip eth1 eth1 is down between jobs; Interface line 4 of the configuration brings it up "
          "for them\n"
          "pass eth2 Ethernet, 10 Gb/s, MTU 1500, 10.156.2.1/24\n",
          "settings made for jobs are not missed between jobs");
    conf.mtu_bytes = 4000;
    has_line("fail eth2 eth2 has MTU 1500, the configuration expects 4000; set it: ip link set "
             "eth2 mtu 4000",
             "an MTU that the setting for jobs would not correct fails");
    conf.mtu_bytes = 9000;
    put("j", "muster-interfaces 1\nboot 11112222-3333-4444-5555-666677778888\n"
             "eth1 3 mtu was 1500 set 9000 jobs -\neth2 4 mtu was 1500 set 9000 jobs 7\nend 2\n");
    strcpy(conf.interface_journal, "/j");
    has_line("warn eth1 mtu of eth1 is still 9000, set for a job that ended; it was 1500 before; "
             "next: muster interfaces --restore",
             "a setting that was not restored is reported");
    is_silent_on("mtu of eth2", "... unless a job uses it");
    put("j", "muster-interfaces 1\nboot 0123\neth1 3 mtu was 1500 set 9000 jobs -\nend 1\n");
    is_silent_on("put it back", "... or it is from an earlier boot");
}

static void test_ports(void)
{
    unpack_node("h100-ib", "h1", "net.interfaces");
    run_check(check_name);
    is_int(record_count, 8, "eight InfiniBand rails");
    put("sys/class/infiniband/mlx5_0/ports/1/pkeys/0", "0x7fff\n");
    put("sys/class/infiniband/mlx5_0/ports/1/pkeys/1", "0x8001\n");
    put("sys/class/infiniband/mlx5_1/ports/1/pkeys/0", "0x7fff\n");
    put("sys/class/infiniband/mlx5_1/ports/1/pkeys/1", "0x0000\n");
    put("sys/class/infiniband/mlx5_4/ports/1/rate", "100 Gb/sec (1X NDR)\n");
    for (int i = 0; i < 8; i++)
        put_numbered("sys/class/infiniband/mlx5_%d/board_id", i,
                     i == 7 ? "MT_0000000839\n" : "MT_0000000838\n");
    put("sys/class/infiniband/mlx5_6/fw_ver", "28.36.1010\n");
    put("sys/class/infiniband/mlx5_7/fw_ver", "20.36.1010\n");
    has_line(
        "fail mlx5_1:1 mlx5_1:1 is a limited member of its partition (P_Key 0x7fff): it reaches no "
        "other limited member, and MPI and NCCL between such nodes hang; make it a full member in "
        "the subnet manager's partitions",
        "a limited member of its partition");
    is_silent_on("mlx5_0:1 is a limited", "... a full member of another partition passes");
    has_line("warn mlx5_4:1 mlx5_4:1 runs on one lane, 100 Gb/sec (1X NDR); an InfiniBand link has "
             "four, a split cable two: check the cable's connectors at both ends, then the cable",
             "a link with one lane");
    has_line("warn mlx5_6:1 mlx5_6:1 has firmware 28.36.1010, 6 of the node's ports on the same "
             "board model have 28.39.1002; update it to match",
             "a port with another firmware");
    is_silent_on("mlx5_7:1 has firmware", "... another board model may have another firmware");
    unpack_node("h100-ib", "h1", "net.interfaces");
    has_line("pass mlx5_7:1 InfiniBand, 400 Gb/s, MTU 2044, 10.4.7.11/24", "... all rails pass");
    put("sys/class/infiniband/mlx5_2/ports/1/state", "2: INIT\n");
    put("sys/class/infiniband/mlx5_3/ports/1/state", "1: DOWN\n");
    put("sys/class/infiniband/mlx5_3/ports/1/phys_state", "2: Polling\n");
    put("sys/class/infiniband/mlx5_4/ports/1/rate", "100 Gb/sec (1X NDR)\n");
    put("sys/class/infiniband/mlx5_5/ports/1/counters/link_downed", "4\n");
    put("sys/bus/pci/devices/0000:ce:00.0/current_link_width", "8\n");
    put("sys/bus/pci/devices/0000:dc:00.0/current_link_speed", "16.0 GT/s PCIe\n");
    put("sys/class/net/ib0/flags", "0x1002\n");
    has_line("pass mlx5_0:1 InfiniBand, 400 Gb/s, MTU 2044, 10.4.0.11/24",
             "InfiniBand passes without its IPoIB interface");
    has_line(
        "fail mlx5_2:1 mlx5_2:1 is in state INIT, not ACTIVE: the link is there, but no subnet "
        "manager has set the port up; check the subnet manager",
        "a port without a subnet manager");
    has_line("fail mlx5_3:1 mlx5_3:1 is DOWN (Polling), not ACTIVE; check cable or switch port",
             "a port without a link");
    has_line(
        "fail mlx5_4:1 mlx5_4:1 runs at 100 Gb/s, 5 of the node's 5 other rails at up to 400 Gb/s; "
        "check cable or switch port",
        "a port that is slower than its peers");
    has_line("warn mlx5_6:1 mlx5_6:1 (0000:ce:00.0) uses 8 of 16 PCIe lanes; reseat it",
             "lanes lost");
    has_line("warn mlx5_7:1 mlx5_7:1 (0000:dc:00.0) has a PCIe link of 16 GT/s, it supports 32; "
             "reseat it, or check the slot's speed in the firmware settings",
             "PCIe speed lost");
    check_name = "net.rates";
    has_line("warn mlx5_5:1 mlx5_5:1 has 4 link losses in 3h, expected at most 3", "flaps");
    unpack_node("mi300x-roce", "m7", "net.interfaces");
    put("sys/class/infiniband/bnxt_re0/ports/1/state", "1: DOWN\n");
    put("sys/class/infiniband/bnxt_re0/ports/1/phys_state", "3: Disabled\n");
    for (int i = 0; i < 4; i++)
        put_numbered("sys/class/infiniband/bnxt_re6/ports/1/gids/%d", i,
                     "0000:0000:0000:0000:0000:0000:0000:0000");
    has_line("warn bnxt_re5:1 bnxt_re5:1 has only link-local GIDs, which do not reach other "
             "subnets; check that ens16np0 has an IP address",
             "a RoCE port without a routable GID");
    has_line(
        "fail bnxt_re0:1 bnxt_re0:1 is DOWN (Disabled), though its interface ens11np0 is up: TCP "
        "works there and RDMA does not, so jobs fall back or hang; check the kernel log for the "
        "RDMA driver's messages, then reload bnxt_en",
        "a RoCE port that is down on an interface that is up");
    has_line(
        "fail bnxt_re6:1 bnxt_re6:1 has no RoCE GID; check that its interface has an IP address",
        "a RoCE port without a GID");
}

static void test_gpus(void)
{
    unpack_node("h100-ib", "h1", "gpu.enumerate");
    finds("pass gpu 8 GPUs on the PCI bus, slurm.conf expects 8\n", "eight GPUs pass");
    put("etc/slurm/slurm.conf", "NodeName=h[1-4] Gres=gpu:h100:9\n");
    has_line("fail gpu 8 GPUs on the PCI bus, slurm.conf expects 9; the kernel log shows which one "
             "is gone",
             "one GPU too few");
    conf.gpus_per_node = 4;
    has_line("warn gpu 8 GPUs on the PCI bus, GPUsPerNode in muster.conf expects 4",
             "too many are a warning; GPUsPerNode takes precedence over slurm.conf");
    conf.gpus_per_node = 8;
    put("sys/bus/pci/devices/0000:43:00.0/driver", "");
    has_line(
        "fail gpu1 NVIDIA NVIDIA H100 80GB HBM3 at 0000:43:00.0 has no driver; the kernel log says "
        "why",
        "a GPU without a driver");
    conf.gpus_per_node = 7;
    has_line("warn gpu1 NVIDIA NVIDIA H100 80GB HBM3 at 0000:43:00.0 has no driver, but the node "
             "has the 7 GPUs expected",
             "... is only a warning if the others are as many as the node should have");
    put("proc/driver/nvidia/gpus/0000:df:00.0/information", "GPU Excluded:\t Yes\n");
    has_part("fail gpu1 ", "... and not one of them is excluded by the driver");
    put("proc/driver/nvidia/gpus/0000:df:00.0/information", "GPU Excluded:\t No\n");
    conf.gpus_per_node = -1;
    put("etc/slurm/slurm.conf", "NodeName=h[1-4]\n");
    has_part("warn gpu1 NVIDIA NVIDIA H100 80GB HBM3 at 0000:43:00.0 has no driver, but",
             "... as on a node to which slurm.conf gives none");
    put("etc/slurm/slurm.conf", "NodeName=h[1-4] Gres=gpu:1g.10gb:8\n");
    has_part("fail gpu1 ", "... but not if slurm.conf counts partitions");
    check_name = "gpu.health";
    has_line("pass gpu 8 GPUs without faults in the driver's files", "health passes");
    has_line("skip  libnvidia-ml.so.1 not queried: recorded node",
             "... NVML of a recorded node cannot be queried");
    unpack_node("mi300x-roce", "m7", "gpu.health");
    has_line("fail gpu2 AMD Instinct MI300X OAM at 0000:4e:00.0 has 2 uncorrected memory errors",
             "uncorrected errors");
    is_silent_on("gpu3", "corrected errors are no fault");
    unpack_node("gaudi3", "g3", "gpu.health");
    has_line("fail gpu4 GAUDI3 at 0000:9a:00.0 is in state 'needs reset', not operational",
             "a device that needs a reset");
    has_line("warn gpu4 GAUDI3 at 0000:9a:00.0 was reset 1 time", "a device that was reset");
    put("sys/devices/pci0000:97/0000:97:03.0/0000:9a:00.0/status", "in reset\n");
    put("sys/devices/pci0000:97/0000:97:05.0/0000:9b:00.0/status",
        "in reset after device release\n");
    put("sys/devices/pci0000:b0/0000:b0:01.0/0000:b3:00.0/status", "in device creation\n");
    put("sys/devices/pci0000:b0/0000:b0:03.0/0000:b4:00.0/status", "disabled\n");
    has_line("unknown gpu4 GAUDI3 at 0000:9a:00.0 is in state 'in reset', not operational yet",
             "a reset in progress is unknown, not a fault");
    has_line("unknown gpu5 GAUDI3 at 0000:9b:00.0 is in state 'in reset after device release', not "
             "operational yet",
             "... so is the reset after each job");
    has_line("unknown gpu6 GAUDI3 at 0000:b3:00.0 is in state 'in device creation', not "
             "operational yet",
             "... and a driver that is being loaded");
    has_line("fail gpu7 GAUDI3 at 0000:b4:00.0 is in state 'disabled', not operational",
             "a disabled device is a fault");
    unpack_node("lab-node", "n1", "gpu.enumerate");
    finds("skip  no supported GPU found\n", "no GPU found, none expected: skipped");
    conf.gpus_per_node = 8;
    has_line("fail gpu 0 GPUs on the PCI bus, GPUsPerNode in muster.conf expects 8; the kernel log "
             "shows which one is gone",
             "no GPU found, eight expected: failed");
}

/* Makes the device /dev/gpuINDEX. Major number 0 removes it. */
static void put_device(int index, unsigned major_number, unsigned minor_number)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/dev", root);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/dev/gpu%d", root, index);
    unlink(path);
    if (major_number && mknod(path, S_IFCHR | 0600, makedev(major_number, minor_number)) < 0)
        tap_diag("cannot create device %s", path);
}

static int can_mknod(void)
{
    char path[4096];
    int can;

    snprintf(path, sizeof path, "%s/probe", root);
    can = mknod(path, S_IFCHR | 0600, makedev(1, 3)) == 0;
    unlink(path);
    return can;
}

static void test_gres_devices(void)
{
    for (int i = 0; i < 8; i++)
        put_device(i, 4, 20 + (unsigned)i);
    finds("pass gpu gpu:8, as in slurm.conf; gres.conf has a device file for each\n",
          "eight devices pass");
    put_device(3, 0, 0);
    finds("fail gpu3 /etc/slurm/gres.conf:2: /dev/gpu3 does not exist; check that its driver is "
          "loaded and the device is on the bus\n",
          "a missing device is named, and no other");
    put_device(3, 4, 23);
    put_device(7, 1, 7);
    finds("fail gpu7 /etc/slurm/gres.conf:2: /dev/gpu7 is not a GPU: it is a device of mem (1:7), "
          "the others are of tty (4)\n",
          "a device of another kind is named, with its kind");
    put_device(7, 4, 20);
    finds("fail gpu7 /etc/slurm/gres.conf:2: /dev/gpu7 is the same device as /dev/gpu0 (4:20): two "
          "jobs would share it\n",
          "a device listed twice is named");
    put_device(7, 4, 27);
    put_device(0, 1, 3);
    put_device(1, 1, 5);
    has_line("fail gpu0 /etc/slurm/gres.conf:2: /dev/gpu0 is not a GPU: it is a device of mem "
             "(1:3), the others are of tty (4)",
             "foreign devices listed first do not make the others foreign");
    is_int(record_count, 2, "... and both are named");
    put_device(0, 4, 20);
    put_device(1, 4, 21);
    put("etc/slurm/gres.conf", "NodeName=n1 Name=gpu File=/dev/gpu[0-6]\n");
    finds("fail gpu /etc/slurm/slurm.conf:3: slurm.conf gives gpu:8, gres.conf has 7\n",
          "fewer than in slurm.conf");
    put("etc/slurm/gres.conf", "Name=gpu File=/dev/gpu[0-7]\nName=gpu File=/dev/gpu0\n");
    has_line("warn gpu /etc/slurm/slurm.conf:3: slurm.conf gives gpu:8, gres.conf has 9",
             "more than in slurm.conf");
}

static void test_gpus_of_two_drivers(void)
{
    unpack_node("h100-ib", "h1", "slurm.gres");
    for (int i = 0; i < 5; i++)
        put_device(i, i < 3 ? 4 : 1, 20 + (unsigned)i);
    put("etc/slurm/slurm.conf", "NodeName=h1 Gres=gpu:4\n");
    put("etc/slurm/gres.conf", "Name=gpu File=/dev/gpu[0-3]\n");
    has_part("fail gpu3 /etc/slurm/gres.conf:1: /dev/gpu3 is not a GPU: ",
             "a file of another driver than most is not one of a GPU");
    link_to("dev/nvidia0", "gpu4");
    finds("pass gpu gpu:4, as in slurm.conf; gres.conf has a device file for each\n",
          "... unless a GPU that was found has that driver");
}

/* One GPU with seven MIG instances is seven GPUs to Slurm. */
static void test_gpu_partitions(void)
{
    unpack_node("h100-ib", "h1", "slurm.gres");
    put("etc/slurm/slurm.conf", "NodeName=h[1-4] Gres=gpu:1g.10gb:56\n");
    finds("skip gpu not checked: slurm.conf counts partitions (MIG), gpu:56, which only slurmd can "
          "find\n",
          "a MIG profile type is not compared with the bus");
    check_name = "gpu.enumerate";
    finds("skip gpu 8 GPUs on the PCI bus; not compared: slurm.conf counts partitions (MIG), "
          "gpu:56\n",
          "... nor is the bus compared with it");
    put("etc/slurm/gres.conf", "AutoDetect=nvml Name=gpu Type=1g.10gb\n");
    check_name = "slurm.gres";
    has_part("skip gpu not checked: slurm.conf counts partitions (MIG), gpu:56,",
             "... nor gres.conf's type");
    put("etc/slurm/gres.conf", "AutoDetect=nvml\n");
    put("etc/slurm/slurm.conf", "NodeName=h[1-4] Gres=gpu:14\n");
    has_line(
        "fail gpu /etc/slurm/slurm.conf:1: slurm.conf gives gpu:14, AutoDetect=nvml can find 8",
        "a count without a type is compared");
    put("proc/driver/nvidia/capabilities/gpu4/mig/gi7/access", "DeviceFileMinor: 3");
    has_part("skip gpu not checked: slurm.conf counts partitions (MIG), gpu:14,",
             "... unless a GPU has MIG instances");
    check_name = "gpu.enumerate";
    has_part("skip gpu 8 GPUs on the PCI bus; not compared", "... nor is the bus compared with it");
    conf.gpus_per_node = 9;
    has_part("fail gpu 8 GPUs on the PCI bus, GPUsPerNode in muster.conf expects 9",
             "GPUsPerNode is the number of GPUs");
}

static void test_gres(void)
{
    unpack_node("lab-node", "n1", "slurm.gres");
    if (can_mknod()) {
        test_gpus_of_two_drivers();
        unpack_node("lab-node", "n1", "slurm.gres");
        test_gres_devices();
    } else {
        tap_skip("making devices needs root");
    }
    put("dev/gpu0", "a regular file");
    has_line("fail gpu0 /etc/slurm/gres.conf:1: /dev/gpu0 is not a character device",
             "a regular file");
    put("etc/slurm/gres.conf", "NodeName=n[2-4] Name=gpu File=/dev/gpu[0-7]\n");
    finds("fail gpu /etc/slurm/slurm.conf:3: slurm.conf gives gpu:8, gres.conf has no GPU for n1\n",
          "lines for other nodes are not counted");
    put("etc/slurm/gres.conf", "NodeName=n1 Name=gpu File=/dev/gpu[7-0]\n");
    has_part("fail  /etc/slurm/gres.conf:1: File=/dev/gpu[7-0]: ",
             "the line of an invalid list is named");
    node = "login";
    finds("skip  /etc/slurm/slurm.conf has no NodeName login\n",
          "a node that slurm.conf does not have is skipped");
    unpack_node("h100-ib", "h1", "slurm.gres");
    finds("pass gpu slurm.conf gives gpu:8, AutoDetect=nvml can find 8\n",
          "AutoDetect is compared with the bus");
    put("etc/slurm/gres.conf", "NodeName=h[1-2] AutoDetect=nvml\nAutoDetect=off\n");
    finds("pass gpu slurm.conf gives gpu:8, AutoDetect=nvml can find 8\n",
          "... a node's own line takes precedence over a general one");
    put("etc/slurm/gres.conf", "Name=nic Count=1 AutoDetect=off\nAutoDetect=nvml\n");
    finds("pass gpu slurm.conf gives gpu:8, AutoDetect=nvml can find 8\n",
          "... AutoDetect in a line of another GRES is ignored");
    put("etc/slurm/gres.conf", "AutoDetect=nvml\n");
    put("sys/bus/pci/devices/0000:43:00.0/class", "0xffffff\n");
    has_line("fail gpu /etc/slurm/slurm.conf:6: slurm.conf gives gpu:8, AutoDetect=nvml can find 7",
             "... a GPU missing from the bus is noticed");
    link_to("sys/bus/pci/devices/0000:52:00.0/driver", "../../drivers/vfio-pci");
    has_line("fail gpu /etc/slurm/slurm.conf:6: slurm.conf gives gpu:8, AutoDetect=nvml can find 6",
             "... and one that is passed through to virtual machines");
    test_gpu_partitions();
    unpack_node("ethernet", "e1", "slurm.gres");
    finds("skip  no slurm.conf in /etc/slurm or /run/slurm/conf\n", "no Slurm: skipped");
    put("etc/slurm/slurm.conf", "NodeName=e1\n");
    finds("skip  slurm.conf and gres.conf have no GRES for e1\n", "no GRES: skipped");
    put("run/slurm/conf/slurm.conf", "NodeName=e1 Gres=gpu:2\n");
    finds("skip  slurm.conf and gres.conf have no GRES for e1\n",
          "/etc/slurm takes precedence over configless");
}

static void test_facts(void)
{
    unpack_node("h100-ib", "h1", "host.config");
    has_line("none  5.15.0-1053-generic", "the kernel is a fact");
    has_line("none  550.54.15", "the NVIDIA driver is a fact");
    has_line("none mlx5_0:1 400000 Mb/s", "a rail's speed is a fact");
    has_line("none gpu7 NVIDIA H100 80GB HBM3", "a GPU's model is a fact");
    is_silent_on("pass", "facts have no verdict");
}

static void test_host_facts(void)
{
    unpack_node("h100-ib", "h1", "host.config");
    put("proc/cpuinfo", "processor\t: 0\nmodel name\t: Big One\nmicrocode\t: 0x2b0004d0\n");
    put("proc/cmdline", "BOOT_IMAGE=/vmlinuz root=UUID=1 ro iommu=pt  quiet\n");
    put("sys/class/dmi/id/sys_vendor", "Dell Inc.\n");
    put("sys/class/dmi/id/product_name", "PowerEdge XE9680\n");
    put("sys/class/dmi/id/bios_version", "2.1.5\n");
    put("sys/devices/system/node/node0/cpulist", "0-55\n");
    put("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 1056700000 kB\n");
    put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    put("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance\n");
    put("sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "performance\n");
    put("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    put("sys/devices/system/cpu/cpuidle/current_driver", "intel_idle\n");
    put("sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n");
    put("sys/devices/system/cpu/cpu0/cpuidle/state0/disable", "0\n");
    put("sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C1E\n");
    put("sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "0\n");
    put("sys/devices/system/cpu/cpu0/cpuidle/state2/name", "C6\n");
    put("sys/devices/system/cpu/cpu0/cpuidle/state2/disable", "1\n");
    put("sys/kernel/iommu_groups/0/type", "identity\n");
    put("sys/class/infiniband/mlx5_0/ports/1/pkeys/0", "0xffff\n");
    has_line("none  Big One", "the processor is a fact");
    has_line("none  0x2b0004d0", "... its microcode");
    has_line("none  ro iommu=pt quiet", "... the kernel's command line, without image and root");
    has_line("none  Dell Inc. PowerEdge XE9680", "... the machine");
    has_line("none  2.1.5", "... its firmware");
    has_line("none numa0 CPUs 0-55, 1008 GiB", "... each NUMA node");
    has_line("none  performance", "... the governor");
    has_line("none  off", "... turbo");
    has_line("none  intel_idle, deepest C1E", "... the deepest enabled idle state");
    has_line("none  identity", "... the IOMMU");
    has_line("none mlx5_0:1 0xffff", "... the partition key");
    has_line("none  none", "... and that no module lets NICs access GPU memory");
    put("sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "powersave\n");
    put("sys/module/nvidia_peermem/refcnt", "0\n");
    has_line("none  mixed", "processors with different governors are mixed");
    has_line("none  nvidia_peermem", "the peer memory module is named");
    unpack_node("mi300x-roce", "m1", "host.config");
    has_line("none bnxt_re0:1 3 RoCE v2 IPv4", "the GID that jobs use is a fact");
    is_silent_on("np ", "congestion control is no fact if no driver reports it");
    put("sys/class/net/ens11np0/ecn/roce_np/enable/3", "1\n");
    put("sys/class/net/ens11np0/ecn/roce_np/enable/4", "0\n");
    put("sys/class/net/ens11np0/ecn/roce_rp/enable/3", "0\n");
    has_line("none bnxt_re0:1 np 3 rp none", "... and is one if a driver reports it");
    unpack_node("two-fabrics", "mix1", "host.config");
    put("sys/kernel/debug/mlx5/0000:99:00.0/cc_params/np_cnp_dscp", "48\n");
    put("sys/kernel/debug/mlx5/0000:99:00.0/cc_params/np_cnp_prio", "6\n");
    put("sys/kernel/debug/mlx5/0000:99:00.0/cc_params/rp_time_reset", "300\n");
    put("sys/kernel/debug/mlx5/0000:99:00.0/cc_params/rp_ai_rate", "5\n");
    is_silent_on("cnp_dscp 48", "an InfiniBand fabric has no RoCE congestion settings");
    unpack_node("kvm-passthrough", "v1", "host.config");
    put("sys/kernel/debug/mlx5/0000:00:0c.0/cc_params/np_cnp_dscp", "48\n");
    put("sys/kernel/debug/mlx5/0000:00:0c.0/cc_params/np_cnp_prio", "6\n");
    put("sys/kernel/debug/mlx5/0000:00:0c.0/cc_params/rp_time_reset", "300\n");
    put("sys/kernel/debug/mlx5/0000:00:0c.0/cc_params/rp_ai_rate", "5\n");
    has_line("none mlx5_0:1 cnp_dscp 48 cnp_prio 6", "mlx5's congestion marking is a fact");
    has_line("none mlx5_0:1 time_reset 300 ai_rate 5", "... and so is its reaction to congestion");
}

/* PCI configuration spaces, as `lspci -xxxx` shows them: MaxPayload 256, MaxReadReq 512. The
 * bridge above has ACS with request redirect. */
static void test_pci_settings(void)
{
    unsigned char device[4096] = {
        [0] = 0xb3, 0x15, [0x34] = 0x60, [0x60] = 0x10, [0x68] = 0x20, [0x69] = 0x20};
    unsigned char bridge[4096] = {
        [0] = 0x01,    [0x34] = 0x40,  [0x40] = 0x01,  0x50, [0x50] = 0x10,
        [0x58] = 0x20, [0x59] = 0x20,  [0x100] = 0x01, 0x00, 0x01,
        0x14,          [0x140] = 0x0d, [0x146] = 0x04};
    struct pci_settings settings;

    unpack_node("", "p1", NULL);
    tree_put_bytes(root, "sys/bus/pci/devices/0000:3b:00.0/config", device, sizeof device);
    tree_put_bytes(root, "sys/bus/pci/devices/0000:3a:00.0/config", bridge, sizeof bridge);
    tree_put_bytes(root, "sys/bus/pci/devices/0000:3c:00.0/config", device, 64);
    pci_settings_read(root, "0000:3b:00.0", &settings);
    is_int(settings.payload_bytes, 256, "the payload of a device");
    is_int(settings.read_request_bytes, 512, "... its read requests");
    is_int(settings.redirects, -1, "... it has no ACS");
    pci_settings_read(root, "0000:3a:00.0", &settings);
    is_int(settings.redirects, 1, "a bridge with request redirect");
    bridge[0x146] = 0x11;
    tree_put_bytes(root, "sys/bus/pci/devices/0000:3a:00.0/config", bridge, sizeof bridge);
    pci_settings_read(root, "0000:3a:00.0", &settings);
    is_int(settings.redirects, 0, "... and one without");
    bridge[0x41] = 0x40;
    bridge[0x103] = 0x10;
    tree_put_bytes(root, "sys/bus/pci/devices/0000:3a:00.0/config", bridge, sizeof bridge);
    pci_settings_read(root, "0000:3a:00.0", &settings);
    is_int(settings.payload_bytes, 0, "a circular capability list ends");
    pci_settings_read(root, "0000:3c:00.0", &settings);
    is_int(settings.payload_bytes, 0,
           "64 bytes, all that a user without root can read, have no settings");
    pci_settings_read(root, "0000:ff:00.0", &settings);
    is_int(settings.payload_bytes, 0, "a missing device has no settings");
}

static void test_libraries(void)
{
    struct {
        Elf64_Ehdr header;
        Elf64_Phdr segment;
        Elf64_Nhdr note;
        char name[4];
        unsigned char id[4];
    } library = {.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64},
                            .e_phoff = sizeof(Elf64_Ehdr),
                            .e_phentsize = sizeof(Elf64_Phdr),
                            .e_phnum = 1},
                 .segment = {.p_type = PT_NOTE},
                 .note = {4, 4, NT_GNU_BUILD_ID},
                 .name = "GNU",
                 .id = {0xde, 0xad, 0xbe, 0xef}};

    library.segment.p_offset = (size_t)((char *)&library.note - (char *)&library);
    library.segment.p_filesz = sizeof library.note + 8;
    unpack_node("", "l1", "host.config");
    put("sys/class/net/.keep", "");
    tree_put_bytes(root, "usr/lib64/libnccl.so.2.18.5", &library, sizeof library);
    put("usr/lib64/libnccl.so.2", "");
    put("usr/local/lib/libnccl.so.2.19.3", "no library");
    has_line("none nccl libnccl.so.2.18.5 build deadbeef in /usr/lib64; libnccl.so.2.19.3 in "
             "/usr/local/lib",
             "libraries are facts, with their longest name and build ID");
    library.note.n_namesz = 0xfffffff0;
    tree_put_bytes(root, "usr/lib64/libnccl.so.2.18.5", &library, sizeof library);
    has_line("none nccl libnccl.so.2.18.5 in /usr/lib64; libnccl.so.2.19.3 in /usr/local/lib",
             "a library with a broken note is listed by name");
}

static void test_services(void)
{
    unpack_node("lab-node", "n1", "host.services");
    has_line("skip  Services is not set in the configuration", "no service is configured");
    hostlist_expand("sssd,munge.service,user@0", &conf.services, NULL);
    has_line("skip  cannot read /run/systemd/units: systemd is not running, or is older than 237",
             "services of a recorded node are unknown");
    put("run/systemd/units/.keep", "");
    link_to("run/systemd/units/invocation:sssd.service", "0123456789abcdef0123456789abcdef");
    link_to("run/systemd/units/invocation:user@0.service", "0123456789abcdef0123456789abcdef");
    finds("pass sssd runs\nfail munge.service munge.service is not running; see systemctl status "
          "munge.service\npass user@0 runs\n",
          "the service that does not run is named");
    hostlist_clear(&conf.services);
    hostlist_expand("chronyd,masked,linked", &conf.services, NULL);
    put("etc/systemd/system/.keep", "");
    link_to("run/systemd/units/invocation:chrony.service", "0123456789abcdef0123456789abcdef");
    link_to("etc/systemd/system/chronyd.service", "/usr/lib/systemd/system/chrony.service");
    link_to("etc/systemd/system/masked.service", "/dev/null");
    link_to("etc/systemd/system/linked.service", "/opt/linked.service");
    finds("pass chronyd runs\nfail masked masked is not running; see systemctl status masked\n"
          "fail linked linked is not running; see systemctl status linked\n",
          "a service runs under its alias; a masked one and a linked file do not");
}

static void test_mounts(void)
{
    unpack_node("lab-node", "n1", "host.mounts");
    hostlist_expand("/home,/scratch/users,/scratchy", &conf.mounts, NULL);
    put("proc/self/mountinfo", "22 1 0:20 / /home rw - autofs auto.home rw,direct\n"
                               "23 1 0:21 / /scratch rw - autofs auto.scratch rw,indirect\n");
    finds("unknown /home /home is not mounted: its automounter did not mount it\n"
          "unknown /scratch/users /scratch/users is not mounted: its automounter did not mount it\n"
          "fail /scratchy /scratchy is not mounted; Mounts in the configuration lists it\n",
          "what an automounter does not mount, as from a server that is down, is unknown");
    put("proc/self/mountinfo", "22 1 0:20 / /home rw - autofs auto.home rw,direct\n"
                               "24 22 0:22 / /home rw - nfs4 server:/home rw\n");
    has_line("pass /home nfs4, mounted", "... and passes when it has mounted it");
}

static void test_taint(void)
{
    unpack_node("lab-node", "n1", "host.kernel");
    put("proc/sys/kernel/tainted", "4097\n");
    has_line("pass  no kernel error since boot", "a taint by a foreign module is no error");
    put("proc/sys/kernel/tainted", "20624\n");
    has_line(
        "warn  the kernel had a machine check, an oops, a soft lockup since boot (taint 20624)",
        "taints by kernel errors are");
}

/* Puts a drive, with the path of its directory in sysfs below sys/devices. */
static void put_drive(const char *name, const char *directory)
{
    char path[256], target[256];

    snprintf(path, sizeof path, "sys/devices/%s/size", directory);
    put(path, "1\n");
    put("sys/class/block/.keep", "");
    snprintf(path, sizeof path, "sys/class/block/%s", name);
    snprintf(target, sizeof target, "../../devices/%s", directory);
    link_to(path, target);
}

static void drive_is_remote(const char *drive, bool is_remote)
{
    char entry[128], expected[64];

    snprintf(entry, sizeof entry, "3,1,1000000,-;XFS (%s): Filesystem has been shut down due to \n",
             drive);
    put("dev/kmsg", entry);
    snprintf(expected, sizeof expected, "%s %s xfs shut_down ", is_remote ? "warn" : "fail", drive);
    has_part(expected, "%s: a file system that was shut down %s", drive,
             is_remote ? "on the network is a warning" : "fails a health check");
}

static void test_remote_drives(void)
{
    static const char local[] = "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda";

    unpack_node("lab-node", "n1", "host.log");
    is_in_service = true;
    drive_is_remote("sdz", false);
    put_drive("sda", local);
    drive_is_remote("sda", false);
    put_drive("sdb", "platform/host5/session1/target5:0:0/5:0:0:1/block/sdb");
    drive_is_remote("sdb", true);
    put_drive("sdb1", "platform/host5/session1/target5:0:0/5:0:0:1/block/sdb/sdb1");
    drive_is_remote("sdb1", true);
    put_drive("dm-0", "virtual/block/dm-0");
    put("sys/devices/virtual/block/dm-0/slaves/.keep", "");
    link_to("sys/devices/virtual/block/dm-0/slaves/sda", "../../../../../class/block/sda");
    drive_is_remote("dm-0", false);
    link_to("sys/devices/virtual/block/dm-0/slaves/sdb1", "../../../../../class/block/sdb1");
    drive_is_remote("dm-0", true);
    put_drive("nvme0n1p1", "virtual/nvme-subsystem/nvme-subsys0/nvme0n1/nvme0n1p1");
    put("sys/devices/pci0000:00/nvme/nvme0/transport", "pcie\n");
    link_to("sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0",
            "../../../pci0000:00/nvme/nvme0");
    drive_is_remote("nvme0n1p1", false);
    put("sys/devices/virtual/nvme-fabrics/ctl/nvme1/transport", "tcp\n");
    link_to("sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme1",
            "../../nvme-fabrics/ctl/nvme1");
    drive_is_remote("nvme0n1p1", true);
    put_drive("nvme0n1", "virtual/nvme-subsystem/nvme-subsys0/nvme0n1");
    drive_is_remote("nvme0n1", true);
    is_in_service = false;
}

static void check_wanted(const char *only, const char *expected)
{
    char names[512] = "";

    for (size_t i = 0; i < check_count; i++)
        if (check_is_wanted(&check_table[i], only)) {
            strcat(names, names[0] ? " " : "");
            strcat(names, check_table[i].name);
        }
    is_str(names, expected, "only %s", only);
}

/* Runs host.limits in a step with 64 kB of locked memory, while its parent has more. Returns 1
 * if it fails, 0 if not, -1 or 2 on an error. */
static int fails_memlock_in_step(const char *step)
{
    struct fabric fabric = {.class = FABRIC_INFINIBAND};
    struct inventory inventory = {.rdma_count = 0};
    struct checks checks = {"",      "n1",       &conf, &inventory,
                            &fabric, add_record, NULL,  .test = "host.limits"};
    struct rlimit low;
    int status = -1;
    pid_t child;

    conf_defaults(&conf);
    conf.memlock_mb = 1;
    child = fork();
    if (child == 0) {
        if (step)
            setenv("SLURM_STEP_ID", step, 1);
        else
            unsetenv("SLURM_STEP_ID");
        if (getrlimit(RLIMIT_MEMLOCK, &low) < 0)
            _exit(2);
        low.rlim_cur = 65536;
        if (setrlimit(RLIMIT_MEMLOCK, &low) < 0)
            _exit(2);
        records_text[0] = '\0';
        check_limits(&checks);
        _exit(strncmp(records_text, "fail", 4) == 0);
    }
    if (child > 0)
        waitpid(child, &status, 0);
    conf_clear(&conf);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_limits_of_steps(void)
{
    struct rlimit own;

    if (geteuid() != 0 || getrlimit(RLIMIT_MEMLOCK, &own) < 0 || own.rlim_cur < 1000000) {
        tap_skip("needs root and 1 MB of locked memory");
        return;
    }
    is_int(fails_memlock_in_step(NULL), 1, "a low limit of locked memory fails");
    is_int(fails_memlock_in_step("0"), 0,
           "... unless only root's step has it, as another host's limit may apply");
}

static const char *checked_munge(const char *lines)
{
    struct checks checks = {"", "n1", &conf, NULL, NULL, add_record, NULL, .test = "host.munge"};
    char file[4096];

    put("slurm.conf", lines);
    snprintf(file, sizeof file, "%s/slurm.conf", root);
    setenv("SLURM_CONF", file, 1);
    records_text[0] = '\0';
    check_munge(&checks);
    unsetenv("SLURM_CONF");
    return records_text;
}

static void test_munge(void)
{
    unpack_node("", "n1", "host.munge");
    if (strstr(checked_munge("AuthInfo=ttl=60,socket=/nowhere/slurms\n"), "cannot open libmunge"))
        tap_skip("no libmunge");
    else
        has_str(records_text, "\"/nowhere/slurms\"", "the munged of AuthInfo is asked");
    snprintf(conf.munge_socket, sizeof conf.munge_socket, "/nowhere/own");
    if (strstr(checked_munge("\n"), "cannot open libmunge"))
        tap_skip("no libmunge");
    else
        has_str(records_text, "\"/nowhere/own\"", "... without it that of MungeSocket");
    is_str(checked_munge("AuthType=auth/slurm\n"), "skip  Slurm authenticates with auth/slurm\n",
           "... and none if Slurm does not use MUNGE");
}

/* The expected width and speed of a PCIe link is what both ends support. */
static void test_slots(void)
{
    unpack_node("dgx-h100-half-width", "d1", "gpu.health");
    has_line("warn gpu3 NVIDIA H100 80GB HBM3 at 0000:61:00.0 uses 8 of 16 PCIe lanes; "
             "reseat it",
             "a GPU that lost lanes");
    check_name = "net.interfaces";
    has_line("warn mlx5_10:1 mlx5_10:1 (0000:ce:00.0) has a PCIe link of 16 GT/s, it supports 32; "
             "reseat it, or check the slot's speed in the firmware settings",
             "a card that lost speed");
    put("sys/devices/pci0000:5b/0000:5b:01.0/0000:5c:00.0/0000:5d:02.0/0000:5f:00.0/0000:60:00.0/"
        "max_link_width",
        "8\n");
    put("sys/devices/pci0000:cb/0000:cb:01.0/0000:cc:00.0/0000:cd:00.0/max_link_speed",
        "16.0 GT/s PCIe\n");
    check_name = "gpu.health";
    is_silent_on("lanes", "... passes in a slot with 8 lanes");
    check_name = "net.interfaces";
    is_silent_on("GT/s", "... passes in a slot that is no faster");
    put("sys/devices/pci0000:cb/0000:cb:01.0/0000:cc:00.0/0000:cd:00.0/0000:ce:00.0/"
        "current_link_speed",
        "8.0 GT/s PCIe\n");
    has_line("warn mlx5_10:1 mlx5_10:1 (0000:ce:00.0) has a PCIe link of 8 GT/s, it supports "
             "16; reseat it, or check the slot's speed in the firmware settings",
             "... but fails below the slot's speed");
}

/* Names of NICs and processes may contain any bytes. */
static void cleans_names(void)
{
    struct checks checks = {"",   "n1",       &conf, NULL,
                            NULL, add_record, NULL,  .test = "net.interfaces"};

    records_text[0] = '\0';
    checks_record(&checks, "e\033[2J", VERDICT_WARN, "e\033[2J is\ndown");
    is_str(records_text, "warn e?[2J e?[2J is?down\n", "control characters are replaced by ?");
}

int main(void)
{
    unsetenv("SLURM_CONF");
    test_limits_of_steps();
    check_wanted("net", "net.interfaces net.rates net.addresses");
    check_wanted("net.interfaces", "net.interfaces");
    check_wanted("gpu,host.munge", "gpu.enumerate gpu.health host.munge");
    check_wanted("ne", "");
    check_wanted("net.interfaces2", "");
    check_wanted(",", "");
    cleans_names();
    test_links();
    test_configured_values();
    test_settings_for_jobs();
    test_ports();
    test_slots();
    test_gpus();
    test_gres();
    test_facts();
    test_host_facts();
    test_pci_settings();
    test_libraries();
    test_services();
    test_mounts();
    test_remote_drives();
    test_munge();
    test_taint();
    unpack_node("broken", "x", NULL);
    for (size_t i = 0; i < check_count; i++) {
        run_check(check_table[i].name);
        ok(record_count > 0, "%s has a record for a broken node", check_table[i].name);
    }
    remove_tree();
    return tap_done();
}
