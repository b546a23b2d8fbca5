/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/facts/majority.h"

#include <string.h>

#include "lib/node/gpu/vendor.h"

static const struct severity {
    const char *name;
    enum verdict verdict;
    const char *reason;
} severities[] = {
    /* what stops or slows jobs by itself */
    {"mtu", VERDICT_FAIL, "packets longer than the shorter MTU are lost: transfers hang"},
    {"speed", VERDICT_FAIL, "the slowest rail sets the pace of every collective"},
    {"carrier", VERDICT_FAIL, "a rail without a link carries nothing"},
    {"gpu.count", VERDICT_FAIL, "a job is given GPUs that are not there"},
    {"gres.count", VERDICT_FAIL, "slurmd and the others do not agree on the node's GPUs"},
    /* what changes speed */
    {"pcie", VERDICT_WARN, "fewer lanes or a lower speed halve what the device can carry"},
    {"pcie.payload", VERDICT_WARN, "small PCIe packets cost bandwidth"},
    {"pcie.readrequest", VERDICT_WARN, "small PCIe read requests cost a NIC its bandwidth"},
    {"acs", VERDICT_WARN, "ACS redirects peer-to-peer traffic by way of the processor"},
    {"iommu", VERDICT_WARN, "translation slows down peer-to-peer and small messages"},
    {"governor", VERDICT_WARN, "a saving governor slows down the processor's part of each step"},
    {"turbo", VERDICT_WARN, "processors of different speed wait for each other"},
    {"cstate", VERDICT_WARN, "deep sleep states add latency"},
    {"smt", VERDICT_WARN, "different numbers of threads shift tasks and their bindings"},
    {"numa.count", VERDICT_WARN, "tasks are bound to other NUMA nodes than on the peers"},
    {"numa", VERDICT_WARN, "tasks are bound to other cores than on the peers"},
    {"numa.balancing", VERDICT_WARN, "page migration by the kernel disturbs pinned memory"},
    {"device.numa", VERDICT_WARN, "the device is near other cores than on the peers"},
    {"hugepages", VERDICT_WARN, "memory set aside is missing to jobs, or huge pages are"},
    {"transparent_hugepages", VERDICT_WARN, "page faults and memory use differ"},
    {"clocksource", VERDICT_WARN, "a slow clock source makes timing calls a thousand times dearer"},
    {"rings", VERDICT_WARN, "short rings drop packets in bursts"},
    {"offloads", VERDICT_WARN, "missing offloads cost processor time and bandwidth"},
    {"pause", VERDICT_WARN, "flow control must be the same at all ends of a lossless network"},
    {"pfc", VERDICT_WARN,
     "a priority that pauses here and not there loses packets, or halts the others"},
    {"trust", VERDICT_WARN, "the same DSCP means another priority here: PFC does not protect it"},
    {"congestion", VERDICT_WARN,
     "a port without congestion control (DCQCN) does not slow down, and takes from those that do"},
    {"cnp", VERDICT_WARN,
     "notices of congestion with another priority or DSCP wait in the queue that is congested"},
    {"dcqcn", VERDICT_WARN, "ports that give way otherwise than their peers get more, or less"},
    /* what changes where traffic goes */
    {"gid", VERDICT_WARN, "RoCE at another GID index or type does not reach its peers"},
    {"lldpd", VERDICT_WARN, "without it nobody sees where the node's cables go"},
    {"pkey", VERDICT_WARN, "ports of different partitions do not reach each other"},
    {"class", VERDICT_WARN, "the fabric is used by another transport than on the peers"},
    {"fabric", VERDICT_WARN, "the fabric is used by another transport than on the peers"},
    /* what changes results or behaviour */
    {"kernel", VERDICT_WARN, "another kernel schedules and routes in another way"},
    {"cmdline", VERDICT_WARN, "the kernel was started with other settings"},
    {"system", VERDICT_WARN, "other libraries than on the peers"},
    {"driver", VERDICT_WARN, "another driver behaves in another way"},
    {"driver.version", VERDICT_WARN, "drivers of different versions need not work together"},
    {"firmware", VERDICT_WARN, "known faults of firmware come and go with its version"},
    {"bios", VERDICT_WARN, "firmware settings and known faults come with its version"},
    {"microcode", VERDICT_WARN, "mitigations and speed come with the microcode"},
    {"peer.memory", VERDICT_WARN, "without it RDMA goes through the host's memory"},
    {"library", VERDICT_WARN,
     "ranks with different builds of a library need not understand each other"},
    {"muster", VERDICT_WARN, "another muster may see and tell other things"},
    {"hardware", VERDICT_WARN, "a node of other hardware than its neighbours, compared with few"},
    {"cpu.model", VERDICT_WARN, "processors of different speed wait for each other"},
    {"cpu.count", VERDICT_WARN, "Slurm's CPUs and bindings do not fit"},
    {"memory", VERDICT_WARN, "a memory module is missing or larger"},
    {"model", VERDICT_WARN, "GPUs of different models wait for each other"},
    {"pci", VERDICT_WARN, "devices are numbered in another order than on the peers"},
    {"product", VERDICT_WARN, "a machine of another make"},
    {"memlock", VERDICT_WARN, "RDMA needs locked memory"},
    {"limits", VERDICT_WARN, "jobs run into a limit on this node only"},
    {"shm", VERDICT_WARN, "data loaders and NCCL need /dev/shm"},
    /* end of severities */
};
enum { SEVERITIES = sizeof severities / sizeof *severities };

enum verdict fact_severity(const char *name, const char **reason)
{
    enum gpu_vendor vendor;

    for (size_t i = 0; i < SEVERITIES; i++)
        if (strcmp(name, severities[i].name) == 0) {
            if (reason)
                *reason = severities[i].reason;
            return severities[i].verdict;
        }
    vendor = gpu_vendor_by_driver_fact(name);
    if (reason)
        *reason = vendor != GPU_OTHER ? gpu_vendor_info(vendor)->driver_difference
                                      : "differs from the peers";
    return VERDICT_WARN;
}

const char *fact_severity_name(size_t index)
{
    return index < SEVERITIES ? severities[index].name : NULL;
}
