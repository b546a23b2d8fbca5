/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/option_set.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/read_all.h"
#include "lib/base/text.h"

enum { ROWS_MOST = 64, LONG_BASE = 256, INPUT_MOST_BYTES = 64 << 20 };
enum { COLUMNS = 79, HELP_COLUMN_MOST = 26 };

static const struct option_row own_rows[] = {
    OPTION('h', "help", NULL, "this text", FLAG),
    OPTION('V', "version", NULL, "the version", FLAG),
    OPTION('\0', "option-table", NULL, NULL, FLAG),
    OPTION_END,
};

/* Lists all rows of a set: the program's, the common rows, the rows of all programs. own: gets the
 * index of the first row of each. Returns the number of rows. */
static size_t list_rows(const struct option_set *set, const struct option_row *all[ROWS_MOST],
                        size_t *own)
{
    const struct option_row *const tables[] = {set->rows, set->common, own_rows};
    size_t count = 0;

    for (int i = 0; i < 3; i++) {
        if (i < 2)
            own[i] = count;
        for (const struct option_row *row = tables[i]; row && row->name; row++) {
            if (count == ROWS_MOST) /* must not happen: the table is too small */
                abort();
            all[count++] = row;
        }
        if (i == 1)
            own[2] = count;
    }
    return count;
}

static size_t find_row(const struct option_row *const *all, const char *name)
{
    size_t i = 0;

    while (strcmp(all[i]->name, name) != 0)
        i++;
    return i;
}

/* --------------------------------------------------------------------------------- parsing */

/* Formats "a|b|c" as "a, b or c". */
static void list_choices(const char *choices, char *text, size_t size)
{
    const char *last = strrchr(choices, '|');

    *text = '\0';
    for (size_t length; *choices; choices += length + (choices[length] == '|')) {
        length = strcspn(choices, "|");
        text_join(text, size, last && choices > last ? " or " : ", ", "%.*s", (int)length, choices);
    }
}

/* Returns the index, or -1 with err. */
static int find_choice(const char *choices, const char *value, struct error *err)
{
    size_t length = strlen(value);
    char text[256];
    int index = 0;

    for (const char *word = choices;; word++, index++) {
        size_t end = strcspn(word, "|");

        if (end == length && strncmp(word, value, length) == 0)
            return index;
        word += end;
        if (!*word)
            break;
    }
    list_choices(choices, text, sizeof text);
    return error_set(err, "expected %s, found \"%s\"", text, value);
}

static int parse_number(const struct option_row *row, const char *value, double *number,
                        struct error *err)
{
    bool is_whole = row->kind != OPTION_DOUBLE && row->kind != OPTION_SECONDS;
    char *end;

    errno = 0;
    *number = is_whole ? (double)strtoll(value, &end, 10) : strtod(value, &end);
    if (end == value || *end || errno || !(*number >= row->low && *number <= row->high))
        return error_set(err, "expected %s from %.15g to %.15g, found \"%s\"",
                         row->kind == OPTION_SECONDS ? "seconds" : "a number", row->low, row->high,
                         value);
    return 0;
}

static int parse_size(const struct option_row *row, const char *value, long long *size_bytes,
                      struct error *err)
{
    static const char units[] = "KMG";
    const char *unit;
    char *end;
    long long found, factor = 1;

    errno = 0;
    found = strtoll(value, &end, 10);
    if (end != value && *end && (unit = strchr(units, toupper((unsigned char)*end)))) {
        factor = 1LL << 10 * (unit - units + 1);
        end++;
    }
    if (end == value || *end || errno || found < 0 || (double)found > row->high / (double)factor ||
        (double)(found * factor) < row->low)
        return error_set(err, "expected a size from %.0f to %.0f bytes (64K, 1M), found \"%s\"",
                         row->low, row->high, value);
    *size_bytes = found * factor;
    return 0;
}

static int parse_value(const struct option_row *row, const char *value, void *context,
                       struct error *err)
{
    void *field = (char *)context + row->offset;
    double number = 0;
    int index = 0;

    if (row->choices && (index = find_choice(row->choices, value, err)) < 0)
        return -1;
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return 0;
    case OPTION_TEXT:
        *(const char **)field = value;
        return 0;
    case OPTION_CHOICE:
        *(int *)field = index;
        return 0;
    case OPTION_SIZE:
        return parse_size(row, value, field, err);
    case OPTION_CALL:
        return row->take(value, field, err);
    case OPTION_INT:
    case OPTION_LONG:
    case OPTION_DOUBLE:
    case OPTION_SECONDS:
        break;
    }
    if (parse_number(row, value, &number, err) != 0)
        return -1;
    if (row->kind == OPTION_INT)
        *(int *)field = (int)number;
    else if (row->kind == OPTION_LONG)
        *(long *)field = (long)number;
    else
        *(double *)field = number;
    return 0;
}

static void set_initial(const struct option_row *row, void *context)
{
    struct error err;

    if (row->initial && parse_value(row, row->initial, context, &err) != 0)
        abort(); /* must not happen: the table has an invalid initial value */
}

/* Returns the next line of standard input, which stays valid until the process ends, as argv does;
 * NULL with err. */
static const char *value_from_input(struct error *err)
{
    static char *text, *rest;

    if (!text)
        rest = text = read_to_end(STDIN_FILENO, INPUT_MOST_BYTES, err);
    else if (!rest)
        error_set(err, "no more lines");
    if (!rest)
        error_prefix(err, "standard input");
    return strsep(&rest, "\n");
}

static int parse_option(const struct option_set *set, const struct option_row *row, void *context,
                        struct error *err)
{
    const char *value = row->value ? optarg : NULL;
    int rv = 0;

    if (row->value && !*value)
        return error_set(err, "option --%s needs an argument, %s", row->name, row->value);
    if (set->has_input && value && strcmp(value, "-") == 0 && !(value = value_from_input(err)))
        rv = -1;
    if (rv != 0 || parse_value(row, value, context, err) != 0)
        return error_prefix(err, "option --%s", row->name);
    return 0;
}

/* Sets err to the reason why getopt_long() returned '?' or ':'. row: the option; NULL: unknown. */
static void describe_misuse(int found, const struct option_row *row, const struct option *longs,
                            const char *word, struct error *err)
{
    int length = (int)strcspn(word, "="), matches = 0;

    for (; longs->name; longs++)
        matches += length > 2 && strncmp(longs->name, word + 2, (size_t)length - 2) == 0;

    if (found == ':')
        error_set(err, "option --%s needs an argument, %s", row->name, row->value);
    else if (row)
        error_set(err, "option --%s takes no argument", row->name);
    else if (optopt)
        error_set(err, "unknown option -%c", optopt);
    else
        error_set(err, "%s option %.*s", matches > 1 ? "ambiguous" : "unknown", length, word);
}

enum option_request option_set_parse(const struct option_set *set, int argc, char **argv,
                                     void *context, void *common, struct error *err)
{
    const struct option_row *all[ROWS_MOST];
    struct option longs[ROWS_MOST + 1] = {{0}};
    char letters[2 * ROWS_MOST + 2] = ":", *letter = letters + 1;
    size_t own[3], count = list_rows(set, all, own);
    struct error warning = {""};
    int found;

    for (size_t i = 0; i < count; i++) {
        const struct option_row *row = all[i];
        const struct option_row *same = row->now ? all[find_row(all, row->now)] : row;

        set_initial(row, i >= own[1] ? common : context);
        longs[i] = (struct option){row->name, same->value ? required_argument : no_argument, NULL,
                                   LONG_BASE + (int)i};
        if (row->letter) {
            *letter++ = row->letter;
            if (row->value)
                *letter++ = ':';
        }
    }
    *letter = '\0';
    opterr = 0;
    optind = 0; /* GNU getopt: 0 restarts at the first argument, whatever was read before */
    while ((found = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        int wanted = found == '?' || found == ':' ? optopt : found;
        const struct option_row *row = NULL;
        size_t index;

        for (index = 0; index < count && !row; index++)
            if (wanted == LONG_BASE + (int)index || (wanted && wanted == all[index]->letter))
                row = all[index];
        index--;
        if (found == '?' || found == ':') {
            describe_misuse(found, row, longs, argv[optind - 1], err);
            return OPTION_MISUSE;
        }
        if (index >= own[2])
            return OPTION_HELP + (enum option_request)(index - own[2]);
        if (row->now) {
            error_set(&warning, "option --%s is now --%s", row->name, row->now);
            index = find_row(all, row->now);
            row = all[index];
        }
        if (parse_option(set, row, index >= own[1] ? common : context, err) != 0)
            return OPTION_MISUSE;
    }
    if (argc - optind > set->words) {
        error_set(err, "unexpected argument \"%s\"%s%s", argv[optind + set->words],
                  set->words_hint ? "; " : "", set->words_hint ? set->words_hint : "");
        return OPTION_MISUSE;
    }
    *err = warning;
    return OPTION_RUN;
}

/* -------------------------------------------------------------------------------- printing */

/* Prints text wrapped at COLUMNS, from column on, and further lines from indent on. Does not wrap a
 * line that begins with a blank. */
static void print_wrapped(FILE *stream, int column, int indent, const char *text)
{
    while (*text) {
        int length = (int)strcspn(text, " \n");

        if (column > indent && column + 1 + length > COLUMNS) {
            fprintf(stream, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', stream);
            column++;
        }
        fprintf(stream, "%.*s", length, text);
        column += length;
        text += length;
        if (*text == ' ')
            text++;
        while (*text == '\n') {
            fprintf(stream, "\n%*s", *++text ? indent : 0, "");
            column = indent;
            if (*text == ' ') {
                length = (int)strcspn(text, "\n");
                fprintf(stream, "%.*s", length, text);
                text += length;
            }
        }
    }
    fputc('\n', stream);
}

static void print_row(FILE *stream, const struct option_row *row, bool has_letters, int help_column)
{
    const char *initial = row->initial ? row->initial : row->unset;
    char text[1024], choices[256] = "";
    int column;

    if (row->letter)
        column = fprintf(stream, "  -%c, ", row->letter);
    else
        column = fprintf(stream, "%*s", has_letters ? 6 : 2, "");
    column +=
        fprintf(stream, "--%s%s%s", row->name, row->value ? "=" : "", row->value ? row->value : "");
    if (column + 2 > help_column) {
        fputc('\n', stream);
        column = 0;
    }
    fprintf(stream, "%*s", help_column - column, "");
    if (row->choices)
        list_choices(row->choices, choices, sizeof choices);
    snprintf(text, sizeof text, "%s%s%s%s%s%s", choices, row->choices ? ": " : "", row->help,
             initial ? " [" : "", text_of(initial), initial ? "]" : "");
    print_wrapped(stream, help_column, help_column, text);
}

static void print_help(const struct option_set *set, FILE *stream)
{
    const struct option_row *all[ROWS_MOST];
    size_t own[3], count = list_rows(set, all, own);
    bool has_letters = false;
    int help_column = 0;
    const char *page = strncmp(set->name, "muster ", 7) == 0 ? set->name + 7 : set->name;

    for (size_t i = 0; i < own[2]; i++)
        has_letters |= all[i]->letter != '\0';
    for (size_t i = 0; i < count; i++) {
        int width = (has_letters ? 6 : 2) + 2 + (int)strlen(all[i]->name) + 2;

        if (all[i]->value)
            width += 1 + (int)strlen(all[i]->value);
        if (all[i]->help && width > help_column && width <= HELP_COLUMN_MOST)
            help_column = width;
    }
    fprintf(stream, "Usage: %s%s", set->usage ? "" : set->name, set->usage ? "" : " [OPTION...]");
    for (const char *line = text_of(set->usage); *line; line++) {
        fputc(*line, stream);
        if (*line == '\n')
            fprintf(stream, "%*s", 7, "");
    }
    fputc('\n', stream);
    print_wrapped(stream, 0, 0, set->summary);
    fputc('\n', stream);
    for (size_t i = 0; i < count; i++)
        if (all[i]->help)
            print_row(stream, all[i], has_letters || i >= own[2], help_column);
    if (set->print_more) {
        fputc('\n', stream);
        set->print_more(stream);
    }
    fputs("\nExit status:", stream);
    print_wrapped(stream, 12, 0, set->status);
    fprintf(stream, "Manual page: %s%.*s(1)\n", page == set->name ? "" : "muster-",
            (int)strcspn(page, " "), page);
}

static void print_table(const struct option_set *set, FILE *stream)
{
    const struct option_row *all[ROWS_MOST];
    size_t own[3], count = list_rows(set, all, own);

    for (size_t i = 0; i < count; i++) {
        const struct option_row *row = all[i];

        if (row->help)
            fprintf(stream, "--%s\t-%.1s\t%s\t%s\t%s\n", row->name, &row->letter,
                    row->value ? row->value : "-", row->choices ? row->choices : "-", row->help);
    }
}

void option_set_print(const struct option_set *set, enum option_request request, FILE *stream)
{
    if (request == OPTION_VERSION)
        fprintf(stream, "%s %s\n", set->name, PACKAGE_VERSION);
    else if (request == OPTION_TABLE)
        print_table(set, stream);
    else
        print_help(set, stream);
}

/* Returns the index of a word among comma-separated names, or -1. */
static int find_word(const char *names, const char *word, size_t length)
{
    int position = 0;

    for (const char *name = names; name; name = strchr(name, ','), position++) {
        name += *name == ',';
        if (strcspn(name, ",") == length && strncmp(name, word, length) == 0)
            return position;
    }
    return -1;
}

int option_words_parse(const char *value, const char *names, unsigned *set, struct error *err)
{
    for (const char *word = value; word; word = strchr(word, ',')) {
        int position;

        word += *word == ',';
        position = find_word(names, word, strcspn(word, ","));
        if (position < 0)
            return error_set(err, "expected some of %s, found \"%s\"", names, value);
        *set |= 1U << position;
    }
    return 0;
}
