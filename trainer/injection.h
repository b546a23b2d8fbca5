/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_INJECTION_H
#define MUSTER_INJECTION_H

#include "trainer/training.h"

/* Faults injected on purpose (--inject), for tests of their detection. In a pipeline layer 0 below
 * is the first layer of the rank's stage. */

enum injection_kind {
    INJECT_NOTHING,
    INJECT_NAN,   /* a gradient of fcw in layer 0 is NaN */
    INJECT_FLIP,  /* one bit of a parameter of fcw in layer 0 is flipped after an update */
    INJECT_ROT,   /* the same, but between two steps */
    INJECT_WRONG, /* as INJECT_FLIP, but adds 1, so that the loss shows it */
};

struct injection {
    enum injection_kind kind;
    int rank;
    long step;
};

/* Parses "flip:2@3": on rank 2 at step 3. Returns 0, or -1 with err. */
int injection_parse(const char *text, struct injection *injection, struct error *err);

enum injection_time { INJECT_BEFORE_STEP, INJECT_AFTER_UPDATE, INJECT_AFTER_STEP };

/* Injects the fault if this is its rank, its step and its moment. */
void injection_apply(const struct injection *injection, enum injection_time moment,
                     struct training *training);

#endif
