/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/collective.h"
#include "collectives/engine/cache.h"
#include "collectives/engine/run.h"
#include "collectives/engine/window.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TAGS = 32768, LINE = 64 };

/* Memory for scratch: one per call under way. */
struct room {
    size_t bytes;
    char *memory;
    bool is_taken;
    struct room *next;
};

struct collective_request {
    struct collective *collective;
    struct run *run;
    struct room *room; /* NULL: the plan needs none */
    struct collective_request *next;
};

struct collective {
    MPI_Comm comm;
    int rank, ranks;
    struct collective_options options;
    struct plan_topology topology;
    int *node_of_rank, *ring; /* topology's */
    bool may_share;           /* threads may call MPI at once: none may hold the lock in a wait */
    bool has_thread;

    struct window *window; /* NULL: ranks are on several nodes, or cannot share memory */
    bool is_crowded;       /* there are more ranks on the node than processors */

    struct plan_cache cache;
    struct room *rooms;
    struct collective_request *spare;
    struct codec_scratch *codec; /* once it is needed */
    unsigned sequence;
    struct collective_statistics statistics;
};

/* What is under way in this process, on all communicators: who waits for one call must move the
 * others too, or two ranks that wait for two calls in different orders wait for ever. */
static struct {
    pthread_mutex_t lock; /* of this, and of all collectives */
    struct collective_request *active;
    int waiting; /* callers that drive things themselves */

    pthread_t thread;
    pthread_cond_t wake;      /* the thread */
    int thread_users;         /* collectives that want it */
    pthread_mutex_t changing; /* held while the thread is started or ended */
} engine = {.lock = PTHREAD_MUTEX_INITIALIZER,
            .wake = PTHREAD_COND_INITIALIZER,
            .changing = PTHREAD_MUTEX_INITIALIZER};

/* ----------------------------------------------------------------------------------- creation */

/* Who shares a node with whom, as numbers of nodes in the order of their lowest ranks. */
static int find_nodes(struct collective *collective)
{
    int *leaders = malloc((size_t)collective->ranks * sizeof *leaders), leader, code;
    MPI_Comm node;

    if (!leaders)
        return MPI_ERR_NO_MEM;
    leader = collective->rank;
    code = PMPI_Comm_split_type(collective->comm, MPI_COMM_TYPE_SHARED, collective->rank,
                                MPI_INFO_NULL, &node);
    if (code == MPI_SUCCESS) {
        code = PMPI_Bcast(&leader, 1, MPI_INT, 0, node);
        PMPI_Comm_free(&node);
    }
    if (code == MPI_SUCCESS)
        code = PMPI_Allgather(&leader, 1, MPI_INT, leaders, 1, MPI_INT, collective->comm);
    for (int r = 0; r < collective->ranks && code == MPI_SUCCESS; r++)
        collective->node_of_rank[r] =
            leaders[r] == r ? collective->topology.nodes++ : collective->node_of_rank[leaders[r]];
    free(leaders);
    return code;
}

static int copy_ring(struct collective *collective, const int *ring, struct error *err)
{
    for (int i = 0; i < collective->ranks; i++) {
        int found = 0;

        for (int j = 0; j < collective->ranks; j++)
            found += ring[j] == i;
        if (found != 1)
            return error_set(err, "the order of the ring has rank %d %d times", i, found);
    }
    memcpy(collective->ring, ring, (size_t)collective->ranks * sizeof *ring);
    collective->topology.ring = collective->ring;
    return 0;
}

static void *drive(void *context);

static int start_thread(struct collective *collective, struct error *err)
{
    int code = 0;

    if (!collective->may_share)
        return error_set(err,
                         "a thread for collectives needs MPI_THREAD_MULTIPLE, which MPI was not "
                         "started with");
    pthread_mutex_lock(&engine.changing);
    pthread_mutex_lock(&engine.lock);
    if (engine.thread_users == 0)
        code = pthread_create(&engine.thread, NULL, drive, NULL);
    if (code == 0)
        engine.thread_users++;
    pthread_mutex_unlock(&engine.lock);
    pthread_mutex_unlock(&engine.changing);
    if (code != 0)
        return error_set(err, "pthread_create: %s", strerror(code));
    collective->has_thread = true;
    return 0;
}

static void stop_thread(void)
{
    bool is_last;

    pthread_mutex_lock(&engine.changing);
    pthread_mutex_lock(&engine.lock);
    is_last = --engine.thread_users == 0;
    pthread_cond_broadcast(&engine.wake);
    pthread_mutex_unlock(&engine.lock);
    if (is_last)
        pthread_join(engine.thread, NULL);
    pthread_mutex_unlock(&engine.changing);
}

/* Whether a rank has failed is known to all, so that none waits for another. */
static int agreed(struct collective *collective, int status, struct error *err)
{
    int worst = status;

    if (PMPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MIN, collective->comm) != MPI_SUCCESS)
        return error_set(err, "MPI_Allreduce failed");
    if (worst < 0 && status == 0)
        error_set(err, "another rank could not set up its collectives");
    return worst;
}

int collective_create(MPI_Comm comm, const struct collective_options *options,
                      struct collective **out, struct error *err)
{
    struct collective *collective = calloc(1, sizeof *collective);
    int status = 0, provided = MPI_THREAD_SINGLE;

    if (!collective)
        return error_set(err, "out of memory for collectives");
    PMPI_Query_thread(&provided);
    collective->may_share = provided == MPI_THREAD_MULTIPLE;
    if (options)
        collective->options = *options;
    if (PMPI_Comm_dup(comm, &collective->comm) != MPI_SUCCESS) {
        free(collective);
        return error_set(err, "MPI_Comm_dup failed");
    }
    PMPI_Comm_set_errhandler(collective->comm, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(collective->comm, &collective->rank);
    PMPI_Comm_size(collective->comm, &collective->ranks);
    collective->node_of_rank = calloc((size_t)collective->ranks * 2, sizeof(int));
    if (!collective->node_of_rank)
        status = error_set(err, "out of memory for collectives");
    status = agreed(collective, status, err);
    if (status == 0) {
        collective->ring = collective->node_of_rank + collective->ranks;
        collective->topology.node_of_rank = collective->node_of_rank;
        if (find_nodes(collective) != MPI_SUCCESS)
            status = error_set(err, "cannot find out which ranks share a node");
        else if (options && options->ring)
            status = copy_ring(collective, options->ring, err);
        if (status == 0 && collective->options.has_thread)
            status = start_thread(collective, err);
        status = agreed(collective, status, err);
    }
    if (status == 0 && collective->topology.nodes == 1 && collective->ranks > 1) {
        collective->window = window_create(collective->comm);
        collective->topology.has_window = collective->window != NULL;
        collective->is_crowded = collective->ranks > sysconf(_SC_NPROCESSORS_ONLN);
    }
    if (status < 0) {
        collective_destroy(collective);
        return -1;
    }
    *out = collective;
    return 0;
}

void collective_destroy(struct collective *collective)
{
    if (!collective)
        return;
    if (collective->has_thread)
        stop_thread();
    while (collective->rooms) {
        struct room *room = collective->rooms;

        collective->rooms = room->next;
        free(room->memory);
        free(room);
    }
    while (collective->spare) {
        struct collective_request *request = collective->spare;

        collective->spare = request->next;
        free(request);
    }
    plan_cache_clear(&collective->cache);
    window_destroy(collective->window);
    codec_scratch_destroy(collective->codec);
    PMPI_Comm_free(&collective->comm);
    free(collective->node_of_rank);
    free(collective);
}

int collective_rank(const struct collective *collective)
{
    return collective->rank;
}

int collective_ranks(const struct collective *collective)
{
    return collective->ranks;
}

const struct plan_topology *collective_topology(const struct collective *collective)
{
    return &collective->topology;
}

/* --------------------------------------------------------------------------------------- call */

/* What the call asks for, as a shape; -1: it makes no sense. */
static int shape_of(const struct collective *collective, const struct collective_call *call,
                    struct plan_shape *shape, struct error *err)
{
    bool has_root = call->kind == COLLECTIVE_BROADCAST || call->kind == COLLECTIVE_REDUCE;

    if ((unsigned)call->kind >= COLLECTIVE_KINDS)
        return error_set(err, "collective: kind %d is none", (int)call->kind);
    if ((unsigned)call->type >= ELEMENT_TYPES)
        return error_set(err, "%s: type %d is none", collective_kind_name(call->kind),
                         (int)call->type);
    if ((unsigned)call->wire >= WIRE_FORMATS || !wire_applies(call->wire, call->type))
        return error_set(err, "%s: %s cannot travel as %s", collective_kind_name(call->kind),
                         element_name(call->type),
                         (unsigned)call->wire < WIRE_FORMATS ? wire_name(call->wire) : "that");
    if (collective_kind_reduces(call->kind) && (unsigned)call->op >= REDUCE_OPS)
        return error_set(err, "%s: operation %d is none", collective_kind_name(call->kind),
                         (int)call->op);
    if (collective_kind_reduces(call->kind) && !reduce_applies(call->type, call->op))
        return error_set(err, "%s: %s is not defined on %s", collective_kind_name(call->kind),
                         reduce_name(call->op), element_name(call->type));
    if (has_root && (call->root < 0 || call->root >= collective->ranks))
        return error_set(err, "%s: root %d of %d ranks", collective_kind_name(call->kind),
                         call->root, collective->ranks);
    if (!call->send_counts != !call->send_offsets)
        return error_set(err, "%s: send_counts and send_offsets go together",
                         collective_kind_name(call->kind));
    *shape = (struct plan_shape){
        .kind = call->kind,
        .op = collective_kind_reduces(call->kind) ? call->op : REDUCE_SUM,
        .element_bytes = element_bytes(call->type),
        .rank = collective->rank,
        .ranks = collective->ranks,
        .root = has_root ? call->root : 0,
        .count = call->counts ? 0 : call->count,
        .counts = call->counts,
        .offsets = call->offsets,
        .send_counts = call->send_counts,
        .send_offsets = call->send_offsets,
        .in_place = call->in == call->out && call->kind != COLLECTIVE_BROADCAST &&
                    (call->kind != COLLECTIVE_REDUCE || collective->rank == call->root),
        .segment = call->segment_bytes / element_bytes(call->type),
        .wire = call->wire,
        .topology = &collective->topology,
    };
    if (call->segment_bytes > 0 && shape->segment == 0)
        shape->segment = 1;
    return 0;
}

static const struct algorithm *algorithm_of(const struct collective *collective,
                                            const struct collective_call *call,
                                            struct plan_shape *shape, struct error *err)
{
    const struct algorithm *algorithm;

    if (call->algorithm) {
        algorithm = algorithm_find(call->kind, call->algorithm);
        if (!algorithm)
            error_set(err, "%s: no algorithm \"%s\"", collective_kind_name(call->kind),
                      call->algorithm);
    } else if (collective->options.choose) {
        algorithm = collective->options.choose(collective->options.context, shape, call->type);
        if (!algorithm)
            error_set(err, "%s: no algorithm chosen", collective_kind_name(call->kind));
    } else {
        algorithm = algorithm_default(shape);
    }
    if (algorithm && !algorithm_applies(algorithm, shape)) {
        error_set(err, "%s: %s does not do this one", collective_kind_name(call->kind),
                  algorithm->name);
        return NULL;
    }
    if (algorithm && shape->segment == 0)
        shape->segment = algorithm_default_segment(algorithm, shape);
    return algorithm;
}

const struct algorithm *collective_algorithm(struct collective *collective,
                                             const struct collective_call *call,
                                             size_t *segment_bytes, struct error *err)
{
    const struct algorithm *algorithm;
    struct plan_shape shape;

    if (shape_of(collective, call, &shape, err) < 0)
        return NULL;
    algorithm = algorithm_of(collective, call, &shape, err);
    if (algorithm && segment_bytes)
        *segment_bytes = shape.segment * shape.element_bytes;
    return algorithm;
}

/* ------------------------------------------------------------------------- what a call needs */

/* Scratch of the size: one that is free, one that is free and made larger, or a new one. */
static struct room *take_room(struct collective *collective, size_t bytes)
{
    struct room *small = NULL, *room;
    char *memory;

    for (room = collective->rooms; room; room = room->next)
        if (!room->is_taken && room->bytes >= bytes) {
            room->is_taken = true;
            return room;
        } else if (!room->is_taken) {
            small = room;
        }
    collective->statistics.allocations++;
    bytes = (bytes + LINE - 1) / LINE * LINE;
    memory = aligned_alloc(LINE, bytes);
    room = small ? small : calloc(1, sizeof *room);
    if (!memory || !room) {
        free(memory);
        if (!small)
            free(room);
        return NULL;
    }
    if (!small) {
        room->next = collective->rooms;
        collective->rooms = room;
    }
    free(room->memory);
    *room = (struct room){bytes, memory, true, room->next};
    return room;
}

static struct collective_request *take_request(struct collective *collective)
{
    struct collective_request *request = collective->spare;

    if (request) {
        collective->spare = request->next;
        request->next = NULL;
        return request;
    }
    collective->statistics.allocations++;
    return calloc(1, sizeof *request);
}

static struct run *take_run(struct collective *collective, struct cached_plan *cached)
{
    struct run *run = cached->spare;

    if (run) {
        cached->spare = run->next;
        return run;
    }
    collective->statistics.allocations++;
    return run_create(cached);
}

/* The request and all that it holds go back to where they came from. */
static void give_back(struct collective *collective, struct collective_request *request)
{
    if (request->run) {
        struct cached_plan *cached = request->run->cached;

        request->run->next = cached->spare;
        cached->spare = request->run;
        cached->users--;
    }
    if (request->room)
        request->room->is_taken = false;
    *request = (struct collective_request){.next = collective->spare};
    collective->spare = request;
}

static int prepare(struct collective *collective, const struct collective_call *call,
                   struct collective_request **out, struct error *err)
{
    struct collective_request *request;
    const struct algorithm *algorithm;
    struct cached_plan *cached;
    struct plan_shape shape;
    size_t scratch, slot_bytes;
    bool made;

    if (shape_of(collective, call, &shape, err) < 0)
        return -1;
    algorithm = algorithm_of(collective, call, &shape, err);
    if (!algorithm ||
        plan_cache_get(&collective->cache, algorithm, &shape, &cached, &made, err) < 0)
        return -1;
    collective->statistics.allocations += made;
    request = take_request(collective);
    if (!request)
        return error_set(err, "out of memory for a collective");
    request->collective = collective;
    request->run = take_run(collective, cached);
    if (request->run)
        cached->users++;
    slot_bytes =
        (wire_bound(call->wire, call->type, cached->plan.wire_count) + LINE - 1) / LINE * LINE;
    scratch = cached->plan.scratch * shape.element_bytes + cached->plan.wire_slots * slot_bytes;
    if (call->wire == WIRE_LOSSLESS && !collective->codec) {
        collective->statistics.allocations++;
        collective->codec = codec_scratch_create();
        if (!collective->codec) {
            give_back(collective, request);
            return error_set(err, "out of memory for the codec");
        }
    }
    if (request->run && scratch > 0)
        request->room = take_room(collective, scratch);
    if (!request->run || (scratch > 0 && !request->room)) {
        give_back(collective, request);
        return error_set(err, "out of memory for a collective: %zu bytes of scratch", scratch);
    }
    request->run->slot_bytes = slot_bytes;
    *out = request;
    return 0;
}

/* ----------------------------------------------------------------------------- under way */

static void retire(struct collective_request *ended)
{
    struct collective_request **link = &engine.active;
    struct collective_statistics *statistics = &ended->collective->statistics;

    while (*link != ended)
        link = &(*link)->next;
    *link = ended->next;
    ended->next = NULL;
    statistics->messages_sent += ended->run->messages_sent;
    statistics->bytes_sent += ended->run->bytes_sent;
    statistics->bytes_reduced += ended->run->bytes_reduced;
    statistics->bytes_coded += ended->run->bytes_coded;
}

/* may_wait: where there is but one call under way, and nothing to do for it, inside MPI. */
static bool move_all(bool may_wait)
{
    bool has_moved = false, is_alone = engine.active && !engine.active->next;

    for (struct collective_request *r = engine.active, *next; r; r = next) {
        next = r->next;
        if (!run_has_ended(r->run))
            has_moved |= run_move(r->run, may_wait && is_alone);
        if (run_has_ended(r->run))
            retire(r);
    }
    return has_moved;
}

static void *drive(void *context)
{
    (void)context;
    pthread_mutex_lock(&engine.lock);
    while (engine.thread_users > 0) {
        if (!engine.active || engine.waiting > 0) {
            pthread_cond_wait(&engine.wake, &engine.lock);
        } else {
            bool has_moved = move_all(false);

            pthread_mutex_unlock(&engine.lock);
            if (!has_moved)
                sched_yield();
            pthread_mutex_lock(&engine.lock);
        }
    }
    pthread_mutex_unlock(&engine.lock);
    return NULL;
}

/* The plan's own scratch, in bytes; slots stand behind it, aligned as it is. */
static size_t cached_scratch(const struct run *run)
{
    return run->cached->plan.scratch * run->cached->shape.element_bytes;
}

int collective_start(struct collective *collective, const struct collective_call *call,
                     struct collective_request **out, struct error *err)
{
    struct collective_request *request = NULL, **link = &engine.active;
    struct run *run;

    pthread_mutex_lock(&engine.lock);
    if (prepare(collective, call, &request, err) < 0) {
        pthread_mutex_unlock(&engine.lock);
        return -1;
    }
    run = request->run;
    run->comm = collective->comm;
    run->tag = (int)(collective->sequence++ % TAGS);
    run->type = call->type;
    run->op = call->op;
    /* `in` is only read */
    run->buffers[PLAN_IN] = (char *)(uintptr_t)call->in;
    run->buffers[PLAN_OUT] = call->out;
    run->buffers[PLAN_SCRATCH] = request->room ? request->room->memory : NULL;
    run->buffers[PLAN_WIRE] = request->room ? request->room->memory + cached_scratch(run) : NULL;
    run->codec = collective->codec;
    run->window = collective->window;
    if (run->cached->plan.window > 0)
        run->ticket = window_take_ticket(collective->window);
    run_begin(run);
    while (*link)
        link = &(*link)->next;
    *link = request;
    collective->statistics.calls++;
    move_all(false);
    if (engine.thread_users > 0)
        pthread_cond_broadcast(&engine.wake);
    pthread_mutex_unlock(&engine.lock);
    *out = request;
    return 0;
}

/* With the lock held. */
static int finish(struct collective_request **request, struct error *err)
{
    struct collective *collective = (*request)->collective;
    int status = 1;

    if ((*request)->run->has_failed)
        status = error_set(err, "%s by %s: %s",
                           collective_kind_name((*request)->run->cached->shape.kind),
                           (*request)->run->cached->algorithm->name, (*request)->run->err.text);
    give_back(collective, *request);
    *request = NULL;
    return status;
}

/* Messages of the program's own, which others may wait for, go on in MPI alone. */
static void progress(const struct collective *collective)
{
    int has_come;

    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, collective->comm, &has_come, MPI_STATUS_IGNORE);
}

int collective_test(struct collective_request **request, struct error *err)
{
    int status = 0;

    if (!*request)
        return 1;
    pthread_mutex_lock(&engine.lock);
    if (!move_all(false) && (*request)->collective->window)
        progress((*request)->collective);
    if (run_has_ended((*request)->run))
        status = finish(request, err);
    pthread_mutex_unlock(&engine.lock);
    return status;
}

/* Between two looks at what is under way that found nothing to do. A window tells nothing by
 * itself, so it is looked at again and again, for a microsecond or so before others may have the
 * processor.
 */
static void linger(const struct collective *collective, unsigned turn)
{
    enum { SPINS = 200, PROBE_EVERY = 32 };

    if (turn < SPINS && !collective->is_crowded) {
#ifdef __x86_64__
        __builtin_ia32_pause();
#endif
        return;
    }
    if (turn % PROBE_EVERY == 0)
        progress(collective);
    sched_yield();
}

int collective_wait(struct collective_request **request, struct error *err)
{
    struct collective *collective;
    unsigned turn = 0;
    int status;

    if (!*request)
        return 0;
    collective = (*request)->collective;
    pthread_mutex_lock(&engine.lock);
    engine.waiting++;
    while (!run_has_ended((*request)->run)) {
        bool may_wait = !collective->may_share;

        if (move_all(may_wait)) {
            turn = 0;
        } else if (!may_wait) {
            pthread_mutex_unlock(&engine.lock);
            linger(collective, ++turn);
            pthread_mutex_lock(&engine.lock);
        } else if (collective->window) {
            linger(collective, ++turn);
        }
    }
    status = finish(request, err);
    if (--engine.waiting == 0 && engine.thread_users > 0)
        pthread_cond_broadcast(&engine.wake);
    pthread_mutex_unlock(&engine.lock);
    return status < 0 ? -1 : 0;
}

int collective_run(struct collective *collective, const struct collective_call *call,
                   struct error *err)
{
    struct collective_request *request;

    if (collective_start(collective, call, &request, err) < 0)
        return -1;
    return collective_wait(&request, err);
}

void collective_statistics(struct collective *collective, struct collective_statistics *statistics)
{
    pthread_mutex_lock(&engine.lock);
    *statistics = collective->statistics;
    pthread_mutex_unlock(&engine.lock);
}
