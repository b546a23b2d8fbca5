/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WATCH_JUDGE_PARTS_H
#define MUSTER_WATCH_JUDGE_PARTS_H

#include "lib/base/text.h"
#include "validate/watch/judge.h"

/* Inside of judge.h: the job as it is now, and who looks at what of it. */

struct judging {
    struct watch *watch;
    double now_s;
    struct watch_verdict *verdict;
    size_t silent;                      /* nodes that send no samples: they count as nothing else */
    size_t ranks, moving, moved, ready; /* nodes, but for ranks */
    size_t untold;                      /* nodes of which nobody can say whether data moves */
    double quiet_s;                     /* that no rail has carried data */
    double patience_s;
    const char *busy; /* a node whose ranks wait for processors; NULL: none does */
};

struct watch_finding *watch_finding_add(struct judging *judging, enum verdict verdict,
                                        enum fault_code code, const char *node, const char *part);
#define FINDING(judging, verdict, code, node, part, ...)                                           \
    do {                                                                                           \
        struct watch_finding *made_ = watch_finding_add(judging, verdict, code, node, part);       \
        text_put(made_->message, sizeof made_->message, __VA_ARGS__);                              \
    } while (0)

/* Whether it sends no samples. */
bool watch_is_silent(const struct judging *judging, const struct watch_node *node);

/* ranks.c: stopped, blocked or ended ones; what NCCL says, and whether the job hangs by that; a job
 * without data; who differs */
void watch_judge_conditions(struct judging *judging);
bool watch_judge_ras(struct judging *judging);
void watch_judge_quiet(struct judging *judging);
void watch_judge_odd(struct judging *judging);
void watch_judge_quiet_nodes(struct judging *judging);

/* rails.c: errors of links and what rails carry; how fast connections are */
void watch_judge_rails(struct judging *judging);
void watch_judge_flows(struct judging *judging);

/* window.c */

/* So long without a sample of a node is silence: nothing is known of it since. */
double watch_silence_s(const struct watch *watch);

/* The newest sample is of age 0; NULL: there are not so many. */
const struct watch_sample *watch_sample_at(const struct watch_node *node, size_t age);

/* The newest sample that is WATCH_RECENT_S or more older than the newest; NULL: there is none yet.
 */
const struct watch_sample *watch_sample_before(const struct watch_node *node);

/* Per second, from watch_recent() to the newest. A counter that is less was reset: NAN. */
double watch_rate(const struct watch_node *node, double before, double now);

/* Whether it looks quiet, but RDMA may carry data that its rails do not count. */
bool watch_is_untold(const struct watch_node *node);

/* The rank in watch_recent(), the rail in that sample; NULL: it is not there. */
const struct watch_rank *watch_rank_before(const struct watch_node *node,
                                           const struct watch_rank *rank);
const struct watch_rail *watch_rail_find(const struct watch_sample *sample, const char *name);

#endif
