/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LINKREPORT_H
#define MUSTER_LINKREPORT_H

#include "validate/battery/links/course.h"
#include "validate/battery/links/meeting/meeting.h"

/* The first node's: results as records. */

/* Each rail's stated speed of a node, those that it knows. */
void linkreport_speeds(const struct program *program, int node, const struct offers *offers);

/* Rails that take no part. */
void linkreport_states(const struct program *program, const struct link_results *results);

/* What a sub-round of the course measured. floor_percent > 0: a bandwidth of a pair below that
 * share of nominal fails. Of flows that all ran at once the figures are those of the time in which
 * all of them did, with a record of their sum. */
void linkreport_round(const struct program *program, const struct course *course, int round,
                      struct link_results *results, double floor_percent);

/* How many rounds of the pass were measured, in what time, and what is left of the limit: pass
 * where they are enough, else unknown where the pass is wanted. */
void linkreport_pass(const struct program *program, const struct course *course, int rounds,
                     bool is_wanted, double pass_s, double run_s);

/* A node that was lost in round number `turn` of the run. */
void linkreport_lost(const struct program *program, int node, int turn);

/* A record of the result that has no value yet, and its usual figures. shared: pairs that used the
 * same uplink at that time; 0: none. */
struct record linkreport_record(const struct program *program, const struct link_result *result,
                                const char *metric);
void linkreport_bandwidth(const struct program *program, const struct link_result *result,
                          const char *metric, int shared, double floor_percent);
void linkreport_latency(const struct program *program, const struct link_result *result,
                        const char *metric);

/* A record of verdict unknown. */
void linkreport_unknown(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
