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
static bool is_removal;        /* the library is removed from LD_PRELOAD */
static bool is_missing;        /* not on this node, while tasks on other nodes may have it */

/* Writes the errno of the access to fd; 0: the library can be read. */
static void check_access(int fd, void *context)
{
    int error = access(context, R_OK) == 0 ? 0 : errno;

    write_all(fd, &error, sizeof error);
}

enum found { FOUND, MISSING, UNKNOWN };

/* Returns whether error proves that there is no library at the path. Other errors do not: root may
 * lack a permission that the step's user has, and a file system's failure may pass. */
static bool is_absence(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ELOOP || error == ENAMETOOLONG;
}

/* Looks for the library in a child process, as its file system may hang. Unless FOUND, logs the
 * reason after if_missing or if_unknown, the consequence. */
static enum found find_library(const char *path, const char *if_missing, const char *if_unknown)
{
    struct deadline deadline;
    int error = 0;
    bool has_answer, is_late;

    if (!deadline_start(&deadline, NODE_DEADLINE_MS, check_access, (void *)(uintptr_t)path)) {
        host_error("%s: cannot start a process to look for %s: %m", if_unknown, path);
        return UNKNOWN;
    }
    has_answer = deadline_read(&deadline, &error, sizeof error);
    is_late = deadline_end(&deadline, has_answer);
    if (is_late)
        host_error("%s: %s: not found within %d s, its file system hangs", if_unknown, path,
                   NODE_DEADLINE_MS / 1000);
    else if (!has_answer)
        host_error("%s: the process that looks for %s ended without an answer", if_unknown, path);
    else if (error != 0)
        host_error("%s: %s: %s", is_absence(error) ? if_missing : if_unknown, path,
                   strerror(error));
    return has_answer && error == 0 ? FOUND : has_answer && is_absence(error) ? MISSING : UNKNOWN;
}

static bool has_other_nodes(const struct host_task *step)
{
    const char *nodes = host_lookup("SLURM_STEP_NUM_NODES", (void *)step->environment);

    if (nodes == NULL)
        nodes = host_lookup("SLURM_NNODES", (void *)step->environment);
    return nodes != NULL && strcmp(nodes, "1") != 0;
}

void preload_start(const char *path, const struct host_task *step)
{
    static const char left[] = "collectives left to MPI";
    bool has_others = has_other_nodes(step);
    enum found found;

    if (path == NULL)
        path = installed;
    preload_end();
    /* blanks and colons separate the paths of LD_PRELOAD */
    if (strpbrk(path, " :") != NULL || strlen(path) >= sizeof library) {
        host_error("%s: %s: this path cannot be preloaded", left, path);
        return;
    }
    found = find_library(path, has_others ? "tasks not started" : left,
                         has_others ? "collectives library preloaded anyway" : left);
    if (found == FOUND || has_others)
        strcpy(library, path);
    is_missing = found == MISSING && has_others;
}

void preload_start_removal(const char *path)
{
    preload_end();
    is_removal = true;
    snprintf(library, sizeof library, "%s", path != NULL ? path : installed);
}

/* Returns the library's position in list, a value of LD_PRELOAD; NULL: not listed. */
static char *find_position(const char *list)
{
    size_t length = strlen(library);

    for (const char *position = list; (position = strstr(position, library)) != NULL; position++) {
        bool begins = position == list || position[-1] == ':' || position[-1] == ' ';

        if (begins &&
            (position[length] == '\0' || position[length] == ':' || position[length] == ' '))
            return (char *)(uintptr_t)position;
    }
    return NULL;
}

static void remove_library(const struct host_task *task, const char *list)
{
    char *shorter = strdup(list), *position;

    while (shorter != NULL && (position = find_position(shorter)) != NULL) {
        size_t length = strlen(library);
        const char *rest = position + length + (position[length] != '\0');

        if (*rest == '\0' && position > shorter)
            position--; /* removes the separator before the last path */
        memmove(position, rest, strlen(rest) + 1);
    }
    if (shorter == NULL || (*shorter != '\0' ? host_setenv(task, "LD_PRELOAD", shorter)
                                             : host_unsetenv(task, "LD_PRELOAD")) < 0)
        host_error("--collectives=mpi has no effect: LD_PRELOAD could not be changed");
    free(shorter);
}

int preload_task(const struct host_task *task)
{
    const char *list = host_lookup("LD_PRELOAD", (void *)task->environment);
    bool is_there = *library != '\0' && list != NULL && find_position(list) != NULL;
    char *longer = NULL;
    int status = 0;

    if (is_missing) {
        host_error("task not started: --collectives=muster: no %s on this node; install it, or use "
                   "--collectives=mpi",
                   library);
        return -1;
    }
    if (is_removal && is_there)
        remove_library(task, list);
    if (*library == '\0' || is_removal || is_there)
        return 0;
    if (list == NULL || *list == '\0')
        longer = strdup(library);
    else if (asprintf(&longer, "%s:%s", library, list) < 0)
        longer = NULL;
    if (longer == NULL || host_setenv(task, "LD_PRELOAD", longer) < 0) {
        host_error("task not started: --collectives=muster: LD_PRELOAD could not be set");
        status = -1;
    }
    free(longer);
    return status;
}

void preload_end(void)
{
    is_removal = is_missing = false;
    *library = '\0';
}
