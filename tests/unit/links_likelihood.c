/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/localization/likelihood.h"
#include "tests/unit/tap.h"

#include <math.h>

/* Four nodes on two leaves, one rail, all pairs in both directions, RUNS times. */
enum { NODES = 4, RUNS = 4, SAMPLES = NODES * (NODES - 1) * RUNS };
static const int blocks[NODES] = {0, 0, 1, 1};
static struct likelihood_sample samples[SAMPLES];
static const struct likelihood_data data = {samples, SAMPLES, blocks, NODES, true};

static const struct likelihood_part rail = {
    .pattern = PATTERN_NODE, .node = 1, .directions = DIRECTION_BOTH, .peer_block = -1};
static const struct likelihood_part leaf = {
    .pattern = PATTERN_LEAF, .block = 0, .directions = DIRECTION_BOTH, .peer_block = -1};
static const struct likelihood_part path = {
    .pattern = PATTERN_PATH, .node = 1, .peer = 3, .directions = DIRECTION_BOTH, .peer_block = -1};
static const struct likelihood_part *const all_parts[] = {&rail, &leaf, &path};

/* The part has that share of the speed; the rest has all of it, but for a few hundredths. */
static void measure(const struct likelihood_part *part, double share)
{
    int count = 0;

    for (int low = 0; low < NODES; low++)
        for (int high = low + 1; high < NODES; high++)
            for (int run = 0; run < 2 * RUNS; run++) {
                struct likelihood_sample *sample = &samples[count];

                *sample = (struct likelihood_sample){.from = run % 2 ? high : low,
                                                     .to = run % 2 ? low : high,
                                                     .pair_run = count / 2,
                                                     .y = (float)(0.004 * (count % 5 - 2))};
                if (part && likelihood_touches(&data, part, sample))
                    sample->y += (float)log(share);
                likelihood_set_preempted(sample, false);
                count++;
            }
}

static double score(const struct likelihood_part *part)
{
    struct likelihood_part one = *part;

    return likelihood_fit(&data, &one, 1, 0);
}

static void the_right_part_is_best(void)
{
    static const char *const names[] = {"a rail", "a leaf switch", "a path"};

    for (int right = 0; right < 3; right++) {
        double most;

        measure(all_parts[right], 0.5);
        most = score(all_parts[right]);
        for (int other = 0; other < 3; other++)
            ok(other == right || most - score(all_parts[other]) > likelihood_margin(),
               "%s at half speed is not %s", names[right], names[other]);
        ok(most - likelihood_score(&data, NULL, 0) > likelihood_margin(), "... nor nothing");
    }
}

static void nothing_is_best_of_sound_samples(void)
{
    measure(NULL, 1);
    for (int i = 0; i < 3; i++)
        ok(score(all_parts[i]) < likelihood_score(&data, NULL, 0), "sound samples accuse no part");
}

/* Samples of one pair run that are low by different shares. */
static void a_bad_moment_counts_once(void)
{
    double alone, together;

    measure(NULL, 1);
    samples[0].y = -0.5F;
    alone = score(&path) - likelihood_score(&data, NULL, 0);
    samples[1].y = -0.9F;
    together = score(&path) - likelihood_score(&data, NULL, 0);
    ok(alone < likelihood_margin() && together < likelihood_margin(),
       "a bad moment of a pair is no fault, however many samples fell into it");
}

static void stalled_samples_weigh_less(void)
{
    double clean, stalled;

    measure(&rail, 0.5);
    clean = score(&rail) - likelihood_score(&data, NULL, 0);
    for (int i = 0; i < SAMPLES; i++)
        likelihood_set_preempted(&samples[i], true);
    stalled = score(&rail) - likelihood_score(&data, NULL, 0);
    ok(stalled < clean, "samples in which an end was not scheduled weigh less: %.0f, %.0f", stalled,
       clean);
}

int main(void)
{
    the_right_part_is_best();
    nothing_is_best_of_sound_samples();
    a_bad_moment_counts_once();
    stalled_samples_weigh_less();
    return tap_done();
}
