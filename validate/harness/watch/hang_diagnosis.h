/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HANG_DIAGNOSIS_H
#define MUSTER_HANG_DIAGNOSIS_H

#include "validate/harness/watch/members.h"

/* Which rank has which fault, as records. Where a loss is tolerated (watch_tolerate()) a rank
 * that died, froze or hangs is named, given up, and the job goes on; else, and for all other
 * findings, the job ends: the function takes the output over, prints its records, and does not
 * return. */

void diagnosis_dead(struct monitor *monitor);
void diagnosis_frozen(struct monitor *monitor);
void diagnosis_stall(struct monitor *monitor);
void diagnosis_signal(struct monitor *monitor);
void diagnosis_fault(struct monitor *monitor, int rank, const char *text) __attribute__((noreturn));

/* A rank that could not connect. */
void diagnosis_unwatched(struct monitor *monitor);

#endif
