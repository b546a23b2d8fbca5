/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/node_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void node_name(char *name, size_t size)
{
    const char *slurm = getenv("SLURMD_NODENAME");

    if (slurm && *slurm)
        snprintf(name, size, "%s", slurm);
    else
        host_name(name, size);
}

void host_name(char *name, size_t size)
{
    if (gethostname(name, size) != 0)
        snprintf(name, size, "?");
    name[size - 1] = '\0';
    name[strcspn(name, ".")] = '\0';
}
