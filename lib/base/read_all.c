/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/read_all.h"

#include <errno.h>
#include <unistd.h>

ssize_t read_all(int fd, void *bytes, size_t length)
{
    size_t found = 0;

    while (found < length) {
        ssize_t got = read(fd, (char *)bytes + found, length - found);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        found += (size_t)got;
    }
    return (ssize_t)found;
}
