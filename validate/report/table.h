/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TABLE_H
#define MUSTER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/base/record.h"

/* A table for a person: columns as wide as their widest cell, the last one ragged, cells coloured
 * by a verdict where the stream is a terminal. */
struct table {
    size_t columns;
    char **cells; /* row by row, the first row is the heading */
    enum verdict *colours;
    size_t count; /* cells */
    bool out_of_memory;
};

/* The first row: the names of the columns, with tabs between. */
void table_heading(struct table *table, const char *names);

/* Makes each control character of the text, with those of UTF-8 from U+0080 on, a question mark:
 * what records and files hold must not move a terminal's cursor. Never longer than it was. */
void table_clean(char *text);

/* A row is `columns` cells added one after the other, cleaned. VERDICT_NONE: no colour. */
void table_cell(struct table *table, enum verdict colour, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds several without colour, where the format has tabs between them. */
void table_cells(struct table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void table_print(const struct table *table, FILE *stream, bool has_colour);
void table_clear(struct table *table);
/* Prints it, and before in front of it, where it has a row besides the heading, and clears it. */
void table_end(struct table *table, FILE *stream, const char *before);

/* The escape sequence of a verdict's colour, "" for none. */
const char *table_colour(enum verdict verdict);

/* Whether the stream is a terminal that shows colours: not with NO_COLOR (no-color.org), nor
 * TERM=dumb. */
bool table_has_colour(FILE *stream);

#endif
