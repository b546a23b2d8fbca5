/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHECKS_ACCELERATORS_H
#define MUSTER_CHECKS_ACCELERATORS_H

#include "lib/conf/conf.h"
#include "validate/accelerator/accelerator.h"

/* The vendors' libraries' reports for the checks: read once, used by gpu.health and host.config. */

struct accelerators {
    struct accelerator_report *reports[GPU_VENDORS]; /* NULL: not asked */
    char errors[GPU_VENDORS][128];                   /* why not, where it was wanted; else "" */
};

/* Asks the library of each vendor whose GPU or driver is here, or whose library lies in the
 * configuration's GpuLibraryPath. A recorded node (root not "") has none to ask. */
void accelerators_read(const char *root, const struct inventory *inventory, const struct conf *conf,
                       struct accelerators *accelerators);
void accelerators_clear(struct accelerators *accelerators);

#endif
