/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHOOSER_H
#define MUSTER_CHOOSER_H

#include "collectives/algorithms/algorithm.h"
#include "collectives/choose/machine.h"

#include <stdio.h>

/* Chooses an algorithm and a segment for each shape, for the ranks of one communicator. What was
 * tried on this machine at this size or near it decides; where nothing was, the prediction does.
 * The same figures give the same choice: all ranks must have read the same ones. Precision is never
 * lowered here, since that changes results; what was tried was sent as it is, so where a call's
 * numbers travel otherwise the prediction decides alone. */

enum { CHOICES = 48, CHOOSER_SEGMENTS = 3 };

/* Segments that are chosen from, bytes; one that is as large as a call sends its blocks whole. A
 * benchmark at a size that is no greater than the first stands under it. */
extern const size_t chooser_segments[CHOOSER_SEGMENTS];

struct choice {
    const struct algorithm *algorithm; /* NULL: MPI's own collective */
    size_t segment_bytes;              /* 0: blocks whole */
    double predicted_us;               /* -1: MPI's own, which has no plan */
    double measured_us;                /* 0: not tried near this size */
};

/* Whether it goes through memory that the ranks of a node share, not through messages. */
bool choice_is_shared(const struct choice *choice);

struct chooser;

/* All three live at least as long; topology: the engine's, collective_topology(). NULL: out of
 * memory. */
struct chooser *chooser_create(const struct machine *machine, const struct layout *layout,
                               const struct plan_topology *topology);
void chooser_destroy(struct chooser *chooser); /* NULL is fine */

/* The algorithm of this name is taken wherever it applies, with the first segment; MACHINE_MPI:
 * MPI's own. "ring" for all collectives, "allreduce=ring,broadcast=binomial" for some, "auto" or
 * "": chosen. -1: err names the word that is none. chooser NULL: only whether there is one. */
int chooser_force(struct chooser *chooser, const char *words, struct error *err);

/* Whether MPI's own collectives are among what is chosen from: only who calls them can say yes. */
void chooser_allow_mpi(struct chooser *chooser, bool is_allowed);

/* The best for the shape, or what is hardly slower and varies less. Kept for later calls of nearly
 * this size (sizes up to 19 % apart count as one). One thread at a time. The algorithm is one that
 * applies to the shape, or NULL for MPI's. */
struct choice chooser_pick(struct chooser *chooser, const struct plan_shape *shape,
                           enum element_type type);

/* All that apply, the fastest first; every size counts as itself. Returns how many. */
unsigned chooser_list(struct chooser *chooser, const struct plan_shape *shape,
                      enum element_type type, struct choice choices[CHOICES]);

/* Prediction beside measurement, one line for each choice of chooser_list(): collective, bytes,
 * algorithm, segment in bytes, us predicted, us measured or -, and "chosen" after what is. */
void chooser_explain(struct chooser *chooser, const struct plan_shape *shape,
                     enum element_type type, FILE *stream);

/* How what a call sends had better travel. */
struct wire_choice {
    enum wire_format wire; /* WIRE_AS_IS or WIRE_LOSSLESS */
    double as_is_us;       /* predicted */
    double lossless_us;    /* predicted; -1: it cannot be coded, or the codec was not measured */
};

/* Coded without loss where that is predicted to be faster by 5 % at least than as it is, for all of
 * it and for one of its messages over the farthest link, by the same algorithm and segment: so the
 * bits of the result are the same either way. shape->wire does not count. Kept as chooser_pick()
 * keeps what it chose. */
struct wire_choice chooser_wire(struct chooser *chooser, const struct plan_shape *shape,
                                enum element_type type, const struct algorithm *algorithm,
                                size_t segment_bytes);

/* Algorithm and wire at once: the best for the shape as it is (chooser_pick()), or where another
 * one, or the same, is faster coded by 5 % at least, that one. *wire: as_is_us of the former, tried
 * or predicted; lossless_us of the latter. Kept likewise. */
struct choice chooser_pick_wire(struct chooser *chooser, const struct plan_shape *shape,
                                enum element_type type, struct wire_choice *wire);

/* What chooser_pick_wire() gave, in one line: collective, bytes, algorithm, segment in bytes, us as
 * it is, us coded without loss or -, and which of the two. */
void chooser_explain_wire(const struct plan_shape *shape, const struct choice *choice,
                          const struct wire_choice *wire, FILE *stream);

/* Bytes of all blocks together, as collective_kind_factor() counts. */
size_t chooser_bytes(const struct plan_shape *shape);

#endif
