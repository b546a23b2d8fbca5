/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/history/history.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/memory_stream.h"
#include "lib/constants/policy_constants.h"
#include "validate/command/command.h"
#include "validate/report/table.h"

enum { NODES_MAX = 65536 };

struct listing {
    struct table table;
    bool as_json, is_one_node;
};

const char *history_word(enum verdict verdict, bool is_suspect)
{
    if (is_suspect)
        return "suspect";
    return verdict == VERDICT_PASS ? "certified" : verdict == VERDICT_FAIL ? "FAILED" : "unknown";
}

static void print_record(const struct history_node *node)
{
    struct record record = RECORD(.suite = "certify", .test = "certify", .run = node->run,
                                  .time = node->time, .node = node->node, .part = node->part,
                                  .verdict = node->verdict, .message = node->message);

    record_set_code(&record, node->code);
    record_write(stdout, &record);
}

static void add_row(const struct history_node *node, void *context)
{
    struct listing *listing = context;
    struct table *table = &listing->table;

    if (listing->as_json) {
        print_record(node);
        return;
    }
    table_cells(table, "%s\t%s", node->node, history_time(node->time).text);
    table_cell(table, node->verdict, "%s", history_word(node->verdict, node->is_suspect));
    if (!listing->is_one_node)
        table_cell(table, VERDICT_NONE, "%s",
                   node->since > 0 ? history_time(node->since).text : "-");
    table_cell(table, VERDICT_NONE, "%s", *node->level ? node->level : "-");
    if (isnan(node->rail_mbps))
        table_cell(table, VERDICT_NONE, "-");
    else
        table_cell(table, VERDICT_NONE, "%.0f Mb/s", node->rail_mbps);
    table_cells(table, "%s\t%s", *node->certified_until ? node->certified_until : "-", node->run);
    if (*node->part && strncmp(node->message, node->part, strlen(node->part)) != 0)
        table_cell(table, VERDICT_NONE, "%s: %s", node->part, node->message);
    else
        table_cell(table, VERDICT_NONE, "%s", *node->message ? node->message : "-");
}

struct options {
    const char *config, *message;
    bool as_json, is_diff, is_accept, is_campaigns, is_offenders, is_value;
    int runs, job, days;
    char **words;
    int count;
};

static const struct option_row rows[] = {
    OPTION('\0', "accept", NULL,
           "NODE, or a PART of it, was repaired or replaced, or is accepted as it is: ignore its "
           "earlier figures and strikes",
           FLAG, OPTION_FIELD(struct options, is_accept)),
    OPTION('\0', "campaigns", NULL,
           "print the progress of muster certify campaigns; with a NAME also of their nodes", FLAG,
           OPTION_FIELD(struct options, is_campaigns)),
    COMMAND_CONFIG(struct options),
    OPTION('\0', "days", "N", "with --offenders or --value: look back this number of days", INT,
           OPTION_FIELD(struct options, days), OPTION_RANGE(1, 36500), .unset = "90"),
    OPTION('d', "diff", NULL,
           "print what changed between two runs: verdicts, figures beyond noise, facts; a run is "
           "an ID, a prefix of one, last, or previous",
           FLAG, OPTION_FIELD(struct options, is_diff)),
    OPTION('\0', "job", "ID",
           "print error counters and kernel log entries recorded while this job ran, as collected "
           "by muster certify; on a node, root also reads its own log",
           INT, OPTION_FIELD(struct options, job), OPTION_RANGE(1, 2147483647)),
    COMMAND_JSON(struct options),
    OPTION('m', "message", "TEXT", "with --accept: the reason; history shows it", TEXT,
           OPTION_FIELD(struct options, message)),
    OPTION('\0', "offenders", NULL,
           "print nodes and parts that failed, ranked by the number of failures and repairs", FLAG,
           OPTION_FIELD(struct options, is_offenders)),
    OPTION('n', "runs", "N", "show this many runs", INT, OPTION_FIELD(struct options, runs),
           OPTION_RANGE(1, 1000000), .initial = "20"),
    OPTION(
        '\0', "value", NULL,
        "print time and results of each stage of muster certify: nodes failed per node-hour in it",
        FLAG, OPTION_FIELD(struct options, is_value)),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster history",
    .usage = "muster history [OPTION...] [NODE] [PART]\n"
             "muster history [OPTION...] --diff RUN1 RUN2 [NODE]\n"
             "muster history [OPTION...] --accept NODE [PART]\n"
             "muster history [OPTION...] --campaigns [NAME]\n"
             "muster history [OPTION...] --job ID\n"
             "muster history [OPTION...] --offenders\n"
             "muster history [OPTION...] --value",
    .summary =
        "Prints the results of muster certify runs on this host. Without arguments: the newest "
        "verdict of each node, and since when. For a node: its newest runs, its figures in them "
        "and "
        "its changes. For a part (eth1, mlx5_0:1): its figures on all nodes, or on one.",
    .status = "0 done, 2 usage, 3 cannot read or write the history.",
    .rows = rows,
    .words = 3,
};

/* Returns -1 to continue, else the exit status. */
static int options_read(int argc, char **argv, struct options *options)
{
    int status = command_options(&set, argc, argv, options), most;

    if (status >= 0)
        return status;
    options->words = argv + optind;
    options->count = argc - optind;
    if (options->is_campaigns + options->is_diff + options->is_accept + options->is_offenders +
            options->is_value + (options->job > 0) >
        1)
        return command_misuse(set.name, "--campaigns, --diff, --accept, --job, --offenders and "
                                        "--value are mutually exclusive");
    if (options->is_accept && options->count < 1)
        return command_misuse(set.name, "--accept requires a node, and optionally a part");
    if (options->message && !options->is_accept)
        return command_misuse(set.name, "--message needs --accept");
    if (options->days > 0 && !options->is_offenders && !options->is_value)
        return command_misuse(set.name, "--days needs --offenders or --value");
    if (options->days == 0)
        options->days = IDLE_RISK_S / 86400;
    if (options->is_diff && options->count < 2)
        return command_misuse(set.name, "--diff needs two runs: last, previous, or names");
    most = options->is_diff                                                 ? 3
           : options->is_campaigns                                          ? 1
           : options->job > 0 || options->is_offenders || options->is_value ? 0
                                                                            : 2;
    if (options->count > most)
        return command_misuse(set.name, "unexpected argument \"%s\"", options->words[most]);
    return -1;
}

/* Prints the newest run of each node, or the runs of a node. Returns their number, or -1 with err.
 */
static int list_nodes(const struct options *options, const char *path, const char *node,
                      struct error *err)
{
    struct listing listing = {.as_json = options->as_json, .is_one_node = node != NULL};
    int count;

    table_heading(&listing.table,
                  node
                      ? "NODE\tTIME\tVERDICT\tLEVEL\tLINKS\tCERTIFICATE UNTIL\tRUN\tPART AT FAULT"
                      : "NODE\tLAST\tVERDICT\tSINCE\tLEVEL\tLINKS\tCERTIFICATE UNTIL\tRUN\tPART AT "
                        "FAULT");
    count = history_nodes(path, node, node ? options->runs : NODES_MAX, add_row, &listing, err);
    if (count < 0)
        table_clear(&listing.table);
    table_end(&listing.table, stdout, "");
    return count;
}

static int list(const struct options *options, const char *path)
{
    const char *word = options->count > 0 ? options->words[0] : NULL;
    const char *part = options->count > 1 ? options->words[1] : NULL;
    struct error err;
    int count = 0, more = 0;

    if (!part)
        count = list_nodes(options, path, word, &err);
    if (count > 0 && word)
        more = history_trends(path, word, NULL, options->runs, options->as_json, &err);
    else if (count == 0 && word) /* no node of this name: a part */
        more = history_trends(path, part ? word : NULL, part ? part : word, options->runs,
                              options->as_json, &err);
    if (count < 0 || more < 0)
        return command_failed(COMMAND_UNKNOWN, "muster history", "%s", err.text);
    if (count + more == 0)
        fprintf(stderr, "muster history: no run of muster certify%s%s%s%s in %s\n",
                word ? " on " : "", word ? word : "", part ? " " : "", part ? part : "", path);
    return COMMAND_PASS;
}

static int accept_now(const struct options *options, const char *path)
{
    const char *part = options->count > 1 ? options->words[1] : NULL;
    struct error err;
    int rv = history_accept(path, options->words[0], part, options->message, 0, &err);

    if (rv != 0)
        return command_failed(rv > 0 ? COMMAND_USAGE : COMMAND_UNKNOWN, "muster history", "%s",
                              err.text);
    printf("%s%s%s: results of earlier runs are ignored from now on\n", options->words[0],
           part ? " " : "", part ? part : "");
    return COMMAND_PASS;
}

static int run(const struct options *options, const struct conf *conf)
{
    const char *path = conf->history_path, *word = options->count > 0 ? options->words[0] : NULL;

    if (options->job > 0)
        return history_print_job(conf, command_node(NULL, ""), (uint32_t)options->job,
                                 options->as_json);
    if (options->is_offenders)
        return history_print_offenders(path, options->days, options->as_json);
    if (options->is_value)
        return history_print_values(path, options->days, options->as_json);
    if (options->is_campaigns)
        return history_campaigns(path, word, options->as_json);
    if (options->is_accept)
        return accept_now(options, path);
    if (options->is_diff)
        return history_diff(path, word, options->words[1],
                            options->count > 2 ? options->words[2] : NULL, options->as_json);
    return list(options, path);
}

/* Prints JSON only after the database is closed: as long as it is read no run can be stored, and
 * who reads the output, as less does, may take hours. */
static int run_json(const struct options *options, const struct conf *conf)
{
    char *text;
    size_t size;
    FILE *output = stdout, *kept = memory_stream(&text, &size);
    int status = COMMAND_UNKNOWN;

    if (kept) {
        stdout = kept;
        status = run(options, conf);
        stdout = output;
    }
    if (!kept || fclose(kept) != 0)
        status = command_failed(COMMAND_UNKNOWN, set.name, "no memory for the output");
    fwrite(text, 1, size, stdout);
    free(text);
    return status;
}

int command_history(int argc, char **argv)
{
    struct options options = {0};
    struct conf conf;
    int status = options_read(argc, argv, &options);

    if (status >= 0)
        return status;
    status = command_conf("muster history", options.config, &conf);
    if (status == COMMAND_PASS)
        status = (options.as_json ? run_json : run)(&options, &conf);
    conf_clear(&conf);
    return status;
}
