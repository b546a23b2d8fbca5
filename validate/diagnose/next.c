/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/diagnose/diagnose.h"

#include <math.h>
#include <stdlib.h>

/* For each ITEMS_OF_NODES nodes: suspicions that get pairs at once, but for the first time, when
 * all do (ITEMS_MOST), and suspicions whose nodes are avoided as partners (ITEMS_FIRST). */
enum { ITEMS_MOST = 8, ITEMS_FIRST = 16, ITEMS_OF_NODES = 256 };
/* About how many nodes of other leaves are tried as partners of a suspect; nodes taken of a part
 * that many share; nodes tried as each end of a control pair. */
enum { OTHERS_MOST = 12, MEMBERS = 3, CONTROLS_MOST = 64 };

/* Returns the probability that a sample of the pair is low, alone on the network, if the parts are
 * at fault. */
static double predict(const struct diagnose_network *network, const struct part *parts, int count,
                      const struct pair *pair, const struct observation *sample)
{
    double well = 1 - NEXT_SURPRISE;

    for (int i = 0; i < count; i++)
        if (part_passes(network, &parts[i], pair, sample) &&
            (!part_is_attenuated(&parts[i], sample) ||
             model_shallower(parts[i].depth, model_steps((double)network->rail_count)) >= 0))
            well *= 1 - (1 - NEXT_SURPRISE) * part_duty(&parts[i]);
    return 1 - well;
}

static double entropy(double p)
{
    return p <= 0 || p >= 1 ? 0 : -p * log(p) - (1 - p) * log1p(-p);
}

/* Returns the divergence of what the explanations predict for the samples of the pair. Besides the
 * part and its rivals there is one more explanation: nothing is at fault or, of a node's part and a
 * pair across leaves, a cable of the leaf's uplinks, which predicts what the part does. */
static double divergence(const struct diagnose_network *network, const struct suspicion *item,
                         const struct node_pair *pair)
{
    struct pair ends = {.low = pair->low, .high = pair->high};
    double weights[DIAGNOSE_RIVALS + 2], all = 0, sum = 0;
    int count = item->rival_count;
    bool is_as_part =
        part_is_of_node(&item->part) && nodes_are_across(network, pair->low, pair->high);

    for (int i = 0; i <= count; i++) {
        weights[i] =
            pow(i < count ? item->rivals[i].probability : item->probability, NEXT_FLATTENED);
        all += weights[i];
    }
    weights[count + 1] = NEXT_CONFIRMING * all;
    all += weights[count + 1];
    for (size_t slot = 0; slot < 4 * network->rail_count; slot++) {
        struct observation sample = {
            .rail = (unsigned char)(slot / 4), .is_up = slot % 2, .is_together = slot % 4 > 1};
        double mean = 0, own = 0;

        for (int i = 0; i <= count + 1; i++) {
            const struct part *parts = i < count ? item->rivals[i].parts : &item->part;
            int parts_count = i < count ? item->rivals[i].count : i == count || is_as_part;
            double p = predict(network, parts, parts_count, &ends, &sample);

            mean += weights[i] / all * p;
            own += weights[i] / all * entropy(p);
        }
        sum += entropy(mean) - own;
    }
    return sum;
}

static double log_odds(const struct suspicion *item)
{
    return log(item->probability) - log1p(-item->probability);
}

static bool is_chosen(const struct node_pair *pairs, size_t count, const struct node_pair *pair)
{
    for (size_t i = 0; i < count; i++)
        if (pairs[i].low == pair->low && pairs[i].high == pair->high)
            return true;
    return false;
}

static bool is_lost(const struct diagnose_network *network, const struct node_pair *pair)
{
    return network->is_lost && (network->is_lost[pair->low] || network->is_lost[pair->high]);
}

/* Finds the pair, not chosen yet, that tells most about the item: suspects with each other, with
 * nodes of their leaf and with some of other leaves, rather than with nodes of other items (dirty).
 * Returns whether there is one. */
static bool find_best(const struct diagnose_network *network, const struct suspicion *item,
                      const bool *suspects, const bool *dirty, const struct node_pair *pairs,
                      size_t count, struct node_pair *best)
{
    int nodes = (int)network->node_count;
    int step = nodes > OTHERS_MOST + 4 ? nodes / OTHERS_MOST : 1;
    double most = -INFINITY;

    for (int i = 0; i < nodes; i++)
        for (int k = 0; suspects[i] && k < nodes; k++) {
            struct node_pair pair = node_pair_of(i, k);
            bool is_leaf = network->leaf_count > 1 && network->leaves[i] == network->leaves[k];
            double score;

            if (k == i || (!suspects[k] && !is_leaf && k % step != i % step) ||
                is_lost(network, &pair) || is_chosen(pairs, count, &pair))
                continue;
            score = divergence(network, item, &pair) -
                    (dirty[k] && !suspects[k] ? NEXT_DIRTY_COSTS : 0) -
                    (nodes_are_across(network, pair.low, pair.high) ? NEXT_ACROSS_COSTS : 0);
            if (score > most) {
                most = score;
                *best = pair;
            }
        }
    return most > -INFINITY;
}

/* Adds the best pairs for the item. Returns the new count. */
static size_t choose(const struct diagnose_network *network, const struct suspicion *item,
                     const bool *dirty, struct node_pair *pairs, size_t count, size_t most)
{
    bool *suspects = calloc(network->node_count + 1, sizeof *suspects);
    size_t end = count + DIAGNOSE_PAIRS_OF_ITEM < most ? count + DIAGNOSE_PAIRS_OF_ITEM : most;

    if (!suspects)
        return count;
    part_mark(network, &item->part, MEMBERS, suspects);
    for (int i = 0; i < item->rival_count; i++)
        for (int k = 0; k < item->rivals[i].count; k++)
            part_mark(network, &item->rivals[i].parts[k], MEMBERS, suspects);
    while (count < end && find_best(network, item, suspects, dirty, pairs, count, &pairs[count]))
        count++;
    free(suspects);
    return count;
}

/* Whether the item is measured once more. A part of a node that has become sure is confirmed, as
 * the node may fail for it. A part in doubt is measured as long as the last samples changed its log
 * odds. */
static bool is_measured_again(const struct diagnosis *before, const struct suspicion *item)
{
    const struct suspicion *known = diagnosis_find(before, &item->part);

    if (item->probability >= MODEL_SURE)
        return part_is_of_node(&item->part) && (!known || known->probability < MODEL_SURE);
    return item->probability > 1 - MODEL_SURE &&
           (!known || fabs(log_odds(known) - log_odds(item)) >= NEXT_NOTHING_TOLD);
}

/* Whether a part that may be at fault touches the pair. */
static bool is_suspected(const struct diagnose_network *network, const struct diagnosis *diagnosis,
                         const struct node_pair *pair)
{
    for (size_t i = 0; i < diagnosis->count; i++)
        if (diagnosis->items[i].probability > MODEL_CLEARED &&
            part_touches(network, &diagnosis->items[i].part, pair->low, pair->high))
            return true;
    return false;
}

/* Finds a control pair, which no suspected part touches: if it is low too, the machines are the
 * cause. Returns whether there is one. */
static bool find_control(const struct diagnose_network *network, const struct diagnosis *diagnosis,
                         struct node_pair *control)
{
    int nodes = (int)network->node_count;

    for (int low = 0; low < nodes && low < CONTROLS_MOST; low++)
        for (int high = low + 1; high < nodes && high <= low + CONTROLS_MOST; high++) {
            *control = (struct node_pair){low, high};
            if (!is_lost(network, control) && !is_suspected(network, diagnosis, control))
                return true;
        }
    return false;
}

size_t diagnose_next(const struct diagnose_network *network, const struct diagnosis *diagnosis,
                     const struct diagnosis *before, struct node_pair *pairs, size_t most,
                     size_t screen_most)
{
    bool *dirty = calloc(network->node_count + 1, sizeof *dirty);
    size_t count = 0, items = 0, often = 1 + network->node_count / ITEMS_OF_NODES;
    size_t items_most = before ? often * ITEMS_MOST : diagnosis->count;

    for (size_t i = 0; i < diagnosis->count && dirty; i++)
        if (i < often * ITEMS_FIRST || diagnosis->items[i].probability > MODEL_CLEARED)
            part_mark(network, &diagnosis->items[i].part, MEMBERS, dirty);
    for (size_t i = 0; i < diagnosis->count && dirty && items < items_most && count < most; i++) {
        const struct suspicion *item = &diagnosis->items[i];

        if (before && !is_measured_again(before, item))
            continue;
        count = choose(network, item, dirty, pairs, count, most);
        items++;
    }
    most = count + screen_most < most ? count + screen_most : most;
    for (size_t i = 0; i < diagnosis->screened_count && count < most; i++)
        if (!is_lost(network, &diagnosis->screened[i]) &&
            !is_chosen(pairs, count, &diagnosis->screened[i]))
            pairs[count++] = diagnosis->screened[i];
    if (count > 0 && find_control(network, diagnosis, &pairs[count]))
        count++;
    free(dirty);
    return count;
}
