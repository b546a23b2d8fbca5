/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TRAIN_TESTS_H
#define MUSTER_TRAIN_TESTS_H

#include <stdbool.h>

#include "trainer/battery/test_case.h"
#include "trainer/comm/world.h"
#include "trainer/injection.h"

struct battery {
    bool is_json, is_quick;
    double limit_s;
    struct injection injection;
    struct world world;
    struct comm *all, *node, *alone;
    struct case_outcome *outcomes; /* [ranks] */
    double speed_alone;            /* sum of all ranks, each training alone, tokens/s; NAN if one
                                      could not measure */
};

/* Runs the train.* tests one after the other, with their verdicts; rank 0 writes the records.
 * Collective over all. */
void tests_run(struct battery *battery);

#endif
