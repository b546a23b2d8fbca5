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

/* Waits of what is not timed. They sleep; MPI's own poll, and take the processor from the rank that
 * is waited for where cores are few. They test MPI at intervals of a 64th of the time waited, 50 ms
 * at most. The watch knows who is waited for; waits_for as in watch_waits_for(). */
void program_wait(struct program *program, MPI_Request *request, int waits_for);
void program_wait_all(struct program *program, MPI_Request *requests, MPI_Status *statuses,
                      int count, int waits_for);

void program_barrier(struct program *program, MPI_Comm comm);
void program_bcast(struct program *program, void *data, int size_bytes, int root, MPI_Comm comm);
void program_allgather(struct program *program, const void *own, void *all, int size_bytes,
                       MPI_Comm comm);
/* To rank 0 of comm. */
void program_reduce(struct program *program, const void *own, void *result, int count,
                    MPI_Datatype type, MPI_Op op, MPI_Comm comm);
/* In MPI_COMM_WORLD; size_bytes: of what is received, at most. Returns how many came. */
void program_send(struct program *program, const void *data, int size_bytes, int rank, int tag);
int program_receive(struct program *program, void *data, int size_bytes, int rank, int tag);

/* All ranks: ends MPI early, and from then on a rank that dies or freezes is named by the watch and
 * costs its own work, not the job. Nothing of MPI may be used any more. */
void program_leave_mpi(struct program *program);

/* Ends MPI and the watch, prints the summing line; the exit status of the process. */
int program_finish(struct program *program);

#endif
