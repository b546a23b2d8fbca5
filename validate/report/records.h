/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RECORDS_H
#define MUSTER_RECORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/record.h"

/* A list of records, read from the lines that programs print. A run of all pairs of a thousand
 * nodes has millions of records with the same few names. So each text is kept once, and each record
 * is packed, in a quarter of its size: records_get(). */
struct records {
    size_t count; /* may be reduced: this drops the last records */
    unsigned char *packed;
    size_t size;    /* bytes of packed */
    size_t *starts; /* offsets in packed of every sixteenth record */
    struct records_texts {
        char **items;              /* each text once, in the order of arrival */
        unsigned *slots;           /* hash table of indexes in items plus 1, open addressing */
        size_t count, size, bytes; /* size: of slots, a power of two; bytes: of all texts with their
                                      NULs */
    } texts;
};

/* Fills *record as it was added, and returns it. Its strings belong to the list; equal strings are
 * the same pointer. */
const struct record *records_get(const struct records *records, size_t index,
                                 struct record *record);

/* The same; the record is valid until the end of the enclosing block. */
#define RECORD_AT(records, index) records_get((records), (index), &(struct record){0})

/* Parses one line of JSON. Returns 0 after adding the record; 1 if the line is not a record (not a
 * JSON object, without suite or test, a field of the wrong type); -1 if memory is out. Unknown
 * fields are ignored. */
int records_parse(struct records *records, const char *line);

/* The same for length bytes; if it returns 1, err has what was found and expected. With a NUL byte
 * it is no record. */
int records_parse_bytes(struct records *records, const char *line, size_t length,
                        struct error *err);

/* Returns whether a parsed record is to be added. Its texts are not cleaned, and valid only during
 * the call. */
typedef bool records_wanted_fn(const struct record *record, void *context);

/* As records_parse(); returns 2 for a record that is not wanted, which leaves nothing in the list.
 */
int records_parse_wanted(struct records *records, const char *line, records_wanted_fn *is_wanted,
                         void *context);

/* As records_parse_wanted() for a line that the node printed: a record about another node is not
 * wanted. */
int records_parse_own(struct records *records, const char *node, const char *line);

/* Returns the exit status in the last record, if it is the one with which a program ends (metric
 * end of mpi.launch); else -1. */
int records_end(const struct records *records);

/* Whether the records from `first` on explain the exit status of a battery program: 1 needs a
 * failure, 3 an unknown verdict, 0 nothing; false for any other status. Rank 0 prints for all: if
 * it dies, the others exit with 3 although no record says so. */
bool records_explain(const struct records *records, size_t first, int status);

/* Adds a copy. Bytes that are not UTF-8 become U+FFFD, control characters '?'. Returns 0, or -1 if
 * memory is out. */
int records_add(struct records *records, const struct record *record);

/* Replaces the record `index`. The new record must not need more room. Returns 0, or -1 if it does,
 * or if memory is out. */
int records_change(struct records *records, size_t index, const struct record *record);

void records_clear(struct records *records);

#endif
