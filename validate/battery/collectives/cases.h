/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CASES_H
#define MUSTER_CASES_H

#include "collectives/plan/plan.h"
#include "validate/battery/collectives/evidence.h"
#include "validate/battery/collectives/values.h"
#include "validate/harness/program.h"

/* Cases: one run of a collective with known data, checked to the bit. */

/* A communicator of consecutive world ranks, in their order or reversed, or beginning with the one
 * `shift` places on. */
struct comm {
    const char *name; /* "world", "halves", ... */
    MPI_Comm mpi;
    int rank, size; /* in comm */
    int first, is_reversed, shift;
    struct collective *ours; /* NULL: only MPI's own are checked */
};

struct bench {
    struct program *program;
    const struct comm *comm;
    enum value_type type;
    enum reduce_op op;
    int count; /* elements of a block */
    int root;
    bool in_place;
    const struct routine *routine;
    bool was_left_out; /* the algorithm does not support the case that ran last */

    int case_number;      /* counts up, the same on all ranks */
    uint64_t seed;        /* of the data of this case */
    uint64_t checked;     /* elements */
    char *send, *receive; /* each room_bytes */
    size_t room_bytes;
    int *counts, *offsets, *send_counts, *send_offsets; /* each the world's size + 1 */
    enum evidence_kind kind;                            /* of what is checked now */
    struct evidence *evidence;
    int evidence_count, mismatches;
    bool corrupts_sending, corrupts_receiving; /* --inject=lie */
    bool lies_sometimes;                       /* ... in one case of LIE_EVERY */
};

/* A rank that sometimes corrupts does so in one case of so many. */
enum { LIE_EVERY = 16 };

struct routine {
    const char *name;
    bool reduces; /* uses op */
    bool scales;  /* its buffers hold a block per rank */
    bool has_in_place;
    void (*run)(struct bench *bench);
    const struct algorithm *algorithm; /* NULL: MPI's own */
    enum collective_kind kind;         /* of ours_run() */
};

enum { ROUTINES = 64 };

/* MPI's collectives and, after ours_add(), our algorithms. Ends with a NULL name. */
extern struct routine routines[ROUTINES];

void bench_open(struct bench *bench, struct program *program, size_t room_bytes);
void bench_close(struct bench *bench);

/* Runs one case, and adds evidence of what was wrong. */
void bench_run(struct bench *bench, const struct routine *collective);

MPI_Datatype bench_type(enum value_type type);
MPI_Op bench_op(enum reduce_op op);

/* Returns block number `block` of a buffer of blocks of bench->count elements. */
char *bench_block(const struct bench *bench, char *buffer, int block);

/* For routines. bench_fill_*() puts into a block what rank `from` of the communicator sends to
 * `to`, or what this rank contributes to a reduction. bench_check_*() compares a received block
 * with that, and adds evidence of the first difference. */
void bench_fill_moved(const struct bench *bench, char *block, int from, int to, int count);
void bench_fill_contribution(const struct bench *bench, char *block, int count);
void bench_check_moved(struct bench *bench, char *block, int from, int to, int count);
void bench_check_reduced(struct bench *bench, char *block, size_t offset, int count, int ranks);
/* The same for adjacent blocks of bench->count elements, one for each receiver, or from each
 * sender. */
void bench_fill_blocks(const struct bench *bench, char *blocks, int from);
void bench_check_blocks(struct bench *bench, char *blocks, int to);
void bench_note(struct bench *bench, int source, int64_t index, int64_t found, int64_t expected);

#endif
