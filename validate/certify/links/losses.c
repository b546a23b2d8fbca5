/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/certify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/statistics.h"
#include "validate/judge/links/losses/losses.h"

/* What TCP had to send again, judged: records of muster-links in, verdicts and notes out. */

enum { RAILS = 64 };

struct losses {
    struct name_index nodes;
    const char *rails[RAILS];
    int rail_count;
    double medians[RAILS]; /* of the bandwidths on each rail */
    struct loss_sample *samples;
    size_t count;
};

static bool is_metric(const struct record *record, const char *metric)
{
    return record->metric && strcmp(record->metric, metric) == 0;
}

static bool is_of_pair(const struct record *record)
{
    return strcmp(record->suite, "links") == 0 && record->node && record->peer && record->part;
}

/* -1: too many. */
static int rail_of(struct losses *losses, const char *name)
{
    for (int i = 0; i < losses->rail_count; i++)
        if (strcmp(losses->rails[i], name) == 0)
            return i;
    if (losses->rail_count == RAILS)
        return -1;
    losses->rails[losses->rail_count] = name;
    return losses->rail_count++;
}

static int medians_find(struct losses *losses, const struct records *records, size_t first)
{
    double *found = calloc(records->count - first + 1, sizeof *found);

    if (!found)
        return -1;
    for (size_t i = first; i < records->count; i++)
        if (is_of_pair(&records->items[i]) && is_metric(&records->items[i], "bandwidth"))
            rail_of(losses, records->items[i].part);
    for (int rail = 0; rail < losses->rail_count; rail++) {
        size_t count = 0;

        for (size_t i = first; i < records->count; i++) {
            const struct record *record = &records->items[i];

            if (is_of_pair(record) && is_metric(record, "bandwidth") && record->value > 0 &&
                strcmp(record->part, losses->rails[rail]) == 0)
                found[count++] = record->value;
        }
        losses->medians[rail] = statistics_median(found, count);
    }
    free(found);
    return 0;
}

/* muster-links tells of one measurement in one go: what the NICs counted, its bandwidth, its
 * losses. */
static void sample_add(struct losses *losses, const struct record *record, double mbps)
{
    struct loss_sample sample = {.rail = rail_of(losses, record->part), .mbps = mbps};
    bool is_damage = is_metric(record, "checksum_errors");
    bool is_stream = is_metric(record, "lost_segments");

    if (!is_damage && !is_stream && !is_metric(record, "lost_pings"))
        return;
    /* damage is counted where it arrives */
    sample.from = (int)name_index_find(&losses->nodes, is_damage ? record->peer : record->node);
    sample.to = (int)name_index_find(&losses->nodes, is_damage ? record->node : record->peer);
    if (sample.from < 0 || sample.to < 0 || sample.rail < 0 || !(record->value >= 0) ||
        (is_stream && losses_is_congested(mbps, losses->medians[sample.rail])))
        return;
    if (is_damage) {
        sample.damaged = record->value;
    } else {
        sample.sent = record->samples;
        sample.lost = record->value;
    }
    losses->samples[losses->count++] = sample;
}

static int samples_read(struct losses *losses, const struct records *records, size_t first)
{
    const struct record *bandwidth = NULL;

    losses->samples = calloc(records->count - first + 1, sizeof *losses->samples);
    if (!losses->samples || medians_find(losses, records, first) != 0)
        return -1;
    for (size_t i = first; i < records->count; i++) {
        const struct record *record = &records->items[i];
        bool is_same;

        if (!is_of_pair(record))
            continue;
        if (is_metric(record, "bandwidth"))
            bandwidth = record;
        is_same = bandwidth && strcmp(bandwidth->node, record->node) == 0 &&
                  strcmp(bandwidth->peer, record->peer) == 0 &&
                  strcmp(bandwidth->part, record->part) == 0;
        sample_add(losses, record, is_same ? bandwidth->value : NAN);
    }
    return 0;
}

static void message_write(const struct losses *losses, const struct hostlist *names,
                          const struct loss_finding *finding, char *part, size_t part_size,
                          char *message, size_t size)
{
    const char *rail = losses->rails[finding->rail];
    const char *verb = finding->is_damage ? "corrupts" : "loses";
    double percent = 100 * finding->lost / finding->sent;
    const char *way = finding->sends && finding->receives ? "sends and receives"
                      : finding->sends                    ? "sends"
                                                          : "receives";

    switch (finding->kind) {
    case LOSS_RAIL:
        snprintf(part, part_size, "%s", rail);
        snprintf(message, size, "%s %s %.2g %% of what it %s", rail, verb, percent, way);
        break;
    case LOSS_EITHER:
        snprintf(part, part_size, "%s", rail);
        snprintf(message, size,
                 "%s or its path %s %.2g %% of the packets: either end, or what is between; "
                 "certify it with more partners",
                 rail, verb, percent);
        break;
    case LOSS_PATH:
        snprintf(part, part_size, "path %.63s-%.63s %s", names->names[finding->node],
                 names->names[finding->peer], rail);
        snprintf(message, size,
                 "path %.63s-%.63s %s %s %.2g %% of the packets that %.63s sends; both ends are "
                 "well with others: check the switches and cables between",
                 names->names[finding->node], names->names[finding->peer], rail, verb, percent,
                 names->names[finding->node]);
        break;
    case LOSS_MANY:
        snprintf(part, part_size, "all %s", rail);
        snprintf(message, size,
                 "all %s lose %.2g %% of the packets on most nodes alike: the network is congested "
                 "or faulty, nobody is drained for it",
                 rail, percent);
        break;
    }
}

static void lossy_text(const char *node, const char *rail, char *text, size_t size)
{
    snprintf(text, size, "%.255s %.63s", node, rail);
}

bool certify_is_lossy(const struct certify *certify, const char *node, const char *rail)
{
    char text[320];

    lossy_text(node, rail, text, sizeof text);
    return hostlist_contains(&certify->lossy, text);
}

static void finding_take(struct certify *certify, const struct losses *losses,
                         const struct hostlist *names, const struct loss_finding *finding)
{
    static const enum verdict verdicts[] = {[LOSS_RAIL] = VERDICT_FAIL,
                                            [LOSS_EITHER] = VERDICT_UNKNOWN,
                                            [LOSS_PATH] = VERDICT_FAIL,
                                            [LOSS_MANY] = VERDICT_FAIL};
    static const enum fault_code codes[] = {[LOSS_RAIL] = FAULT_PACKET_LOSS,
                                            [LOSS_EITHER] = FAULT_PACKET_LOSS,
                                            [LOSS_PATH] = FAULT_PATH_LOSS,
                                            [LOSS_MANY] = FAULT_NETWORK_LOSS};
    bool is_nodes = finding->kind == LOSS_RAIL || finding->kind == LOSS_EITHER;
    struct record record = RECORD_INIT;
    char part[192], message[512];

    message_write(losses, names, finding, part, sizeof part, message, sizeof message);
    record.suite = "certify";
    record.test = "links";
    record.metric = "lost_share";
    record.node = is_nodes ? names->names[finding->node] : NULL;
    record.part = part;
    record.value = finding->lost / finding->sent;
    record.unit = "1";
    record.samples = (unsigned)finding->sent;
    record.limit = losses_limit(LOSS_SHARE)->value;
    record.limit_source = "expected";
    record.verdict = verdicts[finding->kind];
    record.code = codes[finding->kind];
    record.message = message;
    certify_record(certify, &record);
    if (is_nodes) {
        struct subject *subject = certify_subject(certify, record.node);
        char text[320];

        lossy_text(record.node, part, text, sizeof text);
        if (finding->kind == LOSS_RAIL)
            hostlist_append(&certify->lossy, text);
        outcome_note(&subject->outcome, STAGE_LINKS,
                     certify_rails_verdict(certify, subject, part, record.verdict), record.code,
                     "links", part, message);
    } else {
        certify_note(certify, "%s", message);
        certify->has_fault = true;
    }
}

void certify_losses(struct certify *certify, const struct hostlist *names, size_t first)
{
    struct losses losses = {.rail_count = 0};
    struct loss_finding *findings = NULL;
    size_t found = 0;

    if (name_index_build((const char *const *)names->names, names->count, &losses.nodes) != 0 ||
        samples_read(&losses, &certify->records, first) != 0 ||
        losses_judge(losses.samples, losses.count, (int)names->count, losses.rail_count, &findings,
                     &found) != 0)
        certify_all(certify, names, STAGE_LINKS, VERDICT_UNKNOWN, "links",
                    "no memory to judge what was lost");
    for (size_t i = 0; i < found; i++)
        finding_take(certify, &losses, names, &findings[i]);
    free(findings);
    free(losses.samples);
    name_index_clear(&losses.nodes);
}
