/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLUGSTACK_H
#define MUSTER_PLUGSTACK_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/slurm/slurmconf.h"

/* Slurm's plugstack.conf, which loads SPANK plugins, as far as muster's own is concerned. */

enum { PLUGSTACK_NEED = 16 };

/* Where it is: PlugStackConfig of slurm.conf, else beside it. Cut at size. */
void plugstack_path(const struct slurm_lines *slurm, const char *directory, char *path,
                    size_t size);

/* Whether a line of that file below root, or of one that it includes, loads muster's plugin; need
 * is its first word then: "optional", "required". A name in an include is relative to the file that
 * has it, as to Slurm. A file that is not there has none. */
bool plugstack_loads(const char *root, const char *path, char need[PLUGSTACK_NEED]);

#endif
