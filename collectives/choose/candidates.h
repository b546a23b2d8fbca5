/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CANDIDATES_H
#define MUSTER_CANDIDATES_H

#include <mpi.h>

#include "collectives/choose/chooser.h"
#include "collectives/collective.h"

/* Times what a collective may be done by, beside each other. */

/* What is called; the same at all ranks but for rank and buffers. */
struct candidates_call {
    MPI_Comm comm;
    int rank;
    bool is_one_node;
    double deadline; /* PMPI_Wtime(); no batch begins after it */
    struct collective *collective;
    enum collective_kind kind;
    enum wire_format wire;
    enum element_type type;
    size_t block; /* elements, of one rank's block where there are such, else all */
    char *in, *out;
};

enum { CANDIDATE_BATCHES = 6 };

/* Only choice is the caller's to set. */
struct candidate {
    const struct choice *choice;  /* MPI's own: of fp32 as it is */
    double once_us;               /* of the call before */
    int calls;                    /* of a batch */
    double us[CANDIDATE_BATCHES]; /* of a call, in each batch */
    int batches;
    bool is_out; /* given up, much slower than the best */
};

/* What a program may expect, us: the least of the batches on one node, where what else runs only
 * ever adds to a time; over links, which queue, so that some calls of an algorithm take twice as
 * long as others and its one best moment is not what a program gets, the mean of the faster half.
 */
double candidate_us(const struct candidates_call *call, const struct candidate *candidate);

/* Calls each in turns, in loops without barriers, as programs do, for as long as there is time;
 * is_again: in longer and more loops. Each figure is that of the rank that takes longest. All ranks
 * call this. Returns how many have been called, from the first on, or -1: a call failed. */
int candidates_try(const struct candidates_call *call, bool is_again, struct candidate *candidates,
                   unsigned count, struct error *err);

#endif
