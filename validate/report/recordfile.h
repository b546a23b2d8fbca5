/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RECORDFILE_H
#define MUSTER_RECORDFILE_H

#include <stdio.h>

#include "validate/report/records.h"

/* Files that records are written to: "-" is standard output, path NULL nothing, with *stream NULL.
 * Return 0, or -1 with err: there is none, or what was written before is not all there. */
int recordfile_open(const char *path, FILE **stream, struct error *err);
int recordfile_close(const char *path, FILE *stream, struct error *err);

/* Files of records to read, which come from anywhere: none of their lines is believed more than it
 * must be. A line that is no record, is longer than RECORDFILE_LINE bytes or contradicts itself is
 * left out and told; the rest is taken. */

enum {
    RECORDFILE_LINE = 65536,
    RECORDFILE_NAME = 255,
    RECORDFILE_MESSAGE = 4096,
    RECORDFILE_STEP = 4096
};

struct recordfile_listener {
    /* for each line that is left out, "FILE:LINE: what was found, what was expected"; after many
     * once with how many more there were */
    void (*report)(const char *text, void *context);
    /* every RECORDFILE_STEP lines, how much of the file is read, 0 to 1, NAN where its size is not
     * known; NULL: nobody wants to know */
    void (*at)(const char *name, long lines, double share, void *context);
    void *context;
};

/* Reads the file, "-" is standard input, and adds its records. Returns how many lines were left
 * out, -1 with err when the file cannot be read or memory is out (what was read by then stays). */
long recordfile_read(const char *path, struct records *records,
                     const struct recordfile_listener *listener, struct error *err);

/* Whether the record contradicts itself or what its fields may be: figures that are no figures, a
 * pass on the wrong side of its own limit, names of more than RECORDFILE_NAME bytes. Returns 0, or
 * -1 with err. */
int recordfile_doubt(const struct record *record, struct error *err);

#endif
