/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/path.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

/* The mode of directories for muster's files, under any umask. */

static unsigned mode_made(const char *root, mode_t mask)
{
    char path[512], directory[512];
    struct stat status;
    mode_t before = umask(mask);

    snprintf(path, sizeof path, "%s/%03o/file", root, (unsigned)mask);
    snprintf(directory, sizeof directory, "%s/%03o", root, (unsigned)mask);
    path_make_directory(path);
    umask(before);
    return stat(directory, &status) == 0 ? (unsigned)status.st_mode & 07777 : 0;
}

int main(void)
{
    char *root = tree_unpack(""), path[512];
    struct stat status;

    is_int(mode_made(root, 000), 0755, "a directory is writable only by its owner");
    if (geteuid() == 0) {
        is_int(mode_made(root, 077), 0755, "a directory made by root is readable by all");
        is_int(mode_made(root, 027), 0755, "... with any umask");
    } else {
        is_int(mode_made(root, 077), 0700,
               "another user's directory has the mode that umask leaves");
    }
    snprintf(path, sizeof path, "%s/000", root);
    chmod(path, 0700);
    mode_made(root, 000);
    ok(stat(path, &status) == 0 && (status.st_mode & 07777) == 0700,
       "an existing directory keeps its mode");
    tree_remove(root);
    return tap_done();
}
