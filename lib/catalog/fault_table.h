/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_FAULT_TABLE_H
#define MUSTER_FAULT_TABLE_H

/* FAULT(ID, name, severity, drain, remediation, advice, meaning): one row per fault code, in the
 * order of muster-codes(7). catalog.h describes the columns. */

/* clang-format off */
#define FAULT_TABLE \
/* no clear result */ \
FAULT(NOT_MEASURED, "not_measured", UNKNOWN, NEVER, MEASURE_AGAIN, \
    "Read the message for the reason, and measure again.", \
    "a test could not be run or did not end") \
FAULT(NOT_STEADY, "not_steady", UNKNOWN, NEVER, MEASURE_AGAIN, \
    "Measure again when the nodes are idle.", \
    "measurements of the same part contradict each other") \
FAULT(MANY_ALIKE, "many_alike", UNKNOWN, NEVER, FIX_CONFIG, \
    "Look for the common cause first: the network, the head node, a driver or a configuration file.", \
    "many nodes have the same fault at the same time") \
FAULT(NODE_AWAY, "node_away", UNKNOWN, NEVER, CHECK_LOG, \
    "Run sinfo -R to see who took the node away, and why.", \
    "the node is not available: used by others, or drained by an administrator or Slurm") \
FAULT(TEST_FAILED, "test_failed", FAIL, CERTIFY, CHECK_LOG, \
    "Read the message of the failed test.", \
    "a test failed without a more specific code") \
/* network interfaces */ \
FAULT(INTERFACE_MISSING, "interface_missing", FAIL, HEALTH, RESEAT, \
    "Find the NIC with lspci and in the kernel log; reseat it, or correct the name in muster.conf.", \
    "an interface that muster.conf names is not on the node") \
FAULT(INTERFACE_LEFT_CHANGED, "interface_left_changed", WARN, NEVER, FIX_CONFIG, \
    "Run muster interfaces --restore on the node.", \
    "a setting made for a job that has ended is still in effect") \
FAULT(LINK_DOWN, "link_down", FAIL, HEALTH, RESEAT, \
    "Reseat the cable; check the transceiver and the switch port.", \
    "a rail has no link, so it carries nothing") \
FAULT(ADDRESS_MISSING, "address_missing", FAIL, CERTIFY, FIX_CONFIG, \
    "Give the interface an IP address, or leave it out of FabricInterfaces.", \
    "a rail has no IP address or no RoCE GID") \
FAULT(ADDRESS_LINK_LOCAL, "address_link_local", WARN, NEVER, FIX_CONFIG, \
    "Give the interface an IP address that is routed.", \
    "a RoCE rail has only link-local GIDs") \
FAULT(ADDRESS_DUPLICATE, "address_duplicate", UNKNOWN, NEVER, FIX_CONFIG, \
    "Find the other host by its name or its MAC in the switch tables; give one of the two another address.", \
    "two hosts have the same address, MAC or GUID") \
FAULT(LINK_SPEED_LOW, "link_speed_low", FAIL, CERTIFY, REPLACE_CABLE, \
    "Reseat or replace the cable; check the speed that is set at the switch port.", \
    "a link runs at a lower speed than configured or than its peers") \
FAULT(LINK_NARROW, "link_narrow", WARN, NEVER, REPLACE_CABLE, \
    "Check the connectors at both ends of the cable, then replace the cable.", \
    "an InfiniBand link runs on one lane") \
FAULT(LINK_ERRORS, "link_errors", WARN, NEVER, REPLACE_CABLE, \
    "Clean or replace the cable and transceiver.", \
    "a NIC counts errors of its link") \
FAULT(LINK_FLAPS, "link_flaps", WARN, NEVER, RESEAT, \
    "Read the log of the switch port for the times; reseat the cable and transceiver when nobody took the link down.", \
    "a link is lost and restored repeatedly") \
FAULT(LINK_LOST, "link_lost", UNKNOWN, NEVER, RESEAT, \
    "Read the log of the switch port for the reason; reseat the cable and transceiver, and certify again.", \
    "a link went down or came up while it was measured") \
FAULT(NIC_OVERRUN, "nic_overrun", WARN, NEVER, FIX_CONFIG, \
    "Raise the receive ring of the NIC; check flow control (PFC), its PCIe link and its interrupts.", \
    "a NIC discarded packets for lack of buffers: congestion, or a host that is too slow") \
FAULT(MTU_WRONG, "mtu_wrong", FAIL, CERTIFY, FIX_CONFIG, \
    "Set the MTU of the other rails, on the node and on the switch.", \
    "a rail has another MTU than configured or than its peers") \
FAULT(PARTITION_LIMITED, "partition_limited", FAIL, CERTIFY, FIX_CONFIG, \
    "Make the port a full member in the partitions of the subnet manager.", \
    "an InfiniBand port is only a limited member of its partition") \
FAULT(FIRMWARE_DIFFERS, "firmware_differs", WARN, NEVER, UPDATE_SOFTWARE, \
    "Update the firmware to the version of the other ports.", \
    "a port has another firmware than the node's other ports on the same board") \
FAULT(PCIE_DEGRADED, "pcie_degraded", WARN, NEVER, RESEAT, \
    "Reseat the device; check the riser and the slot's setting in the BIOS.", \
    "a device has fewer PCIe lanes or a lower PCIe speed than it supports") \
FAULT(INTERFACE_FAULT, "interface_fault", FAIL, CERTIFY, FIX_CONFIG, \
    "Compare the interface with the same interface of a node that passed.", \
    "an interface is not as it should be") \
/* GPUs and Slurm's resources */ \
FAULT(GPU_MISSING, "gpu_missing", FAIL, HEALTH, RESEAT, \
    "Look for the GPU in lspci and in the kernel log; reseat it or power-cycle the node.", \
    "fewer GPUs on the PCI bus than expected") \
FAULT(GPU_SURPLUS, "gpu_surplus", WARN, NEVER, FIX_CONFIG, \
    "Correct the number of GPUs in slurm.conf or muster.conf.", \
    "more GPUs on the PCI bus than expected") \
FAULT(GPU_NO_DRIVER, "gpu_no_driver", FAIL, HEALTH, CHECK_LOG, \
    "Read the kernel log for the reason; install or load the driver.", \
    "a GPU has no driver") \
FAULT(GPU_PASSED_THROUGH, "gpu_passed_through", WARN, NEVER, FIX_CONFIG, \
    "Unbind the GPU from its pass-through driver if jobs are to use it.", \
    "a GPU is reserved for virtual machines") \
FAULT(GPU_MEMORY_ERRORS, "gpu_memory_errors", FAIL, HEALTH, RESET_GPU, \
    "Reset the GPU; replace it when the errors come back.", \
    "a GPU has counted uncorrected memory errors") \
FAULT(GPU_MEMORY_CORRECTED, "gpu_memory_corrected", WARN, NEVER, CALL_VENDOR, \
    "If it continues, ask the vendor whether to replace the GPU.", \
    "a GPU corrects memory errors at a high rate") \
FAULT(GPU_NOT_OPERATIONAL, "gpu_not_operational", FAIL, HEALTH, RESET_GPU, \
    "Reset the GPU; replace it when the state comes back.", \
    "the driver says that a GPU is not operational") \
FAULT(GPU_WAS_RESET, "gpu_was_reset", WARN, NEVER, CHECK_LOG, \
    "Read the kernel log for the reason of the reset.", \
    "a GPU was reset since the driver was loaded") \
FAULT(GPU_LOST, "gpu_lost", FAIL, HEALTH, REBOOT, \
    "Reboot the node; reseat or replace the GPU when it is lost again.", \
    "a GPU stopped answering its driver") \
FAULT(GPU_RESET_REQUIRED, "gpu_reset_required", FAIL, HEALTH, RESET_GPU, \
    "End all processes on the GPU and reset it (nvidia-smi --gpu-reset).", \
    "the driver asks for a reset of a GPU") \
FAULT(GPU_REBOOT_REQUIRED, "gpu_reboot_required", FAIL, HEALTH, REBOOT, \
    "Reboot the node.", \
    "the driver of a GPU asks for a reboot of the node") \
FAULT(GPU_SRAM_ERRORS, "gpu_sram_errors", FAIL, HEALTH, CALL_VENDOR, \
    "Run the vendor's field diagnosis and have the GPU replaced.", \
    "a GPU has had more SRAM errors than its vendor allows") \
FAULT(GPU_ROW_REMAP_FAILED, "gpu_row_remap_failed", FAIL, HEALTH, CALL_VENDOR, \
    "Have the GPU replaced: it has no spare memory row left.", \
    "a bad memory row of a GPU could not be remapped") \
FAULT(GPU_ROW_REMAP_PENDING, "gpu_row_remap_pending", WARN, NEVER, RESET_GPU, \
    "Reset the GPU when no job uses it.", \
    "a bad memory row of a GPU waits to be remapped at the next reset") \
FAULT(GPU_ECC_PENDING, "gpu_ecc_pending", WARN, NEVER, RESET_GPU, \
    "Reset the GPU when no job uses it, or set its ECC mode back (nvidia-smi --ecc-config).", \
    "the ECC mode of a GPU was changed and waits for the next reset") \
FAULT(GPU_ROWS_WORN, "gpu_rows_worn", WARN, NEVER, CALL_VENDOR, \
    "Ask the vendor whether to replace the GPU.", \
    "a GPU has remapped very many memory rows") \
FAULT(GPU_THROTTLED, "gpu_throttled", WARN, NEVER, CHECK_LOG, \
    "Check fans, airflow, power supplies and their cables.", \
    "a GPU lowers its clocks for heat or power") \
FAULT(GPU_HOT, "gpu_hot", WARN, NEVER, CHECK_LOG, \
    "Check fans, airflow and the temperature of the room.", \
    "a GPU is too hot") \
FAULT(GPU_POWER_LIMITED, "gpu_power_limited", WARN, NEVER, FIX_CONFIG, \
    "Set the power limit of the other nodes (nvidia-smi --power-limit).", \
    "the power limit of a GPU is below its default") \
FAULT(GPU_LINK_DOWN, "gpu_link_down", FAIL, HEALTH, RESET_GPU, \
    "Reset all GPUs of the node together; then have the GPU or its baseboard replaced.", \
    "a GPU has fewer links to other GPUs up than its peers") \
FAULT(GPU_LINK_ERRORS, "gpu_link_errors", WARN, NEVER, CALL_VENDOR, \
    "Have the GPU or its baseboard replaced when the counter goes on rising.", \
    "a link between GPUs could not recover from errors") \
FAULT(GPU_FABRIC_DOWN, "gpu_fabric_down", FAIL, CERTIFY, RESTART_SERVICE, \
    "Check the fabric manager and the IMEX service, and restart them.", \
    "a GPU has not joined the fabric of its node or rack") \
FAULT(GPU_FABRIC_DEGRADED, "gpu_fabric_degraded", WARN, NEVER, CALL_VENDOR, \
    "Look for failed links in the log of the fabric manager.", \
    "the fabric of a GPU has limited capacity") \
FAULT(GPU_FABRIC_DIFFERS, "gpu_fabric_differs", WARN, NEVER, FIX_CONFIG, \
    "Compare the partitions of the fabric manager.", \
    "GPUs of one node are in different cliques of the fabric") \
FAULT(GPU_COMPUTE_PROHIBITED, "gpu_compute_prohibited", FAIL, CERTIFY, FIX_CONFIG, \
    "Set the compute mode back (nvidia-smi --compute-mode=0).", \
    "a GPU is set to refuse all programs") \
FAULT(GPU_FOREIGN_PROCESS, "gpu_foreign_process", WARN, NEVER, FIX_CONFIG, \
    "Find out whose process it is, and end it.", \
    "a process outside of any job uses a GPU") \
FAULT(GPU_MEMORY_HELD, "gpu_memory_held", WARN, NEVER, RESET_GPU, \
    "Reset the GPU when no job uses it.", \
    "memory of a GPU is in use without a process") \
FAULT(GPU_DRIVER_HUNG, "gpu_driver_hung", FAIL, HEALTH, REBOOT, \
    "Read the kernel log, and reboot the node.", \
    "the driver of the GPUs does not answer") \
FAULT(GPU_DRIVER_ERROR, "gpu_driver_error", WARN, NEVER, CHECK_LOG, \
    "Look the error up in the vendor's documentation; report it when it comes back.", \
    "the driver of a GPU reported an error") \
FAULT(APPLICATION_FAULT, "application_fault", WARN, NEVER, CHECK_LOG, \
    "Tell the job's owner: the node is not at fault.", \
    "a job's program made an error on a GPU") \
FAULT(GPU_SWITCH_FAILED, "gpu_switch_failed", FAIL, HEALTH, REBOOT, \
    "Reboot the node; have the baseboard replaced when the fault comes back.", \
    "a switch between the GPUs of the node failed") \
FAULT(GPU_SWITCH_ERRORS, "gpu_switch_errors", WARN, NEVER, CHECK_LOG, \
    "Look for an Xid 74 of a GPU at the same time; reset all GPUs of the node together.", \
    "a switch between the GPUs of the node reported an error") \
FAULT(GPU_LIBRARY_CRASHED, "gpu_library_crashed", UNKNOWN, NEVER, UPDATE_SOFTWARE, \
    "Install the management library that belongs to the driver.", \
    "the management library of the GPUs crashed") \
FAULT(GPU_DRIVER_MISMATCH, "gpu_driver_mismatch", FAIL, CERTIFY, REBOOT, \
    "Reload the driver, or reboot the node: it was updated while in use.", \
    "driver and libraries of the GPUs are of different versions") \
FAULT(GPU_UNHEALTHY, "gpu_unhealthy", FAIL, HEALTH, RESET_GPU, \
    "Reset the GPU; replace it when the fault comes back.", \
    "a GPU is not healthy") \
FAULT(GPU_SLOW, "gpu_slow", FAIL, CERTIFY, CHECK_LOG, \
    "Look for throttling, power limit and temperature with nvidia-smi -q; reset the GPU, replace it when it stays slow.", \
    "a GPU computes slower than its peers") \
FAULT(GPU_MEMORY_SLOW, "gpu_memory_slow", FAIL, CERTIFY, RESET_GPU, \
    "Compare memory clock and ECC state with its peers; reset the GPU, replace it when it stays slow.", \
    "memory of a GPU is slower than that of its peers") \
FAULT(GPU_RESULT_WRONG, "gpu_result_wrong", FAIL, CERTIFY, CALL_VENDOR, \
    "Run the command of the message again; have the GPU replaced.", \
    "a GPU computed a wrong result") \
FAULT(GPU_MEMORY_WRONG, "gpu_memory_wrong", FAIL, CERTIFY, CALL_VENDOR, \
    "Run the vendor's field diagnosis; have the GPU replaced.", \
    "memory of a GPU did not keep what was written") \
FAULT(GPU_HUNG, "gpu_hung", FAIL, CERTIFY, RESET_GPU, \
    "Read the kernel log; reset the GPU, or reboot the node when its process cannot be ended.", \
    "work on a GPU did not end") \
FAULT(GPU_FAILED, "gpu_failed", FAIL, CERTIFY, CHECK_LOG, \
    "Read the kernel log for an Xid of that time; reset the GPU.", \
    "a GPU's driver reported an error during a test") \
FAULT(GPU_PEER_SLOW, "gpu_peer_slow", FAIL, CERTIFY, CALL_VENDOR, \
    "Check the links between the two GPUs (nvidia-smi nvlink -s, nvidia-smi topo -m); reset all GPUs of the node.", \
    "the path from one GPU to another is slower than its peers") \
FAULT(GPU_PEER_DAMAGED, "gpu_peer_damaged", FAIL, CERTIFY, CALL_VENDOR, \
    "Check IOMMU and ACS settings; reset all GPUs of the node, have the baseboard replaced when it stays.", \
    "data was corrupted between two GPUs") \
FAULT(GPU_NO_PEER_ACCESS, "gpu_no_peer_access", WARN, NEVER, FIX_CONFIG, \
    "Compare nvidia-smi topo -p2p with that of another node; check IOMMU and ACS settings.", \
    "two GPUs cannot reach each other's memory, though others of the node can") \
FAULT(GPU_HOST_PATH_SLOW, "gpu_host_path_slow", WARN, NEVER, RESEAT, \
    "Compare PCIe speed and width of the GPU with its peers; reseat it or its riser.", \
    "copies between a GPU and host memory are slower than those of its peers") \
FAULT(GPU_NIC_SLOW, "gpu_nic_slow", WARN, NEVER, FIX_CONFIG, \
    "Check IOMMU and ACS settings (lspci -vvv: ACSCtl), and with muster topology whether GPU and NIC share a PCIe switch.", \
    "a NIC reaches the memory of a GPU near it much more slowly than host memory") \
FAULT(GPU_NIC_FAILED, "gpu_nic_failed", WARN, NEVER, FIX_CONFIG, \
    "Check IOMMU and ACS settings and the kernel log; compare the drivers of GPU and NIC with those of another node.", \
    "a NIC cannot reach the memory of a GPU, though it was registered there") \
FAULT(GPU_NIC_DAMAGED, "gpu_nic_damaged", FAIL, CERTIFY, CALL_VENDOR, \
    "Check IOMMU and ACS settings; test the NIC with other GPUs and the GPU with other NICs.", \
    "data was corrupted between a NIC and the memory of a GPU") \
FAULT(GPU_COLLECTIVE_WRONG, "gpu_collective_wrong", FAIL, CERTIFY, CALL_VENDOR, \
    "Run muster-gpu --tests=collectives,paths,memory again; reset all GPUs of the node, and replace the part that stays wrong.", \
    "a collective of GPUs gave a wrong result") \
FAULT(GPU_COLLECTIVE_HUNG, "gpu_collective_hung", FAIL, CERTIFY, RESET_GPU, \
    "Read the kernel log and that of the fabric manager; run it again with NCCL_DEBUG=INFO.", \
    "a collective of GPUs did not end") \
FAULT(GPU_COLLECTIVE_SLOW, "gpu_collective_slow", FAIL, CERTIFY, CALL_VENDOR, \
    "Compare nvidia-smi topo -m and nvidia-smi nvlink -s with another node, and NCCL's settings.", \
    "a collective of GPUs is slower than that of its peers") \
FAULT(GPU_COLLECTIVE_FAILED, "gpu_collective_failed", UNKNOWN, NEVER, CHECK_LOG, \
    "Run it again with NCCL_DEBUG=INFO; check NCCL's settings, /dev/shm and locked memory.", \
    "the library of collectives of GPUs reported an error") \
FAULT(GPU_COLLECTIVE_VERSION, "gpu_collective_version", WARN, NEVER, UPDATE_SOFTWARE, \
    "Install the same NCCL on all nodes.", \
    "nodes have different versions of the library of collectives of GPUs") \
FAULT(GPU_HOST_COPIES, "gpu_host_copies", WARN, NEVER, UPDATE_SOFTWARE, \
    "Load the peer memory module of the GPU driver.", \
    "data of GPUs goes through host memory instead of directly to the NIC") \
FAULT(GRES_MISMATCH, "gres_mismatch", FAIL, HEALTH, FIX_CONFIG, \
    "Compare gres.conf and slurm.conf with the devices on the node.", \
    "gres.conf, slurm.conf and the node's devices do not agree") \
FAULT(GATE_REFUSED, "gate_refused", WARN, NEVER, MEASURE_AGAIN, \
    "Read the line for the cause; then certify the node with muster certify -w NODE.", \
    "the gate refused a job on this node since its last certificate") \
FAULT(NODE_REPORTED, "node_reported", WARN, NEVER, MEASURE_AGAIN, \
    "Run muster certify --suspects.", \
    "a user's preflight reported the node") \
/* the host */ \
FAULT(NIC_FAILED, "nic_failed", FAIL, HEALTH, REBOOT, \
    "Power-cycle the node; update the NIC's firmware, or replace the NIC, when the fault comes back.", \
    "firmware of a NIC stopped working") \
FAULT(NIC_ERRORS, "nic_errors", WARN, NEVER, CHECK_LOG, \
    "Read the kernel log; update the NIC's firmware and driver.", \
    "the driver of a NIC reported an error") \
FAULT(MEMORY_ERRORS, "memory_errors", FAIL, HEALTH, CALL_VENDOR, \
    "Find the DIMM in the kernel log and have it replaced.", \
    "host memory had an error that could not be corrected") \
FAULT(MEMORY_CORRECTED, "memory_corrected", WARN, NEVER, CALL_VENDOR, \
    "Find the DIMM in the kernel log; reseat it, and have it replaced if errors continue.", \
    "host memory corrects errors at a high rate") \
FAULT(MACHINE_CHECK, "machine_check", WARN, NEVER, CALL_VENDOR, \
    "Read the kernel log and the event log of the BMC.", \
    "a processor or the firmware reported a hardware error") \
FAULT(PCIE_ERRORS, "pcie_errors", WARN, NEVER, RESEAT, \
    "Find the device by its address with lspci; reseat it and its riser.", \
    "errors on the PCI bus") \
FAULT(DISK_FAILED, "disk_failed", FAIL, HEALTH, CALL_VENDOR, \
    "Power-cycle the node; replace the drive when it fails again.", \
    "a drive failed") \
FAULT(DISK_ERRORS, "disk_errors", WARN, NEVER, CALL_VENDOR, \
    "Read the drive's own log (smartctl, nvme smart-log); replace it when the errors come back.", \
    "a drive could not read or write, or did not answer") \
FAULT(FILESYSTEM_FAILED, "filesystem_failed", FAIL, HEALTH, CHECK_LOG, \
    "Check the drive, then the file system (fsck, xfs_repair), and mount it again.", \
    "a file system was shut down or made read-only after an error") \
FAULT(FILESYSTEM_ERRORS, "filesystem_errors", WARN, NEVER, CHECK_LOG, \
    "Check the drive, then the file system (fsck, xfs_repair).", \
    "errors of a file system") \
FAULT(MOUNT_MISSING, "mount_missing", FAIL, CERTIFY, FIX_CONFIG, \
    "Mount the file system, and find out why it was not mounted (journalctl -b, mount -a).", \
    "a file system that Mounts names is not mounted, or mounted read-only") \
FAULT(MOUNT_HANGS, "mount_hangs", UNKNOWN, NEVER, CHECK_LOG, \
    "Check the file server and the network to it first; then the client on this node.", \
    "a mounted file system does not answer") \
FAULT(DISK_FULL, "disk_full", FAIL, NEVER, FIX_CONFIG, \
    "Find what fills the file system (du -x) and remove it.", \
    "a local file system has no space or no inodes left: unknown in muster certify, a failure of a health check (/dev/shm: a warning)") \
FAULT(SERVICE_DOWN, "service_down", FAIL, CERTIFY, RESTART_SERVICE, \
    "Read the log of the service (journalctl -u), and start it again.", \
    "a service that Services names does not run") \
FAULT(JOB_RESIDUE, "job_residue", WARN, NEVER, FIX_CONFIG, \
    "Kill the processes and remove the shared memory; use proctrack/cgroup, and an Epilog that cleans up.", \
    "processes or shared memory of a job that has ended") \
FAULT(EVIDENCE_KEPT, "evidence_kept", WARN, NEVER, CHECK_LOG, \
    "Read the bundle; repair the node and certify it.", \
    "a health check found a fault since the last certificate and kept evidence of it") \
FAULT(CORE_SLOW, "core_slow", FAIL, CERTIFY, CHECK_LOG, \
    "Look for throttling in the kernel log and the BMC (heat, power, a power cap of a socket), and compare governor and BIOS with a peer.", \
    "a core computes slower than those of its peers") \
FAULT(CORE_WRONG, "core_wrong", FAIL, CERTIFY, CALL_VENDOR, \
    "Repeat with muster-host --tests=compute --times=100; have the processor replaced.", \
    "a core repeatedly computes other results than its peers: silent data corruption") \
FAULT(CPU_LIMITED, "cpu_limited", WARN, NEVER, FIX_CONFIG, \
    "Find the cgroup whose cpu.max is not max, from the job's up to that of slurmd (CPUQuota of a unit).", \
    "a CPU quota throttles the node's jobs") \
FAULT(MEMORY_SLOW, "memory_slow", FAIL, CERTIFY, RESEAT, \
    "Compare the number and speed of DIMMs with a peer (dmidecode -t memory); reseat or replace the one that is missing or slow.", \
    "memory of a NUMA node has a lower bandwidth than that of its peers") \
FAULT(DISK_SLOW, "disk_slow", WARN, NEVER, CHECK_LOG, \
    "Read the drive's own log (smartctl, nvme smart-log), look for what else uses it, and run fstrim.", \
    "a local disk is slower than those of its peers") \
FAULT(KERNEL_TAINTED, "kernel_tainted", WARN, NEVER, REBOOT, \
    "Read the kernel log for the error; reboot the node when no job needs it.", \
    "the kernel has had an oops, a lockup, a bad page or a machine check since boot") \
FAULT(TASK_HUNG, "task_hung", WARN, NEVER, CHECK_LOG, \
    "Look for the file system or device that the process waits for.", \
    "a process was blocked in the kernel for minutes") \
FAULT(KERNEL_ERROR, "kernel_error", WARN, NEVER, CHECK_LOG, \
    "Read the kernel log; reboot the node when no job needs it.", \
    "an error inside the kernel, or a processor that was stuck in it") \
FAULT(SYSTEM_PROCESS_KILLED, "system_process_killed", WARN, NEVER, FIX_CONFIG, \
    "Limit the memory of jobs (ConstrainRAMSpace), and look whether the service runs again.", \
    "the kernel killed a process of root because memory ran out") \
FAULT(HOST_HOT, "host_hot", WARN, NEVER, CHECK_LOG, \
    "Check fans, airflow and the temperature of the room.", \
    "the processors or the node are too hot") \
FAULT(KERNEL_LOG_FAULT, "kernel_log_fault", FAIL, HEALTH, CHECK_LOG, \
    "Read the entry; KernelLog in muster.conf says that it drains the node.", \
    "the kernel log has an entry that the site drains nodes for") \
FAULT(MEMLOCK_LOW, "memlock_low", FAIL, CERTIFY, FIX_CONFIG, \
    "Set LimitMEMLOCK in slurmd's unit and PropagateResourceLimitsExcept=MEMLOCK in slurm.conf.", \
    "less locked memory than RDMA needs") \
FAULT(OPEN_FILES_LOW, "open_files_low", WARN, NEVER, FIX_CONFIG, \
    "Set LimitNOFILE in slurmd's unit.", \
    "fewer open files than large jobs over sockets need") \
FAULT(SHARED_MEMORY_LOW, "shared_memory_low", FAIL, CERTIFY, FIX_CONFIG, \
    "Increase the size of /dev/shm.", \
    "/dev/shm is missing or too small") \
FAULT(RDMA_DEVICE_MISSING, "rdma_device_missing", FAIL, CERTIFY, FIX_CONFIG, \
    "Load the kernel module ib_uverbs.", \
    "RDMA ports have no device files") \
FAULT(LIMIT_LOW, "limit_low", FAIL, CERTIFY, FIX_CONFIG, \
    "Raise the limit where slurmd gets it: slurmd's unit or limits.conf.", \
    "a limit of processes is too low") \
FAULT(MUNGE_FAILED, "munge_failed", FAIL, CERTIFY, RESTART_SERVICE, \
    "Compare the node's MUNGE key and clock with the controller's; restart munged.", \
    "MUNGE did not make or decode a credential") \
FAULT(CLOCK_OFF, "clock_off", FAIL, CERTIFY, RESTART_SERVICE, \
    "Check the node's time service.", \
    "the clock is off by more than ClockOffset") \
FAULT(CONFIG_DIFFERS, "config_differs", WARN, NEVER, FIX_CONFIG, \
    "Give the node the setting or version of the other nodes.", \
    "a setting or version differs from the other nodes") \
FAULT(HOSTS_DIFFER, "hosts_differ", WARN, NEVER, FIX_CONFIG, \
    "Give all nodes the same /etc/hosts.", \
    "nodes resolve the same name to different addresses") \
/* processes and MPI */ \
FAULT(NODE_UNREACHABLE, "node_unreachable", FAIL, CERTIFY, REBOOT, \
    "Check that the node and its slurmd run and can be reached; then read the node's kernel log.", \
    "the node or its slurmd does not answer") \
FAULT(NODE_FROZEN, "node_frozen", FAIL, CERTIFY, REBOOT, \
    "Check the node's console: its processes do not run; reboot it.", \
    "a process stopped responding: the node is frozen or cut off") \
FAULT(RANKS_MISSING, "ranks_missing", FAIL, CERTIFY, CHECK_LOG, \
    "Read slurmd's log on the node.", \
    "a node takes part with another number of ranks than expected, or not at all") \
FAULT(PROCESS_DIED, "process_died", FAIL, CERTIFY, CHECK_LOG, \
    "Read the node's kernel log for the reason: out of memory, a signal, a device.", \
    "a process of a test died") \
FAULT(PROCESS_HUNG, "process_hung", FAIL, CERTIFY, REBOOT, \
    "Read the node's kernel log; reboot the node when its processes cannot be ended.", \
    "a process of a test made no progress while the others waited for it") \
FAULT(PROCESS_SLOW, "process_slow", UNKNOWN, NEVER, MEASURE_AGAIN, \
    "Measure again when the nodes are idle.", \
    "processes of a test were not scheduled often enough") \
FAULT(PROCESS_FAULT, "process_fault", FAIL, CERTIFY, CHECK_LOG, \
    "Read the message and slurmd's log on the node.", \
    "a process of a test could not continue") \
FAULT(JOB_HUNG, "job_hung", FAIL, NEVER, CHECK_LOG, \
    "Look at the rank or node that the message names; else take the stacks of all ranks, by py-spy or gdb.", \
    "a running job stopped making progress") \
FAULT(RANK_HUNG, "rank_hung", FAIL, NEVER, CHECK_LOG, \
    "Look at that process and at the node's kernel log; find out whether a user or a tool stopped it.", \
    "a rank of a running job does not continue while the others wait for it") \
FAULT(RANK_STRAGGLES, "rank_straggles", WARN, NEVER, MEASURE_AGAIN, \
    "Check what that rank does; muster preflight tests its node when the job is over.", \
    "a rank or node of a running job behaves differently from all others") \
FAULT(RAIL_STRAGGLES, "rail_straggles", WARN, NEVER, MEASURE_AGAIN, \
    "Read the counters of the rail and of its switch port; muster preflight measures it when the job is over.", \
    "a rail carries much less of a running job's data than its peers") \
FAULT(PROCESS_UNWATCHED, "process_unwatched", WARN, NEVER, FIX_CONFIG, \
    "Open TCP between the nodes, and check ManagementInterface.", \
    "a rank reaches rank 0 by MPI but not by TCP") \
FAULT(LAUNCH_FAILED, "launch_failed", FAIL, CERTIFY, CHECK_LOG, \
    "Read slurmd's log on the node, and check that its file systems answer.", \
    "an MPI job did not start") \
FAULT(DATA_DAMAGED, "data_damaged", FAIL, CERTIFY, CALL_VENDOR, \
    "Test the node's memory and NIC, and replace the cable: data was altered on the way.", \
    "data was corrupted in transit") \
FAULT(TRANSPORT_FALLBACK, "transport_fallback", WARN, NEVER, FIX_CONFIG, \
    "Check UCX_TLS, OMPI_MCA_pml, OMPI_MCA_btl and the like, and how MPI was built.", \
    "MPI used TCP although RDMA is available") \
FAULT(RESULT_WRONG, "result_wrong", FAIL, CERTIFY, CALL_VENDOR, \
    "Test the node's memory, GPU and NIC: its part of a collective was wrong.", \
    "a collective had a wrong result") \
FAULT(TRAINING_WRONG, "training_wrong", FAIL, CERTIFY, CALL_VENDOR, \
    "Test the node's memory, processor and GPU: it computed wrongly.", \
    "training did not reach the expected loss or state") \
FAULT(TRAINING_DIFFERS, "training_differs", WARN, NEVER, CALL_VENDOR, \
    "Compare the processors of the nodes; if they are the same model, one computes wrongly.", \
    "parameters of ranks are not bitwise equal") \
FAULT(TRAINING_SLOW, "training_slow", WARN, NEVER, CHECK_LOG, \
    "Look for a busy or throttled processor or GPU.", \
    "a rank trains more slowly than the others") \
/* links */ \
FAULT(RAIL_SLOW, "rail_slow", FAIL, CERTIFY, REPLACE_CABLE, \
    "Move the cable to another switch port and measure again: if the fault stays, replace the NIC; if it goes, the cable or the port.", \
    "a rail of a node is slower than its nominal speed, its peers or its past") \
FAULT(NODE_SLOW, "node_slow", FAIL, CERTIFY, CHECK_LOG, \
    "Compare the node's BIOS, PCIe and power settings with a node that passed; then its cables.", \
    "all rails of a node are slow") \
FAULT(HOST_SLOW, "host_slow", FAIL, CERTIFY, CHECK_LOG, \
    "Check the node's PCIe switches, memory and processor: its rails are good one at a time.", \
    "the rails of a node are good one at a time and slow together") \
FAULT(LATENCY_HIGH, "latency_high", WARN, NEVER, FIX_CONFIG, \
    "Look for a busy core, power saving or another path of this NIC.", \
    "the latency of a rail is higher than that of its peers") \
FAULT(RAIL_NOT_MEASURED, "rail_not_measured", UNKNOWN, NEVER, MEASURE_AGAIN, \
    "Check the rail's link and address, and measure again.", \
    "a rail, or one of its directions, was not measured") \
FAULT(RAIL_FAULT, "rail_fault", FAIL, CERTIFY, REPLACE_CABLE, \
    "Check the NIC's link, address and driver.", \
    "a rail could not be used") \
FAULT(RAIL_WRONG_PATH, "rail_wrong_path", FAIL, CERTIFY, FIX_CONFIG, \
    "Check the NIC's link, address, routes and driver.", \
    "traffic of a rail bypassed its NIC") \
FAULT(RAIL_WRONG_KIND, "rail_wrong_kind", FAIL, CERTIFY, FIX_CONFIG, \
    "Give the rail the transport of the other nodes.", \
    "a rail has a different transport than on the other nodes") \
FAULT(RAIL_UNEVEN, "rail_uneven", WARN, NEVER, FIX_CONFIG, \
    "Repair the slow rail, or leave it out of FabricInterfaces.", \
    "a rail is so slow that sharing messages over all rails costs bandwidth") \
FAULT(REPORT_INCONSISTENT, "report_inconsistent", UNKNOWN, NEVER, CHECK_LOG, \
    "Check the node's clock and load, and measure again.", \
    "the figures of a node contradict those of its partners") \
FAULT(PATH_SLOW, "path_slow", FAIL, NEVER, CHECK_SWITCH, \
    "Check what only this pair shares: a cable or port between its switches, or their routes. Neither node is at fault.", \
    "the path between two good nodes is slow") \
FAULT(RAIL_OR_PATH_SLOW, "rail_or_path_slow", UNKNOWN, NEVER, MEASURE_AGAIN, \
    "Measure again with another node that is good: a rail or the path to its partner is slow.", \
    "a rail, or the path to its partner, is slow") \
FAULT(UPLINK_SLOW, "uplink_slow", FAIL, NEVER, CHECK_SWITCH, \
    "Check the cables and ports between these two leaf switches. The nodes behind them are not at fault.", \
    "the path between two leaf switches is slow") \
FAULT(LEAF_SLOW, "leaf_slow", FAIL, NEVER, CHECK_SWITCH, \
    "Check the leaf switch: all of its nodes are slow.", \
    "all nodes of a leaf switch are slow") \
FAULT(NETWORK_SLOW, "network_slow", FAIL, NEVER, CHECK_SWITCH, \
    "Check the rail's switches, the MTU and the negotiated speed before any node.", \
    "a rail is slow on most nodes") \
FAULT(PACKET_LOSS, "packet_loss", FAIL, CERTIFY, REPLACE_CABLE, \
    "Clean and reseat the cable, change the transceiver, check the error counters of the switch port.", \
    "a rail loses or damages packets") \
FAULT(PATH_LOSS, "path_loss", FAIL, NEVER, CHECK_SWITCH, \
    "Check the cables and ports between the switches of the two nodes, and flow control (PFC).", \
    "the path between two nodes loses packets") \
FAULT(UPLINK_LOSS, "uplink_loss", FAIL, NEVER, CHECK_SWITCH, \
    "Check the cables and ports between these two leaf switches. The nodes behind them are not at fault.", \
    "the path between two leaf switches loses packets") \
FAULT(LEAF_LOSS, "leaf_loss", FAIL, NEVER, CHECK_SWITCH, \
    "Check the leaf switch: all of its nodes lose packets.", \
    "all nodes of a leaf switch lose packets") \
FAULT(NETWORK_LOSS, "network_loss", FAIL, NEVER, CHECK_SWITCH, \
    "Look for congestion and flow control (PFC) of the rail's switches.", \
    "a rail loses packets on most nodes") \
FAULT(PATH_MTU_LOW, "path_mtu_low", FAIL, CERTIFY, FIX_CONFIG, \
    "Check the MTU of the other end and of the switches between.", \
    "packets as long as the MTU do not arrive") \
/* topology */ \
FAULT(NODE_MISPLACED, "node_misplaced", FAIL, CERTIFY, FIX_CONFIG, \
    "Compare the node's cables with topology.conf, and correct the one that is wrong.", \
    "a cable or node is under another switch than topology.conf says") \
FAULT(RAILS_CROSSED, "rails_crossed", FAIL, CERTIFY, REPLACE_CABLE, \
    "Exchange the two cables.", \
    "two rails of a node are swapped") \
FAULT(NOT_IN_NETWORK, "not_in_network", FAIL, NEVER, RESEAT, \
    "Reseat the cable; check the transceiver and the switch port.", \
    "a node or rail that is expected is not in the network") \
FAULT(UPLINKS_MISSING, "uplinks_missing", FAIL, NEVER, CHECK_SWITCH, \
    "Compare the switch's uplinks with those of its peers.", \
    "a switch has fewer or other uplinks than its peers") \
FAULT(LINK_DEGRADED, "link_degraded", FAIL, CERTIFY, RESEAT, \
    "Reseat the cable; check the transceiver and the switch port.", \
    "a link of the network is narrower or slower than its peers") \
FAULT(TOPOLOGY_CONF_WRONG, "topology_conf_wrong", FAIL, NEVER, FIX_CONFIG, \
    "Correct topology.conf.", \
    "topology.conf is inconsistent, or does not match the network") \
FAULT(NAMES_ALIKE, "names_alike", WARN, NEVER, FIX_CONFIG, \
    "Give each adapter the name of its node.", \
    "adapters have the names of other adapters") \
/* muster's own */ \
FAULT(CERTIFICATE_FAILED, "certificate_failed", UNKNOWN, NEVER, CHECK_LOG, \
    "Check MUNGE and the free space under /var on the node.", \
    "a certificate is missing or not valid, or could not be written")
/* clang-format on */

#endif
