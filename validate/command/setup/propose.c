/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/setup/setup.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/regular_file.h"
#include "lib/slurm/own_name.h"
#include "validate/command/plugstack.h"

enum { PATH_MOST = 1024 };

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

/* The text of a file below root; *text NULL where there is none. Returns 0, or -1 with err. */
static int file_read(const struct node_view *node_view, const char *path, char **text,
                     struct error *err)
{
    char whole[PATH_MOST];

    *text = NULL;
    snprintf(whole, sizeof whole, "%s%s", node_view->root, path);
    return regular_file_read(whole, SETUP_TEXT_MOST, text, err) < 0 ? -1 : 0;
}

/* Adds the file with lines in a block. Returns 0, or -1 with err. */
static int lines_add(const struct node_view *node_view, const char *path, const char *lines,
                     const char *replaces, struct setup_files *files, struct error *err)
{
    struct setup_file *file = &files->items[files->count];

    if (file_read(node_view, path, &file->before, err) != 0)
        return -1;
    snprintf(file->path, sizeof file->path, "%s", path);
    file->after = setup_block_put(file->before, lines, replaces);
    files->count++;
    return file->after ? 0 : error_set(err, "no memory for %s", path);
}

/* Whether a line of the text, without the blanks before it, begins so. */
static bool has_line(const char *text, const char *begin)
{
    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += strspn(at, " \t\n");
        if (strncmp(at, begin, strlen(begin)) == 0)
            return true;
    }
    return false;
}

/* Where the plugin's line may stand. The package's is in a folder of its own. */
struct stack {
    char paths[2][PATH_MOST]; /* plugstack.conf, and muster.conf of what it includes */
    char *texts[2];
};

static int stack_read(const struct node_view *node_view, const char *directory,
                      const struct slurm_lines *slurm, struct stack *stack, struct error *err)
{
    plugstack_path(slurm, directory, stack->paths[0], PATH_MOST);
    snprintf(stack->paths[1], PATH_MOST, "%.900s.d/muster.conf", stack->paths[0]);
    if (file_read(node_view, stack->paths[0], &stack->texts[0], err) != 0)
        return -1;
    if (stack->texts[0] && has_line(stack->texts[0], "include") &&
        strstr(stack->texts[0], "plugstack.conf.d"))
        return file_read(node_view, stack->paths[1], &stack->texts[1], err);
    return 0;
}

static int plugin_propose(const struct node_view *node_view, const char *directory,
                          const struct slurm_lines *slurm, struct setup_files *files,
                          struct error *err)
{
    char need[PLUGSTACK_NEED];
    struct stack stack = {0};
    int rv = stack_read(node_view, directory, slurm, &stack, err);

    if (rv == 0 && !plugstack_loads(node_view->root, stack.paths[0], need)) {
        bool is_packaged = stack.texts[1] && has_line(stack.texts[1], commented_plugin_line);

        rv = lines_add(node_view, stack.paths[is_packaged], plugin_line,
                       is_packaged ? commented_plugin_line : NULL, files, err);
    }
    free(stack.texts[0]);
    free(stack.texts[1]);
    return rv;
}

/* Names of interfaces, or of ports that have none, as FabricInterfaces takes them. */
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

/* What this node's fabric is, so that a node that lacks a part of it is found. A head that is no
 * node has none to tell of. */
static int node_propose(const struct node_view *node_view, const struct slurm_lines *slurm,
                        struct setup_files *files, struct hostlist *notes, struct error *err)
{
    const struct conf *conf = &node_view->conf;
    char *lines = NULL, *rails = rails_text(&node_view->fabric), name[256], host[256];
    const char *path = conf_default_path();
    size_t size;
    FILE *stream;
    int rv = 0;

    own_name(node_view->root, host, sizeof host);
    if (!slurm_node_of_host(slurm, host, name, sizeof name)) {
        free(rails);
        return hostlist_append(notes, "This host is not a node of slurm.conf: run muster setup on "
                                      "a node for muster.conf lines about interfaces and GPUs");
    }
    stream = open_memstream(&lines, &size);
    if (!stream) {
        free(rails);
        return error_set(err, "no memory for %s", path);
    }
    if (!*conf->management_interface && node_view->fabric.management)
        fprintf(stream, "ManagementInterface=%s\n", node_view->fabric.management->name);
    if (conf->fabric_interfaces.count == 0 && rails)
        fprintf(stream, "FabricInterfaces=%s\n", rails);
    if (conf->gpus_per_node < 0 && node_view->inventory->gpu_count > 0)
        fprintf(stream, "GPUsPerNode=%zu\n", node_view->inventory->gpu_count);
    if (fclose(stream) != 0)
        rv = error_set(err, "no memory for %s", path);
    else if (*lines)
        rv = lines_add(node_view, path, lines, NULL, files, err);
    free(lines);
    free(rails);
    return rv;
}

/* slurmd's health check. What slurm.conf says of it already is the site's. */
static int health_propose(const struct node_view *node_view, const char *directory,
                          const struct slurm_lines *slurm, struct setup_files *files,
                          struct hostlist *notes, struct error *err)
{
    static const char *const others[][2] = {{"HealthCheckInterval", "300"},
                                            {"HealthCheckNodeState", "ANY,CYCLE"}};
    char program[512], value[64], path[PATH_MOST], lines[1024], note[1200];
    int length;

    if (slurm_lines_value(slurm, "HealthCheckProgram", program, sizeof program)) {
        if (strcmp(program, health_check) == 0)
            return 0;
        snprintf(note, sizeof note,
                 "HealthCheckProgram is %s: let it call %s, which takes at most a second", program,
                 health_check);
        return hostlist_append(notes, note);
    }
    if (strncmp(directory, "/run/", 5) == 0)
        return hostlist_append(
            notes,
            "slurm.conf comes from slurmctld: run muster setup on its host for the health check");
    length = snprintf(lines, sizeof lines, "HealthCheckProgram=%s\n", health_check);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!slurm_lines_value(slurm, others[i][0], value, sizeof value))
            length += snprintf(lines + length, sizeof lines - (size_t)length, "%s=%s\n",
                               others[i][0], others[i][1]);
    snprintf(path, sizeof path, "%.900s/slurm.conf", directory);
    return lines_add(node_view, path, lines, NULL, files, err);
}

/* slurm.conf, and where it is. Returns 0, or -1 with err. */
static int slurm_read(const struct node_view *node_view, char *directory, size_t size,
                      struct slurm_lines *slurm, struct error *err)
{
    int rv = slurm_directory(node_view->root, directory, size, err);

    if (rv == 0)
        rv = slurm_lines_read(node_view->root, directory, "slurm.conf", slurm, err);
    return rv == 1 ? error_set(err, "%s/slurm.conf: no such file", directory) : rv;
}

int setup_propose(const struct node_view *node_view, struct setup_files *files,
                  struct hostlist *notes, struct error *err)
{
    struct slurm_lines slurm = {0};
    char directory[512];
    int rv = slurm_read(node_view, directory, sizeof directory, &slurm, err);

    if (rv == 0)
        rv = plugin_propose(node_view, directory, &slurm, files, err);
    if (rv == 0)
        rv = node_propose(node_view, &slurm, files, notes, err);
    if (rv == 0)
        rv = health_propose(node_view, directory, &slurm, files, notes, err);
    slurm_lines_clear(&slurm);
    return rv;
}

/* Adds the file where it has a block. Returns 0, or -1 with err. */
static int block_add(const struct node_view *node_view, const char *path, struct setup_files *files,
                     struct error *err)
{
    struct setup_file *file = &files->items[files->count];
    int blocks = 0;

    file->after = NULL;
    if (file_read(node_view, path, &file->before, err) != 0)
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

int setup_undo(const struct node_view *node_view, struct setup_files *files, struct error *err)
{
    struct slurm_lines slurm = {0};
    char directory[512], path[PATH_MOST];
    struct stack stack = {0};
    int rv = slurm_read(node_view, directory, sizeof directory, &slurm, err);

    if (rv == 0)
        rv = stack_read(node_view, directory, &slurm, &stack, err);
    for (int i = 0; rv == 0 && i < 2; i++)
        rv = block_add(node_view, stack.paths[i], files, err);
    if (rv == 0)
        rv = block_add(node_view, conf_default_path(), files, err);
    snprintf(path, sizeof path, "%.900s/slurm.conf", directory);
    if (rv == 0)
        rv = block_add(node_view, path, files, err);
    free(stack.texts[0]);
    free(stack.texts[1]);
    slurm_lines_clear(&slurm);
    return rv;
}
