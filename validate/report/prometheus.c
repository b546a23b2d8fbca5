/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/name_index.h"
#include "validate/report/format.h"

/* The text format of node_exporter's textfile collector
 * (prometheus.io/docs/instrumenting/exposition_formats). Units are seconds and bytes. Times are
 * seconds since the epoch, as the file may stay there for long. There is one figure per node, rail
 * and direction, never one per pair: a thousand nodes have a million pairs. */

static void head(FILE *stream, const char *name, const char *help)
{
    fprintf(stream, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void label_text(FILE *stream, const char *text)
{
    for (; text && *text; text++) {
        if (*text == '\\' || *text == '"')
            fprintf(stream, "\\%c", *text);
        else if (*text == '\n')
            fputs("\\n", stream);
        else
            fputc(*text, stream);
    }
}

/* Writes name{LABEL="VALUE",...} number. The arguments after name are pairs of texts, then NULL. */
static void sample(FILE *stream, double number, const char *name, ...)
{
    const char *label;
    va_list labels;
    char before = '{';

    if (isnan(number))
        return;
    fputs(name, stream);
    va_start(labels, name);
    while ((label = va_arg(labels, const char *))) {
        fprintf(stream, "%c%s=\"", before, label);
        label_text(stream, va_arg(labels, const char *));
        fputc('"', stream);
        before = ',';
    }
    va_end(labels);
    fprintf(stream, "%s %.12g\n", before == ',' ? "}" : "", number);
}

/* The state of a node: by this run, or if the run did not judge it, by the history. */
struct known {
    const char *node, *code, *remediation;
    enum verdict verdict;
    bool is_suspect, is_certified;
    double expires; /* of the certificate; NAN */
};

/* Adds what the history knows of a node: the end of the certificate that a node of the run has
 * kept, with an unknown verdict or as a suspect; all of a node that the run did not judge, as it is
 * only a peer of others or not in it. */
static void past_take(const struct survey *survey, const struct survey_past *past,
                      struct known *list, size_t *count)
{
    long index = survey_node(survey, past->node);
    const struct survey_node *node = index >= 0 ? &survey->nodes[index] : NULL;
    struct record record = {.verdict = past->verdict};

    if (node && node->verdict != VERDICT_NONE) {
        if (node->is_certified || (node->verdict == VERDICT_FAIL && !node->is_suspect))
            return;
        list[index].expires = past->expires;
        list[index].is_certified = !isnan(past->expires);
        return;
    }
    record_set_code(&record, past->code);
    list[(*count)++] =
        (struct known){past->node,    record_code_name(&record), record_remediation(&record),
                       past->verdict, past->is_suspect,          !isnan(past->expires),
                       past->expires};
}

/* Returns the nodes that the run judged, then those that only the history knows. NULL if memory is
 * out. */
static struct known *known_find(const struct survey *survey, size_t *count)
{
    struct known *list = calloc(survey->node_count + survey->past_count + 1, sizeof *list);
    size_t kept = 0;

    *count = survey->node_count;
    for (size_t i = 0; list && i < survey->node_count; i++) {
        const struct survey_node *node = &survey->nodes[i];

        if (node->verdict != VERDICT_NONE)
            list[i] = (struct known){node->name,
                                     node->code_name,
                                     node->remediation,
                                     node->verdict,
                                     node->is_suspect,
                                     node->is_certified,
                                     node->is_certified ? node->expires : (double)NAN};
    }
    for (size_t i = 0; list && i < survey->past_count; i++)
        if (i == 0 || strcmp(survey->past[i - 1].node, survey->past[i].node) != 0) /* its newest */
            past_take(survey, &survey->past[i], list, count);
    for (size_t i = 0; list && i < *count; i++)
        if (list[i].node)
            list[kept++] = list[i];
    *count = kept;
    return list;
}

/* Writes the verdict of a node. A suspect has its own label: it failed, but is in service and
 * certified. */
static void verdict_samples(FILE *stream, const struct known *known)
{
    static const enum verdict states[] = {VERDICT_PASS, VERDICT_WARN, VERDICT_UNKNOWN,
                                          VERDICT_FAIL};

    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        sample(stream, known->verdict == states[i] && !known->is_suspect, "muster_node_verdict",
               "node", known->node, "verdict", verdict_name(states[i]), NULL);
    sample(stream, known->is_suspect, "muster_node_verdict", "node", known->node, "verdict",
           "suspect", NULL);
}

static int nodes(FILE *stream, const struct survey *survey)
{
    size_t count;
    struct known *list = known_find(survey, &count);

    if (!list)
        return -1;
    head(stream, "muster_node_certified",
         "1 where the node has a certificate; it may have expired.");
    for (size_t i = 0; i < count; i++)
        sample(stream, list[i].is_certified, "muster_node_certified", "node", list[i].node, NULL);
    head(stream, "muster_node_verdict", "1 for the verdict of the node, 0 for the others.");
    for (size_t i = 0; i < count; i++)
        verdict_samples(stream, &list[i]);
    head(stream, "muster_node_fault", "1 for each fault code of the node: muster-codes(7).");
    for (size_t i = 0; i < count; i++)
        if (*list[i].code)
            sample(stream, 1, "muster_node_fault", "node", list[i].node, "code", list[i].code,
                   "remediation", list[i].remediation, NULL);
    head(stream, "muster_certificate_expires_seconds",
         "When the node's certificate expires, in seconds since the epoch.");
    for (size_t i = 0; i < count; i++)
        sample(stream, list[i].expires, "muster_certificate_expires_seconds", "node", list[i].node,
               NULL);
    free(list);
    return 0;
}

static void figures(FILE *stream, const struct survey *survey, enum survey_metric metric,
                    const char *name, double factor)
{
    for (size_t i = 0; i < survey->node_count; i++)
        for (size_t k = 0; k < survey->rail_count; k++)
            for (int sends = 0; sends < 2; sends++)
                sample(stream, factor * survey_figure(survey, i, k, metric, sends), name, "node",
                       survey->nodes[i].name, "rail", survey->rails[k].name, "direction",
                       sends ? "send" : "receive", NULL);
}

static void links(FILE *stream, const struct survey *survey)
{
    if (survey->rail_count == 0)
        return;
    head(stream, "muster_link_bandwidth_bytes_per_second",
         "Best bandwidth of the node's rail with any partner.");
    figures(stream, survey, SURVEY_BANDWIDTH, "muster_link_bandwidth_bytes_per_second", 1e6 / 8);
    head(stream, "muster_link_latency_seconds",
         "Best half round trip of the node's rail with any partner.");
    figures(stream, survey, SURVEY_LATENCY, "muster_link_latency_seconds", 1e-6);
    head(stream, "muster_rail_bandwidth_bytes_per_second",
         "What good nodes reach: the median of the best of each.");
    for (size_t k = 0; k < survey->rail_count; k++)
        sample(stream, 1e6 / 8 * survey->rails[k].reference[SURVEY_BANDWIDTH],
               "muster_rail_bandwidth_bytes_per_second", "rail", survey->rails[k].name, NULL);
}

static bool is_of_stage(const struct record *record)
{
    return catalog_is_suite(record->suite, SUITE_CERTIFY) &&
           catalog_is_test(record->test, TEST_STAGE) &&
           catalog_is_metric(record->metric, METRIC_STAGE_SECONDS);
}

static bool is_of_collective(const struct record *record)
{
    return catalog_is_test(record->test, TEST_COLLECTIVES_SPEED) && record->unit &&
           strcmp(record->unit, "GB/s") == 0;
}

/* Writes a sample for each part with a record for which is_one() holds, of several the first; its
 * value times factor. Returns 0, or -1 if memory is out. */
static int parts(FILE *stream, const struct survey *survey,
                 bool (*is_one)(const struct record *record), double factor, const char *name,
                 const char *label, const char *help)
{
    const char **found = calloc(survey->count + 1, sizeof *found);
    double *values = malloc((survey->count + 1) * sizeof *values);
    struct name_index index = {0};
    size_t count = 0;
    int rv = -1;

    for (size_t i = 0; found && values && i < survey->count; i++) {
        const struct record *record = SURVEY_AT(survey, i);

        if (!record->part || isnan(record->value) || !is_one(record))
            continue;
        found[count] = record->part;
        values[count++] = record->value;
    }
    if (found && values && name_index_build(found, count, &index) == 0) {
        if (count > 0)
            head(stream, name, help);
        for (size_t i = 0; i < count; i++)
            if (name_index_find(&index, found[i]) == (long)i)
                sample(stream, factor * values[i], name, label, found[i], NULL);
        rv = 0;
    }
    name_index_clear(&index);
    free(values);
    free(found);
    return rv;
}

struct tally {
    const char *test;
    size_t verdicts[VERDICT_FAIL + 1];
};

static int compare_tallies(const void *a, const void *b)
{
    return strcmp(((const struct tally *)a)->test, ((const struct tally *)b)->test);
}

/* Writes the numbers of verdicts by test. Equal names of tests are the same pointer. */
static int verdicts(FILE *stream, const struct survey *survey)
{
    enum { TESTS = 256 }; /* muster has thirty; if a file has more, the rest are summed */
    struct tally *tallies = calloc(TESTS + 1, sizeof *tallies);
    size_t count = 0;

    if (!tallies)
        return -1;
    for (size_t i = 0; i < survey->count; i++) {
        const struct record *record = SURVEY_AT(survey, i);
        size_t at = 0;

        if (record->verdict == VERDICT_NONE)
            continue;
        while (at < count && at < TESTS && strcmp(tallies[at].test, record->test) != 0)
            at++;
        if (at == count)
            tallies[count++].test = at < TESTS ? record->test : "others";
        tallies[at].verdicts[record->verdict]++;
    }
    qsort(tallies, count, sizeof *tallies, compare_tallies);
    head(stream, "muster_verdicts", "Verdicts of the run by test.");
    for (size_t i = 0; i < count; i++)
        for (int verdict = VERDICT_PASS; verdict <= VERDICT_FAIL; verdict++)
            sample(stream, (double)tallies[i].verdicts[verdict], "muster_verdicts", "test",
                   tallies[i].test, "verdict", verdict_name((enum verdict)verdict), NULL);
    free(tallies);
    return 0;
}

int prometheus_write(FILE *stream, const struct survey *survey)
{
    head(stream, "muster_run_info", "The run that this file is about.");
    sample(stream, 1, "muster_run_info", "run", survey->run, "cluster", survey->cluster, "level",
           survey->level, NULL);
    if (!isnan(survey->end)) {
        head(stream, "muster_run_end_timestamp_seconds", "When the run ended.");
        sample(stream, survey->end, "muster_run_end_timestamp_seconds", NULL);
        head(stream, "muster_run_duration_seconds", "How long the run took.");
        sample(stream, isnan(survey->seconds) ? survey->end - survey->begin : survey->seconds,
               "muster_run_duration_seconds", NULL);
    }
    if (parts(stream, survey, is_of_stage, 1, "muster_stage_duration_seconds", "stage",
              "How long a stage of the run took.") != 0 ||
        nodes(stream, survey) != 0)
        return -1;
    links(stream, survey);
    if (parts(stream, survey, is_of_collective, 1e9, "muster_collective_busbw_bytes_per_second",
              "collective", "Bus bandwidth of a collective, as nccl-tests defines it.") != 0 ||
        verdicts(stream, survey) != 0)
        return -1;
    return fflush(stream) == 0 && !ferror(stream) ? 0 : -1;
}
