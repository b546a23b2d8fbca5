/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/compare/textfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/regular.h"

static int read_all(FILE *stream, const char *path, size_t size_max, char **text, struct error *err)
{
    struct stat status;
    size_t length;

    if (fstat(fileno(stream), &status) != 0)
        return error_set(err, "%s: %m", path);
    if (status.st_size > (off_t)size_max)
        return error_set(err, "%s: found %lld bytes, allowed %zu", path, (long long)status.st_size,
                         size_max);
    *text = malloc((size_t)status.st_size + 1);
    if (!*text)
        return error_set(err, "%s: no memory", path);
    length = fread(*text, 1, (size_t)status.st_size, stream);
    (*text)[length] = '\0';
    if (ferror(stream))
        return error_set(err, "%s: %m", path);
    if (strlen(*text) != length)
        return error_set(err, "%s: found a NUL byte: not a text file", path);
    return 0;
}

int textfile_read(const char *path, size_t size_max, char **text, struct error *err)
{
    FILE *stream = regular_fopen(path, err);
    int result;

    *text = NULL;
    if (!stream)
        return errno == ENOENT ? 1 : -1;
    result = read_all(stream, path, size_max, text, err);
    fclose(stream);
    if (result != 0) {
        free(*text);
        *text = NULL;
    }
    return result;
}
