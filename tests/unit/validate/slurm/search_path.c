/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/step/search_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

/* Tests where a process finds Slurm's commands if its PATH lacks them. */

static void put_command(const char *root, const char *path)
{
    char file[512];

    tree_put(root, path, "#!/bin/sh\n");
    snprintf(file, sizeof file, "%s/%s", root, path);
    chmod(file, 0755);
}

static void complete_path(const char *root, const char *path, const char *library)
{
    char file[512];

    if (path)
        setenv("PATH", path, 1);
    else
        unsetenv("PATH");
    snprintf(file, sizeof file, "%s/%s", root, library);
    search_path_complete(file);
}

int main(void)
{
    char *root = tree_unpack(""), expected[512], other[512];

    put_command(root, "opt/slurm/bin/scontrol");
    put_command(root, "usr/local/bin/scontrol");
    tree_put(root, "opt/slurm/lib/libslurm.so.42", "");
    tree_put(root, "opt/slurm/lib64/slurm/libslurmfull.so", "");
    tree_put(root, "none/lib/libslurm.so.42", "");
    snprintf(other, sizeof other, "%s/usr/local/bin", root);

    snprintf(expected, sizeof expected, "%s:%s/opt/slurm/bin", "/nowhere", root);
    complete_path(root, "/nowhere", "opt/slurm/lib/libslurm.so.42");
    is_str(getenv("PATH"), expected, "the commands are beside the library");
    complete_path(root, "/nowhere", "opt/slurm/lib64/slurm/libslurmfull.so");
    is_str(getenv("PATH"), expected, "... or one directory above it");
    complete_path(root, "", "opt/slurm/lib/libslurm.so.42");
    is_str(getenv("PATH"), strchr(expected, ':') + 1, "... an empty PATH gets only them");
    complete_path(root, other, "opt/slurm/lib/libslurm.so.42");
    is_str(getenv("PATH"), other, "a PATH with the commands stays unchanged");
    complete_path(root, "/nowhere", "opt/slurm/lib/none.so");
    is_str(getenv("PATH"), "/nowhere", "... and so does one without a library");

    /* commands of this machine, if any, are found without a PATH */
    complete_path(root, NULL, "opt/slurm/lib/libslurm.so.42");
    snprintf(expected, sizeof expected, "/bin:/usr/bin:%s/opt/slurm/bin", root);
    if (getenv("PATH"))
        is_str(getenv("PATH"), expected, "without a PATH the default directories come first");
    else
        ok(1, "without a PATH nothing is set if the default directories have the commands");
    tree_remove(root);
    return tap_done();
}
