/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TEST_CASE_H
#define MUSTER_TEST_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/catalog/catalog.h"
#include "trainer/training.h"

/* Short trainings whose losses are known, for the battery. Every rank of the communicator gets an
 * outcome. */

enum { CASE_STEPS = 10 };

struct test_case {
    const struct strategy *strategy;
    const struct injection *injection; /* a fault on purpose; NULL: none */
    const char *checkpoint; /* directory: resume halfway from a checkpoint there; NULL: none */
};

struct case_outcome {
    int rv;          /* -1: it did not end; text says why */
    bool is_unsaved; /* ... because its checkpoint could not be written, which is no rank's fault */
    double worst;    /* greatest distance of a loss from the reference, in nats; NAN: no loss */
    int32_t step;    /* where that was; CASE_STEPS: after the last */
    double found;    /* the loss there */
    uint32_t digest; /* of this rank's parameters at the end */
    char text[sizeof((struct error){""}.text)];
};

/* How far a loss may be off: more than twice the difference of two ways to compute in 32 bits. */
#define CASE_TOLERANCE 1e-5

/* Trains the problem whose reference losses are from another project's program (double precision):
 * 4 layers, 4 heads, 64 channels, 32 tokens of context, a vocabulary of 256, 4 sequences.
 * Collective over the communicator. */
void case_run(const struct test_case *test_case, struct comm *comm, struct case_outcome *outcome);

/* Trains a larger model for `seconds`. Sets speed to the tokens per second of the communicator, and
 * the shares of the time that this rank waited for others, and was not scheduled. Collective.
 * Returns 0, or -1 with err on all ranks. */
struct case_speed {
    double tokens_per_s, waited_share, stalled_share;
};
int case_speed(struct comm *comm, const struct injection *injection, double seconds,
               struct case_speed *speed, struct error *err);

/* Judges a rank by the median of all: WARN if it is slow, SKIP if it is slow but was often not
 * scheduled, else NONE. */
enum verdict case_speed_judge(const struct case_speed *speed, double median, int ranks);

#endif
