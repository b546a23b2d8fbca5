/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMMAND_H
#define MUSTER_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/base/record.h"
#include "lib/conf/conf.h"
#include "lib/fabric/fabric.h"

/* The sub-commands of muster. Each is a function of the form of main(), in a file or a folder of
 * its name: argv[0] is "muster NAME", for messages; it returns the exit status and prints its own
 * --help. A new one gets a declaration here and a line in the table of main.c. */
int command_certificate(int argc, char **argv);
int command_certify(int argc, char **argv);
int command_check(int argc, char **argv);
int command_claim(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_configuration(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_explain(int argc, char **argv);
int command_history(int argc, char **argv);
int command_interfaces(int argc, char **argv);
int command_inventory(int argc, char **argv);
int command_preflight(int argc, char **argv);
int command_reference(int argc, char **argv);
int command_report(int argc, char **argv);
int command_reserve(int argc, char **argv);
int command_revoke(int argc, char **argv);
int command_setup(int argc, char **argv);
int command_topology(int argc, char **argv);

/* muster revoke -w: removes the certificates of those nodes, in Slurm's notation, by a small job on
 * each. Returns the exit status. */
int revoke_nodes(const char *command, const char *list, bool as_json);

/* The exit statuses of all sub-commands. */
enum {
    COMMAND_PASS = 0,
    COMMAND_FAIL = 1,
    COMMAND_USAGE = 2,
    COMMAND_UNKNOWN = 3, /* could not tell */
};

/* Reads the configuration: path when given (it must exist), else $MUSTER_CONF (likewise), else the
 * default path if there is such a file. Returns COMMAND_PASS, or COMMAND_USAGE with a message
 * printed. conf is always releasable. */
int command_conf(const char *name, const char *path, struct conf *conf);

/* The name of a node: what --node said (NULL: nothing), else own_name() below root. In static
 * memory. */
const char *command_node(const char *said, const char *root);

/* As getopt_long(), which it calls; an option with an empty value, as a shell's variable that is
 * not set leaves it, is '?' after a line that names it. */
struct option;
int command_option(int argc, char **argv, const char *letters, const struct option *table);

/* For its '?': prints where help is. Returns COMMAND_USAGE. */
int command_usage_error(const char *name);

/* The same after a line that says what is wrong with the options or words. */
int command_misuse(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads the seconds that an option is given; what: "jitter", for the message. Returns -1 to go on,
 * or COMMAND_USAGE after a line that says what was found and what is allowed. */
int command_seconds(const char *name, const char *what, const char *text, double least, double most,
                    double *seconds);

/* As command_misuse() for a word too many, which it names. */
int command_word_error(const char *name, const char *word);

/* What the sub-commands take that look at a node and nothing else. */
struct look_options {
    const char *name;          /* "muster inventory" */
    const char *root, *config; /* NULL: not given */
    bool as_json, has_word;
};

/* Reads -c, -h, -j and -r; word is one more without a value, which sets has_word, and letter its
 * short form, '\0' none; word NULL: there is none. Returns -1 to go on, else the exit status. */
int command_look_options(int argc, char **argv, const char *word, char letter,
                         void (*print_help)(void), struct look_options *look);

/* A node as they see it. */
struct look {
    const char *root; /* of a recorded tree; "": this machine */
    struct conf conf;
    struct inventory *inventory; /* NULL: it could not be read */
    struct fabric fabric;
};

/* Reads the configuration, for a recorded tree (root not NULL) only if config names one, and the
 * node, and chooses its fabric. name is for messages. Returns COMMAND_PASS, else the exit status
 * after a line that says why. look is to be closed in any case. */
int command_look_open(const char *name, const char *root, const char *config, struct look *look);

void command_look_close(struct look *look);

/* The verdict's name, padded to the longest one ("unknown"), coloured if has_colour. */
void command_print_verdict(FILE *stream, enum verdict verdict, bool has_colour);

/* Prints text, rows that end in a newline of cells that end in a tab, as a table: every column as
 * wide as its widest cell, two spaces between, none at the end of a line. */
void command_print_table(FILE *stream, const char *text);

#endif
