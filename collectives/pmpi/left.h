/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PMPI_LEFT_H
#define MUSTER_PMPI_LEFT_H

#include <mpi.h>
#include <stdbool.h>

#include "collectives/collective.h"

/* What was left to MPI before, so that the same call again is left to it without a look: one of 8
 * bytes takes 0.1 us. What decides that of a communicator, types that MPI names, an operation and
 * counts stays for as long as the communicator, and is alike at all its ranks. */

struct left {
    MPI_Comm comm;
    MPI_Datatype types[2]; /* of what is sent, and of what is received; a reduction's twice */
    MPI_Op op;             /* MPI_OP_NULL where there is none */
    int counts[2];
};

/* Whether the calling thread left this one of its kind to MPI last. */
bool left_before(enum collective_kind kind, const struct left *call);

/* The call was left to MPI because that was chosen. Forgotten again where it cannot be kept: of
 * derived types, whose handles may be another's later, and where calls are counted. */
void left_note(enum collective_kind kind, const struct left *call);

#endif
