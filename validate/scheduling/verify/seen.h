/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VERIFY_SEEN_H
#define MUSTER_VERIFY_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/text.h"
#include "validate/scheduling/verify/intent.h"
#include "validate/slurm/step/probe.h"

/* What a probe has seen of its jobs, for a judge. Pure. */

enum seen_factor {
    SEEN_AGE,
    SEEN_FAIRSHARE,
    SEEN_JOBSIZE,
    SEEN_PARTITION,
    SEEN_QOS,
    SEEN_TRES,
    SEEN_FACTORS,
};
extern const char *const seen_factor_names[SEEN_FACTORS]; /* as sprio's and slurm.conf's */

struct seen_job {
    const struct intent_who *who;
    uint32_t id;   /* 0: it was not accepted */
    bool is_ended; /* the probe has canceled it; the rest is as it was before */
    enum probe_answer answer;
    char message[120];           /* Slurm's message, if it was not accepted */
    char state[24], reason[120]; /* as scontrol shows them; "": not seen */
    long priority;
    int restarts;
    double submitted_s, started_s, ended_s; /* since the epoch; NAN: not known */
    bool has_factors;
    long factors[SEEN_FACTORS]; /* weighted: what each adds to the priority */
};

/* The node without a certificate on which a job would start first, after_s seconds from now, if
 * PROBE_ACCEPTED; else any of them. */
struct seen_node {
    char name[64];
    enum probe_answer answer;
    double after_s;
    char message[120];
};

enum { SEEN_JOBS = INTENT_AMOUNT_MOST + 2 };

struct verify_seen {
    struct seen_job jobs[SEEN_JOBS];
    size_t count;
    long amounts[2]; /* of a limit of one job: what the two jobs request of it */
    struct seen_node node;
    size_t node_count;     /* of the nodes without a certificate */
    size_t other_jobs;     /* of others, in the cluster: a limit of a group counts them too */
    bool is_group_limited; /* as site_is_group_limited() */
    bool has_gate;         /* a prolog or the plugin may refuse what Slurm would start */
    char not_shown[240];   /* why there is nothing to judge; "" */
};

/* Takes a line of "scontrol -o show job". Returns 0, or -1: it is none. */
int seen_job_read(const char *text, struct seen_job *job);
/* Takes a line of sprio by CLUSTER_PRIORITY_FORMAT. Returns 0, or -1. */
int seen_factors_read(const char *text, struct seen_job *job);

bool seen_is_running(const struct seen_job *job);
bool seen_is_pending(const struct seen_job *job);
/* Returns whether a limit of an association, a QOS or a partition keeps the job from being
 * accepted, or from starting. */
bool seen_is_limited(const struct seen_job *job);
/* Returns whether the job waits for a reason that one of the patterns matches, as fnmatch() does;
 * they end with NULL. */
bool seen_waits_for(const struct seen_job *job, const char *const *patterns);
/* Returns whether the job may not start yet: one that was requeued waits a moment. */
bool seen_is_later(const struct seen_job *job);
/* Returns whether the job waits, and the scheduler has looked at it. */
bool seen_is_considered(const struct seen_job *job);
/* Returns whether the scheduler has decided about the job: it runs, is over, was refused, or waits
 * for another reason than its turn. */
bool seen_is_settled(const struct seen_job *job);
/* Returns whether the last job runs, was refused, or waits for a limit. */
bool seen_last_is_decided(const struct verify_seen *seen);

/* Returns "job 7 (alice) waits: QOSMaxJobsPerUserLimit". */
struct text_line seen_describe(const struct seen_job *job);

#endif
