/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "validate/command/command.h"
#include "validate/history/campaign.h"

enum { PAIRS_MOST = 100000 };

static void print_help(void)
{
    puts(
        "Usage: muster certify [OPTION...]\n"
        "Tests nodes in an allocation of their own, certifies the good ones and drains the bad\n"
        "ones with the part at fault as the reason. Without -w or -p: all idle nodes, and those\n"
        "that muster itself drained. Nodes that others drained or use are left alone.\n"
        "\n"
        "  -w, --nodes LIST       these nodes: n[1-4]; one alone is tested with free partners\n"
        "  -p, --partition NAME   the nodes of this partition\n"
        "  -l, --level LEVEL      quick (default), standard or full\n"
        "  -s, --suspects         only nodes that a failed preflight left a claim about, or that\n"
        "                         have a strike against them, and two partners\n"
        "      --due              only nodes whose certificate is missing or ends within a day,\n"
        "                         and partners for them\n"
        "      --campaign NAME    all nodes, or those of -w or -p, in runs of those that are "
        "free,\n"
        "                         until each was tested since the campaign began; asked again, it\n"
        "                         goes on\n"
        "      --nodes-at-a-time N\n"
        "                         a campaign in runs of up to N nodes, and certified ones as\n"
        "                         partners; without --campaign the time is its name\n"
        "      --jitter S         begin after a random part of so many seconds\n"
        "  -n, --dry-run          test, but drain, release and certify nobody\n"
        "      --no-drain         certify, but drain nobody\n"
        "  -j, --json FILE        all records as JSON lines; - is standard output\n"
        "      --junit FILE       the verdicts as JUnit XML\n"
        "  -r, --report FORMAT:FILE\n"
        "                         a report, any number of them: html, junit, prometheus, csv, "
        "json\n"
        "                         or table, as muster report makes it\n"
        "  -c, --config FILE      instead of $MUSTER_CONF or muster.conf\n"
        "      --mpi TYPE         srun's --mpi for the MPI programs, if not the cluster's default\n"
        "      --time-limit S     seconds that the tests may take, instead of QuickBudget,\n"
        "                         StandardBudget or FullBudget\n"
        "      --concurrency K    pairs of nodes measured at once, instead of Concurrency\n"
        "  -h, --help             this text\n"
        "\n"
        "Exit status: 0 all certified, 1 some failed, 2 usage, 3 could not tell or interrupted.");
}

/* "html:FILE". */
static int report_add(struct certify_options *options, char *text)
{
    char *colon = strchr(text, ':');
    const struct report_format *format;

    if (!colon || !colon[1] || options->report_count == CERTIFY_REPORTS)
        return -1;
    *colon = '\0';
    format = format_find(text);
    *colon = ':';
    if (!format)
        return -1;
    options->reports[options->report_count].format = format;
    options->reports[options->report_count++].path = colon + 1;
    return 0;
}

/* Returns 0 where it is no number in its range. */
static int pairs_read(const char *text)
{
    char *end;
    long pairs = strtol(text, &end, 10);

    return end == text || *end || pairs < 1 || pairs > PAIRS_MOST ? 0 : (int)pairs;
}

int certify_options_read(int argc, char **argv, struct certify_options *options)
{
    static const struct option table[] = {
        {"nodes", required_argument, NULL, 'w'},
        {"nodelist", required_argument, NULL, 'w'},
        {"partition", required_argument, NULL, 'p'},
        {"level", required_argument, NULL, 'l'},
        {"dry-run", no_argument, NULL, 'n'},
        {"suspects", no_argument, NULL, 's'},
        {"due", no_argument, NULL, 'u'},
        {"campaign", required_argument, NULL, 'G'},
        {"nodes-at-a-time", required_argument, NULL, 'N'},
        {"jitter", required_argument, NULL, 'i'},
        {"no-drain", no_argument, NULL, 'D'},
        {"json", required_argument, NULL, 'j'},
        {"junit", required_argument, NULL, 'J'},
        {"report", required_argument, NULL, 'r'},
        {"config", required_argument, NULL, 'c'},
        {"mpi", required_argument, NULL, 'm'},
        {"time-limit", required_argument, NULL, 't'},
        {"concurrency", required_argument, NULL, 'C'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    char *number_end;
    int option;

    while ((option = command_option(argc, argv, "w:p:l:nsj:r:c:h", table)) != -1) {
        switch (option) {
        case 'w':
            options->nodes = optarg;
            break;
        case 'p':
            options->partition = optarg;
            break;
        case 'l':
            options->has_level = true;
            options->level = LEVEL_QUICK;
            while (options->level < LEVEL_FULL &&
                   strcmp(optarg, certify_level_name(options->level)) != 0)
                options->level++;
            if (strcmp(optarg, certify_level_name(options->level)) != 0)
                return command_misuse("muster certify",
                                      "level is '%s', expected quick, standard or full", optarg);
            break;
        case 'n':
            options->is_dry_run = true;
            break;
        case 's':
            options->is_suspects = true;
            break;
        case 'u':
            options->is_due = true;
            break;
        case 'G':
            if (!campaign_is_name(optarg))
                return command_misuse("muster certify",
                                      "campaign is '%s', expected up to %d letters, digits, '.', "
                                      "'_' and '-', the first a letter or digit",
                                      optarg, CAMPAIGN_NAME - 1);
            options->campaign = optarg;
            options->is_campaign = true;
            break;
        case 'N':
            options->at_a_time = strtol(optarg, &number_end, 10);
            if (number_end == optarg || *number_end || options->at_a_time < 2 ||
                options->at_a_time > 1000000)
                return command_misuse("muster certify",
                                      "nodes at a time is '%s', expected a number from 2", optarg);
            options->is_campaign = true;
            break;
        case 'i':
            if (command_seconds("muster certify", "jitter", optarg, 0, 86400, &options->jitter_s) >=
                0)
                return COMMAND_USAGE;
            break;
        case 'D':
            options->no_drain = true;
            break;
        case 'j':
            options->json_path = optarg;
            break;
        case 'J':
            options->junit_path = optarg;
            break;
        case 'r':
            if (report_add(options, optarg) != 0)
                return command_misuse("muster certify",
                                      "report is '%s', expected html, junit, prometheus, csv, json "
                                      "or table, a colon and a file, at most 16 times",
                                      optarg);
            break;
        case 'c':
            options->config_path = optarg;
            break;
        case 'm':
            options->mpi = optarg;
            break;
        case 't':
            if (command_seconds("muster certify", "time limit", optarg, 10, 86400,
                                &options->budget_s) >= 0)
                return COMMAND_USAGE;
            break;
        case 'C':
            options->concurrency = pairs_read(optarg);
            if (options->concurrency == 0)
                return command_misuse("muster certify",
                                      "concurrency is '%s', expected pairs from 1 to %d", optarg,
                                      PAIRS_MOST);
            break;
        case 'h':
            print_help();
            return COMMAND_PASS;
        default:
            return command_usage_error("muster certify");
        }
    }
    if (optind < argc)
        return command_misuse("muster certify", "what is '%s'? Nodes are named with -w",
                              argv[optind]);
    if (options->is_campaign && (options->is_dry_run || options->is_suspects || options->is_due))
        return command_misuse("muster certify", "a campaign certifies nodes: none of --dry-run, "
                                                "--suspects and --due goes with it");
    if (options->is_campaign && (options->junit_path || options->report_count > 0))
        return command_misuse("muster certify", "a campaign is several runs: --junit and --report "
                                                "do not go with it; muster report makes a report "
                                                "of each");
    if (options->is_due && (options->nodes || options->is_suspects))
        return command_misuse("muster certify",
                              "--due finds its nodes itself: neither -w nor --suspects goes with "
                              "it");
    if (options->is_suspects && options->nodes)
        return command_misuse("muster certify",
                              "--suspects finds its nodes itself: -w does not go with it");
    return -1;
}
