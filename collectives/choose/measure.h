/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MEASURE_H
#define MUSTER_MEASURE_H

#include <mpi.h>

#include "collectives/choose/layout.h"
#include "collectives/choose/machine.h"

/* Measures the machine that the ranks of a communicator are on. All ranks call these and get the
 * same figures. They use PMPI's names, so that nothing preloaded sees or changes what is measured.
 * Errors: -1 at all ranks or at those that are out of memory; MPI's own go to the communicator's
 * error handler. */

/* Links, by exchanges round a ring: of the ranks of each node, of a rank for each node of each
 * leaf, of a rank for each leaf, all rings of a class at once; what is reduced, copied and coded,
 * on all ranks at once. About 1.3 s, the first of which is work alone: processors that were idle
 * are slower, and those of a virtual machine nearer each other, than a program finds them that goes
 * on. machine is overwritten. */
int measure_machine(MPI_Comm comm, const struct layout *layout, struct machine *machine,
                    struct error *err);

/* Numbers spread as gradients are, always the same ones: the codec is measured with them. */
void measure_fill(float *values, size_t count);

/* Tries, for each collective at sizes from 64 B to 4 MiB, MPI's own and the algorithms that are
 * predicted to be no more than four times slower than the best, and at 16 MiB, or over links where
 * a call takes 5 ms, those that were nearly the best at smaller sizes, and adds their times to the
 * machine, candidate_us() of candidates.h. What takes 0.1 s comes last; then, where some were
 * nearly as fast as the best, these in longer loops, for as long as there is time: no benchmark
 * begins after budget_s. Returns how many were tried, or -1. */
int measure_benchmarks(MPI_Comm comm, const struct layout *layout, double budget_s,
                       struct machine *machine, struct error *err);

#endif
