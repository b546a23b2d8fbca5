/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SIMULATE_DAY_H
#define MUSTER_SIMULATE_DAY_H

#include "validate/scheduling/verify/run.h"

/* muster policy simulate: replays a day of submissions on a copy of the site's cluster, and
 * compares what happened with what policy.conf states. */

struct day_job {
    const struct slurm_line *line;
    char user[64];
    char account[64], qos[64], partition[64]; /* "": the user's default, until Slurm reports it */
    char gres[96];                            /* "gpu:4" a node; "" */
    long nodes;
    double submit_s;       /* in the day, after the first job */
    double run_s, limit_s; /* limit_s 0: the partition's */
    /* the replay */
    struct seen_job seen;                   /* as last seen */
    bool was_limited, is_over;              /* was_limited: it has waited for a limit */
    double submitted_s, started_s, ended_s; /* first submission, first start, last end; NAN: not
                                               yet */
    double used_s;                          /* that it ran, all restarts together */
};

struct day {
    struct slurm_lines lines; /* the jobs point into them */
    struct day_job *jobs;     /* in the order of submission */
    size_t count;
    double speed; /* of the replay, as a multiple of the day's */
    double end_s; /* when the replay ended, in seconds since the epoch */
};

/* Reads lines "Submit=2026-11-26T08:00:00 User=alice Account=physics Nodes=2 Run=1:30:00
 * Limit=4:00:00" of the file. Returns 0, or -1 with err "FILE:LINE: found ..., expected ...".
 * Release with day_clear() in any case. */
int day_read(const char *path, struct day *day, struct error *err);
void day_clear(struct day *day);
/* Returns the job's time limit at the speed of the replay, in Slurm's minutes, 1 at least; 0: the
 * partition's. */
int day_minutes(const struct day *day, const struct day_job *job);
/* Formats seconds as "1-02:00:00", "0:12:30". */
struct text_line day_duration(double seconds);

/* Replays the day, and at its end or after *stop cancels the jobs that wait or run. Needs root, and
 * a cluster without any job. Returns 0, or -1 with err. */
int day_replay(const struct verify_setting *setting, struct day *day, struct error *err);
/* A part of day_replay(), pure: takes a line of scontrol -o show job, after_s seconds after the
 * last one. */
void day_job_update(struct day_job *job, const char *text, double after_s);

/* What happened to the jobs of an account under a QOS. Times are the day's. */
struct outcome {
    size_t jobs, refused, never /* started */, finished, preempted;
    double waited_s[3];    /* median, 90 %, most; of one that never started: until the end */
    double share;          /* the account's share of all node time that was used */
    double entitled_share; /* its share by the shares of accounts; NAN: not known */
};

/* Computes the outcome. Pure. Returns 0, or -1 if memory is out. */
int outcome_sum(const struct day *day, const struct site *site, const char *account,
                const char *qos, struct outcome *outcome);
/* Pure. outcome_is_shown() returns whether a replay shows such a statement; if so, outcome_judge()
 * returns what it shows. */
bool outcome_is_shown(const struct intent_statement *statement);
struct verify_result outcome_judge(const struct day *day, const struct site *site,
                                   const struct intent_statement *statement);

#endif
