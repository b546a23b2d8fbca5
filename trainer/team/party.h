/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PARTY_H
#define MUSTER_PARTY_H

#include <stdbool.h>

#include "trainer/team/team.h"

/* All ranks of the job: MPI where a launcher has started them, one rank without it. While they are
 * together a watch (validate/battery/watch) ends the job in seconds, with rank and node named, when
 * one of them dies, freezes or is cut off. */

struct party {
    int rank, ranks;
    int nodes;                /* different ones */
    int local_ranks;          /* of this rank's node that have the same processors as this one */
    const char *const *names; /* ranks: the node of each */
    bool has_mpi;
    bool is_json;
};

/* limit_s: seconds after which the watch ends the job; HUGE_VAL: never. party must live until
 * party_finish(): team_rank_name() tells of its ranks until then. Collective. Returns 0, or -1 with
 * err. */
int party_start(bool is_json, double limit_s, struct party *party, struct error *err);

/* So many threads to compute with; 0: what OMP_NUM_THREADS says, else this rank's share of the
 * processors that it has with others of its node. */
void party_set_threads(const struct party *party, int threads);

/* A team of all ranks. Returns 0, or -1 with err. Collective. */
int party_team(const struct party *party, struct team **team, struct error *err);

/* Ends MPI and the watch; collective. */
void party_finish(struct party *party);

#endif
