/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_STRIKES_H
#define MUSTER_POLICY_STRIKES_H

#include <stdbool.h>
#include <stddef.h>

/* Flap control. A fault near the limit may be transient: the node is a suspect, is not certified
 * anew, and is drained once the same part has failed by the same code for the Strikes-th time
 * within StrikeWindow. A hard fault, such as a figure below an absolute floor, a missing part or a
 * dead node, drains at once. Pure. */

/* Returns whether a failed value is near its limit: the limit comes from peers or history, not from
 * an absolute floor, and the value is at least two thirds of it. Noise costs no more than a third.
 * limit_source: as in records; NULL or any other is hard. */
bool strikes_is_near(const char *limit_source, double value, double limit);

/* A strike of an earlier run. is_last: it was the last of its count, so the node was drained and
 * the count began again. */
struct strike {
    double time; /* seconds since the epoch */
    bool is_last;
};

/* Returns the number of a strike at `now`, from 1. strikes: earlier ones of the same node, code and
 * part, oldest first. */
int strikes_count(const struct strike *strikes, size_t count, double now, double window_s);

/* Writes "strike 2 of 3 within 24 h". */
void strikes_print(int strike, int wanted, double window_s, char *text, size_t size);

#endif
