/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SURVEY_H
#define MUSTER_SURVEY_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "validate/report/records.h"

/* What a report tells, put in order once for all formats: one run, its nodes, what was found, the
 * links as matrices. Pure: records in. */

struct survey_node {
    const char *name;
    int leaf; /* index of leaves, -1: not known */
    /* Of the whole node: the conclusion of muster certify where there is one, else the worst
     * verdict about it, of which skip is the least. NONE: only measurements name it. */
    enum verdict verdict;
    bool is_concluded;                   /* by muster certify */
    const char *part, *message;          /* of it; "" */
    enum fault_code code;                /* of it, FAULT_NONE: nothing is wrong */
    const char *code_name, *remediation; /* of the code; "" */
    bool is_suspect;   /* failed near a limit, not drained: it keeps its certificate */
    bool is_certified; /* it has a certificate of this run, or of the newest one known */
    double expires;    /* of that certificate, seconds since the epoch; NAN */
};

/* What of a pair and rail is shown as a matrix: one pair at a time, both rails of a pair at once,
 * and many pairs at once across an uplink or between two halves of the nodes. */
enum survey_metric {
    SURVEY_BANDWIDTH,
    SURVEY_LATENCY,
    SURVEY_TOGETHER,
    SURVEY_UPLINK,
    SURVEY_BISECTION,
    SURVEY_METRICS
};

/* A figure of a pair and rail. */
struct survey_cell {
    unsigned from, to;             /* nodes: who sends and who receives */
    float value, low, high, limit; /* Mb/s or us; NAN: none */
    unsigned char verdict;         /* enum verdict; of a figure below its limit fail */
    unsigned char source;          /* of the limit: index of limit_sources */
};

struct survey_rail {
    const char *name;
    /* The pairs that were measured, each once, by sender and then by receiver: a large cluster
     * measures a few of its millions of pairs. NULL: nothing was measured. */
    struct survey_cell *cells[SURVEY_METRICS];
    size_t measured[SURVEY_METRICS]; /* how many those are */
    float *best[SURVEY_METRICS][2];  /* each node's best figure as receiver [0], sender [1]; NAN */
    double median[SURVEY_METRICS];   /* of all pairs; NAN where nothing was measured */
    /* What a good node reaches: the median over the nodes of the best that each showed with any
     * partner. A few bad nodes are in half of all pairs, but in no other node's best. */
    double reference[SURVEY_METRICS];
};

/* What the history knows of a node and run that was no dry run. Strings are
 * the survey's. */
struct survey_past {
    const char *run, *node, *part, *message;
    const char *code;       /* "": not known */
    double time, rail_mbps; /* its worst rail; NAN: not measured */
    double expires;         /* of the node's newest run: of the certificate that it has; NAN */
    enum verdict verdict;
    bool is_suspect;
};

enum { SURVEY_SOURCES = 16 };

struct survey {
    const char *run, *cluster, *level; /* "" where not known */
    double begin, end;                 /* of its records, seconds since the epoch; NAN */
    double seconds;                    /* that the run took; NAN */
    size_t other_runs;                 /* records that were left out: they are of other runs */

    const struct records *records; /* the caller's */
    unsigned *items;               /* those of the run, in their order */
    size_t count;
    size_t verdicts[VERDICT_FAIL + 1]; /* how many records of each */

    struct survey_node *nodes; /* n2 before n10 */
    size_t node_count;
    const char **leaves;
    size_t leaf_count;
    const char **notes; /* lines of muster certify: what was done */
    size_t note_count;

    struct survey_rail *rails;
    size_t rail_count;
    const char *limit_sources[SURVEY_SOURCES]; /* [0] is "" */

    struct survey_past *past; /* the history of nodes, where the caller adds one: that of a
                               node in one piece, newest first */
    size_t past_count;
};

/* A record of the run, for as long as the block goes on. */
#define SURVEY_AT(survey, index) RECORD_AT((survey)->records, (survey)->items[index])

/* Puts the records of one run in order: that of the name, NULL: the one whose records are newest.
 * Records without a run belong to any. The records must outlive it. Returns 0, or -1 with err: no
 * record of such a run, no memory. To be cleared in either case. */
int survey_build(const struct records *records, const char *run, struct survey *survey,
                 struct error *err);
void survey_clear(struct survey *survey);

/* The node's index, -1 when it is not among them. */
long survey_node(const struct survey *survey, const char *name);

/* Adds a copy of what the history knows. Returns 0, or -1 when memory is out. */
int survey_add_past(struct survey *survey, const struct survey_past *past);

/* Drops what the history knows of nodes for which is_kept() is false. */
void survey_filter_past(struct survey *survey, bool (*is_kept)(const char *node, void *context),
                        void *context);

/* The metric that a record is a figure of a pair for, SURVEY_METRICS when it is none. */
enum survey_metric survey_metric_of(const struct record *record);

/* Its name in records; static. */
const char *survey_metric_name(enum survey_metric metric);

/* Sorts the names, n2 before n10, and leaves each once; returns how many. */
size_t survey_unique(const char **names, size_t count);

/* The best figure that the node showed on that rail as a sender (true) or a receiver, as the judge
 * takes it: the partners' faults and the path are out of it. NAN where nothing was measured. */
double survey_figure(const struct survey *survey, size_t node, size_t rail,
                     enum survey_metric metric, bool is_sending);

/* survey_links.c: fills the rails. */
int survey_links(struct survey *survey);

#endif
