/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BOUND_H
#define MUSTER_BOUND_H

#include "validate/battery/collectives/cases.h"

/* Checks collectives with random numbers that use all bits; the cases have whole numbers only. A
 * result may be off by no more than roundings allow (collectives/precision/precision.h). Checks
 * MPI's own reductions of float and double and, if comm->ours is set, every algorithm with every
 * floating-point type and wire format; of these, ranks that get the same result must get the same
 * bits. Reports a record for each. The bench is open: a rank that is to corrupt data does so here.
 * The communicator has the ranks of the world; all call it. Returns false on all of them if the
 * time was up before the end. */
bool bound_check(const struct bench *bench, const struct comm *comm);

#endif
