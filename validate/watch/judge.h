/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WATCH_JUDGE_H
#define MUSTER_WATCH_JUDGE_H

#include <stdbool.h>

#include "lib/base/hostlist.h"
#include "lib/catalog/catalog.h"
#include "lib/constants/watch_constants.h"
#include "validate/watch/sample.h"

/* Who holds up a running job: samples of its nodes in, findings out. Pure.
 *
 * Ranks that wait for another may poll, so processor time is no progress; what the rails carry is.
 * A job that carries nothing for longer than it ever paused hangs, when it carried something before
 * or when nobody uses a processor either. Then the rank that differs from all others is the one:
 * stopped, blocked in the kernel, ended, asleep while all others work, at work while all others
 * sleep. A rank that ended long before the data did is not the one. What a busy machine may have
 * caused is unknown. So is whether a job hangs that has one node, and whether anybody waits for a
 * rank that has ended or is blocked before the job has carried anything. */

enum { WATCH_WINDOW = 64 /* samples of a node that are kept */ };

/* A rank, as it was when a sample last had it. */
struct watch_seen {
    long step;
    int rank;
    long pid;
    size_t sample; /* its number: the node's first is 1 */
    double seen_s; /* when that came, by clock_s() here */
    int condition; /* by the newest verdict, as ranks.c has them */
};

struct watch_node {
    const char *name;
    long task;                                /* that sends its samples; -1: none has yet */
    struct watch_sample window[WATCH_WINDOW]; /* sample i is in [i % WATCH_WINDOW] */
    double times_s[WATCH_WINDOW];             /* when it came, by clock_s() here */
    size_t count;                             /* of all that came */
    bool has_moved;                           /* its rails carried data, since the watch began */
    double least_unread_bytes;                /* of its samples while they did; 0: they never did */
    double quiet_since_s;                     /* they carry none since then; NAN: they do. Later by
                                               * the time that the node was silent since */
    double longest_quiet_s;                   /* of the pauses that are over */
    struct watch_seen *seen; /* all ranks of the step that is looked at, also those that ended; of
                                other steps those since the last verdict */
    size_t seen_count;
};

struct watch {
    struct watch_node *nodes;
    size_t node_count;
    double interval_s, patience_s;
    double began_s;
    bool is_patient; /* a hang ends the job: a rank that is stopped, or that NCCL gets no answer
                        from, fails it after the patience only */
    long step;       /* the step that is looked at: the newest of those with most ranks */
    struct {         /* what NCCL last said, and since when it says the same */
        size_t node;
        double since_s, total;
        int missing, behind;
        double seen_s;
    } ras;
};

struct watch_finding {
    enum verdict verdict;
    enum fault_code code;
    const char *node; /* NULL: none is named */
    char part[64];    /* "rank 3", "eth1", "" */
    char message[320];
};

enum { WATCH_FINDINGS = 8 };

struct watch_verdict {
    enum verdict verdict; /* the worst: fail, warn, unknown, pass */
    bool is_settled;      /* more samples of the same kind would not change it */
    struct watch_finding findings[WATCH_FINDINGS];
    size_t count;
    char line[400];
};

/* names must outlive watch. Returns 0, or -1 without memory; to be cleared in any case. */
int watch_make(struct watch *watch, const struct hostlist *names, double interval_s,
               double patience_s, double now_s);
void watch_clear(struct watch *watch);

/* The place of the node of that name, if the task may tell of it: each task does of the node that
 * it told of first, and of no other. -1: it may not, or there is none. */
long watch_node_of(struct watch *watch, long task, const char *name);

/* Takes the sample of that node over, whatever it had is no longer the caller's. */
void watch_add(struct watch *watch, size_t node, struct watch_sample *sample, double now_s);

/* Whether any node has sent one. */
bool watch_has_samples(const struct watch *watch);

void watch_judge(struct watch *watch, double now_s, struct watch_verdict *verdict);

/* The newest sample of a node, and the one of about WATCH_RECENT_S before; NULL: there is none. */
const struct watch_sample *watch_newest(const struct watch_node *node);
const struct watch_sample *watch_recent(const struct watch_node *node);

/* The rank of that number in the step; NULL: the sample has none. */
const struct watch_rank *watch_rank_find(const struct watch_sample *sample, long step, int rank);

/* What a rank used of a processor, 1 is all of one, and what it waited for it; NAN: not known. */
double watch_cpu_share(const struct watch_node *node, const struct watch_rank *rank);
double watch_queued_share(const struct watch_node *node, const struct watch_rank *rank);

/* What a rail carried, in 10^6 bit/s, both ways; NAN: not known. */
double watch_rail_mbps(const struct watch_node *node, const struct watch_rail *rail);

#endif
