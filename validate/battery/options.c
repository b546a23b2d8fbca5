/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/read_all.h"

static const struct {
    const char *name;
    enum inject_kind kind;
} kinds[] = {
    {"lie", INJECT_LIE}, {"die", INJECT_DIE}, {"hang", INJECT_HANG}, {"freeze", INJECT_FREEZE}};

int option_number(const char *value, long low, long high, long *number, struct error *err)
{
    char *end;
    long found;

    errno = 0;
    found = strtol(value, &end, 10);
    if (end == value || *end || errno || found < low || found > high)
        return error_set(err, "expected a number from %ld to %ld, found \"%s\"", low, high, value);
    *number = found;
    return 0;
}

int option_size(const char *value, long long low, long long high, long long *size_bytes,
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
    if (end == value || *end || errno || found < 0 || found > high / factor || found * factor < low)
        return error_set(err, "expected a size from %lld to %lld bytes (64K, 1M), found \"%s\"",
                         low, high, value);
    *size_bytes = found * factor;
    return 0;
}

int option_seconds(const char *value, double low, double high, double *seconds, struct error *err)
{
    char *end;
    double found = strtod(value, &end);

    if (end == value || *end || !isfinite(found) || found < low || found > high)
        return error_set(err, "expected seconds from %g to %g, found \"%s\"", low, high, value);
    *seconds = found;
    return 0;
}

int option_confidence(const char *value, double *confidence, struct error *err)
{
    char *end;
    double found = strtod(value, &end);

    if (end == value || *end || !(found > 0 && found < 1))
        return error_set(err, "expected a share above 0 and below 1, such as 0.99, found \"%s\"",
                         value);
    *confidence = found;
    return 0;
}

int inject_parse(const char *text, struct inject *inject, struct error *err)
{
    const char *colon = strchr(text, ':'), *place;
    char *end;
    long rank;

    *inject = (struct inject){.kind = INJECT_NONE, .at_s = -1};
    for (size_t i = 0; colon && i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].name) == (size_t)(colon - text) &&
            strncmp(kinds[i].name, text, (size_t)(colon - text)) == 0)
            inject->kind = kinds[i].kind;
    if (inject->kind == INJECT_NONE)
        return error_set(err,
                         "expected lie:RANK[:WHERE], die:RANK[@WHEN], hang:RANK[@WHEN] or "
                         "freeze:RANK[@WHEN], found \"%s\"",
                         text);
    rank = strtol(colon + 1, &end, 10);
    if (end == colon + 1 || rank < 0 || rank > 1 << 24)
        return error_set(err, "expected a rank after the colon, found \"%s\"", colon + 1);
    inject->rank = (int)rank;
    if (!*end)
        return 0;
    place = end + 1;
    if (*end != (inject->kind == INJECT_LIE ? ':' : '@') || !*place ||
        strlen(place) >= sizeof inject->where)
        return error_set(err, "expected %s after the rank, found \"%s\"",
                         inject->kind == INJECT_LIE ? ":WHERE" : "@SECONDS or @PHASE", end);
    if (inject->kind != INJECT_LIE) {
        inject->at_s = strtod(place, &end);
        if (end != place && !*end && inject->at_s >= 0)
            return 0;
        inject->at_s = -1;
    }
    strcpy(inject->where, place);
    return 0;
}

static int take_json(const char *value, void *context, struct error *err)
{
    struct common_options *common = context;

    (void)value;
    (void)err;
    common->json = true;
    return 0;
}

static int take_time_limit(const char *value, void *context, struct error *err)
{
    struct common_options *common = context;

    return option_seconds(value, 1, 86400, &common->time_limit_s, err);
}

static int take_config(const char *value, void *context, struct error *err)
{
    struct common_options *common = context;

    (void)err;
    common->config_path = value;
    return 0;
}

static int take_inject(const char *value, void *context, struct error *err)
{
    struct common_options *common = context;

    return inject_parse(value, &common->inject, err);
}

static const struct option_spec common_specs[] = {
    {"json", NULL, "records as JSON lines on standard output, nothing else there", take_json},
    {"time-limit", "SECONDS", "stop after this time (60)", take_time_limit},
    {"config", "FILE", "muster.conf to read ($MUSTER_CONF)", take_config},
    {"inject", "FAULT", "self-test: plant a fault, see the manual page", take_inject},
    {NULL, NULL, NULL, NULL},
};

static const struct option_spec *find(const struct option_spec *specs, const char *name,
                                      size_t length)
{
    for (; specs->name; specs++)
        if (strlen(specs->name) == length && strncmp(specs->name, name, length) == 0)
            return specs;
    return NULL;
}

enum { INPUT_MOST_BYTES = 64 << 20 };

/* The next line of standard input, which is kept until the process ends, as argv is. NULL with err.
 */
static const char *value_from_input(struct error *err)
{
    static char *text, *rest;

    if (!text)
        rest = text = read_to_end(STDIN_FILENO, INPUT_MOST_BYTES, err);
    else if (!rest)
        error_set(err, "no line is left");
    if (!rest)
        error_prefix(err, "standard input");
    return strsep(&rest, "\n");
}

/* Takes the option at argv[*index]; moves *index over an argument that stands apart. */
static int take_option(int argc, char **argv, int *index, const struct option_spec *specs,
                       void *context, struct common_options *common, struct error *err)
{
    const char *name = argv[*index] + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const struct option_spec *spec = find(specs, name, length);
    const char *value = equals ? equals + 1 : NULL;

    if (!spec) {
        spec = find(common_specs, name, length);
        context = common;
    }
    if (!spec)
        return error_set(err, "unknown option --%.*s", (int)length, name);
    if (!spec->argument && value)
        return error_set(err, "option --%s takes no argument", spec->name);
    if (spec->argument && !value && *index + 1 < argc)
        value = argv[++*index];
    if (spec->argument && (!value || !*value))
        return error_set(err, "option --%s needs an argument, %s", spec->name, spec->argument);
    if (spec->argument && strcmp(value, "-") == 0)
        value = value_from_input(err);
    if ((spec->argument && !value) || spec->take(value, context, err) != 0)
        return error_prefix(err, "option --%s", spec->name);
    return 0;
}

enum options_result options_parse(int argc, char **argv, const struct option_spec *specs,
                                  void *context, struct common_options *common, struct error *err)
{
    *common = (struct common_options){.time_limit_s = 60};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return OPTIONS_HELP;
        if (strcmp(argv[i], "--version") == 0 || strcmp(argv[i], "-V") == 0)
            return OPTIONS_VERSION;
        if (strncmp(argv[i], "--", 2) != 0 || !argv[i][2]) {
            error_set(err, "unexpected argument \"%s\"", argv[i]);
            return OPTIONS_BAD;
        }
        if (take_option(argc, argv, &i, specs, context, common, err) != 0)
            return OPTIONS_BAD;
    }
    return OPTIONS_RUN;
}

static void help_table(FILE *stream, const struct option_spec *specs)
{
    for (; specs->name; specs++) {
        const char *line = specs->help;
        char left[64];

        snprintf(left, sizeof left, "--%s%s%s", specs->name, specs->argument ? "=" : "",
                 specs->argument ? specs->argument : "");
        fprintf(stream, "  %-28s ", left);
        for (size_t length; *line; line += length + (line[length] == '\n')) {
            length = strcspn(line, "\n");
            fprintf(stream, "%*s%.*s\n", line == specs->help ? 0 : 31, "", (int)length, line);
        }
    }
}

void options_help(FILE *stream, const char *program, const char *summary,
                  const struct option_spec *specs)
{
    fprintf(stream, "Usage: srun [OPTION...] %s [OPTION...]\n%s\n\n", program, summary);
    help_table(stream, specs);
    help_table(stream, common_specs);
    fprintf(stream, "  %-28s %s\n  %-28s %s\n", "--help", "this text", "--version", "the version");
    fprintf(stream, "\nExit status: 0 pass, 1 a fault was found, 2 usage, 3 could not tell.\n");
}
