/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/hostlist.h"
#include "lib/base/text.h"
#include "validate/report/format.h"
#include "validate/report/table.h"

enum { FINDINGS_MAX = 40 };

static void cell(struct table *table, enum verdict colour, const char *text)
{
    table_cell(table, colour, "%s", text);
}

/* Formats "198 Mb/s", "48.7 Gb/s". */
static struct text_line speed(double mbps)
{
    return mbps < 1000 ? text_line("%.0f Mb/s", mbps)
                       : text_line("%.*f Gb/s", mbps < 99950 ? 1 : 0, mbps / 1000);
}

static const char *verdict_word(const struct survey_node *node)
{
    if (!node->is_concluded)
        return node->verdict == VERDICT_NONE ? "-" : verdict_name(node->verdict);
    if (node->is_suspect)
        return "suspect";
    return node->verdict != VERDICT_PASS ? (node->verdict == VERDICT_FAIL ? "FAILED" : "unknown")
           : node->is_certified          ? "certified"
                                         : "passed";
}

/* Adds the cell "eth1: message", or only the message if it starts with the part. */
static void what(struct table *table, const char *part, const char *message)
{
    if (!*part || strncmp(message, part, strlen(part)) == 0)
        cell(table, VERDICT_NONE, *message ? message : "-");
    else
        table_cell(table, VERDICT_NONE, "%s: %s", part, message);
}

/* Adds the end of the node's certificate, marked if it was over at that time. */
static void until(struct table *table, const struct survey_node *node, double now)
{
    char stamp[32] = "-";

    if (isfinite(node->expires))
        text_time(stamp, sizeof stamp, "%Y-%m-%d %H:%M", (time_t)node->expires);
    table_cell(table, node->expires < now ? VERDICT_WARN : VERDICT_NONE, "%s%s", stamp,
               node->expires < now ? " (expired)" : "");
}

static void nodes_print(FILE *stream, const struct survey *survey)
{
    struct table table = {0};

    table_heading(&table, isnan(survey->job)
                              ? "NODE\tVERDICT\tLINKS\tPART AT FAULT\tWHAT TO DO"
                              : "NODE\tVERDICT\tLINKS\tCERTIFIED UNTIL\tPART AT FAULT\tWHAT TO DO");
    for (size_t i = 0; i < survey->node_count; i++) {
        const struct survey_node *node = &survey->nodes[i];
        double worst = NAN;
        const char *advice;

        for (size_t k = 0; k < survey->rail_count; k++)
            for (int sends = 0; sends < 2; sends++)
                worst = fmin(worst, survey_figure(survey, i, k, SURVEY_BANDWIDTH, sends));
        advice = catalog_fault(node->code)->advice;
        cell(&table, VERDICT_NONE, node->name);
        cell(&table, node->verdict, verdict_word(node));
        cell(&table, VERDICT_NONE, isnan(worst) ? "-" : speed(worst).text);
        if (!isnan(survey->job))
            until(&table, node, survey->end);
        if (node->verdict >= VERDICT_WARN)
            what(&table, node->part, node->message);
        else
            cell(&table, VERDICT_NONE, "-");
        cell(&table, VERDICT_NONE, *advice ? advice : "-");
    }
    table_end(&table, stream, "");
    if (survey->node_count > 0)
        fputc('\n', stream);
}

/* Whether the verdict is about no single node: an uplink, a path, the whole fabric, a fault of many
 * nodes. */
static bool is_finding(const struct record *record)
{
    return catalog_is_suite(record->suite, SUITE_CERTIFY) && record->verdict >= VERDICT_WARN &&
           (!record->node || !*record->node || (record->peer && *record->peer));
}

/* Prints the findings, the worst first, so that the least severe are left out. */
static void findings_print(FILE *stream, const struct survey *survey)
{
    struct table table = {.columns = 3};
    size_t count = 0;

    for (int verdict = VERDICT_FAIL; verdict >= VERDICT_WARN; verdict--) {
        for (size_t i = 0; i < survey->count; i++) {
            const struct record *record = SURVEY_AT(survey, i);

            if ((int)record->verdict != verdict || !is_finding(record) || count++ >= FINDINGS_MAX)
                continue;
            cell(&table, record->verdict, verdict_name(record->verdict));
            cell(&table, VERDICT_NONE, record->test);
            what(&table, text_of(record->part), text_of(record->message));
        }
    }
    if (count == 0)
        return;
    table_print(&table, stream, table_has_colour(stream));
    if (count > FINDINGS_MAX)
        fprintf(stream, "and %zu more\n", count - FINDINGS_MAX);
    fputc('\n', stream);
    table_clear(&table);
}

/* Equal changes of several nodes are neighbors in this order. */
static int compare_changes(const void *a, const void *b)
{
    const struct survey_change *x = *(const struct survey_change *const *)a;
    const struct survey_change *y = *(const struct survey_change *const *)b;

    return strcmp(x->fact, y->fact) ?: strcmp(x->before, y->before) ?: strcmp(x->after, y->after)
           ?: strcmp(x->run, y->run);
}

static void change_row(struct table *table, const struct survey_change *change,
                       const struct hostlist *names)
{
    char *folded = hostlist_fold(names), stamp[32];

    text_time(stamp, sizeof stamp, "%Y-%m-%d %H:%M", (time_t)change->since);
    table_cells(table, "%s\t%s", folded ? folded : "?", stamp);
    if (*change->fact)
        table_cell(table, VERDICT_NONE, "%s: %s -> %s", change->fact, change->before,
                   change->after);
    else
        cell(table, VERDICT_NONE, "no fact");
    free(folded);
}

/* Prints what changed on nodes that did not pass, each change once with all its nodes. */
static void changes_print(FILE *stream, const struct survey *survey)
{
    const struct survey_change **list = malloc((survey->change_count + 1) * sizeof *list);
    struct table table = {0};
    struct hostlist names = {0};
    size_t lines = 0;

    for (size_t i = 0; list && i < survey->change_count; i++)
        list[i] = &survey->changes[i];
    if (list && survey->change_count > 0)
        qsort(list, survey->change_count, sizeof *list, compare_changes);
    table_heading(&table, "NODES\tLAST GOOD RUN\tCHANGED SINCE THEN");
    for (size_t i = 0; list && i < survey->change_count; i++) {
        hostlist_append(&names, list[i]->node);
        if (i + 1 < survey->change_count && compare_changes(&list[i], &list[i + 1]) == 0)
            continue;
        if (lines++ < FINDINGS_MAX)
            change_row(&table, list[i], &names);
        hostlist_clear(&names);
    }
    table_end(&table, stream, "");
    if (lines > FINDINGS_MAX)
        fprintf(stream, "and %zu more\n", lines - FINDINGS_MAX);
    if (lines > 0)
        fputc('\n', stream);
    free(list);
}

static void rails_print(FILE *stream, const struct survey *survey)
{
    for (size_t k = 0; k < survey->rail_count; k++) {
        const struct survey_rail *rail = &survey->rails[k];

        table_print_text(stream, rail->name);
        fputs(": ", stream);
        if (!isnan(rail->median[SURVEY_BANDWIDTH]))
            fprintf(stream, "good nodes reach %s, the median of %zu pairs is %s%s",
                    speed(rail->reference[SURVEY_BANDWIDTH]).text, rail->measured[SURVEY_BANDWIDTH],
                    speed(rail->median[SURVEY_BANDWIDTH]).text,
                    isnan(rail->median[SURVEY_LATENCY]) ? "" : "; ");
        if (!isnan(rail->median[SURVEY_LATENCY]))
            fprintf(stream, "%.3g us", rail->reference[SURVEY_LATENCY]);
        fputc('\n', stream);
    }
}

int overview_write(FILE *stream, const struct survey *survey)
{
    size_t counts[VERDICT_FAIL + 1] = {0}, suspects = 0;
    char stamp[40] = "";

    for (size_t i = 0; i < survey->node_count; i++) {
        counts[survey->nodes[i].verdict] += !survey->nodes[i].is_suspect;
        suspects += survey->nodes[i].is_suspect;
    }
    if (!isnan(survey->end))
        text_time(stamp, sizeof stamp, ", %Y-%m-%d %H:%M UTC", (time_t)survey->end);
    nodes_print(stream, survey);
    findings_print(stream, survey);
    changes_print(stream, survey);
    rails_print(stream, survey);
    fprintf(stream, "%zu of %zu nodes passed, %zu failed, %zu unknown",
            counts[VERDICT_PASS] + counts[VERDICT_WARN], survey->node_count, counts[VERDICT_FAIL],
            counts[VERDICT_UNKNOWN]);
    if (suspects > 0)
        fprintf(stream, ", %zu suspect", suspects);
    fprintf(stream, "; %zu records%s", survey->count, *survey->run ? ", run " : "");
    table_print_text(stream, survey->run);
    if (!isnan(survey->job))
        fprintf(stream, ", job %.0f", survey->job);
    fprintf(stream, "%s\n", stamp);
    return fflush(stream) == 0 && !ferror(stream) ? 0 : -1;
}
