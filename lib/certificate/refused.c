/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/certificate/refused.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/atomic_file.h"
#include "lib/base/base_name.h"
#include "lib/base/path.h"
#include "lib/base/regular_file.h"
#include "lib/base/text.h"
#include "lib/constants/node_constants.h"

static const char form[] = "%Y-%m-%dT%H:%M:%SZ";

void refused_write(const char *certificate_path, const char *line)
{
    char path[300], directory[300], stamp[32];
    struct atomic_file file;

    if (!path_beside(certificate_path, "refused", path, sizeof path))
        return;
    path_make_directory(path);
    if (path_directory(path, directory, sizeof directory))
        atomic_file_remove_temporaries(directory, base_name(path));
    text_time(stamp, sizeof stamp, form, time(NULL));
    if (atomic_file_begin(&file, path, 0644, NULL) != 0)
        return;
    file.mode = 0644;        /* whatever slurmd's umask is */
    file.is_unsynced = true; /* a job waits, and the note is not essential */
    fprintf(file.stream, "%s %s\n", stamp, line);
    (void)atomic_file_commit(&file, NULL);
}

int refused_read(const char *certificate_path, time_t *when, char *line, size_t size)
{
    char path[300], *text;
    struct tm utc = {0};
    const char *rest;
    int rv = -1;

    if (!path_beside(certificate_path, "refused", path, sizeof path) ||
        regular_file_read_trusted(path, 0, REFUSED_LINE + 63, &text, NULL) != 0)
        return -1;
    rest = strptime(text, form, &utc);
    if (rest && *rest == ' ') {
        *when = timegm(&utc);
        snprintf(line, size, "%.*s", (int)strcspn(rest + 1, "\n"), rest + 1);
        text_make_ascii(line);
        rv = 0;
    }
    free(text);
    return rv;
}

void refused_remove(const char *certificate_path)
{
    char path[300];

    if (path_beside(certificate_path, "refused", path, sizeof path))
        unlink(path);
}

bool refused_explains(time_t refused, time_t drained)
{
    return refused >= drained - REFUSED_CLOCK_SLACK_S && refused <= drained + REFUSED_CLOCK_SLACK_S;
}
