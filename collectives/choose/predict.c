/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/choose/predict.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/constants/collectives_constants.h"

enum {
    EAGER_BYTES = 4096, /* messages up to this size do not wait for their receive */
    NOTHING = UINT_MAX  /* instead of a step */
};

/* the rate where none was measured, so that no prediction is infinite */
static const double unknown_GBps = 4;

static double at_rate(double bytes, double rate_GBps)
{
    return bytes / 1e3 / (rate_GBps > 0 ? rate_GBps : unknown_GBps);
}

/* ----------------------------------------------------------------------------------- the walk */

struct step_walk {
    double begun, ended; /* us; -1: not yet */
    double there;        /* when a message arrived before its receive began; or -1 */
    unsigned matching;   /* of a send its receive, of a receive its send, at the peer */
};

struct rank_walk {
    struct plan plan;
    struct step_walk *steps;
    unsigned next[PLAN_STREAMS];
    unsigned under_way[PLAN_STREAMS];
    unsigned signalled; /* its last signal */
    double out_free, in_free, processor_free;
};

/* The end of a step; with step NOTHING a link that is free again. */
struct event {
    double time_us;
    int rank;
    unsigned step;
};

/* A message that could leave if its links were free. */
struct waiting {
    double ready_us;
    int from;
    unsigned send;
};

struct walk {
    const struct machine *machine;
    const struct layout *layout;
    enum element_type type;
    enum wire_format wire;
    size_t element_bytes;
    struct rank_walk *ranks;
    double *node_out_free, *node_in_free; /* [nodes] */
    struct event *events;                 /* a heap */
    size_t event_count;
    struct waiting *waiting; /* longest waiting first, then by their index in their plans */
    size_t waiting_count;
    size_t left; /* steps that have not ended */
    double end_us;
};

static void push(struct walk *walk, double time_us, int rank, unsigned step)
{
    size_t index = walk->event_count++;

    for (size_t above; index > 0 && walk->events[above = (index - 1) / 2].time_us > time_us;
         index = above)
        walk->events[index] = walk->events[above];
    walk->events[index] = (struct event){time_us, rank, step};
}

static struct event pop(struct walk *walk)
{
    struct event first = walk->events[0], last = walk->events[--walk->event_count];
    size_t index = 0, below;

    for (; (below = 2 * index + 1) < walk->event_count; index = below) {
        if (below + 1 < walk->event_count &&
            walk->events[below + 1].time_us < walk->events[below].time_us)
            below++;
        if (walk->events[below].time_us >= last.time_us)
            break;
        walk->events[index] = walk->events[below];
    }
    walk->events[index] = last;
    return first;
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* Bytes of count elements of the type on the wire; for lossless coding at the measured ratio. */
static size_t wire_bytes(const struct machine *machine, enum wire_format wire,
                         enum element_type type, size_t count)
{
    if (wire == WIRE_LOSSLESS && machine_has_codec(machine, wire_codec(type)))
        return machine_coded_bytes(machine, wire_codec(type), count);
    return wire_bound(wire, type, count);
}

/* Bytes of a send or a receive: the same at both ends, also if a plan codes only some messages. */
static size_t message_bytes(const struct walk *walk, const struct plan_step *step)
{
    enum plan_buffer buffer = step->action == PLAN_SEND ? step->left.buffer : step->out.buffer;

    if (buffer == PLAN_WIRE)
        return wire_bytes(walk->machine, walk->wire, walk->type, step->count);
    return step->count * walk->element_bytes;
}

static bool is_eager(const struct walk *walk, const struct plan_step *step)
{
    return message_bytes(walk, step) <= EAGER_BYTES;
}

/* Queues a message that may leave as soon as its links are free. */
static void queue(struct walk *walk, double now, int from, unsigned send)
{
    size_t index = walk->waiting_count;

    while (index > 0 && walk->waiting[index - 1].ready_us > now - PREDICT_AT_ONCE_US &&
           (walk->waiting[index - 1].send > send ||
            (walk->waiting[index - 1].send == send && walk->waiting[index - 1].from > from)))
        index--;
    memmove(walk->waiting + index + 1, walk->waiting + index,
            (walk->waiting_count++ - index) * sizeof *walk->waiting);
    walk->waiting[index] = (struct waiting){now, from, send};
}

/* Starts a message now if all links that it uses are free. Returns whether it did. */
static bool start_message(struct walk *walk, double now, int from, unsigned send)
{
    struct rank_walk *sender = &walk->ranks[from];
    const struct plan_step *step = &sender->plan.steps[send];
    int to = step->peer;
    struct rank_walk *receiver = &walk->ranks[to];
    double *out = &walk->node_out_free[walk->layout->node_of_rank[from]];
    double *in = &walk->node_in_free[walk->layout->node_of_rank[to]];
    unsigned receive = sender->steps[send].matching;
    enum link_class class = layout_link(walk->layout, from, to);
    double whole, busy;

    if (sender->out_free > now || receiver->in_free > now ||
        (class != LINK_NODE && (*out > now || *in > now)))
        return false;
    whole = machine_link_us(walk->machine, class, message_bytes(walk, step));
    busy = whole - machine_link_us(walk->machine, class, 1);
    if (busy < 0)
        busy = 0;
    sender->out_free = receiver->in_free = now + busy;
    if (class != LINK_NODE)
        *out = *in = now + busy;
    push(walk, now + busy, from, NOTHING);
    push(walk, is_eager(walk, step) ? now + busy : now + whole, from, send);
    if (receiver->steps[receive].begun >= 0)
        push(walk, now + whole, to, receive);
    else
        receiver->steps[receive].there = now + whole;
    return true;
}

/* Starts queued messages in the order in which they became ready. A message whose receiver is busy
 * does not delay others. */
static void start_messages(struct walk *walk, double now)
{
    size_t kept = 0;

    for (size_t i = 0; i < walk->waiting_count; i++) {
        struct waiting message = walk->waiting[i];

        if (!start_message(walk, now, message.from, message.send))
            walk->waiting[kept++] = message;
    }
    walk->waiting_count = kept;
}

/* Whether the address is another rank's part of the window. */
static bool is_others(const struct rank_walk *self, int rank, struct plan_address address)
{
    return address.buffer == PLAN_WINDOW && address.offset / self->plan.window != (size_t)rank;
}

/* Data that another rank has just written comes out of its processor's cache no faster than a
 * message would, however fast the own cache is. own_us: the time with data of this rank. */
static double from_others_us(const struct walk *walk, double bytes, double own_us)
{
    return later(own_us, machine_link_us(walk->machine, LINK_NODE, (size_t)bytes) -
                             machine_link_us(walk->machine, LINK_NODE, 1));
}

static double computing_us(const struct walk *walk, int rank, const struct plan_step *step)
{
    const struct machine *machine = walk->machine;
    const struct rank_walk *self = &walk->ranks[rank];
    double bytes = (double)step->count * (double)walk->element_bytes, time_us;

    if (step->action == PLAN_AWAIT)
        return 0;
    if (step->action == PLAN_SIGNAL) /* others see it as fast as a short message */
        return machine_link_us(machine, LINK_NODE, 1) / 2;
    if (step->action == PLAN_PULL || step->action == PLAN_PUSH)
        return machine_link_us(machine, LINK_NODE, (size_t)bytes);
    if (step->action == PLAN_COPY) {
        time_us = at_rate(bytes, machine->copy_GBps);
        return is_others(self, rank, step->left) ? from_others_us(walk, bytes, time_us) : time_us;
    }
    if (walk->wire == WIRE_LOSSLESS && machine_has_codec(machine, wire_codec(walk->type))) {
        if (step->action == PLAN_ENCODE)
            return machine_coding_us(machine, wire_codec(walk->type), step->count);
        if (step->action == PLAN_DECODE)
            return machine_decoding_us(machine, wire_codec(walk->type), step->count);
    }
    time_us = at_rate(bytes, machine->reduce_GBps[walk->type]);
    if (step->action == PLAN_REDUCE && is_others(self, rank, step->right))
        return from_others_us(walk, bytes, time_us);
    return time_us;
}

static void begin(struct walk *walk, double now, int rank, unsigned number)
{
    struct rank_walk *self = &walk->ranks[rank];
    const struct plan_step *step = &self->plan.steps[number];

    self->steps[number].begun = now;
    if (step->action == PLAN_SEND) {
        if (is_eager(walk, step) ||
            walk->ranks[step->peer].steps[self->steps[number].matching].begun >= 0)
            queue(walk, now, rank, number);
    } else if (step->action == PLAN_RECEIVE) {
        struct rank_walk *sender = &walk->ranks[step->peer];
        unsigned send = self->steps[number].matching;

        if (self->steps[number].there >= 0)
            push(walk, later(now, self->steps[number].there), rank, number);
        else if (!is_eager(walk, step) && sender->steps[send].begun >= 0)
            queue(walk, now, step->peer, send);
    } else {
        self->processor_free = later(self->processor_free, now) + computing_us(walk, rank, step);
        push(walk, self->processor_free, rank, number);
    }
}

/* Begins all steps of a rank that are ready. */
static void advance(struct walk *walk, double now, int rank)
{
    struct rank_walk *self = &walk->ranks[rank];
    const struct plan *plan = &self->plan;

    for (int stream = 0; stream < PLAN_STREAMS; stream++)
        for (; self->next[stream] < plan->stream_counts[stream]; self->next[stream]++) {
            unsigned number = plan->streams[stream][self->next[stream]];
            const struct plan_step *step = &plan->steps[number];
            bool is_ready =
                stream == PLAN_COMPUTES || self->under_way[stream] < PLAN_MESSAGES_UNDER_WAY;

            for (unsigned i = step->after; i < step->after_end; i++)
                is_ready = is_ready && self->steps[plan->after[i]].ended >= 0;
            if (step->action == PLAN_AWAIT)
                is_ready = is_ready && walk->ranks[step->peer].signalled >= step->number;
            if (!is_ready)
                break;
            self->under_way[stream]++;
            begin(walk, now, rank, number);
        }
}

static void end(struct walk *walk, struct event event)
{
    struct rank_walk *self = &walk->ranks[event.rank];
    const struct plan_step *step;
    bool signals;

    if (event.step == NOTHING)
        return;
    step = &self->plan.steps[event.step];
    signals = step->action == PLAN_SIGNAL;
    self->steps[event.step].ended = event.time_us;
    self->under_way[plan_stream_of(step->action)]--;
    walk->left--;
    if (signals)
        self->signalled = step->number;
    for (int rank = 0; rank < walk->layout->ranks && signals; rank++)
        if (rank != event.rank)
            advance(walk, event.time_us, rank);
    walk->end_us = later(walk->end_us, event.time_us);
    advance(walk, event.time_us, event.rank);
}

/* ----------------------------------------------------------------------------- before and after */

/* Pairs sends with receives: the n-th message sent to a peer is the n-th received there. */
static int match(struct walk *walk, struct error *err)
{
    int ranks = walk->layout->ranks;
    unsigned *next = calloc((size_t)ranks * (size_t)ranks, sizeof *next);
    int status = 0;

    if (next == NULL)
        return error_set(err, "out of memory");
    for (int to = 0; to < ranks && status == 0; to++) {
        const struct plan *plan = &walk->ranks[to].plan;

        for (unsigned i = 0; i < plan->stream_counts[PLAN_RECEIVES] && status == 0; i++) {
            unsigned receive = plan->streams[PLAN_RECEIVES][i];
            int from = plan->steps[receive].peer;
            const struct plan *theirs = &walk->ranks[from].plan;
            unsigned *index = &next[(size_t)to * (size_t)ranks + (size_t)from], send;

            while (*index < theirs->stream_counts[PLAN_SENDS] &&
                   theirs->steps[theirs->streams[PLAN_SENDS][*index]].peer != to)
                ++*index;
            if (*index == theirs->stream_counts[PLAN_SENDS]) {
                status = error_set(err, "rank %d waits for a message that rank %d never sends", to,
                                   from);
                break;
            }
            send = theirs->streams[PLAN_SENDS][(*index)++];
            walk->ranks[from].steps[send].matching = receive;
            walk->ranks[to].steps[receive].matching = send;
        }
    }
    free(next);
    return status;
}

static int make_plans(struct walk *walk, const struct algorithm *algorithm,
                      const struct plan_shape *shape, struct error *err)
{
    size_t steps = 0;

    for (int rank = 0; rank < walk->layout->ranks; rank++) {
        struct rank_walk *self = &walk->ranks[rank];
        struct plan_shape own = *shape;
        size_t count;

        own.rank = rank;
        if (algorithm_plan(algorithm, &own, &self->plan, err) < 0)
            return -1;
        count = self->plan.step_count;
        self->steps = malloc((count + 1) * sizeof *self->steps);
        if (self->steps == NULL)
            return error_set(err, "out of memory");
        for (size_t i = 0; i < count; i++)
            self->steps[i] = (struct step_walk){-1, -1, -1, 0};
        steps += count;
    }
    walk->left = steps;
    walk->events = malloc((2 * steps + 1) * sizeof *walk->events);
    walk->waiting = malloc((steps + 1) * sizeof *walk->waiting);
    return walk->events != NULL && walk->waiting != NULL ? 0 : error_set(err, "out of memory");
}

static void free_walk(struct walk *walk)
{
    for (int rank = 0; walk->ranks != NULL && rank < walk->layout->ranks; rank++) {
        struct rank_walk *self = &walk->ranks[rank];

        plan_clear(&self->plan);
        free(self->steps);
    }
    free(walk->ranks);
    free(walk->node_out_free);
    free(walk->node_in_free);
    free(walk->events);
    free(walk->waiting);
}

/* Handles all events of one time before it starts messages. */
static void simulate(struct walk *walk)
{
    for (int rank = 0; rank < walk->layout->ranks; rank++)
        advance(walk, 0, rank);
    start_messages(walk, 0);
    while (walk->event_count > 0) {
        double now = walk->events[0].time_us, until = now + PREDICT_AT_ONCE_US;

        while (walk->event_count > 0 && walk->events[0].time_us <= until) {
            now = walk->events[0].time_us;
            end(walk, pop(walk));
        }
        start_messages(walk, now);
    }
}

double predict_walk_us(const struct machine *machine, const struct layout *layout,
                       const struct algorithm *algorithm, const struct plan_shape *shape,
                       enum element_type type, struct error *err)
{
    struct walk walk = {.machine = machine,
                        .layout = layout,
                        .type = type,
                        .wire = shape->wire,
                        .element_bytes = shape->element_bytes};
    double time_us = -1;

    errno = 0;
    walk.ranks = calloc((size_t)layout->ranks, sizeof *walk.ranks);
    walk.node_out_free = calloc((size_t)layout->nodes, sizeof *walk.node_out_free);
    walk.node_in_free = calloc((size_t)layout->nodes, sizeof *walk.node_in_free);
    if (walk.ranks == NULL || walk.node_out_free == NULL || walk.node_in_free == NULL)
        error_set(err, "out of memory");
    else if (make_plans(&walk, algorithm, shape, err) == 0 && match(&walk, err) == 0) {
        simulate(&walk);
        if (walk.left == 0)
            time_us = walk.end_us;
        else
            error_set(err, "%s: %zu steps wait for each other", algorithm->name, walk.left);
    }
    if (time_us < 0 && errno == ENOMEM)
        time_us = NAN;
    free_walk(&walk);
    return time_us;
}

/* The time of one message of the formula, in us. */
static double message_us(const struct machine *machine, enum link_class class,
                         const struct plan_shape *shape, enum element_type type, size_t bytes)
{
    if (shape->wire == WIRE_LOSSLESS)
        return machine_lossless_us(machine, class, wire_codec(type), bytes);
    if (shape->wire != WIRE_AS_IS)
        bytes = wire_bound(shape->wire, type, bytes / shape->element_bytes);
    return machine_link_us(machine, class, bytes);
}

double predict_formula_us(const struct machine *machine, const struct layout *layout,
                          const struct algorithm *algorithm, const struct plan_shape *shape,
                          enum element_type type)
{
    struct algorithm_cost cost = algorithm->cost(shape);
    double messages = 0;

    if (cost.messages > 0)
        messages = cost.messages * message_us(machine, layout_farthest(layout), shape, type,
                                              (size_t)(cost.bytes / cost.messages));
    return messages + at_rate(cost.reduced, machine->reduce_GBps[type]);
}
