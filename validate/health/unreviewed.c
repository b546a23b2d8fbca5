/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/health/unreviewed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "validate/health/state_file.h"

static int write_drain(const void *what, FILE *stream)
{
    const struct unreviewed *drain = what;

    return fprintf(stream, "%lld %lld %s\n", (long long)drain->drained, (long long)drain->since,
                   drain->reason) < 0
               ? -1
               : 0;
}

int unreviewed_write(const char *path, const struct unreviewed *drain, struct error *err)
{
    return state_file_write(path, write_drain, drain, err);
}

bool unreviewed_read(const char *path, struct unreviewed *drain)
{
    char *text = state_file_read(path);
    long long drained, since;
    int begin = 0;
    bool is_read = text && sscanf(text, "%lld %lld %n", &drained, &since, &begin) == 2 && begin > 0;

    if (is_read) {
        *drain = (struct unreviewed){.drained = (time_t)drained, .since = (time_t)since};
        snprintf(drain->reason, sizeof drain->reason, "%.*s", (int)strcspn(text + begin, "\n"),
                 text + begin);
    }
    free(text);
    return is_read;
}

void unreviewed_remove(const char *path)
{
    (void)unlink(path);
}
