/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SIM_CALIBRATE_H
#define MUSTER_SIM_CALIBRATE_H

#include <stdbool.h>
#include <stdio.h>

#include "tests/sim/noise.h"

/* How often findings are right that state a probability, on clusters of 4 to 64 nodes with faults
 * of each kind or with none, on quiet and on busy machines. */
struct calibrate_plan {
    int first, runs;           /* certifications by number, 1 or more */
    const struct noise *noise; /* of a quiet machine, recorded */
    bool is_verbose;           /* a line that begins with # for each finding */
};

/* Certifies them and prints tables in Markdown: of deciles of log odds how often findings are
 * right, which is that something is at fault where they point. Returns whether failing ones say no
 * more than holds: the expected calibration error is below 1 %, and no decile is right less often
 * than it says, by more than chance (1 of 1000) has it. */
bool calibrate_play(const struct calibrate_plan *plan);

/* The same of the lines that verbose runs have printed, in any number of pieces. */
bool calibrate_sum(FILE *lines);

#endif
