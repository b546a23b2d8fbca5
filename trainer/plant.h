/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PLANT_H
#define MUSTER_PLANT_H

#include "trainer/training.h"

/* Faults planted on purpose (--inject), for tests of what finds them. In a pipeline layer 0 below
 * is the first layer of the rank's stage. */

enum plant_kind {
    PLANT_NOTHING,
    PLANT_NAN,   /* a gradient of fcw in layer 0 is no number */
    PLANT_FLIP,  /* an update gives one bit of a parameter of fcw in layer 0 otherwise */
    PLANT_ROT,   /* ... and of what is kept, between two steps */
    PLANT_WRONG, /* as PLANT_FLIP, but that a loss shows it */
};

struct plant {
    enum plant_kind kind;
    int rank;
    long step;
};

/* "flip:2@3": on rank 2 at step 3. Returns 0, or -1 with err. */
int plant_parse(const char *text, struct plant *plant, struct error *err);

enum plant_moment { PLANT_BEFORE_STEP, PLANT_AFTER_UPDATE, PLANT_AFTER_STEP };

/* Strikes where it is this rank's turn. */
void plant_strike(const struct plant *plant, enum plant_moment moment, struct training *training);

#endif
