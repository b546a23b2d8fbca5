/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_FILES_H
#define MUSTER_GPU_FILES_H

#include "lib/node/inventory.h"

/* Reads files that the drivers of several vendors have in common. */

/* Returns the number of names in a directory that are the prefix and a number. */
size_t gpu_count_numbered(const char *root, const char *prefix, const char *directory);

/* Sets gpu->device_file to the DRM render node of the PCI device, "/dev/dri/renderD128". */
void gpu_read_render_file(const char *root, const char *device, struct gpu *gpu);

#endif
