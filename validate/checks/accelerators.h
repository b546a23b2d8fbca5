/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHECKS_ACCELERATORS_H
#define MUSTER_CHECKS_ACCELERATORS_H

#include "lib/conf/conf.h"
#include "validate/accelerator/accelerator.h"

/* The reports of the vendors' libraries: read once, used by gpu.health and host.config. */

struct accelerators {
    struct accelerator_report *reports[GPU_VENDORS]; /* NULL: no report */
    char errors[GPU_VENDORS][128];                   /* why a wanted report is missing; else "" */
};

/* Queries the library of each vendor whose GPU or driver is on this node, or whose library is in
 * the configuration's GpuLibraryPath. On a recorded node (root not "") no library is queried. */
void accelerators_read(const char *root, const struct inventory *inventory, const struct conf *conf,
                       struct accelerators *accelerators);
void accelerators_clear(struct accelerators *accelerators);

#endif
