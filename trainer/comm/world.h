/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WORLD_H
#define MUSTER_WORLD_H

#include <stdbool.h>

#include "trainer/comm/comm.h"

/* All ranks of the job: MPI where a launcher has started them, one rank without it. While they are
 * together a watch (validate/harness/watch) ends the job in seconds, with rank and node named, when
 * one of them dies, freezes or is cut off. */

struct world {
    int rank, ranks;
    int nodes;                /* different ones */
    int local_ranks;          /* of this rank's node that have the same processors as this one */
    const char *const *names; /* ranks: the node of each */
    bool has_mpi;
    bool is_json;
};

/* limit_s: seconds after which the watch ends the job; HUGE_VAL: never. world must live until
 * world_finalize(): world_rank_name() tells of its ranks until then. Collective. Returns 0, or -1
 * with err. */
int world_init(bool is_json, double limit_s, struct world *world, struct error *err);

/* So many threads to compute with; 0: what OMP_NUM_THREADS says, else this rank's share of the
 * processors that it has with others of its node. */
void world_set_threads(const struct world *world, int threads);

/* A communicator of all ranks. Returns 0, or -1 with err. Collective. */
int world_comm(const struct world *world, struct comm **comm, struct error *err);

/* Ends MPI and the watch; collective. */
void world_finalize(struct world *world);

#endif
