/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SIM_CERTIFICATION_H
#define MUSTER_SIM_CERTIFICATION_H

#include "tests/sim/fabric.h"
#include "tests/sim/faults.h"
#include "tests/sim/noise.h"
#include "validate/localization/localization.h"

/* Simulates one certification of a synthetic fabric: the schedule of muster-links, the measurements
 * of its rounds, and the localization that muster certify runs on the records. */

struct run_plan {
    struct fabric *fabric;
    const int *stated; /* [nodes] leaves according to topology.conf, or NULL without one */
    const struct fault *faults;
    int fault_count;
    double confidence; /* of the schedule; 0: all pairs */
    bool has_time;     /* intermittent faults depend on a clock; the level: */
    bool is_quick;
    int times; /* that all pairs are measured */
    bool has_together;
    bool has_received; /* receivers report bandwidths, too */
    struct noise noise;
    uint64_t seed;
};

struct run_result {
    struct localization localization; /* owned */
    int rounds, together_rounds;
    int looks;                     /* number of retest runs */
    double wall_s;                 /* duration of the measurements, with has_time */
    int again_pairs, again_rounds; /* pairs measured in retests, and their rounds */
    double diagnoses_s;            /* processor time of all diagnoses */
    /* owned */
    struct records records;
    struct hostlist names;
    char **leaf_names;
    struct conf conf;
    struct simulation *simulation;
};

void run_certification(const struct run_plan *plan, struct run_result *result);
void run_clear(struct run_result *result);

#endif
