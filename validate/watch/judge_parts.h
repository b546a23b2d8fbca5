/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WATCH_JUDGE_PARTS_H
#define MUSTER_WATCH_JUDGE_PARTS_H

#include "lib/base/text.h"
#include "validate/watch/judge.h"

/* The internals of judge.h: the current state of the job, and the functions that judge its parts.
 */

struct judging {
    struct watch *watch;
    struct watch_verdict *verdict;
    size_t silent;                      /* nodes that send no samples; not counted below */
    size_t unrated;                     /* nodes whose TCP connections have no rate yet */
    size_t late;                        /* nodes whose next sample is overdue; they do not move */
    size_t ranks, moving, moved, ready; /* ranks; the others count nodes */
    size_t uncounted;                   /* nodes on which data may move uncounted */
    double quiet_s;                     /* for how long no rail has carried data; 0: one may,
                                           and if a node is late or uncounted */
    double patience_s;
    const char *busy; /* a node whose ranks wait for processors, or NULL */
};

struct watch_finding *watch_finding_add(struct judging *judging, enum verdict verdict,
                                        enum fault_code code, const char *node, const char *part);
#define FINDING(judging, verdict, code, node, part, ...)                                           \
    do {                                                                                           \
        struct watch_finding *made_ = watch_finding_add(judging, verdict, code, node, part);       \
        text_put(made_->message, sizeof made_->message, __VA_ARGS__);                              \
    } while (0)

/* Returns the time since the node's last sample, or since the watch began. */
double watch_unheard_s(const struct watch *watch, const struct watch_node *node);

/* Returns for how long the node's rails have carried no data; 0: they do, or may. */
double watch_quiet_s(const struct watch *watch, const struct watch_node *node);

/* Whether the node sends no samples. */
bool watch_is_silent(const struct watch *watch, const struct watch_node *node);

/* Whether a rank of the judged step waits for a processor for much of its time there. */
bool watch_is_busy(const struct watch *watch, const struct watch_node *node);

/* ranks.c: stopped, blocked or ended ranks; NCCL's RAS answer (returns whether the job hangs by
 * it); a job without traffic; nodes and ranks that differ */
void watch_judge_conditions(struct judging *judging);
bool watch_judge_ras(struct judging *judging);
void watch_judge_quiet(struct judging *judging);
void watch_judge_outliers(struct judging *judging);
void watch_judge_quiet_nodes(struct judging *judging);

/* rails.c: link errors and traffic of rails; speed of TCP connections */
void watch_judge_rails(struct judging *judging);
void watch_judge_flows(struct judging *judging);

/* window.c */

/* Returns after how long without a sample a node counts as silent. */
double watch_silence_s(const struct watch *watch);

/* Returns the sample of the age; 0 is the newest. NULL if there are not so many. */
const struct watch_sample *watch_sample_at(const struct watch_node *node, size_t age);

/* Returns the oldest sample kept; NULL if there are not two. */
const struct watch_sample *watch_oldest(const struct watch_node *node);

/* Returns the newest sample that is at least WATCH_RECENT_S older than the newest of all, or NULL.
 */
const struct watch_sample *watch_sample_before(const struct watch_node *node);

/* Returns the growth per second from watch_recent() to the newest sample; NAN if the counter
 * shrank, as after a reset. */
double watch_rate(const struct watch_node *node, double before, double now);

/* Whether the node looks quiet, but RDMA may carry data that its rails do not count. */
bool watch_is_uncounted(const struct watch_node *node);

/* Returns the rail of the name in the sample, or NULL. */
const struct watch_rail *watch_rail_find(const struct watch_sample *sample, const char *name);

#endif
