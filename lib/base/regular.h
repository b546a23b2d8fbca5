/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_REGULAR_H
#define MUSTER_REGULAR_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/base/error.h"

/* Regular files, where a name may stand for something else: a FIFO, which would be waited for, a
 * device, a directory. */

/* Opens a regular file to be read. Returns the descriptor, or -1 with errno (EINVAL: no regular
 * file) and err "PATH: ...". */
int regular_open(const char *path, struct error *err);

/* The same as a stream; NULL with errno and err. */
FILE *regular_fopen(const char *path, struct error *err);

/* Whether the path, or what it links to, is there and no regular file. */
bool is_special(const char *path);

#endif
