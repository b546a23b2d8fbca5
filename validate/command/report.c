/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "validate/command/command.h"
#include "validate/command/report.h"
#include "validate/history/recall.h"
#include "validate/report/format.h"
#include "validate/report/progress.h"
#include "validate/report/recordfile.h"

static const char name[] = "muster report";

struct options {
    const char *run, *output, *config;
    int format; /* in report_formats */
    char **files;
    int file_count;
};

static void print_formats(FILE *stream)
{
    fputs("Formats:\n", stream);
    for (const struct report_format *format = report_formats; format->name; format++)
        fprintf(stream, "  %-10s  %s\n", format->name, format->help);
}

static const struct option_row rows[] = {
    COMMAND_CONFIG(struct options),
    OPTION('f', "format", "FORMAT", "output format", CHOICE, OPTION_FIELD(struct options, format),
           .choices = REPORT_FORMATS, .initial = "table"),
    OPTION('o', "output", "FILE",
           "write to this file instead of standard output; it is replaced only when the report is "
           "complete",
           TEXT, OPTION_FIELD(struct options, output)),
    OPTION('r', "run", "ID",
           "report this run instead of the newest; for the history, a prefix of its ID is enough",
           TEXT, OPTION_FIELD(struct options, run)),
    OPTION_END,
};
static const struct option_set set = {
    .name = "muster report",
    .usage = "muster report [OPTION...] [FILE...]",
    .summary = "Reports the results of a run: from FILEs written by muster certify --json and the "
               "battery programs (-: standard input), or without FILE from the history.",
    .status = "0 written, 2 usage, 3 not written, or lines of a file or the history left out.",
    .rows = rows,
    .print_more = print_formats,
    .words = INT_MAX,
};

static void print_message(const char *text, void *progress)
{
    progress_print(progress, "%s: %s; left out", name, text);
}

static void at(const char *file, long lines, double share, void *progress)
{
    if (isnan(share))
        progress_doing(progress, "%s, %ld lines", file, lines);
    else
        progress_doing(progress, "%s, %.0f %%", file, 100 * share);
}

/* Reads the files. Returns 0, or -1 after an error. *is_whole: whether all lines were read. */
static int files_read(const struct options *options, struct records *records,
                      struct progress *progress, bool *is_whole)
{
    const struct recordfile_listener listener = {print_message, at, progress};
    struct error err;

    for (int i = 0; i < options->file_count; i++) {
        long out;

        progress_begin(progress, "reading");
        out = recordfile_read(options->files[i], records, &listener, &err);
        progress_drop(progress);
        if (out < 0) {
            fprintf(stderr, "%s: %s\n", name, err.text);
            return -1;
        }
        *is_whole &= out == 0;
    }
    return 0;
}

static int run_recall(const struct options *options, const char *path, struct records *records)
{
    struct error err;
    int rv = recall_run(path, options->run ? options->run : "last", records, &err);

    if (rv != 0)
        fprintf(stderr, "%s: %s%s\n", name, err.text,
                rv == 1 ? "; name a run of muster history, or a file of records" : "");
    return rv;
}

struct filler {
    struct survey *survey;
    const struct history_span *spans;
    const struct survey_past **good; /* of each span: the last good run */
    size_t next;                     /* the first span without a change so far */
    bool is_out_of_memory;
};

static void past_take(const struct history_node *node, void *context)
{
    struct filler *filler = context;
    const struct survey *survey = filler->survey;
    struct survey_past past = {.run = node->run,
                               .node = node->node,
                               .part = node->part,
                               .message = node->message,
                               .time = node->time,
                               .rail_mbps = node->rail_mbps,
                               .expires = NAN,
                               .verdict = node->verdict,
                               .code = node->code,
                               .is_suspect = node->is_suspect,
                               .lacks_facts = node->lacks_facts};
    struct tm day = {0};

    if (survey_node(survey, node->node) < 0 && survey->past_count > 0 &&
        strcmp(survey->past[survey->past_count - 1].node, node->node) == 0)
        return; /* a node outside of the run already has its newest run */
    if (*node->certified_until && strptime(node->certified_until, "%Y-%m-%d %H:%M", &day))
        past.expires = (double)timegm(&day);
    filler->is_out_of_memory |= survey_add_past(filler->survey, &past) != 0;
}

/* The number of past runs in a report for each node of the run; fewer for very many nodes. Of other
 * nodes only the newest run is in it. */
enum { RUNS_OF_A_NODE = 30, RUNS_LEAST = 4, RUNS_IN_ALL = 65536 };

static int runs_of_a_node(size_t nodes)
{
    size_t runs = RUNS_IN_ALL / (nodes > 0 ? nodes : 1);

    return runs > RUNS_OF_A_NODE ? RUNS_OF_A_NODE : runs < RUNS_LEAST ? RUNS_LEAST : (int)runs;
}

static void change_add(struct filler *filler, size_t span, const char *fact, const char *before,
                       const char *after)
{
    const struct survey_past *good = filler->good[span];
    const struct survey_change change = {good->node, good->run, good->time, fact, before, after};

    filler->is_out_of_memory |= survey_add_change(filler->survey, &change) != 0;
    filler->next = span + 1;
}

static void change_take(const struct history_change *change, void *context)
{
    struct filler *filler = context;
    size_t span = (size_t)(change->span - filler->spans);

    while (filler->next < span)
        change_add(filler, filler->next, "", NULL, NULL);
    change_add(filler, span, change->fact, change->before, change->after);
}

/* Adds what changed on nodes that did not pass from the last good run of each to this one. Only if
 * the history has this run, it has its facts; of some nodes it has none. */
static int changes_find(struct filler *filler, const char *path, struct error *err)
{
    const struct survey *survey = filler->survey;
    struct history_span *spans = calloc(survey->node_count + 1, sizeof *spans);
    const struct survey_past **good = calloc(survey->node_count + 1, sizeof *good);
    struct history_run run;
    const char *silent = "";
    char text[192];
    size_t count = 0;
    int rv = history_run_find(path, survey->run, &run, text, err);

    filler->spans = spans;
    filler->good = good;
    filler->is_out_of_memory = !spans || !good;
    for (size_t i = 0; rv > 0 && spans && good && i < survey->past_count; i++) {
        const struct survey_past *past = &survey->past[i];
        long node = survey_node(survey, past->node);

        if (past->lacks_facts && strcmp(past->run, run.run) == 0)
            silent = past->node;
        if (strcmp(run.run, survey->run) != 0 || node < 0 || strcmp(silent, past->node) == 0 ||
            survey->nodes[node].verdict < VERDICT_WARN || past->time >= run.time ||
            past->verdict != VERDICT_PASS ||
            (count > 0 && strcmp(good[count - 1]->node, past->node) == 0))
            continue;
        good[count] = past;
        spans[count++] = (struct history_span){past->node, past->time, run.time};
    }
    if (count > 0)
        rv = history_changes(path, spans, count, change_take, filler, err);
    while (rv >= 0 && filler->next < count)
        change_add(filler, filler->next, "", NULL, NULL);
    free(spans);
    free(good);
    return rv;
}

int report_past(struct survey *survey, const char *path, struct error *err)
{
    struct filler filler = {survey};
    int rv = history_nodes_past(path, survey->cluster, runs_of_a_node(survey->node_count),
                                past_take, &filler, err);

    if (rv > 0 && !filler.is_out_of_memory)
        rv = changes_find(&filler, path, err);
    if (rv >= 0 && filler.is_out_of_memory)
        rv = error_set(err, "%s: no memory", path);
    return rv < 0 ? -1 : 0;
}

/* Returns the exit status. */
static int report(const struct options *options, const struct conf *conf)
{
    struct records records = {0};
    struct survey survey = {0};
    struct progress progress;
    struct error err;
    bool is_whole = true;
    const char *run = options->file_count > 0 ? options->run : NULL; /* else only it was read */
    int rv;

    progress_init(&progress, stderr);
    rv = options->file_count > 0 ? files_read(options, &records, &progress, &is_whole)
                                 : run_recall(options, conf->history_path, &records);
    progress_begin(&progress, "writing");
    if (rv == 0 && survey_build(&records, run, &survey, &err) != 0) {
        progress_print(&progress, "%s: %s: %s", name,
                       options->file_count == 1 ? options->files[0] : "the files", err.text);
        rv = -1;
    }
    if (rv == 0 && survey.other_runs > 0)
        progress_print(&progress, "%s: run %s; %zu records of other runs left out", name,
                       survey.run, survey.other_runs);
    if (rv == 0 && report_past(&survey, conf->history_path, &err) != 0) {
        progress_print(&progress, "%s: history: %s; left out", name, err.text);
        is_whole = false;
    }
    if (strcmp(options->output, "-") == 0)
        progress_drop(&progress); /* the report may go to the same terminal */
    if (rv == 0 &&
        format_save(&report_formats[options->format], &survey, options->output, &err) != 0) {
        progress_print(&progress, "%s: %s", name, err.text);
        rv = -1;
    }
    progress_drop(&progress);
    survey_clear(&survey);
    records_clear(&records);
    return rv == 0 && is_whole ? COMMAND_PASS : COMMAND_UNKNOWN;
}

int command_report(int argc, char **argv)
{
    struct options options = {.output = "-"};
    struct conf conf;
    int status = command_options(&set, argc, argv, &options);

    if (status >= 0)
        return status;
    options.files = argv + optind;
    options.file_count = argc - optind;
    status = command_conf(name, options.config, &conf);
    if (status == COMMAND_PASS)
        status = report(&options, &conf);
    conf_clear(&conf);
    return status;
}
