/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SIM_CERTIFICATION_H
#define MUSTER_SIM_CERTIFICATION_H

#include "tests/sim/fabric.h"
#include "tests/sim/faults.h"
#include "tests/sim/noise.h"
#include "validate/localization/localization.h"

/* One certification of a synthetic fabric: the schedule that muster-links plays, what its rounds
 * measure there, and the localization that muster certify holds over the records. */

struct run_plan {
    struct fabric *fabric;
    const int *stated; /* blocks as topology.conf has them; NULL: there is none */
    const struct fault *faults;
    int fault_count;
    double confidence; /* of the schedule; 0: all pairs */
    bool has_time;     /* what comes and goes does so with time; measured at that level: */
    bool is_quick;
    int times; /* all pairs so often */
    bool has_together;
    bool has_received; /* receivers print what they got, too */
    struct noise noise;
    uint64_t seed;
};

struct run_result {
    struct localization localization; /* held; to be cleared by run_clear() */
    int rounds, together_rounds;
    int looks;                     /* times that suspects were measured */
    double wall_s;                 /* that the measurements took, where there is time */
    int again_pairs, again_rounds; /* suspects measured once more, and in how many rounds */
    double diagnoses_s;            /* processor time, records to findings */
    /* owned */
    struct records records;
    struct hostlist names;
    char **leaf_names;
    struct conf conf;
    struct simulation *simulation;
};

void run_hold(const struct run_plan *plan, struct run_result *result);
void run_clear(struct run_result *result);

#endif
