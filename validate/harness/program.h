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

/* Shared by all battery programs: options, start and end of MPI, the node of each rank, the
 * watch. */

struct program_spec {
    const char *name;    /* "muster-links" */
    const char *suite;   /* "links" */
    const char *summary; /* for --help */
    const struct option_row *options;
    bool mpi_on_management; /* MPI only controls: keep its traffic off the measured rails */
    int (*start)(const void *context); /* after the options, before MPI: returns the exit status,
                                          or -1 to go on; may be NULL */
};

struct program {
    const struct program_spec *spec;
    struct common_options common;
    struct conf conf;
    struct inventory *inventory; /* of this node */
    struct fabric *fabric;       /* of this node; points into inventory */

    int rank, size;
    int node_count;         /* nodes are numbered in the order of their lowest ranks */
    int node;               /* of this rank */
    int *node_of_rank;      /* size */
    int *leader_of_node;    /* node_count: the lowest rank of each */
    int *ranks_of_node;     /* node_count: the number of ranks of each */
    const char **node_name; /* node_count */
    const char **name_of;   /* size: the node's name of each rank */
    char (*names)[64];      /* size: the storage of these names */
    bool is_leader;         /* this rank is the lowest of its node */
    MPI_Comm leaders;       /* in the order of nodes; MPI_COMM_NULL on other ranks */

    double process_start; /* epoch seconds, UTC */
    double mpi_ready;     /* epoch seconds: when MPI_Init returned */
    int steps;            /* program_step() and program_phase() calls so far */
};

/* Parses argv into context and the common options, starts MPI and the watch, reads the
 * configuration and the inventory of this node, and gathers the node names of all ranks. Exits the
 * process (0, 2 or 3) if there is nothing to run. */
void program_start(struct program *program, const struct program_spec *spec, void *context,
                   int argc, char **argv);

/* The main thread begins a new phase or step: informs the watch, and injects the fault of --inject.
 */
void program_phase(struct program *program, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void program_step(struct program *program);

/* The parts of program_start() with MPI, for programs with options of another kind. All ranks.
 * program_init_mpi() waits until all ranks have started, and from then on an error of MPI ends its
 * rank; the program ends with status 3 if MPI does not know the launcher and starts each rank
 * alone. Returns when MPI_Init() was done, in seconds since the epoch. program_watch() starts the
 * watch, which connects over the management interface (NULL or "": any), and stops the watchdog. */
double program_init_mpi(int *rank, int *size);
void program_watch(const struct watch_config *config, const char *interface);

/* Returns the name of this node's management interface; may be "". */
const char *program_management(const struct program *program);

/* Whether --inject=lie:RANK names this rank. */
bool program_injects_lie(const struct program *program);

/* All ranks: ends MPI early. From then on the watch reports a rank that dies or freezes, and the
 * job continues without that rank. MPI must not be used any more. */
void program_leave_mpi(struct program *program);

/* Ends MPI and the watch, and prints the summary. Returns the exit status of the process. */
int program_finish(struct program *program);

#endif
