/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/report/html.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/json_text.h"
#include "validate/report/format.h"

enum { ROWS_MAX = 20000 /* rows of the table of verdicts */ };

void html_string(FILE *stream, const char *before, const char *text)
{
    fputs(before, stream);
    json_text_write(stream, text ? text : "", "<>&'");
}

void html_number(FILE *stream, const char *before, double number)
{
    fputs(before, stream);
    if (isfinite(number))
        fprintf(stream, "%.6g", number);
    else
        fputs("null", stream);
}

static void member_string(FILE *stream, const char *key, const char *text)
{
    fprintf(stream, "\"%s\"", key);
    html_string(stream, ":", text);
    fputs(",\n", stream);
}

static void member_time(FILE *stream, const char *key, double seconds)
{
    if (isfinite(seconds))
        fprintf(stream, "\"%s\":%.3f,\n", key, seconds);
}

/* Writes the title, escaped as text between tags. */
static void title(FILE *stream, const struct survey *survey)
{
    fputs("muster", stream);
    if (!isnan(survey->job))
        fprintf(stream, " job %.0f", survey->job);
    if (*survey->run)
        fputc(' ', stream);
    for (const char *c = survey->run; *c; c++) {
        if (*c == '<')
            fputs("&lt;", stream);
        else if (*c == '&')
            fputs("&amp;", stream);
        else
            fputc(*c, stream);
    }
}

static void nodes(FILE *stream, const struct survey *survey)
{
    fputs("\"nodes\":[", stream);
    for (size_t i = 0; i < survey->node_count; i++) {
        const struct survey_node *node = &survey->nodes[i];

        html_string(stream, i ? ",\n[" : "[", node->name);
        fprintf(stream, ",%d,%d,%d,%d,%.0f", node->leaf, (int)node->verdict, node->is_concluded,
                node->is_certified, isfinite(node->expires) ? node->expires : 0);
        html_string(stream, ",", node->part);
        html_string(stream, ",", node->message);
        html_string(stream, ",", catalog_fault(node->code)->advice);
        fprintf(stream, ",%d]", node->is_suspect);
    }
    fputs("],\n", stream);
}

static void string_list(FILE *stream, const char *key, const char *const *texts, size_t count)
{
    fprintf(stream, "\"%s\":[", key);
    for (size_t i = 0; i < count; i++)
        html_string(stream, i ? "," : "", texts[i]);
    fputs("],\n", stream);
}

enum { TEXTS = 10 }; /* texts in a row */

/* The texts of the rows, each once, in order. */
struct texts {
    const char **items;
    size_t count;
};

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void row_texts(const struct record *record, const char *texts[TEXTS])
{
    const char *all[TEXTS] = {record->suite,        record->test,
                              record->metric,       record->node,
                              record->part,         record->peer,
                              record->limit_source, record->unit,
                              record->message,      record_code_name(record)};

    for (int i = 0; i < TEXTS; i++)
        texts[i] = all[i] ? all[i] : "";
}

static int texts_find(const struct record *rows, size_t count, struct texts *texts)
{
    size_t left = 0;

    texts->items = malloc((TEXTS * count + 1) * sizeof *texts->items);
    if (!texts->items)
        return -1;
    for (size_t i = 0; i < count; i++)
        row_texts(&rows[i], &texts->items[TEXTS * i]);
    texts->count = TEXTS * count;
    if (texts->count > 0)
        qsort(texts->items, texts->count, sizeof *texts->items, compare_texts);
    for (size_t i = 0; i < texts->count; i++)
        if (left == 0 || strcmp(texts->items[left - 1], texts->items[i]) != 0)
            texts->items[left++] = texts->items[i];
    texts->count = left;
    return 0;
}

static size_t text_index(const struct texts *texts, const char *text)
{
    const char **found = bsearch(&text, texts->items, texts->count, sizeof text, compare_texts);

    return found ? (size_t)(found - texts->items) : 0;
}

/* Whether the record passed and is in the matrix of links, which may have millions. */
static bool is_quiet(const struct record *record)
{
    return record->verdict <= VERDICT_PASS &&
           (survey_metric_of(record) != SURVEY_METRICS ||
            (record->peer && catalog_is_suite(record->suite, SUITE_LINKS)));
}

/* Returns the records for the table, the worst first, up to ROWS_MAX. left_out: the numbers of
 * records that did not pass, and that passed, which are not in it. */
static struct record *rows_find(const struct survey *survey, size_t *count, size_t left_out[2])
{
    struct record *rows = malloc(ROWS_MAX * sizeof *rows);

    *count = left_out[0] = left_out[1] = 0;
    for (int verdict = VERDICT_FAIL; rows && verdict > VERDICT_NONE; verdict--) {
        for (size_t i = 0; i < survey->count; i++) {
            const struct record *record = SURVEY_AT(survey, i);

            if ((int)record->verdict != verdict)
                continue;
            if (*count < ROWS_MAX && !is_quiet(record))
                rows[(*count)++] = *record;
            else
                left_out[verdict <= VERDICT_SKIP]++;
        }
    }
    return rows;
}

static void row(FILE *stream, const struct record *record, const struct texts *texts)
{
    const char *all[TEXTS];

    row_texts(record, all);
    fprintf(stream, "[%d", (int)record->verdict);
    for (int i = 0; i < 6; i++)
        fprintf(stream, ",%zu", text_index(texts, all[i]));
    html_number(stream, ",", record->value);
    fprintf(stream, ",%zu", text_index(texts, all[7]));
    html_number(stream, ",", record->limit);
    fprintf(stream, ",%zu,%zu,%zu]", text_index(texts, all[6]), text_index(texts, all[8]),
            text_index(texts, all[9]));
}

/* Writes the remediation of each fault code in the list. */
static void code_advice(FILE *stream, const struct record *list, size_t count)
{
    bool is_there[FAULT_UNLISTED + 1] = {false}, is_first = true;

    for (size_t i = 0; i < count; i++)
        is_there[record_code(&list[i])] = true;
    fputs("\"advice\":{", stream);
    for (int code = FAULT_NONE + 1; code < FAULT_COUNT; code++) {
        if (!is_there[code])
            continue;
        html_string(stream, is_first ? "" : ",\n", catalog_fault((enum fault_code)code)->name);
        html_string(stream, ":", catalog_fault((enum fault_code)code)->advice);
        is_first = false;
    }
    fputs("},\n", stream);
}

static int rows(FILE *stream, const struct survey *survey)
{
    size_t count, left_out[2];
    struct record *list = rows_find(survey, &count, left_out);
    struct texts texts = {0};

    if (!list || texts_find(list, count, &texts) != 0) {
        free(list);
        return -1;
    }
    string_list(stream, "texts", texts.items, texts.count);
    fputs("\"rows\":[", stream);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ",\n" : "", stream);
        row(stream, &list[i], &texts);
    }
    fprintf(stream, "],\n\"bad_left_out\":%zu,\n\"passed_left_out\":%zu,\n", left_out[0],
            left_out[1]);
    code_advice(stream, list, count);
    free(texts.items);
    free(list);
    return 0;
}

static void sweep(FILE *stream, const struct survey *survey)
{
    bool is_first = true;

    fputs("\"sweep\":[", stream);
    for (size_t i = 0; i < survey->count; i++) {
        const struct record *record = SURVEY_AT(survey, i);

        if (!catalog_is_test(record->test, TEST_COLLECTIVES_SPEED) || isnan(record->value) ||
            !record->part)
            continue;
        html_string(stream, is_first ? "[" : ",\n[", record->part);
        html_number(stream, ",", record->value);
        html_number(stream, ",", record->low);
        html_number(stream, ",", record->high);
        html_string(stream, ",", record->message);
        fputc(']', stream);
        is_first = false;
    }
    fputs("],\n", stream);
}

/* Writes the earlier runs by node; those of a node are consecutive. */
static void past(FILE *stream, const struct survey *survey)
{
    const char *last = NULL;

    fputs("\"past\":{", stream);
    for (size_t i = 0; i < survey->past_count; i++) {
        const struct survey_past *at = &survey->past[i];

        if (survey_node(survey, at->node) < 0)
            continue;
        if (!last || strcmp(last, at->node) != 0) {
            html_string(stream, last ? "],\n" : "", at->node);
            fputs(":[", stream);
        } else {
            fputc(',', stream);
        }
        last = at->node;
        fprintf(stream, "[%.0f", isfinite(at->time) ? at->time : 0);
        html_string(stream, ",", at->run);
        fprintf(stream, ",%d", (int)at->verdict);
        html_number(stream, ",", at->rail_mbps);
        html_string(stream, ",", at->part);
        html_string(stream, ",", at->message);
        fprintf(stream, ",%d]", at->is_suspect);
    }
    fputs(last ? "]},\n" : "},\n", stream);
}

/* Writes what changed by node; the changes of a node are consecutive. */
static void changes(FILE *stream, const struct survey *survey)
{
    const char *last = NULL;

    fputs("\"changes\":{", stream);
    for (size_t i = 0; i < survey->change_count; i++) {
        const struct survey_change *change = &survey->changes[i];

        if (!last || strcmp(last, change->node) != 0) {
            html_string(stream, last ? "]},\n" : "", change->node);
            html_string(stream, ":{\"run\":", change->run);
            fprintf(stream, ",\"since\":%.0f,\"list\":[", change->since);
        } else {
            fputc(',', stream);
        }
        last = change->node;
        if (!*change->fact)
            continue;
        html_string(stream, "[", change->fact);
        html_string(stream, ",", change->before);
        html_string(stream, ",", change->after);
        fputc(']', stream);
    }
    fputs(last ? "]}},\n" : "},\n", stream);
}

static int data(FILE *stream, const struct survey *survey)
{
    fputs("{", stream);
    member_string(stream, "program", PACKAGE_STRING);
    member_string(stream, "run", survey->run);
    fprintf(stream, "\"job\":%.0f,\n", isnan(survey->job) ? 0 : survey->job);
    member_string(stream, "cluster", survey->cluster);
    member_string(stream, "level", survey->level);
    member_time(stream, "begin", survey->begin);
    member_time(stream, "end", survey->end);
    member_time(stream, "seconds",
                isnan(survey->seconds) ? survey->end - survey->begin : survey->seconds);
    fprintf(stream, "\"records\":%zu,\n", survey->count);
    nodes(stream, survey);
    string_list(stream, "leaves", survey->leaves, survey->leaf_count);
    string_list(stream, "notes", survey->notes, survey->note_count);
    sweep(stream, survey);
    past(stream, survey);
    changes(stream, survey);
    if (rows(stream, survey) != 0)
        return -1;
    fputs("\"training\":", stream);
    if (html_training(stream, survey) != 0)
        return -1;
    fputs(",\n\"rails\":", stream);
    if (html_rails(stream, survey) != 0)
        return -1;
    fputs("}", stream);
    return 0;
}

int html_write(FILE *stream, const struct survey *survey)
{
    static const char title_mark[] = "@@title@@", data_mark[] = "@@data@@";
    const char *page = (const char *)page_template;
    const char *at_title = strstr(page, title_mark);
    const char *at_data = at_title ? strstr(at_title, data_mark) : NULL;
    const char *between = at_title ? at_title + strlen(title_mark) : NULL;

    if (!at_data)
        return -1; /* cannot happen: tests check that the template has both */
    fwrite(page, 1, (size_t)(at_title - page), stream);
    title(stream, survey);
    fwrite(between, 1, (size_t)(at_data - between), stream);
    if (data(stream, survey) != 0)
        return -1;
    fputs(at_data + strlen(data_mark), stream);
    return fflush(stream) == 0 && !ferror(stream) ? 0 : -1;
}
