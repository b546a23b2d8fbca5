/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SUBNET_TIER_H
#define MUSTER_SUBNET_TIER_H

#include <stdbool.h>

#include "validate/subnet/findings/findings.h"
#include "validate/subnet/subnet.h"

/* The switches of one level of one plane (lower), and their cables to the level above (upper).
 * Switches are indexes in lower and upper. */
struct tier {
    const struct subnet *subnet;
    struct subnet_findings *findings;
    int *lower, *upper; /* devices */
    int lower_count, upper_count;
    int *place;              /* [device]: its index in lower or upper, -1: in neither */
    int *bundle;             /* cables of lower i to upper k: bundle[i * upper_count + k] */
    int *up, *down, *across; /* [lower]: its cables; down: to nodes and switches below */
    int *scratch;            /* room for every device */
    bool *is_reported;       /* [lower]: a finding reports it */
    bool has_rings;          /* cables between switches of one level are intended */
};

/* Fills the tier; subnet and findings are set before. Returns 0, or -1 if memory is out. Release
 * with tier_clear() in both cases. */
int tier_make(struct tier *tier, int plane, int level);
void tier_clear(struct tier *tier);

/* Returns the numbers of cables of lower i to each upper switch. */
int *tier_bundle(const struct tier *tier, int i);
const struct subnet_device *tier_device(const struct tier *tier, int i);
/* Returns the most frequent of the numbers, which count cables; of equally frequent ones the
 * greatest. *times: how often it occurs. */
int tier_mode(const int *numbers, int count, int *times);

/* Whether b is cabled to more than half of the switches that a is cabled to. */
bool tier_is_like(const struct tier *tier, int a, int b);

/* Fills peers with the switches that a is compared with: the others of its pod if there are any,
 * else all others of the tier. Returns their number. */
int tier_peers(const struct tier *tier, int a, int *peers);

/* Returns how many cables switch a should have to upper k: as many as most of its peers, or if
 * these do not agree, as many as a itself has to most other upper switches. -1: unknown. Uses
 * scratch. */
int tier_usual_bundle(const struct tier *tier, int a, const int *peers, int count, int k);

/* Returns the upper switch that most peers reach from the port number, or -1. *times: the number of
 * these peers. */
int tier_usual_from_port(const struct tier *tier, const int *peers, int count, int number,
                         int *times);

/* Whether the port of lower i has a cable to a switch of the level above. */
bool tier_leads_up(const struct tier *tier, int i, int number);

/* Returns " port 5" if exactly one of the device's ports among those with cables is empty; else "".
 */
struct text_line tier_empty_port(const struct subnet *subnet, int device);

/* Finds uplinks that all switches of a pod lack, which a comparison within the pod does not show.
 */
void tier_judge_pods(struct tier *tier);

/* Judges a mesh, a torus or a dragonfly: cables join switches of one level, and nearly all switches
 * have the same number of them. */
void tier_judge_mesh(struct tier *tier);

#endif
