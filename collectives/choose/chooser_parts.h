/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHOOSER_PARTS_H
#define MUSTER_CHOOSER_PARTS_H

#include <stdlib.h>

#include "collectives/choose/chooser.h"

/* What chooser.c (which algorithm) and wires.c (how its numbers travel) share. */

enum {
    CHOOSER_PER_OCTAVE = 4,
    CHOOSER_UNKNOWN = 48 * CHOOSER_PER_OCTAVE, /* a size that no rank knows */
    CHOOSER_SIZES
};

struct kept {
    bool is_known;
    struct choice choice;
    struct wire_choice wire; /* of KEPT_BOTH and KEPT_WIRE */
};

/* Places of what is kept: chooser_pick()'s for each wire, chooser_pick_wire()'s, and
 * chooser_wire()'s for the algorithm and the segment that were last asked for. */
enum { KEPT_BOTH = WIRE_FORMATS, KEPT_WIRE, KEPT_PLACES };

struct chooser {
    const struct machine *machine;
    const struct layout *layout;
    const struct plan_topology *topology;
    bool is_mpi_allowed;
    char forced[COLLECTIVE_KINDS][MACHINE_NAME];                     /* "": chosen */
    struct kept *kept[COLLECTIVE_KINDS][ELEMENT_TYPES][KEPT_PLACES]; /* [CHOOSER_SIZES] or NULL */
};

/* A shape's size on a scale of octaves, in CHOOSER_PER_OCTAVE steps each: all of a number are
 * chosen for alike; and the size in the middle of these. */
unsigned chooser_size_number(const struct plan_shape *shape);
size_t chooser_size_middle(unsigned number);

/* Where the choice for the shape, of size number `number`, is kept; NULL: it is not, as the shape
 * says its segment itself, or memory is out. */
static inline struct kept *chooser_place(struct kept **sizes, const struct plan_shape *shape,
                                         unsigned number)
{
    if (*sizes == NULL)
        *sizes = calloc(CHOOSER_SIZES, sizeof **sizes);
    return *sizes != NULL && shape->segment == 0 ? &(*sizes)[number] : NULL;
}

/* The shape that stands for all of about this size: the same at all ranks. */
struct plan_shape chooser_typical_shape(const struct chooser *chooser,
                                        const struct plan_shape *shape, size_t bytes);

/* us */
double chooser_predict(const struct chooser *chooser, const struct algorithm *algorithm,
                       const struct plan_shape *shape, enum element_type type);

/* chooser_list() of a typical shape. */
unsigned chooser_list_typical(const struct chooser *chooser, const struct plan_shape *typical,
                              enum element_type type, struct choice choices[CHOICES]);

/* One that applies to the shape. */
void chooser_make_apply(struct choice *choice, const struct plan_shape *shape);

#endif
