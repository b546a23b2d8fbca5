/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_REASON_H
#define MUSTER_POLICY_REASON_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "lib/catalog/catalog.h"

/* Whose a drain is: that is told by its reason alone. muster touches only those that are its own.
 * muster-codes(7) has the grammar. Pure. */

#define REASON_PREFIX "muster:" /* begins each reason that is ours */

bool reason_is_ours(const char *reason);

/* The part of the node that Slurm itself blames in a reason, "slurmd", "gres"; NULL where a person
 * or a site's health check wrote it. */
const char *reason_slurm_part(const char *reason);

struct reason_fault {
    enum fault_code code;
    const char *part, *message; /* part "": the node as a whole */
};

/* The reason of a drain, worst fault first: "muster: rail_slow eth1 98 of 940 Mb/s; gres_mismatch
 * gpu3 is not there 2026-11-20". A message does not say the part again. What does not fit ends
 * after a whole word. No character that Slurm's tools would split at. */
void reason_write(const struct reason_fault *faults, size_t count, time_t now, char *reason,
                  size_t size);

/* Whether two such reasons have the same codes and parts, whatever their messages and dates: then
 * the older one stays, so that it goes on saying since when. One of a muster before the catalogue,
 * which has the test in place of the code, is ours and never the same as a new one. */
bool reason_is_same(const char *then, const char *now);

/* Whether the first of two such reasons has all codes and parts that the other has. */
bool reason_has(const char *reason, const char *faults);

/* Whether it says no more than that the gate refused a job: no fault of the node was found. */
bool reason_is_refusal(const char *reason);

#endif
