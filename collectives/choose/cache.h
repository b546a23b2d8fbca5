/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHOOSE_CACHE_H
#define MUSTER_CHOOSE_CACHE_H

#include <stddef.h>

#include "collectives/choose/machine.h"

/* Keeps measurements in a file for the next run on a machine of the same kind:
 *   muster-collectives 1 crc32c=XXXXXXXX      checksum of all that follows
 *   ranks: ...                                the fingerprint, then an empty line
 *   link node ...                             struct machine, as machine_write() writes it
 * Several jobs may write and read at once: a reader always sees one complete file. */

/* Sets path to DIR/collectives-HASH.txt. HASH is a hash of `place`, a text that describes the nodes
 * measured. DIR is directory, which must be absolute, or if that is NULL $XDG_CACHE_HOME/muster or
 * $HOME/.cache/muster. Returns -1 if directory is relative, if neither variable is set to an
 * absolute path, or if the path is too long. */
int cache_path(const char *directory, const char *place, char *path, size_t size,
               struct error *err);

/* Returns 0 if the file was read, 1 if there is none, or -1 with err: the file is cut or altered,
 * or its fingerprint differs (err names the difference). fingerprint: lines "key: value\n", none of
 * them empty. */
int cache_read(const char *path, const char *fingerprint, struct machine *machine,
               struct error *err);

/* Writes the file. Creates its directory and the one above that if they are missing. */
int cache_write(const char *path, const char *fingerprint, const struct machine *machine,
                struct error *err);

#endif
