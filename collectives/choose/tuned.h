/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TUNED_H
#define MUSTER_TUNED_H

#include <mpi.h>

#include "collectives/choose/chooser.h"
#include "collectives/collective.h"
#include "lib/base/error.h"

/* Collectives chosen by measurements of this machine: struct tuned, made once per process, holds
 * the measurements, and struct tuned_comm what a communicator needs. */

struct tuned;

struct tuned_options {
    bool is_new;                      /* measure even if figures are kept, and replace them */
    bool with_mpi;                    /* MPI's own collectives may be chosen */
    bool keeps_order;                 /* rings visit ranks in rank order, not by nearness */
    const char *force;                /* as for chooser_force(); NULL: nothing */
    void (*report)(const char *line); /* called on rank 0: why kept figures are not used, that a
                                       measurement begins, errors; NULL: silent */
};

/* Reads the figures kept for a machine of this kind with as many ranks on as many nodes, or
 * measures and keeps them: in the directory MUSTER_COLLECTIVES_CACHE, else in that of cache_path().
 * All ranks get the same figures. All ranks of comm call it with the same options; those of rank 0
 * count. Returns -1 at all ranks alike if memory is out, force is invalid, or MPI fails. */
int tuned_create(MPI_Comm comm, const struct tuned_options *options, struct tuned **tuned,
                 struct error *err);
void tuned_destroy(struct tuned *tuned); /* NULL is fine */

/* What a communicator needs. Its ranks are among those of tuned_create(), or on nodes like theirs.
 * All ranks of comm call tuned_comm_create(). tuned must outlive the result. */
struct tuned_comm {
    struct layout *layout;
    struct chooser *chooser;
    struct collective *collective;
};
int tuned_comm_create(const struct tuned *tuned, MPI_Comm comm, struct tuned_comm *tuned_comm,
                      struct error *err);

/* All ranks of the communicator call it, with no call under way. Sets *tuned_comm to zeros. */
void tuned_comm_destroy(struct tuned_comm *tuned_comm);

#endif
