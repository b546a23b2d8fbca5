/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHECKS_CONSTANTS_H
#define MUSTER_CHECKS_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define CHECKS_CONSTANTS(ROW) \
/* thresholds of a node */ \
ROW(integer, CHECK_FILES_LEAST, 4096, "files", "chosen 2026-11", "open files that a process may have: an all-to-all of some thousand ranks over sockets") \
ROW(integer, CHECK_SHM_LEAST_MIB, 64, "MiB", "chosen 2026-11", "of /dev/shm; containers have that by default, and NCCL fails with it") \
ROW(real, CHECK_SPACE_FULL_PERCENT, 1, "%", "chosen 2026-11", "free of a file system, below which the next write of a job may fail") \
ROW(real, CHECK_SPACE_LOW_PERCENT, 5, "%", "chosen 2026-11", "free of a file system, below which there is a warning") \
ROW(integer, ACCELERATOR_MEMORY_HELD_BYTES, 1 << 30, "bytes", "chosen 2026-11", "in use on a GPU without a process: contexts of the driver") \
ROW(integer, ACCELERATOR_FABRIC_S, 600, "s", "chosen 2026-11", "after a node's boot for its GPUs to join the NVLink fabric, which waits for the fabric manager: no fault before") \
ROW(real, ACCELERATOR_SAMPLES_S, 0.1, "s", "standard 2026-11: AMD SMI, amdsmi_get_violation_status(): the firmware renews its counters that often", "between two samples of what lowers an AMD GPU's clocks") \
/* rates of error counters */ \
ROW(integer, RATES_ERRORS_MOST, 10, "errors", "chosen 2026-11", "of a link within the window: more than a switch that restarts makes") \
ROW(integer, RATES_ERRORS_S, 3600, "s", "chosen 2026-11", "window of these") \
ROW(integer, RATES_LOSSES_MOST, 3, "losses", "standard 2026-11: healthagent of Azure, more than 3 in 3 h", "of a link within the window") \
ROW(integer, RATES_LOSSES_S, 3 * 3600, "s", "standard 2026-11: healthagent of Azure", "window of these") \
ROW(integer, RATES_PCIE_MOST, 144, "errors", "standard 2026-11: replay policy of DCGM, 0.15 a minute and lane, 16 lanes", "corrected on PCIe within the window") \
ROW(integer, RATES_PCIE_S, 3600, "s", "standard 2026-11: replay policy of DCGM", "window of these") \
/* entries of the kernel log */ \
ROW(integer, KERNEL_COUNTS_S, 86400, "s", "chosen 2026-11", "an entry is a fault, and not only a warning") \
ROW(integer, KERNEL_KEEP_S, 2 * 86400, "s", "chosen 2026-11", "an entry is kept") \
ROW(integer, KERNEL_CONSEQUENCE_S, 60, "s", "chosen 2026-11", "between an entry and another that explains it") \
/* users' reports of suspects */ \
ROW(integer, SUSPECT_REPORT_AGE_S, 86400, "s", "chosen 2026-11", "a report counts") \
/* time-outs */ \
ROW(integer, DEVICE_POLL_FIRST_US, 20, "us", "chosen 2026-11", "between looks whether a GPU has ended its work, later a 16th of the time waited") \
ROW(integer, DEVICE_POLL_MOST_US, 50000, "us", "chosen 2026-11", "the same, at most: one that waits for long is seen asleep on a busy node too") \
ROW(integer, BLAS_WORKSPACE_MB, 32, "MB", "standard 2026-11: cuBLAS, cublasSetWorkspace(): recommended on Hopper", "of device memory, at most, for a product by the vendor's library") \
ROW(real, BLAS_WORKSPACE_SHARE, 0.004, "of the memory", "chosen 2026-11", "the same of device memory: a small device keeps its memory for the matrices") \
ROW(real, SUBNET_MESH_USUAL_SHARE, 0.65, "of the switches", "chosen 2026-11", "of a mesh, that have as many cables to others as is usual there; with borders fewer have") \
ROW(real, SUBNET_SMALL_UPLINKS_SHARE, 0.5, "ratio", "chosen 2026-11", "of the uplinks of its like that a switch has at most, and no more nodes to each, to be meant so: the last leaf of a cluster that is not full") \
ROW(integer, SUBNET_COUNTERS_MS, 100, "ms", "chosen 2026-11", "for the counters of a port of the subnet") \
ROW(real, CHECK_SPACE_S, 2, "s", "chosen 2026-11", "for all local file systems: a root on NFS may hang") \
ROW(real, CHECK_SPACE_OWNER_S, 0.3, "s", "chosen 2026-11", "of these, to find whose files fill one directory; for three at most") \
ROW(real, CHECK_SPACE_OWNER_SHARE, 0.1, "of the size", "chosen 2026-11", "of a file system, that a user's files of a directory have at least to be named") \
ROW(real, CHECK_MOUNT_S, 2, "s", "chosen 2026-11", "for one mount: a busy file server answers within 0.1 s") \
ROW(integer, ARP_WAIT_MS, 150, "ms", "chosen 2026-11", "for other hosts that have an address of this node") \
ROW(integer, ARP_PROXY_WAIT_MS, 100, "ms", "chosen 2026-11", "for a proxy that answers to every address") \
ROW(integer, EVIDENCE_KEEP_S, 604800, "s", "chosen 2026-11", "a fault that stays gets another bundle of evidence") \
ROW(integer, HEALTH_DEADLINE_S, 45, "s", "standard 2026-11: slurmd, run_script_health_check(): it waits 60 s", "for a health check: it ends before slurmd kills it, though what waits in the kernel takes 10 s to be given up") \
ROW(real, HEALTH_GPUS_S, 25, "s", "chosen 2026-11", "of these for the libraries of accelerators, where GpuDeadline is more") \
ROW(integer, HEALTH_SETTLE_S, 2, "s", "chosen 2026-11", "after a drain, before those of other nodes are counted: reasons have whole seconds") \
ROW(integer, HEALTH_LOOKS_PER_S, 10, "nodes/s", "chosen 2026-11", "that have a fault alike look at all others, a table of the controller's each") \
ROW(integer, HEALTH_SAMPLE_NODES, 50, "nodes", "chosen 2026-11", "that are read one by one, at random, before all are: of nodes that have a fault at once one in so many finds no other") \
ROW(real, HEALTH_SAMPLE_S, 5, "s", "chosen 2026-11", "for reading them: slurmctld may hold its locks for 2 s at a time (bf_yield_interval), and a health check has 45 s") \
ROW(integer, HEALTH_SAMPLE_FROM, 1000, "nodes", "chosen 2026-11", "in a larger partition: the table of fewer is less than half a megabyte") \
ROW(integer, HEALTH_REVIEW_CLOCKS_S, 300, "s", "chosen 2026-11", "that slurmctld may date a drain after or before the health check, clocks and a slow answer included")
/* clang-format on */
CHECKS_CONSTANTS(CONSTANT_DEFINE)

#endif
