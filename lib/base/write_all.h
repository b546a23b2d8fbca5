/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_WRITE_ALL_H
#define MUSTER_WRITE_ALL_H

#include <stddef.h>

/* Calls write(2) until all length bytes are written, also if interrupted. Returns 0, or -1 with
 * errno. */
int write_all(int fd, const void *bytes, size_t length);

#endif
