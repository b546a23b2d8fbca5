/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/watch/stall.h"

static size_t find_working(const struct stall_rank *ranks, size_t count, int *culprits)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        if (ranks[i].waits_for == STALL_WORKING)
            culprits[found++] = (int)i;
    return found;
}

static size_t find_pairs(const struct stall_rank *ranks, size_t count, int *culprits)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        int other = ranks[i].waits_for;

        if (other > (int)i && other < (int)count && ranks[other].waits_for == (int)i) {
            culprits[found++] = (int)i;
            culprits[found++] = other;
        }
    }
    return found;
}

static size_t find_behind(const struct stall_rank *ranks, size_t count, int *culprits)
{
    uint32_t least = UINT32_MAX;
    size_t found = 0;

    for (size_t i = 0; i < count; i++)
        if (ranks[i].progress < least)
            least = ranks[i].progress;
    for (size_t i = 0; i < count; i++)
        if (ranks[i].progress == least)
            culprits[found++] = (int)i;
    return found;
}

enum stall_kind stall_find(const struct stall_rank *ranks, size_t count, int *culprits,
                           size_t *culprit_count)
{
    size_t found = find_working(ranks, count, culprits);

    *culprit_count = 0;
    /* When all are outside of MPI nobody can be told from the rest. */
    if (found > 0 && found < count) {
        *culprit_count = found;
        return STALL_HUNG;
    }
    found = find_pairs(ranks, count, culprits);
    if (found > 0) {
        *culprit_count = found;
        return STALL_PAIR;
    }
    found = find_behind(ranks, count, culprits);
    if (found < count && 2 * found <= count) {
        *culprit_count = found;
        return STALL_HUNG;
    }
    return STALL_UNKNOWN;
}
