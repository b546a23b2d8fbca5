/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_H
#define MUSTER_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/base/option_set.h"
#include "lib/base/record.h"
#include "lib/conf/conf.h"
#include "lib/fabric/fabric.h"

/* The sub-commands of muster. Each is a function of the form of main(), in a file or a folder of
 * its name: argv[0] is "muster NAME", for messages; it returns the exit status and prints its own
 * --help. A new one gets a declaration here and a line in the table of main.c. */
int command_certificate(int argc, char **argv);
int command_certify(int argc, char **argv);
int command_check(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_configuration(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_explain(int argc, char **argv);
int command_history(int argc, char **argv);
int command_interfaces(int argc, char **argv);
int command_inventory(int argc, char **argv);
int command_plan(int argc, char **argv);
int command_policy(int argc, char **argv);
int command_preflight(int argc, char **argv);
int command_reference(int argc, char **argv);
int command_report(int argc, char **argv);
int command_reserve(int argc, char **argv);
int command_revoke(int argc, char **argv);
int command_run(int argc, char **argv);
int command_setup(int argc, char **argv);
int command_suspects(int argc, char **argv);
int command_top(int argc, char **argv);
int command_topology(int argc, char **argv);
int command_watch(int argc, char **argv);

/* muster revoke -w: removes the certificates of the nodes in list (Slurm's notation), by a small
 * job on each. history: the HistoryFile that records this, or NULL. Returns the exit status. */
int revoke_nodes(const char *command, const char *list, bool as_json, const char *history);

/* The exit statuses of all sub-commands. */
enum {
    COMMAND_PASS = 0,
    COMMAND_FAIL = 1,
    COMMAND_USAGE = 2,
    COMMAND_UNKNOWN = 3, /* could not tell */
};

/* Reads the configuration: path if given, else $MUSTER_CONF (both must exist), else the default
 * path if it exists. Returns COMMAND_PASS, or COMMAND_USAGE after printing a message. Release conf
 * in any case. */
int command_conf(const char *name, const char *path, struct conf *conf);

/* Returns the name of the node: `name` of --node, or if NULL slurm_node_name() below root. In
 * static memory. */
const char *command_node(const char *name, const char *root);

/* Reads the options into context, as option_set_parse() does. Returns -1 to continue, with the
 * words in argv from optind (getopt(3)) on; else the exit status, after printing help or an error.
 */
int command_options(const struct option_set *set, int argc, char **argv, void *context);

/* Option rows of several sub-commands; type: the struct that has the field. */
#define COMMAND_CONFIG(type)                                                                       \
    OPTION('c', "config", "FILE", "configuration file, instead of $MUSTER_CONF or muster.conf",    \
           TEXT, OPTION_FIELD(type, config))
#define COMMAND_JSON(type)                                                                         \
    OPTION('j', "json", NULL, "print records as JSON lines, nothing else", FLAG,                   \
           OPTION_FIELD(type, as_json))
#define COMMAND_NODE(type)                                                                         \
    OPTION('n', "node", "NAME",                                                                    \
           "Slurm node name, instead of $SLURMD_NODENAME or this host's name in slurm.conf", TEXT, \
           OPTION_FIELD(type, node))
#define COMMAND_ROOT(type)                                                                         \
    OPTION('r', "root", "DIR",                                                                     \
           "read a recorded tree instead of this machine, and no configuration but a given one",   \
           TEXT, OPTION_FIELD(type, root))

/* Prints an error about the options or words, and where help is. Returns COMMAND_USAGE. */
int command_misuse(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints an error. Returns the exit status. */
int command_failed(int status, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Options of the sub-commands that only read a node. */
struct node_options {
    const char *root, *config; /* NULL: not given */
    bool as_json, is_all;
    bool is_named; /* --node, --fabric, --neighbors: ignored here */
};

/* A node as these sub-commands read it. */
struct node_view {
    const char *root; /* of a recorded tree; "": this machine */
    struct conf conf;
    struct inventory *inventory; /* NULL: it could not be read */
    struct fabric fabric;
};

/* Reads the configuration (for a recorded tree, root not NULL, only if config names one) and the
 * node, and chooses its fabric. name is for messages. Returns COMMAND_PASS, else the exit status
 * after printing an error. Close node_view in any case. */
int command_node_open(const char *name, const char *root, const char *config,
                      struct node_view *node_view);

void command_node_close(struct node_view *node_view);

/* Reads struct node_options and the node, and runs a sub-command that only reads it. Returns its
 * exit status, or one as command_options() and command_node_open(). */
int command_on_node(const struct option_set *set, int argc, char **argv,
                    int (*run)(const struct node_options *options,
                               const struct node_view *node_view));

/* Prints the verdict's name, padded to the longest one ("unknown"), colored if has_colour. */
void command_print_verdict(FILE *stream, enum verdict verdict, bool has_colour);

#endif
