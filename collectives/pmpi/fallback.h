/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PMPI_FALLBACK_H
#define MUSTER_PMPI_FALLBACK_H

#include <mpi.h>
#include <stdbool.h>

#include "collectives/collective.h"
#include "collectives/pmpi/state.h"

/* What was left to MPI before, so that the same call again is left to it without a look: one of 8
 * bytes takes 0.1 us. What decides that of a communicator, types that MPI names, an operation and
 * counts stays for as long as the communicator, and is alike at all its ranks. */

struct fallback {
    MPI_Comm comm;
    MPI_Datatype types[2]; /* of what is sent, and of what is received; a reduction's twice */
    MPI_Op op;             /* MPI_OP_NULL where there is none */
    int counts[2];
    const int *each; /* [ranks] counts, in FALLBACK_REDUCE_SCATTER_V and FALLBACK_ALL_GATHER_V; else
                        NULL */
};

/* Calls are told apart by their collective_kind, or as one of these, which have counts. An
 * all-to-all with counts is left by its communicator alone, all else in `left` is one value. */
enum {
    FALLBACK_REDUCE_SCATTER_V = COLLECTIVE_KINDS,
    FALLBACK_ALL_GATHER_V,
    FALLBACK_ALL_TO_ALL_V,
    FALLBACK_KINDS
};

/* Whether the calling thread left this one of its kind to MPI last. */
bool fallback_was_last(int kind, const struct fallback *call);

/* As state_run(), on call->comm. Notes what is left to MPI, but not where that cannot be kept: of
 * derived types, whose handles may be another's later, with counts of more ranks than
 * FALLBACK_RANKS, and where calls are counted. */
enum { FALLBACK_RANKS = 64 };
int fallback_run(int kind, const struct fallback *call, struct state_comm *state,
                 struct collective_call *run);

#endif
