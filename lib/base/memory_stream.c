/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/memory_stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct memory {
    char **text;
    size_t *length;
    size_t size;
    bool has_lost;
};

/* Returns count; 0, which is an error of the stream, if memory is out. */
static ssize_t add(void *cookie, const char *bytes, size_t count)
{
    struct memory *memory = cookie;
    size_t length = *memory->length + count;

    if (length >= memory->size) {
        char *larger = realloc(*memory->text, 2 * length);

        if (!larger) {
            memory->has_lost = true;
            return 0;
        }
        *memory->text = larger;
        memory->size = 2 * length;
    }
    memcpy(*memory->text + *memory->length, bytes, count);
    *memory->length = length;
    (*memory->text)[length] = '\0';
    return (ssize_t)count;
}

/* For ftell(). */
static int position(void *cookie, off64_t *offset, int whence)
{
    const struct memory *memory = cookie;

    if (*offset != 0 || whence != SEEK_CUR)
        return -1;
    *offset = (off64_t)*memory->length;
    return 0;
}

static int release(void *cookie)
{
    struct memory *memory = cookie;
    int rv = memory->has_lost ? -1 : 0;

    if (rv != 0) {
        free(*memory->text);
        *memory->text = NULL;
        *memory->length = 0;
    }
    free(memory);
    if (rv != 0)
        errno = ENOMEM;
    return rv;
}

FILE *memory_stream(char **text, size_t *length)
{
    struct memory *memory = malloc(sizeof *memory);
    FILE *stream = NULL;

    *text = calloc(1, 1);
    *length = 0;
    if (memory && *text) {
        *memory = (struct memory){text, length, 1, false};
        stream = fopencookie(
            memory, "w", (cookie_io_functions_t){.write = add, .seek = position, .close = release});
    }
    if (!stream) {
        free(memory);
        free(*text);
        *text = NULL;
    }
    return stream;
}
