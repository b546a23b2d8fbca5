/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RECORDS_H
#define MUSTER_RECORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/record.h"

/* Records read back from the lines that programs print. A run of all pairs of a thousand nodes has
 * millions of them that say the same few names, so each text is kept once and each record packed,
 * in a quarter of its size: records_get(). */
struct records {
    size_t count; /* may be made less: the last ones are forgotten */
    unsigned char *packed;
    size_t size;    /* bytes of it */
    size_t *starts; /* where every sixteenth begins in it */
    struct records_texts {
        char **items;              /* each once, as they came */
        unsigned *slots;           /* a hash table of their numbers from 1, open addressing */
        size_t count, size, bytes; /* size: of the table, a power of two; bytes: of the texts, with
                                      their ends */
    } texts;
};

/* Fills in *record, as it was added, and returns it. Its strings belong to the list, and equal ones
 * are the same pointer. */
const struct record *records_get(const struct records *records, size_t index,
                                 struct record *record);

/* The same for as long as the block goes on in which it stands. */
#define RECORD_AT(records, index) records_get((records), (index), &(struct record){0})

/* Reads one line of JSON. Returns 0 with the record added; 1 when the line is not a record (not a
 * JSON object, without suite or test, a field of the wrong type); -1 when memory is out. Fields
 * that are not known are left out. */
int records_parse(struct records *records, const char *line);

/* The same of length bytes, with what was found and expected in err where it returns 1. A NUL byte
 * among them makes it no record. */
int records_parse_bytes(struct records *records, const char *line, size_t length,
                        struct error *err);

/* Whether a record that was read is to be added. Its texts are as they came, and go. */
typedef bool records_wanted_fn(const struct record *record, void *context);

/* As records_parse(); what is not wanted leaves nothing in the list. Returns 2 for it. */
int records_parse_wanted(struct records *records, const char *line, records_wanted_fn *is_wanted,
                         void *context);

/* As records_parse() for a line of the node's: a record about another node is not wanted. */
int records_parse_own(struct records *records, const char *node, const char *line);

/* The exit status that the last record's program told of itself, where it is the last one it
 * printed (metric end of mpi.launch); -1: it was something else. */
int records_end(const struct records *records);

/* Whether those from first on hold what the exit status of a program of the battery says: with 1
 * something failed, with 3 something could not be told; false for what no program ends with, 0
 * apart. Rank 0 prints for all: where it died, the others leave with 3 as if that had been said. */
bool records_explain(const struct records *records, size_t first, int status);

/* Adds a copy. Bytes that are not UTF-8 become U+FFFD, control characters '?'. Returns 0, or -1
 * when memory is out. */
int records_add(struct records *records, const struct record *record);

/* Puts the record, which has no more than it had, in place of that one. Returns 0, or -1 when it
 * has more or memory is out. */
int records_change(struct records *records, size_t index, const struct record *record);

void records_clear(struct records *records);

#endif
