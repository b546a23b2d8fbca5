/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SIM_BUSY_H
#define MUSTER_SIM_BUSY_H

#include <stdbool.h>

#include "tests/sim/noise.h"

/* Small clusters on machines that run something else as well: who is drained that is not at fault.
 */
struct busy_plan {
    int runs;                  /* of each row, 1 or more */
    const struct noise *noise; /* of a quiet machine, recorded */
    bool is_verbose;           /* lines that begin with # print of each innocent node */
};

/* Certifies them and prints a table in Markdown. */
void busy_play(const struct busy_plan *plan);

#endif
