/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_READ_ALL_H
#define MUSTER_READ_ALL_H

#include <sys/types.h>

#include "lib/base/error.h"

/* Calls read(2) until it has `length` bytes or the end is reached, also if interrupted. Returns the
 * number of bytes, or -1 with errno. */
ssize_t read_all(int fd, void *bytes, size_t length);

/* Reads fd to its end. Returns the text without the newlines at its end, malloc'd; NULL with err if
 * it is empty, is longer than size_max bytes, cannot be read, or memory is out. */
char *read_to_end(int fd, size_t size_max, struct error *err);

#endif
