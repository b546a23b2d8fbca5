/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NODE_STATUS_H
#define MUSTER_NODE_STATUS_H

#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"
#include "lib/catalog/catalog.h"

/* The status of nodes by earlier runs: strikes against them, and until when they are certified. Dry
 * runs do not count. Without a database no node is known. cluster: count only runs of this cluster
 * and of unknown clusters; NULL: of any. */

/* Returns the number of the strike, from 1, that a failure of the node, code and part at `now` is
 * (validate/policy/strikes.h); or -1 with err. fingerprint: the node's current one
 * (history_fingerprints()); strikes against other hardware do not count; 0, then or now: unknown.
 */
int node_status_strike(const char *path, const char *cluster, const char *node,
                       enum fault_code code, const char *part, uint64_t fingerprint, double now,
                       double window_s, struct error *err);

/* Calls each() for the nodes that their last run, after `since`, left as suspects; message: of
 * what. Returns their number, or -1 with err. */
int node_status_suspects(const char *path, const char *cluster, double since,
                         void (*each)(const char *node, const char *message, void *context),
                         void *context, struct error *err);

/* Returns how many nodes the runs that ended since `since` tested because of suspect reports of the
 * user's preflights (certify's records of test preflight.suspects, metric user). A node tested
 * twice counts twice. -1 with err. */
int node_status_tested(const char *path, unsigned uid, double since, struct error *err);

/* The tests of a node by the runs. */
struct node_tests {
    const char *node;
    double tested;           /* the end of the last run that passed or failed it; 0: none */
    double tried;            /* the end of the last run */
    unsigned warnings, jobs; /* since `since`: runs that warned of it; jobs with error counts or
                                kernel log entries on it */
};

/* Calls each() for the nodes of all runs. Returns their number, or -1 with err. */
int node_status_tests(const char *path, const char *cluster, double since,
                      void (*each)(const struct node_tests *tests, void *context), void *context,
                      struct error *err);

/* Calls each() for the nodes that failed, not as suspects, and were not certified since. None of
 * them may have a certificate from before `time`, their last failure. A node that Slurm had taken
 * out of service (test slurm.state) did not fail so: it was not tested, and keeps its certificate.
 * Returns their number, or -1 with err. */
int node_status_failed(const char *path, const char *cluster,
                       void (*each)(const char *node, double time, void *context), void *context,
                       struct error *err);

/* Calls each() for the nodes that were certified and did not fail since, with the end of the
 * certificate in seconds since the epoch. Returns their number, or -1 with err. */
int node_status_certified(const char *path, const char *cluster,
                          void (*each)(const char *node, double until, void *context),
                          void *context, struct error *err);
/* Adds the nodes whose certificate has not expired to nodes. */
int node_status_valid(const char *path, const char *cluster, struct hostlist *nodes,
                      struct error *err);

#endif
