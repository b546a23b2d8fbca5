/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ACT_CAP_H
#define MUSTER_ACT_CAP_H

#include <stddef.h>

/* A share of the nodes, as a number of them: so many faults at once often have one cause, and a
 * cluster that restarts must not start a wave of tests. Pure. */

/* percent of `nodes` nodes, rounded up, no less than `least`. */
size_t cap_nodes(size_t nodes, double percent, size_t least);

enum { CAP_DRAINS_LEAST = 1, CAP_TESTS_LEAST = 2 /* links needs two */ };

#endif
