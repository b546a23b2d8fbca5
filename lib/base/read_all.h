/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_READ_ALL_H
#define MUSTER_READ_ALL_H

#include <sys/types.h>

/* read(2) until there are `length` bytes or no more come, through interruptions. Returns how many
 * there are, or -1 with errno. */
ssize_t read_all(int fd, void *bytes, size_t length);

#endif
