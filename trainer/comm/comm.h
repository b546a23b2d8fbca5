/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMM_H
#define MUSTER_COMM_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "trainer/real.h"

/* The ranks that train one model together, and their collectives. A communicator of one rank needs
 * no MPI. All ranks call the same functions in the same order; sums have the same bits on all of
 * them. */

struct comm;

/* A rank, and the number of ranks. */
struct rank_info {
    int rank, ranks;
};

/* Creates a communicator of this process alone. */
int comm_self(struct comm **comm, struct error *err);

/* Creates a communicator from a duplicate of MPI's. Collective. Returns 0, or -1 with err on all
 * ranks. */
int comm_create(MPI_Comm communicator, struct comm **comm, struct error *err);
/* Splits a communicator: *part has the ranks that pass the same number (>= 0), in the order of
 * their keys, with the communicator's algorithm and wire. *part is NULL for ranks that pass -1.
 * Collective over the communicator. Returns 0, or -1 with err on all its ranks. */
int comm_split(struct comm *comm, int number, int key, struct comm **part, struct error *err);
void comm_destroy(struct comm *comm);

struct rank_info comm_rank_info(const struct comm *comm);
MPI_Comm comm_mpi(const struct comm *comm); /* MPI_COMM_NULL: a communicator without MPI */

/* Returns the name of a rank of the job for messages: "rank 3 on n2". Set by world_init(); the
 * default returns its number only. */
extern const char *(*world_rank_name)(int rank);
/* The same for a rank of the communicator. Valid until the next call. */
const char *comm_rank_name(const struct comm *comm, int rank);

/* Sets the algorithm of collectives started from now on, where it applies. NULL: chosen by
 * kind and size alone, so that sums have the same bits on every machine; "measured": chosen by the
 * figures of comm_measure(). */
void comm_set_algorithm(struct comm *comm, const char *algorithm);
bool comm_has_algorithm(const char *algorithm);

/* Sets how numbers of allreduces and reduce-scatters travel from now on: NULL as they are,
 * "lossless", or in fewer bits: "bf16", "fp16", "e4m3", "e5m2", "int8" (collectives/wire/wire.h).
 * "auto": lossless if that is faster by the figures of comm_measure(), which changes no bit.
 * All-gathers always travel as they are. */
void comm_set_wire(struct comm *comm, const char *wire);

/* If comm_set_algorithm() or comm_set_wire() needs figures: reads those kept for this machine, or
 * measures it once (collectives/choose/tuned.h; about five seconds), for this communicator and
 * those split from it afterwards. report: called on rank 0; NULL: silent. Collective, with nothing
 * under way. Returns 0, or -1 with err on all ranks. */
int comm_measure(struct comm *comm, void (*report)(const char *line), struct error *err);

/* A choice by these figures. Choices are in the order of their first use, of the communicator and
 * all its parts that this rank is in. */
struct comm_choice {
    const char *kind, *algorithm, *wire; /* "allreduce", "ring", "lossless" */
    size_t bytes;                        /* of all blocks together */
    double as_is_us, lossless_us;        /* measured or predicted; -1: cannot be coded */
};
enum { COMM_CHOICES = 32 };
/* Returns the number of choices, at most COMM_CHOICES. */
size_t comm_choices(const struct comm *comm, const struct comm_choice **choices);

/* A collective under way, which is done when comm_wait() has returned for it. */
struct collective_request;

/* Starts an allreduce: values (count) become the sum over ranks. */
struct collective_request *comm_start_allreduce(struct comm *comm, real *values, size_t count);
/* Starts a reduce-scatter of values (ranks x count): out (count) becomes the sum of this rank's
 * part. out is not in values. */
struct collective_request *comm_start_reduce_scatter(struct comm *comm, const real *values,
                                                     size_t count, real *out);
/* Starts an all-gather of the ranks' parts (count each) into values (ranks x count). part NULL:
 * this rank's part is already in its place in values. */
struct collective_request *comm_start_all_gather(struct comm *comm, const real *part, size_t count,
                                                 real *values);

/* Waits until the request is done, and frees it. NULL is done already. */
void comm_wait(struct comm *comm, struct collective_request *request);

/* Advances the collectives under way, and the transfers of the channel given to comm_set_channel(),
 * if any. Called between pieces of work. */
void comm_progress(struct comm *comm);
struct channel;
void comm_set_channel(struct comm *comm, struct channel *channel);

/* Allocates zeros for a value of `bytes` bytes of each rank; the caller frees them. Ends the job if
 * memory is out: the others would wait for a rank without memory. */
void *comm_gather_buffer(const struct comm *comm, size_t bytes);
/* Gathers each rank's value of `bytes` bytes, in the order of ranks, on all ranks. */
void comm_all_gather(struct comm *comm, const void *value, size_t bytes, void *values);
/* Makes an error of one rank an error of all. result: of this rank, 0, or -1 with err. Returns 0,
 * or -1 on all ranks with the err of the first that failed, and its name unless all failed. */
int comm_agree(struct comm *comm, int result, struct error *err);
/* Broadcasts rank 0's bytes to all ranks. */
void comm_broadcast(struct comm *comm, void *values, size_t bytes);

/* What the communicator has done since it was created. */
struct traffic {
    uint64_t sent_bytes; /* by this rank in collectives, as they travel on the wire */
    double waited_s;     /* in comm_wait() and comm_all_gather() */
};
struct traffic comm_traffic(const struct comm *comm);

#endif
