/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/options.h"

#include <string.h>
#include <strings.h>

#include "lib/conf/conf.h"

const struct option_text option_texts[OPTION_COUNT] = {
    [OPTION_ENVIRONMENT] = {"muster", "on|off",
                            "set the variables of UCX, NCCL, Open MPI, gloo and torch for each "
                            "task, or leave its environment alone",
                            "MUSTER_ENVIRONMENT"},
    [OPTION_EXPLAIN] = {"muster-explain", NULL,
                        "print each variable that muster knows with its value, the rule and the "
                        "fact behind it, once per node",
                        "MUSTER_EXPLAIN"},
    [OPTION_PREFLIGHT] = {"preflight", "quick|standard|off",
                          "test the step's nodes and the links between them first; the step does "
                          "not start if one is faulty",
                          "MUSTER_PREFLIGHT"},
    [OPTION_COLLECTIVES] = {"collectives", "muster|mpi",
                            "do MPI's collectives by the algorithms that were measured to be the "
                            "fastest (libmustercoll-pmpi(7)), or leave them to MPI",
                            "MUSTER_STEP_COLLECTIVES"},
};

/* Returns 1 for on, 0 for off, or -1. */
static int parse_switch(const char *text)
{
    static const char *const on[] = {"on", "yes", "true", "1", NULL};
    static const char *const off[] = {"off", "no", "false", "0", NULL};

    for (size_t i = 0; on[i] != NULL; i++) {
        if (strcasecmp(text, on[i]) == 0)
            return 1;
        if (strcasecmp(text, off[i]) == 0)
            return 0;
    }
    return -1;
}

static int parse_collectives(const char *text)
{
    return strcasecmp(text, "muster") == 0 ? 1 : strcasecmp(text, "mpi") == 0 ? 0 : -1;
}

/* Returns the option's value, or -1 if text is not one. */
static int parse_value(enum option option, const char *text)
{
    return option == OPTION_PREFLIGHT     ? conf_preflight_parse(text)
           : option == OPTION_COLLECTIVES ? parse_collectives(text)
                                          : parse_switch(text);
}

static int *option_field(struct options *options, enum option option)
{
    return option == OPTION_ENVIRONMENT ? &options->environment
           : option == OPTION_EXPLAIN   ? &options->explain
           : option == OPTION_PREFLIGHT ? &options->preflight
                                        : &options->collectives;
}

int options_parse(struct options *options, enum option option, const char *argument,
                  struct error *err)
{
    const struct option_text *text = &option_texts[option];
    int value = 1;

    if (text->arginfo != NULL)
        value = argument != NULL ? parse_value(option, argument) : -1;
    if (value < 0)
        return error_set(err, "--%s=%.64s: expected %s", text->name,
                         argument != NULL ? argument : "", text->arginfo);
    *option_field(options, option) = value;
    return 0;
}

int options_fill(struct options *options, envplan_getenv_fn *getenv_fn, void *context,
                 struct error *err)
{
    int status = 0;

    for (enum option option = 0; option < OPTION_COUNT; option++) {
        const char *text = getenv_fn(option_texts[option].variable, context);
        int *field = option_field(options, option), value;

        if (*field >= 0 || text == NULL || *text == '\0')
            continue;
        value = parse_value(option, text);
        if (value < 0 && status == 0)
            status = error_set(err, "%s=%.64s: expected %s", option_texts[option].variable, text,
                               option == OPTION_PREFLIGHT || option == OPTION_COLLECTIVES
                                   ? option_texts[option].arginfo
                                   : "on or off");
        *field = value;
    }
    return status;
}

/* Returns the path if word is key, which ends with '=', followed by an absolute path; else NULL. */
static const char *path_of(const char *word, const char *key)
{
    size_t length = strlen(key);

    return strncmp(word, key, length) == 0 && word[length] == '/' ? word + length : NULL;
}

int arguments_read(int argc, char *const argv[], struct arguments *arguments, struct error *err)
{
    int status = 0;

    *arguments = (struct arguments){0};
    for (int i = 0; i < argc; i++) {
        const char *config_path = path_of(argv[i], "config="), *root = path_of(argv[i], "root=");
        const char *program = path_of(argv[i], "program=");
        const char *library = path_of(argv[i], "library=");

        if (config_path != NULL)
            arguments->config_path = config_path;
        else if (root != NULL)
            arguments->root = root;
        else if (program != NULL)
            arguments->program = program;
        else if (library != NULL)
            arguments->library = library;
        else if (status == 0)
            status = error_set(err,
                               "plugstack.conf: %.64s: expected config=PATH, program=PATH, "
                               "library=PATH or root=DIR, absolute",
                               argv[i]);
    }
    return status;
}
