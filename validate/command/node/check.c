/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/clock.h"
#include "lib/base/memory_stream.h"
#include "lib/base/node_name.h"
#include "lib/constants/checks_constants.h"
#include "validate/checks/accelerators.h"
#include "validate/checks/checks.h"
#include "validate/command/command.h"
#include "validate/command/node/bounded_check.h"
#include "validate/command/node/bundle.h"
#include "validate/command/node/health.h"
#include "validate/health/absences.h"
#include "validate/health/state_file.h"
#include "validate/policy/policy.h"
#include "validate/report/table.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
    const char *root, *node, *only, *config;
    bool as_json, as_nagios, as_health;
};

struct output {
    bool as_json, has_colour, shows_facts;
    size_t facts;
    enum verdict worst;
    struct health_summary *summary; /* NULL: each record is printed as it comes */
    struct absences *absences;      /* of earlier checks; NULL: a missing part fails at once */
    struct faults *faults;          /* for evidence; NULL: not wanted */
};

/* The findings of a health check. */
struct faults {
    FILE *stream; /* warnings and failures, as lines; NULL if memory is out */
    char *text;
    size_t size;
    enum fault_code code; /* of the first fault that drains nodes; FAULT_NONE */
    char part[64];
};

static void faults_take(struct faults *faults, const struct record *record)
{
    if (record->verdict >= VERDICT_WARN && faults->stream)
        record_write(faults->stream, record);
    if (faults->code != FAULT_NONE || !health_is_hard(record, false))
        return;
    faults->code = record_code(record);
    snprintf(faults->part, sizeof faults->part, "%s", record->part ? record->part : "");
}

/* Stores evidence if the node has a fault, and sets text to the result, or to "". */
static void faults_end(struct faults *faults, const struct checks *checks, char *text, size_t size)
{
    struct evidence evidence;
    struct error err = {""};
    int rv = 0;

    *text = '\0';
    if (faults->stream && fclose(faults->stream) == 0 && faults->code != FAULT_NONE)
        rv = bundle_keep(checks, faults->code, faults->part, faults->text, faults->size, &evidence,
                         &err);
    free(faults->text);
    if (rv > 0)
        snprintf(text, size, "evidence stored in %s", evidence.path);
    else if (rv < 0)
        snprintf(text, size, "evidence not stored: %s", err.text);
}

#define ABSENCES_FILE "/run/muster/absences"

/* Loads the absences. One that only a test outside `only` can find stays as it is. */
static void absences_load(const struct inventory *inventory, const char *only,
                          struct absences *absences)
{
    char *text = state_file_read(ABSENCES_FILE);

    if (!text || absences_parse(absences, text, inventory->boot_id) != 0)
        absences_init(absences, inventory->boot_id);
    for (size_t i = 0; i < absences->count; i++)
        absences->items[i].is_missing =
            !check_is_wanted(&(struct check){.name = absences->items[i].test}, only);
    free(text);
}

/* Saves the absences. If that fails, removes the old file: by it, parts that were missing long ago
 * and are missing now would count as missing in a row. */
static void absences_save(const struct absences *absences, const char *node)
{
    struct error err;

    if (state_file_write(ABSENCES_FILE, absences_write, absences, &err) == 0)
        return;
    unlink(ABSENCES_FILE);
    if (absences->count > 0)
        printf("muster check: %s: cannot save the list of missing parts: %s\n", node, err.text);
}

/* Returns the record with its verdict after the absences of earlier checks. An entry of the kernel
 * log is no observation of this moment, and stays a failure. */
static struct record with_absences(const struct record *record, struct absences *absences)
{
    struct record judged = *record;

    if (record->verdict == VERDICT_FAIL && absences_concern(record_code(record)) &&
        !catalog_is_test(record->test, TEST_HOST_LOG) &&
        absences_add(absences, record->test, record_code(record),
                     record->part ? record->part : "") < ABSENCES_IN_A_ROW)
        judged.verdict = VERDICT_WARN;
    return judged;
}

static void print_record(const struct record *record, void *context)
{
    struct output *output = context;
    const char *part = record->part ? record->part : "";
    struct record judged;

    if (output->absences) {
        judged = with_absences(record, output->absences);
        record = &judged;
    }

    if (record->verdict > output->worst)
        output->worst = record->verdict;
    if (output->faults)
        faults_take(output->faults, record);
    if (output->summary) {
        health_take(output->summary, record);
        return;
    }
    if (output->as_json) {
        record_write(stdout, record);
        return;
    }
    output->facts += record->verdict == VERDICT_NONE;
    if (record->verdict != VERDICT_NONE) {
        command_print_verdict(stdout, record->verdict, output->has_colour);
        printf("  %-14s  %-8s  %s\n", record->test, part, record->message);
    } else if (output->shows_facts) {
        printf("%-14s  %-21s  %-8s  %s\n", record->test, record->metric, part, record->message);
    }
}

static void print_tests(FILE *stream)
{
    fputs("Tests:\n", stream);
    for (size_t i = 0; i < check_count; i++)
        fprintf(stream, "  %-16s  %s\n", check_table[i].name, check_table[i].help);
}

static const struct option_row rows[] = {
    COMMAND_CONFIG(struct options),
    OPTION('\0', "health", NULL,
           "for Slurm's HealthCheckProgram: print only failures; with HealthDrain=yes drain this "
           "node if a part is missing or dead; remove the certificate if muster drained the node "
           "after issuing it",
           FLAG, OPTION_FIELD(struct options, as_health)),
    COMMAND_JSON(struct options),
    OPTION('\0', "nagios", NULL,
           "print one line and exit as a Nagios plugin: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN",
           FLAG, OPTION_FIELD(struct options, as_nagios)),
    COMMAND_NODE(struct options),
    OPTION('o', "only", "TESTS",
           "run only these tests: names or prefixes such as net, separated by commas", TEXT,
           OPTION_FIELD(struct options, only)),
    COMMAND_ROOT(struct options),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster check",
    .summary = "Checks everything that this node can determine alone.",
    .status = "0 no failure, 1 a check failed, 2 usage, 3 cannot check something.",
    .rows = rows,
    .print_more = print_tests,
};

static bool is_test(const char *word)
{
    for (size_t i = 0; i < check_count; i++)
        if (word[0] && check_is_wanted(&check_table[i], word))
            return true;
    return false;
}

/* Checks that every word of `only` selects a test. */
static int verify_only(const char *only)
{
    char *text = only ? strdup(only) : NULL, *rest = text, *word;
    int status = COMMAND_PASS;

    while (status == COMMAND_PASS && (word = strsep(&rest, ","))) {
        if (is_test(word))
            continue;
        fprintf(stderr, "%s: no test '%s'; the tests are", set.name, word);
        for (size_t i = 0; i < check_count; i++)
            fprintf(stderr, "%s %s", i ? "," : "", check_table[i].name);
        fputc('\n', stderr);
        status = COMMAND_USAGE;
    }
    free(text);
    return status;
}

static int exit_status(enum verdict worst)
{
    return worst == VERDICT_FAIL      ? COMMAND_FAIL
           : worst == VERDICT_UNKNOWN ? COMMAND_UNKNOWN
                                      : COMMAND_PASS;
}

/* Whether a selected test needs the libraries of accelerators. */
static bool needs_accelerators(const char *only)
{
    for (size_t i = 0; i < check_count; i++)
        if (check_is_wanted(&check_table[i], only) &&
            (check_table[i].run == check_gpu_health || check_table[i].run == check_config))
            return true;
    return false;
}

static bool has_accelerators(const struct accelerators *accelerators)
{
    for (int vendor = 0; vendor < GPU_VENDORS; vendor++)
        if (accelerators->reports[vendor] || accelerators->errors[vendor][0])
            return true;
    return false;
}

static int run_checks(const struct options *options, const struct node_view *node_view,
                      double begin_s, const char **at)
{
    static struct accelerators accelerators;
    static struct absences absences;
    struct faults faults = {.code = FAULT_NONE};
    char kept[EVIDENCE_PATH + 64] = "";
    int status;
    struct health_summary summary = {.lets_rails_fail = node_view->conf.allow_failed_rails > 0,
                                     .only = options->only};
    struct output output = {
        options->as_json,      table_has_colour(stdout),
        options->only != NULL, 0,
        VERDICT_NONE,          options->as_nagios || options->as_health ? &summary : NULL};
    struct checks checks = {.root = strcmp(node_view->root, "/") == 0 ? "" : node_view->root,
                            .node = command_node(options->node, node_view->root),
                            .conf = &node_view->conf,
                            .inventory = node_view->inventory,
                            .fabric = &node_view->fabric,
                            .is_in_service = options->as_health || options->as_nagios,
                            .keeps_state = options->as_health,
                            .lists_jobs = options->as_json,
                            .sink = print_record,
                            .context = &output};

    if (options->as_health && geteuid() == 0) { /* only root can save the absences */
        absences_load(node_view->inventory, options->only, &absences);
        output.absences = &absences;
        faults.stream = memory_stream(&faults.text, &faults.size);
        output.faults = &faults;
    }
    if (needs_accelerators(options->only)) {
        *at = "libraries of accelerators";
        accelerators_read(checks.root, node_view->inventory, &node_view->conf, &accelerators);
        checks.accelerators = has_accelerators(&accelerators) ? &accelerators : NULL;
    }
    for (size_t i = 0; i < check_count; i++)
        if (check_is_wanted(&check_table[i], options->only)) {
            *at = check_table[i].name;
            check_run(&check_table[i], &checks);
        }
    *at = "evidence and what Slurm knows of the node";
    if (output.faults)
        faults_end(&faults, &checks, kept, sizeof kept);
    accelerators_clear(&accelerators);
    if (options->as_nagios)
        return health_nagios(&summary, clock_s() - begin_s);
    if (options->as_health) {
        if (output.absences)
            absences_save(&absences, checks.node);
        health_gate(checks.node, node_view->inventory, &node_view->conf);
        status = health_run(&summary, checks.node, &node_view->conf);
        if (*kept)
            printf("muster check: %s: %s\n", checks.node, kept);
        return status;
    }
    if (output.facts > 0 && !output.shows_facts && !output.as_json)
        printf("%zu facts for comparison with other nodes: muster check --only=host.config\n",
               output.facts);
    return exit_status(output.worst);
}

static int check(void *context, const char **at)
{
    static struct node_view node_view;
    const struct options *options = context;
    double begin_s = clock_s();
    int status = command_node_open(set.name, options->root, options->config, &node_view);

    if (options->as_health || options->as_nagios) /* leave time for the other checks */
        node_view.conf.gpu_deadline_s = fmin(node_view.conf.gpu_deadline_s, HEALTH_GPUS_S);
    if (status == COMMAND_PASS)
        status = run_checks(options, &node_view, begin_s, at);
    if (options->as_nagios && !node_view.inventory) {
        printf("MUSTER UNKNOWN - the check did not run; run %s --nagios to see the error\n",
               set.name);
        status = 3;
    }
    command_node_close(&node_view);
    return status;
}

static int check_bounded(struct options *options)
{
    char own[HOST_NAME_MAX + 1];
    struct error err;
    int status;

    if (bounded_check(HEALTH_DEADLINE_S, check, options, &status, &err) == 0)
        return status;
    if (options->as_nagios) {
        printf("MUSTER UNKNOWN - %s\n", err.text);
        return 3;
    }
    /* not the name in slurm.conf, which may be on the file system that hangs */
    node_name(own, sizeof own);
    printf("muster check: %s: %s\n", options->node ? options->node : own, err.text);
    return COMMAND_UNKNOWN;
}

int command_check(int argc, char **argv)
{
    struct options options = {0};
    const char *at;
    int status = command_options(&set, argc, argv, &options);

    if (status >= 0)
        return status;
    if (verify_only(options.only) != COMMAND_PASS)
        return COMMAND_USAGE;
    if (options.as_json + options.as_nagios + options.as_health > 1)
        return command_misuse(argv[0], "--json, --nagios and --health are mutually exclusive");
    if (options.as_health && options.root)
        return command_misuse(argv[0],
                              "--root cannot be combined with --health, which checks this machine");
    return options.as_health || options.as_nagios ? check_bounded(&options) : check(&options, &at);
}
