/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WATCH_JUDGE_H
#define MUSTER_WATCH_JUDGE_H

#include <stdbool.h>

#include "lib/base/hostlist.h"
#include "lib/catalog/catalog.h"
#include "lib/constants/watch_constants.h"
#include "validate/watch/sample.h"

/* Finds which rank or node delays a running job: from samples of its nodes to findings. Pure.
 *
 * Waiting ranks may poll, so processor time is no progress; traffic on the rails is. A job hangs if
 * its rails carry nothing for longer than it ever paused, and they carried data before, or no rank
 * uses a processor either. The rank that differs from all others is at fault: stopped, blocked in
 * the kernel, ended, asleep while all others work, or at work while all others sleep. A rank that
 * ended long before the traffic did is not. What a busy machine may have caused is unknown. Also
 * unknown is whether a job on one node hangs, and whether ranks wait for a rank that has ended or
 * is blocked before the job has carried data. */

/* Most samples kept per node: those of twice WATCH_FLOWS_S at the shortest interval, 0.5 s. What is
 * older goes, but WATCH_LEAST samples stay. */
enum { WATCH_WINDOW = 128, WATCH_LEAST = 64 };

/* A rank, as in the last sample that had it. */
struct watch_seen {
    long step;
    int rank;
    long pid;
    double seen_s; /* when it arrived, by clock_s() here */
    int condition; /* enum condition of ranks.c, by the newest verdict */
};

struct watch_node {
    const char *name;
    long task;                                /* the task that sends its samples; -1: none yet */
    struct watch_sample window[WATCH_WINDOW]; /* sample i is in [i % WATCH_WINDOW] */
    double times_s[WATCH_WINDOW];             /* when each arrived, by clock_s() here */
    size_t count, kept;                       /* all samples so far; the last that are kept */
    bool has_moved;                           /* its rails carried data since the watch began */
    double least_unread_bytes;                /* of samples while the rails carried data, else 0 */
    double quiet_since_s;                     /* its rails carry no data since then; NAN: they do.
                                               * Time without samples is added to it */
    double longest_quiet_s;                   /* of the pauses that are over */
    struct watch_seen *seen; /* all ranks of the judged step, also ended ones; of other steps those
                                since the last verdict */
    size_t seen_count;
};

struct watch {
    struct watch_node *nodes;
    size_t node_count;
    double interval_s, patience_s;
    bool has_samples;      /* of any node */
    double began_s, now_s; /* now_s: of the newest verdict */
    bool is_patient; /* a hang ends the job: a rank that is stopped, or does not answer NCCL, fails
                        only after patience_s */
    long step;       /* the judged step: the newest of those with most ranks */
    struct watch_ras { /* the last RAS answer of NCCL, and since when it is the same; NAN: none */
        size_t node;
        double since_s, seen_s, total;
        int missing, behind;
    } ras;
};

struct watch_finding {
    enum verdict verdict;
    enum fault_code code;
    const char *node; /* NULL: no node */
    char part[64];    /* "rank 3", "eth1", "" */
    char message[320];
};

enum { WATCH_FINDINGS = 8 };

struct watch_verdict {
    enum verdict verdict; /* the worst of fail, warn, unknown, pass */
    bool is_settled;      /* further similar samples would not change it */
    struct watch_finding findings[WATCH_FINDINGS];
    size_t count;
    char line[400];
};

/* names must outlive watch. Returns 0, or -1 if memory is out. Clear watch in any case. */
int watch_make(struct watch *watch, const struct hostlist *names, double interval_s,
               double patience_s, double now_s);
void watch_clear(struct watch *watch);

/* Returns the index of the node if the task may send its samples: a task may send only samples of
 * the node of its first sample. -1 if it may not, or if there is no such node. */
long watch_node_of(struct watch *watch, long task, const char *name);

/* Adds a sample of the node, and takes over its memory: *sample is empty afterwards. */
void watch_add(struct watch *watch, size_t node, struct watch_sample *sample, double now_s);

void watch_judge(struct watch *watch, double now_s, struct watch_verdict *verdict);

/* Returns the node that can keep a report about the node, by the newest verdict: the node itself,
 * or another one if it sends no samples; NULL if none does. */
const char *watch_holder(const struct watch *watch, const char *name);

/* Return the newest sample of a node; and the newest that is at least WATCH_RECENT_S older, else
 * the oldest. NULL if there is none. */
const struct watch_sample *watch_newest(const struct watch_node *node);
const struct watch_sample *watch_recent(const struct watch_node *node);

/* Returns the rank of the number in the step, or NULL. */
const struct watch_rank *watch_rank_find(const struct watch_sample *sample, long step, int rank);

/* Returns the next rank of the judged step in the node's newest sample; rank NULL: the first. NULL
 * at the end. */
const struct watch_rank *watch_rank_next(const struct watch *watch, const struct watch_node *node,
                                         const struct watch_rank *rank);
#define WATCH_EACH_RANK(watch, node, rank)                                                         \
    for (const struct watch_rank *rank = NULL; (rank = watch_rank_next(watch, node, rank));)

/* What a rank has used per second since watch_recent(); 1 is one whole processor. NAN: unknown. */
struct watch_use {
    double cpu, queued; /* processor and run queue */
    double io_bytes;
};
struct watch_use watch_use_of(const struct watch_node *node, const struct watch_rank *rank);

/* Returns the traffic of a rail since watch_recent(), in 10^6 bit/s, the sum of both directions;
 * NAN: unknown. */
double watch_rail_mbps(const struct watch_node *node, const struct watch_rail *rail);

#endif
