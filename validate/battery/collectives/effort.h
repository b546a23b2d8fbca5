/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_EFFORT_H
#define MUSTER_EFFORT_H

#include <stdbool.h>
#include <stddef.h>

/* Limits the number of cases if there is no time for all. A collective of many ranks takes longer
 * than one of few, but the time in all must not grow with the ranks. Each collective has its share
 * of the time; what it does not use is left to the next one. Pure. */

struct effort {
    double allowed_s;   /* for all that is planned */
    size_t planned;     /* cases in all */
    size_t passed;      /* cases planned for collectives that are over, run or not */
    size_t run;         /* cases run */
    double elapsed_s;   /* since the first case, as last set */
    size_t planned_now; /* of the collective that is run now */
    size_t run_now;
};

/* Cases of a collective that run however long they take, and cases between two checks of the time
 * after these. */
enum { EFFORT_LEAST = 4, EFFORT_STEP = 4 };

/* Begins a collective of `planned` cases. The one before is over. */
void effort_begin(struct effort *effort, size_t planned);

/* Counts a case that ran. */
void effort_add(struct effort *effort);

/* Whether there is time for EFFORT_STEP cases more of this collective. */
bool effort_has_time(struct effort *effort, double elapsed_s);

/* The share of the planned cases that was run, 0 to 1. */
double effort_coverage(const struct effort *effort);

/* Returns which of `count` cases to run as number `number` (from 0). Each comes once, and the first
 * ones, however many, are spread over all. */
size_t effort_order(size_t number, size_t count);

/* Returns the greatest odd number of elements of 8 bytes, 15 to 1023, with which one block for each
 * rank is at most most_bytes. */
int effort_odd(size_t ranks, size_t most_bytes);

#endif
