/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PMPI_FALLBACK_H
#define MUSTER_PMPI_FALLBACK_H

#include <mpi.h>
#include <stdbool.h>

#include "collectives/collective.h"
#include "collectives/pmpi/state.h"

/* Remembers the last call of each kind that was left to MPI, so that the same call again goes to
 * MPI at once: a call of 8 bytes takes 0.1 us. The decision depends on the communicator, types that
 * MPI names, the operation and the counts. It holds as long as the communicator exists, and is the
 * same at all its ranks. */

struct fallback {
    MPI_Comm comm;
    MPI_Datatype types[2]; /* of the data sent and received; a reduction's type twice */
    MPI_Op op;             /* MPI_OP_NULL if there is none */
    int counts[2];
    const int *each; /* [ranks] counts, in FALLBACK_REDUCE_SCATTER_V and FALLBACK_ALL_GATHER_V; else
                        NULL */
};

/* The kind of a call is its collective_kind, or one of these for calls with counts. An all-to-all
 * with counts is recognized by its communicator alone: other fields of struct fallback are
 * constant. */
enum {
    FALLBACK_REDUCE_SCATTER_V = COLLECTIVE_KINDS,
    FALLBACK_ALL_GATHER_V,
    FALLBACK_ALL_TO_ALL_V,
    FALLBACK_KINDS
};

/* Whether this call is the last of its kind that the calling thread left to MPI. */
bool fallback_was_last(int kind, const struct fallback *call);

/* As state_run(), on call->comm. Remembers a call that is left to MPI, but not calls with derived
 * types, whose handles may be reused, nor with counts of more than FALLBACK_RANKS ranks, and none
 * if calls are counted for the summary. */
enum { FALLBACK_RANKS = 64 };
int fallback_run(int kind, const struct fallback *call, struct state_comm *state,
                 struct collective_call *run);

#endif
