/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/slurm/slurm_node_name.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/sysfs.h"
#include "lib/slurm/slurmconf.h"

void slurm_node_name(const char *root, char *name, size_t size)
{
    const char *given = getenv("SLURMD_NODENAME");
    char host[HOST_NAME_MAX + 1], directory[PATH_MAX];
    struct slurm_lines lines = {0};
    bool is_found = false;

    if (given && *given) {
        snprintf(name, size, "%s", given);
        return;
    }
    sysfs_line(root, host, sizeof host, "proc/sys/kernel/hostname");
    if (slurm_directory(root, directory, sizeof directory, NULL) == 0 &&
        slurm_lines_read(root, directory, "slurm.conf", &lines, NULL) == 0)
        is_found = slurm_node_of_host(&lines, host, name, size);
    slurm_lines_clear(&lines);
    if (!is_found)
        snprintf(name, size, "%.*s", (int)strcspn(host, "."), *host ? host : "?");
}
