/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_TAR_H
#define MUSTER_COMMAND_TAR_H

#include <stddef.h>
#include <stdio.h>

/* A tar as POSIX has them ("ustar", pax(1)), of small texts. What goes wrong shows in the stream.
 */

/* Adds a file of size bytes, root's and of mode 0600. name: of fewer than 100 bytes. */
void tar_member(FILE *tar, const char *name, const char *text, size_t size);
void tar_end(FILE *tar);

#endif
