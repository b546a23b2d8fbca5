/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_CONSTANTS_H
#define MUSTER_BATTERY_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define BATTERY_CONSTANTS(ROW) \
/* collectives */ \
ROW(real, COLLECTIVES_CASES_SHARE, 1.0 / 3, "of the time limit", "chosen 2026-11", "share of the time limit for the test cases") \
ROW(real, COLLECTIVES_COMMS_SHARE, 2.0 / 3, "of the time limit", "chosen 2026-11", "share of the time limit after which no further communicator is tested") \
/* verbs */ \
ROW(real, FLOW_LINGER_S, 0.005, "s", "chosen 2026-11", "how long the server looks for more data after some arrived") \
ROW(real, FLOW_UNDER_WAY_S, 0.1, "s", "chosen 2026-11", "most data in flight, as time of a stream at full rate") \
ROW(real, FLOW_RESEND_S, 0.2, "s", "chosen 2026-11", "time without an answer after which a control message is sent again") \
/* accelerators */ \
ROW(integer, GPU_DEVICES_MOST, 128, "devices", "standard 2026-11: NVIDIA MIG, 7 instances on each of 16 GPUs; AMD CPX mode, 8 devices on each of 8", "most devices of a node that are tested") \
ROW(integer, GPU_PEERS_MOST, 15, "devices", "chosen 2026-11", "most peers with which a device copies and does an allreduce: all others of 16; the time for more grows with the devices, not with their square") \
ROW(integer, GPU_OPEN_LIMIT, 3, "deadlines", "chosen 2026-11", "time limit to open libraries, in deadlines: they may be on a slow file system") \
ROW(integer, GPU_KEPT_LIMIT, 3, "deadlines", "chosen 2026-11", "most extra deadlines of a device's process that other processes keep from running") \
ROW(integer, GPU_REPEAT_S, 60, "s", "chosen 2026-11", "time for the repeated arithmetic in all") \
ROW(integer, GPU_TIMED_MS, 20, "ms", "chosen 2026-11", "device time per figure, by the device's own events") \
ROW(integer, GPU_WAIT_MS, 200, "ms", "chosen 2026-11", "interval of checks for late workers") \
ROW(integer, GPU_REAP_MS, 200, "ms", "chosen 2026-11", "time limit for a killed worker to end") \
/* links */ \
ROW(real, VERBS_LOSS_LIMIT, 1e-4, "of the packets", "standard 2026-11: Mittal et al., Revisiting Network Support for RDMA, SIGCOMM 2018, section 4.3", "highest loss that passes: one in 10,000 costs RDMA over Ethernet some percent") \
ROW(real, PAIR_LATE_S, 1.5, "s", "chosen 2026-11", "how late counters may be: they are read again until then") \
ROW(integer, CONTROL_CONNECT_MS, 2000, "ms", "chosen 2026-11", "time limit to connect to a partner: well before ranks that wait for all to begin give up (timeout_s)") \
ROW(integer, CONTROL_ANSWER_MS, 2000, "ms", "chosen 2026-11", "time limit for the partner's answer after that") \
ROW(integer, CONTROL_MEET_S, 5, "s", "chosen 2026-11", "time limit for two partners to meet") \
ROW(integer, CONTROL_REST_MS, 50, "ms", "chosen 2026-11", "pause between two attempts to meet") \
ROW(integer, CONTROL_LOST_MS, 250, "ms", "chosen 2026-11", "interval at which a wait checks whether the other end was given up; anything else wakes it") \
ROW(integer, PROBE_TIMES, 3, "times", "chosen 2026-11", "how often frames as long as the MTU are sent before they count as lost") \
ROW(real, PROBE_WAIT_S, 0.5, "s", "chosen 2026-11", "time limit for messages that should have arrived: after a failure nothing takes time") \
ROW(real, PATH_WARMUP_MOST_S, 0.25, "s", "chosen 2026-11", "longest warmup of a stream before it is measured") \
ROW(real, PATH_READING_S, 2e-3, "s", "chosen 2026-11", "longest time to read a counter whose value is used: a longer one was interrupted") \
ROW(real, CHANNEL_PAUSE_S, 0.01, "s", "chosen 2026-11", "pause that the buffers of sockets and NICs bridge") \
ROW(real, PING_POLL_S, 20e-6, "s", "chosen 2026-11", "longest normal poll for an answer: a longer one is a pause of the process") \
ROW(integer, CHANNEL_SLEEP_MS, 100, "ms", "chosen 2026-11", "length of a sleep while nothing is measured") \
ROW(integer, CHANNEL_STREAM_SLEEP_MS, 5, "ms", "chosen 2026-11", "length of a sleep in a stream: shorter than CHANNEL_PAUSE_S, so that it is no pause itself") \
ROW(real, CHANNEL_STREAM_POLL_S, 20e-6, "s", "chosen 2026-11", "how long to poll for TCP's next bytes before sleeping") \
ROW(real, SAMPLES_TIGHT_SHARE, 0.05, "of the median", "chosen 2026-11", "width of the confidence interval at which no more samples are taken") \
ROW(real, SAMPLES_DEVIATION_LEAST_SHARE, 0.05, "of the median", "chosen 2026-11", "least deviation by which outliers are recognized") \
/* muster-host */ \
ROW(real, GPU_RATE_LEAST_SHARE, 0.85, "ratio", "chosen 2026-11", "least compute rate, of the median of the peers: devices of one model differ by 5 to 10 % in clock under a power limit (Sinha et al., SC'22)") \
ROW(real, GPU_RATE_TOGETHER_LEAST_SHARE, 0.8, "ratio", "chosen 2026-11", "least compute rate while all devices of the node compute, of the median of the peers") \
ROW(real, GPU_MEMORY_LEAST_SHARE, 0.9, "ratio", "chosen 2026-11", "least memory bandwidth, of the median of the peers: memory does not differ as clocks do") \
ROW(real, GPU_MEMORY_TOGETHER_LEAST_SHARE, 0.85, "ratio", "chosen 2026-11", "least memory bandwidth while all devices of the node copy, of the median of the peers") \
ROW(real, GPU_HOST_PATH_LEAST_SHARE, 0.7, "ratio", "chosen 2026-11", "least rate of copies between host and device, of the median of the peers") \
ROW(real, GPU_PEER_LEAST_SHARE, 0.7, "ratio", "chosen 2026-11", "least rate of a path between two devices, of its reference") \
ROW(real, GPU_NIC_LEAST_SHARE, 0.5, "ratio", "chosen 2026-11", "least rate of an RDMA port to or from a device near it, of its rate in host memory") \
ROW(real, GPU_COLLECTIVE_LEAST_SHARE, 0.85, "ratio", "chosen 2026-11", "least rate of a collective, of the median of nodes with as many devices") \
ROW(real, HOST_CORE_LEAST_SHARE, 0.75, "ratio", "chosen 2026-11", "least rate of a core, of the median of the peers' cores: all cores of a model reach one clock; one at half its clock has 0.5") \
ROW(real, HOST_MEMORY_LEAST_SHARE, 0.9, "ratio", "chosen 2026-11", "least memory bandwidth of a NUMA node, of the median of the peers, as for GPU memory: one lost memory channel of eight leaves 0.875") \
ROW(real, HOST_DISK_LEAST_SHARE, 0.5, "ratio", "chosen 2026-11", "least rate of a disk, of the median of the peers, which differ by age and content") \
ROW(real, HOST_STALLED_MOST_SHARE, 0.05, "of the time", "chosen 2026-11", "share of the time that the threads of a low figure were kept from running, above which the figure is not used") \
ROW(real, HOST_QUOTA_MOST_SHARE, 0.05, "of the time", "chosen 2026-11", "share of the time that a CPU quota of the cgroup throttled the program, above which it warns") \
ROW(integer, HOST_REPEATS, 60, "repeats", "chosen 2026-11", "repeats of the kernel on each core, 3 ms each at 3 GHz") \
ROW(integer, HOST_QUICK_REPEATS, 10, "repeats", "chosen 2026-11", "repeats of the kernel on each core with --quick") \
ROW(integer, HOST_AGAIN_REPEATS, 60, "repeats", "chosen 2026-11", "repeats on a core that was low or had another result") \
ROW(real, HOST_TRIAD_S, 0.1, "s", "chosen 2026-11", "length of a round of STREAM's triad") \
ROW(integer, HOST_TRIAD_ROUNDS, 3, "rounds", "chosen 2026-11", "rounds of STREAM's triad, of which the best counts") \
ROW(integer, HOST_CACHE_TIMES, 4, "ratio", "standard 2026-11: STREAM's run rules", "size of each of STREAM's arrays, in last-level caches of the NUMA node") \
ROW(real, HOST_MEMORY_FREE_SHARE, 0.5, "ratio", "chosen 2026-11", "share of the free memory for all arrays of the node") \
ROW(integer, HOST_DISK_MIB, 256, "MiB", "chosen 2026-11", "size of the file of the disk test") \
ROW(integer, HOST_DISK_FREE_TIMES, 4, "ratio", "chosen 2026-11", "least free space for the disk test, in sizes of its file") \
ROW(real, HOST_DISK_S, 1, "s", "chosen 2026-11", "most time for each of writing, reading and small reads") \
ROW(integer, HOST_TURNS_MOST, 8, "nodes", "chosen 2026-11", "most nodes of one machine that are measured, one after the other") \
ROW(real, HOST_POLL_S, 0.02, "s", "chosen 2026-11", "interval of checks whether the threads of a measurement are done")
/* clang-format on */
BATTERY_CONSTANTS(CONSTANT_DEFINE)

#endif
