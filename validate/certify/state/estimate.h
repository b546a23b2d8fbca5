/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_ESTIMATE_H
#define MUSTER_CERTIFY_ESTIMATE_H

#include "validate/certify/state/run.h"

/* Return the work and the limit of a stage for that number of nodes, from the facts known about the
 * run's nodes (budget.h). */
struct budget_work certify_work(const struct certify *certify, size_t nodes);
double certify_limit_s(const struct certify *certify, enum stage stage, size_t nodes);
/* Returns the limit of all battery stages together, in seconds. */
double certify_battery_s(const struct certify *certify, size_t nodes);
/* Returns how often all pairs are measured. */
int certify_link_times(const struct certify *certify, size_t nodes);
/* Returns, for each leaf, how many pairs of these nodes may use its uplinks at once: the site's
 * limit, or what other jobs leave of the uplinks; 0: no limit. [leaf], malloc'd; NULL: no leaf has
 * a limit, or memory is out. */
int *certify_uplink_pairs(const struct certify *certify, const struct hostlist *names);

#endif
