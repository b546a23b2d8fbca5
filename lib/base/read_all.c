/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/read_all.h"

#include <errno.h>
#include <stdlib.h>
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

char *read_to_end(int fd, size_t size_max, struct error *err)
{
    size_t length = 0;
    char *text = NULL;

    for (size_t size = 1 << 16;; size *= 2) {
        char *longer = length <= size_max ? realloc(text, size) : NULL;
        ssize_t got;

        if (!longer) {
            error_set(err,
                      length > size_max ? "more than %zu bytes" : "out of memory for %zu bytes",
                      length > size_max ? size_max : size);
            goto fail;
        }
        text = longer;
        got = read_all(fd, text + length, size - length - 1);
        if (got < 0) {
            error_set(err, "%m");
            goto fail;
        }
        length += (size_t)got;
        if (length < size - 1)
            break;
    }
    while (length > 0 && text[length - 1] == '\n')
        length--;
    text[length] = '\0';
    if (length > 0)
        return text;
    error_set(err, "it is empty");
fail:
    free(text);
    return NULL;
}
