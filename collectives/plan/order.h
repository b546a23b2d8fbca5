/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLAN_ORDER_H
#define MUSTER_PLAN_ORDER_H

#include "collectives/plan/plan.h"

/* Which steps of a plan come after which, found out while it is made: who has written each element
 * of each buffer last, and who has read it since. */

/* A part of a buffer of which all elements have the same history. */
struct plan_cell {
    size_t begin, end;
    int writer;  /* the last step that wrote it */
    int readers; /* the steps that have read it since: a chain in plan_order's readers */
};

/* Chains only grow at their heads, so that cells that were one share their tails. */
struct plan_reader {
    int step, next;
};

struct plan_ledger {
    struct plan_cell *cells; /* in order, without gaps from 0 to the end of the last */
    size_t count;
};

/* Begins with zeros. */
struct plan_order {
    struct plan_ledger ledgers[PLAN_BUFFERS];
    struct plan_reader *readers;
    size_t reader_count;
    unsigned *after; /* as plan's */
    size_t after_count;
};

/* Takes the plan's next step, the number-th, and fills its after and after_end. Returns 0, or -1
 * when memory is out. */
int plan_order_add(struct plan_order *order, int number, struct plan_step *step);

/* What plan->after is to be, the caller's from now on; NULL when no step comes after another. */
unsigned *plan_order_take(struct plan_order *order);

void plan_order_clear(struct plan_order *order);

/* The array of `count` elements of `bytes` each, with room for one more: it is doubled where it is
 * full, as if it had never had more. NULL: memory is out, and the array as it was. */
void *plan_grown(void *array, size_t count, size_t bytes);

#endif
