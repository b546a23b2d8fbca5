/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/checks/gres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/hostlist.h"

enum { DEVICES_MAX = 4096, VALUE_MAX = 8192 };

static bool line_is_for(const struct slurm_line *line, const char *node)
{
    char names[VALUE_MAX];
    struct hostlist list;
    bool found;

    if (!slurm_line_value(line, "NodeName", names, sizeof names))
        return true;
    if (hostlist_expand(names, &list, NULL) < 0)
        return strcmp(names, node) == 0;
    found = hostlist_contains(&list, node);
    hostlist_clear(&list);
    return found;
}

static void find_auto_detect(struct gres_conf *conf, const char *node)
{
    char value[sizeof conf->auto_detect];

    for (size_t i = 0; i < conf->gres.count; i++)
        if (slurm_line_value(&conf->gres.lines[i], "AutoDetect", value, sizeof value) &&
            line_is_for(&conf->gres.lines[i], node))
            snprintf(conf->auto_detect, sizeof conf->auto_detect, "%s",
                     strcasecmp(value, "off") == 0 ? "" : value);
}

int gres_conf_read(const struct checks *checks, struct gres_conf *conf, struct error *err)
{
    int result;

    memset(conf, 0, sizeof *conf);
    if (slurm_directory(checks->root, conf->directory, sizeof conf->directory, err) < 0)
        return 1;
    result = slurm_lines_read(checks->root, conf->directory, "slurm.conf", &conf->slurm, err);
    if (result != 0)
        return result;
    slurm_node_find(&conf->slurm, checks->node, &conf->node);
    result = slurm_lines_read(checks->root, conf->directory, "gres.conf", &conf->gres, err);
    if (result < 0)
        return -1;
    conf->has_gres_conf = result == 0;
    find_auto_detect(conf, checks->node);
    return 0;
}

void gres_conf_clear(struct gres_conf *conf)
{
    slurm_lines_clear(&conf->slurm);
    slurm_lines_clear(&conf->gres);
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
        larger = realloc(devices->devices, (devices->count + 1) * sizeof *larger);
        if (!larger) {
            hostlist_clear(&list);
            return error_set(err, "%s: %m", line->file);
        }
        devices->devices = larger;
        larger += devices->count++;
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

int gres_devices_list(const struct gres_conf *conf, const char *node, struct gres_devices *devices,
                      struct error *err)
{
    char kind[32], value[VALUE_MAX];

    memset(devices, 0, sizeof *devices);
    for (size_t i = 0; i < conf->gres.count; i++) {
        const struct slurm_line *line = &conf->gres.lines[i];
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

long gres_gpu_count(const struct checks *checks)
{
    struct gres_conf conf;
    long count = -1;

    if (gres_conf_read(checks, &conf, NULL) == 0 && conf.node.is_found)
        count = slurm_gres_count(conf.node.gres, "gpu");
    gres_conf_clear(&conf);
    return count;
}
