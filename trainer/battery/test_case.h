/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TEST_CASE_H
#define MUSTER_TEST_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/catalog/catalog.h"
#include "trainer/training.h"

/* Short trainings whose end is known, for the battery. Every rank of the communicator gets an
 * outcome. */

enum { CASE_STEPS = 10 };

struct test_case {
    const struct strategy *strategy;
    const struct injection *injection; /* a fault on purpose; NULL: none */
    const char
        *checkpoint; /* directory: half of it, then the rest from a checkpoint; NULL: in one */
};

struct case_outcome {
    int rv;          /* -1: text says why it did not end */
    bool is_unsaved; /* ... as its checkpoint could not be written: a full disk is nobody's fault */
    double worst; /* greatest distance of a loss from the reference, in nats; NAN: none was had */
    int32_t step; /* where that was; CASE_STEPS: after the last */
    double found; /* the loss there */
    uint32_t digest; /* of the parameters at the end, as far as this rank has them */
    char text[sizeof((struct error){""}.text)];
};

/* How far a loss may be off: twice what two ways to compute in 32 bits differ by, and more. */
#define CASE_TOLERANCE 1e-5

/* The problem whose losses another project's program gave (double precision): 4 layers, 4 heads, 64
 * channels, 32 tokens of context, a vocabulary of 256, 4 sequences. Collective over the
 * communicator. */
void case_run(const struct test_case *test_case, struct comm *comm, struct case_outcome *outcome);

/* A larger model for so long: tokens per second of the communicator, and the shares of the time
 * that this rank waited for others, and was kept from running. Collective. Returns 0, or -1 with
 * err on all ranks. */
struct case_speed {
    double tokens_per_s, waited_share, stalled_share;
};
int case_speed(struct comm *comm, const struct injection *injection, double seconds,
               struct case_speed *speed, struct error *err);

/* Whether a rank is slow by the median of all: a warning; skip: others kept it from running; NONE:
 * it is not. */
enum verdict case_speed_judge(const struct case_speed *speed, double median, int ranks);

#endif
