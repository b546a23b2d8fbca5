/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMM_H
#define MUSTER_COMM_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "trainer/real.h"

/* Ranks that hold one model together, and what they do with each other's numbers. A communicator of
 * one needs no MPI. All ranks call the same functions in the same order; sums have the same bits on
 * all of them. */

struct comm;

/* A rank among how many. */
struct rank_info {
    int rank, ranks;
};

/* A communicator of this process alone. */
int comm_self(struct comm **comm, struct error *err);

/* The communicator is duplicated. Returns 0, or -1 with err. */
int comm_create(MPI_Comm communicator, struct comm **comm, struct error *err);
/* Those ranks of a communicator that say the same number (>= 0), in the order of their keys; with
 * the communicator's algorithm and wire. *part is NULL for those that say -1. Collective over the
 * communicator. */
int comm_split(struct comm *comm, int number, int key, struct comm **part, struct error *err);
void comm_destroy(struct comm *comm);

struct rank_info comm_rank_info(const struct comm *comm);
MPI_Comm comm_mpi(const struct comm *comm); /* MPI_COMM_NULL: a communicator without MPI */

/* What a rank of the job is called in messages: "rank 3 on n2". Set by world_init(); the default
 * says its number. */
extern const char *(*world_rank_name)(int rank);
/* The same for a rank of the communicator, whatever its number in the job; until the next call. */
const char *comm_rank_name(const struct comm *comm, int rank);

/* The algorithm for what is started from now on, where it is one for that; NULL: chosen by size and
 * ranks alone, so that sums have the same bits on every machine; "measured": chosen by what
 * comm_measure() finds. */
void comm_set_algorithm(struct comm *comm, const char *algorithm);
bool comm_has_algorithm(const char *algorithm);

/* How sums and scatters travel from now on: NULL as they are, "lossless", or in few bits: "bf16",
 * "fp16", "e4m3", "e5m2", "int8" (collectives/wire/wire.h); "auto": lossless where what
 * comm_measure() finds says that this is faster, which changes no bit. Gathers always travel as
 * they are. */
void comm_set_wire(struct comm *comm, const char *wire);

/* Where comm_set_algorithm() or comm_set_wire() ask for it: reads what was measured of this
 * machine, or measures it once (collectives/choose/tuned.h; about five seconds), for this
 * communicator and what is split off it afterwards. report: of rank 0; NULL: silent. Collective,
 * with nothing under way. Returns 0, or -1 with err on all ranks. */
int comm_measure(struct comm *comm, void (*report)(const char *line), struct error *err);

/* What was chosen by these figures, in the order in which it was used first; on ranks of several
 * parts of a communicator of all of them. */
struct comm_choice {
    const char *kind, *algorithm, *wire; /* "allreduce", "ring", "lossless" */
    size_t bytes;                        /* of all blocks together */
    double as_is_us, lossless_us;        /* predicted; -1: it cannot be coded */
};
enum { COMM_CHOICES = 32 };
/* Returns how many, at most COMM_CHOICES. */
size_t comm_choices(const struct comm *comm, const struct comm_choice **choices);

/* What is under way; done when comm_wait() has returned for it. */
struct collective_request;

/* values (count): the sum over ranks takes their place. */
struct collective_request *comm_start_allreduce(struct comm *comm, real *values, size_t count);
/* values: ranks x count; out (count) becomes the sum of this rank's part. out is none of values. */
struct collective_request *comm_start_reduce_scatter(struct comm *comm, const real *values,
                                                     size_t count, real *out);
/* values: ranks x count; this rank's part is there, the others' come. part NULL: this rank's part
 * is in its place in values, else it is taken from there. */
struct collective_request *comm_start_all_gather(struct comm *comm, const real *part, size_t count,
                                                 real *values);

/* NULL is done already. Takes the request. */
void comm_wait(struct comm *comm, struct collective_request *request);

/* Lets what is under way get on; for between pieces of work. With it the transfers of the channel
 * that it carries (channel.h), if any. */
void comm_progress(struct comm *comm);
struct channel;
void comm_carry(struct comm *comm, struct channel *channel);

/* Room for a word of that many bytes of each rank, zeros; to be freed. Ends the job where there is
 * no memory: the others would wait for a rank that has none. */
void *comm_gather_buffer(const struct comm *comm, size_t bytes);
/* Each rank's word of that many bytes, in the order of ranks, on all. */
void comm_all_gather(struct comm *comm, const void *word, size_t bytes, void *words);
/* What goes wrong on one rank ends what all do. result: 0, or -1 with err, of this rank. Returns 0,
 * or -1 on all of them with what the first that failed says, and its name where not all did. */
int comm_agree(struct comm *comm, int result, struct error *err);
/* Rank 0's bytes for all. */
void comm_broadcast(struct comm *comm, void *values, size_t bytes);

/* What the communicator has done since it was created. */
struct traffic {
    uint64_t sent_bytes; /* by this rank, in sums, scatters and gathers, as they travel */
    double waited_s;     /* in comm_wait() and comm_all_gather() */
};
struct traffic comm_traffic(const struct comm *comm);

#endif
