/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_EFFORT_H
#define MUSTER_EFFORT_H

#include <stdbool.h>
#include <stddef.h>

/* How many cases are run where there is no time for all: a collective of many ranks takes longer
 * than one of few, and what the whole takes must not grow with them. Each collective has its share
 * of the time, and what one leaves over is the next one's. Pure. */

struct effort {
    double allowed_s;   /* for all that is planned */
    size_t planned;     /* cases in all */
    size_t passed;      /* cases planned for what is over, run or not */
    size_t run;         /* cases run */
    double elapsed_s;   /* since the first, as it was told last */
    size_t planned_now; /* of the collective that is run now */
    size_t run_now;
};

/* Cases of a collective that are run however long they take, and how many more at a time before
 * the time is looked at again. */
enum { EFFORT_LEAST = 4, EFFORT_STEP = 4 };

/* A collective begins, of which so many cases are planned; the one before is over. */
void effort_begin(struct effort *effort, size_t planned);

/* A case was run. */
void effort_add(struct effort *effort);

/* Whether there is time for EFFORT_STEP cases more of this collective. */
bool effort_has_time(struct effort *effort, double elapsed_s);

/* The share of the planned cases that was run, 0 to 1. */
double effort_coverage(const struct effort *effort);

/* Which of count cases is run as that number (from 0): each once, and the first ones, however many,
 * spread over all. */
size_t effort_order(size_t number, size_t count);

/* The greatest odd number of elements of 8 bytes, 15 to 1023, of which a block for each rank is no
 * more than most_bytes. */
int effort_odd(size_t ranks, size_t most_bytes);

#endif
