/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HISTORY_H
#define MUSTER_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"
#include "lib/base/history_figure.h"
#include "validate/report/records.h"

/* What earlier runs found, in an SQLite database: runs, what became of each node, each figure of a
 * part, each verdict that was no pass, and the facts of each node as far as they changed. Several
 * processes may write at once. */

struct history_run {
    const char *run, *cluster, *level;
    bool is_dry_run;
    double time;    /* seconds since the epoch, UTC; its end. 0 when adding: now, and after all
                       that is stored where the clock was stepped back */
    double seconds; /* it took */
    int status;     /* exit status */
};

struct history_node {
    const char *run, *node; /* run NULL when adding */
    double time;
    enum verdict verdict;
    const char *level, *test, *part, *message, *certified_until;
    double rail_mbps; /* its worst rail; NAN: not measured */
    /* Of no use when adding: they come from its records. */
    bool is_suspect;  /* it failed near a limit, was not drained, and keeps its certificate */
    const char *code; /* "": not known */
    /* Newest of all nodes: the time of the oldest run of the unbroken newest row of runs with this
     * verdict, dry runs included; else NAN, and of no use when adding. */
    double since;
};

/* How long a lock of another process is waited for, 10000. Tests make it short. */
extern int history_busy_ms;

/* Adds a run, its nodes, and of the records the figures, the facts that changed, and those with a
 * verdict other than pass; of the ten newest runs also the figures of pairs, where these are no
 * more than 4096. All or nothing. What is older than keep_s (0: nothing) is removed, but
 * for the newest of a node's facts.
 * Returns 0; 1 with err when the database could not take it (full disk, read-only, locked for ten
 * seconds, corrupt, not muster's, a newer muster's): the run is then in a file of its own beside
 * it, or in /run/muster when there is no room, and the next run that can takes it in; -1 with err
 * when it is lost (a run of that name is there already, or no place could be written). */
int history_add(const char *path, const struct history_run *run, const struct history_node *nodes,
                size_t count, const struct records *records, double keep_s, struct error *err);

/* Takes in the runs that wait in files of their own, and renews the copy that other users read;
 * where none waits nothing is changed. Returns 0, or -1 with err while the database cannot take
 * them. */
int history_take_in(const char *path, struct error *err);

/* Calls each() for the runs of a node, newest first, no more than most; node NULL: the newest of
 * each node, by name, with certified_until of the certificate that the node has now, whatever run
 * gave it. Strings live until each() returns. Returns how many, 0 also when there is no database;
 * -1 with err. So do the others below. */
int history_nodes(const char *path, const char *node, int most,
                  void (*each)(const struct history_node *node, void *context), void *context,
                  struct error *err);

/* Calls each() for the newest `runs` runs of each node, dry runs apart: by node, the newest first.
 * certified_until: of the newest that of the certificate that the node has now, else "". cluster:
 * heed only runs of that cluster and those of which it is not known; NULL or "": of any. */
int history_nodes_past(const char *path, const char *cluster, int runs,
                       void (*each)(const struct history_node *node, void *context), void *context,
                       struct error *err);

/* The nodes of two runs, by name and time; node NULL: all. */
int history_nodes_of_runs(const char *path, const char *then, const char *now, const char *node,
                          void (*each)(const struct history_node *node, void *context),
                          void *context, struct error *err);

/* The run that a person means: its name, an unambiguous beginning of it, "last", or "previous" (the
 * one before). Its strings are in text. Returns 1; 0 when there is none, or several (err says which
 * of the two); -1 with err. */
int history_run_find(const char *path, const char *wanted, struct history_run *run, char text[192],
                     struct error *err);

/* A part's figure in a run. metric: "sends" and "receives" in Mb/s, the best that a rail showed
 * with any partner; "bandwidth" the worse of the two; "latency" in us, its least; "busbw" in GB/s
 * of a collective, node "". */
struct history_point {
    const char *node, *part, *metric, *unit, *run;
    double time, value;
    enum verdict verdict; /* of the node in that run */
};

/* node, part NULL: any. By node, part and metric, the oldest run first; of each no more than
 * the newest `most`. */
int history_points(const char *path, const char *node, const char *part, int most,
                   void (*each)(const struct history_point *point, void *context), void *context,
                   struct error *err);

/* A node's fact that became another. fact: "kernel", "eth1 mtu". */
struct history_change {
    const char *node, *fact;
    double time;
    const char *before, *after; /* NULL: it did not have the fact */
};

/* What differs between the node's facts as they were known at two times, by fact and values, then
 * node; node NULL: of all nodes whose facts were known at both. */
int history_changes(const char *path, const char *node, double then, double now,
                    void (*each)(const struct history_change *change, void *context), void *context,
                    struct error *err);

/* A part was repaired or replaced, or what it does now is accepted: what it has shown up to now
 * (0), and the strikes against it, count no more. Nothing is removed. part NULL: all of the node.
 * why: a line that history shows, or NULL. Returns 0; 1 with err where no run knows the node or the
 * part; -1 with err. */
int history_accept(const char *path, const char *node, const char *part, const char *why,
                   double now, struct error *err);

/* The certificates of the nodes were revoked by hand: what runs have given them up to now (0)
 * counts no more. Without a database nothing is done. Returns 0, or -1 with err. */
int history_revoke(const char *path, const struct hostlist *nodes, double now, struct error *err);

struct history_mark {
    const char *part; /* "": all of the node */
    double time;
    const char *why; /* "" */
};

/* What was accepted of the node, the oldest first. */
int history_marks(const char *path, const char *node,
                  void (*each)(const struct history_mark *mark, void *context), void *context,
                  struct error *err);

/* What a node's figures depend on, as one number: its facts of hardware, drivers, firmware and
 * libraries among the records, but for what a fault changes (link speed, PCIe width). 0 where no
 * such fact was told. fingerprints: for each of the names, zeros at first. */
void history_fingerprints(const struct records *records, const struct name_index *names,
                          uint64_t *fingerprints);

/* Calls each() for what nodes told of that job, the oldest first, each once however many runs were
 * told of it. */
int history_job(const char *path, double job,
                void (*each)(const struct record *record, void *context), void *context,
                struct error *err);

/* A question for history_figures(). */
struct history_query {
    const char *node, *part, *metric; /* as in struct history_point */
    uint64_t fingerprint;             /* of the node as it is now */
    struct history_figure figure;     /* the answer */
};

enum { HISTORY_RUNS_MOST = 20 };

/* Fills in each answer from the newest HISTORY_RUNS_MOST runs in which the node passed, had that
 * fingerprint, and the part was not warned of because of its history (so that a slow decline does
 * not become what is normal), after the last history_accept() of it. Without a database all
 * counts are 0. Returns 0, or -1 with err. */
int history_figures(const char *path, struct history_query *queries, size_t count,
                    struct error *err);

#endif
