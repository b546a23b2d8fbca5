/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CANDIDATES_H
#define MUSTER_CANDIDATES_H

#include <mpi.h>

#include "collectives/choose/chooser.h"
#include "collectives/collective.h"

/* Times the candidate algorithms of a collective, taking turns. */

/* The call to time; the same at all ranks except for rank and buffers. */
struct candidates_call {
    MPI_Comm comm;
    int rank;
    bool is_one_node;
    double deadline; /* PMPI_Wtime(); no batch begins after it */
    struct collective *collective;
    enum collective_kind kind;
    enum wire_format wire;
    enum element_type type;
    size_t block; /* elements: of one rank's block, or of all for kinds without blocks */
    char *in, *out;
};

enum { CANDIDATE_BATCHES = 6 };

/* The caller sets only choice. */
struct candidate {
    const struct choice *choice;  /* MPI's own: only with fp32 as it is */
    double once_us;               /* of a single call before the batches */
    int calls;                    /* per batch */
    double us[CANDIDATE_BATCHES]; /* per call, in each batch */
    int batches;
    bool is_given_up; /* much slower than the best */
};

/* Returns the time that a program may expect, in us. On one node the least of the batches, since
 * other load only adds to a time. Over links the mean of the faster half: links queue, so that some
 * calls of an algorithm take twice as long as others, and its least time is not typical. */
double candidate_us(const struct candidates_call *call, const struct candidate *candidate);

/* Times the candidates in turn, in loops without barriers, as programs call them, while there is
 * time; is_again: in longer and more loops. Each time is that of the slowest rank. All ranks call
 * this. Returns how many candidates, from the first on, were timed, or -1, at all ranks alike, if a
 * call failed or memory is out. */
int candidates_try(const struct candidates_call *call, bool is_again, struct candidate *candidates,
                   unsigned count, struct error *err);

#endif
