/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HARNESS_PROGRAM_H
#define MUSTER_HARNESS_PROGRAM_H

#include <mpi.h>
#include <stdbool.h>

#include "lib/conf/conf.h"
#include "lib/fabric/fabric.h"
#include "lib/node/inventory.h"
#include "validate/harness/options.h"
#include "validate/harness/output.h"
#include "validate/harness/watch/watch.h"

/* What all battery programs share: options, MPI's start and end, who is where, the watch. */

struct program_spec {
    const char *name;    /* "muster-links" */
    const char *suite;   /* "links" */
    const char *summary; /* for --help */
    const struct option_row *options;
    bool mpi_on_management; /* MPI is only the control: keep it off what is measured */
};

struct program {
    const struct program_spec *spec;
    struct common_options common;
    struct conf conf;
    struct inventory *inventory; /* of this node */
    struct fabric *fabric;       /* of this node, into inventory */

    int rank, size;
    int node_count;         /* nodes are numbered in the order of their lowest ranks */
    int node;               /* of this rank */
    int *node_of_rank;      /* size */
    int *leader_of_node;    /* node_count: the lowest rank of each */
    int *ranks_of_node;     /* node_count: how many */
    const char **node_name; /* node_count */
    const char **name_of;   /* size: the node's name of each rank */
    char (*names)[64];      /* where they are stored */
    bool is_leader;         /* the lowest rank of its node */
    MPI_Comm leaders;       /* in the order of nodes; MPI_COMM_NULL on other ranks */

    double process_start; /* epoch seconds, UTC */
    double mpi_ready;     /* when MPI_Init had returned */
    int steps;            /* program_step() calls so far */
};

/* Parses argv into context and common options, starts MPI and the watch, reads the configuration
 * and this node, gathers names. Exits by itself (0, 2 or 3) where there is nothing to run. */
void program_start(struct program *program, const struct program_spec *spec, void *context,
                   int argc, char **argv);

/* The main thread begins another step: informs the watch, and injects the fault of --inject. */
void program_phase(struct program *program, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void program_step(struct program *program);

/* MPI_Comm_errhandler_function: ends this rank with the error. */
void program_mpi_error(MPI_Comm *comm, int *code, ...);

/* The name of this node's management interface; may be "". */
const char *program_management(const struct program *program);

/* True when this rank is the one that --inject=lie:RANK names. */
bool program_lies(const struct program *program);

/* All ranks: ends MPI early, and from then on a rank that dies or freezes is named by the watch and
 * costs its own work, not the job. Nothing of MPI may be used any more. */
void program_leave_mpi(struct program *program);

/* Ends MPI and the watch, prints the summing line; the exit status of the process. */
int program_finish(struct program *program);

#endif
