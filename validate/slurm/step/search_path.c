/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/step/search_path.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_command(const char *folder, size_t length)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof path, "%.*s/scontrol", (int)length, folder) < (int)sizeof path &&
           access(path, X_OK) == 0;
}

static bool is_found(const char *list)
{
    for (; *list; list += strspn(list, ":")) {
        size_t length = strcspn(list, ":");

        if (has_command(list, length))
            return true;
        list += length;
    }
    return false;
}

void search_path_complete(const char *library)
{
    const char *list = getenv("PATH");
    char usual[256], file[PATH_MAX], folder[PATH_MAX + 4], *slash, *longer;

    if (!list) { /* execvp() searches these then */
        size_t length = confstr(_CS_PATH, usual, sizeof usual);

        list = length > 0 && length <= sizeof usual ? usual : "";
    }
    if (is_found(list) || !realpath(library, file))
        return;
    while ((slash = strrchr(file, '/'))) {
        *slash = '\0';
        snprintf(folder, sizeof folder, "%s/bin", file);
        if (!has_command(folder, strlen(folder)))
            continue;
        if (asprintf(&longer, "%s%s%s", list, *list ? ":" : "", folder) < 0)
            return;
        setenv("PATH", longer, 1);
        free(longer);
        return;
    }
}
