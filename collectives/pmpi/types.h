/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PMPI_TYPES_H
#define MUSTER_PMPI_TYPES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "collectives/reduce/reduce.h"

/* Maps MPI's types and operations to those of reduce.h. */

/* Finds the element type and operation for op on type. Returns whether both exist; all ranks of a
 * reduction pass the same two, so all get the same answer. */
bool types_find(MPI_Datatype type, MPI_Op op, enum element_type *element, enum reduce_op *reduce);

/* The layout of a type in memory, for collectives that move bytes: their ranks may describe the
 * same bytes with different types. */
struct types_buffer {
    size_t bytes;    /* of an element, without gaps */
    MPI_Aint extent; /* from one element to the next */
    bool is_plain;   /* bytes == extent, and the bytes are packed in memory order */
};

/* Whether it is a type that MPI predefines, whose handle is never reused; knows the common ones. */
bool types_is_named(MPI_Datatype type);

/* Finds the layout of a type. false: the type is invalid. */
bool types_layout(MPI_Datatype type, struct types_buffer *buffer);

/* Pack count elements without gaps, and unpack them. Return an MPI error code. */
int types_pack(const void *from, size_t count, MPI_Datatype type, const struct types_buffer *layout,
               char *to);
int types_unpack(const char *from, size_t count, MPI_Datatype type,
                 const struct types_buffer *layout, void *to);

#endif
