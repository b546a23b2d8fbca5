/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MEASURE_H
#define MUSTER_MEASURE_H

#include <mpi.h>

#include "collectives/choose/layout.h"
#include "collectives/choose/machine.h"

/* Measures the machine that the ranks of a communicator are on. All ranks call these functions and
 * get the same figures. They call PMPI's names, so that no preloaded library sees or changes the
 * measurement. Errors: -1 at all ranks alike; MPI's own go to the communicator's error handler. */

/* Measures links by exchanges in rings: the ranks of each node, one rank per node of each leaf, and
 * one rank per leaf, all rings of a class at once. Then measures the rates of reducing, copying and
 * coding, on all ranks at once. Takes about 1.3 s. In the first second ranks only compute:
 * processors that were idle are slower, and those of a virtual machine closer together, than in a
 * running program. Overwrites machine. */
int measure_machine(MPI_Comm comm, const struct layout *layout, struct machine *machine,
                    struct error *err);

/* Fills with numbers distributed as gradients are, always the same: for measuring the codec. */
void measure_fill(float *values, size_t count);

/* Times each collective at sizes from 64 B to 4 MiB: MPI's own, and the algorithms that are
 * predicted to take at most four times as long as the best. At 16 MiB, and over links for calls
 * longer than 5 ms, only those that were nearly the best at smaller sizes. Adds their times
 * (candidate_us() of candidates.h) to the machine. Calls longer than 0.1 s come last; then the
 * algorithms that were nearly as fast as the best run again, in longer loops. No benchmark begins
 * after budget_s. Returns the number of candidates tried, or -1. */
int measure_benchmarks(MPI_Comm comm, const struct layout *layout, double budget_s,
                       struct machine *machine, struct error *err);

#endif
