/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node/gpu/files.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/sysfs.h"

size_t gpu_count_numbered(const char *root, const char *prefix, const char *directory)
{
    char **names;
    size_t count = sysfs_names(root, &names, "%s", directory), found = 0;

    for (size_t i = 0; i < count; i++) {
        const char *digits = names[i] + strlen(prefix);

        found += strncmp(names[i], prefix, strlen(prefix)) == 0 && *digits != '\0' &&
                 digits[strspn(digits, "0123456789")] == '\0';
    }
    sysfs_names_free(names, count);
    return found;
}

void gpu_read_render_file(const char *root, const char *device, struct gpu *gpu)
{
    char **names;
    size_t count = sysfs_names(root, &names, "%s/drm", device);

    for (size_t i = 0; i < count; i++)
        if (strncmp(names[i], "renderD", 7) == 0 && !gpu->device_file[0])
            snprintf(gpu->device_file, sizeof gpu->device_file, "/dev/dri/%.32s", names[i]);
    sysfs_names_free(names, count);
}
