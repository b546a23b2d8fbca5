/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/history/history.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "validate/command/command.h"
#include "validate/report/table.h"

/* Finds what changed between two runs: verdicts, figures beyond the noise, facts. */

struct node_then {
    char *name, *message;
    enum verdict then, now; /* VERDICT_NONE: not in that run */
    bool was_suspect, is_suspect;
};

struct diff {
    const char *path, *node;
    struct history_run then, now;
    char then_text[192], now_text[192];
    bool as_json;
    int lines;
    struct node_then *nodes;
    size_t node_count;
    struct hostlist folded; /* nodes of the change that is being collected */
    char *fact, *before, *after;
    bool is_out_of_memory;
    struct table table;
};

/* Returns 0, or -1 with the old text unchanged if memory is out. */
static int text_set(char **field, const char *text)
{
    char *copy = strdup(text);

    if (!copy)
        return -1;
    free(*field);
    *field = copy;
    return 0;
}

#define report(diff, test_, node_, verdict_, ...)                                                  \
    record_put(stdout,                                                                             \
               RECORD(.suite = "history", .test = test_, .run = (diff)->now.run,                   \
                      .time = (diff)->now.time, .node = node_, .verdict = verdict_),               \
               __VA_ARGS__)

/* ---------------------------------------------------------------- verdicts */

static const char *word(enum verdict verdict, bool is_suspect)
{
    return verdict == VERDICT_NONE ? "not in it" : history_word(verdict, is_suspect);
}

static void take_node(const struct history_node *node, void *context)
{
    struct diff *diff = context;
    bool is_now = strcmp(node->run, diff->now.run) == 0;
    struct node_then *last = diff->node_count ? &diff->nodes[diff->node_count - 1] : NULL;

    if (diff->is_out_of_memory)
        return;
    if (!last || strcmp(last->name, node->node) != 0) {
        char *name = strdup(node->node);

        if (!GROW(diff->nodes, diff->node_count) || !name) {
            free(name);
            diff->is_out_of_memory = true;
            return;
        }
        last = &diff->nodes[diff->node_count++];
        *last = (struct node_then){.name = name};
    }
    *(is_now ? &last->now : &last->then) = node->verdict;
    *(is_now ? &last->is_suspect : &last->was_suspect) = node->is_suspect;
    if ((is_now || last->now == VERDICT_NONE) && text_set(&last->message, node->message) != 0)
        diff->is_out_of_memory = true;
}

static int diff_verdicts(struct diff *diff, struct error *err)
{
    if (history_nodes_of_runs(diff->path, diff->then.run, diff->now.run, diff->node, take_node,
                              diff, err) < 0)
        return -1;
    if (diff->is_out_of_memory)
        return error_set(err, "no memory for the nodes");
    table_heading(&diff->table, "NODE\tBEFORE\tAFTER\tWHY");
    for (size_t i = 0; i < diff->node_count; i++) {
        const struct node_then *node = &diff->nodes[i];
        const char *was = word(node->then, node->was_suspect);
        const char *is = word(node->now, node->is_suspect);

        if (node->then == node->now && node->was_suspect == node->is_suspect)
            continue;
        diff->lines++;
        if (diff->as_json) {
            report(diff, "certify", node->name, node->now, "was %s, is %s%s%s", was, is,
                   *node->message ? ": " : "", node->message);
            continue;
        }
        table_cell(&diff->table, VERDICT_NONE, "%s", node->name);
        table_cell(&diff->table, node->then, "%s", was);
        table_cell(&diff->table, node->now, "%s", is);
        table_cell(&diff->table, VERDICT_NONE, "%s", *node->message ? node->message : "-");
    }
    table_end(&diff->table, stdout, "\n");
    return 0;
}

/* ---------------------------------------------------------------- figures */

static const struct series_point *point_of(const struct series *series, const char *run)
{
    for (size_t i = 0; i < series->count; i++)
        if (strcmp(series->points[i].run, run) == 0)
            return &series->points[i];
    return NULL;
}

static void diff_figure(const struct series *series, void *context)
{
    struct diff *diff = context;
    const struct series_point *then = point_of(series, diff->then.run);
    const struct series_point *now = point_of(series, diff->now.run);
    double change;
    bool is_worse;

    if (!then || !now || !(then->value > 0))
        return;
    change = now->value / then->value - 1;
    if (!(fabs(change) > series_noise(series)))
        return;
    diff->lines++;
    is_worse = (change < 0) == (strcmp(series->unit, "us") != 0);
    if (diff->as_json) {
        series_print_record(series, now, then->value);
        return;
    }
    table_cells(&diff->table, "%s\t%s\t%s\t%.4g\t%.4g %s", *series->node ? series->node : "-",
                series->part, series->metric, then->value, now->value, series->unit);
    table_cell(&diff->table, is_worse ? VERDICT_WARN : VERDICT_PASS, "%+.0f %%", 100 * change);
}

static int diff_figures(struct diff *diff, struct error *err)
{
    int result;

    table_heading(&diff->table, "NODE\tPART\tFIGURE\tBEFORE\tAFTER\tCHANGE");
    result = series_each(diff->path, diff->node, NULL, INT_MAX, diff_figure, diff, err);
    table_end(&diff->table, stdout, "\n");
    return result;
}

/* ---------------------------------------------------------------- facts */

static void report_fact(struct diff *diff)
{
    char *nodes = hostlist_fold(&diff->folded);

    for (size_t i = 0; i < diff->folded.count && diff->as_json; i++)
        report(diff, "host.config", diff->folded.names[i], VERDICT_NONE, "%s: %s -> %s", diff->fact,
               diff->before, diff->after);
    if (diff->folded.count > 0 && !diff->as_json)
        table_cells(&diff->table, "%s\t%s\t%s\t%s", nodes ? nodes : "?", diff->fact, diff->before,
                    diff->after);
    free(nodes);
    hostlist_clear(&diff->folded);
}

/* Collects the nodes of one change; changes come sorted by fact and values. */
static void take_change(const struct history_change *change, void *context)
{
    struct diff *diff = context;
    const char *before = change->before ? change->before : "unknown";
    const char *after = change->after ? change->after : "unknown";

    bool is_another = !diff->fact || strcmp(diff->fact, change->fact) != 0 ||
                      strcmp(diff->before, before) != 0 || strcmp(diff->after, after) != 0;

    diff->lines++;
    if (is_another) {
        report_fact(diff);
        if (text_set(&diff->fact, change->fact) != 0 || text_set(&diff->before, before) != 0 ||
            text_set(&diff->after, after) != 0)
            diff->is_out_of_memory = true;
    }
    if (!diff->is_out_of_memory && hostlist_append(&diff->folded, change->node) != 0)
        diff->is_out_of_memory = true;
}

static int diff_facts(struct diff *diff, struct error *err)
{
    int result;

    table_heading(&diff->table, "NODES\tFACT\tBEFORE\tAFTER");
    result = history_changes(diff->path,
                             &(struct history_span){diff->node, diff->then.time, diff->now.time}, 1,
                             take_change, diff, err);
    if (!diff->is_out_of_memory)
        report_fact(diff);
    hostlist_clear(&diff->folded);
    table_end(&diff->table, stdout, "\n");
    if (diff->is_out_of_memory)
        result = error_set(err, "no memory for the facts");
    return result;
}

/* ---------------------------------------------------------------- the whole */

static void print_run(const char *which, const struct history_run *run)
{
    printf("%-6s  %s  %s, %s%s\n", which, run->run, history_time(run->time).text, run->level,
           run->is_dry_run ? ", dry run" : "");
}

int history_diff(const char *path, const char *then, const char *now, const char *node,
                 bool as_json)
{
    struct diff diff = {.path = path, .node = node, .as_json = as_json};
    struct error err = {""};
    int found = history_run_find(path, then, &diff.then, diff.then_text, &err);

    if (found > 0)
        found = history_run_find(path, now, &diff.now, diff.now_text, &err);
    if (found <= 0)
        return command_failed(found == 0 ? COMMAND_USAGE : COMMAND_UNKNOWN, "muster history", "%s",
                              err.text);
    if (!as_json) {
        print_run("before", &diff.then);
        print_run("after", &diff.now);
    }
    if (strcmp(diff.then.run, diff.now.run) == 0) {
        if (!as_json)
            puts("\nboth are the same run");
        return COMMAND_PASS;
    }
    if (diff_verdicts(&diff, &err) < 0 || diff_figures(&diff, &err) < 0 ||
        diff_facts(&diff, &err) < 0) {
        fprintf(stderr, "muster history: %s\n", err.text);
        found = -1;
    } else if (node && diff.node_count == 0) {
        fprintf(stderr, "muster history: neither run had node %s\n", node);
        found = 0;
    } else if (diff.lines == 0 && !as_json) {
        puts("\nnothing changed: verdicts, figures beyond noise, facts");
    }
    for (size_t i = 0; i < diff.node_count; i++) {
        free(diff.nodes[i].name);
        free(diff.nodes[i].message);
    }
    free(diff.nodes);
    free(diff.fact);
    free(diff.before);
    free(diff.after);
    return found < 0 ? COMMAND_UNKNOWN : found == 0 ? COMMAND_USAGE : COMMAND_PASS;
}
