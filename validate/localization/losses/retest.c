/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/localization/losses/losses.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/catalog/catalog.h"
#include "lib/constants/links_constants.h"
#include "validate/diagnose/model.h"

enum { RETESTS = 2 };

/* The losses among the records of a localization. */
struct reading {
    const struct localization *localization;
    struct loss_sample *samples;
    size_t count;
};

static bool is_metric(const struct record *record, enum metric_id metric)
{
    return catalog_is_metric(record->metric, metric);
}

static bool is_of_pair(const struct record *record)
{
    return catalog_is_suite(record->suite, SUITE_LINKS) && record->node && record->peer &&
           record->part;
}

static int node_of(const struct reading *reading, const char *name)
{
    return (int)name_index_find(&reading->localization->links.by_node, name);
}

/* Whether one of the ends has done much more with others: the stream filled the queue of a slower
 * hop, and its losses say nothing. */
static bool is_congested(const struct reading *reading, const struct loss_sample *sample,
                         const struct record *bandwidth)
{
    const struct links *links = &reading->localization->links;
    size_t rails = links->rail_count, rail = (size_t)sample->rail;

    return !bandwidth ||
           !(bandwidth->value >=
             LOSS_FAST_SHARE * fmax(links->bests_mbps[(size_t)sample->from * rails + rail],
                                    links->bests_mbps[(size_t)sample->to * rails + rail]));
}

/* Adds the sample of record i, if it is about losses. muster-links writes the records of a
 * measurement one after the other: what the NICs counted, its bandwidth, its losses. bandwidth: of
 * the same measurement, or NULL. */
static void sample_add(struct reading *reading, size_t i, const struct record *record,
                       const struct record *bandwidth)
{
    struct loss_sample sample = {.rail = links_rail(&reading->localization->links, record->part),
                                 .is_stalled = !bandwidth || !(bandwidth->stalled < MODEL_SEEN),
                                 .is_isolated = i >= reading->localization->retests};
    bool is_damage = is_metric(record, METRIC_CHECKSUM_ERRORS) ||
                     is_metric(record, METRIC_CRC_ERRORS) ||
                     is_metric(record, METRIC_PORT_RCV_ERRORS);
    bool is_drop = is_metric(record, METRIC_RX_DROPPED) || is_metric(record, METRIC_RX_MISSED) ||
                   is_metric(record, METRIC_SOCKET_DROPS);
    bool is_stream = is_metric(record, METRIC_LOST_SEGMENTS), is_at_receiver = is_damage || is_drop;

    if (!is_at_receiver && !is_stream && !is_metric(record, METRIC_LOST_PINGS))
        return;
    sample.from = node_of(reading, is_at_receiver ? record->peer : record->node);
    sample.to = node_of(reading, is_at_receiver ? record->node : record->peer);
    if (sample.from < 0 || sample.to < 0 || sample.rail < 0 || !(record->value >= 0) ||
        (is_stream && is_congested(reading, &sample, bandwidth)))
        return;
    if (is_damage) {
        sample.damaged = record->value;
    } else if (is_drop) {
        sample.dropped = record->value;
        sample.is_stalled = false; /* a drop is evidence against nobody */
    } else {
        sample.sent = record->samples;
        sample.lost = record->value;
    }
    reading->samples[reading->count++] = sample;
}

static int samples_read(struct reading *reading)
{
    const struct records *records = reading->localization->source.records;
    size_t first = reading->localization->first;
    struct record bandwidth = RECORD_INIT;

    reading->samples = calloc(records->count - first + 1, sizeof *reading->samples);
    if (!reading->samples)
        return -1;
    for (size_t i = first; i < records->count; i++) {
        const struct record *record = RECORD_AT(records, i);

        if (!is_of_pair(record))
            continue;
        if (is_metric(record, METRIC_BANDWIDTH))
            bandwidth = *record;
        sample_add(reading, i, record,
                   links_is_same_transfer(&bandwidth, record) ? &bandwidth : NULL);
    }
    return 0;
}

static int judge(const struct localization *localization, struct losses *losses)
{
    struct reading reading = {.localization = localization};
    int rv = -1;

    free(losses->findings);
    losses->findings = NULL;
    losses->count = 0;
    if (samples_read(&reading) == 0) {
        struct loss_data data = {.samples = reading.samples,
                                 .count = reading.count,
                                 .network = {.node_count = localization->links.node_count,
                                             .rail_count = localization->links.rail_count,
                                             .leaves = localization->source.leaves}};

        rv = losses_judge(&data, &losses->findings, &losses->count);
        if (rv == 0)
            rv = losses_confirm(&data, losses->findings, &losses->count);
    }
    free(reading.samples);
    return rv;
}

/* Whether another retest may show more of the finding. */
static bool may_change(const struct loss_finding *finding)
{
    return finding->part.type == DIAGNOSE_RAIL && (!finding->is_either || finding->is_stalled) &&
           finding->retest <= LOSS_NO_CONTROL;
}

/* Measures the rails in question again. Sets *is_measured: there were any, and that succeeded.
 * Returns 0, or -1 if memory is out. */
static int rails_measure(struct localization *localization, const struct losses *losses,
                         bool *is_measured)
{
    bool *is_suspect = calloc(localization->links.node_count + 1, sizeof *is_suspect);
    size_t first = SIZE_MAX;

    for (size_t i = 0; i < losses->count && is_suspect; i++)
        if (may_change(&losses->findings[i]))
            is_suspect[losses->findings[i].part.index] = true;
    *is_measured =
        is_suspect && localization_measure_nodes(localization, is_suspect, PASSES_PAIRS, &first);
    if (*is_measured && localization->retests == SIZE_MAX)
        localization->retests = first;
    free(is_suspect);
    return is_suspect ? 0 : -1;
}

int losses_find(struct localization *localization, struct losses *losses)
{
    bool is_measured = true;

    *losses = (struct losses){.nodes = localization->links.nodes,
                              .rails = (const char *const *)localization->links.rails};
    for (int i = 0; is_measured; i++) {
        if (judge(localization, losses) != 0)
            return -1;
        is_measured = false;
        if (i < RETESTS && rails_measure(localization, losses, &is_measured) != 0)
            return -1;
    }
    return 0;
}

void losses_clear(struct losses *losses)
{
    free(losses->findings);
    *losses = (struct losses){0};
}

enum verdict losses_verdict(const struct loss_finding *finding)
{
    bool is_sure = finding->part.type == DIAGNOSE_RAIL
                       ? finding->retest == LOSS_CONFIRMED && !finding->is_either
                       : !finding->is_stalled;

    return is_sure ? VERDICT_FAIL : VERDICT_UNKNOWN;
}
