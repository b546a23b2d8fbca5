/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DIRECTORY_SYNC_H
#define MUSTER_DIRECTORY_SYNC_H

#include "lib/base/error.h"

/* Waits until the names in a directory are on the disk: fsync(2) of a file does not include its
 * name. Returns 0, or -1 with errno and err "PATH: ...", also if the directory cannot be read or
 * its file system cannot sync directories. */
int directory_sync(const char *path, struct error *err);

#endif
