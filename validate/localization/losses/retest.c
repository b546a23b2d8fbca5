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
#include "validate/localization/localization.h"

enum { RETESTS = 2 };

static bool is_metric(const struct record *record, enum metric_id metric)
{
    return catalog_is_metric(record->metric, metric);
}

static bool is_of_pair(const struct record *record)
{
    return catalog_is_suite(record->suite, SUITE_LINKS) && record->node && record->peer &&
           record->part;
}

static int node_of(const struct links *links, const char *name)
{
    return (int)name_index_find(&links->by_node, name);
}

/* Whether one of the ends has done much more with others: the stream filled the queue of a slower
 * hop, and its losses say nothing. */
static bool is_congested(const struct links *links, const struct loss_sample *sample,
                         const struct record *bandwidth)
{
    size_t rails = links->rail_count, rail = (size_t)sample->rail;

    return !bandwidth ||
           !(bandwidth->value >=
             LOSS_FAST_SHARE * fmax(links->bests_mbps[(size_t)sample->from * rails + rail],
                                    links->bests_mbps[(size_t)sample->to * rails + rail]));
}

/* Sets sample to what the record says of losses. muster-links writes the records of a measurement
 * one after the other: what the NICs counted, its bandwidth, its losses. bandwidth: of the same
 * measurement, or NULL. Returns whether it says anything. */
static bool sample_read(const struct links *links, const struct record *record,
                        const struct record *bandwidth, struct loss_sample *sample)
{
    bool is_damage = is_metric(record, METRIC_CHECKSUM_ERRORS) ||
                     is_metric(record, METRIC_CRC_ERRORS) ||
                     is_metric(record, METRIC_PORT_RCV_ERRORS);
    bool is_drop = is_metric(record, METRIC_RX_DROPPED) || is_metric(record, METRIC_RX_MISSED) ||
                   is_metric(record, METRIC_SOCKET_DROPS);
    bool is_stream = is_metric(record, METRIC_LOST_SEGMENTS), is_at_receiver = is_damage || is_drop;

    if (!is_at_receiver && !is_stream && !is_metric(record, METRIC_LOST_PINGS))
        return false;
    *sample = (struct loss_sample){
        .from = node_of(links, is_at_receiver ? record->peer : record->node),
        .to = node_of(links, is_at_receiver ? record->node : record->peer),
        .rail = links_rail(links, record->part),
        .is_stalled = !bandwidth || !(bandwidth->stalled < MODEL_SEEN),
    };
    if (sample->from < 0 || sample->to < 0 || sample->rail < 0 || !(record->value >= 0) ||
        (is_stream && is_congested(links, sample, bandwidth)))
        return false;
    if (is_damage) {
        sample->damaged = record->value;
    } else if (is_drop) {
        sample->dropped = record->value;
        sample->is_stalled = false; /* a drop is evidence against nobody */
    } else {
        sample->sent = record->samples;
        sample->lost = record->value;
    }
    return true;
}

int losses_read(struct localization *localization)
{
    const struct records *records = localization->source.records;
    const struct links *links = &localization->links;
    struct losses *losses = &localization->losses;
    struct loss_sample *samples = calloc(records->count - localization->first + 1, sizeof *samples);
    struct loss_data data = {.samples = samples,
                             .network = {.node_count = links->node_count,
                                         .rail_count = links->rail_count,
                                         .leaves = localization->source.leaves}};
    struct record bandwidth = RECORD_INIT;
    int rv = -1;

    losses_clear(losses);
    for (size_t i = localization->first; i < records->count && samples; i++) {
        const struct record *record = RECORD_AT(records, i);
        bool is_same;

        if (!is_of_pair(record))
            continue;
        if (is_metric(record, METRIC_BANDWIDTH))
            bandwidth = *record;
        is_same = links_is_same_transfer(&bandwidth, record);
        if (!sample_read(links, record, is_same ? &bandwidth : NULL, &samples[data.count]))
            continue;
        samples[data.count++].is_isolated = i >= localization->retests;
    }
    if (samples)
        rv = losses_judge(&data, losses);
    free(samples);
    return rv;
}

/* Whether another retest may show more of the finding. */
static bool may_change(const struct loss_finding *finding)
{
    return finding->part.type == DIAGNOSE_RAIL && (!finding->is_either || finding->is_stalled) &&
           finding->retest <= LOSS_NO_CONTROL;
}

/* Measures the rails in question again. Returns whether there were any and that succeeded. */
static bool rails_measure(struct localization *localization)
{
    const struct losses *losses = &localization->losses;
    bool *is_suspect = calloc(localization->links.node_count + 1, sizeof *is_suspect);
    bool is_measured;
    size_t first;

    for (size_t i = 0; i < losses->count && is_suspect; i++)
        if (may_change(&losses->findings[i]))
            is_suspect[losses->findings[i].part.index] = true;
    is_measured =
        is_suspect && localization_measure_nodes(localization, is_suspect, PASSES_PAIRS, &first);
    if (is_measured && localization->retests == SIZE_MAX)
        localization->retests = first;
    free(is_suspect);
    return is_measured;
}

int losses_retest(struct localization *localization)
{
    int rv = 0;

    for (int i = 0; i < RETESTS && rv == 0 && rails_measure(localization); i++)
        rv = losses_read(localization);
    return rv;
}

enum verdict losses_verdict(const struct loss_finding *finding)
{
    bool is_sure = finding->part.type == DIAGNOSE_RAIL
                       ? finding->retest == LOSS_CONFIRMED && !finding->is_either
                       : !finding->is_stalled;

    return is_sure ? VERDICT_FAIL : VERDICT_UNKNOWN;
}
