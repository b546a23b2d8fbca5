/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_OTHERS_H
#define MUSTER_CERTIFY_OTHERS_H

#include "validate/certify/state/run.h"

/* Runs at the same time, on this host or another, as the controller knows them */
/* A random delay of 0 to most_s, another one in each process, so that not all begin at once. */
double certify_delay_s(double most_s);
/* What another run of root's holds is left alone, and who that is is said; busy gets its nodes. */
void certify_others(struct certify *certify, struct hostlist *busy);
/* Makes certify->reservation, noted for undo, over nodes that no other run holds: of runs that ask
 * at the same time at least one sees the other's, gives way, and tries again for a while. Returns
 * 0, or -1 with err, which says who holds them, and no reservation. */
int certify_reserve(struct certify *certify, const struct hostlist *names, int minutes,
                    struct error *err);

#endif
