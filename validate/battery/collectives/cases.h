/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CASES_H
#define MUSTER_CASES_H

#include "validate/battery/collectives/evidence.h"
#include "validate/battery/program.h"
#include "validate/battery/collectives/values.h"

/* Each of MPI's collectives, run once with known data and checked to the bit. */

/* A communicator of consecutive world ranks, in their order or reversed. */
struct team {
    const char *name; /* "world", "halves", ... */
    MPI_Comm comm;
    int rank, size; /* in comm */
    int first, is_reversed;
};

struct bench {
    struct program *program;
    const struct team *team;
    enum value_type type;
    enum value_op op;
    int count; /* elements of a block */
    int root;
    bool in_place;

    int case_number;      /* counts up, the same on all ranks */
    uint64_t seed;        /* of the data of this case */
    uint64_t checked;     /* elements */
    char *send, *receive; /* each room_bytes */
    size_t room_bytes;
    int *counts, *offsets, *send_counts, *send_offsets; /* each the world's size + 1 */
    enum evidence_kind kind;                            /* of what is checked now */
    struct evidence *evidence;
    int evidence_count, evidence_size, mismatches;
    bool lies_sending, lies_receiving;
};

struct collective {
    const char *name;
    bool reduces; /* op counts */
    bool scales;  /* its buffers hold a block per rank */
    bool has_in_place;
    void (*run)(struct bench *bench);
};

/* Ends with a name NULL. */
extern const struct collective collectives[];

void bench_open(struct bench *bench, struct program *program, size_t room_bytes);
void bench_close(struct bench *bench);

/* Runs one case; evidence of what was wrong is added. */
void bench_run(struct bench *bench, const struct collective *collective);

MPI_Datatype bench_type(enum value_type type);
MPI_Op bench_op(enum value_op op);

#endif
