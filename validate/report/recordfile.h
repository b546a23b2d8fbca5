/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RECORDFILE_H
#define MUSTER_RECORDFILE_H

#include <stdio.h>

#include "validate/report/records.h"

/* Open and close a file to write records to: "-" is standard output; with path NULL there is no
 * file, and *stream is NULL. Return 0, or -1 with err: the file cannot be opened, or not all was
 * written. */
int recordfile_open(const char *path, FILE **stream, struct error *err);
int recordfile_close(const char *path, FILE *stream, struct error *err);

/* Files of records to read may come from any source, so their lines are checked. A line that is no
 * record, is longer than RECORDFILE_LINE bytes or contradicts itself is left out and reported; the
 * other lines are used. */

enum {
    RECORDFILE_LINE = 65536,
    RECORDFILE_NAME = 255,
    RECORDFILE_MESSAGE = 4096,
    RECORDFILE_STEP = 4096
};

struct recordfile_listener {
    /* called for each line that is left out, with "FILE:LINE: what was found, what was expected";
     * after many lines once with the number of the others */
    void (*report)(const char *text, void *context);
    /* called every RECORDFILE_STEP lines with the share of the file that is read, 0 to 1, NAN if
     * the size is unknown; may be NULL */
    void (*at)(const char *name, long lines, double share, void *context);
    void *context;
};

/* Reads the file ("-": standard input), and adds its records. Returns the number of lines left out,
 * or -1 with err if the file cannot be read or memory is out (records read by then stay). */
long recordfile_read(const char *path, struct records *records,
                     const struct recordfile_listener *listener, struct error *err);

/* Checks that the record neither contradicts itself nor has invalid fields: impossible values, a
 * pass on the wrong side of its own limit, names of more than RECORDFILE_NAME bytes. Returns 0, or
 * -1 with err. */
int recordfile_doubt(const struct record *record, struct error *err);

#endif
