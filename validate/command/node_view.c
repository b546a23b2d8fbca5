/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/command.h"

#include <stdlib.h>
#include <string.h>

#include "lib/slurm/slurm_node_name.h"

int command_conf(const char *name, const char *path, struct conf *conf)
{
    const char *named = path ? path : getenv("MUSTER_CONF");
    struct error err;
    int result = conf_read(named && named[0] ? named : NULL, conf, &err);

    if (result < 0)
        return command_failed(COMMAND_USAGE, name, "%s", err.text);
    if (result == 1 && named && named[0])
        return command_failed(COMMAND_USAGE, name, "%s: no such file", named);
    return COMMAND_PASS;
}

const char *command_node(const char *name, const char *root)
{
    static char node[256];

    if (name && *name)
        return name;
    slurm_node_name(strcmp(root, "/") == 0 ? "" : root, node, sizeof node);
    return node;
}

int command_node_open(const char *name, const char *root, const char *config,
                      struct node_view *node_view)
{
    struct error err;
    int status = COMMAND_PASS;

    *node_view = (struct node_view){.root = root ? root : ""};
    if (root && !config)
        conf_defaults(&node_view->conf);
    else
        status = command_conf(name, config, &node_view->conf);
    if (status != COMMAND_PASS)
        return status;
    node_view->inventory = inventory_read(node_view->root, &err);
    if (!node_view->inventory)
        return command_failed(COMMAND_UNKNOWN, name, "%s", err.text);
    fabric_choose(node_view->inventory, &node_view->conf, &node_view->fabric);
    return COMMAND_PASS;
}

void command_node_close(struct node_view *node_view)
{
    inventory_free(node_view->inventory);
    conf_clear(&node_view->conf);
}

int command_on_node(const struct option_set *set, int argc, char **argv,
                    int (*run)(const struct node_options *options,
                               const struct node_view *node_view))
{
    static struct node_view node_view;
    struct node_options options = {0};
    int status = command_options(set, argc, argv, &options);

    if (status >= 0)
        return status;
    status = command_node_open(argv[0], options.root, options.config, &node_view);
    if (status == COMMAND_PASS)
        status = run(&options, &node_view);
    command_node_close(&node_view);
    return status;
}
