/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TRAIN_TESTS_H
#define MUSTER_TRAIN_TESTS_H

#include <stdbool.h>

#include "trainer/battery/trial.h"
#include "trainer/plant.h"
#include "trainer/team/party.h"

struct battery {
    bool is_json, is_quick;
    double limit_s;
    struct plant plant;
    struct party party;
    struct team *all, *node, *alone;
    struct trial_outcome *outcomes; /* of each rank */
    double speed_alone;             /* of all ranks together, each by itself, tokens/s; NAN where
                                       one could not tell */
};

/* The train.* tests one after the other, with their verdicts: rank 0 gives the records out.
 * Collective over all. */
void tests_run(struct battery *battery);

#endif
