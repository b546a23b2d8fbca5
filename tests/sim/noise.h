/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SIM_NOISE_H
#define MUSTER_SIM_NOISE_H

#include <stdbool.h>
#include <stdint.h>

/* What the machines add to the fabric's figures: made up, or as it was recorded. */

/* What a measurement said, as shares of what it should have: the figure, and the interval of the
 * median of its repeats, which the figure may be out of. */
struct noise_share {
    double value, low, high;
};

enum { NOISE_PAIR_RUNS = 1024, NOISE_FIGURES = 16 };

struct noise {
    const char *name;
    double sigma;  /* of a sample, as a share */
    double dip;    /* share of samples that have 0.3 to 1 of what they should */
    double hiccup; /* share of a node's rounds in which all has 0.4 to 0.9 of what it should */
    double busy;   /* share of the pair_runs in which the machines run something else as well */
    const struct noise_record *record; /* of measurements: instead of sigma and dip; or NULL */
};

/* Meetings of two nodes, each with the figures of all rails and directions. */
struct noise_record {
    struct noise_share figures[NOISE_PAIR_RUNS][NOISE_FIGURES];
    int figure_count[NOISE_PAIR_RUNS];
    int count;
};

/* What befalls a transfer when an end is not let run: shares of what it had, of the whole of it and
 * of its best and its worst part, and the share of its time that the ends see that they missed. */
struct noise_preemption {
    double value, high, low, stalled;
};

/* Of a transfer in a pair run in which the machines are busy, or are not. Sixty in a hundred are
 * preempted, or four in a thousand; of these seven in ten have 0.3 to 1.02 of what they should; the
 * ends see it of three in four, and believe it of 15 of a thousand others. */
struct noise_preemption noise_preempt(bool is_busy, uint64_t *random);

/* Reads what tests/sim/noise wrote. Says what is wrong and exits when it cannot be read. */
void noise_read(const char *path, struct noise_record *record);

/* A figure of a pair run, of which the caller keeps the number: random of it. */
struct noise_share noise_figure(const struct noise_record *record, uint64_t pair_run, int figure);

#endif
