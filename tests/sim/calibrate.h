/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SIM_CALIBRATE_H
#define MUSTER_SIM_CALIBRATE_H

#include <stdbool.h>
#include <stdio.h>

#include "tests/sim/noise.h"

/* How often findings that state a probability are right, in clusters of 4 to 64 nodes with no fault
 * or with faults of every kind, on quiet and busy machines. */
struct calibrate_plan {
    int first, runs;           /* certifications first to first + runs - 1, runs 1 or more */
    const struct noise *noise; /* recorded; the certification's number selects the load */
    bool is_verbose;           /* also prints a line that begins with # for each finding */
};

/* Certifies them and prints tables in Markdown: how often the findings of each decile of log odds
 * are right, that is, something is at fault where they point. Returns whether failing findings do
 * not state too much: the expected calibration error is below 1 %, and no decile is right less
 * often than stated, except by chance (1 of 1000). */
bool calibrate_play(const struct calibrate_plan *plan);

/* Does the same with the lines that verbose runs have printed. */
bool calibrate_sum(FILE *lines);

#endif
