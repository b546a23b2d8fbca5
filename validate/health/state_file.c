/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/health/state_file.h"

#include <string.h>

#include "lib/base/atomic_file.h"
#include "lib/base/path.h"
#include "lib/base/regular_file.h"
#include "lib/base/sysfs.h"

enum { SIZE_MAX_BYTES = 1 << 20 };

char *state_file_read(const char *path)
{
    char *text = NULL;

    return regular_file_read(path, SIZE_MAX_BYTES, &text, NULL) == 0 ? text : NULL;
}

int state_file_write(const char *path, int (*write)(const void *state, FILE *stream),
                     const void *state, struct error *err)
{
    struct atomic_file file;

    path_make_directory(path);
    if (atomic_file_begin(&file, path, 0600, err) != 0)
        return -1;
    file.is_unsynced = true; /* no fsync(): a reboot removes the file anyway */
    return write(state, file.stream) == 0 ? atomic_file_commit(&file, err)
                                          : atomic_file_discard(&file, err);
}
