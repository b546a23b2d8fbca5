/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LINKREPORT_H
#define MUSTER_LINKREPORT_H

#include "validate/battery/links/meeting.h"

/* Brings the results of all leaders to rank 0, which prints their records; results is empty after
 * it. floor_percent > 0: a bandwidth below that share of nominal fails. All leaders call it. */
void linkreport_gather(struct program *program, struct link_results *results, double floor_percent);

/* A record of each rail's stated speed, of those nodes that know theirs. All leaders call it. */
void linkreport_speeds(struct program *program, const struct offers *own);

/* Rank 0: a record of verdict unknown. */
void linkreport_unknown(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
