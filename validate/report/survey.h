/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SURVEY_H
#define MUSTER_SURVEY_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"
#include "validate/report/records.h"

/* The contents of a report, sorted once for all formats: one run, its nodes, findings, and the
 * links as matrices. Pure: made from records. */

struct survey_node {
    const char *name;
    int leaf; /* index of leaves, -1: unknown */
    /* Of the whole node: the conclusion of muster certify if there is one, else the worst verdict
     * about it, where skip is the least. NONE: only measurements name the node. */
    enum verdict verdict;
    bool is_concluded;                   /* by muster certify */
    const char *part, *message;          /* of the verdict; "" */
    enum fault_code code;                /* of the verdict; FAULT_NONE: nothing is wrong */
    const char *code_name, *remediation; /* of the code; "" */
    bool is_suspect;   /* failed near a limit, not drained: it keeps its certificate */
    bool is_certified; /* it has a certificate of this run, or of the newest one known */
    double expires;    /* of that certificate, seconds since the epoch; NAN */
};

/* The metrics of a pair and rail that are shown as a matrix: one pair at a time, both rails of a
 * pair at once, and many pairs at once across an uplink or between two halves of the nodes. */
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
    unsigned from, to;             /* nodes: sender and receiver */
    float value, low, high, limit; /* Mb/s or us; NAN: none */
    unsigned char verdict;         /* enum verdict; by the limit if no record has one */
    unsigned char source;          /* of the limit: index of limit_sources */
};

struct survey_rail {
    const char *name;
    /* The measured pairs, each once, sorted by sender and receiver: a large cluster measures only a
     * few of its millions of pairs. NULL: nothing was measured. */
    struct survey_cell *cells[SURVEY_METRICS];
    size_t measured[SURVEY_METRICS]; /* the number of these pairs */
    bool is_limited[SURVEY_METRICS]; /* muster certify reported a limit, the first counts */
    float *best[SURVEY_METRICS][2];  /* each node's best figure as receiver [0], sender [1]; NAN */
    double median[SURVEY_METRICS];   /* of all pairs; NAN if nothing was measured */
    /* The figure of a good node: the median over the nodes of their best figure with any partner.
     * A few bad nodes may be in half of all pairs, but they do not change another node's best. */
    double reference[SURVEY_METRICS];
};

/* A node in an earlier run of the history that was no dry run. The survey owns the strings. */
struct survey_past {
    const char *run, *node, *part, *message;
    const char *code;       /* "": unknown */
    double time, rail_mbps; /* rail_mbps: of its worst rail; NAN: not measured */
    double expires;         /* in the node's newest run: of its current certificate; NAN */
    enum verdict verdict;
    bool is_suspect;
    bool lacks_facts; /* the node reported none */
};

/* What is not as it was in the last good run of a node that did not pass: the newest earlier one
 * in which it passed, of its past runs here. The survey owns the strings. */
struct survey_change {
    const char *node, *run; /* run: the last good one */
    double since;           /* its time */
    const char *fact;       /* "": no fact of the node has changed */
    const char *before, *after;
};

enum { SURVEY_SOURCES = 16 };

struct survey {
    const char *run, *cluster, *level; /* "": unknown */
    double begin, end;                 /* of its records, seconds since the epoch; NAN */
    double seconds;                    /* duration of the run; NAN */
    double job; /* which its nodes are of, by muster preflight or watch; NAN: none or several */
    size_t other_runs; /* number of records of other runs, which are left out */

    const struct records *records; /* the caller's */
    unsigned *items;               /* indexes of the run's records, in their order */
    size_t count;

    struct survey_node *nodes; /* n2 before n10 */
    size_t node_count;
    const char **leaves;
    size_t leaf_count;
    const char **notes; /* lines of muster certify about its actions */
    size_t note_count;

    struct survey_rail *rails;
    size_t rail_count;
    const char *limit_sources[SURVEY_SOURCES]; /* [0] is "" */

    struct survey_past *past; /* earlier runs, if the caller adds them: those of a node are
                               consecutive, newest first */
    size_t past_count;
    struct survey_change *changes; /* by node, if the caller adds them */
    size_t change_count;
    struct hostlist texts; /* of past and changes */
};

/* A record of the run, valid until the end of the enclosing block. */
#define SURVEY_AT(survey, index) RECORD_AT((survey)->records, (survey)->items[index])

/* Builds the survey of one run; run NULL: the run with the newest records. Records without a run
 * belong to any. records must outlive the survey. Returns 0, or -1 with err: no record of the run,
 * or memory is out. Clear the survey in either case. */
int survey_build(const struct records *records, const char *run, struct survey *survey,
                 struct error *err);
void survey_clear(struct survey *survey);

/* Returns the node's index, or -1. */
long survey_node(const struct survey *survey, const char *name);

/* Adds a copy of an earlier run of a node. Returns 0, or -1 if memory is out. */
int survey_add_past(struct survey *survey, const struct survey_past *past);

/* Adds a copy of a change; NULL as before or after: "unknown". Returns 0, or -1 if memory is out.
 */
int survey_add_change(struct survey *survey, const struct survey_change *change);

/* Removes the earlier runs of nodes for which is_kept() is false. */
void survey_filter_past(struct survey *survey, bool (*is_kept)(const char *node, void *context),
                        void *context);

/* Returns the metric of a record that is a figure of a pair; else SURVEY_METRICS. */
enum survey_metric survey_metric_of(const struct record *record);

/* Returns the metric's name in records; static. */
const char *survey_metric_name(enum survey_metric metric);

/* Sorts the names, n2 before n10, and removes duplicates. Returns the number left. */
size_t survey_unique(const char **names, size_t count);

/* Returns the node's best figure on the rail as a sender (true) or a receiver. As in the judgement,
 * the best excludes faults of the partners and the path. NAN if nothing was measured. */
double survey_figure(const struct survey *survey, size_t node, size_t rail,
                     enum survey_metric metric, bool is_sending);

/* survey_links.c: fills the rails. */
int survey_links(struct survey *survey);

#endif
