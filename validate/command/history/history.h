/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_HISTORY_H
#define MUSTER_COMMAND_HISTORY_H

#include "lib/conf/conf.h"
#include "validate/history/history.h"

/* Inside of muster history: figures over the runs. */

struct series_point {
    char *run;
    double time, value;
    enum verdict verdict; /* of the node in that run */
};

/* One figure of one part, the oldest run first. */
struct series {
    char *node, *part, *metric, *unit;
    struct series_point *points;
    size_t count; /* at least 1 */
};

/* Calls each() with one series after the other, by node, part and metric, of no more than the
 * newest `most` runs; it lives until each() returns, so that no more than one is in memory. Returns
 * 0, or -1 with err. */
int series_each(const char *path, const char *node, const char *part, int most,
                void (*each)(const struct series *series, void *context), void *context,
                struct error *err);

/* The share of its value that the figure moves from run to run without anything being wrong: 4
 * robust standard deviations of the steps between neighbors (which a lasting change is one of and
 * does not widen), at least 10 %; of a latency, which other work on the machines moves, 100 %. */
double series_noise(const struct series *series);

/* Where the newest stretch of runs begins in which the figure is worse than the median of all
 * before by more than noise; *before is that median. count when there is none. */
size_t series_fall(const struct series *series, double *before);

/* A picture of the points: one character each, its height the share of the greatest. has_utf8:
 * block elements, else digits 0 to 9. No more than the newest `most`. */
void series_picture(const struct series *series, bool has_utf8, size_t most, char *text,
                    size_t size);

/* Whether this terminal's locale says UTF-8 (LC_ALL, LC_CTYPE, LANG). */
bool series_has_utf8(void);

/* Prints the point as a record, with what it is held against; NAN: nothing. */
void series_print_record(const struct series *series, const struct series_point *point,
                         double limit);

/* "2026-11-20 18:14", UTC. */
const char *history_time(double seconds, char text[32]);

/* What a run left of a node, in a word: "certified", "suspect", ... */
const char *history_word(enum verdict verdict, bool is_suspect);

/* The node's figures and facts that changed, or with node NULL all nodes' of that part, as tables
 * or records. Returns how many lines, or -1 with err. */
int history_trends(const char *path, const char *node, const char *part, int runs, bool as_json,
                   struct error *err);

/* The campaigns, or with a name that one and its nodes. Returns an exit status. */
int history_campaigns(const char *path, const char *name, bool as_json);

/* What the stages of certifications took and found in the last days. Returns an exit status. */
int history_print_values(const char *path, int days, bool as_json);

/* What nodes told of a job, or the log of this node, named node, has of it. Returns an exit status.
 */
int history_print_job(const struct conf *conf, const char *node, uint32_t job, bool as_json);

/* Who failed again and again in that many days. Returns an exit status. */
int history_print_offenders(const char *path, int days, bool as_json);

/* What changed between two runs. Returns an exit status. */
int history_diff(const char *path, const char *then, const char *now, const char *node,
                 bool as_json);

#endif
