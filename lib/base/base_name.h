/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BASE_NAME_H
#define MUSTER_BASE_NAME_H

#include <string.h>

/* Returns the part of the path after its last slash; the whole path if it has none. */
static inline const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

#endif
