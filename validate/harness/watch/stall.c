/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/harness/watch/stall.h"

#include <math.h>
#include <stdbool.h>

#include "lib/constants/harness_constants.h"

static size_t find_working(const struct stall_rank *ranks, size_t count, int *faulty_ranks)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        if (ranks[i].waits_for == STALL_WORKING)
            faulty_ranks[found++] = (int)i;
    return found;
}

static size_t find_pairs(const struct stall_rank *ranks, size_t count, int *faulty_ranks)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        int other = ranks[i].waits_for;

        if (other > (int)i && other < (int)count && ranks[other].waits_for == (int)i) {
            faulty_ranks[found++] = (int)i;
            faulty_ranks[found++] = other;
        }
    }
    return found;
}

static size_t find_behind(const struct stall_rank *ranks, size_t count, int *faulty_ranks)
{
    uint32_t least = UINT32_MAX;
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        if (ranks[i].progress < least)
            least = ranks[i].progress;
    for (size_t i = 0; i < count; i++)
        if (ranks[i].progress == least)
            faulty_ranks[found++] = (int)i;
    return found;
}

/* Keeps the groups of faulty ranks (group: 1, or 2 for pairs) in which each rank had the allowed
 * time. Returns the number of ranks kept. */
static size_t keep_scheduled(const struct stall_rank *ranks, double allowed_s, size_t group,
                             int *faulty_ranks, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i + group <= count; i += group) {
        bool is_proven = true;

        for (size_t k = 0; k < group; k++)
            is_proven = is_proven && ranks[faulty_ranks[i + k]].counted_s >= allowed_s;
        for (size_t k = 0; k < group && is_proven; k++)
            faulty_ranks[kept++] = faulty_ranks[i + k];
    }
    return kept;
}

/* Whether each rank had the allowed time: any rank may be the one that the others wait for. */
static bool are_all_scheduled(const struct stall_rank *ranks, size_t count, double allowed_s)
{
    for (size_t i = 0; i < count; i++)
        if (!(ranks[i].counted_s >= allowed_s))
            return false;
    return true;
}

enum stall_kind stall_find(const struct stall_rank *ranks, size_t count, double allowed_s,
                           int *faulty_ranks, size_t *faulty_count)
{
    size_t found = find_working(ranks, count, faulty_ranks);

    *faulty_count = 0;
    /* If all ranks are outside of MPI, none differs from the rest. */
    if (found > 0 && found < count) {
        *faulty_count = keep_scheduled(ranks, allowed_s, 1, faulty_ranks, found);
        return *faulty_count > 0 ? STALL_HUNG : STALL_SLOW;
    }
    found = find_pairs(ranks, count, faulty_ranks);
    if (found > 0) {
        if (keep_scheduled(ranks, allowed_s, 2, faulty_ranks, found) == 0)
            return STALL_SLOW;
        *faulty_count = find_pairs(ranks, count, faulty_ranks);
        return found == 2 ? STALL_PAIR : STALL_PAIRS;
    }
    if (!are_all_scheduled(ranks, count, allowed_s))
        return STALL_SLOW;
    found = find_behind(ranks, count, faulty_ranks);
    if (found < count && 2 * found <= count) {
        *faulty_count = found;
        return STALL_HUNG;
    }
    return STALL_UNKNOWN;
}

double stall_allowed_s(double base_s, double time_limit_s, int size)
{
    double allowed = base_s;

    if (allowed <= 0)
        allowed = time_limit_s / 2 < 10 ? time_limit_s / 2 : 10;
    if (allowed < 2)
        allowed = 2;
    return allowed * (1 + 1e-3 * size);
}

double stall_silence_s(double interval_s, double gap_s)
{
    double silence_s = fmax(STALL_SILENCE_INTERVALS * interval_s, STALL_SILENCE_GAPS * gap_s);

    return fmin(fmax(silence_s, STALL_SILENCE_LEAST_S), STALL_SILENCE_MOST_S);
}

double stall_gap_s(double gap_s, double pause_s)
{
    double rest = gap_s * exp(-pause_s / STALL_MEMORY_S);

    return pause_s > rest ? pause_s : rest;
}

int stall_is_common(int silent, int others)
{
    return silent > 1 && 2 * silent > others;
}
