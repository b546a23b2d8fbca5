/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
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

/* Whether this run judged the node. A node that is only a peer of others has no verdict, and counts
 * by the history. */
static bool is_judged(const struct survey *survey, long index)
{
    return index >= 0 && survey->nodes[index].verdict != VERDICT_NONE;
}

/* Returns the end of the node's certificate; NAN: none. With an unknown verdict, or as a suspect, a
 * node keeps the certificate that it had. */
static double expiry_of(const struct survey *survey, const struct survey_node *node)
{
    if (node->is_certified || (node->verdict == VERDICT_FAIL && !node->is_suspect))
        return node->is_certified ? node->expires : (double)NAN;
    for (size_t i = 0; i < survey->past_count; i++)
        if (strcmp(survey->past[i].node, node->name) == 0) /* its newest */
            return survey->past[i].expires;
    return NAN;
}

/* Fills known for index: first the nodes of the run, then the items of the history, of which only
 * the newest of each node counts. Returns false if there is nothing for this index. */
static bool node_known(const struct survey *survey, size_t index, struct known *known)
{
    const struct survey_past *past;
    struct record record;

    if (index < survey->node_count) {
        const struct survey_node *node = &survey->nodes[index];
        double expires = expiry_of(survey, node);

        *known =
            (struct known){node->name,    node->code_name,  node->remediation,
                           node->verdict, node->is_suspect, node->is_certified || !isnan(expires),
                           expires};
        return is_judged(survey, (long)index);
    }
    past = &survey->past[index - survey->node_count];
    record = (struct record){.verdict = past->verdict};
    record_set_code(&record, past->code);
    *known = (struct known){past->node,    record_code_name(&record), record_remediation(&record),
                            past->verdict, past->is_suspect,          !isnan(past->expires),
                            past->expires};
    return !is_judged(survey, survey_node(survey, past->node)) &&
           (past == survey->past || strcmp(past[-1].node, past->node) != 0);
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

static void nodes(FILE *stream, const struct survey *survey)
{
    size_t count = survey->node_count + survey->past_count;
    struct known known;

    head(stream, "muster_node_certified",
         "1 where the node has a certificate; it may have expired.");
    for (size_t i = 0; i < count; i++)
        if (node_known(survey, i, &known))
            sample(stream, known.is_certified, "muster_node_certified", "node", known.node, NULL);
    head(stream, "muster_node_verdict", "1 for the verdict of the node, 0 for the others.");
    for (size_t i = 0; i < count; i++)
        if (node_known(survey, i, &known))
            verdict_samples(stream, &known);
    head(stream, "muster_node_fault", "1 for each fault code of the node: muster-codes(7).");
    for (size_t i = 0; i < count; i++)
        if (node_known(survey, i, &known) && *known.code)
            sample(stream, 1, "muster_node_fault", "node", known.node, "code", known.code,
                   "remediation", known.remediation, NULL);
    head(stream, "muster_certificate_expires_seconds",
         "When the node's certificate expires, in seconds since the epoch.");
    for (size_t i = 0; i < count; i++)
        if (node_known(survey, i, &known))
            sample(stream, known.expires, "muster_certificate_expires_seconds", "node", known.node,
                   NULL);
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

/* Writes a sample for each part with a record for which is_one() holds; its value times factor. */
static void parts(FILE *stream, const struct survey *survey,
                  bool (*is_one)(const struct record *record), double factor, const char *name,
                  const char *label, const char *help)
{
    struct hostlist written = {0};

    for (size_t i = 0; i < survey->count; i++) {
        const struct record *record = SURVEY_AT(survey, i);

        if (!record->part || isnan(record->value) || !is_one(record) ||
            hostlist_contains(&written, record->part) || /* each series once: the first record */
            hostlist_append(&written, record->part) != 0)
            continue;
        if (written.count == 1)
            head(stream, name, help);
        sample(stream, factor * record->value, name, label, record->part, NULL);
    }
    hostlist_clear(&written);
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
    parts(stream, survey, is_of_stage, 1, "muster_stage_duration_seconds", "stage",
          "How long a stage of the run took.");
    nodes(stream, survey);
    links(stream, survey);
    parts(stream, survey, is_of_collective, 1e9, "muster_collective_busbw_bytes_per_second",
          "collective", "Bus bandwidth of a collective, as nccl-tests defines it.");
    if (verdicts(stream, survey) != 0)
        return -1;
    return fflush(stream) == 0 && !ferror(stream) ? 0 : -1;
}
