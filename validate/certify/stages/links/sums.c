/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/statistics.h"
#include "validate/certify/report/run_records.h"
#include "validate/certify/stages/links/links_stage.h"
#include "validate/localization/sums.h"

/* Returns whether the record is the sum of a pass over all nodes of an uplink or of a half: it has
 * a part and no node. */
static bool is_sum(const struct record *record)
{
    return catalog_is_suite(record->suite, SUITE_LINKS) && record->metric && !record->node &&
           record->part && record->value >= 0 && record->samples > 0 &&
           (catalog_is_metric(record->metric, METRIC_BANDWIDTH_UPLINK) ||
            catalog_is_metric(record->metric, METRIC_BANDWIDTH_BISECTION));
}

static void sum_record(struct certify *certify, size_t index, const struct sum_verdict *verdict)
{
    const struct record *sum = RECORD_AT(&certify->records, index);

    certify_record(certify, RECORD(.suite = "certify", .test = "links", .metric = sum->metric,
                                   .part = sum->part, .value = sum->value, .unit = sum->unit,
                                   .limit = verdict->limit, .limit_source = verdict->limit_source,
                                   .verdict = verdict->verdict, .code = FAULT_UPLINK_SLOW,
                                   .message = verdict->message));
    if (verdict->verdict >= VERDICT_WARN)
        certify_note(certify, "%s", verdict->message);
}

void certify_sums(struct certify *certify, size_t first, const double *figures, size_t count)
{
    size_t sum_count = 0, end = certify->records.count;
    struct link_sum *sums = calloc(end - first + 1, sizeof *sums);
    struct sum_verdict *verdicts = calloc(end - first + 1, sizeof *verdicts);
    size_t *places = calloc(end - first + 1, sizeof *places);
    double *known = calloc(count + 1, sizeof *known);
    size_t known_count = 0;

    if (!sums || !verdicts || !places || !known) {
        certify_note(certify, "out of memory, cannot evaluate the uplinks");
        end = first;
    }
    for (size_t i = first; i < end; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);

        if (!is_sum(record))
            continue;
        places[sum_count] = i;
        sums[sum_count++] = (struct link_sum){record->part, record->value, (int)record->samples};
    }
    for (size_t i = 0; sum_count > 0 && i < count; i++)
        if (!isnan(figures[i]))
            known[known_count++] = figures[i];
    if (sum_count > 0)
        sums_judge(sums, sum_count, known_count ? statistics_median(known, known_count) : NAN,
                   certify->conf.link_peers_percent, verdicts);
    for (size_t i = 0; i < sum_count; i++)
        sum_record(certify, places[i], &verdicts[i]);
    free(sums);
    free(verdicts);
    free(places);
    free(known);
}
