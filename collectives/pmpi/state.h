/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PMPI_STATE_H
#define MUSTER_PMPI_STATE_H

#include <mpi.h>

#include "collectives/choose/tuned.h"

/* What the preloaded library keeps: of the process from MPI_Init to MPI_Finalize, and of each
 * communicator from its first collective until it is freed. */

/* Whether the program's MPI is the one that this was built for: symbols of a preloaded library are
 * found in whatever the program brings, and handles of another MPI are of no use here. May be asked
 * before MPI_Init. is_said: on standard error, where it is another one. */
bool state_is_our_mpi(bool is_said);

/* After MPI_Init: settings of rank 0's environment hold for all ranks, which measure the machine
 * where no figures are kept. What goes wrong is said once, and MPI does everything then, as it does
 * where it takes buffers in the memory of devices. */
void state_begin(void);

/* Before MPI_Finalize: frees what MPI_COMM_WORLD has, prints the summary. */
void state_end(void);

/* What does a call of some kind. */
struct state_chosen {
    struct collective_call call; /* what it was chosen for */
    const struct algorithm *algorithm;
    size_t segment_bytes;
    enum wire_format wire;
    size_t bytes; /* chooser_bytes() */
};

struct state_comm {
    struct tuned_comm tuned;
    int rank, ranks;
    struct state_chosen last[COLLECTIVE_KINDS]; /* algorithm NULL: none that could be kept */
};

/* For a call that all ranks of the communicator take part in. NULL, at all of them alike: MPI does
 * this one. Making what a communicator has takes as long as some hundred small collectives: that of
 * MPI_COMM_WORLD is made at the first call, those of others after STATE_EARLY_CALLS that MPI does,
 * as many are made for less and freed. Where algorithms are forced, all are at the first call.
 * MPI_COMM_NULL, intercommunicators and those with ranks of another MPI_COMM_WORLD are fine. */
enum { STATE_EARLY_CALLS = 8 };
struct state_comm *state_comm(MPI_Comm comm);

/* How many communicators were forgotten: a handle may be another's since. */
unsigned state_forgotten(void);

/* Runs the call, whose kind and shape all ranks agree on. 1: MPI's own is to be used, at all ranks
 * alike; 0: done; else an MPI error that the communicator's error handler has seen. */
int state_run(struct state_comm *state, MPI_Comm comm, struct collective_call *call);

/* Working memory of the calling thread, 64-byte aligned, kept for the next call; buffer 0, 1 or 2
 * for three at once. NULL: out of memory, which the caller has to make an error of. */
void *state_memory(int buffer, size_t bytes);

/* At the end of a call that may have taken much: it is not kept then. code: of fallback_run();
 * where that failed a message may still come into it. */
void state_memory_trim(int code);

/* Whether collectives are counted, those too that MPI does. */
bool state_has_summary(void);

#endif
