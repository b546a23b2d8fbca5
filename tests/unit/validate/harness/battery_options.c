/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/tap.h"
#include "validate/harness/options.h"

#include "lib/constants/harness_constants.h"

static struct common_options common;
static struct error err;

static enum option_request parse(const char *option)
{
    static const struct option_set set = {.name = "muster-x", .common = common_option_rows};
    static char program[] = "program", text[64];
    char *argv[] = {program, text, NULL};

    snprintf(text, sizeof text, "%s", option);
    return option_set_parse(&set, 2, argv, NULL, &common, &err);
}

static void check_inject(const char *text, enum inject_kind kind, int rank, double at_s,
                         const char *target)
{
    struct inject inject;

    is_int(inject_parse(text, &inject, &err), 0, "\"%s\" is a fault", text);
    ok(inject.kind == kind && inject.rank == rank && inject.at_s == at_s, "... kind, rank, time");
    is_str(inject.target, target, "... and target");
}

static void check_refused(const char *text)
{
    struct inject inject;

    is_int(inject_parse(text, &inject, &err), -1, "\"%s\" is no fault", text);
}

static void accepts_the_longest_limit_of_certify(void)
{
    char text[64];

    snprintf(text, sizeof text, "--time-limit=%.0f", PROGRAM_TIME_LIMIT_MOST_S);
    is_int(parse(text), OPTION_RUN, "%s", text);
    is_int(parse("--time-limit=604800"), OPTION_RUN, "... FullBudget's maximum is accepted");
}

int main(void)
{
    accepts_the_longest_limit_of_certify();
    is_int(parse("--json"), OPTION_RUN, "--json");
    ok(common.json, "... is set");
    is_int(parse("--time-limit=5"), OPTION_RUN, "--time-limit");
    is_near(common.time_limit_s, 5, 0, "... is set");
    is_int(parse("--config=x"), OPTION_RUN, "--config");
    is_str(common.config_path, "x", "... is set");
    is_int(parse("--inject=die:5@2.5"), OPTION_RUN, "--inject");
    is_int(common.inject.rank, 5, "... is set");
    is_int(parse("--inject=fly:1"), OPTION_MISUSE, "an unknown fault is refused");
    has_str(err.text, "option --inject: expected lie:RANK", "... with the reason");

    check_inject("die:5@2.5", INJECT_DIE, 5, 2.5, "");
    check_inject("hang:0", INJECT_HANG, 0, -1, "");
    check_inject("die:1@links round 2", INJECT_DIE, 1, -1, "links round 2");
    check_inject("lie:3:recv", INJECT_LIE, 3, -1, "recv");
    check_inject("freeze:2@1", INJECT_FREEZE, 2, 1, "");
    check_refused("die");
    check_refused("die:");
    check_refused("die:-1");
    check_refused("die:1:2");
    check_refused("die:1@");
    check_refused("lie:1@2");
    check_refused("hang:1x");
    return tap_done();
}
