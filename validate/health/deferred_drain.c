/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/health/deferred_drain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "validate/health/state_file.h"

static int write_deferred(const void *what, FILE *stream)
{
    const struct deferred_drain *deferred = what;

    return fprintf(stream, "%lld %ld\n%s\n%s\n", (long long)deferred->when, deferred->wait_s,
                   deferred->reason, deferred->text) < 0
               ? -1
               : 0;
}

int deferred_drain_write(const char *path, const struct deferred_drain *deferred)
{
    return state_file_write(path, write_deferred, deferred, NULL);
}

/* Copies the line at text. Returns the text after the line. */
static const char *copy_line(const char *text, char *line, size_t size)
{
    size_t length = strcspn(text, "\n");

    text_put(line, size, "%.*s", (int)length, text);
    return text + length + (text[length] == '\n');
}

bool deferred_drain_read(const char *path, struct deferred_drain *deferred)
{
    char *text = state_file_read(path);
    long long when;
    long wait_s;
    int begin = 0;
    bool is_read =
        text && sscanf(text, "%lld %ld%n", &when, &wait_s, &begin) == 2 && text[begin] == '\n';

    if (is_read) {
        const char *next;

        *deferred = (struct deferred_drain){.when = (time_t)when, .wait_s = wait_s};
        next = copy_line(text + begin + 1, deferred->reason, sizeof deferred->reason);
        copy_line(next, deferred->text, sizeof deferred->text);
    }
    free(text);
    return is_read;
}

bool deferred_drain_is_pending(const struct deferred_drain *deferred, time_t now)
{
    return deferred->when <= now && now - deferred->when < deferred->wait_s;
}
