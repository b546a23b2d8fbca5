/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PMPI_TYPES_H
#define MUSTER_PMPI_TYPES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "collectives/reduce/reduce.h"

/* MPI's types and operations in our terms. */

/* Whether op on type is one of ours; all ranks of a reduction give the same two, so all get the
 * same answer. */
bool types_find(MPI_Datatype type, MPI_Op op, enum element_type *element, enum reduce_op *reduce);

/* What a buffer of a type holds, for collectives that move bytes: the ranks of one may describe
 * the same bytes with different types. */
struct types_buffer {
    size_t bytes;    /* of an element, without gaps */
    MPI_Aint extent; /* from one element to the next */
    bool is_plain;   /* bytes == extent, in the order in which they stand in memory */
};

/* Whether it is one of MPI's own, which stays what it is; not all of these are known. */
bool types_is_named(MPI_Datatype type);

/* false: the type is none. */
bool types_layout(MPI_Datatype type, struct types_buffer *buffer);

/* Elements one after the other without gaps, and back. An MPI error code. */
int types_pack(const void *from, size_t count, MPI_Datatype type, const struct types_buffer *layout,
               char *to);
int types_unpack(const char *from, size_t count, MPI_Datatype type,
                 const struct types_buffer *layout, void *to);

#endif
