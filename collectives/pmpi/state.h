/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PMPI_STATE_H
#define MUSTER_PMPI_STATE_H

#include <mpi.h>

#include "collectives/choose/tuned.h"

/* The state of the preloaded library: of the process from MPI_Init to MPI_Finalize, and of each
 * communicator from its first collective until it is freed. */

/* Whether the program's MPI is the one that this library was built for. A preloaded library also
 * gets into programs with another MPI, whose handles it cannot use. May be called before MPI_Init.
 * is_reported: print to standard error if it is another one. */
bool state_is_our_mpi(bool is_reported);

/* Called after MPI_Init. The settings of rank 0's environment hold for all ranks, which measure the
 * machine if no figures are kept. If that fails, it prints the error once, and MPI does everything.
 * MPI also does everything if it accepts buffers in device memory. */
void state_begin(void);

/* Called before MPI_Finalize: frees the state of MPI_COMM_WORLD, prints the summary. */
void state_end(void);

/* What was chosen for the last call of a kind. */
struct state_chosen {
    struct collective_call call; /* the call it was chosen for */
    const struct algorithm *algorithm;
    size_t segment_bytes;
    enum wire_format wire;
    size_t bytes; /* chooser_bytes() */
};

struct state_comm {
    struct tuned_comm tuned;
    int rank, ranks;
    struct state_chosen last[COLLECTIVE_KINDS]; /* algorithm NULL: none, or MPI's own */
};

/* Returns the state of a communicator, for a call in which all its ranks take part. NULL, at all of
 * them alike: MPI does this call. Making a state takes as long as some hundred small collectives:
 * that of MPI_COMM_WORLD is made at the first call, others after STATE_EARLY_CALLS calls that MPI
 * does, as many communicators are freed before. If algorithms are forced, all are made at the first
 * call. NULL for MPI_COMM_NULL, intercommunicators and those with ranks of another
 * MPI_COMM_WORLD. */
enum { STATE_EARLY_CALLS = 8 };
struct state_comm *state_comm(MPI_Comm comm);

/* Returns how many states of communicators have been freed: since then a handle may be another
 * communicator's. */
unsigned state_forgotten(void);

/* Runs the call, whose kind and shape all ranks agree on. Returns 1, at all ranks alike, if MPI's
 * own is to be used; 0 if done; else an MPI error, after calling the communicator's error
 * handler. */
int state_run(struct state_comm *state, MPI_Comm comm, struct collective_call *call);

/* Returns working memory of the calling thread, 64-byte aligned, kept for the next call. buffer is
 * 0, 1 or 2, so that three can be in use. NULL: out of memory, which the caller has to report. */
void *state_memory(int buffer, size_t bytes);

/* Called at the end of a call that may have used much working memory: frees buffers above 64 MiB.
 * code: that of fallback_run(); after an error a message may still arrive, so nothing is freed. */
void state_memory_trim(int code);

/* Whether collectives are counted for the summary, including those that MPI does. */
bool state_has_summary(void);

#endif
