/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/localization/verbs_retest.h"

#include <stdlib.h>
#include <string.h>

#include "lib/catalog/catalog.h"

/* The retest's records of the nodes of a localization. */
struct reading {
    const struct localization *localization;
    const bool *is_suspect;
    size_t first;
};

static bool is_metric(const struct record *record, const char *start)
{
    return record->metric && strncmp(record->metric, start, strlen(start)) == 0;
}

static bool is_of_messages(const struct record *record)
{
    return is_metric(record, "bandwidth_rc_") || is_metric(record, "bandwidth_ud_");
}

bool verbs_is_failure(const struct record *record)
{
    return record->verdict == VERDICT_FAIL && record->node && record->peer &&
           (is_of_messages(record) || catalog_is_metric(record->metric, METRIC_STATE));
}

static bool is_same(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Whether what failed there arrived at another time of the retest. */
static bool has_arrived(const struct reading *reading, const struct record *failed)
{
    const struct records *records = reading->localization->source.records;

    for (size_t i = reading->first; i < records->count; i++) {
        const struct record *record = &records->items[i];

        if (is_of_messages(record) && record->verdict != VERDICT_FAIL && record->node &&
            record->peer && is_same(record->metric, failed->metric) &&
            is_same(record->part, failed->part) && is_same(record->node, failed->node) &&
            is_same(record->peer, failed->peer))
            return true;
    }
    return false;
}

/* The ends of what was measured, or of what failed. */
static bool read_ends(const struct reading *reading, const struct record *record, long ends[2])
{
    if (!is_of_messages(record) && !verbs_is_failure(record))
        return false;
    if (!record->node || !record->peer || !is_same(record->suite, "links"))
        return false;
    ends[0] = name_index_find(&reading->localization->links.by_node, record->node);
    ends[1] = name_index_find(&reading->localization->links.by_node, record->peer);
    return ends[0] >= 0 && ends[1] >= 0;
}

static bool is_own_leaf(const struct links *links, long node, long partner)
{
    return !links->leaves || links->leaves[node] < 0 ||
           links->leaves[node] == links->leaves[partner];
}

/* The suspect with its good partners. fails: of the nodes. */
static enum verbs_retest suspect_judge(const struct reading *reading, long suspect, bool *is_met,
                                       bool *fails)
{
    const struct localization *localization = reading->localization;
    const struct links *links = &localization->links;
    bool is_any = false, is_own = false, is_each = true;
    long ends[2];

    memset(is_met, 0, links->node_count);
    memset(fails, 0, links->node_count);
    for (size_t i = reading->first; i < localization->source.records->count; i++) {
        const struct record *record = &localization->source.records->items[i];
        long partner;

        if (!read_ends(reading, record, ends) || (ends[0] != suspect && ends[1] != suspect))
            continue;
        partner = ends[ends[0] == suspect];
        if (reading->is_suspect[partner])
            continue;
        is_met[partner] = true;
        if (!fails[partner] && verbs_is_failure(record))
            fails[partner] = !has_arrived(reading, record);
    }
    for (size_t node = 0; node < links->node_count; node++) {
        is_any |= is_met[node];
        is_each &= !is_met[node] || fails[node];
        is_own |= fails[node] && is_own_leaf(links, suspect, (long)node);
    }
    return !is_any    ? VERBS_NOT_RETESTED
           : !is_each ? VERBS_NOT_AGAIN
           : !is_own  ? VERBS_ACROSS_ONLY
                      : VERBS_CONFIRMED;
}

/* What the pairs of others say of it. */
static enum verbs_retest control_judge(const struct reading *reading)
{
    enum verbs_retest control = VERBS_NO_CONTROL;
    long ends[2];

    for (size_t i = reading->first; i < reading->localization->source.records->count; i++) {
        const struct record *record = &reading->localization->source.records->items[i];

        if (!read_ends(reading, record, ends) || reading->is_suspect[ends[0]] ||
            reading->is_suspect[ends[1]])
            continue;
        if (verbs_is_failure(record))
            return VERBS_CONTROL_TOO;
        control = VERBS_CONFIRMED;
    }
    return control;
}

int verbs_retest(const struct localization *localization, const bool *is_suspect,
                 enum verbs_retest *retests)
{
    size_t nodes = localization->links.node_count;
    struct reading reading = {localization, is_suspect, 0};
    bool *is_met = calloc(nodes + 1, sizeof *is_met), *fails = calloc(nodes + 1, sizeof *fails);
    bool is_there = is_met && fails;
    enum verbs_retest control;

    for (size_t node = 0; node < nodes; node++)
        retests[node] = VERBS_NOT_RETESTED;
    if (is_there &&
        localization_measure_nodes(localization, is_suspect, PASSES_VERBS, &reading.first)) {
        control = control_judge(&reading);
        for (size_t node = 0; node < nodes; node++) {
            if (is_suspect[node])
                retests[node] = suspect_judge(&reading, (long)node, is_met, fails);
            if (retests[node] == VERBS_CONFIRMED)
                retests[node] = control;
        }
    }
    free(is_met);
    free(fails);
    return is_there ? 0 : -1;
}
