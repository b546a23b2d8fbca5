/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/watch/stall.h"
#include "tests/unit/tap.h"

static int culprits[8];
static size_t found;

static enum stall_kind find(const struct stall_rank *ranks, size_t count)
{
    return stall_find(ranks, count, culprits, &found);
}

int main(void)
{
    const struct stall_rank in_collective[] = {{5, -1}, {5, -1}, {4, STALL_WORKING}, {5, -1}};
    const struct stall_rank chain[] = {{5, 1}, {5, 2}, {5, 3}, {5, 2}};
    const struct stall_rank behind[] = {{5, -1}, {5, -1}, {5, -1}, {4, -1}};
    const struct stall_rank equal[] = {{5, -1}, {5, -1}, {5, -1}};
    const struct stall_rank all_work[] = {{5, STALL_WORKING}, {5, STALL_WORKING}};
    const struct stall_rank two_pairs[] = {{5, 1}, {5, 0}, {5, 3}, {5, 2}};

    is_int(find(in_collective, 4), STALL_HUNG, "one is outside of MPI");
    is_int(found, 1, "... one culprit");
    is_int(culprits[0], 2, "... and it is the one");
    is_int(find(chain, 4), STALL_PAIR, "two wait for each other");
    is_int(found, 2, "... two culprits");
    ok(culprits[0] == 2 && culprits[1] == 3, "... those, not the ones that wait for them");
    is_int(find(behind, 4), STALL_HUNG, "one is behind");
    ok(found == 1 && culprits[0] == 3, "... it is named");
    is_int(find(equal, 3), STALL_UNKNOWN, "all wait alike: nobody is accused");
    is_int(found, 0, "... no culprit");
    is_int(find(all_work, 2), STALL_UNKNOWN, "all work: nobody is accused");
    is_int(find(two_pairs, 4), STALL_PAIR, "two pairs");
    is_int(found, 4, "... both are named");
    return tap_done();
}
