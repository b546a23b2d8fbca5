/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TEXTFILE_H
#define MUSTER_TEXTFILE_H

#include <stddef.h>

#include "lib/base/error.h"

/* The whole of a regular file of at most size_max bytes without a NUL, malloc'd with one behind.
 * Returns 0; 1 when there is no such file (err says so); -1 with err "PATH: ...". */
int textfile_read(const char *path, size_t size_max, char **text, struct error *err);

#endif
