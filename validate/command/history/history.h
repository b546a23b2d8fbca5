/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_HISTORY_H
#define MUSTER_COMMAND_HISTORY_H

#include "lib/base/text.h"
#include "lib/conf/conf.h"
#include "validate/history/history.h"

/* Internals of muster history: figures over the runs. */

struct series_point {
    char *run;
    double time, value;
};

/* One figure of one part, the oldest run first. */
struct series {
    char *node, *part, *metric, *unit;
    struct series_point *points;
    double *values; /* of the points */
    size_t count;   /* at least 1 */
};

/* Calls each() for each series, ordered by node, part and metric, of the newest `most` runs. A
 * series is valid until each() returns, so that only one is in memory. Returns 0, or -1 with err.
 */
int series_each(const char *path, const char *node, const char *part, int most,
                void (*each)(const struct series *series, void *context), void *context,
                struct error *err);

/* Returns the noise of the figure from run to run, as a share of its median: 4 robust standard
 * deviations, estimated from the steps between neighbors (a lasting change is only one step, and
 * does not widen it). At least 10 %; for a latency, which other load changes, at least 100 %. */
double series_noise(const struct series *series);

/* Returns the index of the first of the newest runs that are all worse than the median of all runs
 * before them by more than the noise, and sets *before to this median. Returns count if there is
 * none. */
size_t series_fall(const struct series *series, double *before);

/* Draws the newest `most` points: one character each, whose height is the value's share of the
 * greatest. has_utf8: block elements, else digits 0 to 9. */
void series_picture(const struct series *series, bool has_utf8, size_t most, char *text,
                    size_t size);

/* Whether the locale of the environment is UTF-8 (LC_ALL, LC_CTYPE, LANG). */
bool series_has_utf8(void);

/* Prints the point as a record. limit: the value that it is compared with; NAN: none. */
void series_print_record(const struct series *series, const struct series_point *point,
                         double limit);

/* Returns "2026-11-20 18:14", UTC. */
struct text_line history_time(double seconds);

/* Returns the result of a node in a run as a word: "certified", "suspect", ... */
const char *history_word(enum verdict verdict, bool is_suspect);

/* Prints the figures and the changed facts of the node, or with node NULL those of the part on all
 * nodes, as tables or records. Returns the number of lines, or -1 with err. */
int history_trends(const char *path, const char *node, const char *part, int runs, bool as_json,
                   struct error *err);

/* Prints the campaigns, or with a name this campaign and its nodes. Returns an exit status. */
int history_campaigns(const char *path, const char *name, bool as_json);

/* Prints the time and the findings of the stages of certifications in the last `days` days. Returns
 * an exit status. */
int history_print_values(const char *path, int days, bool as_json);

/* Prints what nodes have reported about a job, or what the log of this node (named `node`) has.
 * Returns an exit status. */
int history_print_job(const struct conf *conf, const char *node, uint32_t job, bool as_json);

/* Prints the nodes and parts that failed repeatedly in the last `days` days. Returns an exit
 * status. */
int history_print_offenders(const char *path, int days, bool as_json);

/* Prints what changed between two runs. Returns an exit status. */
int history_diff(const char *path, const char *then, const char *now, const char *node,
                 bool as_json);

#endif
