/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node/gpu/files.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/sysfs.h"

void gpu_read_render_file(const char *root, const char *device, struct gpu *gpu)
{
    char **names;
    size_t count = sysfs_names(root, &names, "%s/drm", device);

    for (size_t i = 0; i < count; i++)
        if (strncmp(names[i], "renderD", 7) == 0 && !gpu->device_file[0])
            snprintf(gpu->device_file, sizeof gpu->device_file, "/dev/dri/%.32s", names[i]);
    sysfs_names_free(names, count);
}
