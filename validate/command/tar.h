/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_TAR_H
#define MUSTER_COMMAND_TAR_H

#include <stddef.h>
#include <stdio.h>

/* Writes a POSIX tar ("ustar", pax(1)) of small texts. Errors show in the stream. */

/* Adds a file of size bytes, with owner root and mode 0600. name: fewer than 100 bytes. */
void tar_member(FILE *tar, const char *name, const char *text, size_t size);
void tar_end(FILE *tar);

#endif
