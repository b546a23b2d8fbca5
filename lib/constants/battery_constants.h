/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_CONSTANTS_H
#define MUSTER_BATTERY_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define BATTERY_CONSTANTS(ROW) \
/* collectives */ \
ROW(real, COLLECTIVES_CASES_SHARE, 1.0 / 3, "of the time limit", "chosen 2026-11", "for the cases") \
ROW(real, COLLECTIVES_COMMS_SHARE, 2.0 / 3, "of the time limit", "chosen 2026-11", "until when further communicators are begun") \
/* verbs */ \
ROW(real, FLOW_LINGER_S, 0.005, "s", "chosen 2026-11", "the server looks for more after something came") \
ROW(real, FLOW_UNDER_WAY_S, 0.1, "s", "chosen 2026-11", "of a stream at full rate may be under way") \
ROW(real, FLOW_RESEND_S, 0.2, "s", "chosen 2026-11", "without an answer, and a word is sent again") \
/* accelerators */ \
ROW(integer, GPU_DEVICES_MOST, 128, "devices", "standard 2026-11: NVIDIA MIG, 7 instances on each of 16 GPUs; AMD CPX mode, 8 devices on each of 8", "of a node are tested") \
ROW(integer, GPU_PEERS_MOST, 15, "devices", "chosen 2026-11", "with each of which a device copies and does an all-reduce: all others of 16; the time of more grows with the devices, not with their square") \
ROW(integer, GPU_OPEN_LIMIT, 3, "deadlines", "chosen 2026-11", "for libraries to open: they may come from a slow file system") \
ROW(integer, GPU_KEPT_LIMIT, 3, "deadlines", "chosen 2026-11", "more, at most, for a device's process that other processes keep from the processors") \
ROW(integer, GPU_REPEAT_S, 60, "s", "chosen 2026-11", "for the arithmetic that is repeated, in all") \
ROW(integer, GPU_TIMED_MS, 20, "ms", "chosen 2026-11", "of the device, for one figure: times come from its own events") \
ROW(integer, GPU_WAIT_MS, 200, "ms", "chosen 2026-11", "between looks for workers that are late") \
ROW(integer, GPU_REAP_MS, 200, "ms", "chosen 2026-11", "for a killed worker to die") \
/* links */ \
ROW(real, VERBS_LOSS_LIMIT, 1e-4, "of the packets", "standard 2026-11: Mittal et al., Revisiting Network Support for RDMA, SIGCOMM 2018, section 4.3", "may be lost: one in 10,000 costs RDMA over Ethernet some percent of its speed, as all behind it is sent again") \
ROW(real, PAIR_LATE_S, 1.5, "s", "chosen 2026-11", "counters may be late: they are read again until then") \
ROW(integer, CONTROL_CONNECT_MS, 2000, "ms", "chosen 2026-11", "to connect to a partner: well before those who wait for all to begin give up (timeout_s)") \
ROW(integer, CONTROL_ANSWER_MS, 2000, "ms", "chosen 2026-11", "for its answer then") \
ROW(integer, CONTROL_MEET_S, 5, "s", "chosen 2026-11", "two partners meet, or give up") \
ROW(integer, CONTROL_REST_MS, 50, "ms", "chosen 2026-11", "between tries to meet") \
ROW(integer, CONTROL_LOST_MS, 250, "ms", "chosen 2026-11", "a wait looks so often whether the other end was given up: all else wakes it") \
ROW(integer, PROBE_TIMES, 3, "times", "chosen 2026-11", "frames of the MTU are sent before they count as lost") \
ROW(real, PROBE_WAIT_S, 0.5, "s", "chosen 2026-11", "for messages that should have come: after a failure nothing took any time") \
ROW(real, PATH_WARMUP_MOST_S, 0.25, "s", "chosen 2026-11", "of a stream before it is measured, at most") \
ROW(real, PATH_READING_S, 2e-3, "s", "chosen 2026-11", "a reading of a counter that took longer tells of no moment: others were let run") \
ROW(real, CHANNEL_PAUSE_S, 0.01, "s", "chosen 2026-11", "buffers of sockets and NICs carry a link over such a pause") \
ROW(real, PING_POLL_S, 20e-6, "s", "chosen 2026-11", "one look for an answer takes less: longer is a pause of the process") \
ROW(integer, CHANNEL_SLEEP_MS, 100, "ms", "chosen 2026-11", "one sleep while nothing is measured") \
ROW(integer, CHANNEL_STREAM_SLEEP_MS, 5, "ms", "chosen 2026-11", "one sleep in a stream: shorter than that pause, so that it is none itself") \
ROW(real, CHANNEL_STREAM_POLL_S, 20e-6, "s", "chosen 2026-11", "TCP's next bytes are worth a poll for so long") \
ROW(real, SAMPLES_TIGHT_SHARE, 0.05, "of the median", "chosen 2026-11", "an interval of confidence so narrow is enough") \
ROW(real, SAMPLES_DEVIATION_LEAST_SHARE, 0.05, "of the median", "chosen 2026-11", "the deviation by which outliers are counted, at least") \
/* muster-host */ \
ROW(real, GPU_RATE_LEAST_SHARE, 0.85, "ratio", "chosen 2026-11", "of the median of its peers: devices of one model differ by 5 to 10 % in clock under a power limit (Sinha et al., SC'22)") \
ROW(real, GPU_RATE_TOGETHER_LEAST_SHARE, 0.8, "ratio", "chosen 2026-11", "the same while all devices of the node compute") \
ROW(real, GPU_MEMORY_LEAST_SHARE, 0.9, "ratio", "chosen 2026-11", "of the median of its peers: memory does not differ as clocks do") \
ROW(real, GPU_MEMORY_TOGETHER_LEAST_SHARE, 0.85, "ratio", "chosen 2026-11", "the same while all devices of the node copy") \
ROW(real, GPU_HOST_PATH_LEAST_SHARE, 0.7, "ratio", "chosen 2026-11", "of the median of its peers, of copies between host and device") \
ROW(real, GPU_PEER_LEAST_SHARE, 0.7, "ratio", "chosen 2026-11", "of its reference, of a path between two devices") \
ROW(real, GPU_NIC_LEAST_SHARE, 0.5, "ratio", "chosen 2026-11", "of what an RDMA port does in host memory, to or from a device near it") \
ROW(real, GPU_COLLECTIVE_LEAST_SHARE, 0.85, "ratio", "chosen 2026-11", "of the median of nodes with as many devices, of a collective") \
ROW(real, HOST_CORE_LEAST_SHARE, 0.75, "ratio", "chosen 2026-11", "of the median of its peers' cores: all cores of a model reach one clock, one at half its clock 0.5") \
ROW(real, HOST_MEMORY_LEAST_SHARE, 0.9, "ratio", "chosen 2026-11", "of the median of its peers' NUMA nodes, as of GPU memory: one of eight memory channels lost is 0.875") \
ROW(real, HOST_DISK_LEAST_SHARE, 0.5, "ratio", "chosen 2026-11", "of the median of its peers' disks, which differ by age and by what is on them") \
ROW(real, HOST_STALLED_MOST_SHARE, 0.05, "of the time", "chosen 2026-11", "that a low figure's threads were kept from running, above which it tells nothing") \
ROW(real, HOST_QUOTA_MOST_SHARE, 0.05, "of the time", "chosen 2026-11", "that a CPU quota of the cgroup held the program back, above which there is a warning") \
ROW(integer, HOST_REPEATS, 60, "repeats", "chosen 2026-11", "of the kernel on each core, 3 ms each at 3 GHz") \
ROW(integer, HOST_QUICK_REPEATS, 10, "repeats", "chosen 2026-11", "the same with --quick") \
ROW(integer, HOST_AGAIN_REPEATS, 60, "repeats", "chosen 2026-11", "on a core that was low or had another result") \
ROW(real, HOST_TRIAD_S, 0.1, "s", "chosen 2026-11", "a round of STREAM's triad") \
ROW(integer, HOST_TRIAD_ROUNDS, 3, "rounds", "chosen 2026-11", "of it, the best counts") \
ROW(integer, HOST_CACHE_TIMES, 4, "ratio", "standard 2026-11: STREAM's run rules", "size of each of its arrays, of the last-level caches of the NUMA node") \
ROW(real, HOST_MEMORY_FREE_SHARE, 0.5, "ratio", "chosen 2026-11", "of the memory that is free, for all arrays of the node") \
ROW(integer, HOST_DISK_MIB, 256, "MiB", "chosen 2026-11", "the file of the disk test") \
ROW(integer, HOST_DISK_FREE_TIMES, 4, "ratio", "chosen 2026-11", "free space, of that file, without which the disk is not tested") \
ROW(real, HOST_DISK_S, 1, "s", "chosen 2026-11", "each of writing, reading and small reads, at most") \
ROW(integer, HOST_TURNS_MOST, 8, "nodes", "chosen 2026-11", "of one machine that are measured, one after the other") \
ROW(real, HOST_POLL_S, 0.02, "s", "chosen 2026-11", "between looks whether the threads of a measurement are done")
/* clang-format on */
BATTERY_CONSTANTS(CONSTANT_DEFINE)

#endif
