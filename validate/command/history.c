/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/history/history.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "validate/command/command.h"
#include "validate/report/table.h"

enum { RUNS_DEFAULT = 20, NODES_MAX = 65536 };

struct listing {
    const char *path;
    struct table table;
    bool as_json, is_one_node;
};

static const char *time_text(double seconds, char text[32])
{
    time_t whole = (time_t)seconds;
    struct tm day;

    gmtime_r(&whole, &day);
    strftime(text, 32, "%Y-%m-%d %H:%M", &day);
    return text;
}

static void print_record(const struct history_node *node)
{
    struct record record = RECORD_INIT;

    record.suite = "certify";
    record.test = "certify";
    record.run = node->run;
    record.time = node->time;
    record.node = node->node;
    record.part = node->part;
    record.verdict = node->verdict;
    record.message = node->message;
    record_write(stdout, &record);
}

static void add_row(const struct history_node *node, void *context)
{
    struct listing *listing = context;
    struct table *table = &listing->table;
    char text[32];
    double since;

    if (listing->as_json) {
        print_record(node);
        return;
    }
    table_cell(table, VERDICT_NONE, "%s", node->node);
    table_cell(table, VERDICT_NONE, "%s", time_text(node->time, text));
    table_cell(table, node->verdict, "%s",
               node->verdict == VERDICT_PASS   ? "certified"
               : node->verdict == VERDICT_FAIL ? "FAILED"
                                               : "unknown");
    if (!listing->is_one_node) {
        since = history_since(listing->path, node->node, NULL);
        table_cell(table, VERDICT_NONE, "%s", since > 0 ? time_text(since, text) : "-");
    }
    table_cell(table, VERDICT_NONE, "%s", *node->level ? node->level : "-");
    if (isnan(node->rail_mbps))
        table_cell(table, VERDICT_NONE, "-");
    else
        table_cell(table, VERDICT_NONE, "%.0f Mb/s", node->rail_mbps);
    table_cell(table, VERDICT_NONE, "%s", *node->certified_until ? node->certified_until : "-");
    table_cell(table, VERDICT_NONE, "%s", node->run);
    if (*node->part && strncmp(node->message, node->part, strlen(node->part)) != 0)
        table_cell(table, VERDICT_NONE, "%s: %s", node->part, node->message);
    else
        table_cell(table, VERDICT_NONE, "%s", *node->message ? node->message : "-");
}

static void add_heading(struct listing *listing)
{
    static const char *const names[] = {"NODE",         "LAST",  "VERDICT",           "SINCE",
                                        "LEVEL",        "LINKS", "CERTIFICATE UNTIL", "RUN",
                                        "PART AT FAULT"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (listing->is_one_node && strcmp(names[i], "SINCE") == 0)
            continue;
        table_cell(&listing->table, VERDICT_NONE, "%s",
                   listing->is_one_node && i == 1 ? "TIME" : names[i]);
        listing->table.columns++;
    }
}

static void print_help(void)
{
    printf("Usage: muster history [OPTION...] [NODE]\n"
           "What the runs of muster certify on this host found: of each node the newest verdict\n"
           "and since when it stands, or the newest runs of one node.\n"
           "\n"
           "  -n, --runs N       so many runs of NODE [%d]\n"
           "  -j, --json         a record a line\n"
           "  -c, --config FILE  the configuration, instead of $MUSTER_CONF or muster.conf\n"
           "  -h, --help         this text\n",
           RUNS_DEFAULT);
}

int command_history(int argc, char **argv)
{
    static const struct option options[] = {
        {"config", required_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},
        {"json", no_argument, NULL, 'j'},
        {"runs", required_argument, NULL, 'n'},
        {NULL, 0, NULL, 0},
    };
    struct listing listing = {0};
    const char *config = NULL, *node;
    struct conf conf;
    struct error err;
    long runs = RUNS_DEFAULT;
    int option, count, status;
    char *end;

    while ((option = getopt_long(argc, argv, "c:hjn:", options, NULL)) != -1) {
        switch (option) {
        case 'c':
            config = optarg;
            break;
        case 'h':
            print_help();
            return COMMAND_PASS;
        case 'j':
            listing.as_json = true;
            break;
        case 'n':
            runs = strtol(optarg, &end, 10);
            if (*end || end == optarg || runs < 1 || runs > 1000000) {
                fprintf(stderr, "muster history: runs is '%s', expected a number from 1\n", optarg);
                return command_usage_error("muster history");
            }
            break;
        default:
            return command_usage_error("muster history");
        }
    }
    node = optind < argc ? argv[optind] : NULL;
    if (optind + 1 < argc) {
        fprintf(stderr, "muster history: what is '%s'?\n", argv[optind + 1]);
        return command_usage_error("muster history");
    }
    status = command_conf("muster history", config, &conf);
    if (status != COMMAND_PASS) {
        conf_clear(&conf);
        return status;
    }
    listing.path = conf.history_path;
    listing.is_one_node = node != NULL;
    add_heading(&listing);
    count = history_nodes(conf.history_path, node, node ? (int)runs : NODES_MAX, add_row, &listing,
                          &err);
    if (count < 0) {
        fprintf(stderr, "muster history: %s\n", err.text);
        status = COMMAND_UNKNOWN;
    } else if (count == 0) {
        fprintf(stderr, "muster history: no run of muster certify%s%s is known in %s\n",
                node ? " on " : "", node ? node : "", conf.history_path);
    } else if (!listing.as_json) {
        table_print(&listing.table, stdout, table_has_colour(stdout));
    }
    table_clear(&listing.table);
    conf_clear(&conf);
    return status;
}
