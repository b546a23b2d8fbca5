/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/subnet/expected/topologyconf.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/grow.h"
#include "lib/slurm/slurmconf.h"

static void switch_clear(struct topology_switch *one)
{
    free(one->name);
    free(one->at.file);
    hostlist_clear(&one->below);
}

void topology_conf_clear(struct topology_conf *conf)
{
    if (!conf)
        return;
    for (size_t i = 0; i < conf->count; i++)
        switch_clear(&conf->leaves[i]);
    for (size_t i = 0; i < conf->switch_count; i++)
        switch_clear(&conf->switches[i]);
    free(conf->leaves);
    free(conf->switches);
    *conf = (struct topology_conf){0};
}

int topology_conf_add(struct topology_conf *conf, bool is_leaf, const char *name,
                      struct topology_place at, const char *below, struct error *err)
{
    struct topology_switch **all = is_leaf ? &conf->leaves : &conf->switches;
    size_t *count = is_leaf ? &conf->count : &conf->switch_count;
    struct topology_switch added = {.name = strdup(name),
                                    .at = {at.file ? strdup(at.file) : NULL, at.line}};
    int rv = added.name && (added.at.file || !at.file) && GROW(*all, *count)
                 ? 0
                 : error_set(err, "no memory");

    if (rv == 0 && hostlist_expand(below, &added.below, err) != 0)
        rv = error_prefix(err, is_leaf ? "Nodes=%.60s" : "switches %.60s", below);
    if (rv == 0)
        (*all)[(*count)++] = added;
    else
        switch_clear(&added);
    return rv;
}

/* value: room for a whole line. file: the file that is conf->path. */
static int read_line(struct topology_conf *conf, const struct slurm_line *line, const char *file,
                     char *name, char *value, size_t size, struct error *err)
{
    struct topology_place at = {strcmp(line->file, file) == 0 ? NULL : (char *)line->file,
                                line->number};
    bool is_shown, has_nodes;

    if (slurm_line_value(line, "BlockSizes", value, size))
        return 0;
    if (!slurm_line_value(line, "SwitchName", name, size) &&
        !slurm_line_value(line, "BlockName", name, size))
        return error_set(err, "expected SwitchName= or BlockName=, found '%.60s'", line->text);
    /* the output of scontrol has Level= too, and for a switch above leaves the nodes below it */
    is_shown = slurm_line_value(line, "Level", value, size);
    has_nodes = slurm_line_value(line, "Nodes", value, size);
    if (slurm_line_value(line, "Switches", value, size) && (is_shown || !has_nodes))
        return topology_conf_add(conf, false, name, at, value, err);
    if (*value)
        return error_set(err,
                         "%s has both Nodes= and Switches=, which slurmctld refuses: nodes are "
                         "under leaves, switches under the switches above",
                         name);
    if (!slurm_line_value(line, "Nodes", value, size))
        return error_set(err, "%s has neither Nodes= nor Switches=", name);
    return topology_conf_add(conf, true, name, at, value, err);
}

static int read_lines(struct topology_conf *conf, const struct slurm_lines *lines,
                      struct error *err)
{
    for (size_t i = 0; i < lines->count; i++) {
        const struct slurm_line *line = &lines->lines[i];
        size_t size = strlen(line->text) + 1;
        char *value = malloc(2 * size);
        int rv = value ? read_line(conf, line, lines->files[0], value + size, value, size, err)
                       : error_set(err, "no memory");

        free(value);
        if (rv != 0)
            return error_prefix(err, "%s:%d", line->file, line->number);
    }
    if (conf->count == 0)
        return error_set(err, "%s: no SwitchName= or BlockName= with Nodes= in it", conf->path);
    return 0;
}

int topology_conf_read(const char *path, struct topology_conf *conf, struct error *err)
{
    struct slurm_lines lines;
    int rv;

    *conf = (struct topology_conf){0};
    snprintf(conf->path, sizeof conf->path, "%s", path);
    if (topology_conf_is_yaml(path)) {
        rv = topology_conf_read_yaml(path, conf, err);
    } else {
        rv = slurm_file_read(path, &lines, err);
        if (rv == 0)
            rv = read_lines(conf, &lines, err);
        slurm_lines_clear(&lines);
    }
    if (rv != 0)
        topology_conf_clear(conf);
    return rv;
}

bool topology_conf_is_yaml(const char *path)
{
    size_t length = strlen(path);

    return length >= 5 && strcmp(path + length - 5, ".yaml") == 0;
}

const char *topology_conf_find(const char *directory, char *path, size_t size)
{
    static const char *const names[] = {"topology.yaml", "topology.conf"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, size, "%s/%s", directory, names[i]);
        if (access(path, F_OK) == 0)
            return path;
    }
    return NULL;
}

int topology_conf_leaf(const struct topology_conf *conf, const char *node)
{
    for (size_t i = 0; i < conf->count; i++)
        if (hostlist_contains(&conf->leaves[i].below, node))
            return (int)i;
    return -1;
}

int topology_conf_parent(const struct topology_conf *conf, const char *name)
{
    for (size_t i = 0; i < conf->switch_count; i++)
        if (hostlist_contains(&conf->switches[i].below, name))
            return (int)i;
    return -1;
}

struct text_line topology_conf_place(const struct topology_conf *conf,
                                     const struct topology_place *at)
{
    if (at->line > 0)
        return text_line("%s line %d", at->file ? at->file : conf->path, at->line);
    return text_line("%s", conf->path);
}
