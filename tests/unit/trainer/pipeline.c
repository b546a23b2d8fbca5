/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <string.h>

#include "lib/base/splitmix.h"
#include "tests/unit/tap.h"
#include "trainer/parallel/pipeline/arrange.h"
#include "trainer/parallel/pipeline/placement.h"
#include "trainer/parallel/pipeline/schedule.h"
#include "trainer/parallel/pipeline/speed.h"
#include "trainer/parallel/pipeline/split.h"
#include "validate/harness/watch/stall.h"

/* The 1F1B schedule, the split of layers and the placement of ranks, without MPI. */

enum { STAGES_MAX = 16, MICROBATCHES_MAX = 33 };

/* The next action of a stage, and the number of actions that it has done. */
struct progress {
    struct pipeline_action actions[2 * MICROBATCHES_MAX];
    int next, forwards, backwards, held_max;
};

static bool is_ready(const struct progress *all, int stage, int stages)
{
    const struct pipeline_action *action = &all[stage].actions[all[stage].next];

    if (action->kind == PIPELINE_FORWARD)
        return stage == 0 || all[stage - 1].forwards > action->microbatch;
    return stage == stages - 1 ? all[stage].forwards > action->microbatch
                               : all[stage + 1].backwards > action->microbatch;
}

/* Runs the schedule: at each tick each stage does its next action if it is ready; forward and
 * backward take one tick. Returns the number of ticks; 0 if the stages wait for each other forever,
 * or a microbatch is out of order. */
static int run_schedule(struct progress *all, int stages, int microbatches)
{
    int ticks = 0, left = stages * 2 * microbatches;

    for (; left > 0; ticks++) {
        bool ready[STAGES_MAX], has_progress = false;

        for (int stage = 0; stage < stages; stage++)
            ready[stage] = all[stage].next < 2 * microbatches && is_ready(all, stage, stages);
        for (int stage = 0; stage < stages; stage++) {
            struct progress *progress = &all[stage];
            const struct pipeline_action *action = &progress->actions[progress->next];
            int *count =
                action->kind == PIPELINE_FORWARD ? &progress->forwards : &progress->backwards;

            if (!ready[stage])
                continue;
            if (action->microbatch != (*count)++)
                return 0;
            if (progress->forwards - progress->backwards > progress->held_max)
                progress->held_max = progress->forwards - progress->backwards;
            progress->next++;
            left--;
            has_progress = true;
        }
        if (!has_progress)
            return 0;
    }
    return ticks;
}

/* For every number of stages and microbatches: all actions are done in the least possible time, and
 * no stage holds more microbatches than schedule_held(). */
static void test_schedule(void)
{
    int late = 0, stuck = 0, over = 0;

    for (int stages = 1; stages <= STAGES_MAX; stages++) {
        for (int microbatches = 1; microbatches <= MICROBATCHES_MAX; microbatches++) {
            static struct progress all[STAGES_MAX];
            int ticks;

            memset(all, 0, sizeof all);
            for (int stage = 0; stage < stages; stage++)
                schedule_fill(stage, stages, microbatches, all[stage].actions);
            ticks = run_schedule(all, stages, microbatches);
            stuck += ticks == 0;
            late += ticks != 2 * (stages - 1 + microbatches);
            for (int stage = 0; stage < stages; stage++)
                over += all[stage].held_max != schedule_held(stage, stages, microbatches);
        }
    }
    is_int(stuck, 0, "no stages wait for each other, and microbatches keep their order");
    is_int(late, 0, "m microbatches in p stages take 2 (m + p - 1) ticks");
    is_int(over, 0, "a stage holds min(m, number of stages from it on) microbatches");
    is_int(schedule_held(0, 4, 8), 4, "the first of four stages holds four");
    is_int(schedule_held(3, 4, 8), 1, "... and the last one holds one");
}

static int sum_of(const int *counts, int stages, bool *is_positive)
{
    int sum = 0;

    *is_positive = true;
    for (int i = 0; i < stages; i++) {
        sum += counts[i];
        *is_positive = *is_positive && counts[i] > 0;
    }
    return sum;
}

/* Holmes' rule: n = floor(layers x speed / sum of speeds); each remaining layer goes to the stage
 * with the smallest (n + 1) / speed. Returns false if a stage has no layer. */
static bool split_holmes(int layers, int stages, const double *speeds, int *counts)
{
    double all = 0;
    bool is_positive;

    for (int i = 0; i < stages; i++)
        all += speeds[i];
    for (int i = 0; i < stages; i++)
        counts[i] = (int)(layers * speeds[i] / all);
    while (sum_of(counts, stages, &is_positive) < layers) {
        int best = 0;

        for (int i = 1; i < stages; i++)
            if ((counts[i] + 1) / speeds[i] < (counts[best] + 1) / speeds[best])
                best = i;
        counts[best]++;
    }
    sum_of(counts, stages, &is_positive);
    return is_positive;
}

static double ready_s(int stage, int stages, double speed, double head_s, int count)
{
    return count / speed + (stage == stages - 1 ? head_s : 0);
}

/* Returns the number of layers that the stages complete in this time; 0 if one completes none. */
static int capacity(int stages, const double *speeds, double head_s, double time)
{
    int sum = 0;

    for (int i = 0; i < stages; i++) {
        double left = time - (i == stages - 1 ? head_s : 0);
        int fits = (int)floor(left * speeds[i] * (1 + 1e-9));

        if (fits < 1)
            return 0;
        sum += fits;
    }
    return sum;
}

/* Returns the least time of any split with at least one layer per stage. */
static double best_split_s(int layers, int stages, const double *speeds, double head_s)
{
    double best = INFINITY;

    /* it is the time of some stage for some number of layers */
    for (int i = 0; i < stages; i++) {
        for (int count = 1; count <= layers; count++) {
            double time = ready_s(i, stages, speeds[i], head_s, count);

            if (time < best && capacity(stages, speeds, head_s, time) >= layers)
                best = time;
        }
    }
    return best;
}

/* Returns the time of the slowest stage. */
static double split_s(int stages, const double *speeds, double head_s, const int *counts)
{
    double time = 0;

    for (int i = 0; i < stages; i++)
        time = fmax(time, ready_s(i, stages, speeds[i], head_s, counts[i]));
    return time;
}

static void test_split(void)
{
    const double unequal[] = {1, 2, 1}, very_unequal[] = {1, 100}, holmes[] = {197, 160},
                 same[] = {1, 1};
    int counts[STAGES_MAX], shares[STAGES_MAX], wrong = 0, worse = 0, other = 0;
    double head_s;
    struct error err;
    bool is_positive;
    uint64_t draw = 0;

    split_even(7, 3, counts);
    ok(counts[0] == 3 && counts[1] == 2 && counts[2] == 2, "7 layers in three stages are 3, 2, 2");
    split_by_speed(8, 3, unequal, 0, counts);
    ok(counts[0] == 2 && counts[1] == 4 && counts[2] == 2,
       "8 layers at speeds 1, 2, 1 are 2, 4, 2");
    split_by_speed(30, 2, holmes, 0, counts);
    ok(counts[0] == 17 && counts[1] == 13, "30 layers at speeds 197, 160 are 17, 13");
    split_by_speed(3, 2, very_unequal, 0, counts);
    ok(counts[0] == 1 && counts[1] == 2, "a very slow stage still has one layer");
    split_by_speed(12, 2, same, 4, counts);
    ok(counts[0] == 8 && counts[1] == 4,
       "a head that takes as long as four layers counts for the last stage");
    for (int round = 0; round < 3000; round++) {
        int stages = 1 + (int)(splitmix_at(7, draw++) % STAGES_MAX);
        int layers = stages + (int)(splitmix_at(7, draw++) % 96);
        double speeds[STAGES_MAX];

        for (int i = 0; i < stages; i++)
            speeds[i] = 1 + (double)(splitmix_at(7, draw++) % 1000);
        head_s = round % 2 ? 0 : (double)(splitmix_at(7, draw++) % 100) / 50;
        split_by_speed(layers, stages, speeds, head_s, counts);
        wrong += sum_of(counts, stages, &is_positive) != layers || !is_positive;
        worse += split_s(stages, speeds, head_s, counts) >
                 (1 + 1e-6) * best_split_s(layers, stages, speeds, head_s);
        if (head_s == 0 && split_holmes(layers, stages, speeds, shares))
            other += split_s(stages, speeds, 0, shares) != split_s(stages, speeds, 0, counts);
        split_even(layers, stages, counts);
        wrong += sum_of(counts, stages, &is_positive) != layers || !is_positive;
    }
    is_int(wrong, 0, "random splits: all layers are used, and no stage is without a layer");
    is_int(worse, 0, "... the split by speed is as fast as the best split");
    is_int(other, 0, "... and as Holmes' rule, if that leaves no stage without a layer");
    is_int(split_parse("3,5,4", 12, 3, counts, &err), 0, "3,5,4 is accepted");
    ok(counts[0] == 3 && counts[1] == 5 && counts[2] == 4, "... as these numbers of layers");
    for (const char *const *text =
             (const char *const[]){"3,5", "3,5,4,1", "3,5,5", "3,,9", "3,5,4,", "0,8,4", "-1,9,4",
                                   "", "3;5;4", NULL};
         *text; text++)
        is_int(split_parse(*text, 12, 3, counts, &err), -1, "\"%s\" is refused", *text);
}

static void test_placement(void)
{
    struct shape shape = {7, 1, 8, 4, 16};
    struct placement placement;
    struct error err;
    int stage, replica, first, rows = 0;
    size_t owned = 0;

    is_int(placement_create(6, 4, 7, &placement, &err), -1, "6 ranks in 4 stages are refused");
    is_int(placement_create(8, 8, 7, &placement, &err), -1, "7 layers in 8 stages are refused");
    is_int(placement_create(6, 3, 7, &placement, &err), 0, "6 ranks in 3 stages are accepted");
    placement_find(&placement, 5, &stage, &replica);
    ok(stage == 2 && replica == 1, "rank 5 is replica 1 of stage 2");
    is_int(placement_rank(&placement, 1, 1), 3, "replica 1 of stage 1 is rank 3");
    for (int i = 0; i < 3; i++) {
        struct stage of = placement_stage(&placement, &shape, i);

        for (int unit = 0; unit < shape_units(&shape); unit++)
            owned += stage_owns(&of, unit) ? shape_unit_size(&shape, unit) : 0;
    }
    is_int((long)owned, (long)shape_parameters(&shape), "each parameter belongs to one stage");
    is_int(placement_microbatches(&placement, 10), 5, "10 sequences on 2 replicas: 5 microbatches");
    is_int(placement_microbatches(&placement, 100), 12,
           "... but at most 4 times the number of stages");
    for (int i = 0; i < 4; i++)
        rows += placement_share(7, i, 4, &first);
    is_int(rows, 7, "the shares add up to the whole");
    placement_clear(&placement);
}

static void test_islands(void)
{
    char names[8][ISLAND_BYTES] = {"b", "a", "b", "a", "a", "a", "b", "b"};
    int order[8], numbers[8];
    const double stage_s[] = {2, 3, 1};
    struct arrange_times times = {.stages = 3,
                                  .microbatches = 5,
                                  .stage_s = stage_s,
                                  .microbatch_bytes = 10,
                                  .inside_bytes = 40,
                                  .ends_bytes = 6,
                                  .inside_messages = 6,
                                  .inside = {.Bps = 20},
                                  .across = {.Bps = 100}};

    is_int(arrange_islands(names, 8, order, numbers), 2, "two islands are found");
    ok(order[0] == 0 && order[1] == 2 && order[3] == 7 && order[4] == 1 && order[7] == 5,
       "ranks are in the order of their islands");
    is_int(arrange_replicas(numbers, 8, 2), 4,
           "islands of four and four ranks: stages of four ranks");
    strcpy(names[7], "a");
    strcpy(names[6], "a");
    is_int(arrange_islands(names, 8, order, numbers), 2, "islands of two and six ranks are found");
    is_int(arrange_replicas(numbers, 8, 2), 2, "... and make stages of two ranks");
    strcpy(names[2], "c");
    is_int(arrange_islands(names, 8, order, numbers), 3,
           "islands of one, one and six ranks are found");
    is_int(arrange_replicas(numbers, 8, 3), 1, "... and make stages of one rank");
    /* all stages once, the slowest 4 more times, 2 boundaries in both directions; reductions */
    is_near(arrange_step_s(&times), 6 + 4 * 3 + 4 * 0.1 + 2 + 0.06, 1e-12, "the time of a step");
    times.update_s = 7;
    is_near(arrange_step_s(&times), 6 + 4 * 3 + 4 * 0.1 + 2 + 0.06 + 7, 1e-12,
            "... with the update");
    times.update_s = 0;
    times.inside.latency_s = 0.5;
    times.across.latency_s = 0.25;
    is_near(arrange_step_s(&times), 6 + 4 * 3 + 4 * 0.35 + 2 + 6 * 0.5 + 0.06 + 2 * 0.25, 1e-12,
            "... with latencies, between stages only for the first pass of a microbatch");
    times.inside.latency_s = times.across.latency_s = 0;
    times.across.Bps = 2;
    is_near(arrange_step_s(&times), 6 + 4 * 5 + 4 * 5 + 2 + 3, 1e-12,
            "... if the link between stages is the bottleneck");
}

/* Counts the steps that are reported to the watch. */
static int steps_reported;

void __wrap_watch_step(void)
{
    steps_reported++;
}

/* Three runs of a layer may take longer than the time limit of the watch. */
static void test_measuring_reports_steps(void)
{
    const struct shape shape = {7, 1, 8, 4, 16};
    double seconds = 0;
    long steps = 0;

    steps_reported = 0;
    is_int(speed_of_layer(&shape, &compute_cpu, 1, &seconds, &steps, NULL), 0,
           "a layer is measured");
    ok(seconds > 0 && steps_reported >= 6, "... and reported to the watch (%d times)",
       steps_reported);
    is_int(steps, steps_reported, "... as often as the returned number of steps");
}

/* Two ranks with an MPI that does nothing. Counts the calls, and those that the watch does not know
 * of. */
static int waits_for_rank = STALL_WORKING, calls, unreported_calls;

void __wrap_watch_waits_for(int rank)
{
    waits_for_rank = rank;
}

void __wrap_watch_works(void)
{
    waits_for_rank = STALL_WORKING;
}

int call_mpi(void)
{
    calls++;
    unreported_calls += waits_for_rank == STALL_WORKING;
    return MPI_SUCCESS;
}
int __wrap_MPI_Barrier(void) __attribute__((alias("call_mpi")));
int __wrap_MPI_Sendrecv(void) __attribute__((alias("call_mpi")));
int __wrap_MPI_Allreduce(void) __attribute__((alias("call_mpi")));

struct rank_info __wrap_comm_rank_info(const struct comm *comm)
{
    return (struct rank_info){0, 2};
}

MPI_Comm __wrap_comm_mpi(const struct comm *comm)
{
    return MPI_COMM_NULL;
}

/* Otherwise a rank that waits for the network would look as if it hung outside MPI. */
static void test_exchanges_report_waits(void)
{
    speed_of_ring(NULL);
    speed_of_pair(NULL, 1);
    ok(calls >= 6, "ranks exchange messages (%d calls)", calls);
    is_int(unreported_calls, 0, "... and the watch knows that they wait in each");
    is_int(waits_for_rank, STALL_WORKING, "... and that they no longer wait afterward");
}

int main(void)
{
    test_islands();
    test_measuring_reports_steps();
    test_exchanges_report_waits();
    test_schedule();
    test_split();
    test_placement();
    return tap_done();
}
