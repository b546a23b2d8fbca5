/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/collectives/plan_simulator.h"

#include <stdlib.h>
#include <string.h>

enum state { WAITING, BEGUN, ENDED };

struct actor {
    const struct simulated_rank *is;
    unsigned char *states;
    unsigned next[PLAN_STREAMS], under_way[PLAN_STREAMS], left;
    char *buffers[PLAN_BUFFERS];
    size_t limits[PLAN_BUFFERS];
    size_t slot_bytes, *filled; /* of slots in PLAN_WIRE */
    unsigned deliverable;       /* messages to this rank that both sides have begun */
    unsigned told;              /* the number of its last signal */
    struct simulated_work work;
};

/* The messages from one rank to another, in order: the numbers of the steps at both ends. */
struct lane {
    unsigned *sends, *receives;
    unsigned send_count, receive_count, done;
    char **copies;  /* if buffered: the data that was sent */
    size_t *copied; /* ... and its number of bytes */
};

struct scene {
    const struct simulation *simulation;
    struct actor *actors;
    struct lane *lanes; /* [from * ranks + to] */
    int ranks;
    uint64_t random;
    struct codec_scratch *codec;
    int laggard;  /* a rank that moves only if no other can; replaced by another one at random */
    char *window; /* PLAN_WINDOW of all ranks, one part after the other */
    struct error *err;
};

static unsigned draw(struct scene *scene, unsigned below)
{
    scene->random = scene->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((scene->random >> 33) % below);
}

static bool is_ready(const struct actor *actor, const struct plan_step *step)
{
    for (unsigned i = step->after; i < step->after_end; i++)
        if (actor->states[actor->is->plan->after[i]] != ENDED)
            return false;
    return true;
}

static void *at(const struct actor *actor, struct plan_address place)
{
    if (place.buffer == PLAN_WIRE)
        return actor->buffers[PLAN_WIRE] + place.offset * actor->slot_bytes;
    return actor->buffers[place.buffer] + place.offset * actor->is->shape->element_bytes;
}

static size_t bytes_of(const struct actor *actor, const struct plan_step *step)
{
    return step->count * actor->is->shape->element_bytes;
}

static bool is_coded(const struct plan_step *step)
{
    return (step->action == PLAN_SEND && step->left.buffer == PLAN_WIRE) ||
           (step->action == PLAN_RECEIVE && step->out.buffer == PLAN_WIRE);
}

static size_t sent_bytes(const struct actor *actor, const struct plan_step *step)
{
    return is_coded(step) ? actor->filled[step->left.offset] : bytes_of(actor, step);
}

static bool is_inside(const struct actor *actor, struct plan_address place, size_t count)
{
    if (place.buffer == PLAN_WIRE)
        return place.offset < actor->is->plan->wire_slots && count <= actor->is->plan->wire_count;
    return place.offset + count <= actor->limits[place.buffer];
}

static int check_places(struct scene *scene, const struct actor *actor)
{
    for (unsigned i = 0; i < actor->is->plan->step_count; i++) {
        const struct plan_step *step = &actor->is->plan->steps[i];
        bool reads =
            step->action == PLAN_SEND || step->action == PLAN_COPY || step->action == PLAN_REDUCE;

        if (step->action == PLAN_SIGNAL || step->action == PLAN_AWAIT) {
            if (actor->is->plan->window == 0 ||
                (step->action == PLAN_AWAIT && (step->peer < 0 || step->peer >= scene->ranks)))
                return error_set(scene->err, "rank %d: step %u has no window or peer",
                                 actor->is->shape->rank, i);
            continue;
        }
        if (step->action == PLAN_PULL &&
            (actor->is->plan->window == 0 || step->peer < 0 || step->peer >= scene->ranks ||
             (step->left.buffer != PLAN_IN && step->left.buffer != PLAN_OUT)))
            return error_set(scene->err, "rank %d: step %u cannot pull", actor->is->shape->rank, i);
        if (step->action == PLAN_PUSH) {
            if (actor->is->plan->window == 0 || step->peer < 0 || step->peer >= scene->ranks ||
                step->out.buffer != PLAN_OUT || !is_inside(actor, step->left, step->count))
                return error_set(scene->err, "rank %d: step %u cannot push", actor->is->shape->rank,
                                 i);
            continue;
        }
        if (step->action != PLAN_SEND && step->out.buffer == PLAN_WINDOW &&
            (step->out.offset / actor->is->plan->window != (size_t)actor->is->shape->rank ||
             (step->out.offset + step->count - 1) / actor->is->plan->window !=
                 (size_t)actor->is->shape->rank))
            return error_set(scene->err, "rank %d: step %u writes another's window",
                             actor->is->shape->rank, i);
        if ((reads && !is_inside(actor, step->left, step->count)) ||
            (step->action == PLAN_REDUCE && !is_inside(actor, step->right, step->count)) ||
            (step->action != PLAN_SEND && !is_inside(actor, step->out, step->count)))
            return error_set(scene->err, "rank %d: step %u is outside of its buffer",
                             actor->is->shape->rank, i);
        if (step->action != PLAN_SEND && step->out.buffer == PLAN_IN)
            return error_set(scene->err, "rank %d: step %u writes what is only to be read",
                             actor->is->shape->rank, i);
        if ((step->action == PLAN_SEND || step->action == PLAN_RECEIVE) &&
            (step->peer < 0 || step->peer >= scene->ranks || step->peer == actor->is->shape->rank))
            return error_set(scene->err, "rank %d: step %u has peer %d", actor->is->shape->rank, i,
                             step->peer);
    }
    return 0;
}

static void end_step(struct actor *actor, unsigned number)
{
    enum plan_stream stream = plan_stream_of(actor->is->plan->steps[number].action);

    actor->states[number] = ENDED;
    actor->left--;
    if (stream != PLAN_COMPUTES)
        actor->under_way[stream]--;
}

/* Counts copies into the rank's own part of the window as sent, and reads of another's part as
 * received. */
static void count_window(struct actor *actor, const struct plan_step *step)
{
    const struct plan_address *from = step->action == PLAN_REDUCE ? &step->right : &step->left;

    if (step->action == PLAN_COPY && step->out.buffer == PLAN_WINDOW)
        actor->work.bytes_sent += bytes_of(actor, step);
    if ((step->action == PLAN_COPY || step->action == PLAN_REDUCE) && from->buffer == PLAN_WINDOW &&
        from->offset / actor->is->plan->window != (size_t)actor->is->shape->rank)
        actor->work.bytes_received += bytes_of(actor, step);
}

/* The peer must have signalled, and still be in the call. */
static int pull(const struct scene *scene, struct actor *actor, const struct plan_step *step)
{
    const struct actor *peer = &scene->actors[step->peer];

    if (peer->told == 0 || peer->left == 0 || !is_inside(peer, step->left, step->count))
        return error_set(scene->err, "rank %d pulls from rank %d what is not there",
                         actor->is->shape->rank, step->peer);
    memmove(at(actor, step->out), at(peer, step->left), bytes_of(actor, step));
    actor->work.bytes_received += bytes_of(actor, step);
    return 0;
}

static int push(const struct scene *scene, struct actor *actor, const struct plan_step *step)
{
    const struct actor *peer = &scene->actors[step->peer];

    if (peer->told == 0 || peer->left == 0 || !is_inside(peer, step->out, step->count))
        return error_set(scene->err, "rank %d pushes to rank %d what has no place there",
                         actor->is->shape->rank, step->peer);
    memmove(at(peer, step->out), at(actor, step->left), bytes_of(actor, step));
    actor->work.bytes_sent += bytes_of(actor, step);
    return 0;
}

static int compute(const struct scene *scene, struct actor *actor, const struct plan_step *step)
{
    const struct simulation *simulation = scene->simulation;

    if (step->action == PLAN_REDUCE) {
        reduce_pair(simulation->type, simulation->op, at(actor, step->left), at(actor, step->right),
                    at(actor, step->out), step->count);
        actor->work.bytes_reduced += bytes_of(actor, step);
    } else if (step->action == PLAN_ENCODE) {
        actor->filled[step->out.offset] =
            wire_encode(actor->is->shape->wire, simulation->type, at(actor, step->left),
                        step->count, scene->codec, at(actor, step->out));
    } else if (step->action == PLAN_DECODE) {
        return wire_decode(actor->is->shape->wire, simulation->type, at(actor, step->left),
                           actor->filled[step->left.offset], scene->codec, at(actor, step->out),
                           step->count, scene->err);
    } else if (step->action == PLAN_SIGNAL) {
        if (step->number <= actor->told)
            return error_set(scene->err, "rank %d: tells %u after %u", actor->is->shape->rank,
                             step->number, actor->told);
        actor->told = step->number;
    } else if (step->action == PLAN_AWAIT) {
        return 0;
    } else if (step->action == PLAN_PULL) {
        return pull(scene, actor, step);
    } else if (step->action == PLAN_PUSH) {
        return push(scene, actor, step);
    } else {
        memmove(at(actor, step->out), at(actor, step->left), bytes_of(actor, step));
    }
    count_window(actor, step);
    return 0;
}

static bool is_told(const struct scene *scene, const struct plan_step *step)
{
    const struct actor *peer = &scene->actors[step->peer];

    return step->action != PLAN_AWAIT || peer->told >= step->number;
}

/* Begins the next step of a stream of the rank, if possible. Returns 1 if it has, 0 if not, or -1
 * with err. */
static int begin(struct scene *scene, int rank, enum plan_stream stream)
{
    struct actor *actor = &scene->actors[rank];
    const struct plan *plan = actor->is->plan;
    const struct plan_step *step;
    struct lane *lane;
    unsigned number, most = scene->simulation->messages_max;

    if (actor->next[stream] == plan->stream_counts[stream] ||
        (stream != PLAN_COMPUTES && most && actor->under_way[stream] == most))
        return 0;
    number = plan->streams[stream][actor->next[stream]];
    step = &plan->steps[number];
    if (!is_ready(actor, step) || !is_told(scene, step))
        return 0;
    actor->next[stream]++;
    actor->states[number] = BEGUN;
    if (stream == PLAN_COMPUTES) {
        end_step(actor, number);
        return compute(scene, actor, step) < 0 ? -1 : 1;
    }
    actor->under_way[stream]++;
    if (stream == PLAN_RECEIVES) {
        memset(at(actor, step->out), 0xa5,
               is_coded(step) ? actor->slot_bytes : bytes_of(actor, step));
        lane = &scene->lanes[step->peer * scene->ranks + rank];
        lane->receives[lane->receive_count++] = number;
        actor->deliverable += lane->send_count >= lane->receive_count;
        return 1;
    }
    lane = &scene->lanes[rank * scene->ranks + step->peer];
    actor->work.messages++;
    actor->work.bytes_sent += sent_bytes(actor, step);
    if (scene->simulation->is_buffered) {
        lane->copied[lane->send_count] = sent_bytes(actor, step);
        lane->copies[lane->send_count] = malloc(sent_bytes(actor, step));
        memcpy(lane->copies[lane->send_count], at(actor, step->left), sent_bytes(actor, step));
        end_step(actor, number);
    }
    lane->sends[lane->send_count++] = number;
    scene->actors[step->peer].deliverable += lane->receive_count >= lane->send_count;
    return 1;
}

/* Delivers the next message from one rank to another, if both sides have begun. Returns 1 if it
 * has, 0 if not, or -1 with err. */
static int deliver(struct scene *scene, int from, int to)
{
    struct lane *lane = &scene->lanes[from * scene->ranks + to];
    struct actor *sender = &scene->actors[from], *receiver = &scene->actors[to];
    const struct plan_step *send, *receive;
    size_t bytes;

    if (lane->done == lane->send_count || lane->done == lane->receive_count)
        return 0;
    send = &sender->is->plan->steps[lane->sends[lane->done]];
    receive = &receiver->is->plan->steps[lane->receives[lane->done]];
    bytes = scene->simulation->is_buffered ? lane->copied[lane->done] : sent_bytes(sender, send);
    if (is_coded(send) != is_coded(receive) || send->count != receive->count)
        return error_set(scene->err,
                         "message %u from rank %d to %d: %zu elements sent, %zu awaited",
                         lane->done, from, to, send->count, receive->count);
    if (is_coded(receive))
        receiver->filled[receive->out.offset] = bytes;
    receiver->work.bytes_received += bytes;
    if (scene->simulation->is_buffered) {
        memcpy(at(receiver, receive->out), lane->copies[lane->done], bytes);
        free(lane->copies[lane->done]);
        lane->copies[lane->done] = NULL;
    } else {
        memcpy(at(receiver, receive->out), at(sender, send->left), bytes);
        end_step(sender, lane->sends[lane->done]);
    }
    if (scene->simulation->has_liar && from == scene->simulation->liar)
        *(char *)at(receiver, receive->out) ^= 1;
    end_step(receiver, lane->receives[lane->done]);
    lane->done++;
    receiver->deliverable--;
    return 1;
}

/* Does the first possible action, starting at a random one. Returns 1 if it did one, 0 if none is
 * possible, or -1 with err. */
static int try_all(struct scene *scene, bool of_laggard)
{
    unsigned ranks = (unsigned)scene->ranks, kinds = PLAN_STREAMS + 1;
    unsigned first = draw(scene, ranks * kinds);

    for (unsigned i = 0; i < ranks * kinds; i++) {
        unsigned choice = (first + i) % (ranks * kinds);
        int rank = (int)(choice / kinds), status;

        if ((rank == scene->laggard) != of_laggard)
            continue;
        if (choice % kinds < PLAN_STREAMS) {
            status = begin(scene, rank, (enum plan_stream)(choice % kinds));
            if (status != 0)
                return status;
            continue;
        }
        for (int from = 0; from < scene->ranks && scene->actors[rank].deliverable; from++) {
            status = deliver(scene, from, rank);
            if (status != 0)
                return status;
        }
    }
    return 0;
}

/* Does one action: of the laggard only if no other rank has one. */
static int turn(struct scene *scene)
{
    int status = try_all(scene, false);

    if (status == 0)
        status = try_all(scene, true);
    if (draw(scene, 50) == 0)
        scene->laggard = (int)draw(scene, (unsigned)scene->ranks + 1);
    return status;
}

static int play(struct scene *scene)
{
    int status;

    while ((status = turn(scene)) > 0)
        ;
    if (status < 0)
        return -1;
    for (int r = 0; r < scene->ranks; r++)
        if (scene->actors[r].left > 0)
            return error_set(scene->err, "rank %d: %u of %u steps never end", r,
                             scene->actors[r].left, scene->actors[r].is->plan->step_count);
    for (int r = 0; r < scene->ranks; r++)
        if (scene->actors[r].is->plan->window > 0 && scene->actors[r].told == 0)
            return error_set(scene->err, "rank %d has a window and never signals", r);
    for (int i = 0; i < scene->ranks * scene->ranks; i++)
        if (scene->lanes[i].done != scene->lanes[i].send_count)
            return error_set(scene->err, "a message from rank %d to %d is not received",
                             i / scene->ranks, i % scene->ranks);
    return 0;
}

static void open_lanes(struct scene *scene)
{
    for (int r = 0; r < scene->ranks; r++)
        for (unsigned i = 0; i < scene->actors[r].is->plan->step_count; i++) {
            const struct plan_step *step = &scene->actors[r].is->plan->steps[i];

            /* first counts the messages, in fields that are set to 0 again below */
            if (step->action == PLAN_SEND)
                scene->lanes[r * scene->ranks + step->peer].send_count++;
            else if (step->action == PLAN_RECEIVE)
                scene->lanes[step->peer * scene->ranks + r].receive_count++;
        }
    for (int i = 0; i < scene->ranks * scene->ranks; i++) {
        struct lane *lane = &scene->lanes[i];

        lane->sends = calloc(lane->send_count + 1, sizeof *lane->sends);
        lane->copies = calloc(lane->send_count + 1, sizeof *lane->copies);
        lane->copied = calloc(lane->send_count + 1, sizeof *lane->copied);
        lane->receives = calloc(lane->receive_count + 1, sizeof *lane->receives);
        lane->send_count = lane->receive_count = 0;
    }
}

static int open_actor(struct scene *scene, struct actor *actor, const struct simulated_rank *rank)
{
    size_t scratch = rank->plan->scratch * rank->shape->element_bytes;

    actor->is = rank;
    actor->left = rank->plan->step_count;
    actor->states = calloc(rank->plan->step_count + 1, 1);
    actor->buffers[PLAN_IN] = rank->in;
    actor->buffers[PLAN_OUT] = rank->out;
    actor->buffers[PLAN_SCRATCH] = malloc(scratch + 1);
    memset(actor->buffers[PLAN_SCRATCH], 0x5a, scratch + 1);
    actor->limits[PLAN_IN] = rank->in_count;
    actor->limits[PLAN_OUT] = rank->out_count;
    actor->limits[PLAN_SCRATCH] = rank->plan->scratch;
    if (rank->plan->wire_slots > 0) {
        actor->slot_bytes =
            (wire_bound(rank->shape->wire, scene->simulation->type, rank->plan->wire_count) + 7) /
            8 * 8;
        actor->buffers[PLAN_WIRE] = malloc(rank->plan->wire_slots * actor->slot_bytes);
        actor->filled = calloc(rank->plan->wire_slots, sizeof *actor->filled);
    }
    actor->buffers[PLAN_WINDOW] = scene->window;
    actor->limits[PLAN_WINDOW] = rank->plan->window * (size_t)scene->ranks;
    if (rank->plan->window != scene->actors[0].is->plan->window)
        return error_set(scene->err, "ranks have windows of different sizes");
    return check_places(scene, actor);
}

int simulate(const struct simulation *simulation, const struct simulated_rank *ranks, int count,
             struct simulated_work *work, struct error *err)
{
    struct scene scene = {simulation,
                          calloc((size_t)count, sizeof *scene.actors),
                          calloc((size_t)count * (size_t)count, sizeof *scene.lanes),
                          count,
                          simulation->seed * 2 + 1,
                          ranks->shape->wire != WIRE_AS_IS ? codec_scratch_create() : NULL,
                          0,
                          NULL,
                          err};
    size_t window = ranks->plan->window * (size_t)count * ranks->shape->element_bytes;
    int status = 0;

    scene.window = calloc(window + 1, 1);
    for (int r = 0; r < count; r++)
        if (open_actor(&scene, &scene.actors[r], &ranks[r]) < 0)
            status = -1;
    if (status == 0) {
        open_lanes(&scene);
        status = play(&scene);
    }
    if (work) {
        *work = (struct simulated_work){0};
        for (int r = 0; r < count; r++) {
            const struct simulated_work *of = &scene.actors[r].work;

            work->messages = of->messages > work->messages ? of->messages : work->messages;
#define GREATER(field) work->field = of->field > work->field ? of->field : work->field
            GREATER(bytes_sent);
            GREATER(bytes_received);
            GREATER(bytes_reduced);
        }
    }
    for (int r = 0; r < count; r++) {
        free(scene.actors[r].states);
        free(scene.actors[r].buffers[PLAN_WIRE]);
        free(scene.actors[r].filled);
        free(scene.actors[r].buffers[PLAN_SCRATCH]);
    }
    for (int i = 0; i < count * count; i++) {
        for (unsigned s = 0; s < scene.lanes[i].send_count; s++)
            free(scene.lanes[i].copies[s]);
        free(scene.lanes[i].sends);
        free(scene.lanes[i].receives);
        free(scene.lanes[i].copies);
        free(scene.lanes[i].copied);
    }
    codec_scratch_destroy(scene.codec);
    free(scene.window);
    free(scene.actors);
    free(scene.lanes);
    return status;
}
