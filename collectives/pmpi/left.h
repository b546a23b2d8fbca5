/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PMPI_LEFT_H
#define MUSTER_PMPI_LEFT_H

#include <mpi.h>
#include <stdbool.h>

#include "collectives/collective.h"
#include "collectives/pmpi/state.h"

/* What was left to MPI before, so that the same call again is left to it without a look: one of 8
 * bytes takes 0.1 us. What decides that of a communicator, types that MPI names, an operation and
 * counts stays for as long as the communicator, and is alike at all its ranks. */

struct left {
    MPI_Comm comm;
    MPI_Datatype types[2]; /* of what is sent, and of what is received; a reduction's twice */
    MPI_Op op;             /* MPI_OP_NULL where there is none */
    int counts[2];
    const int *each; /* [ranks] counts, in LEFT_REDUCE_SCATTER_V and LEFT_ALL_GATHER_V; else NULL */
};

/* Calls are told apart by their collective_kind, or as one of these, which have counts. An
 * all-to-all with counts is left by its communicator alone, all else in `left` is one value. */
enum { LEFT_REDUCE_SCATTER_V = COLLECTIVE_KINDS, LEFT_ALL_GATHER_V, LEFT_ALL_TO_ALL_V, LEFT_KINDS };

/* Whether the calling thread left this one of its kind to MPI last. */
bool left_before(int kind, const struct left *call);

/* As state_run(), on call->comm. Notes what is left to MPI, but not where that cannot be kept: of
 * derived types, whose handles may be another's later, with counts of more ranks than LEFT_RANKS,
 * and where calls are counted. */
enum { LEFT_RANKS = 64 };
int left_run(int kind, const struct left *call, struct state_comm *state,
             struct collective_call *run);

#endif
