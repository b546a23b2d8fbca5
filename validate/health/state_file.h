/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STATE_FILE_H
#define MUSTER_STATE_FILE_H

#include <stdio.h>

#include "lib/base/error.h"

/* State that the health check keeps from one check to the next: small files of root in /run/muster,
 * which a reboot removes. */

/* Returns the text of the file, malloc'd; NULL if it cannot be read. */
char *state_file_read(const char *path);

/* Creates the file, and its directory, with the output of write(state, stream). Returns 0, or -1
 * with err and the file unchanged. */
int state_file_write(const char *path, int (*write)(const void *state, FILE *stream),
                     const void *state, struct error *err);

#endif
