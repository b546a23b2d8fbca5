/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/harness/watch/stall.h"

#include <math.h>

#include "tests/unit/tap.h"

enum { WORKING = STALL_WORKING };

static int faulty_ranks[48];
static size_t found;

static enum stall_kind find_faulty(const struct stall_rank *ranks, size_t count)
{
    return stall_find(ranks, count, 10, faulty_ranks, &found);
}

/* Nothing moved for 12 s, and all ranks were scheduled all that time. */
static void check_scheduled(void)
{
    const struct stall_rank in_collective[] = {
        {5, -1, 12, 0}, {5, -1, 12, 0}, {4, WORKING, 12, 0}, {5, -1, 12, 0}};
    const struct stall_rank chain[] = {{5, 1, 12, 0}, {5, 2, 12, 0}, {5, 3, 12, 0}, {5, 2, 12, 0}};
    const struct stall_rank behind[] = {
        {5, -1, 12, 0}, {5, -1, 12, 0}, {5, -1, 12, 0}, {4, -1, 12, 0}};
    const struct stall_rank equal[] = {{5, -1, 12, 0}, {5, -1, 12, 0}, {5, -1, 12, 0}};
    const struct stall_rank all_work[] = {{5, WORKING, 12, 0}, {5, WORKING, 12, 0}};
    const struct stall_rank two_pairs[] = {
        {5, 1, 12, 0}, {5, 0, 12, 0}, {5, 3, 12, 0}, {5, 2, 12, 0}};

    is_int(find_faulty(in_collective, 4), STALL_HUNG, "one rank is outside of MPI");
    is_int(found, 1, "... one faulty rank");
    is_int(faulty_ranks[0], 2, "... which is that rank");
    is_int(find_faulty(chain, 4), STALL_PAIR, "two ranks wait for each other");
    is_int(found, 2, "... two faulty ranks");
    ok(faulty_ranks[0] == 2 && faulty_ranks[1] == 3, "... not the ranks that wait for them");
    is_int(find_faulty(behind, 4), STALL_HUNG, "one rank is behind");
    ok(found == 1 && faulty_ranks[0] == 3, "... it is named");
    is_int(find_faulty(equal, 3), STALL_UNKNOWN, "all wait alike: no rank is named");
    is_int(found, 0, "... no faulty rank");
    is_int(find_faulty(all_work, 2), STALL_UNKNOWN, "all work: no rank is named");
    is_int(find_faulty(two_pairs, 4), STALL_PAIRS, "two pairs at once: no rank is at fault");
    is_int(found, 4, "... both pairs are returned");
}

/* Nothing moved for 12 s, and some ranks were in run queues for a part of it. */
static void check_busy(void)
{
    const struct stall_rank slow_pair[] = {{5, 1, 2, 10}, {5, 0, 11, 1}};
    const struct stall_rank slow_worker[] = {{5, -1, 12, 0}, {5, WORKING, 3, 9}, {5, -1, 12, 0}};
    const struct stall_rank one_hangs[] = {{5, -1, 1, 11}, {5, WORKING, 12, 0}, {5, -1, 2, 10}};
    const struct stall_rank one_hangs_one_slow[] = {
        {5, WORKING, 1, 11}, {5, WORKING, 12, 0}, {5, -1, 2, 10}};
    const struct stall_rank one_pair_slow[] = {
        {5, 1, 12, 0}, {5, 0, 2, 10}, {5, 3, 12, 0}, {5, 2, 12, 0}};
    const struct stall_rank behind[] = {{5, -1, 12, 0}, {5, -1, 2, 10}, {4, -1, 12, 0}};
    const struct stall_rank without_times[] = {{5, 1, 0, NAN}, {5, 0, 0, NAN}};
    struct stall_rank all_slow[48];

    for (int i = 0; i < 48; i++)
        all_slow[i] = (struct stall_rank){5, i ^ 1, 0.5, 11.5};
    is_int(find_faulty(all_slow, 48), STALL_SLOW, "24 pairs, all in run queues: slow");
    is_int(found, 0, "... no rank is named");
    is_int(find_faulty(slow_pair, 2), STALL_SLOW, "a pair with one rank not scheduled is slow");
    is_int(found, 0, "... no rank is named");
    is_int(find_faulty(slow_worker, 3), STALL_SLOW,
           "a working rank that was not scheduled is slow");
    is_int(find_faulty(one_hangs, 3), STALL_HUNG,
           "a rank that slept hangs, however busy the waiting ranks are");
    ok(found == 1 && faulty_ranks[0] == 1, "... it is named");
    is_int(find_faulty(one_hangs_one_slow, 3), STALL_HUNG,
           "one rank sleeps, and one is not scheduled");
    ok(found == 1 && faulty_ranks[0] == 1, "... only the sleeping rank is named");
    is_int(find_faulty(one_pair_slow, 4), STALL_PAIRS, "... also when only one pair was scheduled");
    is_int(find_faulty(behind, 3), STALL_SLOW, "a rank is behind, and may wait for a slow one");
    is_int(find_faulty(without_times, 2), STALL_SLOW, "without scheduling times no rank is named");
}

static void check_allowed(void)
{
    ok(fabs(stall_allowed_s(0, 240, 4) - 10) < 0.1, "10 s in a small job");
    ok(stall_allowed_s(0, 240, 2000) > 25, "more in a large one");
    ok(fabs(stall_allowed_s(0, 8, 4) - 4) < 0.1, "half of a short time limit");
    ok(stall_allowed_s(0, 1, 4) >= 2, "... 2 s at least");
    ok(stall_allowed_s(60, 8, 4) >= 60, "a limit that the program sets is kept");

    ok(fabs(stall_silence_s(0.2, 0.2) - 3) < 1e-9, "3 s of silence if heartbeats are in time");
    ok(fabs(stall_silence_s(0.2, 1.5) - 7.5) < 1e-9, "... longer if they were late before");
    ok(stall_silence_s(0.2, 100) <= 60, "... up to a maximum");
    ok(stall_silence_s(2, 2) >= 20, "... and longer if they are rare");
    ok(fabs(stall_gap_s(0.2, 1) - 1) < 1e-9, "a long pause is remembered");
    ok(stall_gap_s(1, 0.2) > 0.9, "... for a while");
    ok(stall_gap_s(1, 0.2) < 1, "... that fades");

    ok(!stall_is_common(1, 1), "one of one other node is silent: it may be its own fault");
    ok(!stall_is_common(1, 3) && !stall_is_common(2, 10),
       "few of many are silent: their own fault");
    ok(stall_is_common(2, 3) && stall_is_common(6, 10), "most are silent at once: not their fault");
}

int main(void)
{
    check_scheduled();
    check_busy();
    check_allowed();
    return tap_done();
}
