/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_TURN_H
#define MUSTER_POLICY_TURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which nodes are tested first if not all may be tested at a time, so that a cluster-wide restart,
 * or a timer on many heads, does not start a wave. Pure. */

struct turn_node {
    bool is_busy;           /* another run tests it now */
    bool is_drained;        /* by muster: tests may give it back to users */
    bool is_partner;        /* chosen only as a partner: the others go first */
    double since;           /* of a drained node: when it was drained, or last failed a test */
    double certified_until; /* seconds since the epoch; 0: no certificate is known */
    bool is_chosen;         /* set by turn_choose() */
    size_t index;           /* internal */
};

/* Chooses at most `room` of the nodes that are not busy, in this order: drained nodes, the longest
 * waiting first; nodes without a certificate; nodes whose certificate ends first; else as given. So
 * successive runs test all nodes. Partners come last. Half of the room is for nodes in service, if
 * there are so many: broken nodes stay drained and come first at each run. Chooses none if there is
 * room for only one and more wait: links needs two. Returns how many are chosen. */
size_t turn_choose(struct turn_node *nodes, size_t count, size_t room);

/* Returns how long before their end certificates that are valid for valid_s are due, in seconds. */
double turn_ahead_s(double valid_s);

/* Whether a certificate is due: it ends before now + ahead_s, or there is none. */
bool turn_is_due(double certified_until, double now, double ahead_s);

/* Returns a delay of 0 to most_s seconds, from a random number. */
double turn_jitter_s(double most_s, uint32_t random);

#endif
