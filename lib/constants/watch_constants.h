/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WATCH_CONSTANTS_H
#define MUSTER_WATCH_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define WATCH_CONSTANTS(ROW) \
ROW(real, WATCH_PAUSES, 3, "ratio", "chosen 2026-11", "of the longest pause that the job made before, where that is longer") \
ROW(real, WATCH_RECENT_S, 10, "s", "chosen 2026-11", "that shares of processors and rails are taken over") \
ROW(real, WATCH_STOPPED_S, 5, "s", "chosen 2026-11", "that a rank is seen stopped, blocked or gone until that counts") \
ROW(real, WATCH_SILENT_S, 10, "s", "chosen 2026-11", "without a sample of a node, besides three intervals") \
ROW(real, WATCH_QUIET_MBPS, 0.5, "Mb/s", "chosen 2026-11", "of a node's rails: less is heartbeats and services, not the job's data") \
ROW(real, WATCH_IDLE_LIMIT, 0.1, "ratio", "chosen 2026-11", "of a processor: who uses less, sleeps") \
ROW(real, WATCH_BUSY_LIMIT, 0.5, "ratio", "chosen 2026-11", "of a processor: who uses more, works or polls") \
ROW(real, WATCH_QUEUED_LIMIT, 0.25, "ratio", "chosen 2026-11", "of its time that a rank waits for a processor: more is a busy machine") \
ROW(real, WATCH_RAIL_LIMIT, 0.5, "ratio", "chosen 2026-11", "of the other rails of the node, that a rail carries: less is too little") \
ROW(real, WATCH_RAIL_PEERS, 0.7, "ratio", "chosen 2026-11", "the same, on nodes where that rail is as the others") \
ROW(integer, WATCH_LINK_ERRORS, 10, "count", "chosen 2026-11", "damaged frames of a rail while it is watched: a few are normal") \
ROW(real, WATCH_FLOWS_S, 20, "s", "chosen 2026-11", "that rates of TCP connections are taken over") \
ROW(integer, WATCH_FLOW_SAMPLES, 3, "samples", "chosen 2026-11", "of a connection: fewer are no rate") \
ROW(integer, WATCH_FLOW_BYTES, 100000, "bytes", "chosen 2026-11", "that a connection sends between two samples: with less its rate is that of before") \
ROW(real, WATCH_RAS_S, 10, "s", "chosen 2026-11", "between two questions to NCCL, and that it names the same rank until that counts") \
ROW(real, WATCH_RAS_DEADLINE_S, 6, "s", "chosen 2026-11", "for its answer: it waits 2 s for a process that does not answer, and as long again") \
ROW(integer, WATCH_RAS_BYTES, 64 << 20, "bytes", "chosen 2026-11", "of its answer, at most: a rank takes 600 in each of its communicators, which for 12,000 ranks in 8 are 58 MB") \
ROW(integer, WATCH_RAS_COMMS, 32, "communicators", "chosen 2026-11", "that a sample tells one by one, of those with a rank missing, and of those with one behind") \
ROW(real, WATCH_MOST_S, 366 * 86400.0, "s", "chosen 2026-11", "that a job is watched at most") \
ROW(integer, WATCH_GRACE_S, 5, "s", "chosen 2026-11", "between SIGTERM and SIGKILL of the step") \
ROW(integer, WATCH_REPORT_S, 30, "s", "chosen 2026-11", "to leave suspect reports")
/* clang-format on */
WATCH_CONSTANTS(CONSTANT_DEFINE)

#endif
