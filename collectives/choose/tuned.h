/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TUNED_H
#define MUSTER_TUNED_H

#include <mpi.h>

#include "collectives/choose/chooser.h"
#include "collectives/collective.h"
#include "lib/base/error.h"

/* Collectives that are chosen by what this machine was measured to do: once for a process, then for
 * each communicator. */

struct tuned;

struct tuned_options {
    bool is_new;       /* measure even if there are figures, and keep the new ones */
    bool with_mpi;     /* MPI's own collectives may be chosen */
    bool keeps_order;  /* rings visit ranks as they are numbered, not as they are near */
    const char *force; /* as chooser_force() has it; NULL: nothing */
    void (*report)(const char *line); /* on rank 0: why figures that were kept are not used, that it
                                       measures, what went wrong; NULL: silent */
};

/* Reads what was measured of a machine of this kind with so many ranks on so many nodes, or
 * measures it and keeps it, where MUSTER_COLLECTIVES_CACHE says, else as cache_path() has it; all
 * ranks get the same. All ranks of comm call it with the same
 * options, those of rank 0 hold. -1: out of memory, force makes no sense, or MPI fails, at all
 * ranks alike. */
int tuned_create(MPI_Comm comm, const struct tuned_options *options, struct tuned **tuned,
                 struct error *err);
void tuned_destroy(struct tuned *tuned); /* NULL is fine */

/* What a communicator needs; its ranks are among those of tuned_create()'s, or on nodes like
 * theirs. All ranks of comm call it. tuned lives longer. */
struct tuned_comm {
    struct layout *layout;
    struct chooser *chooser;
    struct collective *collective;
};
int tuned_comm_create(const struct tuned *tuned, MPI_Comm comm, struct tuned_comm *tuned_comm,
                      struct error *err);

/* All ranks of the communicator, nothing under way; it is all zeros then. */
void tuned_comm_destroy(struct tuned_comm *tuned_comm);

#endif
