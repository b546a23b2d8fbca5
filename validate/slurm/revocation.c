/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/revocation.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"

static const char opening[] = "[muster: certificates issued until ", closing[] = " are revoked]";

/* Returns where the revocation is in the Comment, and sets *end behind it; NULL if there is none.
 */
static const char *find(const char *comment, const char **end, time_t *until)
{
    for (const char *at = comment; (at = strstr(at, opening)); at++) {
        struct tm utc = {0};
        const char *rest = strptime(at + strlen(opening), "%Y-%m-%dT%H:%M:%SZ", &utc);

        if (!rest || strncmp(rest, closing, strlen(closing)) != 0)
            continue;
        *end = rest + strlen(closing);
        *until = timegm(&utc);
        return at;
    }
    return NULL;
}

char *revocation_set(const char *comment, time_t until)
{
    const char *rest = comment, *at;
    char mark[128] = "", *text;
    time_t old;

    at = find(comment, &rest, &old);
    if (at && *rest == ' ')
        rest++;
    if (until != 0) {
        char stamp[32];

        snprintf(mark, sizeof mark, "%s%s%s%s", opening,
                 text_time(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", until), closing,
                 (at && at > comment) || *rest ? " " : "");
    }
    return asprintf(&text, "%s%.*s%s", mark, at ? (int)(at - comment) : 0, comment, rest) < 0
               ? NULL
               : text;
}

time_t revocation_read(const char *comment)
{
    const char *end;
    time_t until;

    return find(comment, &end, &until) ? until : 0;
}
