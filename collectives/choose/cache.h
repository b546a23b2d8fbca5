/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHOOSE_CACHE_H
#define MUSTER_CHOOSE_CACHE_H

#include <stddef.h>

#include "collectives/choose/machine.h"

/* What was measured, kept in a file for the next run on a machine of the same kind:
 *   muster-collectives 1 crc32c=XXXXXXXX      over all that follows
 *   ranks: ...                                the fingerprint, and a line without a word
 *   link node ...                             struct machine, as machine_write() has it
 * Several jobs may write and read at once: a reader sees one file whole. */

/* DIR/collectives-HASH.txt, HASH being of `place`, which says what is measured: which nodes, in
 * words. DIR is directory, which must be absolute, or without it $XDG_CACHE_HOME/muster, or
 * $HOME/.cache/muster. -1: neither of these is set (relative ones count as not set), or the path
 * is too long. */
int cache_path(const char *directory, const char *place, char *path, size_t size,
               struct error *err);

/* 0: read; 1: there is no such file; -1: err says in one line what is wrong with it: cut, altered,
 * or with another fingerprint, and then what changed. fingerprint: lines "key: value\n", none
 * of them empty. */
int cache_read(const char *path, const char *fingerprint, struct machine *machine,
               struct error *err);

/* Makes the last directory, and the one above it, where they are missing. */
int cache_write(const char *path, const char *fingerprint, const struct machine *machine,
                struct error *err);

#endif
