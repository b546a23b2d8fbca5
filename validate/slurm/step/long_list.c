/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/step/long_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The kernel's MAX_ARG_STRLEN is 128 KiB: the rest is room to spare. */
enum { ARGUMENT_BYTES = 100 * 1024 };

bool long_list_exceeds_limit(const char *text)
{
    const char *lowered = getenv("MUSTER_ARGUMENT_BYTES"); /* for tests */

    return strlen(text) > (lowered ? strtoul(lowered, NULL, 10) : ARGUMENT_BYTES);
}

const char *long_list_value(const char *argument)
{
    const char *equals = strncmp(argument, "--", 2) == 0 ? strchr(argument, '=') : NULL;

    return equals && long_list_exceeds_limit(equals + 1) ? equals + 1 : NULL;
}

/* One name per line: srun accepts no brackets in a file. Each with a comma: srun (22.05 to 26.05)
 * joins the names by commas in a buffer of the lines' bytes, without newlines, plus 1 KiB. */
static int write_names(int fd, const struct hostlist *nodes)
{
    for (size_t i = 0; i < nodes->count; i++)
        if (dprintf(fd, "%s,\n", nodes->names[i]) < 0)
            return -1;
    return 0;
}

int long_list_file(const struct hostlist *nodes, struct error *err)
{
    int fd = memfd_create("nodelist", 0);

    if (fd >= 0 && write_names(fd, nodes) == 0)
        return fd;
    error_set(err, "cannot create a file for a list of %zu nodes: %m", nodes->count);
    if (fd >= 0)
        close(fd);
    return -1;
}
