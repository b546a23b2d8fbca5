/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/engine/parts.h"
#include "collectives/processor.h"

#include <pthread.h>
#include <sched.h>

/* 0 to 32766. The next one, the greatest that every MPI allows, is never sent: MPI makes progress
 * at a probe only where it finds nothing. */
enum { TAGS = 32767 };

/* At a window, with a pause of the processor between them, before anything else is looked at. */
enum { POLLS = 16 };

/* What is under way in this process, on all communicators: who waits for one call must move the
 * others too, or two ranks that wait for two calls in different orders wait for ever. */
static struct {
    pthread_mutex_t lock; /* of this, and of all collectives */
    struct collective_request *active;
} engine = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Only where threads may call MPI at once: a lock is not passed before all that was written is
 * there for all processors to see, and what another rank reads just now takes long to write. */
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

static void count(const struct collective_request *ended)
{
    struct collective_statistics *statistics = &ended->collective->statistics;

    statistics->messages_sent += ended->messages_sent;
    statistics->bytes_sent += ended->bytes_sent;
    statistics->bytes_reduced += ended->bytes_reduced;
    statistics->bytes_coded += ended->bytes_coded;
}

static void retire(struct collective_request *ended)
{
    struct collective_request **link = &engine.active;

    while (*link != ended)
        link = &(*link)->next;
    *link = ended->next;
    ended->next = NULL;
    count(ended);
    if (!ended->has_failed) /* else finish() tells how */
        request_release(ended);
}

/* is_waiting: somebody is, who has nothing else to do. */
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

/* An all-gather in place is one from where the own block stands: ranks may have orders of their own
 * for the blocks, so that none knows where another's are. */
static char *input_of(const struct collective_request *request, const struct collective_call *call)
{
    const struct plan_shape *shape = &request->cached->shape;
    size_t at = 0;

    if (call->kind == COLLECTIVE_ALL_GATHER && call->in == call->out)
        at = plan_shape_block(shape, shape->rank).offset * shape->element_bytes;
    return (char *)(uintptr_t)call->in + at; /* which is only read */
}

/* With the lock held. The request is ready to move, and is not among the active ones. */
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
    if (request->room) {
        request->buffers[PLAN_SCRATCH] = request->room->memory;
        request->buffers[PLAN_WIRE] =
            request->room->memory + cached->plan.scratch * cached->shape.element_bytes;
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

/* With the lock held. */
static int finish(struct collective_request **request, struct error *err)
{
    const struct cached_plan *cached = (*request)->cached;
    int status = 0;

    if ((*request)->has_failed)
        status = error_set(err, "%s by %s: %s", collective_kind_name(cached->shape.kind),
                           cached->algorithm->name, (*request)->err.text);
    request_give_back(*request);
    *request = NULL;
    return status;
}

/* Messages of the program's own, which others may wait for, go on in MPI alone. */
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

/* Between two polls of what is under way that found nothing to do. A window tells nothing by
 * itself, so it is looked at again and again: where every rank has a processor, for a fraction of a
 * millisecond before others may have this one. That is as long as most copies take, and who asks
 * the kernel again and again meanwhile slows the copying down: by a fifth at 1 MiB where the two
 * processors are threads of one core.
 */
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

/* With the lock held, which others have meanwhile. */
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

/* What ends at once, as most of what is little does, is never put among what is under way. */
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
            count(request);
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
