/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/catalog/catalog.h"
#include "validate/localization/localization.h"

/* Whether the record is about messages of libibverbs between two ports. Other bandwidths of
 * libibverbs are diagnosed with the links. */
static bool is_of_messages(const struct record *record)
{
    return record->metric && (strncmp(record->metric, "bandwidth_rc_", 13) == 0 ||
                              strncmp(record->metric, "bandwidth_ud_", 13) == 0);
}

static bool is_failure(const struct record *record)
{
    return record->verdict == VERDICT_FAIL && record->node && record->peer &&
           (is_of_messages(record) || catalog_is_metric(record->metric, METRIC_STATE));
}

static bool is_damage(const struct record *record)
{
    return record->peer && catalog_is_metric(record->metric, METRIC_DAMAGED);
}

/* Whether the record alone does not show which of its two ends is at fault. */
static bool is_of_both(const struct record *record)
{
    return record->node && catalog_is_suite(record->suite, SUITE_LINKS) &&
           (is_damage(record) || is_failure(record));
}

/* What a retest shows of a node whose messages did not arrive. */
enum message_retest {
    NOT_RETESTED, /* or not with a good partner */
    NO_CONTROL,   /* no control pair */
    CONTROL_TOO,  /* messages of the control pair do not arrive either */
    NOT_AGAIN,    /* they arrived at one of the times, or with one of its good partners */
    ACROSS_ONLY,  /* they failed again, but only with partners on other leaf switches */
    CONFIRMED,
};

/* The records of the measurement, and what is known of the nodes of the localization. */
struct self_reports {
    const struct localization *localization;
    const struct records *records; /* its source's */
    size_t count;                  /* of the records, before any retest */
    size_t first;                  /* the first record of the retest of messages */
    size_t (*blames)[2]; /* [nodes] records with the node at an end: of messages, of damage */
    bool *is_inside;     /* [nodes] some damage is with a node of its own leaf switch */
    bool *is_suspect;    /* [nodes] of messages that did not arrive */
    enum message_retest *retests;
    enum { UNMET, MET, FAILS } * partners; /* of one suspect in the retest */
};

/* Finds the two nodes of the record. Returns whether both are of the localization. */
static bool find_ends(const struct self_reports *self_reports, const struct record *record,
                      long ends[2])
{
    const struct name_index *by_node = &self_reports->localization->links.by_node;

    ends[0] = name_index_find(by_node, record->node);
    ends[1] = name_index_find(by_node, record->peer);
    return ends[0] >= 0 && ends[1] >= 0;
}

/* Whether the node is alone on a leaf that was found from the samples: such a leaf is no leaf
 * switch, the node reaches no other one well. */
static bool is_lone(const struct links *links, long node)
{
    for (size_t i = 0; i < links->node_count && links->has_found_leaves; i++)
        if ((long)i != node && links->leaves[i] == links->leaves[node])
            return false;
    return links->has_found_leaves;
}

static void count_blames(struct self_reports *self_reports)
{
    const int *leaves = self_reports->localization->links.leaves;
    long ends[2];

    for (size_t i = self_reports->localization->first; i < self_reports->count; i++) {
        const struct record *record = RECORD_AT(self_reports->records, i);

        if (!is_of_both(record) || !find_ends(self_reports, record, ends))
            continue;
        self_reports->blames[ends[0]][is_damage(record)]++;
        self_reports->blames[ends[1]][is_damage(record)] += ends[0] != ends[1];
        for (int k = 0; k < 2 && is_damage(record); k++)
            self_reports->is_inside[ends[k]] |=
                !leaves || leaves[ends[0]] == leaves[ends[1]] ||
                is_lone(&self_reports->localization->links, ends[k]);
    }
}

/* Finds the ends of the record and its verdict on each: FAIL if the end has more such records than
 * the other one, NONE if less, UNKNOWN if as many. */
static void weigh_ends(const struct self_reports *self_reports, const struct record *record,
                       long ends[2], enum verdict verdicts[2])
{
    size_t blame[2] = {0, 0};

    if (find_ends(self_reports, record, ends))
        for (int k = 0; k < 2; k++)
            blame[k] = self_reports->blames[ends[k]][is_damage(record)];
    for (int k = 0; k < 2; k++)
        verdicts[k] = blame[k] > blame[1 - k]    ? VERDICT_FAIL
                      : blame[k] == blame[1 - k] ? VERDICT_UNKNOWN
                                                 : VERDICT_NONE;
}

/* Whether what failed in that record arrived at another time of the retest. */
static bool has_arrived(const struct self_reports *self_reports, const struct record *failed)
{
    for (size_t i = self_reports->first; i < self_reports->records->count; i++) {
        const struct record *record = RECORD_AT(self_reports->records, i);

        if (is_of_messages(record) && record->verdict != VERDICT_FAIL &&
            record->metric == failed->metric && links_is_same_transfer(record, failed))
            return true;
    }
    return false;
}

/* Finds the ends of record i of the retest. Returns whether it is about messages, or a failure. */
static bool read_ends(const struct self_reports *self_reports, size_t i, long ends[2])
{
    const struct record *record = RECORD_AT(self_reports->records, i);

    return (is_of_messages(record) || is_failure(record)) && record->node && record->peer &&
           catalog_is_suite(record->suite, SUITE_LINKS) && find_ends(self_reports, record, ends);
}

/* Judges the suspect by its messages with good partners, and by those of the control pair. */
static enum message_retest judge_suspect(const struct self_reports *self_reports, long suspect)
{
    const struct links *links = &self_reports->localization->links;
    const bool *is_suspect = self_reports->is_suspect;
    bool is_any = false, is_own = false, is_each = true;
    enum message_retest control = NO_CONTROL;
    long ends[2];

    memset(self_reports->partners, 0, links->node_count * sizeof *self_reports->partners);
    for (size_t i = self_reports->first; i < self_reports->records->count; i++) {
        const struct record *record = RECORD_AT(self_reports->records, i);
        long partner;

        if (!read_ends(self_reports, i, ends))
            continue;
        if (!is_suspect[ends[0]] && !is_suspect[ends[1]])
            control = is_failure(record) || control == CONTROL_TOO ? CONTROL_TOO : CONFIRMED;
        if (ends[0] != suspect && ends[1] != suspect)
            continue;
        partner = ends[ends[0] == suspect];
        if (!is_suspect[partner] && self_reports->partners[partner] != FAILS)
            self_reports->partners[partner] =
                is_failure(record) && !has_arrived(self_reports, record) ? FAILS : MET;
    }
    for (size_t node = 0; node < links->node_count; node++) {
        bool fails = self_reports->partners[node] == FAILS;

        is_any |= self_reports->partners[node] != UNMET;
        is_each &= self_reports->partners[node] != MET;
        is_own |= fails && (!links->leaves || links->leaves[suspect] == links->leaves[node]);
    }
    return !is_any ? NOT_RETESTED : !is_each ? NOT_AGAIN : !is_own ? ACROSS_ONLY : control;
}

/* Measures nodes again whose messages did not arrive, each alone with partners that nobody
 * suspects, by turns with control pairs. */
static void measure_suspects(struct self_reports *self_reports)
{
    const struct localization *localization = self_reports->localization;
    bool is_any = false;

    for (size_t i = localization->first; i < self_reports->count; i++) {
        const struct record *record = RECORD_AT(self_reports->records, i);
        enum verdict verdicts[2];
        long ends[2];

        if (!is_of_both(record) || is_damage(record))
            continue;
        weigh_ends(self_reports, record, ends, verdicts);
        for (int k = 0; k < 2; k++)
            if (verdicts[k] == VERDICT_FAIL)
                is_any = self_reports->is_suspect[ends[k]] = true;
    }
    if (!is_any || !localization_measure_nodes(localization, self_reports->is_suspect, PASSES_VERBS,
                                               &self_reports->first))
        return;
    for (size_t node = 0; node < localization->links.node_count; node++)
        if (self_reports->is_suspect[node])
            self_reports->retests[node] = judge_suspect(self_reports, (long)node);
}

/* Returns why a record that suspects the node does not fail it, or CONFIRMED if it does. Data
 * damaged only with nodes of other leaf switches may be damaged between the switches. */
static enum message_retest doubt_of(const struct self_reports *self_reports,
                                    const struct record *record, long node)
{
    if (is_damage(record))
        return self_reports->is_inside[node] ? CONFIRMED : ACROSS_ONLY;
    return self_reports->retests[node];
}

/* Reports as UNKNOWN a message that did not arrive, or damage, with the reason why it does not fail
 * the node. */
static void report_doubt(const char *node, const struct record *record, enum message_retest retest,
                         localization_report_fn *report, void *context)
{
    static const char *const texts[] = {
        [NOT_RETESTED] = "not measured again",
        [NO_CONTROL] = "no control pair in the retest",
        [CONTROL_TOO] = "in the retest the control pair fails too: the network?",
        [NOT_AGAIN] = "did not recur in the retest",
        [ACROSS_ONLY] = "or the uplinks of its leaf switch",
    };
    struct record copy = *record;
    char message[512];

    snprintf(message, sizeof message, "%.400s; %s; certify again",
             record->message ? record->message : "", texts[retest]);
    copy.message = message;
    report(context, node, VERDICT_UNKNOWN, &copy);
}

void localization_self_reports(const struct localization *localization,
                               localization_report_fn *report, void *context)
{
    size_t nodes = localization->links.node_count;
    struct self_reports self_reports = {
        .localization = localization,
        .records = localization->source.records,
        .count = localization->source.records->count,
        .blames = calloc(nodes + 1, sizeof *self_reports.blames),
        .is_inside = calloc(nodes + 1, sizeof *self_reports.is_inside),
        .is_suspect = calloc(nodes + 1, sizeof *self_reports.is_suspect),
        .retests = calloc(nodes + 1, sizeof *self_reports.retests),
        .partners = calloc(nodes + 1, sizeof *self_reports.partners)};
    bool is_known = self_reports.blames && self_reports.is_inside && self_reports.is_suspect &&
                    self_reports.retests && self_reports.partners; /* else it could be either end */

    if (is_known) {
        count_blames(&self_reports);
        measure_suspects(&self_reports);
    }
    for (size_t i = localization->first; i < self_reports.count; i++) {
        const struct record *record = RECORD_AT(self_reports.records, i);
        const char *names[] = {record->node, record->peer};
        enum verdict verdicts[2] = {VERDICT_UNKNOWN, VERDICT_UNKNOWN};
        long ends[2];

        if (!record->node || record->verdict < VERDICT_WARN ||
            !catalog_is_suite(record->suite, SUITE_LINKS) || links_is_measurement(record) ||
            (strncmp(record->metric ? record->metric : "", "bandwidth_", 10) == 0 &&
             !is_failure(record)))
            continue;
        if (!is_of_both(record)) {
            report(context, record->node, record->verdict, record);
            continue;
        }
        if (is_known)
            weigh_ends(&self_reports, record, ends, verdicts);
        for (int k = 0; k < 2; k++) {
            enum message_retest doubt =
                verdicts[k] == VERDICT_FAIL ? doubt_of(&self_reports, record, ends[k]) : CONFIRMED;

            if (doubt != CONFIRMED)
                report_doubt(names[k], record, doubt, report, context);
            else if (verdicts[k] != VERDICT_NONE)
                report(context, names[k], verdicts[k], record);
        }
    }
    free(self_reports.blames);
    free(self_reports.is_inside);
    free(self_reports.is_suspect);
    free(self_reports.retests);
    free(self_reports.partners);
}
