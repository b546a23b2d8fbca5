/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HISTORY_H
#define MUSTER_HISTORY_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "validate/report/records.h"

/* What earlier runs found, in an SQLite database: one row a run, one a node and run, one a verdict
 * or figure of a link. */

struct history_run {
    const char *run, *cluster, *level;
    bool is_dry_run;
    double time;    /* seconds since the epoch, UTC; its end. 0 when adding: now */
    double seconds; /* it took */
    int status;     /* exit status */
};

struct history_node {
    const char *run, *node; /* run NULL when adding */
    double time;
    enum verdict verdict;
    const char *level, *test, *part, *message, *certified_until;
    double rail_mbps; /* its worst rail; NAN: not measured */
};

/* Adds a run, its nodes, and of the records those with a verdict other than pass and the figures of
 * links. All or nothing. Returns 0, or -1 with err (unwritable, locked, corrupt: the caller's run
 * is as good as before). */
int history_add(const char *path, const struct history_run *run, const struct history_node *nodes,
                size_t count, const struct records *records, struct error *err);

/* Calls each() for the runs of a node, newest first, no more than most; node NULL: the newest of
 * each node, by name. Strings live until each() returns. Returns how many, 0 also when there is no
 * database; -1 with err. */
int history_nodes(const char *path, const char *node, int most,
                  void (*each)(const struct history_node *node, void *context), void *context,
                  struct error *err);

/* When the node's verdict became what it is: the time of the oldest run of the unbroken newest row
 * of runs with that verdict, dry runs included. 0 when there is none; -1 with err. */
double history_since(const char *path, const char *node, struct error *err);

#endif
