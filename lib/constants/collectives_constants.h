/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COLLECTIVES_CONSTANTS_H
#define MUSTER_COLLECTIVES_CONSTANTS_H

#include "lib/constants/constant.h"

/* clang-format off */
#define COLLECTIVES_CONSTANTS(ROW) \
/* algorithms of ranks that share memory: switch points that no benchmark measures */ \
ROW(integer, SHARED_LITTLE_BYTES, 32768, "bytes of all ranks", "measured 2026-11: 2, 3 and 4 ranks on two processors", "size of all ranks' data up to which each rank reduces everything itself: as fast, or faster; from twice as much on slower") \
ROW(integer, SHARED_ROOT_BYTES, 1 << 20, "bytes of a rank", "measured 2026-11: 4, 5, 8 and 13 ranks on two processors", "size of a rank's data up to which only the root waits where ranks share processors: 8 KiB to 256 KiB take a half to a tenth of the time") \
ROW(integer, SHARED_NONTEMPORAL_BYTES, 8 << 20, "bytes of all blocks", "measured 2026-11: 2 and 4 ranks on two processors, near and far apart", "size of all blocks from which stores bypass the caches: far apart an eighth to two thirds of the time, near as long or less; 4 MiB up to 2.5 times as long") \
ROW(integer, SHARED_MESSAGE_BYTES, 10 << 20, "bytes of all ranks", "measured 2026-11: 5, 8 and 13 ranks on two processors", "size of all ranks' data from which an all-to-all with own blocks sends messages where ranks share processors: 11 MiB a half to a third of the time, 7 MiB half as long again") \
ROW(integer, SHARED_OWNERS_BYTES, 16384, "bytes of a rank", "measured 2026-11: 5, 8 and 13 ranks on two processors", "size of a rank's data up to which as many ranks reduce as there are processors: 8 KiB a half to four fifths of the time, 16 KiB mostly less, 64 KiB two thirds to one and a half") \
ROW(integer, PULL_PIECE_BYTES, 262144, "bytes", "measured 2026-11: pieces of 64 KiB to whole blocks", "size of the piece of an all-gather's block that one rank copies at once") \
ROW(integer, RUN_FAR_BYTES, 8192, "bytes", "chosen 2026-11", "size up to which stores go through the caches, however far away they are read") \
ROW(integer, RUN_UNDER_WAY_BYTES, 128 << 10, "bytes", "chosen 2026-11", "data in flight to a rank on another node before the next segment is sent") \
ROW(integer, WINDOW_FAR_TICKS, 200, "ticks of the time stamp counter", "measured 2026-11: Zen 4, 80 to 130 where ranks share a cache, else 340 to 450", "latency from which another rank is far") \
ROW(integer, WINDOW_FAR_ROUNDS, 4, "calls", "chosen 2026-11", "calls that decide whether a rank is far: one word may arrive quickly from far away") \
/* choice of algorithms: which benchmarks are run, and which algorithm is chosen */ \
ROW(real, CHOICE_BUDGET_LEAST_S, 5, "s", "chosen 2026-11", "least time for benchmarks") \
ROW(real, CHOICE_BUDGET_MOST_S, 12, "s", "chosen 2026-11", "most time for benchmarks") \
ROW(integer, CHOICE_BUDGET_MESSAGES, 600, "messages of 1 MiB", "chosen 2026-11", "time for benchmarks between these limits, in messages on the slowest link") \
ROW(real, CHOICE_WORSE, 4, "ratio", "chosen 2026-11", "predicted time, in those of the best, from which an algorithm is not tried") \
ROW(real, CHOICE_CHEAP_US, 300, "us", "chosen 2026-11", "predicted time below which an algorithm is tried in any case") \
ROW(real, CHOICE_MUCH_SLOWER, 1.7, "ratio", "chosen 2026-11", "time, in those of the best, from which an algorithm is given up after two tries") \
ROW(real, CHOICE_TOO_NEAR, 1.4, "ratio", "chosen 2026-11", "time, in those of the best, up to which an algorithm is tried again in longer batches") \
ROW(real, CHOICE_NEARLY_BEST, 3, "ratio", "chosen 2026-11", "time at smaller sizes, in those of the best, up to which an algorithm is tried at the greatest size") \
ROW(real, CHOICE_NEARLY_BEST_OF_LONG, 1.3, "ratio", "chosen 2026-11", "the same for long calls over links") \
ROW(integer, CHOICE_LONG_FROM_BYTES, 1 << 20, "bytes", "chosen 2026-11", "size from which CHOICE_NEARLY_BEST_OF_LONG holds") \
ROW(real, CHOICE_LONG_US, 5000, "us", "chosen 2026-11", "time from which a call is long") \
ROW(real, CHOICE_LONGEST_US, 100000, "us", "chosen 2026-11", "time from which a call is tried last") \
ROW(real, CHOICE_TOO_LONG_US, 20000, "us", "chosen 2026-11", "time from which a call on one node is tried only once") \
ROW(integer, CHOICE_CODED_LEAST_BYTES, 65536, "bytes", "chosen 2026-11", "size from which lossless coding is tried") \
ROW(real, CHOICE_WORTH_CODING, 0.95, "of the time without", "chosen 2026-11", "most time with coding, of the time without, for which coding is used") \
ROW(integer, CHOICE_OVERSUBSCRIBED_FROM_BYTES, 1 << 20, "bytes", "chosen 2026-11", "size from which, where ranks share processors, only algorithms near the best are tried") \
ROW(integer, CHOICE_STEADIER_FROM_BYTES, 1 << 20, "bytes", "measured 2026-11: 2, 5 and 13 ranks on two processors", "size from which shared memory wins unless another is faster by CHOICE_STEADIER: it varies least between starts") \
ROW(real, CHOICE_STEADIER, 1.25, "ratio", "measured 2026-11: 2, 5 and 13 ranks on two processors", "how many times as fast another algorithm must be than shared memory") \
ROW(integer, MEASURE_BATCH_US, 1500, "us", "chosen 2026-11", "length of a batch of repetitions when links are measured") \
ROW(real, MEASURE_SETTLE_S, 1, "s", "chosen 2026-11", "how long all ranks compute before anything is measured: clocks go up") \
ROW(integer, CANDIDATE_BATCH_US, 500, "us", "chosen 2026-11", "length of a batch of calls when algorithms are compared") \
ROW(integer, CANDIDATE_AGAIN_US, 2000, "us", "chosen 2026-11", "length of a batch of calls of algorithms that are tried again") \
ROW(integer, CANDIDATE_LOOP_US, 2500, "us", "chosen 2026-11", "time up to which calls are made in a loop: by messages, ranks that have just met are faster") \
ROW(integer, CANDIDATE_OVERSUBSCRIBED_LOOP_US, 10000, "us", "chosen 2026-11", "the same where ranks share processors") \
ROW(real, PREDICT_AT_ONCE_US, 1e-6, "us", "chosen 2026-11", "time within which events count as simultaneous: equal times by different sums")
/* clang-format on */
COLLECTIVES_CONSTANTS(CONSTANT_DEFINE)

#endif
