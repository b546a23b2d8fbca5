/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SUBNET_TIER_H
#define MUSTER_SUBNET_TIER_H

#include <stdbool.h>

#include "validate/subnet/findings/findings.h"
#include "validate/subnet/subnet.h"

/* The switches of one level of one plane and how they are cabled to those above. Switches are
 * places in lower and upper. */
struct tier {
    const struct subnet *subnet;
    struct subnet_findings *findings;
    int *lower, *upper; /* devices */
    int lower_count, upper_count;
    int *place;              /* of every device in lower or upper, -1 */
    int *bundle;             /* cables of lower i to upper k: bundle[i * upper_count + k] */
    int *up, *down, *across; /* cables of each lower one; down: nodes and switches below */
    int *scratch;            /* room for every device */
    bool *is_told;           /* of each lower one: a finding is about it */
    bool has_rings;          /* that switches of one level are cabled to each other is meant */
};

/* subnet and findings are set. Returns 0, or -1 when memory is out; release with tier_clear() in
 * both cases. */
int tier_make(struct tier *tier, int plane, int level);
void tier_clear(struct tier *tier);

/* Lower i's cables to each upper one. */
int *tier_bundle(const struct tier *tier, int i);
const struct subnet_device *tier_device(const struct tier *tier, int i);
/* The most frequent number, of equally frequent ones the greatest. *times: how often. Numbers are
 * of cables of one switch. */
int tier_mode(const int *numbers, int count, int *times);

/* Whether b is cabled to more than half of the switches that a is. */
bool tier_is_like(const struct tier *tier, int a, int b);

/* The others of the tier to hold a against: those of its pod where there are any, else all. Fills
 * peers with places; returns how many. */
int tier_peers(const struct tier *tier, int a, int *peers);

/* How many cables switch a should have to upper k: as most of its peers have, or where these do not
 * agree as itself to most of the others above. -1: nobody says. Uses scratch. */
int tier_usual_bundle(const struct tier *tier, int a, const int *peers, int count, int k);

/* The upper switch that most peers reach from that port number, -1. *times: how many do. */
int tier_usual_from_port(const struct tier *tier, const int *peers, int count, int number,
                         int *times);

/* Whether that port of lower i has a cable to a switch of the level above. */
bool tier_leads_up(const struct tier *tier, int i, int number);

/* " port 5", when exactly one of the device's ports among those with cables has none; else "". */
struct text_line tier_empty_port(const struct subnet *subnet, int device);

/* What all switches of a pod lack together, which none of their neighbors can tell. */
void tier_judge_pods(struct tier *tier);

/* A mesh, a torus or a dragonfly: cables join switches of one level, and nearly all have as many.
 */
void tier_judge_mesh(struct tier *tier);

#endif
