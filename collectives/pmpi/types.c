/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/pmpi/types.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

static enum element_type whole_number(size_t bytes, bool is_signed)
{
    switch (bytes) {
    case 1:
        return is_signed ? ELEMENT_INT8 : ELEMENT_UINT8;
    case 2:
        return is_signed ? ELEMENT_INT16 : ELEMENT_UINT16;
    case 4:
        return is_signed ? ELEMENT_INT32 : ELEMENT_UINT32;
    default:
        return is_signed ? ELEMENT_INT64 : ELEMENT_UINT64;
    }
}

enum family {
    WHOLE_SIGNED,
    WHOLE_UNSIGNED,
    FLOATING,
    BYTES,
    /* MPIs reduce characters as C's integers, which the standard does not require */
    CHARACTERS = CHAR_MIN < 0 ? WHOLE_SIGNED : WHOLE_UNSIGNED
};

/* Types that programs use, the common ones first: ten look-ups by MPI take as long as a call of 8
 * bytes. */
static const struct known {
    MPI_Datatype type;
    size_t bytes; /* 0: as MPI reports */
    enum family family;
} known_types[] = {
    {MPI_FLOAT, sizeof(float), FLOATING},
    {MPI_DOUBLE, sizeof(double), FLOATING},
    {MPI_INT, sizeof(int), WHOLE_SIGNED},
    {MPI_BYTE, 1, BYTES},
    {MPI_CHAR, 1, CHARACTERS},
    {MPI_LONG, sizeof(long), WHOLE_SIGNED},
    {MPI_UNSIGNED, sizeof(unsigned), WHOLE_UNSIGNED},
    {MPI_UNSIGNED_LONG, sizeof(unsigned long), WHOLE_UNSIGNED},
    {MPI_LONG_LONG_INT, sizeof(long long), WHOLE_SIGNED},
    {MPI_UNSIGNED_LONG_LONG, sizeof(unsigned long long), WHOLE_UNSIGNED},
    {MPI_SHORT, sizeof(short), WHOLE_SIGNED},
    {MPI_UNSIGNED_SHORT, sizeof(unsigned short), WHOLE_UNSIGNED},
    {MPI_SIGNED_CHAR, 1, WHOLE_SIGNED},
    {MPI_UNSIGNED_CHAR, 1, WHOLE_UNSIGNED},
    {MPI_INT8_T, 1, WHOLE_SIGNED},
    {MPI_INT16_T, 2, WHOLE_SIGNED},
    {MPI_INT32_T, 4, WHOLE_SIGNED},
    {MPI_INT64_T, 8, WHOLE_SIGNED},
    {MPI_UINT8_T, 1, WHOLE_UNSIGNED},
    {MPI_UINT16_T, 2, WHOLE_UNSIGNED},
    {MPI_UINT32_T, 4, WHOLE_UNSIGNED},
    {MPI_UINT64_T, 8, WHOLE_UNSIGNED},
    {MPI_AINT, sizeof(MPI_Aint), WHOLE_SIGNED},
    {MPI_OFFSET, sizeof(MPI_Offset), WHOLE_SIGNED},
    {MPI_COUNT, sizeof(MPI_Count), WHOLE_SIGNED},
    {MPI_INTEGER, 0, WHOLE_SIGNED},
    {MPI_REAL, 0, FLOATING},
    {MPI_DOUBLE_PRECISION, 0, FLOATING},
};

/* Returns NULL if the type is not known. A Fortran type that this MPI lacks is
 * MPI_DATATYPE_NULL. */
static const struct known *find_known(MPI_Datatype type)
{
    for (size_t i = 0; i < sizeof known_types / sizeof *known_types; i++)
        if (known_types[i].type == type && type != MPI_DATATYPE_NULL)
            return &known_types[i];
    return NULL;
}

/* Finds the element type of an MPI type. Logical values, complex numbers and pairs are left to
 * MPI. */
static bool find_element(MPI_Datatype type, enum element_type *element, enum family *family)
{
    const struct known *known = find_known(type);
    size_t bytes;
    int size = 0;

    if (known == NULL)
        return false;
    bytes = known->bytes;
    if (bytes == 0 && PMPI_Type_size(type, &size) == MPI_SUCCESS)
        bytes = (size_t)size;
    *family = known->family;
    if (*family == FLOATING) {
        *element = bytes == sizeof(double) ? ELEMENT_FP64 : ELEMENT_FP32;
        return bytes == sizeof(double) || bytes == sizeof(float);
    }
    *element = whole_number(bytes, *family == WHOLE_SIGNED);
    return true;
}

bool types_find(MPI_Datatype type, MPI_Op op, enum element_type *element, enum reduce_op *reduce)
{
    static const struct {
        MPI_Op op;
        enum reduce_op reduce;
        bool is_of_bytes; /* defined on MPI_BYTE */
    } known[] = {
        {MPI_SUM, REDUCE_SUM, false},  {MPI_MIN, REDUCE_MIN, false},
        {MPI_MAX, REDUCE_MAX, false},  {MPI_PROD, REDUCE_PRODUCT, false},
        {MPI_BAND, REDUCE_BAND, true}, {MPI_BOR, REDUCE_BOR, true},
        {MPI_BXOR, REDUCE_BXOR, true}, {MPI_LAND, REDUCE_LAND, false},
        {MPI_LOR, REDUCE_LOR, false},  {MPI_LXOR, REDUCE_LXOR, false},
    };
    enum family family;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].op == op) {
            *reduce = known[i].reduce;
            return find_element(type, element, &family) &&
                   (family != BYTES || known[i].is_of_bytes) && reduce_applies(*element, *reduce);
        }
    return false;
}

bool types_is_named(MPI_Datatype type)
{
    return find_known(type) != NULL;
}

/* Whether packing keeps the order of bytes in memory. A derived type without gaps may have its
 * parts in another order, except contiguous elements, or a duplicate, of a type in order. */
static bool is_in_order(MPI_Datatype type)
{
    int integers, addresses, types, combiner, count;
    MPI_Datatype inner;
    MPI_Aint unused;
    bool is = false;

    if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS)
        return false;
    if (combiner == MPI_COMBINER_NAMED)
        return true;
    if ((combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) || integers > 1 ||
        PMPI_Type_get_contents(type, 1, 0, 1, &count, &unused, &inner) != MPI_SUCCESS)
        return false;
    is = is_in_order(inner);
    if (PMPI_Type_get_envelope(inner, &integers, &addresses, &types, &combiner) == MPI_SUCCESS &&
        combiner != MPI_COMBINER_NAMED)
        PMPI_Type_free(&inner);
    return is;
}

bool types_layout(MPI_Datatype type, struct types_buffer *buffer)
{
    const struct known *known = find_known(type);
    MPI_Aint lower, extent;
    MPI_Count size;

    if (known != NULL && known->bytes > 0) {
        *buffer = (struct types_buffer){known->bytes, (MPI_Aint)known->bytes, true};
        return true;
    }
    if (type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0 ||
        PMPI_Type_get_extent(type, &lower, &extent) != MPI_SUCCESS)
        return false;
    buffer->bytes = (size_t)size;
    buffer->extent = extent;
    buffer->is_plain = lower == 0 && extent == size && is_in_order(type);
    return true;
}

/* How many elements to pack at a time, as MPI_Pack() counts bytes in int: up to 1 GiB, or one. */
static size_t at_once(const struct types_buffer *layout)
{
    size_t most = (size_t)1 << 30;

    return layout->bytes == 0 ? INT_MAX : layout->bytes < most ? most / layout->bytes : 1;
}

/* Packs elements if packs is set, else unpacks them. */
static int convert(void *elements, size_t count, MPI_Datatype type,
                   const struct types_buffer *layout, char *packed, bool packs)
{
    int code = MPI_SUCCESS;

    if (layout->is_plain) {
        if (count > 0)
            memcpy(packs ? packed : elements, packs ? elements : packed, count * layout->bytes);
        return code;
    }
    if (count > 0 && layout->bytes > INT_MAX)
        return MPI_ERR_COUNT;
    for (size_t done = 0; done < count && code == MPI_SUCCESS;) {
        size_t some = count - done < at_once(layout) ? count - done : at_once(layout);
        char *first = (char *)elements + (MPI_Aint)done * layout->extent;
        char *bytes = packed + done * layout->bytes;
        int size = (int)(some * layout->bytes), position = 0;

        code = packs ? PMPI_Pack(first, (int)some, type, bytes, size, &position, MPI_COMM_SELF)
                     : PMPI_Unpack(bytes, size, &position, first, (int)some, type, MPI_COMM_SELF);
        done += some;
    }
    return code;
}

int types_pack(const void *from, size_t count, MPI_Datatype type, const struct types_buffer *layout,
               char *to)
{
    return convert((void *)(uintptr_t)from, count, type, layout, to, true);
}

int types_unpack(const char *from, size_t count, MPI_Datatype type,
                 const struct types_buffer *layout, void *to)
{
    return convert(to, count, type, layout, (char *)(uintptr_t)from, false);
}
