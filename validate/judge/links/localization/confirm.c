/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/judge/links/localization/confirm.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/constants/judge_constants.h"
#include "validate/judge/links/localization/samples.h"

struct confirm {
    const struct localization *localization;
    struct samples alone, together;
};

/* The comparison for one finding. */
struct comparison {
    const struct confirm *confirm;
    const struct finding *finding;
    struct likelihood_data data;
    bool is_mean;                  /* the samples are means of all rails */
    struct likelihood_part *parts; /* the other findings that fail; the last one is free */
    size_t count;
    double score; /* of the finding and these */
    double rival_score;
    char rival[96];
};

bool confirm_is_asked(const struct finding *finding)
{
    return finding->verdict == VERDICT_FAIL && finding->node >= 0 &&
           (finding->kind == FINDING_RAIL || finding->kind == FINDING_NODE ||
            finding->kind == FINDING_HOST);
}

void confirm_close(struct confirm *confirm)
{
    if (!confirm)
        return;
    samples_clear(&confirm->alone);
    samples_clear(&confirm->together);
    free(confirm);
}

struct confirm *confirm_open(const struct localization *localization)
{
    struct confirm *confirm = calloc(1, sizeof *confirm);
    bool is_there = confirm != NULL;

    if (is_there) {
        confirm->localization = localization;
        is_there = samples_read(localization, false, &confirm->alone) == 0 &&
                   samples_read(localization, true, &confirm->together) == 0;
    }
    if (is_there)
        return confirm;
    confirm_close(confirm);
    return NULL;
}

static unsigned directions_of(const struct finding *finding)
{
    const char *direction = finding->direction ? finding->direction : "";

    return strcmp(direction, "sends") == 0 || strcmp(direction, "forth") == 0 ? DIRECTION_SENDS
           : strcmp(direction, "receives") == 0 || strcmp(direction, "back") == 0
               ? DIRECTION_RECEIVES
               : DIRECTION_BOTH;
}

/* The finding as a part. Returns false for what is none, or is not known to be one. */
static bool part_of(const struct comparison *comparison, const struct finding *finding,
                    struct likelihood_part *part)
{
    *part = (struct likelihood_part){.node = finding->node,
                                     .peer = finding->peer,
                                     .block = finding->block,
                                     .peer_block = finding->peer_block,
                                     .rail = comparison->is_mean ? SAMPLES_MEAN : finding->rail,
                                     .directions = directions_of(finding)};
    switch (finding->kind) {
    case FINDING_RAIL:
    case FINDING_NODE:
    case FINDING_HOST:
    case FINDING_AMBIGUOUS:
        part->pattern = PATTERN_NODE;
        return finding->node >= 0;
    case FINDING_PAIR:
        part->pattern = PATTERN_PATH;
        return true;
    case FINDING_LEAF:
    case FINDING_UPLINK:
        part->pattern = finding->kind == FINDING_LEAF ? PATTERN_LEAF : PATTERN_UPLINK;
        return comparison->data.blocks != NULL;
    default:
        return false;
    }
}

/* ---------------------------------------------------------------- other explanations (rule b) */

/* Whether the part could be the rival: hardly where many samples of it that are not the suspect's
 * are well. */
static bool is_possible(const struct comparison *comparison, const struct likelihood_part *suspect,
                        const struct likelihood_part *part)
{
    const struct likelihood_data *data = &comparison->data;
    size_t all = 0, low = 0;

    for (size_t i = 0; i < data->count; i++) {
        const struct likelihood_sample *sample = &data->samples[i];

        if (likelihood_touches(data, part, sample) && !likelihood_touches(data, suspect, sample)) {
            all++;
            low += sample->y < likelihood_low();
        }
    }
    return all < SAMPLES_LOW_LEAST || SAMPLES_LOW_LEAST * low >= all;
}

static void compare(struct comparison *comparison, double score, const char *name)
{
    if (score <= comparison->rival_score)
        return;
    comparison->rival_score = score;
    snprintf(comparison->rival, sizeof comparison->rival, "%s", name);
}

/* The part in place of the finding; and in place of all findings about nodes that it explains. */
static void try_part(struct comparison *comparison, const struct likelihood_part *suspect,
                     const struct likelihood_part *part, const char *name)
{
    struct likelihood_part *parts = comparison->parts;
    size_t others = 0;

    if (!is_possible(comparison, suspect, part))
        return;
    parts[comparison->count] = *part;
    compare(comparison,
            likelihood_fit(&comparison->data, parts, comparison->count + 1, comparison->count),
            name);
    if (part->pattern == PATTERN_PATH || part->pattern == PATTERN_NODE)
        return;
    for (size_t i = 0; i < comparison->count; i++)
        others += parts[i].pattern == PATTERN_NODE;
    if (others > 0) {
        struct likelihood_part *left = malloc((comparison->count + 1) * sizeof *left);
        size_t count = 0;

        for (size_t i = 0; i < comparison->count && left; i++)
            if (parts[i].pattern != PATTERN_NODE ||
                (part->rail >= 0 && part->rail != parts[i].rail))
                left[count++] = parts[i];
        if (left) {
            left[count] = *part;
            compare(comparison, likelihood_fit(&comparison->data, left, count + 1, count), name);
        }
        free(left);
    }
}

static void name_of(const struct comparison *comparison, const struct likelihood_part *part,
                    char *name, size_t size)
{
    const struct links *links = &comparison->confirm->localization->links;
    bool is_one = part->rail >= 0 && part->rail != SAMPLES_MEAN;
    const char *rail = is_one ? links->rails[part->rail] : "all rails";
    const char *block = links->block_names && part->block >= 0 ? links->block_names[part->block]
                                                               : "its leaf switch";

    switch (part->pattern) {
    case PATTERN_NODE:
        snprintf(name, size, "%.40s %.30s", links->nodes[part->node], rail);
        break;
    case PATTERN_PATH:
        snprintf(name, size, "path %.30s-%.30s %.20s", links->nodes[part->node],
                 links->nodes[part->peer], rail);
        break;
    case PATTERN_LEAF:
        snprintf(name, size, "%.60s", block);
        break;
    case PATTERN_UPLINK:
        snprintf(name, size, "uplink of %.60s", block);
        break;
    default:
        snprintf(name, size, "all %.60s", rail);
    }
}

static void try_named(struct comparison *comparison, const struct likelihood_part *suspect,
                      const struct likelihood_part *part)
{
    char name[96];

    name_of(comparison, part, name, sizeof name);
    try_part(comparison, suspect, part, name);
}

/* Parts that many nodes share, on the suspect's rail and on all, in its direction and in both. */
static void try_large(struct comparison *comparison, const struct likelihood_part *suspect)
{
    static const enum part_pattern patterns[] = {PATTERN_LEAF, PATTERN_UPLINK, PATTERN_NETWORK};
    const int *blocks = comparison->data.blocks;

    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        for (int both = 0; both < (suspect->directions == DIRECTION_BOTH ? 1 : 2); both++)
            for (int all = 0; all < (suspect->rail < 0 ? 1 : 2); all++) {
                struct likelihood_part part = {.pattern = patterns[i],
                                               .block = blocks ? blocks[suspect->node] : -1,
                                               .peer_block = -1,
                                               .rail = all ? -1 : suspect->rail,
                                               .directions =
                                                   both ? DIRECTION_BOTH : suspect->directions};

                if (blocks || part.pattern == PATTERN_NETWORK)
                    try_named(comparison, suspect, &part);
            }
}

/* Whether anything is low between the suspect and that node. */
static bool is_low_between(const struct comparison *comparison,
                           const struct likelihood_part *suspect, int peer)
{
    for (size_t i = 0; i < comparison->data.count; i++) {
        const struct likelihood_sample *sample = &comparison->data.samples[i];

        if (sample->y < likelihood_low() && (sample->from == peer || sample->to == peer) &&
            likelihood_touches(&comparison->data, suspect, sample))
            return true;
    }
    return false;
}

/* The other ends, one by one; the paths, as many as it takes; and nothing at all. */
static void try_small(struct comparison *comparison, const struct likelihood_part *suspect)
{
    struct likelihood_part *parts = comparison->parts, *last;
    size_t kept = comparison->count;
    double score = likelihood_score(&comparison->data, parts, kept);
    char name[96] = "";
    unsigned back = suspect->directions == DIRECTION_BOTH    ? DIRECTION_BOTH
                    : suspect->directions == DIRECTION_SENDS ? DIRECTION_RECEIVES
                                                             : DIRECTION_SENDS;

    compare(comparison, score, "a busy machine");
    for (int peer = 0; peer < (int)comparison->data.node_count; peer++) {
        struct likelihood_part end = {
            .pattern = PATTERN_NODE, .node = peer, .rail = suspect->rail, .directions = back};
        size_t count = comparison->count;
        double with_path;

        if (peer == suspect->node || !is_low_between(comparison, suspect, peer))
            continue;
        comparison->count = kept; /* the paths so far are not beside the other end */
        try_named(comparison, suspect, &end);
        comparison->count = count;
        last = &parts[comparison->count];
        *last = (struct likelihood_part){.pattern = PATTERN_PATH,
                                         .node = suspect->node,
                                         .peer = peer,
                                         .rail = suspect->rail,
                                         .directions = suspect->directions};
        with_path =
            likelihood_fit(&comparison->data, parts, comparison->count + 1, comparison->count);
        if (with_path <= score)
            continue;
        score = with_path;
        if (*name)
            snprintf(name, sizeof name, "its paths");
        else
            name_of(comparison, last, name, sizeof name);
        comparison->count++;
    }
    if (*name)
        compare(comparison, score, name);
    comparison->count = kept;
}

/* The other findings that fail and have to do with these samples. */
static void parts_add(struct comparison *comparison)
{
    const struct localization *localization = comparison->confirm->localization;

    for (size_t i = 0; i < localization->count; i++) {
        const struct finding *finding = &localization->findings[i];
        struct likelihood_part part;
        bool is_there = false;

        if (finding == comparison->finding || finding->verdict != VERDICT_FAIL ||
            (finding->kind == FINDING_HOST && comparison->finding->kind != FINDING_HOST) ||
            !part_of(comparison, finding, &part))
            continue;
        for (size_t k = 0; k < comparison->data.count && !is_there; k++)
            is_there = likelihood_touches(&comparison->data, &part, &comparison->data.samples[k]);
        if (!is_there)
            continue;
        comparison->parts[comparison->count++] = part;
        likelihood_fit(&comparison->data, comparison->parts, comparison->count,
                       comparison->count - 1);
    }
}

/* ---------------------------------------------------------------- retest and control (a, c) */

struct counts {
    size_t suspect, suspect_low, unscheduled, control, control_low;
};

/* Whether nobody says anything of the ends of the sample on its rail. */
static bool is_control(const struct comparison *comparison, const struct likelihood_sample *sample)
{
    const struct localization *localization = comparison->confirm->localization;

    for (size_t i = 0; i < localization->count; i++) {
        const struct finding *finding = &localization->findings[i];
        struct likelihood_part part;

        if (finding->verdict >= VERDICT_UNKNOWN && part_of(comparison, finding, &part) &&
            (part.pattern != PATTERN_LEAF || finding->verdict == VERDICT_FAIL) &&
            likelihood_touches(&comparison->data, &part, sample))
            return false;
    }
    return true;
}

static struct counts count_isolated(const struct comparison *comparison,
                                    const struct samples *samples,
                                    const struct likelihood_part *suspect)
{
    struct counts counts = {0};

    for (size_t i = 0; i < samples->count; i++) {
        const struct sample *item = &samples->items[i];
        bool is_low = item->sample.y < suspect->depth / 2;

        if (!item->is_isolated || (suspect->rail >= 0 && item->sample.rail != suspect->rail))
            continue;
        if (likelihood_touches(&comparison->data, suspect, &item->sample)) {
            counts.unscheduled += item->is_stalled;
            counts.suspect += !item->is_stalled;
            counts.suspect_low += !item->is_stalled && is_low;
        } else if (!item->is_stalled && is_control(comparison, &item->sample)) {
            counts.control++;
            counts.control_low += is_low;
        }
    }
    return counts;
}

/* The words for what the retest does not show; false: it shows it. */
static bool is_retest_open(const struct finding *finding, const struct counts *counts, char *why,
                           size_t size)
{
    bool is_low =
        (double)counts->suspect_low >=
        (finding->is_intermittent ? 1 : RETEST_SUSPECT_LOW_SHARE * (double)counts->suspect);

    if (counts->suspect < RETEST_ISOLATED_LEAST)
        snprintf(why, size, "in %zu of %zu retest samples both ends were scheduled; certify again",
                 counts->suspect, counts->suspect + counts->unscheduled);
    else if (counts->control < RETEST_CONTROL_LEAST)
        snprintf(why, size, "no control pair was scheduled in the retest; certify again");
    else if ((double)counts->control_low > RETEST_CONTROL_LOW_SHARE * (double)counts->control)
        snprintf(why, size, "the control pair is slow at the same time: busy machines or network");
    else if (!is_low)
        snprintf(why, size, "%zu of %zu retest samples were slow; certify again",
                 counts->suspect_low, counts->suspect);
    else
        return false;
    return true;
}

bool confirm_holds(const struct confirm *confirm, const struct finding *finding, char *why,
                   size_t size)
{
    const struct localization *localization = confirm->localization;
    bool is_host = finding->kind == FINDING_HOST;
    const struct samples *samples = is_host ? &confirm->together : &confirm->alone;
    struct comparison comparison = {.confirm = confirm,
                                    .finding = finding,
                                    .is_mean = is_host && finding->rail < 0,
                                    .rival_score = -INFINITY};
    struct likelihood_sample *chosen = NULL;
    struct likelihood_part suspect;
    struct counts counts;
    bool holds = false;

    snprintf(why, size, "no memory to compare it with other parts");
    comparison.parts = malloc((localization->count + localization->links.node_count + 2) *
                              sizeof *comparison.parts);
    if (comparison.parts &&
        samples_choose(samples, &localization->links, finding, &chosen, &comparison.data) == 0 &&
        part_of(&comparison, finding, &suspect)) {
        parts_add(&comparison);
        comparison.parts[comparison.count] = suspect;
        comparison.score = likelihood_fit(&comparison.data, comparison.parts, comparison.count + 1,
                                          comparison.count);
        suspect = comparison.parts[comparison.count];
        counts = count_isolated(&comparison, samples, &suspect);
        holds = !is_retest_open(finding, &counts, why, size);
        if (holds) {
            try_small(&comparison, &suspect);
            if (comparison.data.has_others)
                try_large(&comparison, &suspect);
            holds = comparison.score - comparison.rival_score >= likelihood_margin();
            snprintf(why, size, "or %s: cannot be told apart", comparison.rival);
        }
    }
    free(comparison.parts);
    free(chosen);
    return holds;
}

/* "eth1 or leaf1: cannot be told apart (49 of 200 Mb/s)" */
static void put_in_doubt(struct finding *finding, const char *why)
{
    bool is_or = strncmp(why, "or ", 3) == 0;

    finding->verdict = VERDICT_UNKNOWN;
    snprintf(finding->message, sizeof finding->message, "%.100s%s %.140s (%.0f of %.0f Mb/s)",
             finding->part, is_or ? "" : ":", why, finding->value, finding->reference);
}

int confirm_all(struct localization *localization)
{
    struct confirm *confirm = NULL;
    size_t asked = 0;
    char(*words)[192] = calloc(localization->count + 1, sizeof *words);

    for (size_t i = 0; i < localization->count; i++)
        asked += confirm_is_asked(&localization->findings[i]);
    if (asked > 0)
        confirm = confirm_open(localization);
    /* all of them first: each is held against the others as they are */
    for (size_t i = 0; i < localization->count && words && confirm; i++)
        if (confirm_is_asked(&localization->findings[i]) &&
            confirm_holds(confirm, &localization->findings[i], words[i], sizeof words[i]))
            *words[i] = '\0';
    for (size_t i = 0; i < localization->count && asked > 0; i++)
        if (confirm_is_asked(&localization->findings[i]) && (!words || !confirm || *words[i]))
            put_in_doubt(&localization->findings[i],
                         words && confirm ? words[i] : "no memory to compare it with other parts");
    confirm_close(confirm);
    free(words);
    return asked > 0 && (!confirm || !words) ? -1 : 0;
}
