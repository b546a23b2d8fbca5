/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ASIDE_H
#define MUSTER_ASIDE_H

#include <stdio.h>

#include "lib/base/error.h"

/* Writes a regular file beside the path under a name of its own, and gives it the path's name when
 * all of it is on the disk, so that a reader sees the old one or the new one whole. write() gives
 * 0, or -1 with errno. Others may read it as far as umask lets them. Returns 0, or -1 with err
 * "PATH: ..."; then what was there before is still there and nothing else. So it is with a path
 * that is there and no regular file. */
int aside_write(const char *path, int (*write)(FILE *stream, const void *context),
                const void *context, struct error *err);

#endif
