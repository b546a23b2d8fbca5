/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/certify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validate/compare/hints.h"
#include "validate/history/history.h"

/* A rail that passed is held against what it showed in its own last good runs, and against what
 * others measure on such hardware. Both are hints: they warn. */

/* What a record says of a rail. The order is that in which they are looked at. */
enum saying { SAYS_SPEED, SAYS_SENDS, SAYS_RECEIVES };

struct word {
    size_t subject;
    const char *part;
    enum saying saying;
    double value; /* Mb/s */
};

struct words {
    struct word *words;
    size_t count, size;
    bool is_out_of_memory;
};

static void add_word(struct words *words, const struct certify *certify, const char *node,
                     const struct record *record, enum saying saying)
{
    const struct subject *subject = node ? certify_subject(certify, node) : NULL;

    if (!subject || !subject->is_in_job)
        return;
    if (words->count == words->size) {
        size_t size = words->size ? 2 * words->size : 256;
        struct word *grown = realloc(words->words, size * sizeof *grown);

        if (!grown) {
            words->is_out_of_memory = true;
            return;
        }
        words->words = grown;
        words->size = size;
    }
    words->words[words->count++] =
        (struct word){(size_t)(subject - certify->subjects), record->part, saying, record->value};
}

static int by_rail(const void *left, const void *right)
{
    const struct word *a = left, *b = right;
    int order = (a->subject > b->subject) - (a->subject < b->subject);

    return order ? order : strcmp(a->part, b->part);
}

static void words_take(const struct certify *certify, struct words *words,
                       struct reference_hardware *hardware)
{
    for (size_t i = 0; i < certify->records.count; i++) {
        const struct record *record = &certify->records.items[i];
        const struct subject *subject =
            record->node ? certify_subject(certify, record->node) : NULL;

        if (!subject || !record->metric)
            continue;
        if (strcmp(record->suite, "links") == 0 && strcmp(record->metric, "bandwidth") == 0 &&
            record->part && record->peer && isfinite(record->value)) {
            add_word(words, certify, record->node, record, SAYS_SENDS);
            add_word(words, certify, record->peer, record, SAYS_RECEIVES);
        } else if (strcmp(record->test, "host.config") == 0 && record->message) {
            struct reference_hardware *node = &hardware[subject - certify->subjects];

            if (record->part && strcmp(record->metric, "speed") == 0)
                add_word(words, certify, record->node, record, SAYS_SPEED);
            else if (strcmp(record->metric, "model") == 0 && !*node->gpu)
                node->gpu = record->message;
            else if (strcmp(record->metric, "cpu.model") == 0)
                node->cpu = record->message;
            else if (strcmp(record->metric, "gpu.count") == 0 && isfinite(record->value))
                node->gpus = (int)record->value;
        }
    }
    if (words->count > 0)
        qsort(words->words, words->count, sizeof *words->words, by_rail);
}

/* One rail's figures. */
struct rail_figures {
    size_t subject;
    const char *part;
    double mbps, nic_gbps; /* its worse direction with its best partner; NAN: not measured */
};

/* words[0..count) are of one rail. */
static struct rail_figures figures_of(const struct word *words, size_t count)
{
    double sends = NAN, receives = NAN, speed = 0;

    for (size_t i = 0; i < count; i++)
        switch (words[i].saying) {
        case SAYS_SPEED:
            speed = words[i].value;
            break;
        case SAYS_SENDS:
            sends = fmax(sends, words[i].value);
            break;
        case SAYS_RECEIVES:
            receives = fmax(receives, words[i].value);
            break;
        }
    return (struct rail_figures){.subject = words[0].subject,
                                 .part = words[0].part,
                                 .mbps = isnan(sends) || isnan(receives) ? (double)NAN
                                                                         : fmin(sends, receives),
                                 .nic_gbps = isfinite(speed) ? speed / 1000 : 0};
}

static void warn(struct certify *certify, const struct rail_figures *rail, double limit,
                 const char *source, const char *text)
{
    struct subject *subject = &certify->subjects[rail->subject];
    struct record record = RECORD_INIT;

    record.suite = "certify";
    record.test = "links";
    record.metric = "bandwidth";
    record.node = subject->name;
    record.part = rail->part;
    record.value = rail->mbps;
    record.unit = "Mb/s";
    record.limit = limit;
    record.limit_source = source;
    record.verdict = VERDICT_WARN;
    record.message = text;
    certify_record(certify, &record);
    outcome_note(&subject->outcome, STAGE_LINKS, VERDICT_WARN, "links", rail->part, text);
    certify_note(certify, "%s: %s", subject->name, text);
}

/* Whether the rail is at fault by what this run has measured: that says all. */
static bool is_accused(const struct certify *certify, const struct rail_figures *rail)
{
    return !outcome_is_good(&certify->subjects[rail->subject].outcome);
}

static void hold_history(struct certify *certify, const struct rail_figures *rail,
                         const struct history_figure *figure)
{
    double least = history_figure_floor(figure);
    char text[200];

    if (!(rail->mbps < least))
        return;
    snprintf(text, sizeof text,
             "%s runs at %.0f Mb/s, in its last %u good runs at %.0f: what changed?", rail->part,
             rail->mbps, figure->count, figure->median);
    warn(certify, rail, least, "history", text);
}

static void hold_reference(struct certify *certify, const struct rail_figures *rail,
                           const struct reference *reference, const struct reference_hardware *node)
{
    struct reference_hardware hardware = *node;
    const struct reference_line *line;
    char text[400];

    hardware.nic_gbps = rail->nic_gbps;
    line = reference_find(reference, "links.bandwidth", REFERENCE_THRESHOLD, &hardware);
    if (!line || !(rail->mbps < reference_mbps(line)))
        return;
    snprintf(text, sizeof text, "%s runs at %.0f Mb/s, others take %.0f for the least (%s:%u, %s)",
             rail->part, rail->mbps, reference_mbps(line), reference->file, line->line,
             line->source);
    warn(certify, rail, reference_mbps(line), "reference", text);
}

/* Fills in the questions' node, part and metric; the answers are in the order of the rails. */
static struct history_query *ask_history(const struct certify *certify,
                                         const struct rail_figures *rails, size_t count)
{
    struct history_query *queries = calloc(count + 1, sizeof *queries);
    uint64_t *fingerprints = calloc(certify->count + 1, sizeof *fingerprints);
    struct hostlist names = {calloc(certify->count + 1, sizeof *names.names), certify->count};
    struct error err = {""};
    bool is_known = false;

    for (size_t i = 0; names.names && i < certify->count; i++)
        names.names[i] = (char *)(size_t)certify->subjects[i].name;
    if (queries && fingerprints && names.names &&
        history_fingerprints(&certify->records, 0, &names, fingerprints) == 0) {
        for (size_t i = 0; i < count; i++)
            queries[i] = (struct history_query){.node = certify->subjects[rails[i].subject].name,
                                                .part = rails[i].part,
                                                .metric = "bandwidth",
                                                .fingerprint = fingerprints[rails[i].subject]};
        is_known = history_figures(certify->conf.history_path, queries, count, &err) == 0;
        if (!is_known)
            fprintf(stderr, "muster certify: history: %s\n", err.text);
    }
    free(names.names);
    free(fingerprints);
    if (!is_known) {
        free(queries);
        queries = NULL;
    }
    return queries;
}

static void hold_all(struct certify *certify, const struct rail_figures *rails, size_t count,
                     const struct reference_hardware *hardware)
{
    struct history_query *queries = ask_history(certify, rails, count);
    struct reference reference;
    struct error err;

    if (hints_read(&certify->conf, &reference, &err) != 0)
        certify_note(certify, "%s", err.text);
    for (size_t i = 0; i < count; i++) {
        if (isnan(rails[i].mbps) || is_accused(certify, &rails[i]))
            continue;
        if (queries)
            hold_history(certify, &rails[i], &queries[i].figure);
        hold_reference(certify, &rails[i], &reference, &hardware[rails[i].subject]);
    }
    reference_clear(&reference);
    free(queries);
}

void certify_hints(struct certify *certify)
{
    struct words words = {0};
    struct reference_hardware *hardware = calloc(certify->count + 1, sizeof *hardware);
    struct rail_figures *rails = NULL;
    size_t count = 0;

    for (size_t i = 0; hardware && i < certify->count; i++)
        hardware[i] = (struct reference_hardware){.gpu = "", .cpu = ""};
    if (hardware)
        words_take(certify, &words, hardware);
    if (!words.is_out_of_memory)
        rails = calloc(words.count + 1, sizeof *rails);
    for (size_t i = 0, end; rails && i < words.count; i = end) {
        for (end = i + 1; end < words.count && by_rail(&words.words[i], &words.words[end]) == 0;)
            end++;
        rails[count++] = figures_of(&words.words[i], end - i);
    }
    if (rails && count > 0)
        hold_all(certify, rails, count, hardware);
    free(rails);
    free(words.words);
    free(hardware);
}
