/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_READ_ALL_H
#define MUSTER_READ_ALL_H

#include <sys/types.h>

#include "lib/base/error.h"

/* read(2) until there are `length` bytes or no more come, through interruptions. Returns how many
 * there are, or -1 with errno. */
ssize_t read_all(int fd, void *bytes, size_t length);

/* The text up to the end of what fd reads, without the newlines at its end; malloc'd. NULL with
 * err: nothing is there, more than size_max bytes, no memory. */
char *read_to_end(int fd, size_t size_max, struct error *err);

#endif
