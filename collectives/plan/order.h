/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLAN_ORDER_H
#define MUSTER_PLAN_ORDER_H

#include "collectives/plan/plan.h"

/* Finds which steps of a plan must come after which, while the plan is made: from the step that
 * wrote each element of each buffer last, and the steps that have read it since. */

/* A part of a buffer whose elements all have the same writer and readers. */
struct plan_cell {
    size_t begin, end;
    int writer;  /* the last step that wrote it */
    int readers; /* the steps that have read it since: a chain in plan_order's readers */
};

/* A link of a chain of readers. Chains only grow at their heads, so cells that were split from one
 * share their tails. */
struct plan_reader {
    int step, next;
};

struct plan_ledger {
    struct plan_cell *cells; /* in order, without gaps from 0 to the end of the last */
    size_t count;
};

/* Initialized with zeros. */
struct plan_order {
    struct plan_ledger ledgers[PLAN_BUFFERS];
    struct plan_reader *readers;
    size_t reader_count;
    unsigned *after; /* becomes plan->after */
    size_t after_count;
};

/* Adds the plan's next step, of index `number`, and sets its after and after_end. Returns 0, or -1
 * if memory is out. */
int plan_order_add(struct plan_order *order, int number, struct plan_step *step);

/* Returns the array for plan->after, which the caller then owns; NULL if no step comes after
 * another. */
unsigned *plan_order_take(struct plan_order *order);

void plan_order_clear(struct plan_order *order);

/* Returns an array of `count` elements of `bytes` each with room for one more. The capacity is 64
 * or a power of two above, and doubles when count reaches it. NULL: out of memory; the array is
 * unchanged. */
void *plan_grown(void *array, size_t count, size_t bytes);

#endif
