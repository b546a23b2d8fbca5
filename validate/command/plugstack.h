/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLUGSTACK_H
#define MUSTER_PLUGSTACK_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/slurm/slurmconf.h"

/* Finds muster's plugin in Slurm's plugstack.conf, which loads SPANK plugins. */

enum { PLUGSTACK_NEED = 16 };

/* Sets path to PlugStackConfig of slurm.conf, else to the file beside slurm.conf. Cut at size. */
void plugstack_path(const struct slurm_lines *slurm, const char *directory, char *path,
                    size_t size);

/* Whether a line of the file below root, or of a file that it includes, loads muster's plugin. Then
 * need is the first word of the line: "optional", "required". A name in an include is relative to
 * the including file, as for Slurm. False if the file does not exist. */
bool plugstack_loads(const char *root, const char *path, char need[PLUGSTACK_NEED]);

#endif
