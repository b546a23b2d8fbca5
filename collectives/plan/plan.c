/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/plan.h"

#include <stdlib.h>

#include "collectives/plan/order.h"

enum { ALIGNMENT = 64, SPARE_SLOTS = 4 };

/* MPI counts in int. */
static const size_t message_bytes_max = (size_t)1 << 30;

/* The place where the numbers that a slot holds coded are decoded. */
struct slot {
    struct plan_address place;
    size_t count; /* 0: nothing that could be passed on */
};

struct plan_maker {
    const struct plan_shape *shape;
    int *ints;
    struct slot *slots;
    size_t slots_in_all, next_slot;
    size_t in_shift; /* in place: where PLAN_IN begins in PLAN_OUT */
    struct plan_order order;
    bool is_nontemporal; /* of the steps added from here on */
    bool is_out_of_memory;
};

enum plan_stream plan_stream_of(enum plan_action action)
{
    return action == PLAN_SEND      ? PLAN_SENDS
           : action == PLAN_RECEIVE ? PLAN_RECEIVES
                                    : PLAN_COMPUTES;
}

/* Opens slots, which are used in turn. A ring sends a block before it receives one, and passes on
 * what it received one block earlier: that takes the segments of four blocks. Other algorithms send
 * to every rank before they receive. A plan that sends more than that before it receives would wait
 * for itself. */
static void open_slots(struct plan_maker *maker)
{
    const struct plan_shape *shape = maker->shape;
    bool has_parts = shape->kind == COLLECTIVE_ALLREDUCE;
    /* the ring of a hierarchical allreduce has a part per node */
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

/* Maps an address in PLAN_IN to PLAN_OUT if the call is in place: out holds the input. */
static struct plan_address placed(const struct plan_maker *maker, struct plan_address place)
{
    if (place.buffer == PLAN_IN && maker->shape->in_place)
        return (struct plan_address){PLAN_OUT, place.offset + maker->in_shift};
    return place;
}

/* Marks the slots whose numbers at `to` are overwritten: they can no longer be passed on. */
static void forget(struct plan_maker *maker, struct plan_address to, size_t count)
{
    for (size_t i = 0; i < maker->slots_in_all; i++) {
        struct slot *slot = &maker->slots[i];

        if (slot->place.buffer == to.buffer && slot->place.offset < to.offset + count &&
            to.offset < slot->place.offset + slot->count)
            slot->count = 0;
    }
}

static void add(struct plan *plan, struct plan_step step)
{
    struct plan_maker *maker = plan->maker;
    struct plan_step *steps;

    if (!maker || maker->is_out_of_memory || step.count == 0)
        return;
    if (step.action != PLAN_PULL) /* the peer's call may not be in place */
        step.left = placed(maker, step.left);
    step.right = placed(maker, step.right);
    if (step.action != PLAN_PUSH)
        step.out = placed(maker, step.out);
    step.is_nontemporal = maker->is_nontemporal;
    steps = plan_grown(plan->steps, plan->step_count, sizeof *plan->steps);
    if (steps)
        plan->steps = steps;
    if (!steps || plan_order_add(&maker->order, (int)plan->step_count, &step) != 0) {
        maker->is_out_of_memory = true;
        return;
    }
    if (plan_step_writes(&step))
        forget(maker, step.out, step.count);
    plan->steps[plan->step_count++] = step;
    plan->stream_counts[plan_stream_of(step.action)]++;
}

static size_t message_max(const struct plan *plan)
{
    return plan->maker ? message_bytes_max / plan->maker->shape->element_bytes : 1;
}

static bool is_same_address(struct plan_address a, struct plan_address b)
{
    return a.buffer == b.buffer && a.offset == b.offset;
}

/* Takes the next slot in turn; what it held can no longer be passed on. */
static struct plan_address take_slot(struct plan *plan, size_t count)
{
    struct plan_maker *maker = plan->maker;
    struct plan_address slot = {PLAN_WIRE, maker->next_slot};

    maker->next_slot = (maker->next_slot + 1) % maker->slots_in_all;
    maker->slots[slot.offset].count = 0;
    if (slot.offset >= plan->wire_slots)
        plan->wire_slots = slot.offset + 1;
    if (count > plan->wire_count)
        plan->wire_count = count;
    return slot;
}

/* Finds the slot that holds exactly these numbers, coded. Returns whether there is one. */
static bool find_slot(const struct plan_maker *maker, struct plan_address place, size_t count,
                      struct plan_address *slot)
{
    for (size_t i = 0; i < maker->slots_in_all; i++)
        if (maker->slots[i].count == count && is_same_address(maker->slots[i].place, place)) {
            *slot = (struct plan_address){PLAN_WIRE, i};
            return true;
        }
    return false;
}

static void decode(struct plan *plan, struct plan_address slot, struct plan_address to,
                   size_t count)
{
    add(plan, (struct plan_step){.action = PLAN_DECODE, .left = slot, .out = to, .count = count});
    plan->maker->slots[slot.offset] = (struct slot){to, count};
}

static void send_one(struct plan *plan, int peer, struct plan_address from, size_t count,
                     bool is_shared, bool is_plain)
{
    struct plan_maker *maker = plan->maker;
    struct plan_address slot;

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

static void receive_one(struct plan *plan, int peer, struct plan_address to, size_t count,
                        bool is_plain)
{
    struct plan_maker *maker = plan->maker;
    struct plan_address slot;

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

static void send_parts(struct plan *plan, int peer, struct plan_address from, size_t count,
                       bool is_shared, bool is_plain)
{
    size_t most = message_max(plan);

    for (size_t begin = 0; begin < count; begin += most)
        send_one(plan, peer, plan_at(from, begin), count - begin < most ? count - begin : most,
                 is_shared, is_plain);
}

static void receive_parts(struct plan *plan, int peer, struct plan_address to, size_t count,
                          bool is_plain)
{
    size_t most = message_max(plan);

    for (size_t begin = 0; begin < count; begin += most)
        receive_one(plan, peer, plan_at(to, begin), count - begin < most ? count - begin : most,
                    is_plain);
}

void plan_send(struct plan *plan, int peer, struct plan_address from, size_t count)
{
    send_parts(plan, peer, from, count, false, false);
}

void plan_share(struct plan *plan, int peer, struct plan_address place, size_t count)
{
    send_parts(plan, peer, place, count, true, false);
}

void plan_send_plain(struct plan *plan, int peer, struct plan_address from, size_t count)
{
    send_parts(plan, peer, from, count, false, true);
}

void plan_receive(struct plan *plan, int peer, struct plan_address to, size_t count)
{
    receive_parts(plan, peer, to, count, false);
}

void plan_receive_plain(struct plan *plan, int peer, struct plan_address to, size_t count)
{
    receive_parts(plan, peer, to, count, true);
}

void plan_copy(struct plan *plan, struct plan_address from, struct plan_address to, size_t count)
{
    struct plan_address left, out;

    if (!plan->maker)
        return;
    left = placed(plan->maker, from);
    out = placed(plan->maker, to);
    if (left.buffer != out.buffer || left.offset != out.offset)
        add(plan,
            (struct plan_step){.action = PLAN_COPY, .left = left, .out = out, .count = count});
}

void plan_reduce(struct plan *plan, struct plan_address left, struct plan_address right,
                 struct plan_address out, size_t count)
{
    add(plan, (struct plan_step){
                  .action = PLAN_REDUCE, .left = left, .right = right, .out = out, .count = count});
}

void plan_nontemporal(struct plan *plan, bool is_nontemporal)
{
    if (plan->maker)
        plan->maker->is_nontemporal = is_nontemporal;
}

struct plan_address plan_scratch(struct plan *plan, size_t count)
{
    struct plan_address place = {PLAN_SCRATCH, plan->scratch};
    size_t line = plan->maker ? ALIGNMENT / plan->maker->shape->element_bytes : 1;

    plan->scratch += (count + line - 1) / line * line;
    return place;
}

void plan_window(struct plan *plan, size_t count)
{
    plan->window = count;
}

void plan_window_of_buffers(struct plan *plan)
{
    enum { BUFFERS_BYTES = 2 * sizeof(uint64_t) };

    plan->window = BUFFERS_BYTES; /* elements, of at least one byte each */
    plan->publishes_buffers = true;
}

void plan_signal(struct plan *plan, unsigned number)
{
    add(plan, (struct plan_step){.action = PLAN_SIGNAL, .number = number, .count = 1});
}

void plan_await(struct plan *plan, int peer, unsigned number)
{
    add(plan, (struct plan_step){.action = PLAN_AWAIT, .peer = peer, .number = number, .count = 1});
}

void plan_pull(struct plan *plan, int peer, struct plan_address from, struct plan_address to,
               size_t count)
{
    add(plan, (struct plan_step){
                  .action = PLAN_PULL, .peer = peer, .left = from, .out = to, .count = count});
}

void plan_push(struct plan *plan, int peer, struct plan_address from, struct plan_address to,
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
    plan_order_clear(&plan->maker->order);
    free(plan->maker->slots);
    free(plan->maker->ints);
    free(plan->maker);
    plan->maker = NULL;
}

/* Makes the streams, one behind the other in one array. */
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

    if (!is_out)
        plan->after = plan_order_take(&plan->maker->order);
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
