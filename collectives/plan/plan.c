/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/plan.h"

#include <stdlib.h>
#include <string.h>

enum { NOBODY = -1, ALIGNMENT = 64, SPARE_SLOTS = 4 };

/* MPI counts in int. */
static const size_t message_bytes_max = (size_t)1 << 30;

/* A part of a buffer of which all elements have the same history. */
struct cell {
    size_t begin, end;
    int writer;  /* the last step that wrote it */
    int readers; /* the steps that have read it since: a chain in maker->readers */
};

/* Chains only grow at their heads, so that cells that were one share their tails. */
struct reader {
    int step, next;
};

struct ledger {
    struct cell *cells; /* in order, without gaps from 0 to the end of the last */
    size_t count, size;
};

/* What a slot holds, coded, and where the same stands decoded. */
struct slot {
    struct plan_place place;
    size_t count; /* 0: nothing that could be passed on */
};

struct plan_maker {
    const struct plan_shape *shape;
    int *ints;
    struct slot *slots;
    size_t slots_in_all, next_slot;
    size_t in_shift; /* in place: where PLAN_IN begins in PLAN_OUT */
    struct ledger ledgers[PLAN_BUFFERS];
    struct reader *readers;
    size_t reader_count, reader_size;
    unsigned step_size;
    size_t after_count, after_size;
    bool is_out_of_memory;
};

enum plan_stream plan_stream_of(enum plan_action action)
{
    return action == PLAN_SEND      ? PLAN_SENDS
           : action == PLAN_RECEIVE ? PLAN_RECEIVES
                                    : PLAN_COMPUTES;
}

/* Used in turn. A ring sends a block before it receives one, and passes on what came in a block
 * earlier: that is four blocks of segments. Others send to every rank before they receive. A plan
 * that sends more than that before it receives would wait for itself. */
static void open_slots(struct plan_maker *maker)
{
    const struct plan_shape *shape = maker->shape;
    bool has_parts = shape->kind == COLLECTIVE_ALLREDUCE;
    /* a hierarchical one goes round the nodes */
    int parts = shape->topology && shape->topology->nodes ? shape->topology->nodes : shape->ranks;
    size_t most = has_parts ? plan_part(shape->count, parts, 0).count : 0;

    for (int r = 0; r < shape->ranks && !has_parts; r++) {
        struct plan_block block = plan_shape_block(shape, r);

        most = block.count > most ? block.count : most;
    }
    maker->slots_in_all = 4 * plan_segments(shape, most) + 2 * (unsigned)shape->ranks + SPARE_SLOTS;
    maker->slots = calloc(maker->slots_in_all, sizeof *maker->slots);
    maker->is_out_of_memory = !maker->slots;
}

void plan_begin(struct plan *plan, const struct plan_shape *shape)
{
    *plan = (struct plan){.maker = calloc(1, sizeof *plan->maker)};
    if (!plan->maker)
        return;
    plan->maker->shape = shape;
    if (shape->wire != WIRE_AS_IS)
        open_slots(plan->maker);
    if (shape->in_place && shape->kind == COLLECTIVE_ALL_GATHER)
        plan->maker->in_shift = plan_shape_block(shape, shape->rank).offset;
}

/* Room for one more of `bytes` each; NULL and is_out_of_memory when there is none. */
static void *grown(struct plan_maker *maker, void *array, size_t count, size_t *size, size_t bytes)
{
    size_t more = *size ? 2 * *size : 64;
    void *larger;

    if (count < *size)
        return array;
    larger = realloc(array, more * bytes);
    if (!larger) {
        maker->is_out_of_memory = true;
        return array;
    }
    *size = more;
    return larger;
}

static void add_after(struct plan *plan, struct plan_step *step, int earlier)
{
    struct plan_maker *maker = plan->maker;

    if (earlier == NOBODY)
        return;
    for (unsigned i = step->after; i < step->after_end; i++)
        if (plan->after[i] == (unsigned)earlier)
            return;
    plan->after =
        grown(maker, plan->after, maker->after_count, &maker->after_size, sizeof *plan->after);
    if (maker->is_out_of_memory)
        return;
    plan->after[maker->after_count++] = (unsigned)earlier;
    step->after_end++;
}

/* Puts a boundary at `at`; the cells must reach beyond it or end there. Returns the number of the
 * cell that begins there. */
static size_t split(struct plan_maker *maker, struct ledger *ledger, size_t at)
{
    size_t low = 0, high = ledger->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (ledger->cells[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == ledger->count || ledger->cells[low].begin == at)
        return low;
    ledger->cells =
        grown(maker, ledger->cells, ledger->count, &ledger->size, sizeof *ledger->cells);
    if (maker->is_out_of_memory)
        return low;
    memmove(ledger->cells + low + 1, ledger->cells + low,
            (ledger->count++ - low) * sizeof *ledger->cells);
    ledger->cells[low].end = at;
    ledger->cells[low + 1].begin = at;
    return low + 1;
}

static void reach(struct plan_maker *maker, struct ledger *ledger, size_t end)
{
    size_t last = ledger->count ? ledger->cells[ledger->count - 1].end : 0;

    if (end <= last)
        return;
    ledger->cells =
        grown(maker, ledger->cells, ledger->count, &ledger->size, sizeof *ledger->cells);
    if (!maker->is_out_of_memory)
        ledger->cells[ledger->count++] = (struct cell){last, end, NOBODY, NOBODY};
}

/* A slot counts as one element. */
static size_t extent(struct plan_place place, size_t count)
{
    return place.buffer == PLAN_WIRE ? 1 : count;
}

static void note_read(struct plan *plan, struct plan_step *step, int number, struct plan_place from)
{
    struct plan_maker *maker = plan->maker;
    struct ledger *ledger = &maker->ledgers[from.buffer];
    size_t first, end;

    reach(maker, ledger, from.offset + extent(from, step->count));
    first = split(maker, ledger, from.offset);
    end = split(maker, ledger, from.offset + extent(from, step->count));
    for (size_t i = first; i < end && !maker->is_out_of_memory; i++) {
        struct cell *cell = &ledger->cells[i];

        add_after(plan, step, cell->writer);
        maker->readers = grown(maker, maker->readers, maker->reader_count, &maker->reader_size,
                               sizeof *maker->readers);
        if (maker->is_out_of_memory)
            return;
        maker->readers[maker->reader_count] = (struct reader){number, cell->readers};
        cell->readers = (int)maker->reader_count++;
    }
}

/* What is written is no longer what a slot holds. */
static void forget(struct plan_maker *maker, struct plan_place to, size_t count)
{
    for (size_t i = 0; i < maker->slots_in_all; i++) {
        struct slot *slot = &maker->slots[i];

        if (slot->place.buffer == to.buffer && slot->place.offset < to.offset + count &&
            to.offset < slot->place.offset + slot->count)
            slot->count = 0;
    }
}

static void note_write(struct plan *plan, struct plan_step *step, int number, struct plan_place to)
{
    struct plan_maker *maker = plan->maker;
    struct ledger *ledger = &maker->ledgers[to.buffer];
    size_t first, end;

    reach(maker, ledger, to.offset + extent(to, step->count));
    first = split(maker, ledger, to.offset);
    end = split(maker, ledger, to.offset + extent(to, step->count));
    if (maker->is_out_of_memory)
        return;
    for (size_t i = first; i < end; i++) {
        /* who has read it waited for the writer */
        if (ledger->cells[i].readers == NOBODY)
            add_after(plan, step, ledger->cells[i].writer);
        for (int r = ledger->cells[i].readers; r != NOBODY; r = maker->readers[r].next)
            if (maker->readers[r].step != number)
                add_after(plan, step, maker->readers[r].step);
    }
    forget(maker, to, step->count);
    ledger->cells[first] =
        (struct cell){ledger->cells[first].begin, ledger->cells[end - 1].end, number, NOBODY};
    memmove(ledger->cells + first + 1, ledger->cells + end,
            (ledger->count - end) * sizeof *ledger->cells);
    ledger->count -= end - first - 1;
}

/* In place there is no other `in` than what out holds. */
static struct plan_place placed(const struct plan_maker *maker, struct plan_place place)
{
    if (place.buffer == PLAN_IN && maker->shape->in_place)
        return (struct plan_place){PLAN_OUT, place.offset + maker->in_shift};
    return place;
}

static void add(struct plan *plan, struct plan_step step)
{
    struct plan_maker *maker = plan->maker;
    int number = (int)plan->step_count;
    size_t size;

    if (!maker || maker->is_out_of_memory || step.count == 0)
        return;
    size = maker->step_size;
    plan->steps = grown(maker, plan->steps, plan->step_count, &size, sizeof *plan->steps);
    maker->step_size = (unsigned)size;
    if (step.action != PLAN_PULL) /* a peer may not be in place */
        step.left = placed(maker, step.left);
    step.right = placed(maker, step.right);
    if (step.action != PLAN_PUSH)
        step.out = placed(maker, step.out);
    step.after = step.after_end = (unsigned)maker->after_count;
    if (plan_step_reads(&step))
        note_read(plan, &step, number, step.left);
    if (step.action == PLAN_REDUCE)
        note_read(plan, &step, number, step.right);
    if (plan_step_writes(&step))
        note_write(plan, &step, number, step.out);
    if (maker->is_out_of_memory)
        return;
    plan->steps[plan->step_count++] = step;
    plan->stream_counts[plan_stream_of(step.action)]++;
}

static size_t message_max(const struct plan *plan)
{
    return plan->maker ? message_bytes_max / plan->maker->shape->element_bytes : 1;
}

static bool is_same_place(struct plan_place a, struct plan_place b)
{
    return a.buffer == b.buffer && a.offset == b.offset;
}

/* The next slot in turn; what it held can no longer be passed on. */
static struct plan_place take_slot(struct plan *plan, size_t count)
{
    struct plan_maker *maker = plan->maker;
    struct plan_place slot = {PLAN_WIRE, maker->next_slot};

    maker->next_slot = (maker->next_slot + 1) % maker->slots_in_all;
    maker->slots[slot.offset].count = 0;
    if (slot.offset >= plan->wire_slots)
        plan->wire_slots = slot.offset + 1;
    if (count > plan->wire_count)
        plan->wire_count = count;
    return slot;
}

/* The slot that holds exactly this, coded; false: none does. */
static bool find_slot(const struct plan_maker *maker, struct plan_place place, size_t count,
                      struct plan_place *slot)
{
    for (size_t i = 0; i < maker->slots_in_all; i++)
        if (maker->slots[i].count == count && is_same_place(maker->slots[i].place, place)) {
            *slot = (struct plan_place){PLAN_WIRE, i};
            return true;
        }
    return false;
}

static void decode(struct plan *plan, struct plan_place slot, struct plan_place to, size_t count)
{
    add(plan, (struct plan_step){.action = PLAN_DECODE, .left = slot, .out = to, .count = count});
    plan->maker->slots[slot.offset] = (struct slot){to, count};
}

static void send_one(struct plan *plan, int peer, struct plan_place from, size_t count,
                     bool is_shared, bool is_plain)
{
    struct plan_maker *maker = plan->maker;
    struct plan_place slot;

    if (!maker || maker->is_out_of_memory)
        return;
    from = placed(maker, from);
    if (maker->shape->wire != WIRE_AS_IS && !is_plain) {
        if (!find_slot(maker, from, count, &slot)) {
            slot = take_slot(plan, count);
            add(plan, (struct plan_step){
                          .action = PLAN_ENCODE, .left = from, .out = slot, .count = count});
            if (!wire_is_lossy(maker->shape->wire))
                maker->slots[slot.offset] = (struct slot){from, count};
            else if (is_shared)
                decode(plan, slot, from, count);
        }
        from = slot;
    }
    add(plan, (struct plan_step){.action = PLAN_SEND, .peer = peer, .left = from, .count = count});
}

static void receive_one(struct plan *plan, int peer, struct plan_place to, size_t count,
                        bool is_plain)
{
    struct plan_maker *maker = plan->maker;
    struct plan_place slot;

    if (!maker || maker->is_out_of_memory)
        return;
    to = placed(maker, to);
    if (maker->shape->wire == WIRE_AS_IS || is_plain) {
        add(plan,
            (struct plan_step){.action = PLAN_RECEIVE, .peer = peer, .out = to, .count = count});
        return;
    }
    slot = take_slot(plan, count);
    add(plan,
        (struct plan_step){.action = PLAN_RECEIVE, .peer = peer, .out = slot, .count = count});
    decode(plan, slot, to, count);
}

static void send_parts(struct plan *plan, int peer, struct plan_place from, size_t count,
                       bool is_shared, bool is_plain)
{
    size_t most = message_max(plan);

    for (size_t begin = 0; begin < count; begin += most)
        send_one(plan, peer, plan_at(from, begin), count - begin < most ? count - begin : most,
                 is_shared, is_plain);
}

static void receive_parts(struct plan *plan, int peer, struct plan_place to, size_t count,
                          bool is_plain)
{
    size_t most = message_max(plan);

    for (size_t begin = 0; begin < count; begin += most)
        receive_one(plan, peer, plan_at(to, begin), count - begin < most ? count - begin : most,
                    is_plain);
}

void plan_send(struct plan *plan, int peer, struct plan_place from, size_t count)
{
    send_parts(plan, peer, from, count, false, false);
}

void plan_share(struct plan *plan, int peer, struct plan_place place, size_t count)
{
    send_parts(plan, peer, place, count, true, false);
}

void plan_send_plain(struct plan *plan, int peer, struct plan_place from, size_t count)
{
    send_parts(plan, peer, from, count, false, true);
}

void plan_receive(struct plan *plan, int peer, struct plan_place to, size_t count)
{
    receive_parts(plan, peer, to, count, false);
}

void plan_receive_plain(struct plan *plan, int peer, struct plan_place to, size_t count)
{
    receive_parts(plan, peer, to, count, true);
}

void plan_copy(struct plan *plan, struct plan_place from, struct plan_place to, size_t count)
{
    struct plan_place left, out;

    if (!plan->maker)
        return;
    left = placed(plan->maker, from);
    out = placed(plan->maker, to);
    if (left.buffer != out.buffer || left.offset != out.offset)
        add(plan,
            (struct plan_step){.action = PLAN_COPY, .left = left, .out = out, .count = count});
}

void plan_reduce(struct plan *plan, struct plan_place left, struct plan_place right,
                 struct plan_place out, size_t count)
{
    add(plan, (struct plan_step){
                  .action = PLAN_REDUCE, .left = left, .right = right, .out = out, .count = count});
}

void plan_complete(struct plan *plan, struct plan_place place, size_t count)
{
    if (plan->maker && plan->maker->shape->op == REDUCE_AVERAGE &&
        collective_kind_reduces(plan->maker->shape->kind) && plan->maker->shape->ranks > 1)
        add(plan, (struct plan_step){.action = PLAN_DIVIDE, .out = place, .count = count});
}

struct plan_place plan_scratch(struct plan *plan, size_t count)
{
    struct plan_place place = {PLAN_SCRATCH, plan->scratch};
    size_t line = plan->maker ? ALIGNMENT / plan->maker->shape->element_bytes : 1;

    plan->scratch += (count + line - 1) / line * line;
    return place;
}

void plan_window(struct plan *plan, size_t count)
{
    plan->window = count;
}

void plan_signal(struct plan *plan, unsigned number)
{
    add(plan, (struct plan_step){.action = PLAN_SIGNAL, .number = number, .count = 1});
}

void plan_await(struct plan *plan, int peer, unsigned number)
{
    add(plan, (struct plan_step){.action = PLAN_AWAIT, .peer = peer, .number = number, .count = 1});
}

void plan_pull(struct plan *plan, int peer, struct plan_place from, struct plan_place to,
               size_t count)
{
    add(plan, (struct plan_step){
                  .action = PLAN_PULL, .peer = peer, .left = from, .out = to, .count = count});
}

void plan_push(struct plan *plan, int peer, struct plan_place from, struct plan_place to,
               size_t count)
{
    add(plan, (struct plan_step){
                  .action = PLAN_PUSH, .peer = peer, .left = from, .out = to, .count = count});
}

int *plan_ints(struct plan *plan, size_t count)
{
    struct plan_maker *maker = plan->maker;

    if (!maker)
        return NULL;
    maker->ints = calloc(count, sizeof *maker->ints);
    if (!maker->ints)
        maker->is_out_of_memory = true;
    return maker->ints;
}

static void clear_maker(struct plan *plan)
{
    if (!plan->maker)
        return;
    for (int b = 0; b < PLAN_BUFFERS; b++)
        free(plan->maker->ledgers[b].cells);
    free(plan->maker->readers);
    free(plan->maker->slots);
    free(plan->maker->ints);
    free(plan->maker);
    plan->maker = NULL;
}

/* The streams stand behind one another in one array. */
static int make_streams(struct plan *plan)
{
    unsigned *numbers = malloc((plan->step_count + 1) * sizeof *numbers), ends[PLAN_STREAMS];

    if (!numbers)
        return -1;
    for (int s = 0; s < PLAN_STREAMS; s++) {
        plan->streams[s] = numbers;
        ends[s] = 0;
        numbers += plan->stream_counts[s];
    }
    for (unsigned i = 0; i < plan->step_count; i++) {
        enum plan_stream s = plan_stream_of(plan->steps[i].action);

        plan->streams[s][ends[s]++] = i;
    }
    return 0;
}

int plan_end(struct plan *plan, struct error *err)
{
    bool is_out = !plan->maker || plan->maker->is_out_of_memory;

    clear_maker(plan);
    if (is_out || make_streams(plan) < 0) {
        plan_clear(plan);
        return error_set(err, "out of memory for the plan of a collective");
    }
    return 0;
}

void plan_clear(struct plan *plan)
{
    if (!plan)
        return;
    clear_maker(plan);
    free(plan->steps);
    free(plan->after);
    free(plan->streams[0]);
    *plan = (struct plan){0};
}
