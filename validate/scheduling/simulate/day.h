/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SIMULATE_DAY_H
#define MUSTER_SIMULATE_DAY_H

#include "validate/scheduling/verify/run.h"

/* muster policy simulate: a day of submissions replayed on a cluster that is a copy of the site's,
 * and what policy.conf states against what happened. */

struct day_job {
    const struct slurm_line *line;
    char user[64];
    char account[64], qos[64], partition[64]; /* "": the user's default, until Slurm tells it */
    char gres[96];                            /* "gpu:4" a node; "" */
    long nodes;
    double submit_s;       /* in the day, after the first job */
    double run_s, limit_s; /* limit_s 0: the partition's */
    /* the replay */
    struct seen_job seen;                   /* as it was last */
    bool was_limited, is_over;              /* was_limited: it has waited for a limit */
    double submitted_s, started_s, ended_s; /* the first start, the last end; NAN: not */
    double used_s;                          /* that it ran, all restarts together */
};

struct day {
    struct slurm_lines lines; /* the jobs point into them */
    struct day_job *jobs;     /* in the order of submission */
    size_t count;
    double speed; /* of the replay */
    double end_s; /* of the replay */
};

/* Reads lines "Submit=2026-11-26T08:00:00 User=alice Account=physics Nodes=2 Run=1:30:00
 * Limit=4:00:00" of the file. Returns 0, or -1 with err "FILE:LINE: found ..., expected ...". day
 * is to be cleared in any case. */
int day_read(const char *path, struct day *day, struct error *err);
void day_clear(struct day *day);
/* The time limit at the day's speed in Slurm's minutes, 1 at least; 0: the partition's. */
int day_minutes(const struct day *day, const struct day_job *job);
/* "1-02:00:00", "0:12:30". */
struct text_line day_duration(double seconds);

/* Replays the day and cancels what then waits or runs; also after *stop. It needs root, and a
 * cluster without any job. Returns 0, or -1 with err. */
int day_replay(const struct verify_setting *setting, struct day *day, struct error *err);
/* A part of it, pure: takes a line of scontrol -o show job, some time after the last one. */
void day_look(struct day_job *job, const char *text, double after_s);

/* The jobs of an account under a QOS. Times are the day's. */
struct outcome {
    size_t jobs, refused, never /* started */, finished, preempted;
    double waited_s[3];    /* median, 90 %, most; of one that never started: until the end */
    double share;          /* that the account has of all node time that was used */
    double entitled_share; /* the same by the shares of accounts; NAN: not known */
};

/* Pure. Returns 0, or -1: no memory. */
int outcome_sum(const struct day *day, const struct site *site, const char *account,
                const char *qos, struct outcome *outcome);
/* Pure. Whether a replay shows such a statement, and then what it shows. */
bool outcome_is_shown(const struct intent_statement *statement);
void outcome_judge(const struct day *day, const struct site *site,
                   const struct intent_statement *statement, struct verify_result *result);

#endif
