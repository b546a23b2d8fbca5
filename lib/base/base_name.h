/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BASE_NAME_H
#define MUSTER_BASE_NAME_H

#include <string.h>

/* What stands behind the path's last slash; all of it where there is none. */
static inline const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

#endif
