/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/testing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lib/base/memory_stream.h"
#include "lib/base/write_all.h"
#include "lib/constants/policy_constants.h"
#include "validate/slurm/undo/journal.h"

static const char verb[] = "testing";

int testing_lock(const char *directory, struct error *err)
{
    char path[4096];
    int fd;

    snprintf(path, sizeof path, "%s/.turn", directory);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 && errno == EROFS)
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return error_set(err, "%s: %m", path);
    for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
        if ((errno != EWOULDBLOCK && errno != EINTR) ||
            i * TESTING_LOCK_EACH_MS >= TESTING_LOCK_MS) {
            int reason = errno;

            error_set(err, "%s: cannot lock: %m", path);
            close(fd);
            errno = reason;
            return -1;
        }
        usleep(1000 * TESTING_LOCK_EACH_MS);
    }
    return fd;
}

/* Adds the nodes in the journal of a run that lives. Returns 0, or -1 with errno. */
static int nodes_add(int journal, struct hostlist *nodes)
{
    char *text = journal_read(journal);
    const char *rest = text;
    struct journal_entry entry;
    int rv = text ? 0 : -1;

    while (rv == 0 && journal_next(&rest, &entry))
        if (strcmp(entry.verb, verb) == 0)
            rv = hostlist_append(nodes, entry.name);
    free(text);
    return rv;
}

int testing_read(const char *directory, const char *own, struct hostlist *nodes, struct error *err)
{
    DIR *runs = opendir(directory);
    const struct dirent *entry;
    int rv = 0;

    *nodes = (struct hostlist){0};
    if (!runs)
        return errno == ENOENT ? 0 : error_set(err, "cannot read %s: %m", directory);
    while (rv == 0 && (entry = readdir(runs))) {
        int fd;

        if (entry->d_name[0] == '.' || strcmp(entry->d_name, own) == 0)
            continue;
        /* a FIFO is no journal: do not block on it */
        fd = openat(dirfd(runs), entry->d_name,
                    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
            rv = error_set(err, "cannot read %s/%s: %m", directory, entry->d_name);
        if (fd < 0)
            continue; /* it ended just now */
        /* Shared: on NFS an exclusive lock needs write access. An unlocked journal belongs to a
         * dead run, for undo_clean_up(). */
        if (flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK && nodes_add(fd, nodes) != 0)
            rv = error_set(err, "cannot read %s/%s: %m", directory, entry->d_name);
        close(fd);
    }
    closedir(runs);
    if (rv != 0)
        hostlist_clear(nodes);
    return rv;
}

int testing_write(int journal, const struct hostlist *nodes, struct error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream;
    int rv = -1;

    if (nodes->count == 0)
        return 0;
    stream = memory_stream(&text, &size);
    for (size_t i = 0; stream && i < nodes->count; i++)
        fprintf(stream, "%s %s\n", verb, nodes->names[i]);
    if (!stream || fclose(stream) != 0)
        error_set(err, "no memory");
    else if (write_all(journal, text, size) != 0)
        error_set(err, "cannot write the journal: %m");
    else
        rv = 0;
    free(text);
    return rv;
}
