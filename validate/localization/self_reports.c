/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/localization/verbs_retest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_damage(const struct record *record)
{
    return record->peer && record->metric && strcmp(record->metric, "damaged") == 0;
}

/* Whose fault it is, the record alone does not tell. */
static bool is_of_both(const struct record *record)
{
    return is_damage(record) || verbs_is_failure(record);
}

/* How many records of each kind have a node at either end. */
struct blames {
    struct name_index by_node;
    const char **nodes;  /* as often as the records name them; the first place counts */
    size_t (*counts)[2]; /* of each place: of libibverbs, of damage */
};

static bool is_counted(const struct record *record)
{
    return record->node && strcmp(record->suite, "links") == 0 && is_of_both(record);
}

static void blames_clear(struct blames *blames)
{
    name_index_clear(&blames->by_node);
    free(blames->nodes);
    free(blames->counts);
}

/* Returns 0, or -1 when memory is out; to be cleared in either case. */
static int blames_make(const struct records *records, size_t first, struct blames *blames)
{
    size_t most = 0, count = 0;

    *blames = (struct blames){0};
    for (size_t i = first; i < records->count; i++)
        most += 2 * is_counted(&records->items[i]);
    blames->nodes = malloc((most + 1) * sizeof *blames->nodes);
    blames->counts = calloc(most + 1, sizeof *blames->counts);
    if (!blames->nodes || !blames->counts)
        return -1;
    for (size_t i = first; i < records->count; i++)
        if (is_counted(&records->items[i])) {
            blames->nodes[count++] = records->items[i].node;
            blames->nodes[count++] = records->items[i].peer;
        }
    if (name_index_build(blames->nodes, count, &blames->by_node) != 0)
        return -1;
    for (size_t i = first; i < records->count; i++) {
        const struct record *record = &records->items[i];

        if (!is_counted(record))
            continue;
        blames->counts[name_index_find(&blames->by_node, record->node)][is_damage(record)]++;
        if (strcmp(record->node, record->peer) != 0)
            blames->counts[name_index_find(&blames->by_node, record->peer)][is_damage(record)]++;
    }
    return 0;
}

/* The records of the measurement itself, and what is known of the nodes that they suspect. */
struct self_reports {
    const struct localization *localization;
    size_t count; /* of the records, before any retest */
    struct blames blames;
    bool has_blames;            /* else it could be either end */
    bool *is_suspect;           /* of messages that did not arrive; of the localization's nodes */
    enum verbs_retest *retests; /* as many */
    void (*report)(void *context, const char *node, enum verdict verdict,
                   const struct record *record);
    void *context;
};

static long node_of(const struct self_reports *self_reports, const char *name)
{
    return name_index_find(&self_reports->localization->links.by_node, name);
}

/* Which end the record suspects: FAIL or UNKNOWN of each, NONE of who has less of them. */
static void ends_weigh(const struct self_reports *self_reports, const struct record *record,
                       enum verdict verdicts[2])
{
    const char *ends[] = {record->node, record->peer};
    size_t blame[2] = {0, 0};

    for (int k = 0; k < 2 && self_reports->has_blames; k++)
        blame[k] =
            self_reports->blames
                .counts[name_index_find(&self_reports->blames.by_node, ends[k])][is_damage(record)];
    for (int k = 0; k < 2; k++)
        verdicts[k] = blame[k] > blame[1 - k]    ? VERDICT_FAIL
                      : blame[k] == blame[1 - k] ? VERDICT_UNKNOWN
                                                 : VERDICT_NONE;
}

/* Measures those again of which messages did not arrive. */
static void suspects_measure(struct self_reports *self_reports)
{
    const struct records *records = self_reports->localization->source.records;
    size_t nodes = self_reports->localization->links.node_count;
    bool is_any = false;

    self_reports->is_suspect = calloc(nodes + 1, sizeof *self_reports->is_suspect);
    self_reports->retests = calloc(nodes + 1, sizeof *self_reports->retests);
    if (!self_reports->is_suspect || !self_reports->retests)
        return;
    for (size_t i = self_reports->localization->first; i < self_reports->count; i++) {
        const struct record *record = &records->items[i];
        enum verdict verdicts[2];

        if (!is_counted(record) || is_damage(record))
            continue;
        ends_weigh(self_reports, record, verdicts);
        for (int k = 0; k < 2; k++) {
            long node = node_of(self_reports, k ? record->peer : record->node);

            if (verdicts[k] == VERDICT_FAIL && node >= 0)
                is_any = self_reports->is_suspect[node] = true;
        }
    }
    if (is_any)
        verbs_retest(self_reports->localization, self_reports->is_suspect, self_reports->retests);
}

/* A message that did not arrive, and why it is not the node's failure. */
static void doubt(const struct self_reports *self_reports, const char *node,
                  const struct record *record, enum verbs_retest retest)
{
    static const char *const texts[] = {
        [VERBS_NOT_RETESTED] = "not measured again",
        [VERBS_NO_CONTROL] = "no control pair in the retest",
        [VERBS_CONTROL_TOO] = "in the retest the control pair fails too: the network?",
        [VERBS_NOT_AGAIN] = "not again in the retest",
        [VERBS_ACROSS_ONLY] = "or the uplinks of its leaf switch",
    };
    struct record copy = *record;
    char message[512];

    snprintf(message, sizeof message, "%.400s; %s; certify again",
             record->message ? record->message : "", texts[retest]);
    copy.message = message;
    self_reports->report(self_reports->context, node, VERDICT_UNKNOWN, &copy);
}

static void ends_report(const struct self_reports *self_reports, const struct record *record)
{
    enum verdict verdicts[2];

    ends_weigh(self_reports, record, verdicts);
    for (int k = 0; k < 2; k++) {
        const char *name = k ? record->peer : record->node;
        long node = node_of(self_reports, name);
        enum verbs_retest retest =
            self_reports->retests && node >= 0 ? self_reports->retests[node] : VERBS_NOT_RETESTED;

        if (verdicts[k] == VERDICT_FAIL && !is_damage(record) && retest != VERBS_CONFIRMED)
            doubt(self_reports, name, record, retest);
        else if (verdicts[k] != VERDICT_NONE)
            self_reports->report(self_reports->context, name, verdicts[k], record);
    }
}

void localization_self_reports(const struct localization *localization,
                               void (*report)(void *context, const char *node, enum verdict verdict,
                                              const struct record *record),
                               void *context)
{
    const struct records *records = localization->source.records;
    struct self_reports self_reports = {.localization = localization,
                                        .count = records->count,
                                        .report = report,
                                        .context = context};

    self_reports.has_blames = blames_make(records, localization->first, &self_reports.blames) == 0;
    suspects_measure(&self_reports);
    for (size_t i = localization->first; i < self_reports.count; i++) {
        const struct record *record = &records->items[i];

        if (!record->node || record->verdict < VERDICT_WARN ||
            strcmp(record->suite, "links") != 0 || links_is_measurement(record) ||
            (strncmp(record->metric ? record->metric : "", "bandwidth_", 10) == 0 &&
             !verbs_is_failure(record)))
            continue;
        if (is_of_both(record))
            ends_report(&self_reports, record);
        else
            report(context, record->node, record->verdict, record);
    }
    blames_clear(&self_reports.blames);
    free(self_reports.is_suspect);
    free(self_reports.retests);
}
