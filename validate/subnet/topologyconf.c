/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/subnet/topologyconf.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/slurm/slurmconf.h"

void topology_conf_clear(struct topology_conf *conf)
{
    if (!conf)
        return;
    for (size_t i = 0; i < conf->count; i++) {
        free(conf->leaves[i].name);
        hostlist_clear(&conf->leaves[i].nodes);
    }
    for (size_t i = 0; i < conf->switch_count; i++) {
        free(conf->switches[i].name);
        hostlist_clear(&conf->switches[i].below);
    }
    free(conf->leaves);
    free(conf->switches);
    *conf = (struct topology_conf){0};
}

/* Takes the name. below: "leaf[1-4]". */
static int add_switch(struct topology_conf *conf, char *name, int line, const char *below,
                      struct error *err)
{
    struct topology_switch *grown =
        realloc(conf->switches, (conf->switch_count + 1) * sizeof *grown);
    struct topology_switch added = {.name = name, .line = line};

    if (grown)
        conf->switches = grown;
    if (!grown || hostlist_expand(below, &added.below, err) != 0) {
        free(name);
        return grown ? error_prefix(err, "Switches=%.60s", below) : error_set(err, "no memory");
    }
    conf->switches[conf->switch_count++] = added;
    return 0;
}

/* value: room for a whole line. */
static int read_line(struct topology_conf *conf, const struct slurm_line *line, char *value,
                     size_t size, struct error *err)
{
    struct topology_leaf *leaves, leaf = {.line = line->number};
    bool is_shown, has_nodes;
    int rv;

    if (slurm_line_value(line, "BlockSizes", value, size))
        return 0;
    if (!slurm_line_value(line, "SwitchName", value, size) &&
        !slurm_line_value(line, "BlockName", value, size))
        return error_set(err, "expected SwitchName= or BlockName=, found '%.60s'", line->text);
    leaf.name = strdup(value);
    leaves = realloc(conf->leaves, (conf->count + 1) * sizeof *leaves);
    if (leaves)
        conf->leaves = leaves;
    if (!leaf.name || !leaves) {
        free(leaf.name);
        return error_set(err, "no memory");
    }
    /* what scontrol shows has Level= too, and above a leaf the nodes of all leaves below */
    is_shown = slurm_line_value(line, "Level", value, size);
    has_nodes = slurm_line_value(line, "Nodes", value, size);
    if (slurm_line_value(line, "Switches", value, size) && (is_shown || !has_nodes))
        return add_switch(conf, leaf.name, line->number, value, err);
    if (*value) {
        rv = error_set(err,
                       "%s has both Nodes= and Switches=, which slurmctld refuses: nodes are "
                       "under leaves, switches under the switches above",
                       leaf.name);
        free(leaf.name);
        return rv;
    }
    if (!slurm_line_value(line, "Nodes", value, size)) {
        rv = error_set(err, "%s has neither Nodes= nor Switches=", leaf.name);
        free(leaf.name);
        return rv;
    }
    rv = hostlist_expand(value, &leaf.nodes, err);
    if (rv != 0) {
        error_prefix(err, "Nodes=%.60s", value);
        free(leaf.name);
        return -1;
    }
    leaves[conf->count++] = leaf;
    return 0;
}

static int read_lines(struct topology_conf *conf, const struct slurm_lines *lines,
                      struct error *err)
{
    for (size_t i = 0; i < lines->count; i++) {
        const struct slurm_line *line = &lines->lines[i];
        size_t size = strlen(line->text) + 1;
        char *value = malloc(size);
        int rv = value ? read_line(conf, line, value, size, err) : error_set(err, "no memory");

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
    char *whole = realpath(path, NULL), *slash;
    int rv;

    *conf = (struct topology_conf){0};
    if (!whole)
        return error_set(err, "%s: %m", path);
    snprintf(conf->path, sizeof conf->path, "%s", path);
    slash = strrchr(whole, '/');
    *slash = '\0';
    rv = slurm_lines_read("", whole, slash + 1, &lines, err);
    if (rv == 1)
        rv = error_set(err, "%s: no such file", path);
    else if (rv == 0)
        rv = read_lines(conf, &lines, err);
    slurm_lines_clear(&lines);
    free(whole);
    if (rv != 0)
        topology_conf_clear(conf);
    return rv;
}

int topology_conf_leaf(const struct topology_conf *conf, const char *node)
{
    for (size_t i = 0; i < conf->count; i++)
        if (hostlist_contains(&conf->leaves[i].nodes, node))
            return (int)i;
    return -1;
}

const char *topology_conf_place(const struct topology_conf *conf, const struct topology_leaf *leaf,
                                char *text, size_t size)
{
    if (leaf->line > 0)
        snprintf(text, size, "%s line %d", conf->path, leaf->line);
    else
        snprintf(text, size, "%s", conf->path);
    return text;
}
