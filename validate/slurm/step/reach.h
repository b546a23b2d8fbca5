/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_REACH_H
#define MUSTER_REACH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/catalog/catalog.h"
#include "validate/slurm/cluster.h"

/* Queries each node's slurmd directly, without the controller and before the allocation: one round
 * trip authenticated by MUNGE, all nodes in parallel. Otherwise one frozen node would keep the
 * whole allocation from starting. */

enum reach_state {
    REACH_NOT_QUERIED,
    REACH_ANSWERS,
    REACH_NO_SLURMD,  /* the host refuses the connection */
    REACH_NO_MUNGE,   /* slurmd runs but rejects our credential */
    REACH_FROZEN,     /* the host's kernel accepts the connection, slurmd does not answer */
    REACH_CUT_OFF,    /* no answer to the connection */
    REACH_NO_ADDRESS, /* the name does not resolve, or not in time, on this host */
    REACH_NO_ROUTE,   /* this host has no route to the address */
    REACH_FAILED,     /* anything else: cannot tell */
};

struct reach {
    enum reach_state state;
    double seconds; /* from the resolution of its name to the answer, or to the end of the wait */
    char message[160]; /* one line for a person, without the node's name */
};

/* What a state means. */
struct reach_kind {
    const char *part;     /* at fault: "slurmd", "munge", "node", "network"; "" without one */
    enum fault_code code; /* of a state other than REACH_ANSWERS */
    bool is_failure;   /* it may be the node's own fault; else this host is the cause, or it is not
                          known */
    bool is_one_sided; /* a failure whose cause may lie between the hosts, such as a name that
                          resolves to another host, or a network that blocks only this host: a
                          second source must confirm it, such as the controller */
};
const struct reach_kind *reach_kind(enum reach_state state);

/* Fills answers[i] for nodes[i]. A node that does not answer within deadline_s after its name is
 * resolved, which may take as long, is queried once more with twice the time: a busy node, or one
 * whose slurmd is restarting, must not count as dead. If this host's own MUNGE does not work, no
 * node is reported as refusing it or frozen. Stops early, with REACH_NOT_QUERIED for the rest, when
 * *stop (may be NULL) is set. Returns 0, or -1 with err. */
int reach_nodes(struct cluster_node *const *nodes, size_t count, double deadline_s,
                const volatile sig_atomic_t *stop, struct reach *answers, struct error *err);

#endif
