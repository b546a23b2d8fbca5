/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HISTORY_H
#define MUSTER_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/history_figure.h"
#include "lib/base/hostlist.h"
#include "validate/report/records.h"

/* The results of earlier runs, in an SQLite database: the runs, the result of each node, each
 * figure of a part, each verdict other than pass, and the changes of each node's facts. Several
 * processes may write at once. */

struct history_run {
    const char *run, *cluster, *level;
    bool is_dry_run;
    double time;    /* end of the run, seconds since the epoch, UTC. 0 when adding: now, but after
                       all stored runs if the clock was stepped back */
    double seconds; /* duration */
    int status;     /* exit status */
};

struct history_node {
    const char *run, *node; /* run NULL when adding */
    double time;
    enum verdict verdict;
    const char *level, *test, *part, *message, *certified_until;
    double rail_mbps; /* of its worst rail; NAN: not measured */
    /* Unused when adding: they come from the records. */
    bool is_suspect;  /* it failed near a limit, was not drained, and keeps its certificate */
    bool lacks_facts; /* it reported no fact that history_fingerprints() counts */
    const char *code; /* "": unknown */
    /* In a list of the newest run of all nodes: the time of the first of the newest consecutive
     * runs with this verdict, dry runs included; else NAN. Unused when adding. */
    double since;
};

/* How long to wait for a lock of another process, in ms: 10000. Tests make it short. */
extern int history_busy_ms;

/* Adds a run, its nodes, and from the records the figures, the changed facts, and the verdicts
 * other than pass; for the ten newest runs also the figures of pairs, if there are at most 4096.
 * All or nothing. Removes what is older than keep_s (0: nothing), except the newest of a node's
 * facts. Returns 0; 1 with err if the database did not accept the run (full disk, read-only, locked
 * for ten seconds, corrupt, not muster's, of a newer muster): then the run is in a separate file
 * beside the database, or in /run/muster without room there, and a later run adds it; or -1 with
 * err if the run is lost (a run of the name exists already, or no place could be written). */
int history_add(const char *path, const struct history_run *run, const struct history_node *nodes,
                size_t count, const struct records *records, double keep_s, struct error *err);

/* Adds the runs that wait in separate files, and renews the copy that other users read. Changes
 * nothing if no run waits. Returns 0, or -1 with err if the database does not accept them. */
int history_take_in(const char *path, struct error *err);

/* Calls each() for the newest `most` runs of a node, newest first; node NULL: for the newest run of
 * each node, by name, with certified_until of the node's current certificate, from any run. Strings
 * are valid until each() returns. Returns the number of calls, 0 also without a database; or -1
 * with err. The functions below are alike. */
int history_nodes(const char *path, const char *node, int most,
                  void (*each)(const struct history_node *node, void *context), void *context,
                  struct error *err);

/* Calls each() for the newest `runs` runs of each node without dry runs, by node, the newest first.
 * certified_until: in the newest run that of the node's current certificate, else "". cluster:
 * count only runs of this cluster and of unknown clusters; NULL or "": of any. */
int history_nodes_past(const char *path, const char *cluster, int runs,
                       void (*each)(const struct history_node *node, void *context), void *context,
                       struct error *err);

/* Calls each() for the nodes of two runs, by name and time; node NULL: all. */
int history_nodes_of_runs(const char *path, const char *then, const char *now, const char *node,
                          void (*each)(const struct history_node *node, void *context),
                          void *context, struct error *err);

/* Finds the run that a user means: by its name, an unambiguous prefix, "last", or "previous" (the
 * one before). Its strings are in text. Returns 1; 0 if there is none, or several (err says which);
 * or -1 with err. */
int history_run_find(const char *path, const char *wanted, struct history_run *run, char text[192],
                     struct error *err);

/* A part's figure in a run. metric: "sends" and "receives" in Mb/s, a rail's best with any partner;
 * "bandwidth", the worse of these two; "latency" in us, the least; "busbw" in GB/s, of a
 * collective, with node "". */
struct history_point {
    const char *node, *part, *metric, *unit, *run;
    double time, value;
};

/* Calls each() for figures by node, part and metric, the oldest run first; of each the newest
 * `most`. node, part NULL: any. */
int history_points(const char *path, const char *node, const char *part, int most,
                   void (*each)(const struct history_point *point, void *context), void *context,
                   struct error *err);

/* Two times of a node; node NULL: of all nodes whose facts were known at both. */
struct history_span {
    const char *node;
    double then, now;
};

/* A changed fact of a node. fact: "kernel", "eth1 mtu". */
struct history_change {
    const struct history_span *span;
    const char *node, *fact;
    double time;
    const char *before, *after; /* NULL: it did not have the fact */
};

/* Calls each() for the differences between the facts as known at the two times of each span, span
 * by span, by fact and values, then node. Either all spans have a node, or the only one has none.
 */
int history_changes(const char *path, const struct history_span *spans, size_t count,
                    void (*each)(const struct history_change *change, void *context), void *context,
                    struct error *err);

/* Notes that a part was repaired or replaced, or that its current figures are accepted: its figures
 * up to `now` (0: the current time), and the strikes against it, count no more. Removes nothing.
 * part NULL: all of the node. why: a line that history shows, or NULL. Returns 0; 1 with err if no
 * run has the node or the part; or -1 with err. */
int history_accept(const char *path, const char *node, const char *part, const char *why,
                   double now, struct error *err);

/* Notes that the certificates of the nodes were revoked by hand: certificates issued up to `now`
 * (0: the current time) count no more. Does nothing without a database. Returns 0, or -1 with err.
 */
int history_revoke(const char *path, const struct hostlist *nodes, double now, struct error *err);

struct history_mark {
    const char *part; /* "": all of the node */
    double time;
    const char *why; /* "" */
};

/* Calls each() for the acceptances of the node, the oldest first. */
int history_marks(const char *path, const char *node,
                  void (*each)(const struct history_mark *mark, void *context), void *context,
                  struct error *err);

/* Computes a fingerprint of what a node's figures depend on: its facts of hardware, drivers,
 * firmware and libraries in the records, except values that a fault changes (link speed, PCIe
 * width). 0 if there is no such fact. fingerprints: [names], zeros at first. */
void history_fingerprints(const struct records *records, const struct name_index *names,
                          uint64_t *fingerprints);

/* Calls each() for the records of nodes about the job, the oldest first, each once even if several
 * runs have it. */
int history_job(const char *path, double job,
                void (*each)(const struct record *record, void *context), void *context,
                struct error *err);

/* A query of history_figures(). */
struct history_query {
    const char *node, *part, *metric; /* as in struct history_point */
    uint64_t fingerprint;             /* the current one of the node */
    struct history_figure figure;     /* the answer */
};

enum { HISTORY_RUNS_MOST = 20 };

/* Fills in each answer from the newest HISTORY_RUNS_MOST runs after the last history_accept() of
 * the part in which the node passed, had this fingerprint, and had no warning about the part by its
 * history (so that a slow decline does not become normal). Without a database all counts are 0.
 * Returns 0, or -1 with err. */
int history_figures(const char *path, struct history_query *queries, size_t count,
                    struct error *err);

#endif
