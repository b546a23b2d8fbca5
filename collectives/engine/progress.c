/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/engine/parts.h"
#include "collectives/processor.h"

#include <pthread.h>
#include <sched.h>

/* Calls use tags 0 to 32766. The next tag, the greatest that every MPI allows, is never sent and
 * only probed for: MPI makes progress in a probe only if it finds nothing. */
enum { TAGS = 32767 };

/* Polls of a window in one move, with a pause of the processor between them. */
enum { POLLS = 16 };

/* The calls under way in this process, on all communicators. A wait for one call must move the
 * others too, or two ranks that wait for two calls in different orders would wait forever. */
static struct {
    pthread_mutex_t lock; /* protects this and all collectives */
    struct collective_request *active;
} engine = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Locks only if threads may call MPI at once: a lock waits until all earlier stores are visible to
 * all processors, and a store to a line that another rank is reading takes long. */
static void lock(const struct collective *collective)
{
    if (collective->may_share)
        pthread_mutex_lock(&engine.lock);
}

static void unlock(const struct collective *collective)
{
    if (collective->may_share)
        pthread_mutex_unlock(&engine.lock);
}

static void retire(struct collective_request *ended)
{
    struct collective_request **link = &engine.active;

    while (*link != ended)
        link = &(*link)->next;
    *link = ended->next;
    ended->next = NULL;
    ended->collective->statistics.bytes_sent += ended->bytes_sent;
    if (!ended->has_failed) /* else finish() does */
        request_release_scratch(ended);
}

/* Moves all calls under way. is_waiting: the caller waits and has nothing else to do. Returns
 * whether anything has happened. */
static bool move_all(bool is_waiting)
{
    bool has_moved = false, is_alone = engine.active && !engine.active->next;

    for (struct collective_request *r = engine.active, *next; r; r = next) {
        next = r->next;
        if (!run_has_ended(r))
            has_moved |= run_move(r, is_waiting && is_alone);
        if (run_has_ended(r))
            retire(r);
    }
    return has_moved;
}

/* Returns the input of a call. An all-gather in place reads its own block in out: each rank may
 * have its own order of blocks, so that none knows where another's are. */
static char *input_of(const struct collective_request *request, const struct collective_call *call)
{
    const struct plan_shape *shape = &request->cached->shape;
    size_t at = 0;

    if (call->kind == COLLECTIVE_ALL_GATHER && call->in == call->out)
        at = plan_shape_block(shape, shape->rank).offset * shape->element_bytes;
    return (char *)(uintptr_t)call->in + at; /* which is only read */
}

/* With the lock held. Makes a request that is ready to move; it is not active yet. NULL with
 * err. */
static struct collective_request *begin(struct collective *collective,
                                        const struct collective_call *call, struct error *err)
{
    struct collective_request *request;
    const struct cached_plan *cached;

    if (request_prepare(collective, call, &request, err) < 0)
        return NULL;
    cached = request->cached;
    request->comm = collective->comm;
    request->tag = (int)(collective->sequence++ % TAGS);
    request->may_wait = !collective->may_share;
    request->polls = plan_is_oversubscribed(&collective->topology) ? 1 : POLLS;
    request->type = call->type;
    request->op = call->op;
    request->buffers[PLAN_IN] = input_of(request, call);
    request->buffers[PLAN_OUT] = call->out;
    if (request->scratch) {
        request->buffers[PLAN_SCRATCH] = request->scratch->memory;
        request->buffers[PLAN_WIRE] =
            request->scratch->memory + cached->plan.scratch * cached->shape.element_bytes;
    }
    request->codec = collective->codec;
    request->window = collective->window;
    if (cached->plan.window > 0)
        window_take_ticket(collective->window, cached->plan.window * cached->shape.element_bytes,
                           &request->ticket);
    run_begin(request);
    collective->statistics.calls++;
    return request;
}

static void activate(struct collective_request *request)
{
    struct collective_request **link = &engine.active;

    while (*link)
        link = &(*link)->next;
    *link = request;
}

int collective_prepare(struct collective *collective, const struct collective_call *call,
                       struct error *err)
{
    struct collective_request *request;
    int status;

    lock(collective);
    status = request_prepare(collective, call, &request, err);
    if (status == 0)
        request_release(request);
    unlock(collective);
    return status;
}

int collective_start(struct collective *collective, const struct collective_call *call,
                     struct collective_request **out, struct error *err)
{
    struct collective_request *request;

    lock(collective);
    request = begin(collective, call, err);
    if (request) {
        activate(request);
        move_all(false);
        *out = request;
    }
    unlock(collective);
    return request ? 0 : -1;
}

/* With the lock held. Gives back a request that has ended, and returns its status. */
static int finish(struct collective_request **request, struct error *err)
{
    const struct cached_plan *cached = (*request)->cached;
    int status = 0;

    if ((*request)->has_failed)
        status = error_set(err, "%s by %s: %s", collective_kind_name(cached->shape.kind),
                           cached->algorithm->name, (*request)->err.text);
    request_release(*request);
    *request = NULL;
    return status;
}

/* Lets MPI advance the program's own messages, for which other ranks may be waiting. */
static void progress(const struct collective *collective)
{
    int has_come;

    PMPI_Iprobe(MPI_ANY_SOURCE, TAGS, collective->comm, &has_come, MPI_STATUS_IGNORE);
}

void collective_progress(struct collective *collective)
{
    int rounds = 0;

    lock(collective);
    for (const struct collective_request *r = engine.active; r; r = r->next)
        rounds++;
    for (; rounds > 0; rounds--)
        if (!move_all(false) && collective->window)
            progress(collective);
    unlock(collective);
}

/* Waits between two moves that found nothing to do. A window must be polled: if every rank has a
 * processor, for a fraction of a millisecond before this one is yielded. That is as long as most
 * copies take; a rank that calls the kernel again and again meanwhile slows the copy down, by a
 * fifth at 1 MiB if the two processors are threads of one core. */
static void linger(const struct collective *collective, unsigned turn)
{
    enum { SPINS = 4096 / POLLS, PROBE_EVERY = 32, PROBE_SPINS = 256 / POLLS };
    bool spins = turn < SPINS && !plan_is_oversubscribed(&collective->topology);

    if (turn % (spins ? PROBE_SPINS : PROBE_EVERY) == 0)
        progress(collective);
    if (!spins)
        sched_yield();
    else
        processor_pause();
}

/* With the lock held, which is released between moves. */
static int wait_for(struct collective_request **request, struct error *err)
{
    const struct collective *collective = (*request)->collective;
    unsigned turn = 0;

    while (!run_has_ended(*request)) {
        if (move_all(true)) {
            turn = 0;
        } else if (collective->may_share || collective->window) {
            unlock(collective);
            linger(collective, ++turn);
            lock(collective);
        }
    }
    return finish(request, err);
}

int collective_wait(struct collective_request **request, struct error *err)
{
    const struct collective *collective;
    int status;

    if (!*request)
        return 0;
    collective = (*request)->collective;
    lock(collective);
    status = wait_for(request, err);
    unlock(collective);
    return status;
}

/* A call that ends at once, as most small calls do, never becomes active. */
int collective_run(struct collective *collective, const struct collective_call *call,
                   struct error *err)
{
    struct collective_request *request;
    int status = -1;

    lock(collective);
    request = begin(collective, call, err);
    if (request) {
        if (!engine.active)
            run_move(request, true);
        if (run_has_ended(request)) {
            collective->statistics.bytes_sent += request->bytes_sent;
            status = finish(&request, err);
        } else {
            activate(request);
            status = wait_for(&request, err);
        }
    }
    unlock(collective);
    return status;
}

void collective_statistics(struct collective *collective, struct collective_statistics *statistics)
{
    lock(collective);
    *statistics = collective->statistics;
    unlock(collective);
}
