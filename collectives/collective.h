/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COLLECTIVE_H
#define MUSTER_COLLECTIVE_H

#include <mpi.h>

#include "collectives/algorithms/algorithm.h"
#include "collectives/plan/plan.h"
#include "collectives/reduce/reduce.h"
#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Collectives over MPI's point-to-point messages: algorithms of our own, blocking and not, several
 * at once. All ranks of the communicator start the same calls in the same order; each waits for
 * its own as it likes. Things move in collective_start(), _progress(), _wait() and _run().
 *
 * All ranks get the same bits, whatever the algorithm, for as long as all use the same.
 *
 * Threads may call at once where MPI was started with MPI_THREAD_MULTIPLE; else one at a time does,
 * in all collectives of the process, as MPI then asks of those who call it.
 *
 * After the first call of a shape nothing is allocated for further ones, unless more of them are
 * under way than ever before.
 *
 * Errors: -1 and err (which may be NULL). After a failed message the collective is of no more use:
 * destroy it. */

struct collective;
struct collective_request;

struct collective_call {
    enum collective_kind kind;
    enum element_type type;
    enum reduce_op op; /* of kinds that reduce */

    /* Aligned to their elements. The same pointer twice: in place, as MPI_IN_PLACE. all-gather in
     * place, at all ranks or at none: out holds this rank's block; reduce-scatter in place: `in`
     * comes to nothing, the result stands at the beginning of it. broadcast: out alone, at all
     * ranks. reduce: out at the root alone. Where they differ they do not overlap. */
    const void *in;
    void *out;

    /* As in struct plan_shape: counts and offsets in elements, [ranks] or NULL; they may change
     * or go once the call has been started. */
    size_t count;
    const size_t *counts, *offsets, *send_counts, *send_offsets;
    int root;

    const struct algorithm *algorithm; /* of this kind; NULL: algorithm_default() */
    size_t segment_bytes;              /* 0: algorithm_default_segment() */
    /* How numbers travel. Lossy formats: fp32 alone; added up in fp32, all ranks get the same bits.
     * A number is rounded once per hop, and once more in the result; by "direct" once in all on its
     * way in. Lossless: fp32, bf16, fp16. */
    enum wire_format wire;
};

/* A communicator of all ranks of comm, or of those on this node, in their order. An MPI error code,
 * of which comm's own error handler is not told: it is the program's. */
int collective_split(MPI_Comm comm, bool is_of_node, MPI_Comm *made);

/* All ranks of comm call it. They get a communicator of their own; comm may be freed. ring:
 * [ranks], copied, their order in rings; NULL: as they are numbered. -1, at all ranks alike: out of
 * memory, or the ring lacks a rank. */
int collective_create(MPI_Comm comm, const int *ring, struct collective **collective,
                      struct error *err);

/* All ranks, with nothing under way. NULL is fine. */
void collective_destroy(struct collective *collective);

const struct plan_topology *collective_topology(const struct collective *collective);

/* Starts a call and returns without waiting. The buffers belong to the call until its end. -1: the
 * call makes no sense, or memory is out; nothing has been started then. */
int collective_start(struct collective *collective, const struct collective_call *call,
                     struct collective_request **request, struct error *err);

/* Moves all that is under way, without waiting: as often as there are calls. */
void collective_progress(struct collective *collective);

/* Waits for the end; the request is gone then and *request NULL. A request of NULL has ended. */
int collective_wait(struct collective_request **request, struct error *err);

/* Starts and waits. */
int collective_run(struct collective *collective, const struct collective_call *call,
                   struct error *err);

/* What the call asks for, as a shape; -1: it makes no sense. */
int collective_shape(const struct collective *collective, const struct collective_call *call,
                     struct plan_shape *shape, struct error *err);

/* What the call would use: the algorithm and the segment in bytes. NULL: the call makes no sense.
 */
const struct algorithm *collective_algorithm(struct collective *collective,
                                             const struct collective_call *call,
                                             size_t *segment_bytes, struct error *err);

/* How much has been moved since create; for tests and summaries. */
struct collective_statistics {
    unsigned long long calls, messages_sent, bytes_sent, bytes_reduced;
    unsigned long long
        bytes_coded; /* of the elements that went through the wire's code, once each way */
    unsigned long long allocations; /* plans made, memory taken */
};
void collective_statistics(struct collective *collective, struct collective_statistics *statistics);

#endif
