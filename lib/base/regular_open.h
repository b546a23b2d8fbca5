/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_REGULAR_OPEN_H
#define MUSTER_REGULAR_OPEN_H

#include <stdio.h>

#include "lib/base/error.h"

/* Opens a file to be read that must be a regular one: a FIFO in its place, which would be waited
 * for, is none. Returns the descriptor, or -1 with errno (EINVAL: no regular file) and err. */
int regular_open(const char *path, struct error *err);

/* The same as a stream; NULL with errno and err. */
FILE *regular_fopen(const char *path, struct error *err);

#endif
