/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/judge/trial.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUSPECTS_MAX = 64, STEADY_MBPS = 2 };

static struct links_limits limits_of(const struct conf *conf)
{
    return (struct links_limits){.nominal_percent = conf->link_nominal_percent,
                                 .peers_percent = conf->link_peers_percent,
                                 .latency_peers_ratio = conf->latency_peers_ratio};
}

/* Where no partner is above suspicion, as of two nodes there is none: the suspects with each other
 * and with whoever else there is. */
static size_t all_pairs(const struct links *links, const struct finding *findings,
                        size_t finding_count, struct link_pair *pairs, size_t most)
{
    size_t count = 0;

    for (size_t i = 0; i < finding_count; i++) {
        int node = findings[i].node;

        if (findings[i].verdict <= VERDICT_WARN || node < 0)
            continue;
        for (int peer = 0; peer < (int)links->node_count && count < most; peer++) {
            struct link_pair pair = {node < peer ? node : peer, node < peer ? peer : node};
            bool is_double = peer == node || (findings[i].peer >= 0 && findings[i].peer != peer);

            for (size_t k = 0; k < count && !is_double; k++)
                is_double = pairs[k].from == pair.from && pairs[k].to == pair.to;
            if (!is_double)
                pairs[count++] = pair;
        }
    }
    return count;
}

/* Measures the suspects once more. Returns whether that ended well. */
static bool suspects_measure(const struct trial *trial, size_t *first)
{
    const struct links *links = &trial->links;
    struct link_pair pairs[SUSPECTS_MAX];
    size_t count = links_suspect_pairs(links, trial->findings, trial->count, pairs, SUSPECTS_MAX);
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    struct hostlist names = {0};
    bool is_measured = false;

    if (count == 0)
        count = all_pairs(links, trial->findings, trial->count, pairs, SUSPECTS_MAX);
    for (size_t i = 0; stream && i < count; i++) {
        const char *ends[] = {links->nodes[pairs[i].from], links->nodes[pairs[i].to]};

        fprintf(stream, "%s%s:%s", i ? "," : "", ends[0], ends[1]);
        for (int k = 0; k < 2; k++)
            if (!hostlist_contains(&names, ends[k]))
                hostlist_append(&names, ends[k]);
    }
    if (stream)
        fclose(stream);
    if (text && count > 0)
        is_measured = trial->measure(trial->context, &names, text, first);
    free(text);
    hostlist_clear(&names);
    return is_measured;
}

static bool is_alike(const struct trial *trial, double a, double b)
{
    return fabs(a - b) <= fmax(trial->steady_percent / 100 * fmax(a, b), STEADY_MBPS);
}

/* Whether the last measurement alone says of each suspect what all say together. */
static bool suspects_are_steady(const struct trial *trial, size_t last)
{
    struct matrix alone;
    struct link_sample *samples = NULL;
    struct links view;
    bool is_steady = matrix_build(&trial->source, last, last, &alone) == 0;

    if (is_steady) {
        view = matrix_links(&trial->source, &alone, &samples);
        is_steady = samples && view.rail_count == trial->links.rail_count;
    }
    for (size_t i = 0; is_steady && i < trial->count; i++) {
        const struct finding *finding = &trial->findings[i];

        if (finding->verdict != VERDICT_FAIL || strcmp(finding->metric, "bandwidth") != 0)
            continue;
        if (finding->kind == FINDING_RAIL)
            is_steady = is_alike(trial, links_figure(&view, finding->node, finding->rail),
                                 links_figure(&trial->links, finding->node, finding->rail));
        else if (finding->kind == FINDING_PAIR)
            is_steady = is_alike(
                trial, matrix_pair_mbps(&alone, finding->node, finding->peer, finding->rail),
                finding->value);
    }
    free(samples);
    matrix_clear(&alone);
    return is_steady;
}

/* What could not be confirmed accuses nobody. */
static void findings_doubt(struct finding *findings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(findings[i].message);

        if (findings[i].verdict != VERDICT_FAIL)
            continue;
        findings[i].verdict = VERDICT_UNKNOWN;
        snprintf(findings[i].message + length, sizeof findings[i].message - length,
                 "; not steady, is the machine busy?");
    }
}

/* A pair whose one end is at fault on that rail says nothing of the path between. */
static bool is_explained(const struct finding *finding, const struct finding *findings,
                         size_t count)
{
    for (size_t i = 0; finding->kind == FINDING_PAIR && i < count; i++)
        if (findings[i].kind == FINDING_RAIL && findings[i].verdict >= VERDICT_UNKNOWN &&
            findings[i].rail == finding->rail &&
            (findings[i].node == finding->node || findings[i].node == finding->peer))
            return true;
    return false;
}

static void drop_explained(struct trial *trial)
{
    size_t left = 0;

    for (size_t i = 0; i < trial->count; i++)
        if (!is_explained(&trial->findings[i], trial->findings, trial->count))
            trial->findings[left++] = trial->findings[i];
    trial->count = left;
}

static bool has_suspect(const struct trial *trial)
{
    for (size_t i = 0; i < trial->count; i++)
        if (trial->findings[i].verdict > VERDICT_WARN &&
            !(trial->takes_missing && trial->findings[i].kind == FINDING_MISSING))
            return true;
    return false;
}

static int judge(struct trial *trial, size_t again)
{
    struct links_limits limits = limits_of(trial->source.conf);
    int count;

    trial_clear(trial);
    if (matrix_build(&trial->source, trial->first, again, &trial->matrix) != 0)
        return -1;
    trial->links = matrix_links(&trial->source, &trial->matrix, &trial->samples);
    count = trial->samples ? links_judge(&trial->links, &limits, &trial->findings) : -1;
    trial->count = count < 0 ? 0 : (size_t)count;
    return count < 0 ? -1 : 0;
}

int trial_hold(struct trial *trial)
{
    size_t last = trial->first, again = SIZE_MAX;
    bool is_measured = false;

    for (int i = 0;; i++) {
        if (judge(trial, again) != 0)
            return -1;
        if (!has_suspect(trial) || (is_measured && suspects_are_steady(trial, last)))
            break;
        is_measured = i < trial->tries && suspects_measure(trial, &last);
        if (is_measured && i == 0)
            again = last;
        if (!is_measured) {
            findings_doubt(trial->findings, trial->count);
            break;
        }
    }
    trial->is_confirmed = is_measured;
    drop_explained(trial);
    return 0;
}

void trial_clear(struct trial *trial)
{
    free(trial->findings);
    free(trial->samples);
    matrix_clear(&trial->matrix);
    trial->findings = NULL;
    trial->samples = NULL;
    trial->count = 0;
}

struct record trial_record(const struct trial *trial, const struct finding *finding)
{
    const char *const *nodes = trial->links.nodes;
    struct record record = RECORD_INIT;

    record.test = "links";
    record.metric = finding->metric;
    record.node = finding->node >= 0 ? nodes[finding->node] : NULL;
    record.peer = finding->peer >= 0 ? nodes[finding->peer] : NULL;
    record.part = finding->part;
    record.value = finding->value;
    record.limit = finding->limit;
    record.unit = strcmp(finding->metric, "latency") == 0 ? "us" : "Mb/s";
    record.limit_source = finding->limit_source;
    record.verdict = finding->verdict;
    record.message = finding->message;
    return record;
}

void trial_short_message(const struct finding *finding, char *text, size_t size)
{
    bool is_speed = strcmp(finding->metric, "bandwidth") == 0;

    if (finding->kind != FINDING_RAIL || finding->verdict != VERDICT_FAIL || isnan(finding->value))
        snprintf(text, size, "%s", finding->message);
    else if (is_speed)
        snprintf(text, size, "%.60s %.0f of %.0f Mb/s", finding->part, finding->value,
                 finding->reference);
    else
        snprintf(text, size, "%.60s %.1f us, peers %.1f us", finding->part, finding->value,
                 finding->reference);
}

/* In how many of the damaged exchanges the node took part. */
static size_t damage_of(const struct records *records, size_t first, const char *node)
{
    size_t count = 0;

    for (size_t i = first; i < records->count; i++) {
        const struct record *record = &records->items[i];

        if (record->metric && strcmp(record->metric, "damaged") == 0 && record->node &&
            record->peer)
            count += strcmp(record->node, node) == 0 || strcmp(record->peer, node) == 0;
    }
    return count;
}

void trial_testimony(const struct records *records, size_t first,
                     void (*accuse)(void *context, const char *node, enum verdict verdict,
                                    const struct record *record),
                     void *context)
{
    for (size_t i = first; i < records->count; i++) {
        const struct record *record = &records->items[i];
        const char *ends[] = {record->node, record->peer};
        size_t damage[2];

        if (!record->node || record->verdict < VERDICT_WARN ||
            strcmp(record->suite, "links") != 0 || matrix_is_measurement(record) ||
            strncmp(record->metric ? record->metric : "", "bandwidth_", 10) == 0)
            continue;
        if (!record->peer || strcmp(record->metric ? record->metric : "", "damaged") != 0) {
            accuse(context, record->node, record->verdict, record);
            continue;
        }
        for (int k = 0; k < 2; k++)
            damage[k] = damage_of(records, first, ends[k]);
        for (int k = 0; k < 2; k++)
            if (damage[k] >= damage[1 - k])
                accuse(context, ends[k], damage[k] > damage[1 - k] ? VERDICT_FAIL : VERDICT_UNKNOWN,
                       record);
    }
}
