/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/preload.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/write_all.h"
#include "lib/constants/node_constants.h"
#include "spank/deadline.h"

static const char installed[] = MUSTER_LIBDIR "/libmustercoll-pmpi.so";
static char library[PATH_MAX]; /* "": LD_PRELOAD stays as it is */
static bool is_unwanted;       /* it is taken out */

/* Answers with the errno. */
static void look(int fd, void *context)
{
    int error = access(context, R_OK) == 0 ? 0 : errno;

    write_all(fd, &error, sizeof error);
}

/* In a process of its own: its file system may hang. Returns whether it can be read, or says in the
 * log why not. */
static bool can_be_read(const char *path)
{
    struct deadline deadline;
    int error = 0;
    bool has_answer, is_late;

    if (!deadline_start(&deadline, NODE_DEADLINE_MS, look, (void *)(uintptr_t)path)) {
        host_error("collectives left to MPI: cannot start a process to look for %s: %m", path);
        return false;
    }
    has_answer = deadline_read(&deadline, &error, sizeof error);
    is_late = deadline_end(&deadline, has_answer);
    if (is_late)
        host_error("collectives left to MPI: %s: not found within %d s, its file system hangs",
                   path, NODE_DEADLINE_MS / 1000);
    else if (!has_answer)
        host_error("collectives left to MPI: the process that looks for %s ended without an answer",
                   path);
    else if (error != 0)
        host_error("collectives left to MPI: %s: %s", path, strerror(error));
    return has_answer && error == 0;
}

void preload_start(const char *path)
{
    if (path == NULL)
        path = installed;
    preload_end();
    /* ld.so takes both for the end of a path */
    if (strpbrk(path, " :") != NULL || strlen(path) >= sizeof library)
        host_error("collectives left to MPI: %s: this path cannot be preloaded", path);
    else if (can_be_read(path))
        strcpy(library, path);
}

void preload_start_without(const char *path)
{
    preload_end();
    is_unwanted = true;
    snprintf(library, sizeof library, "%s", path != NULL ? path : installed);
}

/* Where the library stands in a list of ld.so; NULL: nowhere. */
static char *place_in(const char *list)
{
    size_t length = strlen(library);

    for (const char *place = list; (place = strstr(place, library)) != NULL; place++) {
        bool begins = place == list || place[-1] == ':' || place[-1] == ' ';

        if (begins && (place[length] == '\0' || place[length] == ':' || place[length] == ' '))
            return (char *)(uintptr_t)place;
    }
    return NULL;
}

static void take_out(const struct host_task *task, const char *list)
{
    char *shorter = strdup(list), *place;

    while (shorter != NULL && (place = place_in(shorter)) != NULL) {
        size_t length = strlen(library);
        const char *rest = place + length + (place[length] != '\0');

        if (*rest == '\0' && place > shorter)
            place--; /* the separator before it */
        memmove(place, rest, strlen(rest) + 1);
    }
    if (shorter == NULL || (*shorter != '\0' ? host_setenv(task, "LD_PRELOAD", shorter)
                                             : host_unsetenv(task, "LD_PRELOAD")) < 0)
        host_error("collectives not left to MPI: LD_PRELOAD could not be changed");
    free(shorter);
}

void preload_task(const struct host_task *task)
{
    const char *list = host_lookup("LD_PRELOAD", (void *)task->environment);
    bool is_there = *library != '\0' && list != NULL && place_in(list) != NULL;
    char *longer = NULL;

    if (is_unwanted && is_there)
        take_out(task, list);
    if (*library == '\0' || is_unwanted || is_there)
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
    is_unwanted = false;
    *library = '\0';
}
