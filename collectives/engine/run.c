/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/engine/run.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/processor.h"
#include "collectives/reduce/nontemporal.h"
#include "lib/constants/collectives_constants.h"

struct collective_request *run_create(struct cached_plan *cached)
{
    size_t slots = cached->plan.wire_slots;
    struct collective_request *run =
        calloc(1, sizeof *run + slots * sizeof *run->filled + cached->plan.step_count);

    if (!run)
        return NULL;
    run->cached = cached;
    run->filled = (size_t *)(run + 1);
    run->ended = (unsigned char *)(run->filled + slots);
    return run;
}

void run_begin(struct collective_request *run)
{
    const struct plan *plan = &run->cached->plan;

    if (plan_has_messages(plan)) {
        memset(run->ended, 0, plan->step_count);
        memset(run->begun, 0, sizeof run->begun);
        memset(run->under_way, 0, sizeof run->under_way);
    }
    run->left = plan->step_count;
    run->has_failed = false;
    run->has_entered = false;
    run->bytes_sent = 0;
}

static bool fail(struct collective_request *run, const char *what, int peer, int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;

    if (PMPI_Error_string(code, text, &length) != MPI_SUCCESS)
        length = 0;
    error_set(&run->err, "%s rank %d: %.*s", what, peer, length, text);
    run->has_failed = true;
    return true;
}

/* Cancels the messages under way: they will not end, or their end is of no use. */
static void abandon(struct collective_request *run)
{
    int count = run->under_way[PLAN_SENDS] + run->under_way[PLAN_RECEIVES];

    for (int i = 0; i < count; i++)
        if (run->requests[i] != MPI_REQUEST_NULL) {
            PMPI_Cancel(&run->requests[i]);
            PMPI_Request_free(&run->requests[i]);
        }
    memset(run->under_way, 0, sizeof run->under_way);
}

static bool is_ready(const struct collective_request *run, const struct plan_step *step)
{
    const unsigned *after = run->cached->plan.after;

    for (unsigned i = step->after; i < step->after_end; i++)
        if (!run->ended[after[i]])
            return false;
    return true;
}

static void *at(const struct collective_request *run, struct plan_address address)
{
    if (address.buffer == PLAN_WIRE)
        return run->buffers[PLAN_WIRE] + address.offset * run->cached->slot_bytes;
    if (address.buffer == PLAN_WINDOW) {
        size_t each = run->cached->plan.window;

        return window_part(run->window, &run->ticket, (int)(address.offset / each)) +
               address.offset % each * run->cached->shape.element_bytes;
    }
    return run->buffers[address.buffer] + address.offset * run->cached->shape.element_bytes;
}

/* Returns the bytes of a message: exactly, or for a coded one still to be received at most. */
static size_t message_bytes(const struct collective_request *run, const struct plan_step *step)
{
    const struct plan_shape *shape = &run->cached->shape;

    if (step->action == PLAN_SEND && step->left.buffer == PLAN_WIRE)
        return run->filled[step->left.offset];
    if (step->action == PLAN_RECEIVE && step->out.buffer == PLAN_WIRE)
        return wire_bound(shape->wire, run->type, step->count);
    return step->count * shape->element_bytes;
}

/* Returns the stream's next step and its number, or NULL if it may not begin. */
static const struct plan_step *next_of(const struct collective_request *run,
                                       enum plan_stream stream, unsigned *number)
{
    const struct plan *plan = &run->cached->plan;

    if (run->begun[stream] == plan->stream_counts[stream])
        return NULL;
    *number = plan->streams[stream][run->begun[stream]];
    return is_ready(run, &plan->steps[*number]) ? &plan->steps[*number] : NULL;
}

/* Whether enough bytes are under way to the peer. Over links MPIs send long messages side by side,
 * a piece of each in turn, so that the first, which the peer may have to pass on, arrives hardly
 * before the last: segments would not make a chain faster. */
static bool is_enough_under_way(const struct collective_request *run, int peer)
{
    const struct plan_shape *shape = &run->cached->shape;
    const int *node_of_rank = shape->topology->node_of_rank;
    int count = run->under_way[PLAN_SENDS] + run->under_way[PLAN_RECEIVES];
    size_t bytes = 0;

    if (run->under_way[PLAN_SENDS] == 0 || node_of_rank[peer] == node_of_rank[shape->rank])
        return false;
    for (int i = 0; i < count; i++) {
        const struct plan_step *step = &run->cached->plan.steps[run->steps[i]];

        if (step->action == PLAN_SEND && step->peer == peer)
            bytes += message_bytes(run, step);
    }
    return bytes >= RUN_UNDER_WAY_BYTES;
}

static bool begin_messages(struct collective_request *run, enum plan_stream stream)
{
    const struct plan_step *step;
    unsigned number;
    bool has_begun = false;

    while (run->under_way[stream] < PLAN_MESSAGES_UNDER_WAY &&
           (step = next_of(run, stream, &number)) &&
           (stream != PLAN_SENDS || !is_enough_under_way(run, step->peer))) {
        int bytes = (int)message_bytes(run, step), code;
        int slot = run->under_way[PLAN_SENDS] + run->under_way[PLAN_RECEIVES];

        if (stream == PLAN_SENDS) {
            code = PMPI_Isend(at(run, step->left), bytes, MPI_BYTE, step->peer, run->tag, run->comm,
                              &run->requests[slot]);
            run->bytes_sent += (unsigned)bytes;
        } else {
            code = PMPI_Irecv(at(run, step->out), bytes, MPI_BYTE, step->peer, run->tag, run->comm,
                              &run->requests[slot]);
        }
        if (code != MPI_SUCCESS)
            return fail(run, stream == PLAN_SENDS ? "send to" : "receive from", step->peer, code);
        run->steps[slot] = number;
        run->under_way[stream]++;
        run->begun[stream]++;
        has_begun = true;
    }
    return has_begun;
}

static bool has_signalled(const struct collective_request *run, const struct plan_step *step,
                          unsigned polls)
{
    while (!window_has_reached(run->window, &run->ticket, step->peer, step->number)) {
        if (--polls == 0)
            return false;
        processor_pause();
    }
    return true;
}

/* Whether the step must still wait, for the window's slot or for the signal that it awaits. */
static bool must_wait(struct collective_request *run, const struct plan_step *step, unsigned polls)
{
    if (!run->has_entered && run->cached->plan.window > 0) {
        run->has_entered = window_is_free(run->window, &run->ticket);
        if (!run->has_entered)
            return true;
        if (run->cached->plan.publishes_buffers)
            window_announce(run->window, &run->ticket,
                            (const void *[]){run->buffers[PLAN_IN], run->buffers[PLAN_OUT]});
    }
    return step->action == PLAN_AWAIT && !has_signalled(run, step, polls);
}

/* Runs a pull or a push. */
static void reach(struct collective_request *run, const struct plan_step *step)
{
    bool writes = step->action == PLAN_PUSH;
    struct plan_address there = writes ? step->out : step->left;
    size_t each = run->cached->shape.element_bytes;

    if (window_reach(run->window, &run->ticket, step->peer, there.buffer == PLAN_OUT,
                     there.offset * each, at(run, writes ? step->left : step->out),
                     step->count * each, writes) == 0)
        return;
    error_set(&run->err, "%s the memory of rank %d: %m", writes ? "write to" : "read from",
              step->peer);
    run->has_failed = true;
}

/* Whether the result goes past the caches: as the plan says, or because it is put into the window
 * and its readers are far away. */
static bool is_nontemporal(const struct collective_request *run, const struct plan_step *step)
{
    return step->is_nontemporal ||
           (step->out.buffer == PLAN_WINDOW && window_is_far(run->window) &&
            step->count * run->cached->shape.element_bytes >= RUN_FAR_BYTES);
}

static void reduce(struct collective_request *run, const struct plan_step *step)
{
    (is_nontemporal(run, step) ? nontemporal_reduce_pair : reduce_pair)(
        run->type, run->op, at(run, step->left), at(run, step->right), at(run, step->out),
        step->count);
}

static void copy(struct collective_request *run, const struct plan_step *step)
{
    size_t bytes = step->count * run->cached->shape.element_bytes;
    const void *from = at(run, step->left);
    void *to = at(run, step->out);

    if (from == to) /* an all-gather in place */
        return;
    if (is_nontemporal(run, step))
        nontemporal_copy(to, from, bytes);
    else
        memmove(to, from, bytes);
}

static void compute(struct collective_request *run, const struct plan_step *step)
{
    if (step->action == PLAN_REDUCE) {
        reduce(run, step);
    } else if (step->action == PLAN_ENCODE) {
        run->filled[step->out.offset] =
            wire_encode(run->cached->shape.wire, run->type, at(run, step->left), step->count,
                        run->codec, at(run, step->out));
    } else if (step->action == PLAN_DECODE) {
        if (wire_decode(run->cached->shape.wire, run->type, at(run, step->left),
                        run->filled[step->left.offset], run->codec, at(run, step->out), step->count,
                        &run->err) < 0)
            run->has_failed = true;
    } else if (step->action == PLAN_PULL || step->action == PLAN_PUSH) {
        reach(run, step);
    } else if (step->action == PLAN_SIGNAL) {
        window_signal(run->window, &run->ticket, step->number);
    } else if (step->action == PLAN_COPY) {
        copy(run, step);
    }
}

/* Computes the next step of a plan with messages, if it may begin. */
static bool compute_one(struct collective_request *run, unsigned polls)
{
    unsigned number;
    const struct plan_step *step = next_of(run, PLAN_COMPUTES, &number);

    if (!step || must_wait(run, step, polls))
        return false;
    compute(run, step);
    run->ended[number] = 1;
    run->left--;
    run->begun[PLAN_COMPUTES]++;
    return true;
}

/* Computes the steps of a plan without messages in their order, as far as possible now. */
static bool compute_all(struct collective_request *run, unsigned polls)
{
    const struct plan *plan = &run->cached->plan;
    unsigned before = run->left;

    while (!run_has_ended(run)) {
        const struct plan_step *step = &plan->steps[plan->step_count - run->left];

        if (must_wait(run, step, polls))
            break;
        compute(run, step);
        run->left--;
    }
    return run->left < before;
}

/* Closes the gaps that ended messages leave. */
static void close_gaps(struct collective_request *run, int count)
{
    int kept = 0;

    for (int i = 0; i < count; i++)
        if (run->requests[i] != MPI_REQUEST_NULL) {
            run->requests[kept] = run->requests[i];
            run->steps[kept++] = run->steps[i];
        }
}

static void end_receive(struct collective_request *run, const struct plan_step *step,
                        const MPI_Status *status)
{
    size_t due = message_bytes(run, step);
    int came;

    PMPI_Get_count(status, MPI_BYTE, &came);
    if (step->out.buffer == PLAN_WIRE) {
        run->filled[step->out.offset] = (size_t)came; /* its content is checked when decoded */
    } else if ((size_t)came != due) {
        error_set(&run->err, "receive from rank %d: found %d bytes, expected %zu: its call differs",
                  step->peer, came, due);
        run->has_failed = true;
    }
}

static bool end_messages(struct collective_request *run, bool may_wait)
{
    int count = run->under_way[PLAN_SENDS] + run->under_way[PLAN_RECEIVES], ended = 0, code;
    int slots[2 * PLAN_MESSAGES_UNDER_WAY];
    MPI_Status statuses[2 * PLAN_MESSAGES_UNDER_WAY];

    if (count == 0)
        return false;
    code = may_wait ? PMPI_Waitsome(count, run->requests, &ended, slots, statuses)
                    : PMPI_Testsome(count, run->requests, &ended, slots, statuses);
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS)
        return fail(run, "messages with", run->cached->shape.rank, code);
    for (int i = 0; i < ended; i++) {
        unsigned number = run->steps[slots[i]];
        const struct plan_step *step = &run->cached->plan.steps[number];

        run->under_way[plan_stream_of(step->action)]--;
        run->ended[number] = 1;
        run->left--;
        if (code == MPI_ERR_IN_STATUS && statuses[i].MPI_ERROR != MPI_SUCCESS)
            fail(run, step->action == PLAN_SEND ? "send to" : "receive from", step->peer,
                 statuses[i].MPI_ERROR);
        if (step->action == PLAN_RECEIVE && !run->has_failed)
            end_receive(run, step, &statuses[i]);
    }
    if (ended > 0)
        close_gaps(run, count);
    return ended > 0;
}

/* Whether computing steps are left. */
static bool has_more_to_compute(const struct collective_request *run)
{
    return run->begun[PLAN_COMPUTES] < run->cached->plan.stream_counts[PLAN_COMPUTES];
}

static bool move_messages(struct collective_request *run, bool is_waited_for, unsigned polls)
{
    bool has_window = run->cached->plan.window > 0;
    bool has_moved = begin_messages(run, PLAN_RECEIVES);

    has_moved |= begin_messages(run, PLAN_SENDS);
    if (compute_one(run, polls)) {
        has_moved = true;
        while (has_window && !run_has_ended(run) && compute_one(run, polls))
            ;
    }
    if (!run_has_ended(run))
        has_moved |= end_messages(run, is_waited_for && run->may_wait && !has_moved &&
                                           !(has_window && has_more_to_compute(run)));
    if (run->has_failed)
        abandon(run);
    return has_moved;
}

bool run_move(struct collective_request *run, bool is_waited_for)
{
    unsigned polls = is_waited_for ? run->polls : 1;
    bool has_moved = plan_has_messages(&run->cached->plan)
                         ? move_messages(run, is_waited_for, polls)
                         : compute_all(run, polls);

    if (run->cached->plan.window > 0 && run_has_ended(run)) {
        if (run->has_failed) /* so that others do not wait for signals that will not come */
            window_signal(run->window, &run->ticket, PLAN_SIGNAL_LAST);
        window_leave(run->window, &run->ticket);
    }
    return has_moved;
}
