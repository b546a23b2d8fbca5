/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NODE_STATUS_H
#define MUSTER_NODE_STATUS_H

#include <stdint.h>

#include "lib/base/hostlist.h"
#include "lib/base/error.h"
#include "lib/catalog/catalog.h"

/* How nodes stand by what earlier runs found: strikes against them, and until when they are
 * certified. Dry runs count for nothing. Without a database nothing is known of any node. cluster:
 * heed only runs of that cluster and those of which it is not known; NULL: of any. */

/* Which strike a failure of that node, code and part at `now` is, from 1
 * (validate/policy/strikes.h); -1 with err. fingerprint: of the node as it is now
 * (history_fingerprints()): those against other hardware do not count; 0, then or now: not known.
 */
int node_status_strike(const char *path, const char *cluster, const char *node,
                       enum fault_code code, const char *part, uint64_t fingerprint, double now,
                       double window_s, struct error *err);

/* Calls each() for the nodes whose last run left them as suspects after `since`: message says of
 * what. Returns how many, or -1 with err. */
int node_status_suspects(const char *path, const char *cluster, double since,
                         void (*each)(const char *node, const char *message, void *context),
                         void *context, struct error *err);

/* How many nodes the runs that ended since `since` tested because that user's preflights held
 * something against them (certify's records of test preflight.suspects, metric user): one that was
 * tested twice is two. -1 with err. */
int node_status_tested(const char *path, unsigned uid, double since, struct error *err);

/* What the runs did with a node. */
struct node_tests {
    const char *node;
    double tested;           /* the end of the last run that passed or failed it; 0: none */
    double tried;            /* ... of the last run */
    unsigned warnings, jobs; /* since `since`: runs that warned of it; jobs while which its counters
                                or its kernel log had something */
};

/* Calls each() for the nodes of all runs. Returns how many, or -1 with err. */
int node_status_tests(const char *path, const char *cluster, double since,
                      void (*each)(const struct node_tests *tests, void *context), void *context,
                      struct error *err);

/* Calls each() for the nodes that failed, not as suspects, and were not certified since: none of
 * them may have a certificate from before `time`, when they failed last. Returns how many, or -1
 * with err. */
int node_status_failed(const char *path, const char *cluster,
                       void (*each)(const char *node, double time, void *context), void *context,
                       struct error *err);

/* Calls each() for the nodes that were certified, with the end of the certificate in seconds since
 * the epoch, unless they failed since. Returns how many, or -1 with err. */
int node_status_certified(const char *path, const char *cluster,
                          void (*each)(const char *node, double until, void *context),
                          void *context, struct error *err);
/* Adds those whose certificate has not ended to nodes. */
int node_status_valid(const char *path, const char *cluster, struct hostlist *nodes,
                      struct error *err);

#endif
