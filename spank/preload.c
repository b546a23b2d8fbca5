/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/preload.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char library[PATH_MAX]; /* "": nothing is preloaded */

void preload_start(const char *path)
{
    if (path == NULL)
        path = MUSTER_LIBDIR "/libmustercoll-pmpi.so";
    *library = '\0';
    /* ld.so takes both for the end of a path */
    if (strpbrk(path, " :") != NULL || strlen(path) >= sizeof library)
        host_error("collectives left to MPI: %s: this path cannot be preloaded", path);
    else if (access(path, R_OK) != 0)
        host_error("collectives left to MPI: %s: %m", path);
    else
        strcpy(library, path);
}

/* Whether a list of ld.so has the library. */
static bool stands_in(const char *list)
{
    size_t length = strlen(library);

    for (const char *place = list; (place = strstr(place, library)) != NULL; place++) {
        bool begins = place == list || place[-1] == ':' || place[-1] == ' ';

        if (begins && (place[length] == '\0' || place[length] == ':' || place[length] == ' '))
            return true;
    }
    return false;
}

void preload_task(const struct host_task *task)
{
    const char *list = host_lookup("LD_PRELOAD", (void *)task->environment);
    char *longer = NULL;

    if (*library == '\0' || (list != NULL && stands_in(list)))
        return;
    if (list == NULL || *list == '\0')
        longer = strdup(library);
    else if (asprintf(&longer, "%s:%s", library, list) < 0)
        longer = NULL;
    if (longer == NULL || host_setenv(task, "LD_PRELOAD", longer) < 0)
        host_error("collectives left to MPI: LD_PRELOAD could not be set");
    free(longer);
}

void preload_end(void)
{
    *library = '\0';
}
