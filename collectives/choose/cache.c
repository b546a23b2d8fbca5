/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/choose/cache.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collectives/codec/crc32c.h"
#include "lib/base/atomic_file.h"
#include "lib/base/path.h"
#include "lib/base/regular_file.h"
#include "lib/certificate/fingerprint.h"

static const char head_format[] = "muster-collectives 1 crc32c=%08x\n";
enum { HEAD = 37 /* characters of it */, SIZE_MAX_BYTES = 4 << 20 };

static uint32_t checksum(const char *text)
{
    return crc32c(0, text, strlen(text));
}

int cache_path(const char *directory, const char *place, char *path, size_t size, struct error *err)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *below = "";
    /* two different sums: one of 32 bits is too easily met by chance */
    uint32_t left = checksum(place), right = crc32c(~0u, place, strlen(place) / 2);
    int length;

    if (directory != NULL && *directory != '/')
        return error_set(err, "%.64s: expected an absolute directory", directory);
    if (directory == NULL) {
        below = xdg != NULL && *xdg == '/' ? "/muster" : "/.cache/muster";
        directory = xdg != NULL && *xdg == '/' ? xdg : home;
    }
    if (directory == NULL || *directory != '/')
        return error_set(err, "neither XDG_CACHE_HOME nor HOME names a directory");
    length = snprintf(path, size, "%s%s/collectives-%08x%08x.txt", directory, below, left, right);
    return (size_t)length < size ? 0 : error_set(err, "%.64s...: too long a path", path);
}

/* Takes the lines of the fingerprint out of the text: was gets them. Returns what follows. */
static const char *take_fingerprint(const char *text, char *was)
{
    while (strncmp(text, "is ", 3) == 0) {
        const char *end = strchrnul(text, '\n');
        size_t length = (size_t)(end - text) - 3;

        memcpy(was, text + 3, length);
        was[length] = '\n';
        was += length + 1;
        text = *end != '\0' ? end + 1 : end;
    }
    *was = '\0';
    return text;
}

int cache_read(const char *path, const char *fingerprint, struct machine *machine,
               struct error *err)
{
    char *text, *was = NULL, head[HEAD + 1], change[256];
    const char *figures;
    int status = regular_file_read(path, SIZE_MAX_BYTES, &text, err);

    if (status != 0)
        return status;
    snprintf(head, sizeof head, head_format, strlen(text) > HEAD ? checksum(text + HEAD) : 0);
    if (strncmp(text, head, HEAD) != 0) {
        status = error_set(err, "%s: cut or altered, or another version's", path);
        goto end;
    }
    was = malloc(strlen(text) + 1);
    if (was == NULL) {
        status = error_set(err, "%s: out of memory", path);
        goto end;
    }
    figures = take_fingerprint(text + HEAD, was);
    if (fingerprint_compare(was, fingerprint, change, sizeof change) != 0)
        status = error_set(err, "%s: measured elsewhere: %s", path, change);
    else
        status = machine_read(figures, path, machine, err);
end:
    free(was);
    free(text);
    return status;
}

static void make_directories(const char *path)
{
    char directory[PATH_MAX], above[PATH_MAX];

    /* by the user's umask, unlike path_make_directory(); what fails shows when the file is made */
    if (!path_directory(path, directory, sizeof directory))
        return;
    if (path_directory(directory, above, sizeof above))
        mkdir(above, 0777);
    mkdir(directory, 0777);
}

/* head, fingerprint and figures; NULL: out of memory */
static char *file_text(const char *fingerprint, const struct machine *machine)
{
    char *figures = machine_write(machine), *text = NULL, head[HEAD + 1];
    size_t size;
    FILE *stream = figures != NULL ? open_memstream(&text, &size) : NULL;

    if (stream == NULL) {
        free(figures);
        return NULL;
    }
    fprintf(stream, "%*s", HEAD, "");
    for (const char *line = fingerprint; *line != '\0';) {
        const char *end = strchrnul(line, '\n');

        fprintf(stream, "is %.*s\n", (int)(end - line), line);
        line = *end != '\0' ? end + 1 : end;
    }
    fputs(figures, stream);
    free(figures);
    if (fclose(stream) != 0) {
        free(text);
        return NULL;
    }
    snprintf(head, sizeof head, head_format, checksum(text + HEAD));
    memcpy(text, head, HEAD);
    return text;
}

int cache_write(const char *path, const char *fingerprint, const struct machine *machine,
                struct error *err)
{
    char *text = file_text(fingerprint, machine);
    struct atomic_file file;
    int status = -1;

    if (text == NULL)
        return error_set(err, "%s: out of memory", path);
    make_directories(path);
    if (atomic_file_begin(&file, path, 0600, err) == 0)
        status = fputs(text, file.stream) >= 0 ? atomic_file_commit(&file, err)
                                               : atomic_file_discard(&file, err);
    free(text);
    return status;
}
