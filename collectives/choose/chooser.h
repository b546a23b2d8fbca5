/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHOOSER_H
#define MUSTER_CHOOSER_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/choose/machine.h"

#include <stdio.h>

/* Chooses an algorithm and a segment for each shape, for the ranks of one communicator. Benchmarks
 * of this machine at or near the size decide; without any, the prediction decides. The same figures
 * give the same choice, so all ranks must have read the same figures. The chooser never lowers
 * precision, since that changes results. Lossy wire formats are not benchmarked: for calls that use
 * one the prediction decides alone. */

enum { CHOICES = 48, CHOOSER_SEGMENTS = 3 };

/* The segment sizes to choose from, in bytes. Segments as large as a call all send its blocks
 * whole: for calls no larger than the first segment, benchmarks are recorded with the first. */
extern const size_t chooser_segments[CHOOSER_SEGMENTS];

struct choice {
    const struct algorithm *algorithm; /* NULL: MPI's own collective */
    size_t segment_bytes;              /* 0: blocks whole */
    double predicted_us;               /* -1: MPI's own, which has no plan; NAN: out of memory */
    double measured_us;                /* 0: not tried near this size */
};

/* Whether the choice uses memory that the ranks of a node share, not messages. */
bool choice_is_shared(const struct choice *choice);

struct chooser;

/* Creates a chooser. All arguments must outlive it; topology is that of collective_topology().
 * Returns NULL if memory is out. */
struct chooser *chooser_create(const struct machine *machine, const struct layout *layout,
                               const struct plan_topology *topology);
void chooser_destroy(struct chooser *chooser); /* NULL is fine */

/* Forces algorithms: "ring" for all collectives, "allreduce=ring,broadcast=binomial" for some. The
 * name MACHINE_MPI is MPI's own; "auto" or "" forces none. A forced algorithm is used wherever it
 * applies, with the first segment. Returns -1 if a name is unknown; err quotes it. With chooser
 * NULL it only checks the words. */
int chooser_force(struct chooser *chooser, const char *words, struct error *err);

/* Sets whether MPI's own collectives are among the choices. Only a caller that can call them may
 * allow it. */
void chooser_allow_mpi(struct chooser *chooser, bool is_allowed);

/* Returns the best choice for the shape, or one that is hardly slower and varies less. Keeps it for
 * later calls of nearly this size (sizes up to 19 % apart count as one). One thread at a time. The
 * algorithm applies to the shape, or is NULL for MPI's own. If predicted_us is NAN, memory for the
 * prediction is out and the call must fail: other ranks may have chosen another algorithm. */
struct choice chooser_pick(struct chooser *chooser, const struct plan_shape *shape,
                           enum element_type type);

/* Lists all choices that apply: measured ones first, each group in ascending order of time. Sizes
 * are not grouped. Returns the number of choices; the first has predicted_us NAN if memory is out.
 */
unsigned chooser_list(struct chooser *chooser, const struct plan_shape *shape,
                      enum element_type type, struct choice choices[CHOICES]);

/* Prints one line for each choice of chooser_list(): collective, bytes, algorithm, segment in
 * bytes, us predicted or -, us measured or -, and "chosen" after the chosen one. */
void chooser_explain(struct chooser *chooser, const struct plan_shape *shape,
                     enum element_type type, FILE *stream);

/* The wire format for a call, and the times that decide it. */
struct wire_choice {
    enum wire_format wire; /* WIRE_AS_IS or WIRE_LOSSLESS */
    double as_is_us;       /* predicted; NAN: out of memory, the call must fail */
    double lossless_us;    /* predicted; -1: cannot be coded, or the codec was not measured */
};

/* Chooses between WIRE_AS_IS and WIRE_LOSSLESS for one algorithm and segment, so that the bits of
 * the result are the same either way. Lossless is chosen if it is predicted to be at least 5 %
 * faster, both for the whole call and for one of its messages over the farthest link. Ignores
 * shape->wire. Keeps the result, as chooser_pick() does. */
struct wire_choice chooser_wire(struct chooser *chooser, const struct plan_shape *shape,
                                enum element_type type, const struct algorithm *algorithm,
                                size_t segment_bytes);

/* Chooses algorithm and wire together: the best choice as it is (chooser_pick()), or the best coded
 * one, of any algorithm, if that is at least 5 % faster. *wire gets as_is_us of the former and
 * lossless_us of the latter, measured or predicted. Keeps the result likewise. */
struct choice chooser_pick_wire(struct chooser *chooser, const struct plan_shape *shape,
                                enum element_type type, struct wire_choice *wire);

/* Prints the result of chooser_pick_wire() as one line: collective, bytes, algorithm, segment in
 * bytes, us as it is, us coded without loss or -, and the chosen wire. */
void chooser_explain_wire(const struct plan_shape *shape, const struct choice *choice,
                          const struct wire_choice *wire, FILE *stream);

/* Returns the bytes of all blocks together, as collective_kind_factor() counts. */
size_t chooser_bytes(const struct plan_shape *shape);

#endif
