/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_STRIKES_H
#define MUSTER_POLICY_STRIKES_H

#include <stdbool.h>
#include <stddef.h>

/* Flap control. A fault near the limit may be a moment's: the node is a suspect, is not certified
 * anew, and is drained when the same part has failed so by the same code for the Strikes-th time
 * within StrikeWindow. A hard fault, one below an absolute floor, a part that is missing, a node
 * that is dead, drains at once. Pure. */

/* Whether a figure that failed is near its limit: the limit is what its peers or its past reach,
 * not an absolute floor, and no more than a third is lacking, as no noise takes more. limit_source:
 * as in records; NULL or another one is hard. */
bool strikes_is_near(const char *limit_source, double value, double limit);

/* One strike of earlier runs: when, and whether it was the last one that was wanted, so that the
 * node was drained and the count began again. */
struct strike {
    double time; /* seconds since the epoch */
    bool is_last;
};

/* Which strike one at `now` is, from 1: of those of the same node, code and part, oldest first. */
int strikes_count(const struct strike *strikes, size_t count, double now, double window_s);

/* "strike 2 of 3 within 24 h" */
void strikes_print(int strike, int wanted, double window_s, char *text, size_t size);

#endif
