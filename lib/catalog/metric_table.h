/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_METRIC_TABLE_H
#define MUSTER_METRIC_TABLE_H

/* METRIC(ID, name, unit, help), and FACT(ID, name, unit, code, help, why) for a fact of
 * host.config: a node whose value differs from its peers' has this fault. catalog.h describes the
 * columns. */

/* clang-format off */
#define METRIC_TABLE \
/* facts: deviations that stop or slow jobs by themselves */ \
FACT(MTU, "mtu", "bytes", MTU_WRONG, "MTU of an interface", "packets longer than the shorter MTU are lost: transfers hang") \
FACT(SPEED, "speed", "Mb/s", LINK_SPEED_LOW, "speed of a link as its driver reports it", "the slowest rail sets the pace of every collective") \
FACT(CARRIER, "carrier", "", LINK_DOWN, "whether a rail has a link", "a rail without a link carries nothing") \
FACT(GPU_COUNT, "gpu.count", "count", GPU_MISSING, "GPUs of the node", "a job is given GPUs that are not there") \
FACT(GRES_COUNT, "gres.count", "count", GRES_MISMATCH, "GPUs of the node in gres.conf", "slurmd and the others do not agree on the node's GPUs") \
/* deviations that change speed */ \
FACT(PCIE, "pcie", "", CONFIG_DIFFERS, "PCIe lanes and speed of a device", "fewer lanes or a lower speed halve what the device can carry") \
FACT(PCIE_PAYLOAD, "pcie.payload", "bytes", CONFIG_DIFFERS, "PCIe maximum payload of a device", "small PCIe packets cost bandwidth") \
FACT(PCIE_READREQUEST, "pcie.readrequest", "bytes", CONFIG_DIFFERS, "PCIe maximum read request of a device", "small PCIe read requests cost a NIC its bandwidth") \
FACT(ACS, "acs", "", CONFIG_DIFFERS, "access control (ACS) of PCIe bridges", "ACS redirects peer-to-peer traffic by way of the processor") \
FACT(IOMMU, "iommu", "", CONFIG_DIFFERS, "mode of the IOMMU", "translation slows down peer-to-peer and small messages") \
FACT(GOVERNOR, "governor", "", CONFIG_DIFFERS, "frequency governor of the processors", "a power-saving governor slows down the processor's part of each step") \
FACT(TURBO, "turbo", "", CONFIG_DIFFERS, "whether processors may exceed their base frequency", "processors of different speed wait for each other") \
FACT(CSTATE, "cstate", "", CONFIG_DIFFERS, "deepest sleep state of the processors", "deep sleep states add latency") \
FACT(SMT, "smt", "", CONFIG_DIFFERS, "simultaneous multithreading", "different numbers of threads shift tasks and their bindings") \
FACT(NUMA_COUNT, "numa.count", "count", CONFIG_DIFFERS, "NUMA nodes", "tasks are bound to other NUMA nodes than on the peers") \
FACT(NUMA, "numa", "", CONFIG_DIFFERS, "processors of each NUMA node", "tasks are bound to other cores than on the peers") \
FACT(NUMA_BALANCING, "numa.balancing", "", CONFIG_DIFFERS, "automatic NUMA balancing", "page migration by the kernel disturbs pinned memory") \
FACT(DEVICE_NUMA, "device.numa", "", CONFIG_DIFFERS, "NUMA node of a device", "the device is near other cores than on the peers") \
FACT(HUGEPAGES, "hugepages", "count", CONFIG_DIFFERS, "reserved huge pages", "jobs lack the memory that is set aside, or lack huge pages") \
FACT(TRANSPARENT_HUGEPAGES, "transparent_hugepages", "", CONFIG_DIFFERS, "transparent huge pages", "page faults and memory use differ") \
FACT(CLOCKSOURCE, "clocksource", "", CONFIG_DIFFERS, "clock source of the kernel", "a slow clock source makes timing calls a thousand times slower") \
FACT(RINGS, "rings", "", CONFIG_DIFFERS, "ring sizes of an interface", "short rings drop packets in bursts") \
FACT(OFFLOADS, "offloads", "", CONFIG_DIFFERS, "offloads of an interface", "missing offloads cost processor time and bandwidth") \
FACT(PAUSE, "pause", "", CONFIG_DIFFERS, "link-level flow control of an interface", "flow control must be the same at all ends of a lossless network") \
FACT(PFC, "pfc", "", CONFIG_DIFFERS, "priority flow control of an interface", "a priority with flow control at one end only loses packets, or stops the other priorities") \
FACT(TRUST, "trust", "", CONFIG_DIFFERS, "whether an interface trusts DSCP or PCP", "the same DSCP means another priority here: PFC does not protect it") \
FACT(CONGESTION, "congestion", "", CONFIG_DIFFERS, "congestion control (DCQCN) of an interface", "a port without congestion control (DCQCN) does not slow down, and takes bandwidth from ports that do") \
FACT(CNP, "cnp", "", CONFIG_DIFFERS, "priority and DSCP of congestion notices", "congestion notices with another priority or DSCP wait in the congested queue") \
FACT(DCQCN, "dcqcn", "", CONFIG_DIFFERS, "parameters of DCQCN", "ports that slow down more or less than their peers get an unfair share of bandwidth") \
/* deviations that change the path of traffic */ \
FACT(GID, "gid", "", CONFIG_DIFFERS, "index and type of the GID in use", "RoCE at another GID index or type does not reach its peers") \
FACT(LLDPD, "lldpd", "count", CONFIG_DIFFERS, "whether an LLDP daemon runs", "without it nobody sees where the node's cables go") \
FACT(PKEY, "pkey", "", CONFIG_DIFFERS, "partition keys of a port", "ports of different partitions do not reach each other") \
FACT(CLASS, "class", "", CONFIG_DIFFERS, "transport of the fabric", "the fabric is used by another transport than on the peers") \
FACT(FABRIC, "fabric", "", CONFIG_DIFFERS, "rails of the fabric", "the fabric is used by another transport than on the peers") \
/* deviations that change results or behavior */ \
FACT(KERNEL, "kernel", "", CONFIG_DIFFERS, "version of the kernel", "another kernel schedules and routes in another way") \
FACT(CMDLINE, "cmdline", "", CONFIG_DIFFERS, "command line of the kernel", "the kernel was started with other settings") \
FACT(SYSTEM, "system", "", CONFIG_DIFFERS, "distribution and release", "other libraries than on the peers") \
FACT(DRIVER, "driver", "", CONFIG_DIFFERS, "driver of a device", "another driver behaves in another way") \
FACT(DRIVER_VERSION, "driver.version", "", CONFIG_DIFFERS, "version of a device's driver", "drivers of different versions may not work together") \
FACT(FIRMWARE, "firmware", "", CONFIG_DIFFERS, "firmware of a device", "each version of the firmware has other known faults") \
FACT(BIOS, "bios", "", CONFIG_DIFFERS, "version of the BIOS", "each version of the BIOS has other settings and known faults") \
FACT(MICROCODE, "microcode", "", CONFIG_DIFFERS, "microcode of the processors", "mitigations and speed come with the microcode") \
FACT(GPU_CLOCK, "gpu.clock", "MHz", CONFIG_DIFFERS, "highest clock of a GPU's processors", "GPUs of different speed wait for each other") \
FACT(GPU_MEMORY_CLOCK, "gpu.memory_clock", "MHz", CONFIG_DIFFERS, "highest clock of a GPU's memory", "GPUs of different speed wait for each other") \
FACT(GPU_POWER_LIMIT, "gpu.power_limit", "W", CONFIG_DIFFERS, "power limit of a GPU", "the GPU with the lowest power limit sets the pace") \
FACT(GPU_PCIE_GENERATION, "gpu.pcie_generation", "count", CONFIG_DIFFERS, "PCIe generation of a GPU and its slot", "an older generation halves what the GPU's link can carry") \
FACT(GPU_LINKS, "gpu.links", "count", CONFIG_DIFFERS, "links of a GPU to others that are up", "fewer links carry less between the GPUs of a node") \
FACT(GPU_MEMORY, "gpu.memory", "MB", CONFIG_DIFFERS, "memory of a GPU", "a job that fits the other GPUs runs out of memory here") \
FACT(GPU_ECC, "gpu.ecc", "count", CONFIG_DIFFERS, "whether a GPU corrects memory errors: 1", "without ECC wrong bits go unseen") \
FACT(GPU_MIG, "gpu.mig", "count", CONFIG_DIFFERS, "whether a GPU is partitioned (MIG): 1", "a job finds other devices than on the peers") \
FACT(GPU_PARTITION, "gpu.partition", "", CONFIG_DIFFERS, "partition of a GPU's processors and memory: SPX/NPS1", "a job finds other devices than on the peers") \
FACT(GPU_PERSISTENCE, "gpu.persistence", "count", CONFIG_DIFFERS, "whether a GPU's driver stays loaded: 1", "without it each job's start waits for the driver") \
FACT(GPU_COMPUTE_MODE, "gpu.compute_mode", "count", CONFIG_DIFFERS, "compute mode of a GPU: 0 shared, 2 prohibited, 3 one process", "programs that share a GPU fail here") \
FACT(GPU_LIBRARY, "gpu.library", "", CONFIG_DIFFERS, "version of the management library of the GPUs", "the library works with one version of the driver only") \
FACT(PEER_MEMORY, "peer.memory", "", CONFIG_DIFFERS, "kernel module for RDMA to GPU memory", "without it RDMA goes through the host's memory") \
FACT(LIBRARY, "library", "", CONFIG_DIFFERS, "build of a library that jobs use", "ranks with different builds of a library may not work together") \
FACT(MUSTER, "muster", "", CONFIG_DIFFERS, "version of muster", "another version of muster may report other things") \
FACT(HARDWARE, "hardware", "", CONFIG_DIFFERS, "kind of the node as a whole", "the node has other hardware than its neighbors, and is compared with few nodes") \
FACT(CPU_MODEL, "cpu.model", "", CONFIG_DIFFERS, "model of the processors", "processors of different speed wait for each other") \
FACT(CPU_COUNT, "cpu.count", "count", CONFIG_DIFFERS, "processors of the node", "Slurm's CPUs and bindings do not fit") \
FACT(MEMORY, "memory", "MB", CONFIG_DIFFERS, "memory of the node", "a memory module is missing or larger") \
FACT(MODEL, "model", "", CONFIG_DIFFERS, "model of a GPU or NIC", "GPUs of different models wait for each other") \
FACT(PCI, "pci", "", CONFIG_DIFFERS, "PCI address of a device", "devices are numbered in another order than on the peers") \
FACT(PRODUCT, "product", "", CONFIG_DIFFERS, "make and model of the machine", "a machine of another make") \
FACT(MEMLOCK, "memlock", "MB", CONFIG_DIFFERS, "limit of locked memory", "RDMA needs locked memory") \
FACT(LIMITS, "limits", "", CONFIG_DIFFERS, "limits of processes", "jobs run into a limit on this node only") \
FACT(SHM, "shm", "MB", CONFIG_DIFFERS, "size of /dev/shm", "data loaders and NCCL need /dev/shm") \
/* facts of one vendor, whose file in lib/node/gpu has the reason why they matter */ \
METRIC(NVIDIA_DRIVER, "nvidia.driver", "", "version of the NVIDIA driver") \
METRIC(AMDGPU_DRIVER, "amdgpu.driver", "", "version of the AMD GPU driver") \
METRIC(HABANALABS_DRIVER, "habanalabs.driver", "", "version of the Gaudi driver") \
/* identities and places */ \
METRIC(ADDRESS, "address", "", "IP address of an interface") \
METRIC(MAC, "mac", "", "MAC address of an interface") \
METRIC(GUID, "guid", "", "GUID of an RDMA port") \
METRIC(SOURCES, "sources", "", "IP addresses that a node's connections may come from, as ranges") \
METRIC(HOSTS, "hosts", "", "what /etc/hosts says of a name") \
METRIC(BOOT, "boot", "", "the boot ID of the kernel, which nodes of one machine share") \
METRIC(LEVEL, "level", "", "how near a GPU and a NIC are, or the level of a run") \
METRIC(RAILS, "rails", "count", "rails of the node") \
METRIC(GPUS, "gpus", "count", "GPUs of the node") \
METRIC(LEAF, "leaf", "", "leaf switch of the node") \
METRIC(SWITCH, "switch", "", "a switch and its place") \
METRIC(NEIGHBORS, "neighbors", "count", "neighbors that LLDP has heard on a node") \
METRIC(NEIGHBOR, "neighbor", "Mb/s", "a neighbor that LLDP has heard, with the speed of the link") \
METRIC(MISSING, "missing", "", "a node or rail that is expected and not in the network") \
METRIC(MISSING_COUNT, "missing", "count", "how many are found of those expected") \
METRIC(PLACE, "place", "", "a cable or node that is not where it belongs") \
METRIC(CROSSED, "crossed", "", "rails of a node that are in each other's place") \
METRIC(UPLINKS, "uplinks", "", "uplinks of a switch that are not as those of its like") \
METRIC(UPLINKS_COUNT, "uplinks", "count", "how many uplinks a switch has") \
METRIC(RATE, "rate", "Mb/s", "speed of a link of the network") \
METRIC(ERRORS, "errors", "count", "error counters of a link of the network") \
METRIC(TOPOLOGY_CONF, "topology.conf", "", "a line of topology.conf that cannot be true") \
METRIC(NAMES, "names", "", "adapters that have the name of others") \
/* checks of a node */ \
METRIC(UNUSABLE, "unusable", "", "a rail that can carry nothing") \
METRIC(COUNT, "count", "count", "GPUs found") \
METRIC(ECC_UNCORRECTED, "ecc_uncorrected", "count", "uncorrected memory errors of a GPU") \
METRIC(ECC_VOLATILE_UNCORRECTED, "ecc_volatile_uncorrected", "count", "uncorrected memory errors of a GPU since its driver was loaded") \
METRIC(ROWS_UNCORRECTED, "rows_uncorrected", "count", "memory rows of a GPU remapped for uncorrected errors") \
METRIC(TEMPERATURE, "temperature", "C", "temperature of a GPU") \
METRIC(POWER_LIMIT, "power_limit", "mW", "power limit of a GPU in force") \
METRIC(PCIE_WIDTH, "pcie_width", "lanes", "PCIe lanes of a GPU in use") \
METRIC(LINKS_ACTIVE, "links_active", "count", "links of a GPU to others that are up") \
METRIC(LINK_RECOVERIES_FAILED, "link_recoveries_failed", "count", "recoveries of a GPU's links that failed") \
METRIC(MEMORY_USED, "memory_used", "bytes", "memory of a GPU in use") \
METRIC(OPEN_FILES, "open_files", "count", "limit of open files") \
METRIC(SHARED_MEMORY, "shared_memory", "MB", "size of /dev/shm") \
METRIC(FREE, "free", "%", "space or inodes of a file system that are free, the lesser") \
METRIC(CLOCK_OFFSET, "clock_offset", "ms", "offset of the clock from its time service") \
METRIC(OFFSET, "offset", "ms", "offset of a node's clock from the first node's") \
METRIC(REFUSED, "refused", "s", "when the gate refused a job, since the epoch") \
METRIC(SUSPECT_REPORTS, "suspect_reports", "count", "reports of users' preflights") \
METRIC(USER, "user", "1", "for whose report of a preflight a node was tested, the user ID") \
METRIC(OVERFLOW, "overflow", "count", "reports that had no room") \
METRIC(REMOVED, "removed", "count", "reports that were removed") \
METRIC(REVOKED, "revoked", "count", "certificates that were revoked") \
METRIC(EXPIRES, "expires", "s", "when a certificate expires, since the epoch") \
/* processes and MPI */ \
METRIC(START, "start", "s", "time from srun to the last rank") \
METRIC(RANKS, "ranks", "count", "ranks of a node") \
METRIC(DIED, "died", "", "a process that died") \
METRIC(FROZEN, "frozen", "", "a process that fell silent") \
METRIC(HANG, "hang", "", "a process without progress") \
METRIC(SLOW, "slow", "", "processes that were not scheduled") \
METRIC(FAULT, "fault", "", "a process that could not go on") \
METRIC(WATCH, "watch", "", "a process that is not watched") \
METRIC(CPU_SHARE, "cpu_share", "1", "what a rank of a running job uses of a processor") \
METRIC(TRAFFIC, "traffic", "Mb/s", "what a rail of a running job carries, both ways") \
METRIC(COMPLETE, "complete", "", "why a program did not run to its end") \
METRIC(MESSAGES, "messages", "count", "messages received") \
METRIC(DAMAGED, "damaged", "count", "messages that arrived other than they were sent") \
METRIC(COVERAGE, "coverage", "1", "share of what could be tested") \
METRIC(TRANSPORT, "transport", "bytes", "what MPI sent by TCP") \
/* links */ \
METRIC(BANDWIDTH, "bandwidth", "Mb/s", "bandwidth of a rail between two nodes, one direction") \
METRIC(BANDWIDTH_TOGETHER, "bandwidth_together", "Mb/s", "the same with all rails of the pair in use") \
METRIC(BANDWIDTH_UPLINK, "bandwidth_uplink", "Mb/s", "what an uplink carried with all its nodes sending") \
METRIC(BANDWIDTH_BISECTION, "bandwidth_bisection", "Mb/s", "what the halves of the nodes sent each other") \
METRIC(BANDWIDTH_RECEIVED, "bandwidth_received", "Mb/s", "bandwidth as the receiver measured it") \
METRIC(BANDWIDTH_RC_WRITE, "bandwidth_rc_write", "Mb/s", "RDMA write, reliable connection") \
METRIC(BANDWIDTH_RC_WRITE_TOGETHER, "bandwidth_rc_write_together", "Mb/s", "the same with all rails of the pair in use") \
METRIC(BANDWIDTH_RC_READ, "bandwidth_rc_read", "Mb/s", "RDMA read, reliable connection") \
METRIC(BANDWIDTH_RC_SEND, "bandwidth_rc_send", "Mb/s", "RDMA send, reliable connection") \
METRIC(BANDWIDTH_UD_SEND, "bandwidth_ud_send", "Mb/s", "RDMA send, unreliable datagrams") \
METRIC(BANDWIDTH_LOOPBACK, "bandwidth_loopback", "Mb/s", "a port to itself") \
METRIC(BANDWIDTH_LOCAL, "bandwidth_local", "Mb/s", "two ports of one node") \
METRIC(LATENCY, "latency", "us", "half a round trip of a rail") \
METRIC(LATENCY_RC_WRITE, "latency_rc_write", "us", "RDMA write, reliable connection") \
METRIC(LATENCY_RC_READ, "latency_rc_read", "us", "RDMA read, reliable connection") \
METRIC(LATENCY_RC_SEND, "latency_rc_send", "us", "RDMA send, reliable connection") \
METRIC(LATENCY_UD_SEND, "latency_ud_send", "us", "RDMA send, unreliable datagrams") \
METRIC(SENDS, "sends", "Mb/s", "what a rail sends, by history") \
METRIC(RECEIVES, "receives", "Mb/s", "what a rail receives, by history") \
METRIC(GPU_MEMORY_TEXT, "gpu_memory", "", "whether a NIC reads and writes GPU memory directly") \
METRIC(LOSS, "loss", "1", "share of RDMA packets sent again or out of order") \
METRIC(LOST_SHARE, "lost_share", "1", "share of TCP segments sent again") \
METRIC(LOST_PINGS, "lost_pings", "count", "TCP segments of pings that were sent again") \
METRIC(LOST_SEGMENTS, "lost_segments", "count", "TCP segments of streams that were sent again") \
METRIC(STRIPING, "striping", "Mb/s", "bandwidth that messages would get if they were spread evenly over all rails") \
METRIC(PATH_MTU, "path_mtu", "bytes", "the largest packet that arrives") \
METRIC(PATH, "path", "bytes", "what the NIC counted of what was sent through it") \
METRIC(KIND, "kind", "", "transport of a rail") \
METRIC(END, "end", "1", "exit status of a program that has printed all its records") \
METRIC(ROUNDS, "rounds", "count", "rounds measured") \
METRIC(STATE, "state", "", "whether a rail could be used") \
METRIC(CRC_ERRORS, "crc_errors", "count", "frames with a wrong checksum") \
METRIC(RX_ERRORS, "rx_errors", "count", "errors of reception") \
METRIC(TX_ERRORS, "tx_errors", "count", "errors of transmission") \
METRIC(CHECKSUM_ERRORS, "checksum_errors", "count", "TCP segments with a wrong checksum") \
METRIC(SOCKET_DROPS, "socket_drops", "count", "TCP segments that arrived and found no room in their socket") \
METRIC(RX_DROPPED, "rx_dropped", "count", "frames that were dropped for want of room") \
METRIC(RX_MISSED, "rx_missed", "count", "frames that the host had no buffer for") \
METRIC(TX_DISCARDS, "tx_discards", "count", "frames that a congested port threw away") \
METRIC(TX_CARRIER_ERRORS, "tx_carrier_errors", "count", "frames that were cut off as the link was lost") \
METRIC(COLLISIONS, "collisions", "count", "collisions: a half-duplex link") \
METRIC(CARRIER_CHANGES, "carrier_changes", "count", "how often the link came or went") \
METRIC(SYMBOL_ERRORS, "symbol_errors", "count", "symbol errors of an InfiniBand link") \
METRIC(LINK_LOSSES, "link_losses", "count", "how often a link went down") \
METRIC(LINK_DOWNED, "link_downed", "count", "how often an InfiniBand link went down") \
METRIC(LINK_ERROR_RECOVERY, "link_error_recovery", "count", "how often an InfiniBand link recovered") \
METRIC(PORT_RCV_ERRORS, "port_rcv_errors", "count", "packets with errors at an InfiniBand port") \
METRIC(LINK_INTEGRITY_ERRORS, "link_integrity_errors", "count", "local link integrity errors of an InfiniBand port") \
METRIC(BUFFER_OVERRUNS, "buffer_overruns", "count", "excessive buffer overruns of an InfiniBand port") \
METRIC(REMOTE_ERRORS, "remote_errors", "count", "packets that were marked as damaged before this link") \
METRIC(RDMA_RETRANSMITS, "rdma_retransmits", "count", "RDMA packets sent again or out of order") \
METRIC(RDMA_NOT_READY, "rdma_not_ready", "count", "messages that found no buffer posted") \
METRIC(RDMA_DISCARDS, "rdma_discards", "count", "RDMA packets that a port discarded") \
METRIC(RDMA_MARKED, "rdma_marked", "count", "packets that a congested switch marked") \
METRIC(RDMA_SLOWED, "rdma_slowed", "count", "notices of congestion that slowed a port down") \
METRIC(PAUSES_RECEIVED, "pauses_received", "count", "pause frames received") \
METRIC(PAUSES_SENT, "pauses_sent", "count", "pause frames sent") \
METRIC(PCIE_CORRECTABLE, "pcie_correctable", "count", "correctable errors of a PCIe link") \
METRIC(PCIE_NONFATAL, "pcie_nonfatal", "count", "non-fatal errors of a PCIe link") \
METRIC(PCIE_FATAL, "pcie_fatal", "count", "fatal errors of a PCIe link") \
METRIC(OOM_KILLS, "oom_kills", "count", "processes that the kernel killed because memory ran out") \
METRIC(ECC_CORRECTED, "ecc_corrected", "count", "corrected errors of memory") \
METRIC(ECC_VOLATILE_CORRECTED, "ecc_volatile_corrected", "count", "corrected errors of GPU memory since the driver was loaded") \
METRIC(ROWS_CORRECTED, "rows_corrected", "count", "rows of GPU memory that were remapped for correctable errors") \
METRIC(PCIE_REPLAYS, "pcie_replays", "count", "packets that the PCIe link of a GPU sent again") \
METRIC(LINK_CRC_ERRORS, "link_crc_errors", "count", "CRC errors of a GPU's links") \
METRIC(LINK_RECOVERIES, "link_recoveries", "count", "recoveries of a GPU's links") \
METRIC(LOG_ENTRIES, "log_entries", "count", "entries of the kernel log of one kind while a job ran") \
/* GPUs under load */ \
METRIC(RATE_FP32, "rate_fp32", "GFLOP/s", "single-precision products on a GPU, by muster's own kernel") \
METRIC(RATE_FP32_TOGETHER, "rate_fp32_together", "GFLOP/s", "the same with all GPUs of the node at work") \
METRIC(RATE_FP64, "rate_fp64", "GFLOP/s", "double-precision products on a GPU, by muster's own kernel") \
METRIC(RATE_FP64_TOGETHER, "rate_fp64_together", "GFLOP/s", "the same with all GPUs of the node at work") \
METRIC(RATE_FP64_BLAS, "rate_fp64_blas", "GFLOP/s", "double-precision products on a GPU, by the vendor's library") \
METRIC(RATE_TF32, "rate_tf32", "GFLOP/s", "TF32 products on a GPU, by the vendor's library") \
METRIC(RATE_BF16, "rate_bf16", "GFLOP/s", "bfloat16 products on a GPU, by the vendor's library") \
METRIC(RATE_BF16_TOGETHER, "rate_bf16_together", "GFLOP/s", "the same with all GPUs of the node at work") \
METRIC(RATE_FP16, "rate_fp16", "GFLOP/s", "half-precision products on a GPU, by the vendor's library") \
METRIC(RATE_FP8, "rate_fp8", "GFLOP/s", "FP8 (E4M3) products on a GPU, by the vendor's library") \
METRIC(RATE_INT8, "rate_int8", "GFLOP/s", "8-bit integer products on a GPU, by the vendor's library: 10^9 operations/s") \
METRIC(MEMORY_COPY, "memory_copy", "GB/s", "copies within a GPU's memory, read and written bytes") \
METRIC(MEMORY_COPY_TOGETHER, "memory_copy_together", "GB/s", "the same with all GPUs of the node at work") \
METRIC(MEMORY_READ, "memory_read", "GB/s", "reads of a GPU's memory") \
METRIC(MEMORY_WRITE, "memory_write", "GB/s", "writes to a GPU's memory") \
METRIC(MEMORY_TRIAD, "memory_triad", "GB/s", "STREAM's triad in a GPU's memory") \
METRIC(TO_DEVICE, "to_device", "GB/s", "copies from pinned host memory to a GPU") \
METRIC(TO_DEVICE_TOGETHER, "to_device_together", "GB/s", "the same to all GPUs of the node at once") \
METRIC(TO_HOST, "to_host", "GB/s", "copies from a GPU to pinned host memory") \
METRIC(TO_HOST_TOGETHER, "to_host_together", "GB/s", "the same from all GPUs of the node at once") \
METRIC(TO_DEVICE_PAGEABLE, "to_device_pageable", "GB/s", "copies from pageable host memory to a GPU") \
METRIC(TO_HOST_PAGEABLE, "to_host_pageable", "GB/s", "copies from a GPU to pageable host memory") \
METRIC(TO_PEER, "to_peer", "GB/s", "copies from one GPU to another") \
METRIC(NIC_LOOPBACK, "nic_loopback", "GB/s", "writes of the NIC near a GPU to itself, in host memory") \
METRIC(NIC_TO_DEVICE, "nic_to_device", "GB/s", "the same from host memory to the GPU's") \
METRIC(NIC_FROM_DEVICE, "nic_from_device", "GB/s", "the same from the GPU's memory to host memory") \
METRIC(NIC, "nic", "", "the path between a NIC and a GPU's memory") \
METRIC(ALL_REDUCE, "all_reduce", "GB/s", "bus bandwidth of an all-reduce by NCCL among the GPUs of a node") \
METRIC(REDUCE_SCATTER, "reduce_scatter", "GB/s", "bus bandwidth of a reduce-scatter by NCCL among the GPUs of a node") \
METRIC(ALL_GATHER, "all_gather", "GB/s", "bus bandwidth of an all-gather by NCCL among the GPUs of a node") \
METRIC(ALL_TO_ALL, "all_to_all", "GB/s", "bus bandwidth of an all-to-all by NCCL among the GPUs of a node") \
METRIC(BROADCAST, "broadcast", "GB/s", "bus bandwidth of a broadcast by NCCL among the GPUs of a node") \
METRIC(ALL_REDUCE_NODES, "all_reduce_nodes", "GB/s", "the same among the GPUs of all nodes, or of pairs of nodes") \
METRIC(REDUCE_SCATTER_NODES, "reduce_scatter_nodes", "GB/s", "the same among the GPUs of all nodes, or of pairs of nodes") \
METRIC(ALL_GATHER_NODES, "all_gather_nodes", "GB/s", "the same among the GPUs of all nodes, or of pairs of nodes") \
METRIC(ALL_TO_ALL_NODES, "all_to_all_nodes", "GB/s", "the same among the GPUs of all nodes, or of pairs of nodes") \
METRIC(BROADCAST_NODES, "broadcast_nodes", "GB/s", "the same among the GPUs of all nodes, or of pairs of nodes") \
METRIC(ATOMICS, "atomics", "count", "atomic additions that were made and their sums compared") \
METRIC(PRODUCTS, "products", "count", "products of matrices that were made and compared") \
METRIC(TESTED, "tested", "MB", "memory of a GPU that was tested with patterns") \
METRIC(WRONG, "wrong", "count", "wrong elements of results, of memory or of copies on a GPU") \
METRIC(DEVICE, "device", "", "whether a GPU could be tested") \
/* processors, memory and disk under load */ \
METRIC(CORE_RATE, "core_rate", "GFLOP/s", "rate of the slowest core of a socket with all cores at work, by muster's own kernel") \
METRIC(RESULTS, "results", "count", "results of a fixed kernel, over all cores of a node, that were alike to the bit") \
METRIC(RESULTS_TEXT, "results", "", "why a node's processors and memory were not measured") \
METRIC(CORE_WRONG, "core_wrong", "count", "results of a core that differ from those of most cores of its model") \
METRIC(QUOTA, "quota", "1", "share of the time in which a CPU quota held the program back") \
METRIC(TRIAD, "triad", "GB/s", "STREAM's triad on all cores of a NUMA node, in memory of its own") \
METRIC(DISK_WRITE, "disk_write", "MB/s", "writes of 1 MiB, one after the other, past the page cache") \
METRIC(DISK_READ, "disk_read", "MB/s", "reads of 1 MiB, one after the other, past the page cache") \
METRIC(DISK_READS, "disk_reads", "1/s", "reads of 4 KiB, one after the other, at places by chance, past the page cache") \
METRIC(DISK, "disk", "", "why the disk was not measured") \
/* collectives and training */ \
METRIC(MISMATCHES, "mismatches", "count", "wrong results of a collective") \
METRIC(CORRUPT, "corrupt", "count", "wrong results that a rank explains") \
METRIC(ERROR, "error", "1", "rounding error as a share of its bound") \
METRIC(BUSBW, "busbw", "GB/s", "bus bandwidth of a collective") \
METRIC(LOSS_NATS, "loss", "nats", "loss of training, or its distance from the expected one") \
METRIC(LOSS_TEXT, "loss", "", "why the loss could not be compared") \
METRIC(GRADIENT_NORM, "gradient_norm", "1", "norm of the gradient") \
METRIC(THROUGHPUT, "throughput", "tokens/s", "speed of training") \
METRIC(EFFICIENCY, "efficiency", "1", "speed of all ranks as a share of the sum of each alone") \
METRIC(COMMUNICATION, "communication", "1", "share of a step that is spent in communication") \
METRIC(DIGEST, "digest", "", "checksum of the parameters") \
METRIC(SENT, "sent", "MB", "what a step sends") \
METRIC(SENT_INSIDE, "sent_inside", "MB", "what a step sends inside of layers") \
METRIC(SENT_ENDS, "sent_ends", "MB", "what a step sends at the ends of stages") \
METRIC(SENT_FORWARD, "sent_forward", "MB", "what a step sends forward") \
METRIC(SENT_BACKWARD, "sent_backward", "MB", "what a step sends backward") \
METRIC(STATE_MB, "state", "MB", "memory of parameters and optimizer") \
METRIC(WORKING, "working", "MB", "working memory of a step") \
METRIC(ACTIVATIONS, "activations", "MB", "memory of activations") \
METRIC(LAYERS, "layers", "1", "layers of a stage") \
METRIC(LAYER_TIME, "layer_time", "s", "time of a layer") \
METRIC(LAYER_RATE, "layer_rate", "GFLOP/s", "rate of a layer of a stage, forward and backward, on its slowest rank") \
METRIC(UPDATE_RATE, "update_rate", "1/s", "parameters that AdamW updates in a second on the slowest rank of a stage") \
METRIC(UPDATE_TIME, "update_time", "s", "time of an update") \
METRIC(PREDICTED_STEP, "predicted_step", "s", "time of a step by the model") \
METRIC(PREDICTED_AS_IS, "predicted_as_is", "s", "the same without compression") \
METRIC(PREDICTED_LOSSLESS, "predicted_lossless", "s", "the same with lossless compression") \
/* runs */ \
METRIC(CLUSTER, "cluster", "", "name of the cluster") \
METRIC(NOTE, "note", "", "what was done") \
METRIC(SECONDS, "seconds", "s", "duration of a run") \
METRIC(ALIKE, "alike", "count", "nodes with the same fault") \
METRIC(LINKS, "links", "count", "which strike of a rail") \
METRIC(STRIKE_GPU_COMPUTE, "gpu.compute", "count", "which strike of a GPU's rate") \
METRIC(STRIKE_GPU_MEMORY, "gpu.memory", "count", "which strike of a GPU's memory bandwidth") \
METRIC(STRIKE_GPU_PATHS, "gpu.paths", "count", "which strike of a GPU's copies") \
METRIC(STRIKE_HOST_COMPUTE, "host.compute", "count", "which strike of a core's rate") \
METRIC(STRIKE_HOST_MEMORY, "host.memory", "count", "which strike of a NUMA node's memory bandwidth") \
METRIC(NODES, "nodes", "count", "nodes of a campaign") \
METRIC(CERTIFIED, "certified", "count", "nodes of a campaign that are certified") \
METRIC(STAGE_SECONDS, "stage_seconds", "s", "duration of a stage of a run") \
METRIC(NODES_TESTED, "nodes_tested", "count", "nodes for which a stage has a verdict") \
METRIC(NODES_FAILED, "nodes_failed", "count", "nodes that a stage failed first") \
METRIC(FAILED_PER_HOUR, "failed_per_hour", "1/h", "chance that a stage fails a node, by its time") \
METRIC(SCORE, "score", "1", "faults and repairs of a node or part")
/* clang-format on */

#endif
