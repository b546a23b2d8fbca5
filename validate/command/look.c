/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/command.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "lib/slurm/own_name.h"

int command_conf(const char *name, const char *path, struct conf *conf)
{
    const char *named = path ? path : getenv("MUSTER_CONF");
    struct error err;
    int result = conf_read(named && named[0] ? named : NULL, conf, &err);

    if (result < 0) {
        fprintf(stderr, "%s: %s\n", name, err.text);
        return COMMAND_USAGE;
    }
    if (result == 1 && named && named[0]) {
        fprintf(stderr, "%s: %s: no such file\n", name, named);
        return COMMAND_USAGE;
    }
    return COMMAND_PASS;
}

const char *command_node(const char *said, const char *root)
{
    static char node[256];

    if (said && *said)
        return said;
    own_name(strcmp(root, "/") == 0 ? "" : root, node, sizeof node);
    return node;
}

int command_look_options(int argc, char **argv, const char *word, char letter,
                         void (*print_help)(void), struct look_options *look)
{
    const char letters[] = {'c', ':', 'h', 'j', 'r', ':', letter, '\0'};
    enum { WORD = 256 };
    const struct option options[] = {
        {"config", required_argument, NULL, 'c'}, {"help", no_argument, NULL, 'h'},
        {"json", no_argument, NULL, 'j'},         {"root", required_argument, NULL, 'r'},
        {word, no_argument, NULL, WORD},          {NULL, 0, NULL, 0},
    };
    int option;

    *look = (struct look_options){.name = argv[0]};
    while ((option = command_option(argc, argv, letters, options)) != -1) {
        switch (letter && option == letter ? WORD : option) {
        case 'c':
            look->config = optarg;
            break;
        case 'h':
            print_help();
            return COMMAND_PASS;
        case 'j':
            look->as_json = true;
            break;
        case 'r':
            look->root = optarg;
            break;
        case WORD:
            look->has_word = true;
            break;
        default:
            return command_usage_error(argv[0]);
        }
    }
    return optind < argc ? command_word_error(argv[0], argv[optind]) : -1;
}

int command_look_open(const char *name, const char *root, const char *config, struct look *look)
{
    struct error err;
    int status = COMMAND_PASS;

    *look = (struct look){.root = root ? root : ""};
    if (root && !config)
        conf_defaults(&look->conf);
    else
        status = command_conf(name, config, &look->conf);
    if (status != COMMAND_PASS)
        return status;
    look->inventory = inventory_read(look->root, &err);
    if (!look->inventory) {
        fprintf(stderr, "%s: %s\n", name, err.text);
        return COMMAND_UNKNOWN;
    }
    fabric_choose(look->inventory, &look->conf, &look->fabric);
    return COMMAND_PASS;
}

void command_look_close(struct look *look)
{
    inventory_free(look->inventory);
    conf_clear(&look->conf);
}
