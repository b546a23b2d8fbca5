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

static bool loads(const char *root, const char *path, int depth, char need[PLUGSTACK_NEED])
{
    char whole[PATH_MAX], line[1024], second[512], name[2048];
    bool has_plugin = false;
    FILE *file;

    snprintf(whole, sizeof whole, "%s%s", root, path);
    file = fopen(whole, "re");
    while (file && !has_plugin && fgets(line, sizeof line, file)) {
        glob_t names = {0};

        if (sscanf(line, " %15[a-z] %511s", need, second) != 2)
            continue;
        if (*second == '/' || !path_beside(path, second, name, sizeof name))
            snprintf(name, sizeof name, "%s", second);
        snprintf(whole, sizeof whole, "%s%s", root, name);
        if (strcmp(need, "include") != 0)
            has_plugin = strstr(second, "spank_muster");
        else if (depth < INCLUDES_DEEP && glob(whole, 0, NULL, &names) == 0)
            for (size_t i = 0; !has_plugin && i < names.gl_pathc; i++)
                has_plugin = loads(root, names.gl_pathv[i] + strlen(root), depth + 1, need);
        globfree(&names);
    }
    if (file)
        fclose(file);
    return has_plugin;
}

bool plugstack_loads(const char *root, const char *path, char need[PLUGSTACK_NEED])
{
    return loads(root, path, 0, need);
}
