/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SIM_BUSY_H
#define MUSTER_SIM_BUSY_H

#include <stdbool.h>

#include "tests/sim/noise.h"

/* Small clusters on machines that run something else as well: are parts at fault named, and
 * innocent nodes drained? */
struct busy_plan {
    int runs;                  /* of each row, 1 or more */
    const struct noise *noise; /* recorded; each load in turn */
    bool is_verbose; /* also prints lines that begin with # about innocent nodes drained, and missed
                        parts */
};

/* Certifies them and prints a table in Markdown. */
void busy_play(const struct busy_plan *plan);

#endif
