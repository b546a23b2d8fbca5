/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/report/aside.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/special.h"

/* mkostemp() makes files for their owner alone. */
static int open_up(int fd)
{
    mode_t mask = umask(0);

    umask(mask);
    return fchmod(fd, 0666 & ~mask);
}

int aside_write(const char *path, int (*write)(FILE *stream, const void *context),
                const void *context, struct error *err)
{
    char *aside = NULL;
    FILE *stream;
    int fd, rv = -1;

    if (is_special(path))
        return error_set(err, "%s: is no regular file", path);
    if (asprintf(&aside, "%s.XXXXXX", path) < 0)
        return error_set(err, "%s: no memory", path);
    fd = mkostemp(aside, O_CLOEXEC);
    if (fd < 0) {
        error_set(err, "%s: %m", path);
        free(aside);
        return -1;
    }
    stream = fdopen(fd, "w");
    if (!stream) {
        error_set(err, "%s: %m", path);
        close(fd);
    } else {
        rv = write(stream, context);
        if (rv == 0 && (fflush(stream) != 0 || open_up(fd) != 0 || fsync(fd) != 0))
            rv = -1;
        if (rv != 0)
            error_set(err, "%s: %m", path);
        if (fclose(stream) != 0 && rv == 0)
            rv = error_set(err, "%s: %m", path);
        if (rv == 0 && rename(aside, path) != 0)
            rv = error_set(err, "%s: %m", path);
    }
    if (rv != 0)
        unlink(aside);
    free(aside);
    return rv;
}
