/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WATCH_CONSTANTS_H
#define MUSTER_WATCH_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define WATCH_CONSTANTS(ROW) \
ROW(real, WATCH_PAUSES, 3, "ratio", "chosen 2026-11", "pause that is a hang, in the longest pauses that the job made before, where that is longer") \
ROW(real, WATCH_RECENT_S, 10, "s", "chosen 2026-11", "time over which shares of processors and rails are taken") \
ROW(real, WATCH_STOPPED_S, 5, "s", "chosen 2026-11", "time for which a rank is stopped, blocked or gone until that counts") \
ROW(real, WATCH_SILENT_S, 10, "s", "chosen 2026-11", "time without a sample of a node, besides three intervals, after which it is silent") \
ROW(real, WATCH_QUIET_MBPS, 0.5, "Mb/s", "chosen 2026-11", "traffic of a node's rails below which there are only heartbeats and services, not the job's data") \
ROW(real, WATCH_IDLE_LIMIT, 0.1, "ratio", "chosen 2026-11", "share of a processor below which a rank sleeps") \
ROW(real, WATCH_BUSY_LIMIT, 0.5, "ratio", "chosen 2026-11", "share of a processor above which a rank works or polls") \
ROW(real, WATCH_QUEUED_LIMIT, 0.25, "ratio", "chosen 2026-11", "share of its time that a rank waits for a processor above which the machine is busy") \
ROW(real, WATCH_RAIL_LIMIT, 0.5, "ratio", "chosen 2026-11", "share of the traffic of the node's other rails below which a rail carries too little") \
ROW(real, WATCH_RAIL_PEERS, 0.7, "ratio", "chosen 2026-11", "share above which the rail is good on a node: with enough such nodes, a rail that carries too little is at fault") \
ROW(integer, WATCH_LINK_ERRORS, 10, "count", "chosen 2026-11", "damaged frames of a rail while it is watched that are too many: a few are normal") \
ROW(real, WATCH_FLOWS_S, 30, "s", "chosen 2026-11", "time over which rates of TCP connections are taken, and longer for WATCH_FLOW_WINDOW samples") \
ROW(integer, WATCH_FLOW_WINDOW, 15, "samples", "chosen 2026-11", "least samples over which rates of TCP connections are taken") \
ROW(integer, WATCH_FLOW_SAMPLES, 8, "samples", "chosen 2026-11", "least samples of a connection for a rate") \
ROW(integer, WATCH_FLOW_BYTES, 100000, "bytes", "chosen 2026-11", "least data that a connection sends between two samples for a new rate") \
ROW(real, WATCH_RAS_S, 10, "s", "chosen 2026-11", "interval of queries to NCCL, and time for which it names the same rank until that counts") \
ROW(real, WATCH_RAS_DEADLINE_S, 6, "s", "chosen 2026-11", "time limit for NCCL's answer: it waits 2 s for a process that does not answer, and as long again") \
ROW(integer, WATCH_RAS_BYTES, 64 << 20, "bytes", "chosen 2026-11", "most bytes of NCCL's answer: a rank takes 600 in each of its communicators, which for 12,000 ranks in 8 are 58 MB") \
ROW(integer, WATCH_RAS_COMMS, 32, "communicators", "chosen 2026-11", "most communicators in a sample, of those with a missing rank, and of those with a rank behind") \
ROW(real, WATCH_MOST_S, 366 * 86400.0, "s", "chosen 2026-11", "longest time that a job is watched") \
ROW(integer, WATCH_GRACE_S, 5, "s", "chosen 2026-11", "time between SIGTERM and SIGKILL of the step") \
ROW(integer, WATCH_REPORT_S, 30, "s", "chosen 2026-11", "time limit to leave suspect reports")
/* clang-format on */
WATCH_CONSTANTS(CONSTANT_DEFINE)

#endif
