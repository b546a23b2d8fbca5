/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/conf/conf.h"
#include "validate/command/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/json_text.h"
#include "lib/base/memory_stream.h"
#include "validate/command/constants.h"

struct options {
    const char *config;
    bool is_check, is_all, as_json;
};

static const struct option_row rows[] = {
    COMMAND_CONFIG(struct options),
    OPTION('a', "all", NULL,
           "also print tuned constants, which no key changes: value, unit, origin", FLAG,
           OPTION_FIELD(struct options, is_all)),
    OPTION('j', "json", NULL,
           "print JSON lines: one for each line of the configuration, one for each constant", FLAG,
           OPTION_FIELD(struct options, as_json)),
    OPTION('k', "check", NULL, "only report whether the configuration is valid", FLAG,
           OPTION_FIELD(struct options, is_check)),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster conf",
    .summary = "Prints the configuration in effect: every key of muster.conf(5) with its value, "
               "meaning and allowed values. The output is a valid muster.conf.",
    .status = "0 valid, 2 invalid; the line at fault is named.",
    .rows = rows,
    .words_hint = "name the file with -c",
};

/* Prints each line of the configuration as a JSON line. Returns 0, or -1 with errno. */
static int print_json(const struct conf *conf, FILE *stream)
{
    const char *name, *standard, *help;
    int rv = 0;

    for (size_t i = 0; rv == 0 && conf_key(i, &name, &standard, &help) == 0; i++) {
        char *text = NULL, *rest;
        size_t size;
        FILE *values = memory_stream(&text, &size);

        if (!values)
            return -1;
        rv = conf_key_print(conf, i, values);
        if (fclose(values) != 0)
            rv = -1;
        rest = text;
        for (const char *value; rv == 0 && (value = strsep(&rest, "\n"));) {
            fprintf(stream, "{\"key\":\"%s\",\"value\":", name);
            json_text_write(stream, value, "");
            fputs(",\"default\":", stream);
            json_text_write(stream, standard, "");
            fputs(",\"meaning\":", stream);
            json_text_write(stream, help, "");
            fputs("}\n", stream);
            if (rest)
                rest += strlen(name) + 1; /* KEY= of the next line */
        }
        free(text);
    }
    return rv;
}

static int print(const struct options *options, const struct conf *conf)
{
    if ((options->as_json ? print_json : conf_print)(conf, stdout) != 0)
        return -1;
    if (options->is_all)
        constants_print(options->as_json, stdout);
    return ferror(stdout) ? -1 : 0;
}

int command_configuration(int argc, char **argv)
{
    struct options options = {0};
    const char *named;
    struct conf conf;
    int status = command_options(&set, argc, argv, &options);

    if (status >= 0)
        return status;
    status = command_conf(argv[0], options.config, &conf);
    if (status == COMMAND_PASS && options.is_check) {
        named = options.config ? options.config : getenv("MUSTER_CONF");
        if (!named || !named[0])
            named = conf_default_path();
        printf("%s: %s\n", named,
               access(named, F_OK) == 0 ? "good" : "no such file; using the defaults");
    } else if (status == COMMAND_PASS && print(&options, &conf) != 0) {
        if (!ferror(stdout)) /* else main() reports it */
            fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
        status = COMMAND_UNKNOWN;
    }
    conf_clear(&conf);
    return status;
}
