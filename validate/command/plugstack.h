/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLUGSTACK_H
#define MUSTER_PLUGSTACK_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/slurm/slurmconf.h"

/* Finds muster's plugin in Slurm's plugstack.conf, which loads SPANK plugins. */

/* A line that loads it. */
struct plugstack_line {
    char need[16];  /* "optional", "required" */
    char file[512]; /* as in the line: without "/" at its begin it is in a directory of PluginDir */
};

/* Sets path to PlugStackConfig of slurm.conf, else to the file beside slurm.conf. Cut at size. */
void plugstack_path(const struct slurm_lines *slurm, const char *directory, char *path,
                    size_t size);

/* Finds a line of the file below root, or of a file that it includes, that loads muster's plugin.
 * A name in an include is relative to the including file, as for Slurm. False if there is none, or
 * the file does not exist; *found is undefined then. */
bool plugstack_loads(const char *root, const char *path, struct plugstack_line *found);

#endif
