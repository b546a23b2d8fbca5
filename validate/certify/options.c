/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/options.h"

#include <stdlib.h>
#include <string.h>

#include "lib/constants/harness_constants.h"
#include "validate/command/command.h"
#include "validate/history/campaign.h"

/* Parses "html:FILE". */
static int take_report(const char *value, void *context, struct error *err)
{
    struct certify_options *options = context;
    const char *colon = strchr(value, ':');
    char name[16];

    if (options->report_count == CERTIFY_REPORTS)
        return error_set(err, "expected at most %d reports", CERTIFY_REPORTS);
    snprintf(name, sizeof name, "%.*s", colon ? (int)(colon - value) : 0, value);
    options->reports[options->report_count].format = format_find(name);
    if (!colon || !colon[1] || !options->reports[options->report_count].format)
        return error_set(err,
                         "expected html, junit, prometheus, csv, json or table, a colon and a "
                         "file, found \"%s\"",
                         value);
    options->reports[options->report_count++].path = colon + 1;
    return 0;
}

static int take_campaign(const char *value, void *field, struct error *err)
{
    if (!campaign_is_name(value))
        return error_set(err,
                         "expected up to %d letters, digits, '.', '_' and '-', the first a letter "
                         "or digit, found \"%s\"",
                         CAMPAIGN_NAME - 1, value);
    *(const char **)field = value;
    return 0;
}

#define FIELD(member) OPTION_FIELD(struct certify_options, member)

static const struct option_row rows[] = {
    OPTION('w', "nodes", "LIST",
           "test these nodes, such as n[1-4]; a single node is tested with free nodes as partners",
           TEXT, FIELD(nodes)),
    OPTION('\0', "nodelist", "LIST", NULL, TEXT, FIELD(nodes)),
    OPTION('p', "partition", "NAME", "test the nodes of this partition", TEXT, FIELD(partition)),
    OPTION('l', "level", "LEVEL", "level of the tests", CHOICE, FIELD(level),
           .choices = "quick|standard|full", .unset = "quick"),
    OPTION(
        's', "suspects", NULL,
        "test only nodes with a suspect report, a strike or quick job failures, and two partners",
        FLAG, FIELD(is_suspects)),
    OPTION('\0', "due", NULL,
           "test only nodes whose certificate is missing or expires within 60 hours, and partners",
           FLAG, FIELD(is_due)),
    OPTION('\0', "idle", NULL,
           "test only a few idle nodes, those tested longest ago or with a history of faults, and "
           "partners; releases them when a job needs them",
           FLAG, FIELD(is_idle)),
    OPTION('\0', "campaign", "NAME",
           "test all nodes, or those of -w or -p, in several runs as they become free; reuse NAME "
           "to continue the campaign",
           CALL, FIELD(campaign), .take = take_campaign),
    OPTION('\0', "nodes-at-a-time", "N",
           "run a campaign with at most N nodes per run, and certified nodes as partners; named "
           "after the current time without --campaign",
           LONG, FIELD(at_a_time), OPTION_RANGE(2, 1000000)),
    OPTION('\0', "jitter", "SECONDS", "first wait for a random time up to this one", SECONDS,
           FIELD(jitter_s), OPTION_RANGE(0, 86400)),
    OPTION('n', "dry-run", NULL, "test only: drain, release and certify no node", FLAG,
           FIELD(is_dry_run)),
    OPTION('\0', "no-drain", NULL, "certify, but drain no node", FLAG, FIELD(no_drain)),
    OPTION('j', "json", "FILE", "write all records as JSON lines; - is standard output", TEXT,
           FIELD(json_path)),
    OPTION('\0', "junit", "FILE", "write the verdicts as JUnit XML", TEXT, FIELD(junit_path)),
    OPTION(
        'r', "report", "FORMAT:FILE",
        "write a report: html, junit, prometheus, csv, json or table, as muster report does; may "
        "be repeated",
        CALL, .take = take_report),
    OPTION('c', "config", "FILE", "configuration, instead of $MUSTER_CONF or muster.conf", TEXT,
           FIELD(config_path)),
    OPTION('\0', "mpi", "TYPE", "srun's --mpi for the MPI programs, if not the cluster's default",
           TEXT, FIELD(mpi)),
    OPTION('\0', "time-limit", "SECONDS",
           "time budget of the tests, instead of QuickBudget, StandardBudget or FullBudget",
           SECONDS, FIELD(budget_s), OPTION_RANGE(10, PROGRAM_TIME_LIMIT_MOST_S)),
    OPTION('\0', "concurrency", "K", "pairs of nodes measured at once, instead of Concurrency", INT,
           FIELD(concurrency), OPTION_RANGE(1, 100000)),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster certify",
    .summary = "Tests nodes in an allocation, certifies good nodes and drains bad ones; the drain "
               "reason names the part at fault. Without -w or -p: all idle nodes and those that "
               "muster drained. Nodes that others drained or use are left alone.",
    .status = "0 all certified, 1 some failed, 2 usage, 3 cannot tell or interrupted.",
    .rows = rows,
    .words_hint = "name nodes with -w",
};

int certify_options_read(int argc, char **argv, struct certify_options *options)
{
    int status;

    options->level = LEVEL_FULL + 1; /* not given */
    status = command_options(&set, argc, argv, options);
    if (status >= 0)
        return status;
    options->has_level = options->level <= LEVEL_FULL;
    if (!options->has_level)
        options->level = LEVEL_QUICK;
    options->is_campaign = options->campaign || options->at_a_time > 0;
    if (options->is_campaign &&
        (options->is_dry_run || options->is_suspects || options->is_due || options->is_idle))
        return command_misuse(
            set.name, "a campaign cannot be combined with --dry-run, --suspects, --due or --idle");
    if (options->is_campaign && (options->junit_path || options->report_count > 0))
        return command_misuse(set.name, "a campaign cannot be combined with --junit or --report: "
                                        "it has several runs; use muster report for each");
    if (options->is_due + options->is_suspects + options->is_idle > 1)
        return command_misuse(set.name, "--due, --suspects and --idle are mutually exclusive");
    if (options->nodes && (options->is_due || options->is_suspects || options->is_idle))
        return command_misuse(set.name, "%s cannot be combined with -w",
                              options->is_due        ? "--due"
                              : options->is_suspects ? "--suspects"
                                                     : "--idle");
    return -1;
}
