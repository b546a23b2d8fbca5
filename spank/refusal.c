/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/refusal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/replacement.h"

void refusal_note(const char *certificate_path, const char *line)
{
    char directory[256], path[300], stamp[32];
    time_t now = time(NULL);
    struct replacement file;
    struct tm utc;
    char *slash;

    snprintf(directory, sizeof directory, "%s", certificate_path);
    slash = strrchr(directory, '/');
    if (slash == NULL || slash == directory)
        return;
    *slash = '\0';
    snprintf(path, sizeof path, "%s/refused", directory);
    gmtime_r(&now, &utc);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &utc);
    mkdir(directory, 0755);
    if (replacement_begin(&file, path, 0644, NULL) != 0)
        return;
    file.mode = 0644;        /* whatever slurmd's umask is */
    file.is_unsynced = true; /* a job waits, and a note is no record */
    fprintf(file.stream, "%s %s\n", stamp, line);
    (void)replacement_end(&file, NULL);
}

void refusal_let_go_of_output(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = 0; fd <= 2; fd++)
        if (null < 0 || dup2(null, fd) < 0)
            close(fd);
}
