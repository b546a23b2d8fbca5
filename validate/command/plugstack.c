/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/plugstack.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/path.h"

enum { INCLUDES_DEEP = 3 };

void plugstack_path(const struct slurm_lines *slurm, const char *directory, char *path, size_t size)
{
    if (!slurm_lines_value(slurm, "PlugStackConfig", path, size))
        snprintf(path, size, "%s/plugstack.conf", directory);
}

static bool loads(const char *root, const char *path, int depth, struct plugstack_line *found)
{
    char whole[PATH_MAX], line[1024], name[2048];
    bool has_plugin = false;
    FILE *file;

    snprintf(whole, sizeof whole, "%s%s", root, path);
    file = fopen(whole, "re");
    while (file && !has_plugin && fgets(line, sizeof line, file)) {
        glob_t names = {0};

        if (sscanf(line, " %15[a-z] %511s", found->need, found->file) != 2)
            continue;
        if (*found->file == '/' || !path_beside(path, found->file, name, sizeof name))
            snprintf(name, sizeof name, "%s", found->file);
        snprintf(whole, sizeof whole, "%s%s", root, name);
        if (strcmp(found->need, "include") != 0)
            has_plugin = strstr(found->file, "spank_muster");
        else if (depth < INCLUDES_DEEP && glob(whole, 0, NULL, &names) == 0)
            for (size_t i = 0; !has_plugin && i < names.gl_pathc; i++)
                has_plugin = loads(root, names.gl_pathv[i] + strlen(root), depth + 1, found);
        globfree(&names);
    }
    if (file)
        fclose(file);
    return has_plugin;
}

bool plugstack_loads(const char *root, const char *path, struct plugstack_line *found)
{
    return loads(root, path, 0, found);
}
