/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/harness/options.h"

#include <stdlib.h>
#include <string.h>

#include "lib/constants/harness_constants.h"

static const struct {
    const char *name;
    enum inject_kind kind;
} kinds[] = {
    {"lie", INJECT_LIE}, {"die", INJECT_DIE}, {"hang", INJECT_HANG}, {"freeze", INJECT_FREEZE}};

int option_confidence(const char *value, void *confidence, struct error *err)
{
    char *end;
    double found = strtod(value, &end);

    if (end == value || *end || !(found > 0 && found < 1))
        return error_set(err, "expected a share above 0 and below 1, such as 0.99, found \"%s\"",
                         value);
    *(double *)confidence = found;
    return 0;
}

int inject_parse(const char *text, struct inject *inject, struct error *err)
{
    const char *colon = strchr(text, ':'), *target;
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
    target = end + 1;
    if (*end != (inject->kind == INJECT_LIE ? ':' : '@') || !*target ||
        strlen(target) >= sizeof inject->target)
        return error_set(err, "expected %s after the rank, found \"%s\"",
                         inject->kind == INJECT_LIE ? ":WHERE" : "@SECONDS or @PHASE", end);
    if (inject->kind != INJECT_LIE) {
        inject->at_s = strtod(target, &end);
        if (end != target && !*end && inject->at_s >= 0)
            return 0;
        inject->at_s = -1;
    }
    strcpy(inject->target, target);
    return 0;
}

static int take_inject(const char *value, void *inject, struct error *err)
{
    return inject_parse(value, inject, err);
}

#define FIELD(member) OPTION_FIELD(struct common_options, member)

const struct option_row common_option_rows[] = {
    OPTION('\0', "json", NULL, "print records as JSON lines, nothing else", FLAG, FIELD(json)),
    OPTION('\0', "time-limit", "SECONDS", "stop after this time", SECONDS, FIELD(time_limit_s),
           OPTION_RANGE(1, PROGRAM_TIME_LIMIT_MOST_S), .initial = "60"),
    OPTION('\0', "config", "FILE", "configuration, instead of $MUSTER_CONF or muster.conf", TEXT,
           FIELD(config_path)),
    OPTION('\0', "inject", "FAULT", "self-test: inject a fault, see the manual page", CALL,
           FIELD(inject), .take = take_inject),
    OPTION_END,
};
