/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/suspects/suspect_reports.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/hostlist.h"
#include "lib/base/read_all.h"
#include "lib/base/text.h"
#include "validate/command/command.h"

enum { INPUT_MOST_BYTES = 64 << 20 };

struct options {
    const char *node, *remove, *directory;
    bool as_json, is_leave;
};

static const struct option_row rows[] = {
    OPTION('d', "directory", "DIR", "directory of the suspect reports, instead of this node's",
           TEXT, OPTION_FIELD(struct options, directory)),
    COMMAND_JSON(struct options),
    OPTION(
        '\0', "leave", NULL,
        "store the suspect reports of standard input that this node holds: lines of holder, node, "
        "job, test, part and message, separated by tabs; run by muster preflight",
        FLAG, OPTION_FIELD(struct options, is_leave)),
    COMMAND_NODE(struct options),
    OPTION(
        '\0', "remove", "LIST",
        "remove the suspect reports about these nodes, and files that are not suspect reports; - "
        "reads the list from standard input",
        TEXT, OPTION_FIELD(struct options, remove)),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster suspects",
    .summary = "Lists the suspect reports left on this node by users' failed preflights. Needs "
               "root. A suspect report drains no node: muster certify --suspects tests the node "
               "again and removes the report.",
    .status = "0 done, 1 not done, 2 usage.",
    .rows = rows,
};

static int failed(const struct options *options, const struct error *err)
{
    return command_failed(COMMAND_FAIL, set.name, "%s: %s", options->node, err->text);
}

#define COUNT_OF(options, metric_, value_)                                                         \
    RECORD(.metric = metric_, .node = (options)->node, .value = value_, .unit = "count")

/* Prints a line of text, or the record completed with its common fields. */
static void __attribute__((format(printf, 3, 4)))
print_result(const struct options *options, struct record record, const char *format, ...)
{
    char text[512];

    TEXT_FORMAT(text, sizeof text, format);
    record.suite = "suspects";
    record.test = "preflight.suspects";
    record.peer = options->node;
    if (options->as_json)
        record_put(stdout, record, "%s", text);
    else
        printf("%s\n", text);
}

static int list(const struct options *options)
{
    struct suspect_reports_overflow overflow;
    struct suspect_report *reports;
    struct error err;
    int count = suspect_reports_read(options->directory, &reports, &overflow, &err);

    if (count < 0)
        return failed(options, &err);
    for (int i = 0; i < count; i++) {
        const struct suspect_report *report = &reports[i];
        char text[512], run[64];

        suspect_report_describe(report, text, sizeof text);
        snprintf(run, sizeof run, SUSPECT_REPORT_RUN, report->job_id, (unsigned)report->uid);
        if (!options->as_json)
            printf("%s: ", report->node);
        print_result(options,
                     RECORD(.run = run, .time = (double)report->made, .node = report->node,
                            .part = report->part, .verdict = VERDICT_WARN),
                     "%s", text);
    }
    if (overflow.files > 0)
        print_result(
            options, COUNT_OF(options, "overflow", (double)overflow.files),
            "removed %zu files beyond the limit of %d per user and %d in total, most of user %u",
            overflow.files, SUSPECT_REPORTS_OF_USER, SUSPECT_REPORTS_MAX, (unsigned)overflow.uid);
    if (count == 0) /* shows that the reports were read */
        print_result(options, COUNT_OF(options, "suspect_reports", 0), "no suspect reports");
    free(reports);
    return COMMAND_PASS;
}

static int remove_some(const struct options *options)
{
    struct hostlist names;
    struct error err;
    char *given = NULL;
    int removed, rv = 0;

    if (strcmp(options->remove, "-") == 0 &&
        !(given = read_to_end(STDIN_FILENO, INPUT_MOST_BYTES, &err)))
        rv = error_prefix(&err, "standard input");
    if (rv == 0)
        rv = hostlist_expand(given ? given : options->remove, &names, &err);
    free(given);
    if (rv != 0) {
        failed(options, &err);
        return COMMAND_USAGE;
    }
    removed = suspect_reports_remove(options->directory, names.names, names.count, &err);
    hostlist_clear(&names);
    if (removed < 0)
        return failed(options, &err);
    print_result(options, COUNT_OF(options, "removed", removed), "%d suspect report%s removed",
                 removed, text_plural((size_t)removed));
    return COMMAND_PASS;
}

/* Parses "holder node job test part message". Returns 1; 0 if another node is to keep the report;
 * -1 if it is no such line. */
static int line_read(const struct options *options, char *line, struct suspect_report *report)
{
    char *words[6], *end;
    unsigned long job;

    for (int i = 0; i < 6; i++) {
        words[i] = strsep(&line, i < 5 ? "\t" : "\n");
        if (!words[i])
            return -1;
    }
    errno = 0;
    job = strtoul(words[2], &end, 10);
    if (!isdigit((unsigned char)*words[2]) || *end || errno || job == 0 || job > UINT32_MAX ||
        strlen(words[1]) >= sizeof report->node)
        return -1;
    *report = (struct suspect_report){.job_id = (uint32_t)job};
    strcpy(report->node, words[1]);
    snprintf(report->test, sizeof report->test, "%s", words[3]);
    snprintf(report->part, sizeof report->part, "%s", words[4]);
    snprintf(report->message, sizeof report->message, "%s", words[5]);
    return strcmp(words[0], options->node) == 0;
}

static int leave(const struct options *options)
{
    int status = COMMAND_PASS;
    struct error err;
    char *line = NULL;
    size_t size = 0;

    for (int number = 1; getline(&line, &size, stdin) > 0; number++) {
        struct suspect_report report;
        int is_ours = line_read(options, line, &report);

        if (is_ours < 0) {
            error_set(&err, "standard input, line %d: not a suspect report", number);
            status = failed(options, &err);
        } else if (is_ours && suspect_report_write(options->directory, &report, &err) < 0) {
            status = failed(options, &err);
        }
    }
    if (ferror(stdin)) {
        error_set(&err, "standard input: %m");
        status = failed(options, &err);
    }
    free(line);
    return status;
}

int command_suspects(int argc, char **argv)
{
    struct options options = {0};
    struct error err;
    char directory[4096];
    int status = command_options(&set, argc, argv, &options);

    if (status >= 0)
        return status;
    if (options.is_leave && options.remove)
        return command_misuse(argv[0], "--leave and --remove are mutually exclusive");
    if (!options.directory && !options.is_leave && geteuid() != 0)
        return command_misuse(argv[0], "needs root");
    options.node = command_node(options.node, "");
    if (!options.directory) {
        suspect_reports_directory("", directory, sizeof directory);
        options.directory = directory;
    } else if (access(options.directory, F_OK) != 0) { /* a default one may not exist yet */
        error_set(&err, "%s: %m", options.directory);
        return failed(&options, &err);
    }
    return options.is_leave ? leave(&options)
           : options.remove ? remove_some(&options)
                            : list(&options);
}
