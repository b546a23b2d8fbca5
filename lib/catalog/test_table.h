/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TEST_TABLE_H
#define MUSTER_TEST_TABLE_H

/* TEST(ID, name, code, help), in the order of muster-codes(7). catalog.h describes the columns. */

/* clang-format off */
#define TEST_TABLE \
TEST(NET_INTERFACES, "net.interfaces", INTERFACE_FAULT, "every NIC and port: link, speed, MTU, address, firmware, PCIe") \
TEST(NET_RATES, "net.rates", LINK_ERRORS, "how fast error counters of rails rise, and how often links are lost") \
TEST(NET_ADDRESSES, "net.addresses", ADDRESS_DUPLICATE, "no two hosts have the same address, MAC or GUID") \
TEST(NET_TOPOLOGY, "net.topology", NODE_MISPLACED, "switches and cables against topology.conf and each other") \
TEST(GPU_ENUMERATE, "gpu.enumerate", GPU_MISSING, "GPUs on the PCI bus against the configuration") \
TEST(GPU_HEALTH, "gpu.health", GPU_UNHEALTHY, "GPU memory errors, state, PCIe width") \
TEST(GPU_COMPUTE, "gpu.compute", GPU_SLOW, "each GPU computes as fast as its peers, alone and all at once") \
TEST(GPU_REPEATABLE, "gpu.repeatable", GPU_RESULT_WRONG, "the same product over and over on each GPU, bit for bit") \
TEST(GPU_MEMORY, "gpu.memory", GPU_MEMORY_SLOW, "bandwidth of GPU memory, and patterns in all that is free") \
TEST(GPU_PATHS, "gpu.paths", GPU_PEER_SLOW, "copies between GPU and host, and from each GPU to each other") \
TEST(GPU_COLLECTIVES, "gpu.collectives", GPU_COLLECTIVE_SLOW, "collectives by NCCL among the GPUs of a node, and of all nodes") \
TEST(GPU_AFFINITY, "gpu.affinity", CONFIG_DIFFERS, "which NIC is nearest to which GPU") \
TEST(SLURM_GRES, "slurm.gres", GRES_MISMATCH, "gres.conf and slurm.conf against the node's devices") \
TEST(SLURM_GATE, "slurm.gate", GATE_REFUSED, "the last job that the node's prolog refused") \
TEST(SLURM_STATE, "slurm.state", NODE_AWAY, "the node's state in Slurm") \
TEST(PREFLIGHT_SUSPECTS, "preflight.suspects", NODE_REPORTED, "suspect reports of users' preflights about a node") \
TEST(HOST_LIMITS, "host.limits", LIMIT_LOW, "locked memory, open files, shared memory, RDMA devices") \
TEST(HOST_MUNGE, "host.munge", MUNGE_FAILED, "a MUNGE credential is made and decoded") \
TEST(HOST_CLOCK, "host.clock", CLOCK_OFF, "the clock against its time service and the other nodes") \
TEST(HOST_MOUNTS, "host.mounts", MOUNT_MISSING, "file systems that the site names are mounted, and answer") \
TEST(HOST_SERVICES, "host.services", SERVICE_DOWN, "services that the site names run") \
TEST(HOST_SPACE, "host.space", DISK_FULL, "space and inodes of local file systems") \
TEST(HOST_RESIDUE, "host.residue", JOB_RESIDUE, "processes and shared memory that ended jobs left behind") \
TEST(HOST_JOBS, "host.jobs", NONE, "what counters and the kernel log had while jobs ran") \
TEST(HOST_KERNEL, "host.kernel", KERNEL_TAINTED, "errors that the kernel has had since boot, by its taint") \
TEST(HOST_LOG, "host.log", KERNEL_LOG_FAULT, "the kernel log: errors of GPUs, NICs, memory, drives and file systems") \
TEST(HOST_EVIDENCE, "host.evidence", EVIDENCE_KEPT, "evidence that health checks kept of faults since the last certificate") \
TEST(HOST_COMPUTE, "host.compute", CORE_SLOW, "each core computes as fast as its peers, and to the bit as they do") \
TEST(HOST_MEMORY, "host.memory", MEMORY_SLOW, "memory bandwidth of each NUMA node, by STREAM's triad") \
TEST(HOST_DISK, "host.disk", DISK_SLOW, "writes, reads and small reads of the local disk that the site names") \
TEST(HOST_CONFIG, "host.config", CONFIG_DIFFERS, "versions, settings and devices, compared over all nodes by majority") \
TEST(WORKERS_ENUMERATE, "workers.enumerate", NODE_UNREACHABLE, "every expected node and rank answers") \
TEST(MPI_LAUNCH, "mpi.launch", LAUNCH_FAILED, "an MPI job starts, and in how long") \
TEST(MPI_MESSAGES, "mpi.messages", DATA_DAMAGED, "messages between all pairs of ranks arrive as sent") \
TEST(LINKS, "links", RAIL_FAULT, "latency and bandwidth of pairs and rails, in both directions") \
TEST(COLLECTIVES_CORRECT, "collectives.correct", RESULT_WRONG, "results of every collective operation") \
TEST(COLLECTIVES_BOUND, "collectives.bound", RESULT_WRONG, "rounding errors of reductions against their bound") \
TEST(COLLECTIVES_SPEED, "collectives.speed", NETWORK_SLOW, "bus bandwidth of collectives by size") \
TEST(TRAIN_ONE, "train.one", TRAINING_WRONG, "training on each rank by itself") \
TEST(TRAIN_NODE, "train.node", TRAINING_WRONG, "training on the ranks of a node") \
TEST(TRAIN_NODES, "train.nodes", TRAINING_WRONG, "training on all nodes, data-parallel") \
TEST(TRAIN_MODEL, "train.model", TRAINING_WRONG, "training with a model that is split over ranks") \
TEST(TRAIN_DATA, "train.data", TRAINING_WRONG, "every sequence is read by exactly one rank") \
TEST(TRAIN_CHECKPOINT, "train.checkpoint", TRAINING_WRONG, "bit-exact resume from a checkpoint") \
TEST(CERTIFICATE, "certificate", CERTIFICATE_FAILED, "the node's certificate") \
TEST(INTERFACES, "interfaces", INTERFACE_FAULT, "settings that muster.conf has for interfaces") \
TEST(REFERENCE, "reference", RAIL_SLOW, "figures that others take for the least on such hardware") \
TEST(WATCH, "watch", JOB_HUNG, "progress of a running job: its ranks, rails and communicators") \
TEST(ACCEPT, "accept", NONE, "a change that the administrator accepted") \
TEST(OFFENDERS, "offenders", NONE, "nodes and parts that failed again and again") \
TEST(STRIKES, "strikes", RAIL_SLOW, "failures near a limit, counted over several runs") \
TEST(PREFLIGHT, "preflight", TEST_FAILED, "conclusion of a preflight") \
TEST(CERTIFY, "certify", TEST_FAILED, "conclusion of a certification, a node each") \
TEST(CAMPAIGN, "campaign", TEST_FAILED, "progress of a campaign of several certifications") \
TEST(STAGE, "stage", TEST_FAILED, "what a stage of a run took, and what it found") \
TEST(RUN, "run", TEST_FAILED, "facts of a run: cluster, level, notes, duration") \
TEST(CHECK, "check", TEST_FAILED, "stage check of a certification as a whole") \
TEST(LAUNCH, "launch", LAUNCH_FAILED, "stage launch of a certification as a whole") \
TEST(GPU, "gpu", GPU_FAILED, "stage gpu of a certification as a whole") \
TEST(HOST, "host", TEST_FAILED, "stage host of a certification as a whole") \
TEST(COLLECTIVES, "collectives", RESULT_WRONG, "stage collectives of a certification as a whole") \
TEST(TRAIN, "train", TRAINING_WRONG, "stage train of a certification as a whole")

/* SUITE(ID, name): the program or stage that wrote a record */
#define SUITE_TABLE \
SUITE(CERTIFICATE, "certificate") \
SUITE(CERTIFY, "certify") \
SUITE(CHECK, "check") \
SUITE(COLLECTIVES, "collectives") \
SUITE(COMPARE, "compare") \
SUITE(GPU, "gpu") \
SUITE(HISTORY, "history") \
SUITE(HOST, "host") \
SUITE(INTERFACES, "interfaces") \
SUITE(LAUNCH, "launch") \
SUITE(LINKS, "links") \
SUITE(PREFLIGHT, "preflight") \
SUITE(REFERENCE, "reference") \
SUITE(SUSPECTS, "suspects") \
SUITE(TOPOLOGY, "topology") \
SUITE(TRAIN, "train") \
SUITE(WATCH, "watch")

/* LIMIT(ID, name): the sources of limits by which programs decide */
#define LIMIT_TABLE \
LIMIT(NOMINAL, "nominal") \
LIMIT(PEERS, "peers") \
LIMIT(HISTORY, "history") \
LIMIT(REFERENCE, "reference")
/* clang-format on */

#endif
