/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_ROUNDS_H
#define MUSTER_BATTERY_ROUNDS_H

#include <stdbool.h>

#include "validate/battery/program.h"

/* The tournament of nodes, or the pairs that somebody asks for: every rail, both directions. */

struct rounds_plan {
    const char *rails, *pairs; /* "eth[1-2]", "n1:n2,n3:n4"; NULL: all */
    long rounds, repeats;      /* 0: not given */
    long long sample_bytes;    /* 0: what takes a while */
    bool is_quick;
    bool tells_speeds;    /* a record of each rail's stated speed first */
    double floor_percent; /* 0: no judgement */
};

/* Plays until the rounds or the time are over and reports; all ranks call it. */
void rounds_play(struct program *program, const struct rounds_plan *plan);

#endif
