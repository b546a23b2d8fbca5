/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/localization/doubts.h"

#include <stdio.h>
#include <stdlib.h>

/* A pair whose one end is at fault on that rail says nothing of the path between. */
static bool is_explained(const struct finding *finding, const struct finding *findings,
                         size_t count)
{
    for (size_t i = 0; finding->kind == FINDING_PAIR && i < count; i++)
        if ((findings[i].kind == FINDING_RAIL || findings[i].kind == FINDING_NODE) &&
            findings[i].verdict >= VERDICT_UNKNOWN &&
            (findings[i].rail < 0 || findings[i].rail == finding->rail) &&
            (findings[i].node == finding->node || findings[i].node == finding->peer))
            return true;
    return false;
}

/* A pair that was low once, among others: busy machines have such. All others were asked before it;
 * or, of a question, it was asked as often as may be, and its ends were not let run often enough.
 */
static bool is_idle(const struct finding *finding, bool is_asked_to_the_end)
{
    if (finding->kind != FINDING_PAIR || finding->verdict != VERDICT_UNKNOWN)
        return false;
    return finding->is_question ? is_asked_to_the_end : finding->again == 0;
}

void doubts_drop(struct localization *localization, bool is_asked_to_the_end)
{
    size_t left = 0;

    for (size_t i = 0; i < localization->count; i++)
        if (!is_explained(&localization->findings[i], localization->findings,
                          localization->count) &&
            !(localization->is_confirmed &&
              is_idle(&localization->findings[i], is_asked_to_the_end)))
            localization->findings[left++] = localization->findings[i];
    localization->count = left;
}

/* Whether more is said of that rail than of its paths. */
static bool is_in_doubt(const struct finding *findings, size_t count, int node, int rail)
{
    for (size_t i = 0; i < count; i++)
        if (findings[i].kind != FINDING_PAIR && findings[i].verdict >= VERDICT_UNKNOWN &&
            findings[i].node == node && (findings[i].rail < 0 || findings[i].rail == rail))
            return true;
    return false;
}

static bool is_path_of(const struct finding *finding, int node, int rail)
{
    return finding->kind == FINDING_PAIR && finding->verdict >= VERDICT_UNKNOWN &&
           finding->rail == rail && (finding->node == node || finding->peer == node);
}

/* Of the paths of the node's rail, how many are in doubt; 0 unless these are two and half of all.
 */
static size_t paths_in_doubt(const struct localization *localization, int node, int rail)
{
    size_t count = 0, all = 0;

    for (size_t i = 0; i < localization->count; i++)
        count += is_path_of(&localization->findings[i], node, rail);
    if (count < 2)
        return 0;
    for (size_t i = 0; i < localization->links.sample_count; i++)
        all += localization->links.samples[i].from == node &&
               localization->links.samples[i].rail == rail;
    return 2 * count >= all ? count : 0;
}

static struct finding end_of(const struct localization *localization, const struct finding *path,
                             int end)
{
    struct finding finding = *path;
    int peer = end == path->node ? path->peer : path->node;

    finding.kind = FINDING_AMBIGUOUS;
    finding.verdict = VERDICT_UNKNOWN;
    finding.node = end;
    finding.peer = peer;
    snprintf(finding.part, sizeof finding.part, "%s", localization->links.rails[path->rail]);
    snprintf(finding.message, sizeof finding.message,
             "%s: its path to %s had %.0f of %.0f Mb/s at times: either end, or what is between",
             finding.part, localization->links.nodes[peer], path->value, path->reference);
    return finding;
}

static bool is_at_times(const struct finding *finding)
{
    return finding->kind == FINDING_PAIR && finding->verdict >= VERDICT_UNKNOWN &&
           finding->is_intermittent;
}

/* Whether it is open if it is that path: what comes and goes on another one of the same end as well
 * may be the end. */
static bool is_path_open(const struct localization *localization, const struct finding *path)
{
    bool is_open = path->verdict == VERDICT_UNKNOWN;

    for (size_t i = 0; i < localization->count && !is_open; i++) {
        const struct finding *other = &localization->findings[i];
        bool is_same = (other->node == path->node && other->peer == path->peer) ||
                       (other->node == path->peer && other->peer == path->node);
        bool has_end = other->node == path->node || other->node == path->peer ||
                       other->peer == path->node || other->peer == path->peer;

        is_open = is_at_times(other) && other->rail == path->rail && has_end && !is_same;
    }
    return is_open;
}

int doubts_of_paths(struct localization *localization)
{
    struct finding *findings = malloc((2 * localization->count + 1) * sizeof *findings);
    size_t count = 0;

    if (!findings)
        return -1;
    for (size_t i = 0; i < localization->count; i++) {
        const struct finding *finding = &localization->findings[i];
        int ends[] = {finding->node, finding->peer};
        size_t paths[2];

        if (!is_at_times(finding) || !is_path_open(localization, finding)) {
            findings[count++] = *finding;
            continue;
        }
        for (int k = 0; k < 2; k++)
            paths[k] = paths_in_doubt(localization, ends[k], finding->rail);
        for (int k = 0; k < 2; k++) /* where most of an end's paths are, it is not the other */
            if (paths[k] >= paths[1 - k] &&
                !is_in_doubt(localization->findings, localization->count, ends[k], finding->rail) &&
                !is_in_doubt(findings, count, ends[k], finding->rail))
                findings[count++] = end_of(localization, finding, ends[k]);
    }
    free(localization->findings);
    localization->findings = findings;
    localization->count = count;
    return 0;
}

void doubts_of_unasked(struct localization *localization)
{
    for (size_t i = 0; i < localization->count; i++) {
        struct finding *finding = &localization->findings[i];
        size_t of_node, of_peer, count;

        if (finding->kind != FINDING_PAIR || finding->rail < 0)
            continue;
        of_node = paths_in_doubt(localization, finding->node, finding->rail);
        of_peer = paths_in_doubt(localization, finding->peer, finding->rail);
        count = of_node > of_peer ? of_node : of_peer;
        if (count == 0)
            continue;
        if (of_peer > of_node)
            finding->node = finding->peer;
        finding->kind = FINDING_RAIL;
        finding->peer = -1;
        snprintf(finding->part, sizeof finding->part, "%s",
                 localization->links.rails[finding->rail]);
        snprintf(finding->message, sizeof finding->message,
                 "%s: %zu of its paths were slow, and could not be measured again in time",
                 finding->part, count);
    }
}
