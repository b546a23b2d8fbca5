/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/options.h"
#include "tests/unit/tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct taken {
    long number;
    int flag;
};

static int take_number(const char *value, void *context, struct error *err)
{
    return option_number(value, 1, 9, &((struct taken *)context)->number, err);
}

static int take_flag(const char *value, void *context, struct error *err)
{
    (void)value;
    (void)err;
    ((struct taken *)context)->flag = 1;
    return 0;
}

static const struct option_spec specs[] = {{"number", "N", "a number\nof two lines", take_number},
                                           {"flag", NULL, "a flag", take_flag},
                                           {NULL, NULL, NULL, NULL}};
static struct taken taken;
static struct common_options common;
static struct error err;

static enum options_result parse(const char *line)
{
    static char text[256];
    char *argv[16] = {text}, *save = NULL;
    int argc = 0;

    taken = (struct taken){0};
    err.text[0] = '\0';
    snprintf(text, sizeof text, "program %s", line);
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save))
        argv[argc++] = word;
    return options_parse(argc, argv, specs, &taken, &common, &err);
}

static void refused(const char *line, const char *why)
{
    is_int(parse(line), OPTIONS_BAD, "\"%s\" is refused", line);
    has_str(err.text, why, "... because: %s", why);
}

static void injects(const char *text, enum inject_kind kind, int rank, double at_s,
                    const char *where)
{
    struct inject inject;

    is_int(inject_parse(text, &inject, &err), 0, "\"%s\" is a fault", text);
    ok(inject.kind == kind && inject.rank == rank && inject.at_s == at_s, "... kind, rank, time");
    is_str(inject.where, where, "... and place");
}

static void is_refused(const char *text)
{
    struct inject inject;

    is_int(inject_parse(text, &inject, &err), -1, "\"%s\" is no fault", text);
}

static void sized(const char *text, long long expected)
{
    long long size = -1;

    if (expected < 0)
        is_int(option_size(text, 1, 1LL << 40, &size, &err), -1, "\"%s\" is no size", text);
    else if (is_int(option_size(text, 1, 1LL << 40, &size, &err), 0, "\"%s\" is a size", text))
        is_int(size, expected, "... of %lld bytes", expected);
}

static const char *list;

static int take_list(const char *value, void *context, struct error *why)
{
    (void)context;
    (void)why;
    list = value;
    return 0;
}

/* More than an argument can have: what the kernel refuses at 128 KiB goes by standard input. */
static void read_from_input(void)
{
    static const struct option_spec lists[] = {{"nodes", "LIST", "names", take_list},
                                               {NULL, NULL, NULL, NULL}};
    char program[] = "program", option[] = "--nodes=-";
    char *argv[] = {program, option}, *expected = NULL;
    FILE *input = tmpfile();
    size_t size;
    FILE *stream = open_memstream(&expected, &size);
    int kept = dup(0);

    for (int i = 0; i < 16384; i++)
        fprintf(stream, "%sa%dz.cluster.example", i ? "," : "", i);
    fclose(stream);
    dup2(fileno(input), 0);
    is_int(options_parse(2, argv, lists, NULL, &common, &err), OPTIONS_BAD, "no value is refused");
    has_str(err.text, "option --nodes: standard input: nothing is there", "... because of that");
    fprintf(input, "%s\nn[1-2]\n", expected);
    rewind(input);
    is_int(options_parse(2, argv, lists, NULL, &common, &err), OPTIONS_RUN,
           "a value of %zu bytes on standard input", size);
    ok(list && strcmp(list, expected) == 0, "... is taken whole, without its newline");
    is_int(options_parse(2, argv, lists, NULL, &common, &err), OPTIONS_RUN, "a second value");
    is_str(list, "n[1-2]", "... is the next line");
    is_int(options_parse(2, argv, lists, NULL, &common, &err), OPTIONS_BAD, "a third is refused");
    has_str(err.text, "standard input: no line is left", "... as there is no line");
    dup2(kept, 0);
    close(kept);
    fclose(input);
    free(expected);
}

int main(void)
{
    char *help = NULL;
    size_t size;
    FILE *stream = open_memstream(&help, &size);

    is_int(parse(""), OPTIONS_RUN, "nothing");
    ok(!common.json && common.time_limit_s == 60 && !common.config_path, "... the defaults");
    is_int(parse("--json --number=3 --flag --time-limit 5 --config x"), OPTIONS_RUN, "all");
    ok(common.json && taken.number == 3 && taken.flag, "... are taken");
    ok(common.time_limit_s == 5, "... the time limit");
    is_str(common.config_path, "x", "... the file");
    is_int(parse("--number 7"), OPTIONS_RUN, "an argument that stands apart");
    is_int(taken.number, 7, "... is taken");
    is_int(parse("--help --nonsense"), OPTIONS_HELP, "--help");
    is_int(parse("--version"), OPTIONS_VERSION, "--version");
    refused("--nonsense", "unknown option --nonsense");
    refused("word", "unexpected argument \"word\"");
    refused("-x", "unexpected argument \"-x\"");
    refused("--", "unexpected argument");
    refused("--number", "needs an argument, N");
    refused("--number=10", "option --number: expected a number from 1 to 9, found \"10\"");
    refused("--number=3x", "found \"3x\"");
    refused("--flag=1", "takes no argument");
    refused("--time-limit=0", "expected seconds from 1");
    refused("--time-limit=nan", "found \"nan\"");
    refused("--inject=fly:1", "expected lie:RANK");

    injects("die:5@2.5", INJECT_DIE, 5, 2.5, "");
    injects("hang:0", INJECT_HANG, 0, -1, "");
    injects("die:1@links round 2", INJECT_DIE, 1, -1, "links round 2");
    injects("lie:3:recv", INJECT_LIE, 3, -1, "recv");
    injects("freeze:2@1", INJECT_FREEZE, 2, 1, "");
    is_refused("die");
    is_refused("die:");
    is_refused("die:-1");
    is_refused("die:1:2");
    is_refused("die:1@");
    is_refused("lie:1@2");
    is_refused("hang:1x");

    sized("1", 1);
    sized("64K", 65536);
    sized("2m", 2 << 20);
    sized("1G", 1 << 30);
    sized("0", -1);
    sized("-1", -1);
    sized("K", -1);
    sized("1KB", -1);
    sized("9999999999G", -1);

    options_help(stream, "muster-x", "What it does.", specs);
    fclose(stream);
    has_str(help, "Usage: srun [OPTION...] muster-x", "help: usage");
    has_str(help, "--number=N", "... the program's options");
    has_str(help, "\n                               of two lines\n", "... aligned");
    has_str(help, "--inject=FAULT", "... and the common ones");
    free(help);
    read_from_input();
    return tap_done();
}
