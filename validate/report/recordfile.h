/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RECORDFILE_H
#define MUSTER_RECORDFILE_H

#include "validate/report/records.h"

/* Files of records, which come from anywhere: none of their lines is believed more than it must be.
 * A line that is no record, is longer than RECORDFILE_LINE bytes or contradicts itself is left out
 * and told; the rest is taken. */

enum { RECORDFILE_LINE = 65536, RECORDFILE_NAME = 255, RECORDFILE_MESSAGE = 4096 };

/* Reads the file, "-" is standard input, and adds its records. say() is called for each line that
 * is left out with "FILE:LINE: what was found, what was expected", after many once with how many
 * more there were. Returns how many lines were left out, -1 with err when the file cannot be read
 * or memory is out (what was read by then stays). */
long recordfile_read(const char *path, struct records *records,
                     void (*say)(const char *text, void *context), void *context,
                     struct error *err);

/* Whether the record contradicts itself or what its fields may be: figures that are no figures, a
 * pass on the wrong side of its own limit, names of more than RECORDFILE_NAME bytes. Returns 0, or
 * -1 with err. */
int recordfile_doubt(const struct record *record, struct error *err);

#endif
