/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_ROUNDS_H
#define MUSTER_BATTERY_ROUNDS_H

#include <stdbool.h>

#include "validate/battery/links/passes.h"
#include "validate/battery/verbs/verb.h"
#include "validate/harness/program.h"

/* The passes of muster-links, each some rounds of pair runs.
 *
 * Every leader knows the schedule. The leader of the first node starts each round. The others send
 * it what they measured when they are done, and then comes the next round. So a leader that dies,
 * freezes or is cut off costs only its own pairs. */

struct rounds_plan {
    const char *rails, *pairs;   /* "eth[1-2]", "n1:n2+n3:n4,n1:n3"; NULL: all */
    long rounds, repeats, times; /* 0: not given */
    double confidence;           /* 0: all rounds */
    /* pairs at once: in all, within a block; 0: not given */
    long concurrency, leaf_concurrency;
    long long sample_bytes;      /* 0: for some time */
    struct passes passes;        /* count 0: by the other options */
    struct blocks blocks;        /* count 0: not known */
    struct verbs_settings verbs; /* of the passes verbs and local */
    bool is_quick;
    bool only_transports; /* print them instead of measuring */
    bool prints_speeds;   /* a record of each rail's nominal speed first */
    double floor_percent; /* 0: no verdict */
    bool leaves_mpi;      /* MPI ends first, so that the run survives lost ranks; it comes last */
};

/* Runs the passes until the rounds or the time are over, and reports. All ranks call it. */
void rounds_run(struct program *program, const struct rounds_plan *plan);

#endif
