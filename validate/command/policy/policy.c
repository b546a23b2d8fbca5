/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/policy/policy.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/text.h"
#include "validate/command/jsontext.h"
#include "validate/report/table.h"
#include "validate/scheduling/verify/kinds.h"

static const struct option_row rows[] = {
    COMMAND_CONFIG(struct policy_options),
    OPTION('f', "from", "DIR", "read the files that --save wrote to DIR, instead of querying Slurm",
           TEXT, OPTION_FIELD(struct policy_options, from)),
    OPTION('j', "json", NULL, "print a JSON object for each finding, nothing else", FLAG,
           OPTION_FIELD(struct policy_options, as_json)),
    OPTION('k', "kinds", NULL, "only list the kinds of findings", FLAG,
           OPTION_FIELD(struct policy_options, is_kinds)),
    OPTION('\0', "copy", "CLUSTER",
           "with simulate: this cluster is a copy of the site's and may be filled with jobs", TEXT,
           OPTION_FIELD(struct policy_options, copy)),
    OPTION('\0', "day", "FILE", "with simulate: the jobs to submit, a line each", TEXT,
           OPTION_FIELD(struct policy_options, day)),
    OPTION('n', "dry-run", NULL,
           "with verify, simulate: only print what would be tried, and the maximum time", FLAG,
           OPTION_FIELD(struct policy_options, is_dry_run)),
    OPTION('s', "save", "DIR", "also write the output of Slurm's commands to files in DIR", TEXT,
           OPTION_FIELD(struct policy_options, save)),
    OPTION('\0', "speed", "N", "with simulate: so many times faster than the day was [60]", INT,
           OPTION_FIELD(struct policy_options, speed), OPTION_RANGE(1, 1000)),
    OPTION('w', "nodes", "LIST", "with verify: use these idle nodes, instead of any idle nodes",
           TEXT, OPTION_FIELD(struct policy_options, nodes)),
    OPTION('\0', "nodelist", "LIST", NULL, TEXT, OPTION_FIELD(struct policy_options, nodes)),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster policy",
    .usage = "muster policy check [OPTION...]\n"
             "muster policy verify [OPTION...] [FILE]\n"
             "muster policy simulate --day FILE --copy CLUSTER [OPTION...] [FILE]",
    .summary =
        "check compares the scheduling configuration of the cluster with itself: slurm.conf of "
        "the controller, partitions, QOS, accounts and reservations. It names each limit, "
        "weight, preemption or access that was set and does not hold, and changes nothing.\n"
        "verify proves what the site states in FILE, policy.conf beside muster.conf without: who "
        "has how much, who goes before whom, who is preempted, what is reserved. It submits tiny "
        "jobs in the names of test users, in a reservation of its own, and needs root.\n"
        "simulate replays a day of submissions on a copy of the cluster, a lab, and says what FILE "
        "states against what happened.",
    .status = "0 no finding, or warnings only, 1 something that was set or stated does not hold, 2 "
              "usage, 3 it could not be told: Slurm or its accounting did not answer, or a "
              "statement could not be tried or a replay did not show it.",
    .rows = rows,
    .words = 2,
};

static int options_read(int argc, char **argv, struct policy_options *options)
{
    int status = command_options(&set, argc, argv, options);
    const char *action = optind < argc ? argv[optind] : NULL;

    if (status >= 0)
        return status;
    if (!action)
        return command_misuse(set.name,
                              "no action given, expected 'check', 'verify' or 'simulate'");
    options->is_simulate = strcmp(action, "simulate") == 0;
    options->is_verify = options->is_simulate || strcmp(action, "verify") == 0;
    if (!options->is_verify && strcmp(action, "check") != 0)
        return command_misuse(
            set.name, "unknown action '%s', expected 'check', 'verify' or 'simulate'", action);
    options->file = optind + 1 < argc ? argv[optind + 1] : NULL;
    if (!options->is_simulate && (options->day || options->copy || options->speed))
        return command_misuse(set.name, "--day, --copy and --speed are for simulate");
    if (options->is_simulate && (options->from || options->save || options->nodes))
        return command_misuse(set.name, "--from, --save and --nodes are not for simulate");
    if (options->is_simulate && !options->is_kinds &&
        (!options->day || (!options->copy && !options->is_dry_run)))
        return command_misuse(set.name, "simulate needs --day and --copy");
    if (!options->is_verify && options->file)
        return command_misuse(set.name, "check takes no file, found '%s'", options->file);
    if (!options->is_verify && (options->is_dry_run || options->nodes))
        return command_misuse(set.name, "--dry-run and --nodes are for verify");
    if (options->is_verify && options->from && !options->is_dry_run)
        return command_misuse(set.name, "verify reads --from a directory for --dry-run only");
    if (options->from && options->save)
        return command_misuse(set.name, "--from and --save are mutually exclusive");
    if (options->is_dry_run && options->as_json)
        return command_misuse(set.name, "--dry-run and --json are mutually exclusive");
    return -1;
}

void policy_print(const struct policy_line *line, bool as_json)
{
    const struct policy_kind_row *kind = line->kind;
    const char *where = line->where ? line->where : "";

    if (as_json) {
        json_t *object = json_object();

        if (kind)
            json_object_set_new(object, "code", json_string(kind->code));
        json_object_set_new(object, "verdict", json_string(verdict_name(line->verdict)));
        json_object_set_new(object, "object", jsontext(line->object));
        if (line->where)
            json_object_set_new(object, "where", jsontext(where));
        if (line->stated)
            json_object_set_new(object, "stated", jsontext(line->stated));
        json_object_set_new(object, "found", jsontext(line->found));
        if (kind) {
            json_object_set_new(object, "why", json_string(kind->why));
            json_object_set_new(object, "source", json_string(kind->source));
            json_object_set_new(object, "cure", json_string(kind->cure));
        }
        jsontext_print(stdout, JSON_COMPACT, object);
        return;
    }
    command_print_verdict(stdout, line->verdict, table_has_colour(stdout));
    printf("  %s%s%s%s%s%s: %s\n", kind ? kind->code : "", kind ? "  " : "", line->object,
           *where ? " (" : "", where, *where ? ")" : "", line->found);
    if (line->stated)
        printf("%9sstated: %s\n", "", line->stated);
    if (kind)
        printf("%9swhy: %s (%s)\n%9scure: %s\n", "", kind->why, kind->source, "", kind->cure);
}

static void print_kinds(const struct policy_kind_row *kinds, size_t count, bool as_json)
{
    for (size_t i = 0; i < count; i++) {
        const struct policy_kind_row *kind = &kinds[i];

        if (as_json)
            jsontext_print(stdout, JSON_COMPACT,
                           json_pack("{ss ss ss ss ss ss}", "code", kind->code, "verdict",
                                     verdict_name(kind->verdict), "what", kind->what, "why",
                                     kind->why, "source", kind->source, "cure", kind->cure));
        else
            printf("%-26s  %-4s  %s\n", kind->code, verdict_name(kind->verdict), kind->what);
    }
}

/* The checked configuration is always the one that slurmctld has read, even if slurm.conf was
 * edited since. */
static void print_source(const struct site *site)
{
    char directory[512];

    if (site->lines.file_count > 0)
        printf("slurm.conf: %s, which is what slurmctld has read\n", site->lines.files[0]);
    else if (!policy_is_current(site) &&
             slurm_client_directory("", directory, sizeof directory, NULL) == 0)
        printf("slurm.conf: that in %s differs from what slurmctld has read of %s, which was "
               "checked; after an edit run scontrol reconfigure first\n",
               directory, site_config(site, "SLURM_CONF"));
}

static void print_summary(const struct site *site, const struct policy_findings *findings,
                          int failed)
{
    const struct site_table *tables = site->tables;
    size_t partitions = tables[CLUSTER_PARTITIONS].count;
    size_t associations = tables[CLUSTER_ASSOCIATIONS].count;
    size_t reservations = tables[CLUSTER_RESERVATIONS].count;

    printf("cluster %s: %zu partition%s, %zu QOS, %zu association%s, %zu reservation%s; ",
           site_config(site, "ClusterName"), partitions, text_plural(partitions),
           tables[CLUSTER_QOS].count, associations, text_plural(associations), reservations,
           text_plural(reservations));
    if (findings->count)
        printf("%d fail, %zu warn\n", failed, findings->count - (size_t)failed);
    else
        printf("no mistakes found, of %d kinds\n", POLICY_KINDS);
}

static int check(const char *name, const struct policy_options *options)
{
    struct site site = {0};
    struct policy_findings findings = {0};
    struct error err = {""}, accounting = {""};
    int failed = 0, status = COMMAND_UNKNOWN;

    if (policy_load(options, &site, &err, &accounting) != 0) {
        fprintf(stderr, "%s: %s\n", name, err.text);
    } else if (policy_check(&site, &findings) != 0) {
        fprintf(stderr, "%s: no memory\n", name);
    } else {
        for (size_t i = 0; i < findings.count; i++) {
            const struct policy_finding *finding = &findings.items[i];

            failed += finding->verdict == VERDICT_FAIL;
            policy_print(&(struct policy_line){.kind = &policy_kinds[finding->kind],
                                               .verdict = finding->verdict,
                                               .object = finding->object,
                                               .where = finding->where,
                                               .found = finding->found},
                         options->as_json);
        }
        if (*accounting.text)
            policy_print(&(struct policy_line){.verdict = VERDICT_UNKNOWN,
                                               .object = "accounting",
                                               .found = accounting.text},
                         options->as_json);
        if (!options->as_json && !options->from)
            print_source(&site);
        if (!options->as_json)
            print_summary(&site, &findings, failed);
        status = failed ? COMMAND_FAIL : *accounting.text ? COMMAND_UNKNOWN : COMMAND_PASS;
    }
    policy_findings_clear(&findings);
    site_clear(&site);
    return status;
}

int command_policy(int argc, char **argv)
{
    struct policy_options options = {0};
    int status = options_read(argc, argv, &options);

    if (status >= 0)
        return status;
    if (options.is_kinds) {
        print_kinds(options.is_verify ? verify_codes : policy_kinds,
                    options.is_verify ? VERIFY_CODES : POLICY_KINDS, options.as_json);
        return COMMAND_PASS;
    }
    return options.is_verify ? policy_verify(argv[0], &options) : check(argv[0], &options);
}
