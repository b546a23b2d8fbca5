/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_FILES_H
#define MUSTER_GPU_FILES_H

#include "lib/node/inventory.h"

/* What several vendors' drivers show in the same way. */

/* The DRM render node below the PCI device, "/dev/dri/renderD128", into gpu->device_file. */
void gpu_read_render_file(const char *root, const char *device, struct gpu *gpu);

#endif
