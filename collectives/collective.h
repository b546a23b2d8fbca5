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

/* Collectives on top of MPI's point-to-point messages and shared memory, with algorithms of this
 * library: blocking and nonblocking, several at once. All ranks of the communicator start the same
 * calls in the same order, and wait for them in any order. Calls advance in collective_start(),
 * _progress(), _wait() and _run().
 *
 * All ranks get the same bits, whatever the algorithm, if all use the same one.
 *
 * Threads may call at once if MPI was started with MPI_THREAD_MULTIPLE. Otherwise only one thread
 * at a time may call, in all collectives of the process, as MPI then requires of its callers.
 *
 * After the first call of a shape further ones allocate nothing, unless more of them are under way
 * than ever before, they need more than 64 MiB of scratch, or their plan is no longer cached.
 *
 * Errors: -1 and err (which may be NULL). After a failed message a collective can no longer be
 * used: destroy it. */

struct collective;
struct collective_request;

struct collective_call {
    enum collective_kind kind;
    enum element_type type;
    enum reduce_op op; /* for kinds that reduce */

    /* Aligned to their elements. Equal pointers mean in place, as MPI_IN_PLACE; otherwise the
     * buffers do not overlap. all-gather in place (at all ranks or at none): out holds this rank's
     * block. reduce-scatter in place: `in` is overwritten, with the result at its beginning.
     * broadcast uses only out, at all ranks; reduce uses out only at the root. */
    const void *in;
    void *out;

    /* As in struct plan_shape: in elements, arrays [ranks] or NULL. The caller may change or free
     * the arrays once the call has been started. */
    size_t count;
    const size_t *counts, *offsets, *send_counts, *send_offsets;
    int root;

    const struct algorithm *algorithm; /* of this kind; NULL: algorithm_default() */
    size_t segment_bytes;              /* 0: algorithm_default_segment() */
    /* How numbers travel. Lossy formats: only fp32; summed in fp32, and all ranks get the same
     * bits. A number is rounded once per hop, and once more in the result; with "direct" only once
     * before the result. Lossless: fp32, bf16, fp16. */
    enum wire_format wire;
};

/* Makes a communicator of all ranks of comm, or if is_of_node of those on this node, in their
 * order. Returns an MPI error code, without calling comm's error handler, which is the
 * program's. */
int collective_split(MPI_Comm comm, bool is_of_node, MPI_Comm *made);

/* Returns the least status of all ranks: 0, or -1 if one has failed, so that none waits for it.
 * Sets err at a rank that has not failed itself. All ranks of comm call it. */
int collective_agree(MPI_Comm comm, int status, struct error *err);

/* Creates the collectives of a communicator. All ranks of comm call it. They use their own copy of
 * comm, which may be freed. ring: [ranks], copied, the order of ranks in rings; NULL: rank order.
 * Returns -1, at all ranks alike, if memory is out, MPI fails, or the ring does not contain each
 * rank once. */
int collective_create(MPI_Comm comm, const int *ring, struct collective **collective,
                      struct error *err);

/* All ranks call it, with nothing under way. NULL is fine. */
void collective_destroy(struct collective *collective);

const struct plan_topology *collective_topology(const struct collective *collective);

/* Makes the plan of a call and allocates what it needs: the next call of this shape allocates what
 * one after a first call does (see above). Not collective. Returns -1 if the call is invalid or
 * memory is out. */
int collective_prepare(struct collective *collective, const struct collective_call *call,
                       struct error *err);

/* Starts a call and returns without waiting. The buffers belong to the call until it ends. Returns
 * -1 if the call is invalid or memory is out; nothing is started then. */
int collective_start(struct collective *collective, const struct collective_call *call,
                     struct collective_request **request, struct error *err);

/* Advances all calls under way, without waiting, as many times as there are calls. */
void collective_progress(struct collective *collective);

/* Waits until the call ends, frees the request and sets *request to NULL. A NULL request has
 * ended. */
int collective_wait(struct collective_request **request, struct error *err);

/* Starts a call and waits until it ends. */
int collective_run(struct collective *collective, const struct collective_call *call,
                   struct error *err);

/* Sets shape to what the call asks for. Returns -1 if the call is invalid. */
int collective_shape(const struct collective *collective, const struct collective_call *call,
                     struct plan_shape *shape, struct error *err);

/* Returns the algorithm that the call would use, and sets its segment in bytes (segment_bytes may
 * be NULL). Returns NULL if the call is invalid. */
const struct algorithm *collective_algorithm(struct collective *collective,
                                             const struct collective_call *call,
                                             size_t *segment_bytes, struct error *err);

/* Counters since collective_create(), for tests and summaries. */
struct collective_statistics {
    unsigned long long calls, bytes_sent;
    unsigned long long allocations; /* of plans, requests and scratch */
};
void collective_statistics(struct collective *collective, struct collective_statistics *statistics);

#endif
