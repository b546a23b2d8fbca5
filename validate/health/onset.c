/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/health/onset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "validate/health/state_file.h"

struct onset {
    const char *fault;
    long long since_s;
};

static int write_onset(const void *what, FILE *stream)
{
    const struct onset *onset = what;

    return fprintf(stream, "%lld %s\n", onset->since_s, onset->fault) < 0 ? -1 : 0;
}

long long onset_update(const char *path, const char *fault, long long now_s)
{
    struct onset onset = {fault, now_s};
    char *text = state_file_read(path), *then = NULL;
    long long since_s;

    if (text)
        text[strcspn(text, "\n")] = '\0';
    since_s = text ? strtoll(text, &then, 10) : 0;
    if (since_s > 0 && since_s <= now_s && *then == ' ' && strcmp(then + 1, fault) == 0)
        onset.since_s = since_s;
    else if (*fault)
        (void)state_file_write(path, write_onset, &onset, NULL);
    else if (text)
        (void)unlink(path);
    free(text);
    return onset.since_s;
}

bool onset_read_test(const char *path, char test[32])
{
    char *text = state_file_read(path);
    bool is_noted = text && sscanf(text, "%*d %31s", test) == 1;

    free(text);
    return is_noted;
}
