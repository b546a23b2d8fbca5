/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_OPTION_SET_H
#define MUSTER_OPTION_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/base/error.h"

/* The options of a program or sub-command. One table drives parsing, --help, completion by the
 * shell and, by a test, the manual page. All have -h, --help and -V, --version. */

enum option_kind {
    OPTION_FLAG,   /* bool: true */
    OPTION_TEXT,   /* const char *: the value, valid as long as argv */
    OPTION_CHOICE, /* int: the index of the value in choices */
    OPTION_INT,    /* int, long, double: from low to high */
    OPTION_LONG,
    OPTION_DOUBLE,
    OPTION_SECONDS, /* double */
    OPTION_SIZE,    /* long long: bytes; 64K, 1M, 2G are powers of 1024 */
    OPTION_CALL,    /* take() */
};

struct option_row {
    char letter; /* -w; '\0': none */
    const char *name;
    const char *value; /* the name of its value, "LIST"; NULL: it takes no value */
    const char *help;  /* NULL: not in --help, as for a second name */
    enum option_kind kind;
    size_t offset; /* of its field in the context */
    double low, high;
    const char *choices; /* the allowed values: "quick|standard|full"; NULL: any */
    const char *initial; /* the value if the option is not given; NULL: its field is unchanged */
    const char *unset;   /* without initial, for --help: the default in words, "all"; or NULL */
    const char *now;     /* not NULL: this row is an old name of the option `now` */
    /* Stores value (NULL if the option takes none) in field. Returns 0, or -1 with err "expected
     * ..., found ...". */
    int (*take)(const char *value, void *field, struct error *err);
};

/* A row: kind without OPTION_; then the field and other members by name:
 * OPTION('n', "runs", "N", "so many runs", INT, OPTION_FIELD(struct options, runs), .low = 1 ...)
 */
#define OPTION(letter_, name_, value_, help_, kind_, ...)                                          \
    {                                                                                              \
        .letter = letter_, .name = name_, .value = value_, .help = help_, .kind = OPTION_##kind_,  \
        __VA_ARGS__                                                                                \
    }
#define OPTION_FIELD(type, member) .offset = offsetof(type, member)
#define OPTION_RANGE(low_, high_) .low = low_, .high = high_
#define OPTION_OLD(old, current)                                                                   \
    {                                                                                              \
        .name = old, .now = current                                                                \
    }
#define OPTION_END                                                                                 \
    {                                                                                              \
        .name = NULL                                                                               \
    }

struct option_set {
    const char *name;    /* "muster certify": for messages and the manual page's name */
    const char *usage;   /* lines, as in the page's SYNOPSIS; NULL: "NAME [OPTION...]" */
    const char *summary; /* paragraphs for --help, which wraps lines that begin without a blank */
    const char *status;  /* the exit statuses: "0 good, 1 ..." */
    const struct option_row *rows;    /* up to a row without a name */
    const struct option_row *common;  /* more rows, with their own context; NULL: none */
    void (*print_more)(FILE *stream); /* prints more of --help below the options; NULL: nothing */
    int words;                        /* the most arguments that are not options */
    const char *words_hint;           /* advice if there are more; NULL: none */
    bool has_input; /* the value "-" means the next line of standard input, as a list may be longer
                       than an argument can be */
};

enum option_request { OPTION_RUN, OPTION_HELP, OPTION_VERSION, OPTION_TABLE, OPTION_MISUSE };

/* Reads argv into context and, for the common rows, into common, after it has set the initial
 * values of both. Options may follow other arguments, which are in argv from optind (getopt(3)) on.
 * Prints nothing: err is the error for OPTION_MISUSE, and a warning about an old name or "" for
 * OPTION_RUN. */
enum option_request option_set_parse(const struct option_set *set, int argc, char **argv,
                                     void *context, void *common, struct error *err);

/* For take(): adds the words of value, "compute,memory", to set: bit i for word i of names, which
 * has the same format. Returns 0, or -1 with err. */
int option_words_parse(const char *value, const char *names, unsigned *set, struct error *err);

/* Prints the help within 80 columns, the version, or, for completion, one line per option: name,
 * letter, value, choices and help with tabs between, "-" for none. */
void option_set_print(const struct option_set *set, enum option_request request, FILE *stream);

#endif
