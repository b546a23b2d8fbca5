/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "validate/localization/losses/pairs.h"

/* What the retest has of one finding. */
struct retest {
    struct loss_way ways[2]; /* with good partners: all that was sent; losing and clean: partners */
    struct loss_way control;
    bool is_unscheduled; /* there are samples besides, during which an end was not scheduled */
};

/* Whether any finding is about that node's end. */
static bool is_suspect(const struct loss_data *data, const struct loss_finding *findings,
                       size_t found, int rail, int node)
{
    for (size_t i = 0; i < found; i++) {
        const struct loss_finding *finding = &findings[i];
        bool is_end = finding->kind == LOSS_RAIL || finding->kind == LOSS_EITHER;

        if (finding->rail == rail &&
            ((is_end && finding->node == node) ||
             (finding->kind == LOSS_LEAF && data->blocks && data->blocks[node] == finding->block)))
            return true;
    }
    return false;
}

/* Whether the pair passes the finding's rail; its way in *way, the other end in *partner. */
static bool passes(const struct loss_finding *finding, int from, int to, int rail, int *way,
                   int *partner)
{
    *way = to == finding->node;
    *partner = *way ? from : to;
    return rail == finding->rail && (from == finding->node || to == finding->node) &&
           (*way ? finding->receives : finding->sends);
}

static void retest_read(const struct loss_data *data, const struct loss_pair *pairs, size_t count,
                        const struct loss_finding *findings, size_t found,
                        const struct loss_finding *finding, struct retest *retest)
{
    struct loss_way like = {.sent = finding->sent, .lost = finding->lost};
    int way, partner;

    *retest = (struct retest){0};
    for (size_t i = 0; i < count; i++) {
        const struct loss_pair *pair = &pairs[i];
        bool is_losing = loss_is_losing(&pair->way);

        if (passes(finding, pair->from, pair->to, pair->rail, &way, &partner)) {
            struct loss_way *of = &retest->ways[way];

            /* an end that could be either has no partner that is above suspicion */
            if (finding->kind != LOSS_EITHER &&
                is_suspect(data, findings, found, finding->rail, partner))
                continue;
            loss_way_add(of, &pair->way);
            of->losing += is_losing;
            of->clean += !is_losing && loss_is_clean(&like, &pair->way);
        } else if (pair->rail == finding->rail && pair->from != finding->node &&
                   pair->to != finding->node &&
                   !is_suspect(data, findings, found, pair->rail, pair->from) &&
                   !is_suspect(data, findings, found, pair->rail, pair->to)) {
            loss_way_add(&retest->control, &pair->way);
        }
    }
    for (size_t i = 0; i < data->count && !retest->is_unscheduled; i++) {
        const struct loss_sample *sample = &data->samples[i];

        retest->is_unscheduled =
            sample->is_isolated && sample->is_stalled &&
            passes(finding, sample->from, sample->to, sample->rail, &way, &partner);
    }
}

/* Whether that way lost again with each good partner of whom enough was measured. */
static bool is_lost_again(const struct loss_way *way)
{
    return way->losing > 0 && loss_is_each(way->losing, way->clean);
}

static enum loss_retest retest_judge(const struct retest *retest, struct loss_finding *finding)
{
    const struct loss_way *ways = retest->ways;
    bool sends = is_lost_again(&ways[0]), receives = is_lost_again(&ways[1]);
    struct loss_way again = {0};

    if (!sends && !receives && ways[0].clean + ways[1].clean > 0)
        return LOSS_NOT_AGAIN;
    if (!sends && !receives)
        return retest->is_unscheduled ? LOSS_UNSCHEDULED : LOSS_NOT_RETESTED;
    finding->sends = sends;
    finding->receives = receives;
    for (int way = 0; way < 2; way++)
        if (is_lost_again(&ways[way]))
            loss_way_add(&again, &ways[way]);
    if (loss_is_losing(&retest->control))
        return LOSS_CONTROL_TOO;
    return loss_is_clean(&again, &retest->control) ? LOSS_CONFIRMED : LOSS_NO_CONTROL;
}

int losses_confirm(const struct loss_data *data, struct loss_finding *findings, size_t *found)
{
    size_t count, left = 0;
    struct loss_pair *pairs = loss_pairs_pool(data, true, &count);
    struct retest *retests = calloc(*found + 1, sizeof *retests);
    bool is_there = pairs && retests;

    /* all of them first: each is held against the others as they are */
    for (size_t i = 0; i < *found && is_there; i++)
        if (findings[i].kind == LOSS_RAIL || findings[i].kind == LOSS_EITHER)
            retest_read(data, pairs, count, findings, *found, &findings[i], &retests[i]);
    for (size_t i = 0; i < *found && is_there; i++) {
        struct loss_finding *finding = &findings[i];

        if (finding->kind == LOSS_RAIL || finding->kind == LOSS_EITHER)
            finding->retest = retest_judge(&retests[i], finding);
        if (finding->retest != LOSS_NOT_AGAIN || !finding->is_stalled)
            findings[left++] = *finding;
    }
    if (is_there)
        *found = left;
    free(pairs);
    free(retests);
    return is_there ? 0 : -1;
}
