/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/schedule/schedule_parts.h"

#include "lib/base/splitmix.h"
#include "validate/schedule/tournament.h"

int schedule_round_again(int rounds, int times, int number)
{
    int time = number / rounds;

    return (int)((number + (long)time * rounds / times) % rounds);
}

int schedule_rounds(const struct schedule *schedule)
{
    return schedule->round_count;
}

static int partner_in_tournament(const struct schedule *schedule, int begin, int count, int round,
                                 int position)
{
    int partner = round < tournament_rounds(count)
                      ? tournament_partner(count, round, position - begin)
                      : TOURNAMENT_BYE;

    return partner == TOURNAMENT_BYE ? SCHEDULE_BYE : schedule->order[begin + partner];
}

/* Node i of the smaller block meets node i + rotation of the larger one, in the slice of i. Each
 * two blocks begin at a rotation of their own; else the same indices would meet in all blocks. */
static int partner_across(const struct schedule *schedule, const struct round *round, int node)
{
    int own = schedule->block[node], other, small, large, size, rotation, index, partner;
    uint64_t mix;

    other = tournament_partner(schedule->block_count, round->first, own);
    if (other == TOURNAMENT_BYE)
        return SCHEDULE_BYE;
    small = block_size(schedule, own) != block_size(schedule, other)
                ? (block_size(schedule, own) < block_size(schedule, other) ? own : other)
                : least(own, other);
    large = small == own ? other : own;
    size = block_size(schedule, large);
    if (round->second >= size)
        return SCHEDULE_BYE;
    mix = schedule->seed + (uint64_t)small * 65537 + (uint64_t)large;
    rotation = schedule->seed
                   ? (int)((round->second + splitmix_next(&mix) % (uint64_t)size) % (uint64_t)size)
                   : round->second;
    index = schedule->position[node] - schedule->begins[own];
    partner = own == small ? (index + rotation) % size : (index - rotation + size) % size;
    if (own == large && partner >= block_size(schedule, small))
        return SCHEDULE_BYE;
    if ((own == small ? index : partner) / schedule->slice != round->third)
        return SCHEDULE_BYE;
    return schedule->order[schedule->begins[other] + partner];
}

static int partner_of_halves(const struct schedule *schedule, int rotation, int position)
{
    int half = schedule->node_count / 2, upper = schedule->node_count - half;

    /* if the number of nodes is odd, the middle one rests */
    if (position < half)
        return schedule->order[upper + (position + rotation) % half];
    if (position >= upper)
        return schedule->order[(position - upper - rotation + half) % half];
    return SCHEDULE_BYE;
}

int schedule_partner(const struct schedule *schedule, int round, int node)
{
    const struct round *what = &schedule->rounds[round];
    int position = schedule->position[node], block = schedule->block[node];

    if (position < 0)
        return SCHEDULE_BYE;
    switch (what->kind) {
    case ROUND_PLAIN:
        return partner_in_tournament(schedule, 0, schedule->node_count, what->first, position);
    case ROUND_INSIDE:
        return partner_in_tournament(schedule, schedule->begins[block], block_size(schedule, block),
                                     what->first, position);
    case ROUND_ACROSS:
        return partner_across(schedule, what, node);
    case ROUND_HALVES:
        return partner_of_halves(schedule, what->first, position);
    }
    return SCHEDULE_BYE;
}

/* Positions are ordered by block, so all nodes of the same block are first. */
bool schedule_is_first(const struct schedule *schedule, int round, int node)
{
    return schedule->position[node] < schedule->position[schedule_partner(schedule, round, node)];
}

/* Returns the number of pairs of the round that leave the block. */
static int pairs_leaving(const struct schedule *schedule, int round, int block)
{
    int count = 0;

    for (int i = schedule->begins[block]; i < schedule->begins[block + 1]; i++) {
        int partner = schedule_partner(schedule, round, schedule->members[i]);

        count += partner != SCHEDULE_BYE && schedule->block[partner] != block;
    }
    return count;
}

int schedule_pair_load(const struct schedule *schedule, int round, int node)
{
    int partner = schedule_partner(schedule, round, node);

    if (partner == SCHEDULE_BYE || schedule->block[node] == schedule->block[partner])
        return 0;
    return most(pairs_leaving(schedule, round, schedule->block[node]),
                pairs_leaving(schedule, round, schedule->block[partner]));
}
