/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/setup/setup.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/memory_stream.h"
#include "lib/base/regular_file.h"
#include "lib/base/text.h"
#include "lib/slurm/slurm_node_name.h"
#include "validate/command/plugstack.h"

enum { STACK_PATH = 1024 };

static const char plugin_line[] = "optional spank_muster.so\n",
                  commented_plugin_line[] = "#optional spank_muster.so",
                  health_check[] = MUSTER_PKGLIBEXECDIR "/muster-healthcheck";

void setup_clear(struct setup_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->items[i].before);
        free(files->items[i].after);
    }
    files->count = 0;
}

/* Reads a file below root; *text is NULL if there is none. Returns 0, or -1 with err. */
static int file_read(const char *root, const char *path, char **text, struct error *err)
{
    char real[PATH_MAX];

    *text = NULL;
    if (setup_path(root, path, real, err) != 0)
        return -1;
    return regular_file_read(real, SETUP_TEXT_MOST, text, err) < 0 ? -1 : 0;
}

/* Adds the file with lines in a block. Returns 0, or -1 with err. */
static int lines_add(const char *root, const char *path, const char *lines, const char *replaces,
                     struct setup_files *files, struct error *err)
{
    struct setup_file *file = &files->items[files->count];

    if (file_read(root, path, &file->before, err) != 0)
        return -1;
    snprintf(file->path, sizeof file->path, "%s", path);
    file->after = setup_block_put(file->before, lines, replaces);
    files->count++;
    return file->after ? 0 : error_set(err, "no memory for %s", path);
}

/* Whether a line of the text starts with `begin`, after blanks. */
static bool has_line(const char *text, const char *begin)
{
    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += strspn(at, " \t\n");
        if (strncmp(at, begin, strlen(begin)) == 0)
            return true;
    }
    return false;
}

/* The files that may have the plugin's line. The package puts it into a file of its own. */
struct stack {
    char paths[2][STACK_PATH]; /* plugstack.conf, and an included muster.conf */
    char *texts[2];
};

static int stack_read(const char *root, const char *directory, const struct slurm_lines *slurm,
                      struct stack *stack, struct error *err)
{
    plugstack_path(slurm, directory, stack->paths[0], STACK_PATH);
    snprintf(stack->paths[1], STACK_PATH, "%.900s.d/muster.conf", stack->paths[0]);
    if (file_read(root, stack->paths[0], &stack->texts[0], err) != 0)
        return -1;
    if (stack->texts[0] && has_line(stack->texts[0], "include") &&
        strstr(stack->texts[0], "plugstack.conf.d"))
        return file_read(root, stack->paths[1], &stack->texts[1], err);
    return 0;
}

/* Whether slurmctld has sent the file to a configless slurmd, and so would overwrite it. slurmd
 * keeps it in conf-cache of SlurmdSpoolDir, to which /run/slurm/conf is a link. */
static bool is_sent(const char *root, const char *path)
{
    char real[PATH_MAX];
    struct error err;

    if (setup_path(root, path, real, &err) != 0)
        *real = '\0';
    return strncmp(path, "/run/", 5) == 0 || (!*root && strncmp(real, "/run/", 5) == 0) ||
           strstr(real, "/conf-cache/");
}

static int note_add(struct hostlist *notes, const char *note, struct error *err)
{
    return hostlist_append(notes, note) == 0 ? 0 : error_set(err, "no memory for a note");
}

static int plugin_propose(const char *root, const char *directory, const struct slurm_lines *slurm,
                          struct setup_files *files, struct hostlist *notes, struct error *err)
{
    struct plugstack_line line;
    struct stack stack = {0};
    int rv = stack_read(root, directory, slurm, &stack, err);
    bool is_off = rv == 0 && !plugstack_loads(root, stack.paths[0], &line);

    if (is_off && is_sent(root, stack.paths[0])) {
        rv = note_add(
            notes,
            "plugstack.conf comes from slurmctld: run muster setup on its host for the plugin",
            err);
    } else if (is_off) {
        bool is_packaged = stack.texts[1] && has_line(stack.texts[1], commented_plugin_line);

        rv = lines_add(root, stack.paths[is_packaged], plugin_line,
                       is_packaged ? commented_plugin_line : NULL, files, err);
    }
    free(stack.texts[0]);
    free(stack.texts[1]);
    return rv;
}

/* Returns the names of the rails' interfaces, or of ports without one, as for FabricInterfaces. */
static char *rails_text(const struct fabric *fabric)
{
    struct hostlist names = {0};
    char *folded = NULL;
    int rv = 0;

    for (size_t i = 0; rv == 0 && i < fabric->rail_count; i++)
        rv = hostlist_append(&names, fabric->rails[i].nic ? fabric->rails[i].nic->name
                                                          : fabric->rails[i].port->device);
    if (rv == 0 && names.count > 0)
        folded = hostlist_fold(&names);
    hostlist_clear(&names);
    return folded;
}

/* Notes what this node has and the configuration lacks. muster.conf is the same on all nodes, which
 * may be of several kinds, so only the administrator knows whether a line is right for all. */
static int node_note(const struct node_view *node_view, const struct slurm_lines *slurm,
                     struct hostlist *notes, struct error *err)
{
    const struct conf *conf = &node_view->conf;
    char name[256], host[256], *rails = rails_text(&node_view->fabric), *note = NULL;
    struct slurm_node node;
    size_t size;
    FILE *stream = memory_stream(&note, &size);
    static const char start[] = "Where all nodes are like this one, muster.conf can have ";
    int rv = 0;

    slurm_node_name(node_view->root, host, sizeof host);
    if (stream && slurm_node_of_host(slurm, host, name, sizeof name)) {
        slurm_node_find(slurm, name, &node);
        if (!*conf->management_interface && node_view->fabric.management)
            fprintf(stream, "%sManagementInterface=%s", start, node_view->fabric.management->name);
        if (conf->fabric_interfaces.count == 0 && rails)
            fprintf(stream, "%sFabricInterfaces=%s", ftell(stream) > 0 ? ", " : start, rails);
        if (conf->gpus_per_node < 0 && node_view->inventory->gpu_count > 0 &&
            slurm_gres_count(node.gres, "gpu") == 0)
            fprintf(stream, "%sGPUsPerNode=%zu", ftell(stream) > 0 ? ", " : start,
                    node_view->inventory->gpu_count);
        if (ftell(stream) > 0)
            fputs(": a node that lacks a part fails", stream);
    }
    if (!stream || fclose(stream) != 0)
        rv = error_set(err, "no memory for a note");
    else if (*note)
        rv = note_add(notes, note, err);
    free(note);
    free(rails);
    return rv;
}

/* Notes a missing HealthCheckInterval: its default is none, and slurmd runs no health check without
 * it. Returns 0, or -1 with err. */
static int interval_note(const struct slurm_lines *slurm, bool is_proposed, struct hostlist *notes,
                         struct error *err)
{
    char value[64];
    bool is_set = slurm_lines_value(slurm, "HealthCheckInterval", value, sizeof value);

    if (is_set ? strtol(value, NULL, 10) > 0 : is_proposed)
        return 0;
    return note_add(notes,
                    is_set ? "HealthCheckInterval is 0 in slurm.conf, so slurmd runs no health "
                             "check: set it, to 300 for example"
                           : "HealthCheckInterval is not set in slurm.conf, so slurmd runs no "
                             "health check: set it, to 300 for example",
                    err);
}

/* Proposes slurmd's health check. Existing lines of slurm.conf about it are the site's, and stay.
 */
static int health_propose(const char *root, const struct slurm_lines *slurm,
                          struct setup_files *files, struct hostlist *notes, struct error *err)
{
    static const char *const others[][2] = {{"HealthCheckInterval", "300"},
                                            {"HealthCheckNodeState", "ANY,CYCLE"}};
    char program[512], value[64], lines[1024], note[1200];

    if (slurm_lines_value(slurm, "HealthCheckProgram", program, sizeof program)) {
        if (strcmp(program, health_check) == 0)
            return interval_note(slurm, false, notes, err);
        snprintf(note, sizeof note, "HealthCheckProgram is %s: let it call %s", program,
                 health_check);
        return note_add(notes, note, err);
    }
    if (is_sent(root, slurm->files[0]))
        return note_add(
            notes,
            "slurm.conf comes from slurmctld: run muster setup on its host for the health check",
            err);
    snprintf(lines, sizeof lines, "HealthCheckProgram=%s\n", health_check);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!slurm_lines_value(slurm, others[i][0], value, sizeof value))
            text_join(lines, sizeof lines, "", "%s=%s\n", others[i][0], others[i][1]);
    if (interval_note(slurm, true, notes, err) != 0)
        return -1;
    return lines_add(root, slurm->files[0], lines, NULL, files, err);
}

/* Reads slurm.conf, and finds its directory. Returns 0, or -1 with err. */
static int slurm_read(const char *root, char *directory, size_t size, struct slurm_lines *slurm,
                      struct error *err)
{
    char real[PATH_MAX];
    int rv = slurm_directory(root, directory, size, err);

    if (rv != 0 && *root)
        error_prefix(err, "%s", root);
    if (rv == 0)
        rv = slurm_lines_read(root, directory, "slurm.conf", slurm, err);
    for (size_t i = 0; rv == 0 && i < slurm->file_count; i++)
        rv = setup_path(root, slurm->files[i], real, err);
    return rv == 0 ? 0 : -1;
}

int setup_propose(const struct node_view *node_view, struct setup_files *files,
                  struct hostlist *notes, struct error *err)
{
    const char *root = node_view->root;
    struct slurm_lines slurm = {0};
    char directory[512];
    int rv = slurm_read(root, directory, sizeof directory, &slurm, err);

    if (rv == 0)
        rv = plugin_propose(root, directory, &slurm, files, notes, err);
    if (rv == 0)
        rv = health_propose(root, &slurm, files, notes, err);
    if (rv == 0)
        rv = node_note(node_view, &slurm, notes, err);
    slurm_lines_clear(&slurm);
    return rv;
}

/* Adds the file if it has a block. Returns 0, or -1 with err. */
static int block_add(const char *root, const char *path, struct setup_files *files,
                     struct error *err)
{
    struct setup_file *file = &files->items[files->count];
    int blocks = 0;

    if (is_sent(root, path)) /* its block is removed on slurmctld's host */
        return 0;
    file->after = NULL;
    if (file_read(root, path, &file->before, err) != 0)
        return -1;
    if (file->before)
        blocks = setup_block_take(file->before, &file->after, err);
    if (blocks > 0) {
        snprintf(file->path, sizeof file->path, "%s", path);
        files->count++;
        return 0;
    }
    free(file->before);
    free(file->after);
    return blocks < 0 ? error_prefix(err, "%s", path) : 0;
}

int setup_undo(const char *root, struct setup_files *files, struct error *err)
{
    struct slurm_lines slurm = {0};
    char directory[512];
    struct stack stack = {0};
    int rv = slurm_read(root, directory, sizeof directory, &slurm, err);

    if (rv == 0)
        rv = stack_read(root, directory, &slurm, &stack, err);
    for (int i = 0; rv == 0 && i < 2; i++)
        rv = block_add(root, stack.paths[i], files, err);
    if (rv == 0)
        rv = block_add(root, conf_default_path(), files, err);
    if (rv == 0)
        rv = block_add(root, slurm.files[0], files, err);
    free(stack.texts[0]);
    free(stack.texts[1]);
    slurm_lines_clear(&slurm);
    return rv;
}
