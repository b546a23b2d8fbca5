/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STATE_FILE_H
#define MUSTER_STATE_FILE_H

#include <stdio.h>

#include "lib/base/error.h"

/* What the health check keeps from one check to the next: small files of root's in /run/muster,
 * gone with the boot that they are of. */

/* The text of the file, malloc'd; NULL when there is none that can be read. */
char *state_file_read(const char *path);

/* Makes the file, and its directory, of what write(state, stream) writes. Returns 0, or -1 with err
 * and the file as it was. */
int state_file_write(const char *path, int (*write)(const void *state, FILE *stream),
                     const void *state, struct error *err);

#endif
