/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_FILES_H
#define MUSTER_GPU_FILES_H

#include <stddef.h>

#include "lib/node/inventory.h"

/* What several vendors' drivers show in the same way. */

/* The value of the line "Key:   value" in text; leaves value alone when there is none or it is
 * empty. */
void gpu_read_key(const char *text, const char *key, char *value, size_t size);

/* The DRM render node below the PCI device, "/dev/dri/renderD128", into gpu->device_file. */
void gpu_read_render_file(const char *root, const char *device, struct gpu *gpu);

#endif
