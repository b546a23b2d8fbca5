/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/order.h"

#include <stdlib.h>
#include <string.h>

enum { NOBODY = -1 };

void *plan_grown(void *array, size_t count, size_t bytes)
{
    enum { LEAST = 64 };

    if (count > 0 && (count < LEAST || (count & (count - 1))))
        return array;
    return realloc(array, (count > 0 ? 2 * count : LEAST) * bytes);
}

static int add_after(struct plan_order *order, struct plan_step *step, int earlier)
{
    unsigned *after;

    if (earlier == NOBODY)
        return 0;
    for (unsigned i = step->after; i < step->after_end; i++)
        if (order->after[i] == (unsigned)earlier)
            return 0;
    after = plan_grown(order->after, order->after_count, sizeof *order->after);
    if (!after)
        return -1;
    order->after = after;
    order->after[order->after_count++] = (unsigned)earlier;
    step->after_end++;
    return 0;
}

static int add_reader(struct plan_order *order, struct plan_cell *cell, int number)
{
    struct plan_reader *readers =
        plan_grown(order->readers, order->reader_count, sizeof *order->readers);

    if (!readers)
        return -1;
    order->readers = readers;
    order->readers[order->reader_count] = (struct plan_reader){number, cell->readers};
    cell->readers = (int)order->reader_count++;
    return 0;
}

static int add_cell(struct plan_ledger *ledger)
{
    struct plan_cell *cells = plan_grown(ledger->cells, ledger->count, sizeof *ledger->cells);

    if (!cells)
        return -1;
    ledger->cells = cells;
    ledger->count++;
    return 0;
}

/* Extends the cells to `end` at least. */
static int reach(struct plan_ledger *ledger, size_t end)
{
    size_t last = ledger->count ? ledger->cells[ledger->count - 1].end : 0;

    if (end <= last)
        return 0;
    if (add_cell(ledger) != 0)
        return -1;
    ledger->cells[ledger->count - 1] = (struct plan_cell){last, end, NOBODY, NOBODY};
    return 0;
}

/* Splits the cell that contains `at`, so that a cell begins there, and sets *number to its index.
 * The cells must reach to `at` at least. */
static int split(struct plan_ledger *ledger, size_t at, size_t *number)
{
    size_t low = 0, high = ledger->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (ledger->cells[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    *number = low;
    if (low == ledger->count || ledger->cells[low].begin == at)
        return 0;
    if (add_cell(ledger) != 0)
        return -1;
    memmove(ledger->cells + low + 1, ledger->cells + low,
            (ledger->count - 1 - low) * sizeof *ledger->cells);
    ledger->cells[low].end = at;
    ledger->cells[low + 1].begin = at;
    *number = low + 1;
    return 0;
}

/* Splits cells so that [*first, *end) cover exactly this place. A slot counts as one element. */
static int cut_out(struct plan_ledger *ledger, struct plan_address place, size_t count,
                   size_t *first, size_t *end)
{
    size_t behind = place.offset + (place.buffer == PLAN_WIRE ? 1 : count);

    return reach(ledger, behind) == 0 && split(ledger, place.offset, first) == 0
               ? split(ledger, behind, end)
               : -1;
}

static int note_read(struct plan_order *order, int number, struct plan_step *step,
                     struct plan_address from)
{
    struct plan_ledger *ledger = &order->ledgers[from.buffer];
    size_t first, end;

    if (cut_out(ledger, from, step->count, &first, &end) != 0)
        return -1;
    for (size_t i = first; i < end; i++)
        if (add_after(order, step, ledger->cells[i].writer) != 0 ||
            add_reader(order, &ledger->cells[i], number) != 0)
            return -1;
    return 0;
}

static int note_write(struct plan_order *order, int number, struct plan_step *step,
                      struct plan_address to)
{
    struct plan_ledger *ledger = &order->ledgers[to.buffer];
    size_t first, end;

    if (cut_out(ledger, to, step->count, &first, &end) != 0)
        return -1;
    for (size_t i = first; i < end; i++) {
        /* readers have waited for the writer already */
        if (ledger->cells[i].readers == NOBODY &&
            add_after(order, step, ledger->cells[i].writer) != 0)
            return -1;
        for (int r = ledger->cells[i].readers; r != NOBODY; r = order->readers[r].next)
            if (order->readers[r].step != number &&
                add_after(order, step, order->readers[r].step) != 0)
                return -1;
    }
    ledger->cells[first] =
        (struct plan_cell){ledger->cells[first].begin, ledger->cells[end - 1].end, number, NOBODY};
    memmove(ledger->cells + first + 1, ledger->cells + end,
            (ledger->count - end) * sizeof *ledger->cells);
    ledger->count -= end - first - 1;
    return 0;
}

int plan_order_add(struct plan_order *order, int number, struct plan_step *step)
{
    step->after = step->after_end = (unsigned)order->after_count;
    if (plan_step_reads(step) && note_read(order, number, step, step->left) != 0)
        return -1;
    if (step->action == PLAN_REDUCE && note_read(order, number, step, step->right) != 0)
        return -1;
    return plan_step_writes(step) ? note_write(order, number, step, step->out) : 0;
}

unsigned *plan_order_take(struct plan_order *order)
{
    unsigned *after = order->after;

    order->after = NULL;
    return after;
}

void plan_order_clear(struct plan_order *order)
{
    for (int b = 0; b < PLAN_BUFFERS; b++)
        free(order->ledgers[b].cells);
    free(order->readers);
    free(order->after);
}
