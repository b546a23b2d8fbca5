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
enum { HEAD = 37 /* its length */, SIZE_MAX_BYTES = 4 << 20 };

static uint32_t checksum(const char *text)
{
    return crc32c(0, text, strlen(text));
}

int cache_path(const char *directory, const char *place, char *path, size_t size, struct error *err)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *below = "";
    /* two checksums: one of 32 bits collides too easily */
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

int cache_read(const char *path, const char *fingerprint, struct machine *machine,
               struct error *err)
{
    char *text, *end, head[HEAD + 1], change[256];
    int status = regular_file_read(path, SIZE_MAX_BYTES, &text, err);

    if (status != 0)
        return status;
    snprintf(head, sizeof head, head_format, strlen(text) > HEAD ? checksum(text + HEAD) : 0);
    end = strncmp(text, head, HEAD) == 0 ? strstr(text + HEAD, "\n\n") : NULL;
    if (end != NULL)
        end[1] = '\0';
    if (end == NULL)
        status = error_set(err, "%s: cut or altered, or another version's", path);
    else if (fingerprint_compare(text + HEAD, fingerprint, change, sizeof change) != 0)
        status = error_set(err, "%s: measured elsewhere: %s", path, change);
    else
        status = machine_read(end + 2, path, machine, err);
    free(text);
    return status;
}

static void make_directories(const char *path)
{
    char directory[PATH_MAX], above[PATH_MAX];

    /* with the user's umask, unlike path_make_directory(); errors show when the file is created */
    if (!path_directory(path, directory, sizeof directory))
        return;
    if (path_directory(directory, above, sizeof above))
        mkdir(above, 0777);
    mkdir(directory, 0777);
}

int cache_write(const char *path, const char *fingerprint, const struct machine *machine,
                struct error *err)
{
    char *figures = machine_write(machine), *text = NULL, head[HEAD + 1];
    struct atomic_file file;
    int status = -1;

    if (figures == NULL || asprintf(&text, "%*s%s\n%s", HEAD, "", fingerprint, figures) < 0) {
        free(figures);
        return error_set(err, "%s: out of memory", path);
    }
    free(figures);
    snprintf(head, sizeof head, head_format, checksum(text + HEAD));
    memcpy(text, head, HEAD);
    make_directories(path);
    if (atomic_file_begin(&file, path, 0600, err) == 0)
        status = fputs(text, file.stream) >= 0 ? atomic_file_commit(&file, err)
                                               : atomic_file_discard(&file, err);
    free(text);
    return status;
}
