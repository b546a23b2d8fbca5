/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "lib/base/stdout_flush.h"
#include "validate/command/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct command {
    const char *name;
    const char *help;
    int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
    {"certificate", "what this node's certificate says, whether it holds", command_certificate},
    {"certify", "test nodes, certify the good ones, drain the bad ones", command_certify},
    {"check", "what this node can tell about itself, in under a second", command_check},
    {"claim", "what users' preflights hold against nodes", command_claim},
    {"compare", "which nodes differ from the others, and in what", command_compare},
    {"conf", "the configuration in force, or whether a file is good", command_configuration},
    {"doctor", "all that muster needs, where it lacks, and the cure", command_doctor},
    {"explain", "the environment that tasks get on this node, and why", command_explain},
    {"history", "what earlier certifications found", command_history},
    {"interfaces", "the settings of this node's interfaces that jobs get", command_interfaces},
    {"inventory", "what this node is made of, and its fabric", command_inventory},
    {"preflight", "inside a job: test its nodes before its work, keep the best", command_preflight},
    {"reference", "what others measure on hardware like this node's", command_reference},
    {"report", "what a run found, as table, page, JUnit, metrics or CSV", command_report},
    {"reserve", "nodes without a certificate wait in a reservation for it", command_reserve},
    {"revoke", "remove this node's certificate", command_revoke},
    {"setup", "the lines that muster wants in the site's files, and takes back", command_setup},
    {"topology", "how near GPUs and rails are, which rails serve which GPU", command_topology},
    /* end of commands */
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *stream)
{
    fputs("Usage: muster COMMAND [OPTION...]\n"
          "Verifies the nodes of a cluster before jobs run on them.\n"
          "\n"
          "Commands:\n",
          stream);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(stream, "  %-12s  %s\n", commands[i].name, commands[i].help);
    fputs("\n"
          "muster help COMMAND, or muster COMMAND --help, says more; so does muster(1).\n"
          "Exit status: 0 good, 1 a fault was found, 2 usage, 3 could not tell.\n",
          stream);
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    fprintf(stderr, "muster: no command '%s'; muster --help lists them\n", name);
    return NULL;
}

static int close_output(int status)
{
    return stdout_flush("muster") != 0 && status == COMMAND_PASS ? COMMAND_UNKNOWN : status;
}

static int run_command(const struct command *command, int argc, char **argv)
{
    char name[64];

    snprintf(name, sizeof name, "muster %s", command->name);
    argv[0] = name;
    return command->run(argc, argv);
}

static int run_help(const char *name)
{
    const struct command *command = find_command(name);
    char help[] = "--help", *arguments[] = {NULL, help, NULL};

    return command ? run_command(command, 2, arguments) : COMMAND_USAGE;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    const struct command *command;

    if (!name[0]) {
        print_help(stderr);
        return COMMAND_USAGE;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        puts(PACKAGE_STRING);
        return close_output(COMMAND_PASS);
    }
    if (strcmp(name, "help") == 0 && argc > 2)
        return close_output(run_help(argv[2]));
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help(stdout);
        return close_output(COMMAND_PASS);
    }
    if (name[0] == '-') {
        fprintf(stderr, "muster: no option '%s' before the command; muster --help lists what is\n",
                name);
        return COMMAND_USAGE;
    }
    command = find_command(name);
    return command ? close_output(run_command(command, argc - 1, argv + 1)) : COMMAND_USAGE;
}
