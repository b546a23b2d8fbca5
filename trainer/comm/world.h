/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WORLD_H
#define MUSTER_WORLD_H

#include <stdbool.h>

#include "trainer/comm/comm.h"

/* All ranks of the job: with MPI if a launcher has started them, else one rank. While they run, a
 * watch (validate/harness/watch) ends the job in seconds if one of them dies, freezes or is cut
 * off, and names its rank and node. */

struct world {
    int rank, ranks;
    int nodes;                /* number of different nodes */
    int local_ranks;          /* ranks on this node with the same processors as this rank */
    const char *const *names; /* [ranks] the node of each */
    bool has_mpi;
    bool is_json;
};

/* Starts MPI and the watch. limit_s: seconds after which the watch ends the job; HUGE_VAL: never.
 * world must live until world_finalize(), as world_rank_name() uses it. Collective. Returns 0, or
 * -1 with err. */
int world_init(bool is_json, double limit_s, struct world *world, struct error *err);

/* Sets the number of threads to compute with. 0: that of OMP_NUM_THREADS, else this rank's share of
 * the processors that it shares with other ranks of its node. */
void world_set_threads(const struct world *world, int threads);

/* Creates a communicator of all ranks. Returns 0, or -1 with err. Collective. */
int world_comm(const struct world *world, struct comm **comm, struct error *err);

/* Ends MPI and the watch; collective. */
void world_finalize(struct world *world);

#endif
