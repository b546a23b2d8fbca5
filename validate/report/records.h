/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RECORDS_H
#define MUSTER_RECORDS_H

#include <stddef.h>

#include "lib/base/record.h"

/* Records read back from the lines that programs print. */
struct records {
    struct record *items; /* their strings belong to the list */
    size_t count, size;
};

/* Reads one line of JSON. Returns 0 with the record added; 1 when the line is not a record (not a
 * JSON object, without suite or test, a field of the wrong type); -1 when memory is out. Fields
 * that are not known are left out. */
int records_parse(struct records *records, const char *line);

/* Adds a copy. Returns 0, or -1 when memory is out. */
int records_add(struct records *records, const struct record *record);

void records_clear(struct records *records);

#endif
