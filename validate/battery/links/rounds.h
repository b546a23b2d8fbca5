/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_ROUNDS_H
#define MUSTER_BATTERY_ROUNDS_H

#include <stdbool.h>

#include "validate/battery/links/passes.h"
#include "validate/harness/program.h"
#include "validate/battery/verbs/verb.h"

/* The passes of muster-links, each some rounds of meetings.
 *
 * Every leader knows the schedule. The first node's leader calls each round, and the others tell it
 * what they measured when they are through; then comes the next round. So a leader that dies,
 * freezes or is cut off costs the pairs that it would have met, and no one else's. */

struct rounds_plan {
    const char *rails, *pairs;   /* "eth[1-2]", "n1:n2+n3:n4,n1:n3"; NULL: all */
    long rounds, repeats, times; /* 0: not given */
    double confidence;           /* 0: all rounds */
    /* pairs at once: in all, within a block; 0: not given */
    long concurrency, leaf_concurrency;
    long long sample_bytes;      /* 0: what takes a while */
    struct passes passes;        /* count 0: by the others */
    struct blocks blocks;        /* count 0: not known */
    struct verbs_settings verbs; /* of the passes verbs and local */
    bool is_quick;
    bool prints_speeds;   /* a record of each rail's stated speed first */
    double floor_percent; /* 0: no judgement */
    bool leaves_mpi; /* nothing comes after it: MPI ends first, and the run survives lost ranks */
};

/* Plays until the rounds or the time are over and reports; all ranks call it. */
void rounds_run(struct program *program, const struct rounds_plan *plan);

#endif
