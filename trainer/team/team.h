/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TEAM_H
#define MUSTER_TEAM_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "trainer/real.h"

/* Ranks that hold one model together, and what they do with each other's numbers. A team of one
 * needs no MPI. All ranks call the same functions in the same order; sums have the same bits on all
 * of them. */

struct team;

/* A rank among how many. */
struct seat {
    int rank, ranks;
};

/* A team of this process alone. */
int team_alone(struct team **team, struct error *err);

/* The communicator is duplicated. Returns 0, or -1 with err. */
int team_create(MPI_Comm communicator, struct team **team, struct error *err);
/* Those ranks of a team that say the same number (>= 0), in the order of their keys; with the
 * team's algorithm and wire. *part is NULL for those that say -1. Collective over the team. */
int team_split(struct team *team, int number, int key, struct team **part, struct error *err);
void team_destroy(struct team *team);

struct seat team_seat(const struct team *team);
MPI_Comm team_communicator(const struct team *team); /* MPI_COMM_NULL: a team without MPI */

/* What a rank of the job is called in messages: "rank 3 on n2". Set by party_start(); the default
 * says its number. */
extern const char *(*team_rank_name)(int rank);
/* The same for a rank of the team, whatever its number in the job; until the next call. */
const char *team_name(const struct team *team, int rank);

/* The algorithm for what is started from now on, where it is one for that; NULL: chosen by size and
 * ranks alone, so that sums have the same bits on every machine; "measured": chosen by what
 * team_measure() finds. */
void team_use(struct team *team, const char *algorithm);
bool team_knows(const char *algorithm);

/* How sums and scatters travel from now on: NULL as they are, "lossless", or in few bits: "bf16",
 * "fp16", "e4m3", "e5m2", "int8" (collectives/wire/wire.h); "auto": lossless where what
 * team_measure() finds says that this is faster, which changes no bit. Gathers always travel as
 * they are. */
void team_travel(struct team *team, const char *wire);
bool team_can_travel(const char *wire);

/* Where team_use() or team_travel() ask for it: reads what was measured of this machine, or
 * measures it once (collectives/choose/tuned.h; about five seconds), for this team and what is
 * split off it afterwards. tell: of rank 0; NULL: silent. Collective, with nothing under way.
 * Returns 0, or -1 with err on all ranks. */
int team_measure(struct team *team, void (*tell)(const char *line), struct error *err);

/* What was chosen by these figures, in the order in which it was used first; on ranks of several
 * parts of a team of all of them. */
struct team_choice {
    const char *kind, *algorithm, *wire; /* "allreduce", "ring", "lossless" */
    size_t bytes;                        /* of all blocks together */
    double as_is_us, lossless_us;        /* predicted; -1: it cannot be coded */
};
enum { TEAM_CHOICES = 32 };
/* Returns how many, at most TEAM_CHOICES. */
size_t team_choices(const struct team *team, const struct team_choice **choices);

/* What is under way; done when team_wait() has returned for it. */
struct pending;

/* values (count): the sum over ranks takes their place. */
struct pending *team_sum(struct team *team, real *values, size_t count);
/* values: ranks x count; out (count) becomes the sum of this rank's part. out is none of values. */
struct pending *team_scatter(struct team *team, const real *values, size_t count, real *out);
/* values: ranks x count; this rank's part is there, the others' come. part NULL: this rank's part
 * is in its place in values, else it is taken from there. */
struct pending *team_gather(struct team *team, const real *part, size_t count, real *values);

/* NULL is done already. Takes pending. */
void team_wait(struct team *team, struct pending *pending);

/* Lets what is under way get on; for between pieces of work. */
void team_progress(struct team *team);

/* Room for a word of that many bytes of each rank, zeros; to be freed. Ends the job where there is
 * no memory: the others would wait for a rank that has none. */
void *team_words(const struct team *team, size_t bytes);
/* Each rank's word of that many bytes, in the order of ranks, on all. */
void team_tell(struct team *team, const void *word, size_t bytes, void *words);
/* What goes wrong on one rank ends what all do. result: 0, or -1 with err, of this rank. Returns 0,
 * or -1 on all of them with what the first that failed says, and its name where not all did. */
int team_agree(struct team *team, int result, struct error *err);
/* Rank 0's bytes for all. */
void team_repeat(struct team *team, void *values, size_t bytes);

/* What the team has done since it was created. */
struct traffic {
    uint64_t sent_bytes; /* by this rank, in sums, scatters and gathers, as they travel */
    double waited_s;     /* in team_wait() and team_tell() */
};
struct traffic team_traffic(const struct team *team);

#endif
