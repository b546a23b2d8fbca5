/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_FILES_H
#define MUSTER_GPU_FILES_H

#include "lib/node/inventory.h"

/* Reads files that the drivers of several vendors have in common. */

/* Sets gpu->device_file to the DRM render node of the PCI device, "/dev/dri/renderD128". */
void gpu_read_render_file(const char *root, const char *device, struct gpu *gpu);

#endif
