/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/report/survey.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/text.h"

/* Compares numbers in names by value: n2 before n10. */
static int compare_names(const void *a, const void *b)
{
    return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_nodes(const void *a, const void *b)
{
    return strverscmp(((const struct survey_node *)a)->name, ((const struct survey_node *)b)->name);
}

size_t survey_unique(const char **names, size_t count)
{
    size_t left = 0;

    if (count > 0)
        qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count; i++)
        if (left == 0 || strcmp(names[left - 1], names[i]) != 0)
            names[left++] = names[i];
    return left;
}

/* Returns the run with the newest records; NULL if no record has a run. */
static const char *newest_run(const struct records *records)
{
    const char *run = NULL;
    double time = -INFINITY;

    for (size_t i = 0; i < records->count; i++) {
        const struct record *record = RECORD_AT(records, i);
        double at = isnan(record->time) ? 0 : record->time;

        if (record->run && *record->run && at >= time) {
            run = record->run;
            time = at;
        }
    }
    return run;
}

static int choose(const struct records *records, const char *run, struct survey *survey,
                  struct error *err)
{
    bool is_found = !run;

    if (!run)
        run = newest_run(records);
    survey->run = text_of(run);
    survey->records = records;
    survey->items = malloc((records->count + 1) * sizeof(*survey->items));
    if (!survey->items)
        return error_set(err, "out of memory for %zu records", records->count);
    for (size_t i = 0; i < records->count; i++) {
        const struct record *record = RECORD_AT(records, i);

        if (record->run && *record->run && run && strcmp(record->run, run) != 0) {
            survey->other_runs++;
            continue;
        }
        is_found |= record->run && run && strcmp(record->run, run) == 0;
        survey->items[survey->count++] = (unsigned)i;
    }
    if (survey->count == 0 && is_found)
        return error_set(err, "no records");
    if (!is_found)
        return error_set(err, "no record of run %s%s", run,
                         survey->other_runs > 0 ? ", only of others" : "");
    return 0;
}

static void times(struct survey *survey)
{
    survey->begin = survey->end = survey->seconds = NAN;
    for (size_t i = 0; i < survey->count; i++) {
        double time = SURVEY_AT(survey, i)->time;

        survey->begin = fmin(survey->begin, time); /* ignores NAN */
        survey->end = fmax(survey->end, time);
    }
}

static int nodes_find(struct survey *survey)
{
    const char **names = malloc((2 * survey->count + 1) * sizeof *names);
    size_t count = 0;
    const char *last[2] = {NULL, NULL};

    if (!names)
        return -1;
    /* equal texts are the same pointer; skipping repeated neighbors keeps the list short */
    for (size_t i = 0; i < survey->count; i++) {
        const struct record *record = SURVEY_AT(survey, i);
        const char *ends[2] = {record->node, record->peer};

        for (int k = 0; k < 2; k++)
            if (ends[k] && *ends[k] && ends[k] != last[k])
                last[k] = names[count++] = ends[k];
    }
    count = survey_unique(names, count);
    survey->nodes = calloc(count + 1, sizeof *survey->nodes);
    for (size_t i = 0; survey->nodes && i < count; i++)
        survey->nodes[i] = (struct survey_node){.name = names[i],
                                                .leaf = -1,
                                                .part = "",
                                                .message = "",
                                                .code_name = "",
                                                .remediation = "",
                                                .expires = NAN};
    survey->node_count = survey->nodes ? count : 0;
    free(names);
    return survey->nodes ? 0 : -1;
}

long survey_node(const struct survey *survey, const char *name)
{
    const struct survey_node wanted = {.name = name}, *found;

    if (!name || survey->node_count == 0)
        return -1;
    found = bsearch(&wanted, survey->nodes, survey->node_count, sizeof wanted, compare_nodes);
    return found ? found - survey->nodes : -1;
}

/* Whether the verdict is worse than another. Skip is the least: it says less than pass. */
static bool is_worse(enum verdict verdict, enum verdict than)
{
    if (verdict == VERDICT_SKIP || than == VERDICT_SKIP)
        return verdict == VERDICT_SKIP ? than == VERDICT_NONE : verdict != VERDICT_NONE;
    return verdict > than;
}

static void take_fault(struct survey_node *node, const struct record *record, enum fault_code code)
{
    node->code = code;
    node->code_name = code == FAULT_NONE ? "" : record_code_name(record);
    node->remediation = code == FAULT_NONE ? "" : record_remediation(record);
}

/* Takes a verdict about the node: that of muster certify, or until there is one that of the
 * programs. A record with a peer is about the pair: the node may not be at fault. */
static void take_verdict(struct survey_node *node, const struct record *record)
{
    bool is_conclusion = catalog_is_suite(record->suite, SUITE_CERTIFY) &&
                         catalog_is_test(record->test, TEST_CERTIFY);

    if (!is_conclusion &&
        (node->is_concluded || !is_worse(record->verdict, node->verdict) || *text_of(record->peer)))
        return;
    node->verdict = record->verdict;
    node->part = text_of(record->part);
    node->message = text_of(record->message);
    take_fault(node, record,
               !is_conclusion                   ? record_code(record)
               : record->verdict > VERDICT_PASS ? record->code
                                                : FAULT_NONE);
    node->is_concluded = is_conclusion;
}

static void take_facts(struct survey *survey, struct survey_node *node, const struct record *record)
{
    if (catalog_is_suite(record->suite, SUITE_CERTIFY) &&
        catalog_is_test(record->test, TEST_STRIKES) && record->verdict == VERDICT_WARN)
        node->is_suspect = true;
    if (catalog_is_test(record->test, TEST_CERTIFICATE) &&
        catalog_is_suite(record->suite, SUITE_CERTIFICATE) && record->verdict == VERDICT_PASS)
        node->is_certified = true;
    if (catalog_is_test(record->test, TEST_CERTIFICATE) &&
        catalog_is_metric(record->metric, METRIC_EXPIRES) && !isnan(record->value)) {
        node->is_certified = true;
        node->expires = record->value;
    }
    if (catalog_is_test(record->test, TEST_NET_TOPOLOGY) &&
        catalog_is_metric(record->metric, METRIC_LEAF) && record->message) {
        const char **leaf = survey->leaf_count == 0
                                ? NULL
                                : bsearch(&record->message, survey->leaves, survey->leaf_count,
                                          sizeof *survey->leaves, compare_names);

        node->leaf = leaf ? (int)(leaf - survey->leaves) : -1;
    }
}

static void node_end(struct survey_node *node)
{
    const struct record default_of = {.verdict = node->verdict};

    node->is_suspect = node->is_suspect && node->is_concluded && node->verdict == VERDICT_FAIL;
    if (node->code == FAULT_NONE)
        take_fault(node, &default_of, record_code(&default_of));
}

static int leaves_find(struct survey *survey)
{
    survey->leaves = malloc((survey->count + 1) * sizeof(*survey->leaves));
    if (!survey->leaves)
        return -1;
    for (size_t i = 0; i < survey->count; i++) {
        const struct record *record = SURVEY_AT(survey, i);

        if (catalog_is_test(record->test, TEST_NET_TOPOLOGY) &&
            catalog_is_metric(record->metric, METRIC_LEAF) && record->message)
            survey->leaves[survey->leaf_count++] = record->message;
    }
    survey->leaf_count = survey_unique(survey->leaves, survey->leaf_count);
    return 0;
}

static void take_run(struct survey *survey, const struct record *record)
{
    if (!catalog_is_suite(record->suite, SUITE_CERTIFY) || !catalog_is_test(record->test, TEST_RUN))
        return;
    if (catalog_is_metric(record->metric, METRIC_CLUSTER))
        survey->cluster = text_of(record->message);
    else if (catalog_is_metric(record->metric, METRIC_LEVEL))
        survey->level = text_of(record->message);
    else if (catalog_is_metric(record->metric, METRIC_SECONDS))
        survey->seconds = record->value;
    else if (catalog_is_metric(record->metric, METRIC_NOTE) && record->message)
        survey->notes[survey->note_count++] = record->message;
}

/* Finds the job whose nodes these are. Records of muster certify may be about jobs, too, but it
 * does not test the nodes of one. */
static void job_find(struct survey *survey)
{
    survey->job = NAN;
    for (size_t i = 0; i < survey->count; i++) {
        const struct record *record = SURVEY_AT(survey, i);

        if (isnan(record->job) || (!catalog_is_suite(record->suite, SUITE_PREFLIGHT) &&
                                   !catalog_is_suite(record->suite, SUITE_WATCH)))
            continue;
        if (!isnan(survey->job) && survey->job != record->job) {
            survey->job = NAN;
            return;
        }
        survey->job = record->job;
    }
}

int survey_build(const struct records *records, const char *run, struct survey *survey,
                 struct error *err)
{
    *survey = (struct survey){.run = "", .cluster = "", .level = ""};
    if (choose(records, run, survey, err) != 0)
        return -1;
    times(survey);
    job_find(survey);
    survey->notes = malloc((survey->count + 1) * sizeof(*survey->notes));
    if (!survey->notes || nodes_find(survey) != 0 || leaves_find(survey) != 0)
        return error_set(err, "out of memory for %zu records", survey->count);
    for (size_t i = 0; i < survey->count; i++) {
        const struct record *record = SURVEY_AT(survey, i);
        long node = survey_node(survey, record->node);

        take_run(survey, record);
        if (node >= 0) {
            take_verdict(&survey->nodes[node], record);
            take_facts(survey, &survey->nodes[node], record);
        }
    }
    for (size_t i = 0; i < survey->node_count; i++)
        node_end(&survey->nodes[i]);
    if (survey_links(survey) != 0)
        return error_set(err, "out of memory for the figures of %zu nodes", survey->node_count);
    return 0;
}

/* Replaces each text by a copy that the survey owns. Returns 0, or -1 if memory is out. */
static int texts_keep(struct survey *survey, const char **const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (hostlist_append(&survey->texts, text_of(*texts[i])) != 0)
            return -1;
        *texts[i] = survey->texts.names[survey->texts.count - 1];
    }
    return 0;
}

int survey_add_past(struct survey *survey, const struct survey_past *past)
{
    struct survey_past added = *past;
    const char **texts[] = {&added.run, &added.node, &added.part, &added.message, &added.code};
    long index = survey_node(survey, past->node);
    struct survey_node *node = index >= 0 ? &survey->nodes[index] : NULL;

    if (node && !node->is_concluded && isfinite(past->expires)) {
        node->is_certified = true;
        node->expires = past->expires;
    }
    if (texts_keep(survey, texts, sizeof texts / sizeof *texts) != 0 ||
        !GROW(survey->past, survey->past_count))
        return -1;
    survey->past[survey->past_count++] = added;
    return 0;
}

int survey_add_change(struct survey *survey, const struct survey_change *change)
{
    struct survey_change added = *change;
    const char **texts[] = {&added.node, &added.run, &added.fact, &added.before, &added.after};

    added.before = added.before ? added.before : "unknown";
    added.after = added.after ? added.after : "unknown";
    if (texts_keep(survey, texts, sizeof texts / sizeof *texts) != 0 ||
        !GROW(survey->changes, survey->change_count))
        return -1;
    survey->changes[survey->change_count++] = added;
    return 0;
}

void survey_filter_past(struct survey *survey, bool (*is_kept)(const char *node, void *context),
                        void *context)
{
    size_t kept = 0;

    for (size_t i = 0; i < survey->past_count; i++)
        if (is_kept(survey->past[i].node, context))
            survey->past[kept++] = survey->past[i];
    survey->past_count = kept;
}

void survey_clear(struct survey *survey)
{
    for (size_t k = 0; k < survey->rail_count; k++)
        for (int metric = 0; metric < SURVEY_METRICS; metric++) {
            free(survey->rails[k].cells[metric]);
            free(survey->rails[k].best[metric][0]);
            free(survey->rails[k].best[metric][1]);
        }
    free(survey->rails);
    free(survey->nodes);
    free(survey->leaves);
    free(survey->notes);
    free(survey->items);
    free(survey->past);
    free(survey->changes);
    hostlist_clear(&survey->texts);
    *survey = (struct survey){0};
}
