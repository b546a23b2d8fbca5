/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/clock.h"
#include "validate/checks/accelerators.h"
#include "validate/checks/checks.h"
#include "validate/command/command.h"
#include "validate/command/node/health.h"
#include "validate/report/table.h"

#include <getopt.h>
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
    struct health_summary *summary; /* NULL: each record is told as it comes */
};

static void print_record(const struct record *record, void *context)
{
    struct output *output = context;
    const char *part = record->part ? record->part : "";

    if (record->verdict > output->worst)
        output->worst = record->verdict;
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

static void print_help(void)
{
    puts("Usage: muster check [OPTION...]\n"
         "Tells what this node can know about itself, in under a second.\n"
         "\n"
         "  -c, --config FILE  the configuration, instead of $MUSTER_CONF or muster.conf\n"
         "      --health       for Slurm's HealthCheckProgram: prints only what failed; with\n"
         "                     HealthDrain=yes in the configuration drains this node when a part\n"
         "                     of it is missing or dead; removes the certificate of a\n"
         "                     node that muster drained after its issue\n"
         "  -j, --json         records as JSON lines, nothing else\n"
         "      --nagios       one line and the exit status of a Nagios plugin: 0 OK, 1 WARNING,\n"
         "                     2 CRITICAL, 3 UNKNOWN\n"
         "  -n, --node NAME    Slurm's name of this node, instead of $SLURMD_NODENAME or the\n"
         "                     name that slurm.conf has for this host\n"
         "  -o, --only TEST    only these tests: names, or beginnings such as net, with commas\n"
         "  -r, --root DIR     a recorded tree instead of this machine; then no configuration is\n"
         "                     read but one named with --config\n"
         "  -h, --help         this text\n"
         "\n"
         "Tests:");
    for (size_t i = 0; i < check_count; i++)
        printf("  %-14s  %s\n", check_table[i].name, check_table[i].help);
    puts("\n"
         "Exit status: 0 nothing failed, 1 something did, 2 usage, 3 something could not be told.");
}

static bool is_test(const char *word)
{
    for (size_t i = 0; i < check_count; i++)
        if (word[0] && check_is_wanted(&check_table[i], word))
            return true;
    return false;
}

/* Every word of only must mean a test. */
static int verify_only(const char *name, const char *only)
{
    char *text = only ? strdup(only) : NULL, *rest = text, *word;
    int status = COMMAND_PASS;

    while (status == COMMAND_PASS && (word = strsep(&rest, ","))) {
        if (is_test(word))
            continue;
        fprintf(stderr, "%s: no test '%s'; the tests are", name, word);
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

/* The libraries of accelerators are asked only for a test that needs them. */
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

static int run_checks(const struct options *options, const struct look *look, double begin_s)
{
    static struct accelerators accelerators;
    struct health_summary summary = {.lets_rails_fail = look->conf.allow_failed_rails > 0};
    struct output output = {
        options->as_json,      table_has_colour(stdout),
        options->only != NULL, 0,
        VERDICT_NONE,          options->as_nagios || options->as_health ? &summary : NULL};
    struct checks checks = {.root = strcmp(look->root, "/") == 0 ? "" : look->root,
                            .node = command_node(options->node, look->root),
                            .conf = &look->conf,
                            .inventory = look->inventory,
                            .fabric = &look->fabric,
                            .watches = options->as_health || options->as_nagios,
                            .keeps_log = options->as_health,
                            .sink = print_record,
                            .context = &output};

    if (needs_accelerators(options->only)) {
        accelerators_read(checks.root, look->inventory, &look->conf, &accelerators);
        checks.accelerators = has_accelerators(&accelerators) ? &accelerators : NULL;
    }
    for (size_t i = 0; i < check_count; i++)
        if (check_is_wanted(&check_table[i], options->only))
            check_table[i].run(&checks, check_table[i].name);
    accelerators_clear(&accelerators);
    if (options->as_nagios)
        return health_nagios(&summary, clock_s() - begin_s);
    if (options->as_health) {
        health_gate("muster check", checks.node, look->inventory, &look->conf);
        return health_run("muster check", &summary, checks.node, &look->conf);
    }
    if (output.facts > 0 && !output.shows_facts && !output.as_json)
        printf("%zu facts to compare with other nodes: muster check --only host.config\n",
               output.facts);
    return exit_status(output.worst);
}

static int check(const char *name, const struct options *options)
{
    static struct look look;
    double begin_s = clock_s();
    int status = command_look_open(name, options->root, options->config, &look);

    if (status == COMMAND_PASS)
        status = run_checks(options, &look, begin_s);
    if (options->as_nagios && !look.inventory) {
        printf("MUSTER UNKNOWN - the check did not run; %s --nagios says why on standard error\n",
               name);
        status = 3;
    }
    command_look_close(&look);
    return status;
}

int command_check(int argc, char **argv)
{
    static const struct option long_options[] = {
        {"config", required_argument, NULL, 'c'},
        {"health", no_argument, NULL, 'H'},
        {"help", no_argument, NULL, 'h'},
        {"json", no_argument, NULL, 'j'},
        {"nagios", no_argument, NULL, 'N'},
        {"node", required_argument, NULL, 'n'},
        {"only", required_argument, NULL, 'o'},
        {"root", required_argument, NULL, 'r'},
        {NULL, 0, NULL, 0},
    };
    struct options options = {0};
    int option;

    while ((option = command_option(argc, argv, "c:hjn:o:r:", long_options)) != -1) {
        switch (option) {
        case 'c':
            options.config = optarg;
            break;
        case 'h':
            print_help();
            return COMMAND_PASS;
        case 'H':
            options.as_health = true;
            break;
        case 'N':
            options.as_nagios = true;
            break;
        case 'j':
            options.as_json = true;
            break;
        case 'n':
            options.node = optarg;
            break;
        case 'o':
            options.only = optarg;
            break;
        case 'r':
            options.root = optarg;
            break;
        default:
            return command_usage_error(argv[0]);
        }
    }
    if (optind < argc)
        return command_word_error(argv[0], argv[optind]);
    if (verify_only(argv[0], options.only) != COMMAND_PASS)
        return COMMAND_USAGE;
    if (options.as_json + options.as_nagios + options.as_health > 1)
        return command_misuse(argv[0], "of --json, --nagios and --health only one at a time");
    if (options.as_health && options.root)
        return command_misuse(argv[0],
                              "--health is about this machine: --root does not go with it");
    return check(argv[0], &options);
}
