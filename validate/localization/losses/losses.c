/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/localization/losses/losses.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/statistics.h"
#include "lib/constants/links_constants.h"

enum { PARTNERS_LEAST = 2 };
static const double chance = 0.01; /* probability that a pair that is no better loses as little */

/* One direction of a rail of a node, or of a pair. lost: without what the receiver dropped itself;
 * stalled: of lost, while an end was not scheduled. */
struct loss_direction {
    double sent, lost, damaged, stalled; /* of a node: sums over the partners that lose */
    int losing, clean;                   /* numbers of partners */
};

/* All samples of one direction of a pair on a rail. */
struct loss_pair {
    int from, to, rail;
    struct loss_direction direction;
    bool is_explained; /* uplinks explain it */
};

/* A node's rail. */
struct loss_end {
    struct loss_direction directions[2]; /* what it sends; what it receives */
    bool is_measured;
    bool is_explained; /* its losses are explained */
};

static void add_direction(struct loss_direction *direction, const struct loss_direction *other)
{
    direction->sent += other->sent;
    direction->lost += other->lost;
    direction->damaged += other->damaged;
    direction->stalled += other->stalled;
}

static bool is_losing(const struct loss_direction *direction)
{
    return direction->lost >= LOSS_PAIR_LEAST && direction->lost > LOSS_SHARE * direction->sent;
}

/* Whether so little was lost that it is hardly chance, if the share of `like` was to be
 * expected. */
static bool is_clean(const struct loss_direction *like, const struct loss_direction *direction)
{
    double expected = direction->sent * like->lost / like->sent;

    return 1 - statistics_poisson_tail((size_t)direction->lost + 1, expected) < chance;
}

static bool is_each(const struct loss_direction *direction)
{
    return direction->clean * LOSS_LOSING_FOR_ONE <= direction->losing;
}

static int by_pair(const void *left, const void *right)
{
    const struct loss_pair *a = left, *b = right;

    return a->rail != b->rail   ? (a->rail > b->rail) - (a->rail < b->rail)
           : a->from != b->from ? (a->from > b->from) - (a->from < b->from)
                                : (a->to > b->to) - (a->to < b->to);
}

/* Sums the samples by rail and direction of a pair, sorted by rail. is_retest: only isolated
 * samples during which both ends were scheduled. Returns *count pairs, malloc'd, or NULL if memory
 * is out. */
static struct loss_pair *pool(const struct loss_data *data, bool is_retest, size_t *count)
{
    struct loss_pair *pairs = calloc(data->count + 1, sizeof *pairs);
    size_t all = 0;

    *count = 0;
    for (size_t i = 0; i < data->count && pairs; i++) {
        const struct loss_sample *sample = &data->samples[i];

        if (is_retest && (!sample->is_isolated || sample->is_stalled))
            continue;
        pairs[all++] =
            (struct loss_pair){.from = sample->from,
                               .to = sample->to,
                               .rail = sample->rail,
                               .direction = {.sent = sample->sent,
                                             .lost = sample->lost - sample->dropped,
                                             .damaged = sample->damaged,
                                             .stalled = sample->is_stalled ? sample->lost : 0}};
    }
    if (all > 1)
        qsort(pairs, all, sizeof *pairs, by_pair);
    for (size_t i = 0; i < all; i++) {
        if (*count > 0 && by_pair(&pairs[*count - 1], &pairs[i]) == 0)
            add_direction(&pairs[*count - 1].direction, &pairs[i].direction);
        else
            pairs[(*count)++] = pairs[i];
    }
    for (size_t i = 0; i < *count; i++) {
        struct loss_direction *direction = &pairs[i].direction;

        direction->lost = fmax(direction->lost, 0);
        direction->stalled = fmin(direction->stalled, direction->lost);
    }
    return pairs;
}

/* ---------------------------------------------------------------- what is at fault */

struct judging {
    const struct diagnose_network *network;
    struct loss_pair *pairs;
    size_t count;
    struct loss_end *ends; /* rails x nodes */
    struct losses *losses;
};

static struct loss_end *end_of(const struct judging *judging, int rail, int node)
{
    return &judging->ends[(size_t)rail * judging->network->node_count + (size_t)node];
}

static int leaf_of(const struct judging *judging, int node)
{
    return judging->network->leaves ? judging->network->leaves[node] : -1;
}

/* Sets the ends. First sums the pairs that lose, which shows how much a good pair would have lost;
 * then counts the clean ones. */
static void fill_ends(struct judging *judging)
{
    for (int is_clean_turn = 0; is_clean_turn < 2; is_clean_turn++)
        for (size_t i = 0; i < judging->count; i++) {
            const struct loss_pair *pair = &judging->pairs[i];

            end_of(judging, pair->rail, pair->from)->is_measured = true;
            for (int direction = 0; direction < 2 && is_losing(&pair->direction) != is_clean_turn;
                 direction++) {
                struct loss_direction *of =
                    &end_of(judging, pair->rail, direction ? pair->to : pair->from)
                         ->directions[direction];

                if (is_clean_turn) {
                    of->clean += of->losing > 0 && is_clean(of, &pair->direction);
                } else {
                    add_direction(of, &pair->direction);
                    of->losing++;
                }
            }
        }
}

/* Returns the ways in which packets are lost with at least `losing` partners, and hardly any shows
 * that they are not. Adds these directions to *sum. */
static int suspect_ways(const struct loss_direction directions[2], int losing,
                        struct loss_direction *sum)
{
    int ways = 0;

    for (int direction = 0; direction < 2; direction++)
        if (directions[direction].losing >= losing && is_each(&directions[direction])) {
            ways |= direction ? DIAGNOSE_RECEIVES : DIAGNOSE_SENDS;
            add_direction(sum, &directions[direction]);
        }
    return ways;
}

static bool is_end_suspect(const struct loss_end *end)
{
    return suspect_ways(end->directions, PARTNERS_LEAST, &(struct loss_direction){0}) != 0;
}

static struct loss_finding *add(struct judging *judging, struct part part,
                                const struct loss_direction *direction)
{
    struct loss_finding *finding = &judging->losses->findings[judging->losses->count++];

    *finding = (struct loss_finding){.part = part,
                                     .is_damage = direction->damaged >= direction->lost / 2,
                                     .is_stalled = direction->stalled > direction->lost / 2,
                                     .sent = direction->sent,
                                     .lost = direction->lost};
    return finding;
}

/* Adds a finding about the rail of a node, in the directions in which it loses with at least
 * `losing` partners. */
static void add_end(struct judging *judging, int rail, int node, int losing, bool is_either)
{
    struct loss_end *end = end_of(judging, rail, node);
    struct part part = {.type = DIAGNOSE_RAIL, .index = node, .peer = -1, .rail = rail};
    struct loss_direction sum = {0};

    part.ways = suspect_ways(end->directions, losing, &sum);
    add(judging, part, &sum)->is_either = is_either;
    end->is_explained = true;
}

/* Numbers of nodes on a leaf, or, for leaf -1, in all. */
struct group {
    int measured, suspects;
};

static struct group group_of(const struct judging *judging, int rail, int leaf)
{
    struct group group = {0, 0};

    for (int node = 0; node < (int)judging->network->node_count; node++)
        if (leaf < 0 || leaf_of(judging, node) == leaf) {
            group.measured += end_of(judging, rail, node)->is_measured;
            group.suspects += is_end_suspect(end_of(judging, rail, node));
        }
    return group;
}

static bool are_alike(const struct group *group)
{
    return group->suspects > 1 && 2 * group->suspects > group->measured;
}

/* Adds one finding about what most nodes of the leaf, or of all (leaf -1), have alike. */
static void add_group(struct judging *judging, int rail, int leaf)
{
    struct part part = {.type = leaf < 0 ? DIAGNOSE_FABRIC : DIAGNOSE_LEAF,
                        .index = leaf,
                        .peer = -1,
                        .rail = rail,
                        .ways = DIAGNOSE_BOTH};
    struct loss_direction sum = {0};

    for (int node = 0; node < (int)judging->network->node_count; node++) {
        if (leaf >= 0 && leaf_of(judging, node) != leaf)
            continue;
        add_direction(&sum, &end_of(judging, rail, node)->directions[0]);
        end_of(judging, rail, node)->is_explained = true;
    }
    add(judging, part, &sum)->is_damage = false; /* one of them may be to blame */
}

/* Adds the findings about the suspects of one rail. */
static void judge_rail(struct judging *judging, int rail)
{
    struct group all = group_of(judging, rail, -1);

    if (are_alike(&all)) {
        add_group(judging, rail, -1);
        return;
    }
    for (int node = 0; node < (int)judging->network->node_count && all.suspects > 0; node++) {
        const struct loss_end *end = end_of(judging, rail, node);
        int leaf = leaf_of(judging, node);
        struct group own = {0, 0};

        if (end->is_explained || !is_end_suspect(end))
            continue;
        if (leaf >= 0)
            own = group_of(judging, rail, leaf);
        if (are_alike(&own))
            add_group(judging, rail, leaf);
        else /* the only node on its leaf switch: all its paths are those of the switch too */
            add_end(judging, rail, node, PARTNERS_LEAST, own.measured == 1 && all.measured > 1);
    }
}

/* Whether no finding explains yet what the pair has lost. */
static bool is_unexplained(const struct judging *judging, const struct loss_pair *pair)
{
    return !pair->is_explained && !end_of(judging, pair->rail, pair->from)->is_explained &&
           !end_of(judging, pair->rail, pair->to)->is_explained;
}

/* What pairs between two leaves have lost. */
struct loss_uplink {
    struct loss_direction direction;
    const struct loss_pair *first; /* the first pair that loses */
    bool is_of_several, is_explained;
};

/* Adds the findings about uplinks of one rail: pairs of several nodes lose, and hardly any pair
 * shows that it does not. Returns 0, or -1 if memory is out. */
static int judge_uplinks(struct judging *judging, int rail)
{
    struct part part = {.type = DIAGNOSE_UPLINK, .rail = rail, .ways = DIAGNOSE_BOTH};
    struct loss_uplink *uplinks;
    int leaves = 0;

    for (int node = 0; node < (int)judging->network->node_count; node++)
        leaves = leaf_of(judging, node) >= leaves ? leaf_of(judging, node) + 1 : leaves;
    uplinks = calloc((size_t)leaves * (size_t)leaves + 1, sizeof *uplinks);
    for (int turn = 0; turn < 3 && uplinks; turn++)
        for (size_t i = 0; i < judging->count; i++) {
            struct loss_pair *pair = &judging->pairs[i];
            int from = leaf_of(judging, pair->from), to = leaf_of(judging, pair->to);
            struct loss_uplink *uplink;

            if (pair->rail != rail || from < 0 || to < 0 || from == to ||
                !is_unexplained(judging, pair))
                continue;
            part.index = from < to ? from : to;
            part.peer = from < to ? to : from;
            uplink = &uplinks[part.index * leaves + part.peer];
            if (turn == 0 && is_losing(&pair->direction)) {
                uplink->first = uplink->first ? uplink->first : pair;
                uplink->is_of_several |=
                    pair->from + pair->to != uplink->first->from + uplink->first->to ||
                    (pair->from != uplink->first->from && pair->from != uplink->first->to);
                add_direction(&uplink->direction, &pair->direction);
                uplink->direction.losing++;
            } else if (turn == 1 && uplink->first && !is_losing(&pair->direction)) {
                uplink->direction.clean += is_clean(&uplink->direction, &pair->direction);
            } else if (turn == 2 && uplink->is_of_several && is_each(&uplink->direction)) {
                if (!uplink->is_explained)
                    add(judging, part, &uplink->direction);
                uplink->is_explained = pair->is_explained = true;
            }
        }
    free(uplinks);
    return uplinks ? 0 : -1;
}

/* Adds a finding about a pair that loses, unless an end or uplinks explain it. */
static void judge_path(struct judging *judging, const struct loss_pair *pair)
{
    const struct loss_direction *sends = &end_of(judging, pair->rail, pair->from)->directions[0];
    const struct loss_direction *receives = &end_of(judging, pair->rail, pair->to)->directions[1];
    struct part part = {.type = DIAGNOSE_PATH,
                        .index = pair->from,
                        .peer = pair->to,
                        .rail = pair->rail,
                        .ways = DIAGNOSE_SENDS};

    if (!is_losing(&pair->direction) || pair->direction.lost < LOSS_PATH_LEAST ||
        !is_unexplained(judging, pair))
        return;
    /* with no other partner it could be either end */
    if (sends->clean == 0 && sends->losing == 1 && receives->clean == 0 && receives->losing == 1) {
        add_end(judging, pair->rail, pair->from, 1, true);
        add_end(judging, pair->rail, pair->to, 1, true);
    } else {
        add(judging, part, &pair->direction);
    }
}

/* ---------------------------------------------------------------- whether a retest agrees */

/* The retest of one finding. */
struct retest {
    /* with good partners: all that was sent; losing and clean: partners */
    struct loss_direction directions[2];
    struct loss_direction control;
    bool is_unscheduled; /* there are samples besides, during which an end was not scheduled */
};

/* Whether any finding is about that node's rail. */
static bool is_suspect(const struct loss_data *data, const struct losses *losses, int rail,
                       int node)
{
    for (size_t i = 0; i < losses->count; i++) {
        const struct part *part = &losses->findings[i].part;

        if (part->rail == rail &&
            ((part->type == DIAGNOSE_RAIL && part->index == node) ||
             (part->type == DIAGNOSE_LEAF && data->network.leaves[node] == part->index)))
            return true;
    }
    return false;
}

static void read_retest(const struct loss_data *data, const struct loss_pair *pairs, size_t count,
                        const struct losses *losses, const struct loss_finding *finding,
                        struct retest *retest)
{
    const struct part *part = &finding->part;
    struct loss_direction like = {.sent = finding->sent, .lost = finding->lost};

    for (size_t i = 0; i < count; i++) {
        const struct loss_pair *pair = &pairs[i];
        bool is_passing = part_carries(&data->network, part, pair->from, pair->to, pair->rail);
        bool is_from = is_suspect(data, losses, pair->rail, pair->from);
        bool is_to = is_suspect(data, losses, pair->rail, pair->to), is_back;

        if (is_passing) {
            struct loss_direction *of;

            is_back = pair->to == part->index;
            of = &retest->directions[is_back];
            /* if it may be either end, no partner is above suspicion */
            if (!finding->is_either && (is_back ? is_from : is_to))
                continue;
            add_direction(of, &pair->direction);
            of->losing += is_losing(&pair->direction);
            of->clean += !is_losing(&pair->direction) && is_clean(&like, &pair->direction);
        } else if (pair->rail == part->rail && !is_from && !is_to) {
            add_direction(&retest->control, &pair->direction);
        }
    }
    for (size_t i = 0; i < data->count && !retest->is_unscheduled; i++) {
        const struct loss_sample *sample = &data->samples[i];

        retest->is_unscheduled =
            sample->is_isolated && sample->is_stalled &&
            part_carries(&data->network, part, sample->from, sample->to, sample->rail);
    }
}

static enum loss_retest judge_retest(const struct retest *retest, struct loss_finding *finding)
{
    struct loss_direction again = {0};
    /* a direction counts if it lost again with each good partner of which enough was measured */
    int ways = suspect_ways(retest->directions, 1, &again);
    int clean = retest->directions[0].clean + retest->directions[1].clean;

    if (ways == 0)
        return clean > 0                ? LOSS_NOT_AGAIN
               : retest->is_unscheduled ? LOSS_UNSCHEDULED
                                        : LOSS_NOT_RETESTED;
    finding->part.ways = ways;
    if (is_losing(&retest->control))
        return LOSS_CONTROL_TOO;
    return is_clean(&again, &retest->control) ? LOSS_CONFIRMED : LOSS_NO_CONTROL;
}

/* Sets retest of the findings about a rail of a node, and leaves of its ways those that lost again.
 * Partners and control pairs are nodes without a finding on that rail. Drops a finding if most was
 * lost while an end was not scheduled and it did not lose again. Returns whether there was enough
 * memory. */
static bool confirm(const struct loss_data *data, struct losses *losses)
{
    size_t count, left = 0;
    struct loss_pair *pairs = pool(data, true, &count);
    struct retest *retests = calloc(losses->count + 1, sizeof *retests);
    bool is_there = pairs && retests;

    /* reads all before any is dropped: each is compared with the others */
    for (size_t i = 0; i < losses->count && is_there; i++)
        if (losses->findings[i].part.type == DIAGNOSE_RAIL)
            read_retest(data, pairs, count, losses, &losses->findings[i], &retests[i]);
    for (size_t i = 0; i < losses->count && is_there; i++) {
        struct loss_finding *finding = &losses->findings[i];

        if (finding->part.type == DIAGNOSE_RAIL)
            finding->retest = judge_retest(&retests[i], finding);
        if (finding->retest != LOSS_NOT_AGAIN || !finding->is_stalled)
            losses->findings[left++] = *finding;
    }
    losses->count = left;
    free(pairs);
    free(retests);
    return is_there;
}

void losses_clear(struct losses *losses)
{
    free(losses->findings);
    *losses = (struct losses){0};
}

int losses_judge(const struct loss_data *data, struct losses *losses)
{
    size_t ends = data->network.node_count * data->network.rail_count;
    struct judging judging = {.network = &data->network, .losses = losses};
    bool is_done;

    judging.pairs = pool(data, false, &judging.count);
    judging.ends = calloc(ends + 1, sizeof *judging.ends);
    *losses =
        (struct losses){.findings = calloc(ends + 3 * judging.count + 1, sizeof *losses->findings)};
    is_done = judging.pairs && judging.ends && losses->findings;
    if (is_done) {
        fill_ends(&judging);
        for (int rail = 0; rail < (int)data->network.rail_count; rail++)
            judge_rail(&judging, rail);
        for (int rail = 0; rail < (int)data->network.rail_count && data->network.leaves; rail++)
            is_done = is_done && judge_uplinks(&judging, rail) == 0;
        for (size_t i = 0; i < judging.count; i++)
            judge_path(&judging, &judging.pairs[i]);
        is_done = confirm(data, losses) && is_done;
    }
    if (!is_done)
        losses_clear(losses);
    free(judging.pairs);
    free(judging.ends);
    return is_done ? 0 : -1;
}
