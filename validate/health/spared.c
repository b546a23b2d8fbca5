/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/health/spared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "validate/health/state_file.h"

static int write_spared(const void *what, FILE *stream)
{
    const struct spared *spared = what;

    return fprintf(stream, "%lld %ld\n%s\n%s\n", (long long)spared->when, spared->wait_s,
                   spared->reason, spared->text) < 0
               ? -1
               : 0;
}

int spared_write(const char *path, const struct spared *spared)
{
    return state_file_write(path, write_spared, spared, NULL);
}

/* Copies the line at text. Returns the text after the line. */
static const char *line_take(const char *text, char *line, size_t size)
{
    size_t length = strcspn(text, "\n");

    text_put(line, size, "%.*s", (int)length, text);
    return text + length + (text[length] == '\n');
}

bool spared_read(const char *path, struct spared *spared)
{
    char *text = state_file_read(path);
    long long when;
    long wait_s;
    int begin = 0;
    bool is_read =
        text && sscanf(text, "%lld %ld%n", &when, &wait_s, &begin) == 2 && text[begin] == '\n';

    if (is_read) {
        const char *next;

        *spared = (struct spared){.when = (time_t)when, .wait_s = wait_s};
        next = line_take(text + begin + 1, spared->reason, sizeof spared->reason);
        line_take(next, spared->text, sizeof spared->text);
    }
    free(text);
    return is_read;
}

bool spared_holds(const struct spared *spared, time_t now)
{
    return spared->when <= now && now - spared->when < spared->wait_s;
}
