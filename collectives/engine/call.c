/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/engine/parts.h"

#include <stdlib.h>

/* Larger scratch is freed after the call: each communicator would keep its own, and to allocate it
 * again takes little time beside a call that needs it. */
enum { SCRATCH_KEPT_BYTES = 64 << 20 };

/* Whether the plan finds the call's input in `out`. */
static bool is_in_place(const struct collective *collective, const struct collective_call *call)
{
    return call->in == call->out && call->kind != COLLECTIVE_BROADCAST &&
           call->kind != COLLECTIVE_ALL_GATHER &&
           (call->kind != COLLECTIVE_REDUCE || collective->rank == call->root);
}

int collective_shape(const struct collective *collective, const struct collective_call *call,
                     struct plan_shape *shape, struct error *err)
{
    bool has_root = collective_kind_has_root(call->kind);

    if ((unsigned)call->kind >= COLLECTIVE_KINDS)
        return error_set(err, "unknown collective %d", (int)call->kind);
    if ((unsigned)call->type >= ELEMENT_TYPES)
        return error_set(err, "%s: unknown type %d", collective_kind_name(call->kind),
                         (int)call->type);
    if ((unsigned)call->wire >= WIRE_FORMATS || !wire_applies(call->wire, call->type))
        return error_set(err, "%s: %s cannot be sent as %s", collective_kind_name(call->kind),
                         element_name(call->type),
                         (unsigned)call->wire < WIRE_FORMATS ? wire_name(call->wire) : "that");
    if (collective_kind_reduces(call->kind) && (unsigned)call->op >= REDUCE_OPS)
        return error_set(err, "%s: unknown operation %d", collective_kind_name(call->kind),
                         (int)call->op);
    if (collective_kind_reduces(call->kind) && !reduce_applies(call->type, call->op))
        return error_set(err, "%s: %s is not defined on %s", collective_kind_name(call->kind),
                         reduce_name(call->op), element_name(call->type));
    if (has_root && (call->root < 0 || call->root >= collective->ranks))
        return error_set(err, "%s: found root %d, expected a rank of %d",
                         collective_kind_name(call->kind), call->root, collective->ranks);
    if (!call->send_counts != !call->send_offsets)
        return error_set(err, "%s: send_counts and send_offsets must be given together",
                         collective_kind_name(call->kind));
    *shape = (struct plan_shape){
        .kind = call->kind,
        .element_bytes = element_bytes(call->type),
        .rank = collective->rank,
        .ranks = collective->ranks,
        .root = has_root ? call->root : 0,
        .count = call->counts ? 0 : call->count,
        .counts = call->counts,
        .offsets = call->offsets,
        .send_counts = call->send_counts,
        .send_offsets = call->send_offsets,
        .in_place = is_in_place(collective, call),
        .segment = call->segment_bytes / element_bytes(call->type),
        .wire = call->wire,
        .topology = &collective->topology,
    };
    if (call->segment_bytes > 0 && shape->segment == 0)
        shape->segment = 1;
    return 0;
}

static const struct algorithm *algorithm_of(const struct collective_call *call,
                                            struct plan_shape *shape, struct error *err)
{
    const struct algorithm *algorithm =
        call->algorithm ? call->algorithm : algorithm_default(shape);

    if (!algorithm_applies(algorithm, shape)) {
        error_set(err, "%s: %s does not support this call", collective_kind_name(call->kind),
                  algorithm->name);
        return NULL;
    }
    if (shape->segment == 0)
        shape->segment = algorithm_default_segment(shape);
    return algorithm;
}

const struct algorithm *collective_algorithm(struct collective *collective,
                                             const struct collective_call *call,
                                             size_t *segment_bytes, struct error *err)
{
    const struct algorithm *algorithm;
    struct plan_shape shape;

    if (collective_shape(collective, call, &shape, err) < 0)
        return NULL;
    algorithm = algorithm_of(call, &shape, err);
    if (algorithm && segment_bytes)
        *segment_bytes = shape.segment * shape.element_bytes;
    return algorithm;
}

/* ------------------------------------------------------------------------- what a call needs */

/* Takes scratch of the size: a free buffer that is large enough, a free one made larger, or a new
 * one. */
static struct scratch *take_scratch(struct collective *collective, size_t bytes)
{
    struct scratch *small = NULL, *scratch;
    char *memory;

    for (scratch = collective->scratch_list; scratch; scratch = scratch->next)
        if (!scratch->is_taken && scratch->bytes >= bytes) {
            scratch->is_taken = true;
            return scratch;
        } else if (!scratch->is_taken) {
            small = scratch;
        }
    collective->statistics.allocations++;
    bytes = (bytes + SCRATCH_LINE - 1) / SCRATCH_LINE * SCRATCH_LINE;
    memory = aligned_alloc(SCRATCH_LINE, bytes);
    scratch = small ? small : calloc(1, sizeof *scratch);
    if (!memory || !scratch) {
        free(memory);
        if (!small)
            free(scratch);
        return NULL;
    }
    if (!small) {
        scratch->next = collective->scratch_list;
        collective->scratch_list = scratch;
    }
    free(scratch->memory);
    *scratch = (struct scratch){bytes, memory, true, scratch->next};
    return scratch;
}

static struct collective_request *take_request(struct collective *collective,
                                               struct cached_plan *cached)
{
    struct collective_request *request = cached->spare;

    if (request) {
        cached->spare = request->next;
    } else {
        collective->statistics.allocations++;
        request = run_create(cached);
    }
    if (request) {
        request->collective = collective;
        request->next = NULL;
        cached->users++;
    }
    return request;
}

void request_release_scratch(struct collective_request *request)
{
    struct scratch *scratch = request->scratch;

    request->scratch = NULL;
    if (!scratch)
        return;
    scratch->is_taken = false;
    /* a message of a failed run may still arrive in its scratch */
    if (scratch->bytes > SCRATCH_KEPT_BYTES && !request->has_failed) {
        free(scratch->memory);
        scratch->memory = NULL;
        scratch->bytes = 0;
    }
}

void request_release(struct collective_request *request)
{
    struct cached_plan *cached = request->cached;

    request_release_scratch(request);
    request->next = cached->spare;
    cached->spare = request;
    cached->users--;
}

/* Whether the operation is defined on the type. A plan serves all operations. */
static bool is_op_defined(const struct collective_call *call)
{
    return !collective_kind_reduces(call->kind) ||
           ((unsigned)call->op < REDUCE_OPS && reduce_applies(call->type, call->op));
}

/* Finds the plan for the call, or makes it. */
static struct cached_plan *find_plan(struct collective *collective,
                                     const struct collective_call *call, struct error *err)
{
    struct cached_plan *cached =
        plan_cache_find(&collective->cache, call, is_in_place(collective, call));
    const struct algorithm *algorithm;
    struct plan_shape shape;

    if (cached && is_op_defined(call))
        return cached;
    if (collective_shape(collective, call, &shape, err) < 0)
        return NULL;
    algorithm = algorithm_of(call, &shape, err);
    if (!algorithm)
        return NULL;
    collective->statistics.allocations++;
    return plan_cache_add(&collective->cache, call, &shape, algorithm, err);
}

int request_prepare(struct collective *collective, const struct collective_call *call,
                    struct collective_request **out, struct error *err)
{
    struct cached_plan *cached = find_plan(collective, call, err);
    struct collective_request *request;

    if (!cached)
        return -1;
    request = take_request(collective, cached);
    if (!request)
        return error_set(err, "out of memory for a collective");
    if (call->wire == WIRE_LOSSLESS && !collective->codec) {
        collective->statistics.allocations++;
        collective->codec = codec_scratch_create();
        if (!collective->codec) {
            request_release(request);
            return error_set(err, "out of memory for the codec");
        }
    }
    if (cached->scratch_bytes > 0) {
        request->scratch = take_scratch(collective, cached->scratch_bytes);
        if (!request->scratch) {
            request_release(request);
            return error_set(err, "out of memory for a collective: %zu bytes of scratch",
                             cached->scratch_bytes);
        }
    }
    *out = request;
    return 0;
}
