/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static FILE *files[3];
static int saved[3];

void capture_begin(void)
{
    fflush(NULL);
    for (int fd = 1; fd <= 2; fd++) {
        saved[fd] = dup(fd);
        files[fd] = tmpfile();
        if (!files[fd] || dup2(fileno(files[fd]), fd) < 0)
            exit(255);
    }
}

const char *capture_end(int fd)
{
    static char *text;
    static size_t size;
    ssize_t length;

    fflush(NULL);
    rewind(files[fd]);
    length = getdelim(&text, &size, '\0', files[fd]);
    for (int each = 1; each <= 2; each++) {
        dup2(saved[each], each);
        close(saved[each]);
        fclose(files[each]);
    }
    return length > 0 ? text : "";
}
