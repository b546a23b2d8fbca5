/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHECKS_CONSTANTS_H
#define MUSTER_CHECKS_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define CHECKS_CONSTANTS(ROW) \
/* thresholds of a node */ \
ROW(integer, CHECK_FILES_LEAST, 4096, "files", "chosen 2026-11", "least open files allowed per process: an all-to-all of some thousand ranks over sockets") \
ROW(integer, CHECK_SHM_LEAST_MIB, 64, "MiB", "chosen 2026-11", "least size of /dev/shm; containers have 64 MiB by default, and NCCL fails with that") \
ROW(real, CHECK_SPACE_FULL_PERCENT, 1, "%", "chosen 2026-11", "free space of a file system below which the next write of a job may fail") \
ROW(real, CHECK_SPACE_LOW_PERCENT, 5, "%", "chosen 2026-11", "free space of a file system below which there is a warning") \
ROW(integer, ACCELERATOR_MEMORY_HELD_BYTES, 1 << 30, "bytes", "chosen 2026-11", "memory in use on a GPU without a process that is normal: contexts of the driver") \
ROW(integer, ACCELERATOR_FABRIC_S, 600, "s", "chosen 2026-11", "time after a node's boot for its GPUs to join the NVLink fabric, which waits for the fabric manager: no fault before") \
ROW(real, ACCELERATOR_SAMPLES_S, 0.1, "s", "standard 2026-11: AMD SMI, amdsmi_get_violation_status(): the firmware renews its counters that often", "interval of the two samples of what lowers an AMD GPU's clocks") \
/* rates of error counters */ \
ROW(integer, RATES_ERRORS_MOST, 10, "errors", "chosen 2026-11", "most errors of a link in its window: more than a restarting switch causes") \
ROW(integer, RATES_ERRORS_S, 3600, "s", "chosen 2026-11", "window of RATES_ERRORS_MOST") \
ROW(integer, RATES_LOSSES_MOST, 3, "losses", "standard 2026-11: healthagent of Azure, more than 3 in 3 h", "most losses of a link in its window") \
ROW(integer, RATES_LOSSES_S, 3 * 3600, "s", "standard 2026-11: healthagent of Azure", "window of RATES_LOSSES_MOST") \
ROW(integer, RATES_PCIE_MOST, 144, "errors", "standard 2026-11: replay policy of DCGM, 0.15 a minute and lane, 16 lanes", "most corrected errors on PCIe in their window") \
ROW(integer, RATES_PCIE_S, 3600, "s", "standard 2026-11: replay policy of DCGM", "window of RATES_PCIE_MOST") \
/* entries of the kernel log */ \
ROW(integer, KERNEL_COUNTS_S, 86400, "s", "chosen 2026-11", "age up to which an entry of the kernel log is a fault, and not only a warning") \
ROW(integer, KERNEL_KEEP_S, 2 * 86400, "s", "chosen 2026-11", "age up to which an entry of the kernel log is kept") \
ROW(integer, KERNEL_CONSEQUENCE_S, 60, "s", "chosen 2026-11", "most time between an entry of the kernel log and another that explains it") \
/* users' reports of suspects */ \
ROW(integer, SUSPECT_REPORT_AGE_S, 86400, "s", "chosen 2026-11", "age up to which a suspect report counts") \
/* time-outs */ \
ROW(integer, DEVICE_POLL_FIRST_US, 20, "us", "chosen 2026-11", "first interval of checks whether a GPU has ended its work, later a 16th of the time waited") \
ROW(integer, DEVICE_POLL_MOST_US, 50000, "us", "chosen 2026-11", "longest interval of such checks: a long wait counts as asleep on a busy node too") \
ROW(integer, BLAS_WORKSPACE_MB, 32, "MB", "standard 2026-11: cuBLAS, cublasSetWorkspace(): recommended on Hopper", "most device memory for a product by the vendor's library") \
ROW(real, BLAS_WORKSPACE_SHARE, 0.004, "of the memory", "chosen 2026-11", "the same as a share of device memory: a small device keeps its memory for the matrices") \
ROW(real, SUBNET_MESH_USUAL_SHARE, 0.65, "of the switches", "chosen 2026-11", "least share of the switches of a mesh with the usual number of cables to others; in a mesh with borders fewer have it") \
ROW(real, SUBNET_SMALL_UPLINKS_SHARE, 0.5, "ratio", "chosen 2026-11", "most uplinks of a switch, in those of its like and with no more nodes per uplink, that are meant to be fewer: the last leaf of a cluster that is not full") \
ROW(integer, SUBNET_COUNTERS_MS, 100, "ms", "chosen 2026-11", "time limit for the counters of a port of the subnet") \
ROW(real, CHECK_SPACE_S, 2, "s", "chosen 2026-11", "time limit for all local file systems: a root on NFS may hang") \
ROW(real, CHECK_SPACE_OWNER_S, 0.3, "s", "chosen 2026-11", "time limit to find whose files fill a directory, of CHECK_SPACE_S; for three directories at most") \
ROW(real, CHECK_SPACE_OWNER_SHARE, 0.1, "of the size", "chosen 2026-11", "least share of a file system that a user's files in a directory take for the user to be named") \
ROW(real, CHECK_MOUNT_S, 2, "s", "chosen 2026-11", "time limit for one mount: a busy file server answers within 0.1 s") \
ROW(integer, ARP_WAIT_MS, 150, "ms", "chosen 2026-11", "time for other hosts to answer that they have an address of this node") \
ROW(integer, ARP_PROXY_WAIT_MS, 100, "ms", "chosen 2026-11", "time for a proxy that answers to every address") \
ROW(integer, EVIDENCE_KEEP_S, 604800, "s", "chosen 2026-11", "age of a bundle of evidence after which a lasting fault gets another") \
ROW(integer, HEALTH_DEADLINE_S, 45, "s", "standard 2026-11: slurmd, run_script_health_check(): it waits 60 s", "time limit of a health check: it ends before slurmd kills it, though 10 s may pass until a process that waits in the kernel is given up") \
ROW(real, HEALTH_GPUS_S, 25, "s", "chosen 2026-11", "most of that for the libraries of accelerators, if GpuDeadline is more") \
ROW(integer, HEALTH_SETTLE_S, 2, "s", "chosen 2026-11", "time after a drain before the drains of other nodes are counted: reasons have whole seconds") \
ROW(integer, HEALTH_LOOKS_PER_S, 10, "nodes/s", "chosen 2026-11", "nodes with the same fault that read the state of all others per second, each a table of the controller") \
ROW(integer, HEALTH_SAMPLE_NODES, 50, "nodes", "chosen 2026-11", "nodes read one by one, at random, before all are read: of nodes with a fault at once, one in as many finds no other") \
ROW(real, HEALTH_SAMPLE_S, 5, "s", "chosen 2026-11", "time limit to read them: slurmctld may hold its locks for 2 s at a time (bf_yield_interval), and a health check has 45 s") \
ROW(real, HEALTH_ANSWER_S, 5, "s", "chosen 2026-11", "a query of slurmctld that fails later was not answered, so it is not repeated: without munged it fails after 2 s, and munged may be restarting") \
ROW(integer, HEALTH_SAMPLE_FROM, 1000, "nodes", "chosen 2026-11", "size of a partition from which nodes are read one by one first: the table of fewer is less than half a megabyte") \
ROW(integer, HEALTH_REVIEW_CLOCKS_S, 300, "s", "chosen 2026-11", "most by which slurmctld may date a drain before or after the health check, clocks and a slow answer included")
/* clang-format on */
CHECKS_CONSTANTS(CONSTANT_DEFINE)

#endif
