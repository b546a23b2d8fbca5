/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/conf/conf.h"
#include "validate/command/command.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_help(void)
{
    puts("Usage: muster conf [OPTION...]\n"
         "Prints the configuration in force: every key of muster.conf(5) with its value, its "
         "meaning\n"
         "and what is allowed. The output is a good muster.conf itself.\n"
         "\n"
         "  -c, --config FILE  the configuration, instead of $MUSTER_CONF or muster.conf\n"
         "  -k, --check        only say whether the configuration is good\n"
         "  -h, --help         this text\n"
         "\n"
         "Exit status: 0 good, 2 bad, with the line at fault.");
}

int command_configuration(int argc, char **argv)
{
    static const struct option options[] = {
        {"check", no_argument, NULL, 'k'},
        {"config", required_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const char *config = NULL, *named;
    bool is_check = false;
    struct conf conf;
    int option, status;

    while ((option = command_option(argc, argv, "c:hk", options)) != -1) {
        switch (option) {
        case 'c':
            config = optarg;
            break;
        case 'h':
            print_help();
            return COMMAND_PASS;
        case 'k':
            is_check = true;
            break;
        default:
            return command_usage_error(argv[0]);
        }
    }
    if (optind < argc)
        return command_word_error(argv[0], argv[optind]);
    status = command_conf(argv[0], config, &conf);
    if (status == COMMAND_PASS && is_check) {
        named = config ? config : getenv("MUSTER_CONF");
        if (!named || !named[0])
            named = conf_default_path();
        printf("%s: %s\n", named,
               access(named, F_OK) == 0 ? "good" : "no such file, the defaults are in force");
    } else if (status == COMMAND_PASS && conf_print(&conf, stdout) != 0) {
        if (!ferror(stdout)) /* else main says it */
            fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
        status = COMMAND_UNKNOWN;
    }
    conf_clear(&conf);
    return status;
}
