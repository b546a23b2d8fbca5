/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_ESTIMATE_H
#define MUSTER_CERTIFY_ESTIMATE_H

#include "validate/certify/state/run.h"

/* How long the stages take with so many nodes, by what is known of them (budget.h). */
struct budget_work certify_work(const struct certify *certify, size_t nodes);
double certify_limit_s(const struct certify *certify, enum stage stage, size_t nodes);
double certify_battery_s(const struct certify *certify, size_t nodes); /* all of them at most */
int certify_link_times(const struct certify *certify, size_t nodes);   /* all pairs so often */
/* Of those nodes, at once across the uplinks of each leaf: the site's limit, or what jobs beside
 * leave of them; 0: no limit. [leaf], malloc'd; NULL: no leaf has one, or memory is out. */
int *certify_uplink_pairs(const struct certify *certify, const struct hostlist *names);

#endif
