/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/tree.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/regular_file.h"
#include "lib/node/inventory.h"

static void bail(const char *what)
{
    printf("Bail out! %s\n", what);
    exit(255);
}

static void run(const char *command)
{
    if (system(command) != 0)
        bail(command);
}

const char *tree_text(const char *path)
{
    static char *text;

    free(text);
    return regular_file_read(path, 1 << 20, &text, NULL) == 0 ? text : "nothing";
}

struct inventory *tree_inventory(const char *name)
{
    char *root = tree_unpack(name);
    struct error err = {""};
    struct inventory *inventory = inventory_read(root, &err);

    tree_remove(root);
    if (!inventory)
        bail(err.text);
    return inventory;
}

char *tree_unpack(const char *name)
{
    const char *source = getenv("top_srcdir"), *tmp = getenv("TMPDIR");
    char root[PATH_MAX], command[3 * PATH_MAX];

    if (!tmp) /* in memory, as a tree is hundreds of small files */
        tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(root, sizeof root, "%s/muster-tree-XXXXXX", tmp);
    if (!mkdtemp(root))
        bail("no temporary directory");
    if (name[0]) {
        snprintf(command, sizeof command,
                 "'%s/tests/fixtures/unpack' '%s/tests/fixtures/%s.tree' '%s'",
                 source ? source : ".", source ? source : ".", name, root);
        run(command);
    }
    return strdup(root);
}

void tree_remove(char *root)
{
    char command[PATH_MAX + 16];

    snprintf(command, sizeof command, "rm -rf '%s'", root);
    run(command);
    free(root);
}

void tree_put(const char *root, const char *path, const char *content)
{
    tree_put_bytes(root, path, content, strlen(content));
}

void tree_put_bytes(const char *root, const char *path, const void *bytes, size_t size)
{
    char full_path[PATH_MAX];
    FILE *file;

    snprintf(full_path, sizeof full_path, "%s/%s", root, path);
    for (char *slash = full_path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(full_path, 0755);
        *slash = '/';
    }
    unlink(full_path);
    file = fopen(full_path, "w");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        bail(full_path);
}
