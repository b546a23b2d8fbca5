/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LINKREPORT_H
#define MUSTER_LINKREPORT_H

#include "validate/battery/links/pair/pair_run.h"
#include "validate/battery/links/pass_schedule.h"

/* Results as records, on the first node. */

/* Reports the nominal speed of each rail of a node, if it knows it. */
void linkreport_speeds(const struct program *program, int node,
                       const struct rail_infos *rail_infos);

/* Reports rails that take no part. */
void linkreport_states(const struct program *program, const struct link_results *results);

/* Reports what a sub-round of the pass schedule measured. floor_percent > 0: a bandwidth of a pair
 * below that share of nominal fails. If all flows ran at once, the figures are those of the time in
 * which all of them did, and their sum has a record. */
void linkreport_round(const struct program *program, const struct pass_schedule *pass_schedule,
                      int round, struct link_results *results, double floor_percent);

/* Reports how many rounds of the pass were measured, in what time, and what is left of the limit.
 * PASS if the rounds are enough, else UNKNOWN if the pass is wanted, else SKIP. */
void linkreport_pass(const struct program *program, const struct pass_schedule *pass_schedule,
                     int rounds, bool is_wanted, double pass_s, double run_s);

/* Reports a node that was lost in round number `sub_round` of the run. */
void linkreport_lost(const struct program *program, int node, int sub_round);

/* A record of the result, with these members. */
#define LINKREPORT(program_, result_, metric_, ...)                                                \
    RECORD(.test = "links", .metric = metric_, .node = (program_)->node_name[(result_)->from],     \
           .part = (result_)->rail,                                                                \
           .peer = (result_)->to >= 0 ? (program_)->node_name[(result_)->to] : NULL, __VA_ARGS__)

/* Reports a record of verdict UNKNOWN. */
void linkreport_unknown(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
