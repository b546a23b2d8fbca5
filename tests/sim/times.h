/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SIM_TIMES_H
#define MUSTER_SIM_TIMES_H

#include <stdbool.h>

#include "tests/sim/noise.h"

/* Small clusters with an intermittent fault. */
struct times_plan {
    int runs;        /* of each row, 1 or more */
    bool is_healthy; /* only the clusters without a fault */
    const struct noise *noise;
    bool is_verbose; /* also prints lines that begin with # about each run with another result than
                        expected */
};

/* Certifies them and prints a table in Markdown. */
void times_play(const struct times_plan *plan);

#endif
