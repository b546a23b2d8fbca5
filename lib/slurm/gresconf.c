/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/slurm/gresconf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/grow.h"
#include "lib/base/hostlist.h"

enum { DEVICES_MAX = 4096, VALUE_MAX = 8192 };

static bool line_is_for(const struct slurm_line *line, const char *node)
{
    char name[2];

    return !slurm_line_value(line, "NodeName", name, sizeof name) ||
           slurm_line_names(line, "NodeName", node);
}

void gres_auto_detect(const struct slurm_lines *gres, const char *node, char *value, size_t size)
{
    char found[32], name[2];
    bool is_own = false;

    snprintf(value, size, "%s", "");
    for (size_t i = 0; i < gres->count; i++) {
        const struct slurm_line *line = &gres->lines[i];
        bool has_names = slurm_line_value(line, "NodeName", name, sizeof name);

        if (!slurm_line_value(line, "AutoDetect", found, sizeof found) ||
            !line_is_for(line, node) || (is_own && !has_names))
            continue;
        if (!has_names && strncasecmp(line->text, "Name", strlen("Name")) == 0)
            continue; /* slurmd refuses AutoDetect= there */
        is_own |= has_names;
        snprintf(value, size, "%s", strcasecmp(found, "off") == 0 ? "" : found);
    }
}

bool gres_is_explicit(const struct slurm_lines *gres, const char *kind, const char *node)
{
    char name[32], flags[128];

    for (size_t i = 0; i < gres->count; i++)
        if (slurm_line_value(&gres->lines[i], "Name", name, sizeof name) &&
            strcasecmp(name, kind) == 0 &&
            slurm_line_value(&gres->lines[i], "Flags", flags, sizeof flags) &&
            strcasestr(flags, "explicit") && (!node || line_is_for(&gres->lines[i], node)))
            return true;
    return false;
}

static int add_files(const struct slurm_line *line, const char *kind, const char *files,
                     bool is_multiple, struct gres_devices *devices, struct error *err)
{
    struct hostlist list;

    if (hostlist_expand(files, &list, err) < 0)
        return error_prefix(err, "%s:%d: File=%s", line->file, line->number, files);
    for (size_t i = 0; i < list.count; i++) {
        struct gres_device *larger;

        if (devices->count == DEVICES_MAX) {
            hostlist_clear(&list);
            return error_set(err, "%s:%d: more than %d devices", line->file, line->number,
                             DEVICES_MAX);
        }
        if (!GROW(devices->devices, devices->count)) {
            hostlist_clear(&list);
            return error_set(err, "%s: %m", line->file);
        }
        larger = &devices->devices[devices->count++];
        memset(larger, 0, sizeof *larger);
        snprintf(larger->kind, sizeof larger->kind, "%s", kind);
        snprintf(larger->path, sizeof larger->path, "%s", list.names[i]);
        larger->file = line->file;
        larger->number = line->number;
        larger->is_multiple = is_multiple;
    }
    hostlist_clear(&list);
    return 0;
}

int gres_devices_list(const struct slurm_lines *gres, const char *node,
                      struct gres_devices *devices, struct error *err)
{
    char kind[32], value[VALUE_MAX];

    memset(devices, 0, sizeof *devices);
    for (size_t i = 0; i < gres->count; i++) {
        const struct slurm_line *line = &gres->lines[i];
        bool is_gpu;

        if (!slurm_line_value(line, "Name", kind, sizeof kind) || !line_is_for(line, node))
            continue;
        is_gpu = strcasecmp(kind, "gpu") == 0;
        devices->is_named = devices->is_named || is_gpu;
        if (slurm_line_value(line, "File", value, sizeof value)) {
            if (add_files(line, kind, value, false, devices, err) < 0)
                return -1;
        } else if (slurm_line_value(line, "MultipleFiles", value, sizeof value)) {
            devices->counted += is_gpu;
            if (add_files(line, kind, value, true, devices, err) < 0)
                return -1;
        } else if (is_gpu) {
            devices->counted +=
                slurm_line_value(line, "Count", value, sizeof value) ? strtol(value, NULL, 10) : 1;
        }
    }
    return 0;
}

void gres_devices_clear(struct gres_devices *devices)
{
    free(devices->devices);
    memset(devices, 0, sizeof *devices);
}
