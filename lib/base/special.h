/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPECIAL_H
#define MUSTER_SPECIAL_H

#include <stdbool.h>
#include <sys/stat.h>

/* Whether the path, or what it links to, is there and no regular file: a device, a pipe, a
 * directory. What is written beside it and renamed would put a file where /dev/null was. */
static inline bool is_special(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

#endif
