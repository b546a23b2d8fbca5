/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SIM_TIMES_H
#define MUSTER_SIM_TIMES_H

#include <stdbool.h>

#include "tests/sim/noise.h"

/* Small clusters in which something comes and goes with time. */
struct times_plan {
    int runs;        /* of each row, 1 or more */
    bool is_healthy; /* only those where nothing does */
    const struct noise *noise;
    bool is_verbose; /* lines that begin with # print of each run that is not as it should be */
};

/* Certifies them and prints a table in Markdown. */
void times_play(const struct times_plan *plan);

#endif
