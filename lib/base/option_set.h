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
    OPTION_TEXT,   /* const char *: the value, as lasting as argv */
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
    const char *value; /* what its value is called, "LIST"; NULL: it has none */
    const char *help;  /* NULL: not in --help, as a second name is not */
    enum option_kind kind;
    size_t offset; /* of its field in the context */
    double low, high;
    const char *choices; /* all that a value may be: "quick|standard|full"; NULL: anything */
    const char *initial; /* the value of an option that is not given; NULL: its field stays */
    const char *unset;   /* instead, for --help: what happens then, "all"; NULL: nothing to say */
    const char *now;     /* not NULL: an old name of this row, which has all the rest */
    /* Puts value (NULL without one) into field. Returns 0, or -1 with err "expected ..., found
     * ...". */
    int (*take)(const char *value, void *field, struct error *err);
};

/* A row: kind without OPTION_; then the field and what else there is, by name:
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
    const char *name;    /* "muster certify": for messages, and to find the page */
    const char *usage;   /* lines, as in the page's SYNOPSIS */
    const char *summary; /* paragraphs, which --help wraps; a line that begins with a blank stays */
    const char *status;  /* "0 good, 1 ..." */
    const struct option_row *rows;    /* up to one without a name */
    const struct option_row *common;  /* more of them, with a context of their own; NULL: none */
    void (*print_more)(FILE *stream); /* below the options; NULL: nothing */
    int words;                        /* how many arguments may be no options */
    const char *words_hint;           /* what to do about one too many; NULL: nothing to say */
    bool has_input; /* the value "-" is the next line of standard input: a list may be longer than
                       an argument can be */
};

enum option_request { OPTION_RUN, OPTION_HELP, OPTION_VERSION, OPTION_TABLE, OPTION_MISUSE };

/* Reads argv into context and, for the common rows, common, both of which have the initial values
 * before. Options may stand behind other
 * arguments, which are in argv from optind (getopt(3)) on. Prints nothing: err has what is wrong
 * for OPTION_MISUSE, a warning of an old name or "" for OPTION_RUN. */
enum option_request option_set_parse(const struct option_set *set, int argc, char **argv,
                                     void *context, void *common, struct error *err);

/* For take(): adds the words of value, "compute,memory", to set, bit i for the word i of names,
 * which are written in the same way. Returns 0, or -1 with err. */
int option_words_take(const char *value, const char *names, unsigned *set, struct error *err);

/* Prints what was requested: help within 80 columns; the version; or, for completion, a line for
 * each option: name, letter, value, choices and help with tabs between, "-" for none. */
void option_set_print(const struct option_set *set, enum option_request request, FILE *stream);

#endif
