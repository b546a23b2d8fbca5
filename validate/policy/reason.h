/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_REASON_H
#define MUSTER_POLICY_REASON_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "lib/catalog/catalog.h"

/* The reason of a drain, which alone tells whose drain it is: muster touches only its own.
 * muster-codes(7) has the grammar. Pure. */

#define REASON_PREFIX "muster:" /* begins each reason that is ours */

bool reason_is_ours(const char *reason);

/* Returns the part of the node that Slurm itself blames in a reason, "slurmd", "gres"; NULL if a
 * person or a site's health check wrote it. */
const char *reason_slurm_part(const char *reason);

struct reason_fault {
    enum fault_code code;
    const char *part, *message; /* part "": the node as a whole */
};

/* Writes the reason of a drain, worst fault first: "muster: rail_slow eth1 98 of 940 Mb/s;
 * gres_mismatch gpu3 is not there 2026-11-20". A message does not repeat the part. A text that is
 * too long ends after a whole word. It has no character at which Slurm's tools split. */
void reason_write(const struct reason_fault *faults, size_t count, time_t now, char *reason,
                  size_t size);

/* Returns whether two such reasons have the same codes and parts; messages and dates may differ.
 * The older one then stays, because it has the first date. A reason of an old release of muster has
 * the test instead of the code: it is ours, but never the same as a new one. */
bool reason_is_same(const char *then, const char *now);

/* Returns whether reason has all codes and parts of faults, which is such a reason too. */
bool reason_has(const char *reason, const char *faults);

/* Returns whether the reason says only that the gate refused a job: no fault of the node was found.
 */
bool reason_is_refusal(const char *reason);

#endif
