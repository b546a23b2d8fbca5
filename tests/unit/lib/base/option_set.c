/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/option_set.h"
#include "tests/unit/tap.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct values {
    bool flag;
    const char *text;
    int choice, whole;
    long large;
    double seconds;
    long long size_bytes;
    int calls;
};

static int count_call(const char *value, void *context, struct error *err)
{
    ((struct values *)context)->calls++;
    return strcmp(value, "bad") == 0 ? error_set(err, "expected good, found \"%s\"", value) : 0;
}

#define FIELD(member) OPTION_FIELD(struct values, member)

static const struct option_row rows[] = {
    OPTION('f', "flag", NULL, "a flag", FLAG, FIELD(flag)),
    OPTION('t', "text", "TEXT",
           "a sentence that is long enough to be wrapped at the right margin of a terminal of "
           "eighty columns",
           TEXT, FIELD(text)),
    OPTION('\0', "hidden", "TEXT", NULL, TEXT, FIELD(text)),
    OPTION('c', "choice", "COLOR", "which", CHOICE, FIELD(choice), .choices = "red|green|blue",
           .initial = "green"),
    OPTION('\0', "whole", "N", "a number", INT, FIELD(whole), OPTION_RANGE(1, 9)),
    OPTION('\0', "large", "N", "a larger one", LONG, FIELD(large), OPTION_RANGE(0, 1e10)),
    OPTION('\0', "a-very-long-name-of-an-option", "N", "below it", LONG, FIELD(large)),
    OPTION('\0', "size", "SIZE", "bytes", SIZE, FIELD(size_bytes), OPTION_RANGE(1, 1 << 30)),
    OPTION('\0', "call", "WORD", "calls", CALL, .take = count_call),
    OPTION_OLD("colour", "choice"),
    OPTION_END,
};
static const struct option_row common_rows[] = {
    OPTION('\0', "time-limit", "SECONDS", "the limit", SECONDS, FIELD(seconds), OPTION_RANGE(1, 60),
           .initial = "20"),
    OPTION_END,
};
static struct option_set set = {
    .name = "muster paint",
    .usage = "muster paint [OPTION...] [WORD]\nmuster paint --flag",
    .summary = "Paints.",
    .status = "0 good, 2 usage.",
    .rows = rows,
    .common = common_rows,
    .words = 1,
    .words_hint = "one is enough",
};
static struct values values, common;
static struct error err;

static enum option_request parse(const char *line)
{
    static char text[256];
    static char *argv[16];
    char *rest = text;
    int argc = 0;

    values = common = (struct values){.choice = -1};
    err.text[0] = '\0';
    snprintf(text, sizeof text, "program %s", line);
    for (char *word; argc < 15 && (word = strsep(&rest, " "));)
        argv[argc++] = strcmp(word, "EMPTY") == 0 ? word + 5 : word;
    argv[argc] = NULL;
    return option_set_parse(&set, argc, argv, &values, &common, &err);
}

static void refused(const char *line, const char *why)
{
    is_int(parse(line), OPTION_MISUSE, "\"%s\" is refused", line);
    is_str(err.text, why, "... because: %s", why);
}

static void test_values(void)
{
    is_int(parse("-f --text=a -c red --whole 9 --large=10000000000 --size 64K --time-limit=2.5"),
           OPTION_RUN, "each kind of value is accepted");
    ok(values.flag && values.choice == 0 && values.whole == 9 && values.large == 10000000000 &&
           values.size_bytes == 65536 && common.seconds == 2.5,
       "... and stored in its field");
    is_str(values.text, "a", "... also a text");
    is_str(err.text, "", "... without a warning");
    is_int(parse("word -ft-"), OPTION_RUN, "options may follow words, and letters may be combined");
    ok(values.flag && values.text && strcmp(values.text, "-") == 0, "... and are stored");
    is_int(optind, 2, "... and optind is that of the word");
    is_int(parse("--hidden=b --call=x --call=y"), OPTION_RUN,
           "a hidden name and a callback, twice");
    ok(values.calls == 2 && strcmp(values.text, "b") == 0, "... are accepted");
    is_int(parse("--colour=blue"), OPTION_RUN, "an old name is accepted");
    is_int(values.choice, 2, "... and sets the new option's field");
    is_str(err.text, "option --colour is now --choice", "... with a warning");
    is_int(parse("--choi=red"), OPTION_RUN, "an unambiguous prefix of a name is accepted");
    is_int(parse("word"), OPTION_RUN, "options that are not given are no error");
    ok(values.choice == 1 && common.seconds == 20, "... their fields have the initial values");
    is_int(values.whole, 0, "... or 0 without an initial value");
}

static void test_misuse(void)
{
    refused("--nonsense=1", "unknown option --nonsense");
    refused("-Z", "unknown option -Z");
    refused("--c=1", "ambiguous option --c");
    refused("--flag=1", "option --flag takes no argument");
    refused("--text", "option --text needs an argument, TEXT");
    refused("-ft", "option --text needs an argument, TEXT");
    refused("--text=", "option --text needs an argument, TEXT");
    refused("-t EMPTY", "option --text needs an argument, TEXT");
    refused("--choice=gree", "option --choice: expected red, green or blue, found \"gree\"");
    refused("--choice=red|green",
            "option --choice: expected red, green or blue, found \"red|green\"");
    refused("--whole=0", "option --whole: expected a number from 1 to 9, found \"0\"");
    refused("--whole=2.5", "option --whole: expected a number from 1 to 9, found \"2.5\"");
    refused("--large=99999999999999999999",
            "option --large: expected a number from 0 to 10000000000, found "
            "\"99999999999999999999\"");
    refused("--time-limit=nan",
            "option --time-limit: expected seconds from 1 to 60, found \"nan\"");
    refused("--size=2G",
            "option --size: expected a size from 1 to 1073741824 bytes (64K, 1M), found \"2G\"");
    refused("--call=bad", "option --call: expected good, found \"bad\"");
    refused("a b", "unexpected argument \"b\"; one is enough");
}

/* Values on standard input, where a list may be longer than an argument: the kernel limits an
 * argument to 128 KiB. */
static void test_input(void)
{
    char *expected = NULL;
    size_t size;
    FILE *input = tmpfile(), *stream = open_memstream(&expected, &size);

    for (int i = 0; i < 16384; i++)
        fprintf(stream, "%sa%dz.cluster.example", i ? "," : "", i);
    fclose(stream);
    dup2(fileno(input), STDIN_FILENO);
    set.has_input = true;
    refused("--text=-", "option --text: standard input: it is empty");
    fprintf(input, "%s\nn[1-2]\n", expected);
    rewind(input);
    is_int(parse("--text=-"), OPTION_RUN, "a value of %zu bytes on standard input is accepted",
           size);
    ok(values.text && strcmp(values.text, expected) == 0,
       "... and stored complete, without its newline");
    is_int(parse("--text=-"), OPTION_RUN, "a second value is accepted");
    is_str(values.text, "n[1-2]", "... and is the next line");
    refused("--text=-", "option --text: standard input: no more lines");
    set.has_input = false;
    fclose(input);
    free(expected);
}

static void size_is(const char *text, long long expected)
{
    char line[64];

    snprintf(line, sizeof line, "--size=%s", text);
    if (expected < 0)
        is_int(parse(line), OPTION_MISUSE, "\"%s\" is refused as a size", text);
    else if (is_int(parse(line), OPTION_RUN, "\"%s\" is a size", text))
        is_int(values.size_bytes, expected, "... of %lld bytes", expected);
}

static void test_sizes(void)
{
    size_is("1", 1);
    size_is("64K", 65536);
    size_is("2m", 2 << 20);
    size_is("1G", 1 << 30);
    size_is("0", -1);
    size_is("-1", -1);
    size_is("K", -1);
    size_is("1KB", -1);
    size_is("9999999999G", -1);
}

static const char *printed(enum option_request request)
{
    static char text[8192];
    FILE *stream = fmemopen(text, sizeof text, "w");

    option_set_print(&set, request, stream);
    fclose(stream);
    return text;
}

static void test_printing(void)
{
    size_t longest = 0;
    const char *text;

    is_int(parse("--help --nonsense"), OPTION_HELP, "--help is a request");
    is_int(parse("-V"), OPTION_VERSION, "-V is a request too");
    is_int(parse("--option-table"), OPTION_TABLE, "... and so is --option-table");
    text = printed(OPTION_HELP);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        if (strcspn(line, "\n") > longest)
            longest = strcspn(line, "\n");
    ok(longest <= 80, "the help has at most 80 columns, found %zu", longest);
    has_str(text, "Usage: muster paint [OPTION...] [WORD]\n       muster paint --flag\nPaints.\n",
            "... begins with usage and summary");
    has_str(text, "  -c, --choice=COLOR", "... names an option");
    has_str(text, " red, green or blue: which [green]\n", "... with its choices and its default");
    has_str(text, "\n                      margin of a terminal of eighty columns\n",
            "... wraps a sentence");
    has_str(text, "--a-very-long-name-of-an-option=N\n", "... prints a long name on its own line");
    ok(!strstr(text, "hidden") && !strstr(text, "colour") && !strstr(text, "option-table"),
       "... and lists neither hidden nor old names");
    has_str(text, "\nExit status: 0 good, 2 usage.\nManual page: muster-paint(1)\n",
            "... and ends with the exit status and the manual page");
    text = printed(OPTION_TABLE);
    has_str(text, "--choice\t-c\tCOLOR\tred|green|blue\twhich\n",
            "the table has one line per option");
    has_str(text, "--time-limit\t-\tSECONDS\t-\tthe limit\n", "... also for the common options");
}

int main(void)
{
    test_values();
    test_misuse();
    test_sizes();
    test_input();
    test_printing();
    return tap_done();
}
