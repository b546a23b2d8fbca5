/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/memory_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct memory {
    char **text;
    size_t *length;
    size_t size;
};

/* 0 is an error of the stream. */
static ssize_t add(void *cookie, const char *bytes, size_t count)
{
    struct memory *memory = cookie;
    size_t length = *memory->length + count;

    if (length >= memory->size) {
        char *larger = realloc(*memory->text, 2 * length);

        if (!larger)
            return 0;
        *memory->text = larger;
        memory->size = 2 * length;
    }
    memcpy(*memory->text + *memory->length, bytes, count);
    *memory->length = length;
    (*memory->text)[length] = '\0';
    return (ssize_t)count;
}

static int release(void *memory)
{
    free(memory);
    return 0;
}

FILE *memory_stream(char **text, size_t *length)
{
    struct memory *memory = malloc(sizeof *memory);
    FILE *stream = NULL;

    *text = calloc(1, 1);
    *length = 0;
    if (memory && *text) {
        *memory = (struct memory){text, length, 1};
        stream = fopencookie(memory, "w", (cookie_io_functions_t){.write = add, .close = release});
    }
    if (!stream) {
        free(memory);
        free(*text);
        *text = NULL;
    }
    return stream;
}

int memory_stream_close(FILE *stream)
{
    int has_lost = fflush(stream) != 0 || ferror(stream);

    if (fclose(stream) == 0 && !has_lost)
        return 0;
    errno = ENOMEM;
    return -1;
}
