/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SIM_NOISE_H
#define MUSTER_SIM_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the machines add to the fabric's bandwidths: invented, or as it was recorded. */

enum { NOISE_FIGURES = 8 };

/* One transfer, as shares of the bandwidth that its path has: value, low and high end of the
 * sender's record, and the best part that the receiver saw. stalled is the share of its time in
 * which the ends saw that they did not run. */
struct noise_share {
    double value, low, high, best, stalled;
};

/* The transfers of one pair of nodes in one round: for each rail two, one in each
 * direction. */
struct noise_pair_run {
    struct noise_share figures[NOISE_FIGURES];
    int figure_count;
};

/* Rounds of one rail after the other, and of all rails at once. */
enum noise_kind { NOISE_RAILS, NOISE_TOGETHER };

struct noise_recordings;

struct noise {
    const char *name;
    double sigma;  /* of a sample, as a share */
    double dip;    /* share of samples that have 0.3 to 1 of what they should */
    double hiccup; /* share of a node's rounds in which all has 0.4 to 0.9 of what it should */
    const struct noise_recordings *recordings; /* used instead of sigma and dip; or NULL */
    bool is_busy;     /* recorded beside other work, and not on quiet machines */
    double preempted; /* share of the pair runs on busy machines, which is invented */
};

/* What machines run beside certifications: nothing, the recorded loads, or, invented, so much that
 * most pair runs are on busy machines. */
struct noise_load {
    const char *name;
    bool is_busy;
    double preempted;
};

enum { NOISE_LOADS = 3 };

extern const struct noise_load noise_loads[NOISE_LOADS]; /* the first is none */

/* Returns the noise beside the load. */
struct noise noise_beside(const struct noise *noise, const struct noise_load *load);

/* Returns the invented shares of a transfer on busy machines. Sixty in a hundred are preempted, as
 * hardly any in the recordings; of these seven in ten have 0.3 to 1.02 of their bandwidth; the ends
 * see it of three in four, and wrongly of 15 of a thousand others. */
struct noise_share noise_preempt(uint64_t *random);

/* Reads the output of tests/sim/noise. Prints what is wrong and exits if it cannot be read. */
struct noise_recordings *noise_read(const char *path);

/* Returns the number of a recorded certification, quiet or busy: the machines of one simulated
 * certification are as they were in it. */
size_t noise_certification(const struct noise *noise, uint64_t random);

/* Pair runs in the order in which they ran side by side in a recorded round. */
struct noise_round {
    const struct noise_recordings *recordings;
    size_t certification, round, next;
    enum noise_kind kind;
};

/* A round of the certification, drawn by random. The others of its kind follow. */
struct noise_round noise_round(const struct noise_recordings *recordings, size_t certification,
                               enum noise_kind kind, uint64_t random);

/* Returns the round's next pair run, and goes on to the next round of its kind after the last. */
const struct noise_pair_run *noise_next(struct noise_round *round);

#endif
