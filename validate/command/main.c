/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/stdout_flush.h"
#include "validate/command/command.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct command {
    const char *name;
    const char *help;
    int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
    {"certificate", "show, verify, issue or renew this node's certificate", command_certificate},
    {"certify", "test nodes, certify the good ones, drain the bad ones", command_certify},
    {"check", "check this node alone", command_check},
    {"compare", "find nodes that differ from others, and how", command_compare},
    {"conf", "print or check the configuration", command_configuration},
    {"doctor", "check what muster needs, and print what to fix", command_doctor},
    {"explain", "show the environment that tasks get on this node, and why", command_explain},
    {"history", "show what earlier certifications found", command_history},
    {"interfaces", "show, make or undo the interface settings for jobs", command_interfaces},
    {"inventory", "show the hardware of this node and its fabric", command_inventory},
    {"plan", "plan a training job from measurements of the cluster", command_plan},
    {"policy", "find mistakes in how the cluster's scheduling is configured", command_policy},
    {"preflight", "inside a job: test its nodes before its work, keep the best", command_preflight},
    {"reference", "show reference values for hardware like this node's", command_reference},
    {"report", "report a run as table, HTML page, JUnit, metrics or CSV", command_report},
    {"reserve", "keep nodes without a certificate in a reservation", command_reserve},
    {"revoke", "remove the certificates of this node or of others", command_revoke},
    {"run", "inside a job: run a command, restart it without a node at fault", command_run},
    {"setup", "propose changes to the site's files, make or undo them", command_setup},
    {"suspects", "list or remove suspect reports of users' preflights", command_suspects},
    {"top", "show the progress of certifications on this host", command_top},
    {"topology", "show which rails serve which GPU, and check the network", command_topology},
    {"watch", "find the rank, node or rail that holds up a running job", command_watch},
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
          "muster help COMMAND prints its options; muster-COMMAND(1) has all details.\n"
          "Exit status: 0 good, 1 a fault was found, 2 usage, 3 could not tell.\n",
          stream);
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    fprintf(stderr, "muster: unknown command '%s'; muster --help lists all commands\n", name);
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

/* Makes the process independent of standard files closed and signals ignored by its parent. */
static void process_prepare(void)
{
    /* No file of ours gets a descriptor up to 2. Using a closed one fails as before. */
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, no child can be waited for */
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    const struct command *command;

    process_prepare();
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
        fprintf(stderr, "muster: unknown option '%s' before the command; see muster --help\n",
                name);
        return COMMAND_USAGE;
    }
    command = find_command(name);
    return command ? close_output(run_command(command, argc - 1, argv + 1)) : COMMAND_USAGE;
}
