/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BOUND_H
#define MUSTER_BOUND_H

#include "validate/battery/collectives/cases.h"

/* Numbers with all their bits, where the cases have whole ones alone: each result against the
 * exact one, no farther off than roundings may take it (collectives/precision/precision.h), and the
 * same bits at all ranks that get the same. MPI's own reductions of float and double, and where
 * comm->ours is there every algorithm, for every type of floating-point numbers on every wire. A
 * record for each. The bench is open: a rank that is to corrupt data does so here. The ranks of the
 * communicator are the world's; all call it. Returns false at all where the time was up before the
 * end. */
bool bound_check(const struct bench *bench, const struct comm *comm);

#endif
