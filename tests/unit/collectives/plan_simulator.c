/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/collectives/plan_simulator.h"

#include <stdlib.h>
#include <string.h>

enum step_state { WAITING, BEGUN, ENDED };

struct rank_state {
    const struct simulated_rank *rank;
    unsigned char *step_states;
    unsigned next[PLAN_STREAMS], in_flight[PLAN_STREAMS], steps_left;
    char *buffers[PLAN_BUFFERS];
    size_t limits[PLAN_BUFFERS];
    size_t slot_bytes, *filled_bytes; /* of slots in PLAN_WIRE */
    unsigned deliverable;             /* messages to this rank that both sides have begun */
    unsigned last_signal;             /* 0: none yet */
    struct simulated_work work;
};

/* The messages from one rank to another, in order: the numbers of the steps at both ends. */
struct channel {
    unsigned *sends, *receives;
    unsigned send_count, receive_count, done;
    char **copies;      /* if buffered: the data that was sent */
    size_t *copy_bytes; /* ... and its number of bytes */
};

struct simulator {
    const struct simulation *simulation;
    struct rank_state *rank_states;
    struct channel *channels; /* [from * ranks + to] */
    int ranks;
    uint64_t random;
    struct codec_scratch *codec;
    int slow_rank; /* a rank that moves only if no other can; replaced by another one at random */
    char *window;  /* PLAN_WINDOW of all ranks, one part after the other */
    struct error *err;
};

static unsigned draw(struct simulator *simulator, unsigned below)
{
    simulator->random = simulator->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((simulator->random >> 33) % below);
}

static bool is_ready(const struct rank_state *state, const struct plan_step *step)
{
    for (unsigned i = step->after; i < step->after_end; i++)
        if (state->step_states[state->rank->plan->after[i]] != ENDED)
            return false;
    return true;
}

static void *memory_at(const struct rank_state *state, struct plan_address address)
{
    if (address.buffer == PLAN_WIRE)
        return state->buffers[PLAN_WIRE] + address.offset * state->slot_bytes;
    return state->buffers[address.buffer] + address.offset * state->rank->shape->element_bytes;
}

static size_t bytes_of(const struct rank_state *state, const struct plan_step *step)
{
    return step->count * state->rank->shape->element_bytes;
}

static bool is_coded(const struct plan_step *step)
{
    return (step->action == PLAN_SEND && step->left.buffer == PLAN_WIRE) ||
           (step->action == PLAN_RECEIVE && step->out.buffer == PLAN_WIRE);
}

static size_t sent_bytes(const struct rank_state *state, const struct plan_step *step)
{
    return is_coded(step) ? state->filled_bytes[step->left.offset] : bytes_of(state, step);
}

static bool is_inside(const struct rank_state *state, struct plan_address address, size_t count)
{
    if (address.buffer == PLAN_WIRE)
        return address.offset < state->rank->plan->wire_slots &&
               count <= state->rank->plan->wire_count;
    return address.offset + count <= state->limits[address.buffer];
}

static int check_addresses(struct simulator *simulator, const struct rank_state *state)
{
    const int rank = state->rank->shape->rank;
    const size_t window = state->rank->plan->window;

    for (unsigned i = 0; i < state->rank->plan->step_count; i++) {
        const struct plan_step *step = &state->rank->plan->steps[i];
        bool reads =
            step->action == PLAN_SEND || step->action == PLAN_COPY || step->action == PLAN_REDUCE;

        if (step->action == PLAN_SIGNAL || step->action == PLAN_AWAIT) {
            if (window == 0 ||
                (step->action == PLAN_AWAIT && (step->peer < 0 || step->peer >= simulator->ranks)))
                return error_set(simulator->err, "rank %d: step %u has no window or peer", rank, i);
            continue;
        }
        if (step->action == PLAN_PULL &&
            (window == 0 || step->peer < 0 || step->peer >= simulator->ranks ||
             (step->left.buffer != PLAN_IN && step->left.buffer != PLAN_OUT)))
            return error_set(simulator->err, "rank %d: step %u cannot pull", rank, i);
        if (step->action == PLAN_PUSH) {
            if (window == 0 || step->peer < 0 || step->peer >= simulator->ranks ||
                step->out.buffer != PLAN_OUT || !is_inside(state, step->left, step->count))
                return error_set(simulator->err, "rank %d: step %u cannot push", rank, i);
            continue;
        }
        if (step->action != PLAN_SEND && step->out.buffer == PLAN_WINDOW &&
            (step->out.offset / window != (size_t)rank ||
             (step->out.offset + step->count - 1) / window != (size_t)rank))
            return error_set(simulator->err, "rank %d: step %u writes the window of another rank",
                             rank, i);
        if ((reads && !is_inside(state, step->left, step->count)) ||
            (step->action == PLAN_REDUCE && !is_inside(state, step->right, step->count)) ||
            (step->action != PLAN_SEND && !is_inside(state, step->out, step->count)))
            return error_set(simulator->err, "rank %d: step %u is outside of its buffer", rank, i);
        if (step->action != PLAN_SEND && step->out.buffer == PLAN_IN)
            return error_set(simulator->err, "rank %d: step %u writes to PLAN_IN", rank, i);
        if ((step->action == PLAN_SEND || step->action == PLAN_RECEIVE) &&
            (step->peer < 0 || step->peer >= simulator->ranks || step->peer == rank))
            return error_set(simulator->err, "rank %d: step %u has peer %d", rank, i, step->peer);
    }
    return 0;
}

static void end_step(struct rank_state *state, unsigned number)
{
    enum plan_stream stream = plan_stream_of(state->rank->plan->steps[number].action);

    state->step_states[number] = ENDED;
    state->steps_left--;
    if (stream != PLAN_COMPUTES)
        state->in_flight[stream]--;
}

/* Counts copies into the rank's own part of the window as sent, and reads of another's part as
 * received. */
static void count_window(struct rank_state *state, const struct plan_step *step)
{
    const struct plan_address *from = step->action == PLAN_REDUCE ? &step->right : &step->left;

    if (step->action == PLAN_COPY && step->out.buffer == PLAN_WINDOW)
        state->work.bytes_sent += bytes_of(state, step);
    if ((step->action == PLAN_COPY || step->action == PLAN_REDUCE) && from->buffer == PLAN_WINDOW &&
        from->offset / state->rank->plan->window != (size_t)state->rank->shape->rank)
        state->work.bytes_received += bytes_of(state, step);
}

/* The peer must have signaled, and still be in the call. */
static int pull(const struct simulator *simulator, struct rank_state *state,
                const struct plan_step *step)
{
    const struct rank_state *peer = &simulator->rank_states[step->peer];

    if (peer->last_signal == 0 || peer->steps_left == 0 ||
        !is_inside(peer, step->left, step->count))
        return error_set(
            simulator->err,
            "rank %d cannot pull from rank %d: not signaled, ended, or outside its buffer",
            state->rank->shape->rank, step->peer);
    memmove(memory_at(state, step->out), memory_at(peer, step->left), bytes_of(state, step));
    state->work.bytes_received += bytes_of(state, step);
    return 0;
}

static int push(const struct simulator *simulator, struct rank_state *state,
                const struct plan_step *step)
{
    const struct rank_state *peer = &simulator->rank_states[step->peer];

    if (peer->last_signal == 0 || peer->steps_left == 0 || !is_inside(peer, step->out, step->count))
        return error_set(
            simulator->err,
            "rank %d cannot push to rank %d: not signaled, ended, or outside its buffer",
            state->rank->shape->rank, step->peer);
    memmove(memory_at(peer, step->out), memory_at(state, step->left), bytes_of(state, step));
    state->work.bytes_sent += bytes_of(state, step);
    return 0;
}

static int compute(const struct simulator *simulator, struct rank_state *state,
                   const struct plan_step *step)
{
    const struct simulation *simulation = simulator->simulation;

    if (step->action == PLAN_REDUCE) {
        reduce_pair(simulation->type, simulation->op, memory_at(state, step->left),
                    memory_at(state, step->right), memory_at(state, step->out), step->count);
        state->work.bytes_reduced += bytes_of(state, step);
    } else if (step->action == PLAN_ENCODE) {
        state->filled_bytes[step->out.offset] =
            wire_encode(state->rank->shape->wire, simulation->type, memory_at(state, step->left),
                        step->count, simulator->codec, memory_at(state, step->out));
    } else if (step->action == PLAN_DECODE) {
        return wire_decode(state->rank->shape->wire, simulation->type, memory_at(state, step->left),
                           state->filled_bytes[step->left.offset], simulator->codec,
                           memory_at(state, step->out), step->count, simulator->err);
    } else if (step->action == PLAN_SIGNAL) {
        if (step->number <= state->last_signal)
            return error_set(simulator->err, "rank %d: signals %u after %u",
                             state->rank->shape->rank, step->number, state->last_signal);
        state->last_signal = step->number;
    } else if (step->action == PLAN_AWAIT) {
        return 0;
    } else if (step->action == PLAN_PULL) {
        return pull(simulator, state, step);
    } else if (step->action == PLAN_PUSH) {
        return push(simulator, state, step);
    } else {
        memmove(memory_at(state, step->out), memory_at(state, step->left), bytes_of(state, step));
    }
    count_window(state, step);
    return 0;
}

static bool is_signaled(const struct simulator *simulator, const struct plan_step *step)
{
    const struct rank_state *peer = &simulator->rank_states[step->peer];

    return step->action != PLAN_AWAIT || peer->last_signal >= step->number;
}

/* Begins the next step of a stream of the rank, if possible. Returns 1 if it has, 0 if not, or -1
 * with err. */
static int begin_step(struct simulator *simulator, int rank, enum plan_stream stream)
{
    struct rank_state *state = &simulator->rank_states[rank];
    const struct plan *plan = state->rank->plan;
    const struct plan_step *step;
    struct channel *channel;
    unsigned number, limit = simulator->simulation->messages_max;

    if (state->next[stream] == plan->stream_counts[stream] ||
        (stream != PLAN_COMPUTES && limit && state->in_flight[stream] == limit))
        return 0;
    number = plan->streams[stream][state->next[stream]];
    step = &plan->steps[number];
    if (!is_ready(state, step) || !is_signaled(simulator, step))
        return 0;
    state->next[stream]++;
    state->step_states[number] = BEGUN;
    if (stream == PLAN_COMPUTES) {
        end_step(state, number);
        return compute(simulator, state, step) < 0 ? -1 : 1;
    }
    state->in_flight[stream]++;
    if (stream == PLAN_RECEIVES) {
        memset(memory_at(state, step->out), 0xa5,
               is_coded(step) ? state->slot_bytes : bytes_of(state, step));
        channel = &simulator->channels[step->peer * simulator->ranks + rank];
        channel->receives[channel->receive_count++] = number;
        state->deliverable += channel->send_count >= channel->receive_count;
        return 1;
    }
    channel = &simulator->channels[rank * simulator->ranks + step->peer];
    state->work.messages++;
    state->work.bytes_sent += sent_bytes(state, step);
    if (simulator->simulation->is_buffered) {
        channel->copy_bytes[channel->send_count] = sent_bytes(state, step);
        channel->copies[channel->send_count] = malloc(sent_bytes(state, step));
        memcpy(channel->copies[channel->send_count], memory_at(state, step->left),
               sent_bytes(state, step));
        end_step(state, number);
    }
    channel->sends[channel->send_count++] = number;
    simulator->rank_states[step->peer].deliverable += channel->receive_count >= channel->send_count;
    return 1;
}

/* Delivers the next message from one rank to another, if both sides have begun. Returns 1 if it
 * has, 0 if not, or -1 with err. */
static int deliver_message(struct simulator *simulator, int from, int to)
{
    struct channel *channel = &simulator->channels[from * simulator->ranks + to];
    struct rank_state *sender = &simulator->rank_states[from],
                      *receiver = &simulator->rank_states[to];
    const struct plan_step *send, *receive;
    size_t bytes;

    if (channel->done == channel->send_count || channel->done == channel->receive_count)
        return 0;
    send = &sender->rank->plan->steps[channel->sends[channel->done]];
    receive = &receiver->rank->plan->steps[channel->receives[channel->done]];
    bytes = simulator->simulation->is_buffered ? channel->copy_bytes[channel->done]
                                               : sent_bytes(sender, send);
    if (is_coded(send) != is_coded(receive) || send->count != receive->count)
        return error_set(simulator->err,
                         "message %u from rank %d to %d: %zu elements sent, %zu awaited",
                         channel->done, from, to, send->count, receive->count);
    if (is_coded(receive))
        receiver->filled_bytes[receive->out.offset] = bytes;
    receiver->work.bytes_received += bytes;
    if (simulator->simulation->is_buffered) {
        memcpy(memory_at(receiver, receive->out), channel->copies[channel->done], bytes);
        free(channel->copies[channel->done]);
        channel->copies[channel->done] = NULL;
    } else {
        memcpy(memory_at(receiver, receive->out), memory_at(sender, send->left), bytes);
        end_step(sender, channel->sends[channel->done]);
    }
    if (simulator->simulation->has_corrupter && from == simulator->simulation->corrupting_rank)
        *(char *)memory_at(receiver, receive->out) ^= 1;
    end_step(receiver, channel->receives[channel->done]);
    channel->done++;
    receiver->deliverable--;
    return 1;
}

/* Does the first possible action, starting at a random one. Returns 1 if it did one, 0 if none is
 * possible, or -1 with err. */
static int try_actions(struct simulator *simulator, bool of_slow_rank)
{
    unsigned ranks = (unsigned)simulator->ranks, kinds = PLAN_STREAMS + 1;
    unsigned first = draw(simulator, ranks * kinds);

    for (unsigned i = 0; i < ranks * kinds; i++) {
        unsigned choice = (first + i) % (ranks * kinds);
        int rank = (int)(choice / kinds), status;

        if ((rank == simulator->slow_rank) != of_slow_rank)
            continue;
        if (choice % kinds < PLAN_STREAMS) {
            status = begin_step(simulator, rank, (enum plan_stream)(choice % kinds));
            if (status != 0)
                return status;
            continue;
        }
        for (int from = 0; from < simulator->ranks && simulator->rank_states[rank].deliverable;
             from++) {
            status = deliver_message(simulator, from, rank);
            if (status != 0)
                return status;
        }
    }
    return 0;
}

/* Does one action: of the slow rank only if no other rank has one. */
static int do_action(struct simulator *simulator)
{
    int status = try_actions(simulator, false);

    if (status == 0)
        status = try_actions(simulator, true);
    if (draw(simulator, 50) == 0)
        simulator->slow_rank = (int)draw(simulator, (unsigned)simulator->ranks + 1);
    return status;
}

static int run_plans(struct simulator *simulator)
{
    int status;

    while ((status = do_action(simulator)) > 0)
        ;
    if (status < 0)
        return -1;
    for (int r = 0; r < simulator->ranks; r++)
        if (simulator->rank_states[r].steps_left > 0)
            return error_set(simulator->err, "rank %d: %u of %u steps never end", r,
                             simulator->rank_states[r].steps_left,
                             simulator->rank_states[r].rank->plan->step_count);
    for (int r = 0; r < simulator->ranks; r++)
        if (simulator->rank_states[r].rank->plan->window > 0 &&
            simulator->rank_states[r].last_signal == 0)
            return error_set(simulator->err, "rank %d has a window and never signals", r);
    for (int i = 0; i < simulator->ranks * simulator->ranks; i++)
        if (simulator->channels[i].done != simulator->channels[i].send_count)
            return error_set(simulator->err, "a message from rank %d to %d is not received",
                             i / simulator->ranks, i % simulator->ranks);
    return 0;
}

static void create_channels(struct simulator *simulator)
{
    for (int r = 0; r < simulator->ranks; r++)
        for (unsigned i = 0; i < simulator->rank_states[r].rank->plan->step_count; i++) {
            const struct plan_step *step = &simulator->rank_states[r].rank->plan->steps[i];

            /* first counts the messages, in fields that are set to 0 again below */
            if (step->action == PLAN_SEND)
                simulator->channels[r * simulator->ranks + step->peer].send_count++;
            else if (step->action == PLAN_RECEIVE)
                simulator->channels[step->peer * simulator->ranks + r].receive_count++;
        }
    for (int i = 0; i < simulator->ranks * simulator->ranks; i++) {
        struct channel *channel = &simulator->channels[i];

        channel->sends = calloc(channel->send_count + 1, sizeof *channel->sends);
        channel->copies = calloc(channel->send_count + 1, sizeof *channel->copies);
        channel->copy_bytes = calloc(channel->send_count + 1, sizeof *channel->copy_bytes);
        channel->receives = calloc(channel->receive_count + 1, sizeof *channel->receives);
        channel->send_count = channel->receive_count = 0;
    }
}

static int init_rank_state(struct simulator *simulator, struct rank_state *state,
                           const struct simulated_rank *rank)
{
    size_t scratch = rank->plan->scratch * rank->shape->element_bytes;

    state->rank = rank;
    state->steps_left = rank->plan->step_count;
    state->step_states = calloc(rank->plan->step_count + 1, 1);
    state->buffers[PLAN_IN] = rank->in;
    state->buffers[PLAN_OUT] = rank->out;
    state->buffers[PLAN_SCRATCH] = malloc(scratch + 1);
    memset(state->buffers[PLAN_SCRATCH], 0x5a, scratch + 1);
    state->limits[PLAN_IN] = rank->in_count;
    state->limits[PLAN_OUT] = rank->out_count;
    state->limits[PLAN_SCRATCH] = rank->plan->scratch;
    if (rank->plan->wire_slots > 0) {
        state->slot_bytes =
            (wire_bound(rank->shape->wire, simulator->simulation->type, rank->plan->wire_count) +
             7) /
            8 * 8;
        state->buffers[PLAN_WIRE] = malloc(rank->plan->wire_slots * state->slot_bytes);
        state->filled_bytes = calloc(rank->plan->wire_slots, sizeof *state->filled_bytes);
    }
    state->buffers[PLAN_WINDOW] = simulator->window;
    state->limits[PLAN_WINDOW] = rank->plan->window * (size_t)simulator->ranks;
    if (rank->plan->window != simulator->rank_states[0].rank->plan->window)
        return error_set(simulator->err, "ranks have windows of different sizes");
    return check_addresses(simulator, state);
}

int simulate(const struct simulation *simulation, const struct simulated_rank *ranks, int count,
             struct simulated_work *work, struct error *err)
{
    struct simulator simulator = {simulation,
                                  calloc((size_t)count, sizeof *simulator.rank_states),
                                  calloc((size_t)count * (size_t)count, sizeof *simulator.channels),
                                  count,
                                  simulation->seed * 2 + 1,
                                  ranks->shape->wire != WIRE_AS_IS ? codec_scratch_create() : NULL,
                                  0,
                                  NULL,
                                  err};
    size_t window = ranks->plan->window * (size_t)count * ranks->shape->element_bytes;
    int status = 0;

    simulator.window = calloc(window + 1, 1);
    for (int r = 0; r < count; r++)
        if (init_rank_state(&simulator, &simulator.rank_states[r], &ranks[r]) < 0)
            status = -1;
    if (status == 0) {
        create_channels(&simulator);
        status = run_plans(&simulator);
    }
    if (work) {
        *work = (struct simulated_work){0};
        for (int r = 0; r < count; r++) {
            const struct simulated_work *of = &simulator.rank_states[r].work;

            work->messages = of->messages > work->messages ? of->messages : work->messages;
#define GREATER(field) work->field = of->field > work->field ? of->field : work->field
            GREATER(bytes_sent);
            GREATER(bytes_received);
            GREATER(bytes_reduced);
        }
    }
    for (int r = 0; r < count; r++) {
        free(simulator.rank_states[r].step_states);
        free(simulator.rank_states[r].buffers[PLAN_WIRE]);
        free(simulator.rank_states[r].filled_bytes);
        free(simulator.rank_states[r].buffers[PLAN_SCRATCH]);
    }
    for (int i = 0; i < count * count; i++) {
        for (unsigned s = 0; s < simulator.channels[i].send_count; s++)
            free(simulator.channels[i].copies[s]);
        free(simulator.channels[i].sends);
        free(simulator.channels[i].receives);
        free(simulator.channels[i].copies);
        free(simulator.channels[i].copy_bytes);
    }
    codec_scratch_destroy(simulator.codec);
    free(simulator.window);
    free(simulator.rank_states);
    free(simulator.channels);
    return status;
}
