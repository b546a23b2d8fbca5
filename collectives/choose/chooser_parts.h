/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHOOSER_PARTS_H
#define MUSTER_CHOOSER_PARTS_H

#include <stdlib.h>

#include "collectives/choose/chooser.h"

/* Shared by chooser.c (which algorithm) and wires.c (which wire format). */

enum {
    CHOOSER_PER_OCTAVE = 4,
    CHOOSER_UNKNOWN = 48 * CHOOSER_PER_OCTAVE, /* the total size is unknown to each rank */
    CHOOSER_SIZES
};

struct cached_choice {
    bool is_known;
    struct choice choice;
    struct wire_choice wire; /* set for CACHED_BOTH and CACHED_WIRE */
};

/* Indices of cached choices: chooser_pick() by wire format, chooser_pick_wire() at CACHED_BOTH, and
 * chooser_wire() at CACHED_WIRE, for the algorithm and segment of its last call. */
enum { CACHED_BOTH = WIRE_FORMATS, CACHED_WIRE, CACHED_INDICES };

struct chooser {
    const struct machine *machine;
    const struct layout *layout;
    const struct plan_topology *topology;
    bool is_mpi_allowed;
    char forced[COLLECTIVE_KINDS][MACHINE_NAME]; /* "": not forced */
    /* [CHOOSER_SIZES] or NULL */
    struct cached_choice *cached[COLLECTIVE_KINDS][ELEMENT_TYPES][CACHED_INDICES];
};

/* The number of a shape's size, CHOOSER_PER_OCTAVE numbers to an octave: shapes with the same
 * number get the same choice. And the size in the middle of a number, in bytes. */
unsigned chooser_size_number(const struct plan_shape *shape);
size_t chooser_size_middle(unsigned number);

/* Returns where the choice for the shape, of size number `number`, is cached. NULL if it is not
 * cached: the shape sets its own segment, or memory is out. */
static inline struct cached_choice *chooser_cached(struct cached_choice **sizes,
                                                   const struct plan_shape *shape, unsigned number)
{
    if (*sizes == NULL)
        *sizes = calloc(CHOOSER_SIZES, sizeof **sizes);
    return *sizes != NULL && shape->segment == 0 ? &(*sizes)[number] : NULL;
}

/* Returns the shape that stands for all shapes of about this size: the same at all ranks. */
struct plan_shape chooser_typical_shape(const struct chooser *chooser,
                                        const struct plan_shape *shape, size_t bytes);

/* Returns the predicted time in us; NAN: out of memory. */
double chooser_predict(const struct chooser *chooser, const struct algorithm *algorithm,
                       const struct plan_shape *shape, enum element_type type);

/* Like chooser_list(), for a typical shape. */
unsigned chooser_list_typical(const struct chooser *chooser, const struct plan_shape *typical,
                              enum element_type type, struct choice choices[CHOICES]);

/* Like chooser_pick(), for all shapes of about this size: the algorithm may not apply to this
 * one. */
struct choice chooser_pick_typical(struct chooser *chooser, const struct plan_shape *shape,
                                   enum element_type type);

/* Replaces an algorithm that does not apply to the shape by algorithm_default(). */
void chooser_make_apply(struct choice *choice, const struct plan_shape *shape);

#endif
