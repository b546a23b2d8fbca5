/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_OTHERS_H
#define MUSTER_CERTIFY_OTHERS_H

#include "validate/certify/state/run.h"

/* Concurrent runs, on this host or another, as the controller knows them. */
/* Returns a random delay of 0 to most_s seconds, different in each process, so that not all begin
 * at once. */
double certify_delay_s(double most_s);
/* Leaves alone the nodes that other runs of root hold, notes which runs these are, and adds the
 * nodes to busy. */
void certify_others(struct certify *certify, struct hostlist *busy);
/* Makes certify->reservation over names, noted for undo, if no other run holds one of them. Of two
 * runs that do this at the same time, at least one sees the other's reservation; it removes its own
 * and tries again for a while. Returns 0, or -1 without a reservation and with err, which names the
 * holder. */
int certify_reserve(struct certify *certify, const struct hostlist *names, int minutes,
                    struct error *err);

#endif
